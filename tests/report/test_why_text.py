"""Why a counterexample breaks the outcome, for the terminal: to the letter for kafka, and never too wide."""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew import Verdict, check
from clew.engine.execution import Message
from clew.explain.explainer import Explainer
from clew.explain.why import Support, Why
from clew.faults import Crash, Fault, FaultSet, Loss
from clew.interrupt import Deadline
from clew.report.explanation_text import explanation_lines
from clew.report.why_text import why_lines
from clew.violation import Violation

EXAMPLES = Path(__file__).parents[2] / "examples"
BROKEN = [
    "2pc",
    "2pc-ctp",
    "2pc-timeout",
    "3pc",
    "bully-le-lossy",
    "classic-deliv",
    "flux-eager-ack",
    "kafka",
    "paxos-forgetful",
    "redun-deliv-late",
    "retry-deliv",
    "simple-deliv",
]
NAMES = st.one_of(
    st.sampled_from(["a", "b", "replica-12", "n" * 40, "x" * 200, "写真", "写" * 60]),
    st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z", "M"]), min_size=1, max_size=30),
)


@cache
def verdict(name: str) -> Verdict:
    return check(EXAMPLES / f"{name}.ded")


@cache
def told(name: str) -> tuple[list[Why], FaultSet, int]:
    """Why the first counterexample of an example fails."""
    found = verdict(name)
    assert found.program is not None
    first = found.counterexamples[0]
    explainer = Explainer(found.program, found.spec, Deadline(None))
    return [explainer.why(v, first.faults) for v in first.violations], first.faults, found.spec.eot


def columns(line: str) -> int:
    wide = {"W": 2, "F": 2}
    return sum(wide.get(unicodedata.east_asian_width(c), 1) for c in line if unicodedata.category(c)[0] != "M")


# -- exact ------------------------------------------------------------------------------------------------------


def test_kafka() -> None:
    """What is cut is marked; where there is no room for all of a support, what is cut stays, and then its end."""
    assert list(why_lines(*told("kafka"))) == [
        "Why pre(C, w1): given 'pre', post(C, w1) had 9 supports without faults; each is cut:",
        "  C(a,4) cuts write C→a@1, ✗ a never crashes",
        "  C(a,4) cuts report a→Z@1, leader Z→C@2, write C→a@3, ✗ a never crashes",
        "  C(a,4) cuts report a→Z@2, leader Z→C@3, write C→a@4, ✗ a never crashes",
        "  O(b,Z,1) cuts ✗ report b→Z@1, isr Z→a@2, leader Z→a@2, forward a→b@3, b never crashes, and 2 more",
        "  O(c,Z,1) cuts ✗ report c→Z@1, isr Z→a@2, leader Z→a@2, forward a→c@3, c never crashes, and 2 more",
        "  C(a,4) cuts report b→Z@2, isr Z→a@3, leader Z→a@3, ✗ forward a→b@4, b never crashes, and 2 more",
        "  C(a,4) cuts report c→Z@2, isr Z→a@3, leader Z→a@3, ✗ forward a→c@4, c never crashes, and 2 more",
        "  C(a,4) cuts write C→a@3, isr Z→a@3, leader Z→a@3, ✗ forward a→b@4, b never crashes, and 4 more",
        "  C(a,4) cuts write C→a@3, isr Z→a@3, leader Z→a@3, ✗ forward a→c@4, c never crashes, and 4 more",
    ]


def test_rows_with_the_same_supports_refer_to_the_first() -> None:
    lines = list(why_lines(*told("3pc")))
    assert lines[:2] == [
        "Why pre(agreement, a, t1):",
        "  given 'pre', post(agreement, a, t1) had 8 supports without faults; each is cut:",
    ]
    assert lines[-2:] == [
        "Why pre(agreement, b, t1): as for pre(agreement, a, t1).",
        "Why pre(agreement, d, t1): as for pre(agreement, a, t1).",
    ]
    assert len(lines) == 2 + 8 + 2


def test_a_violation_that_was_kept_away() -> None:
    lines = list(why_lines(*told("bully-le-lossy")))
    assert lines[0] == "Why pre(a, a): without faults 2 supports kept pre(a, a) away; each is cut:"


def test_one_support() -> None:
    whys, faults, eot = told("2pc")
    sent = "prepare C→b@1, prepare C→d@1, vote a→C@2, vote b→C@2, vote d→C@2"
    assert [line.partition(" cuts ")[2] for line in why_lines(whys, faults, eot)][2] == f"{sent}, ✗ outcome C→a@3"
    assert list(why_lines(whys[:1], faults, eot))[:2] == [
        "Why pre(termination, a, t1):",
        "  given 'pre', post(termination, a, t1) had one support without faults; it is cut:",
    ]


def test_of_many_supports_the_first_are_listed() -> None:
    whys, faults, eot = told("redun-deliv-late")
    lines = list(why_lines(whys, faults, eot))
    assert len(lines) == 22
    assert lines[-1] == "  ... and 26 more; --report shows them"


