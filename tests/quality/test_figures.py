"""The Lamport diagrams of the paper (Figures 4, 8, 9 and 10), reproduced in structure.

For each figure: the same processes, exactly these messages lost and exactly this crash, the same outcome, and that
both drawings show it.  The faults are fixed here, since a search may show another counterexample of the same size;
where the figure is minimal, a search for all minimal ones must list it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from clew import Crash, Execution, Fault, FaultSet, Loss, run
from clew.report.diagrams.lamport import Diagram, Fate, lamport_of
from clew.report.diagrams.lamport_svg import diagram_svg
from clew.report.diagrams.lamport_text import diagram_lines
from example_verdicts import verdict_of

EXAMPLES = Path(__file__).parents[2] / "examples"
Link = tuple[str, str, int]


@dataclass(frozen=True)
class Figure:
    """``lost``: what each lost arrow carried.  ``minimal``: no fault of it can be spared."""

    number: str
    example: str
    faults: tuple[Fault, ...]
    processes: str
    lost: dict[Link, tuple[str, ...]]
    crash: tuple[str, int] | None
    violated: tuple[str, ...]
    minimal: bool = True


FIGURES = [
    Figure(
        "4a",
        "simple-deliv",
        (Loss("a", "b", 1),),
        "abc",
        {("a", "b", 1): ("log(b, data)",)},
        None,
        ("pre(a, data)", "pre(c, data)"),
    ),
    Figure(
        "4b",
        "retry-deliv",
        (Loss("a", "b", 1), Crash("a", 2)),
        "abc",
        {("a", "b", 1): ("log(b, data)",)},
        ("a", 2),
        ("pre(c, data)",),
    ),
    Figure(
        "4c",
        "classic-deliv",
        (Loss("a", "b", 1), Loss("c", "a", 2), Loss("c", "b", 2)),
        "abc",
        {
            ("a", "b", 1): ("bcast(b, data)",),
            ("c", "a", 2): ("bcast(a, data)",),
            ("c", "b", 2): ("bcast(b, data)",),
        },
        None,
        ("pre(a, data)", "pre(c, data)"),
    ),
    Figure(
        "8",
        "2pc",
        (Crash("C", 3),),
        "Cabd",
        {},
        ("C", 3),
        ("pre(termination, a, t1)", "pre(termination, b, t1)", "pre(termination, d, t1)"),
    ),
    Figure(
        "9",
        "3pc",
        (Loss("C", "a", 6), Loss("C", "b", 6), Crash("d", 3)),
        "Cabd",
        {
            ("C", "a", 6): ("outcome(a, t1, abort)", "pre_commit(a, C, t1)"),
            ("C", "b", 6): ("outcome(b, t1, abort)", "pre_commit(b, C, t1)"),
        },
        ("d", 3),
        ("pre(agreement, C, t1)", "pre(agreement, a, t1)", "pre(agreement, b, t1)"),
        minimal=False,
    ),
    Figure(
        "10",
        "kafka",
        (Loss("b", "Z", 1), Loss("c", "Z", 1), Crash("a", 4)),
        "abcCZ",
        {("b", "Z", 1): ("report(Z, b)",), ("c", "Z", 1): ("report(Z, c)",)},
        ("a", 4),
        ("pre(C, w1)",),
    ),
]
FIGURE = pytest.mark.parametrize("figure", FIGURES, ids=lambda f: f"figure {f.number}")


@cache
def execution(example: str, faults: tuple[Fault, ...]) -> Execution:
    return run(EXAMPLES / f"{example}.ded", faults)


@cache
def minimal(example: str) -> frozenset[FaultSet]:
    return frozenset(c.faults for c in verdict_of(example, find_all=True).counterexamples)


def diagram(figure: Figure) -> Diagram:
    return lamport_of(execution(figure.example, figure.faults))


def shown(name: str) -> Diagram:
    (figure,) = (f for f in FIGURES if f.number == name)
    return diagram(figure)


def sent(diagram: Diagram, label: str) -> list[Link]:
    return [(a.source, a.target, a.sent) for a in diagram.arrows if label in a.labels]


@FIGURE
def test_the_picture_is_that_of_the_paper(figure: Figure) -> None:
    drawn = diagram(figure)
    assert drawn.processes == tuple(figure.processes)
    assert {(a.source, a.target, a.sent): a.details for a in drawn.arrows if a.fate is Fate.LOST} == figure.lost
    assert {a.fate for a in drawn.arrows} <= {Fate.DELIVERED, Fate.LOST}
    assert [(c.process, c.time) for c in drawn.crashes] == ([figure.crash] if figure.crash else [])
    assert drawn.faults == tuple(map(str, figure.faults))
    assert drawn.unseen_faults == ()


@FIGURE
def test_the_outcome_is_that_of_the_paper(figure: Figure) -> None:
    assert tuple(map(str, execution(figure.example, figure.faults).violations)) == figure.violated
    assert execution(figure.example, ()).good


@FIGURE
def test_the_figure_is_among_the_minimal_counterexamples_if_it_is_minimal(figure: Figure) -> None:
    assert (FaultSet.of(figure.faults) in minimal(figure.example)) == figure.minimal


@FIGURE
def test_the_text_shows_it(figure: Figure) -> None:
    lines = diagram_lines(diagram(figure))
    assert lines[0].split() == list(figure.processes)
    text = "\n".join(lines)
    assert text.count("✗") == len(figure.lost)
    assert text.count("CRASHED") == len([f for f in figure.faults if isinstance(f, Crash)])
    told = [fault for remark in re.findall(r"LOST ((?:O\(\S+\) ?)+)", text) for fault in remark.split()]
    assert told == [str(f) for f in figure.faults if isinstance(f, Loss)]
    assert len(lines) <= 30


@FIGURE
def test_the_drawing_shows_it(figure: Figure) -> None:
    svg = diagram_svg(diagram(figure), title=f"Figure {figure.number}", standalone=True)
    assert svg.count('<g class="arrow lost"><title>') == len(figure.lost)
    assert svg.count(">CRASHED</text>") == len([f for f in figure.faults if isinstance(f, Crash)])
    for (source, target, time), details in figure.lost.items():
        fault = Loss(source, target, time)
        told = "\n".join([*details, f"{source} → {target}, sent {time}, lost; because of {fault}"])
        assert f'<g class="arrow lost"><title>{told}</title>' in svg


def test_figure_4c_reaches_one_and_the_relay_is_lost() -> None:
    assert sent(shown("4c"), "bcast") == [("a", "b", 1), ("a", "c", 1), ("c", "a", 2), ("c", "b", 2)]


def test_figure_8_stops_after_the_votes() -> None:
    """Agents prepare and vote; the coordinator fails before it says anything about the outcome."""
    drawn = shown("8")
    assert sent(drawn, "prepare") == [("C", "a", 1), ("C", "b", 1), ("C", "d", 1)]
    assert sent(drawn, "vote") == [("a", "C", 2), ("b", "C", 2), ("d", "C", 2)]
    assert len(drawn.arrows) == 6


def test_figure_9_ends_in_conflicting_decisions() -> None:
    """d voted; it crashes before it acknowledges, at time 3 or 4, so C aborts; a and b do not hear of it."""
    assert ("d", "C", 2) in sent(shown("9"), "vote")
    assert [link for link in sent(shown("9"), "ack") if link[0] == "d"] == []
    for time in (3, 4):
        ended = execution("3pc", (Loss("C", "a", 6), Loss("C", "b", 6), Crash("d", time)))
        decisions = {row[0]: row[2] for row in ended.rows("decision")}
        assert (decisions["C"], decisions["a"], decisions["b"]) == ("abort", "commit", "commit")
    # One of the two losses can be spared: then one agent is misled instead of two.
    for agent in "ab":
        assert FaultSet.of([Loss("C", agent, 6), Crash("d", 3)]) in minimal("3pc")


def test_figure_10_acknowledges_at_once() -> None:
    """The ISR shrinks to a, which acknowledges the write to the client without forwarding it, and crashes."""
    drawn = shown("10")
    published = [a.details for a in drawn.arrows if (a.source, a.target, a.sent) == ("Z", "a", 2)]
    assert published == [("isr(a, a)", "leader(a, a)")]
    assert sent(drawn, "acked") == [("a", "C", 3)]
    assert sent(drawn, "forward") == []
