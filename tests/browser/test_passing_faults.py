"""Reports of runs with restarts, pauses, partitions and duplicates in a real browser."""

from __future__ import annotations

from pathlib import Path

import pytest

from browser.conftest import Reports
from browser.driving import Page
from browser.graph import check_edges_meet_boxes

PINGS = """//! nodes=a,b,c eot=6
durable peer;
peer("a", "b")@1; peer("a", "c")@1; peer(X, Y)@next :- peer(X, Y);
ping(Y, X)@async :- peer(X, Y);
pong(X, Y)@async :- ping(Y, X);
heard(X, Y)@next :- pong(X, Y); heard(X, Y)@next :- heard(X, Y);
"""
#: A server that has its lock in memory alone.
LOCK = """//! nodes=s,x,y eot=7 eff=5 crashes=0 restarts=1
durable;
want("x", "s")@1; want("y", "s")@3;
ask(S, X)@async :- want(X, S);
taken(S) :- held(S, _);
held(S, X)@next :- ask(S, X), notin taken(S);
held(S, X)@next :- held(S, X);
have(X)@async :- ask(S, X), notin taken(S);
have(X)@next :- have(X);
two(X, Y) :- have(X), have(Y), X != Y;
pre(X) :- have(X);
post(X) :- have(X), notin two(X, _);
"""
KINDS = {
    "restart": (["--restart", "b,3,4"], "b is down at time 3 and restarts at 4"),
    "stop": (["--stop", "b,3"], "b stops at time 3, for good"),
    "pause": (["--pause", "b,2,4"], "b is paused at times 2 to 3 and goes on at 4"),
    "partition": (["--partition", "b:2,4"], "b is cut off from the others at times 2 to 3"),
    "duplicate": (["--duplicate", "a,b,1,2"], "the message from a to b at time 1 arrives again 2 steps later"),
}


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> str:
    return _written(tmp_path_factory, PINGS)


@pytest.fixture(scope="session")
def lock(tmp_path_factory: pytest.TempPathFactory) -> str:
    return _written(tmp_path_factory, LOCK)


def _written(folders: pytest.TempPathFactory, text: str) -> str:
    path: Path = folders.mktemp("program") / "program.ded"
    path.write_text(text)
    return str(path)


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_with_each_kind_opens_and_tells_of_it(
    browser: Page, reports: Reports, program: str, kind: str
) -> None:
    words, sentence = KINDS[kind]
    browser.open(reports("run", program, *words))
    assert browser.requests() == []
    assert browser.console_errors() == []
    assert [item.text.splitlines()[1] for item in browser.all("#faults li")] == [sentence]
    marks = {
        "restart": "#right g.halt.down",
        "pause": "#right g.halt.paused",
        "partition": "#right g.band .island",
        "duplicate": "#right g.arrow.again",
        "stop": "#right g.crash:not(.badge)",
    }
    for other, mark in marks.items():
        assert (len(browser.all(mark)) == 1) == (other == kind), other
        assert not browser.all(mark.replace("#right", "#left")), "the failure-free run has none of it"
    assert browser.all("#left .arrow.hit"), "but it shows what will be hit"
    legend = browser.text("#lamport-legend")
    said = {"restart": "DOWN", "pause": "PAUSED", "partition": "cut off", "duplicate": "arrives again"}
    said["stop"] = "STOPPED"
    assert [other for other, word in said.items() if word in legend] == [kind]


def test_the_counterexample_of_a_restart(browser: Page, reports: Reports, lock: str) -> None:
    browser.open(reports("check", lock))
    assert browser.console_errors() == []
    assert browser.text(".answer") == "COUNTEREXAMPLE"
    assert browser.text("#faults li code") == "R(s,3,4)"
    assert browser.text("#replay").endswith("--restart s,3,4")
    assert [row.text for row in browser.all("#arose tr")][:1] == ["3 s goes down: R(s,3,4)"]
    assert "s not down at 3" in browser.text("#why")
    check_edges_meet_boxes(browser)


def test_all_kinds_in_one_diagram_keep_apart(browser: Page, reports: Reports, program: str) -> None:
    browser.open(reports("run", program, "--restart", "c,3,4", "--pause", "a,2,3", "--partition", "b:3,5"))
    assert browser.console_errors() == []
    assert [item.text for item in browser.all("#right text.halt")] == ["DOWN", "PAUSED"]
    assert browser.text("#right text.band") == "b cut off"
    told = browser.evaluate("document.querySelector('#right g.band title').textContent")
    assert told == "b cut off from the others at times 3 to 4: P({b},3,5)"
