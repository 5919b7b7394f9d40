"""How long a violation lasts: in words, in diagrams, on the page, and when it is replayed."""

from __future__ import annotations

from pathlib import Path

import pytest

import clew
from clew.duration import Duration, Loop, Persistence
from clew.report.diagrams.lamport import lamport_of
from clew.report.diagrams.lamport_svg import diagram_svg, legend_items
from clew.report.diagrams.lamport_text import diagram_lines
from clew.report.verdict.duration_text import duration_line
from command import ROOT

DUELING, BACKOFF = ROOT / "examples" / "dueling.ded", ROOT / "examples" / "dueling-backoff.ded"


@pytest.mark.parametrize(
    ("duration", "told"),
    [
        (
            Duration(Persistence.LASTING, 9, Loop(6, 1), 2),
            "lasts: from time 6 on nothing that it depends on changes",
        ),
        (
            Duration(Persistence.LASTING, 9, Loop(6, 2, grows=True), 2),
            "lasts: from time 6 on the run repeats itself every 2 steps, violated throughout; numbers grow",
        ),
        (
            Duration(Persistence.RECURRING, 9, Loop(4, 2), kept=6, again=7),
            "recurs: not violated at time 6, violated again at 7, and so on, every 2 steps",
        ),
        (
            Duration(Persistence.TRANSIENT, 9, Loop(8, 1), 7),
            "recovers at time 7: EOT 5 is too short (--eot 7)",
        ),
        (
            Duration(Persistence.TRANSIENT, 9, None, 7),
            "recovers at time 7 (followed up to 9): EOT 5 is too short (--eot 7)",
        ),
        (
            Duration(Persistence.TRANSIENT, 9, Loop(8, 1), 7, void=True),
            "passes at time 7: nothing is promised from then on",
        ),
        (Duration(Persistence.OPEN, 5, reason="why"), "open whether it lasts: why"),
    ],
)
def test_each_is_one_line(duration: Duration, told: str) -> None:
    assert duration_line(duration, 5) == told
    more = "" if duration.reason else ", if nothing more is given or chosen"
    assert duration_line(duration, 5, open_world=True) == told + more
    searched = told.replace("(--eot 7)", "(--eot 7, or --lasting)")
    assert duration_line(duration, 5, of_search=True) == searched


def test_a_loop_is_marked_in_the_diagrams() -> None:
    run = clew.run(DUELING, [clew.Loss("a", "p", 2)])
    diagram = lamport_of(run)
    assert diagram.loop == Loop(9, 4)
    remarks = [
        line.split("  ")[-1].strip() for line in diagram_lines(diagram) if line.endswith(("steps", "9", "13"))
    ]
    assert remarks == ["REPEATS every 4 steps", "as at time 9", "as at time 13"]
    svg = diagram_svg(diagram, title="The run", standalone=True)
    assert svg.count('<g class="loop"><title>from time 9 on the run repeats itself every 4 steps</title>') == 1
    assert "repeats itself every 4 steps." in svg.split(">")[0]
    assert [item.text for item in legend_items(diagram) if item.kind == "loop"] == ["repeated for ever"]
    # A round that is not in the picture as a whole is not marked, nor is a run at rest.
    assert lamport_of(clew.run(DUELING, [clew.Loss("a", "p", 2)], eot=12)).loop is None
    assert lamport_of(clew.run(ROOT / "examples" / "kafka.ded")).loop is None


def test_the_page_shows_the_loop_and_what_a_certificate_covers(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    clew.write_report(clew.check(DUELING, lasting=True), page)
    text = page.read_text(encoding="utf-8")
    assert "It lasts: from time 9 on the run repeats itself every 4 steps, violated throughout." in text
    assert text.count("</svg> repeated for ever</li>") == 1
    assert "No combination of fewer faults does that." not in text
    clew.write_report(clew.check(BACKOFF, lasting=True), page)
    text = page.read_text(encoding="utf-8")
    assert "nothing is violated for ever: whatever fails by time 8: every run comes back to itself" in text
    assert "what must hold at the end" not in text.split("<pre")[0]


def test_a_violation_that_no_longer_lasts_is_fixed_where_that_was_asked_for(tmp_path: Path) -> None:
    text = """
        link(a, b); link(X, Y)@next :- link(X, Y);
        left(a, 3); left(X, N - 1)@next :- left(X, N), N > 1;
        got(Y)@async :- left(X, _), link(X, Y);
        got(Y)@next :- got(Y);
        pre(Y) :- link(_, Y); post(Y) :- got(Y);
    """
    program, document = tmp_path / "send.ded", tmp_path / "verdict.json"
    program.write_text(text)
    found = clew.check(program, eot=7, eff=4, lasting=True)
    document.write_text(found.to_json())
    # It is given in the end, but only after the last time of the document.
    program.write_text(text + "got(b)@9;")
    replayed = clew.replay_verdict(document, [str(program)])
    assert replayed.answer.value == "fixed"
    lines = str(replayed).splitlines()
    assert "  fixed: pre(b) no longer lasts" in lines
    assert "  recovers at time 9: EOT 7 is too short (--eot 9)" in lines
    assert lines[-1].endswith(" --lasting")


def test_what_no_declaration_gives_any_more_is_said() -> None:
    program = clew.parse_program("""
        who(a); who(X)@next :- who(X);
        input stop(X)@T :- who(X), T <= 3;
        stopped(X) :- stop(X); stopped(X)@next :- stopped(X);
        pre(X) :- who(X); post(X) :- who(X), notin stopped(X);
    """)
    found = clew.check(program, eot=5)
    told = "lasts: from time 4 on nothing that it depends on changes, if nothing more is given or chosen"
    assert f"  {told}" in str(found).splitlines()