def test_more_supports_than_are_known() -> None:
    one = Support((message("m", "a", "b", 1),), (), (), (Loss("a", "b", 1),), (), (Loss("a", "b", 1),))
    why = Why(Violation("got", ("b", 1)), False, (one,) * 200, True)
    lines = list(why_lines([why], FaultSet.of([Loss("a", "b", 1)]), 3))
    assert lines[0] == "Why got(b, 1): got(b, 1) had more than 200 supports without faults; each is cut:"
    assert lines[1] == "  O(a,b,1) cuts ✗ m a→b@1"
    assert re.fullmatch(r"  \.\.\. and more than 180 more; --report shows them", lines[-1])


def test_what_fails_without_faults_is_not_explained_again() -> None:
    assert list(why_lines([Why(Violation("pre", ("a",)), False, (), False)], FaultSet(), 3)) == []


def test_in_ascii() -> None:
    whys, faults, eot = told("kafka")
    assert next(line for line in why_lines(whys, faults, eot, ascii_only=True) if "O(b,Z,1)" in line).startswith(
        "  O(b,Z,1) cuts X report b"
    )


# -- never too wide ---------------------------------------------------------------------------------------------


def message(relation: str, source: str, target: str, sent: int) -> Message:
    return Message(relation, (target, source), source, target, sent, sent + 1)


@st.composite
def explained(draw: st.DrawFn) -> tuple[list[Why], FaultSet]:
    """Supports with any names, each cut by one or more of its faults."""
    whys = []
    happened: set[Fault] = set()
    for _ in range(draw(st.integers(1, 2))):
        supports = []
        for _ in range(draw(st.integers(1, 3))):
            sent = [
                message(draw(NAMES), draw(NAMES), draw(NAMES), draw(st.integers(1, 12)))
                for _ in range(draw(st.integers(0, 9)))
            ]
            up = [(draw(NAMES), draw(st.integers(1, 12))) for _ in range(draw(st.integers(0 if sent else 1, 2)))]
            falsifier: list[Fault] = [Loss(m.source, m.target, m.sent) for m in sent]
            falsifier += [Crash(node, 1) for node, _ in up]
            cut_by = draw(st.lists(st.sampled_from(falsifier), min_size=1, max_size=3, unique=True))
            happened.update(cut_by)
            supports.append(Support(tuple(sent), (), tuple(up), tuple(falsifier), (), tuple(cut_by)))
        row = tuple(draw(st.lists(NAMES, max_size=3)))
        whys.append(Why(Violation(draw(NAMES), row), draw(st.booleans()), tuple(supports), draw(st.booleans())))
    return whys, FaultSet.of(happened)


@given(explained(), st.booleans(), st.sampled_from([100, 80, 60]))
def test_no_line_is_wider_than_it_may_be(case: tuple[list[Why], FaultSet], ascii_only: bool, width: int) -> None:
    for line in why_lines(*case, 14, ascii_only=ascii_only, width=width):
        assert columns(line) <= width
        assert line and line == line.rstrip()


@given(explained())
def test_every_support_has_a_line_that_shows_a_cut_first_of_all(case: tuple[list[Why], FaultSet]) -> None:
    whys, faults = case
    supports = [support for why in whys for support in why.supports]
    lines = [line for line in why_lines(whys, faults, 14) if re.match(r"  .*? cuts? ", line)]
    assert len(lines) <= len(supports)
    if len(whys) == 1:
        assert len(lines) == len(supports)
    for line in lines:
        assert "✗" in line or "…" in line or re.search(r" cuts? and \d+ more$", line)


@pytest.mark.parametrize("name", BROKEN)
def test_no_line_about_an_example_is_wider_than_a_hundred_columns(name: str) -> None:
    whys, faults, eot = told(name)
    lines = list(why_lines(whys, faults, eot))
    assert lines and max(map(columns, lines)) <= 100
    assert all("✗" in line for line in lines if re.match(r"  [OCD]\(", line)), "every line shows what is cut"


@pytest.mark.parametrize("name", BROKEN)
def test_left_out_words_are_counted(name: str) -> None:
    """What is shown and what is said to be left out is all there is."""
    whys, faults, eot = told(name)
    for why in whys:
        lines = [line for line in why_lines([why], faults, eot) if re.match(r"  [OCD]\(", line)]
        for line, support in zip(lines, why.supports, strict=False):
            shown = re.split(r" cuts? ", line, maxsplit=1)[1].split(", ")
            more = re.fullmatch(r"and (\d+) more", shown[-1])
            count = len(shown) - 1 + int(more[1]) if more else len(shown)
            texts = {f"{m.relation} {m.source}→{m.target}@{m.sent}" for m in support.messages}
            assert count == len(texts) + len(support.up) + len(support.punctual)


def test_a_narrow_terminal_keeps_what_is_cut() -> None:
    whys, faults, eot = told("kafka")
    lines = [line for line in why_lines(whys, faults, eot, width=60) if line.startswith("  O(b,Z,1)")]
    assert lines == ["  O(b,Z,1) cuts ✗ report b→Z@1, b never crashes, and 5 more"]


@pytest.mark.parametrize("name", BROKEN)
def test_the_whole_explanation_can_be_ascii(name: str) -> None:
    found = verdict(name)
    assert found.program is not None
    whys, faults, _ = told(name)
    run = Explainer(found.program, found.spec, Deadline(None)).run(faults)
    lines = explanation_lines(run, whys, ascii_only=True)
    assert all(line.isascii() for line in lines)
    assert not any("?" in line for line in lines), "nothing is lost on the way"
    assert any(line.startswith("Why ") for line in lines)
