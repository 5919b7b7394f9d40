"""The behaviour that labels are compared with is seen: programs of which it is known whether order matters."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.calm import drawn_oracle
from analysis.calm.drawn_generation import drawn
from analysis.calm.drawn_oracle import disagreements, read, shrunk
from analysis.calm.drawn_programs import Declared, Drawn, Given, without_unused

_SCHEDULES = range(12)
_MESSAGE = Declared("c0", ("dst", "k", "v"))
_OTHER = Declared("c1", ("dst", "k", "v"))
_INPUT, _TABLE, _MORE, _SHOWN = Declared("i0"), Declared("t0"), Declared("t1"), Declared("o0")
_ARRIVING = tuple(Given("a", name, ("a", *row)) for name in ("c0", "c1") for row in ((1, 2), (2, 3), (1, 1)))
_PUT = tuple(Given("a", "i0", row, step=1) for row in ((1, 2), (2, 3), (1, 1)))


def _program(*rules: str) -> Drawn:
    declared = (_MESSAGE, _OTHER, _INPUT, _TABLE, _MORE, _SHOWN, Declared("s0"), Declared("l0"), Declared("z0"))
    return without_unused(Drawn(declared, rules, _ARRIVING + _PUT))


_DIFFER = {
    "links that arrive one by one": (
        "self.t0 <= self.c0.payloads()",
        'self.t0 <= (self.c0 * self.t0).pairs(lambda x, y: (x.k, y.v), v="k")',
    ),
    "equal in the address only": (
        'self.o0 <= (self.c0 * self.c0).pairs(lambda x, y: (x.k, y.v), dst="dst")',
    ),
    "a flag that is there in the next step": (
        "self.t0 <+ rows([(1, 1)])",
        'self.o0 <= (self.i0 * self.t0).lefts(k="k")',
    ),
    "a count of what comes together": (
        'self.o0 <= self.i0.group(["k"], n=agg.count()).filter(lambda r: r.n > 1)',
    ),
    "an extra step": (
        "self.t0 <= self.i0",
        "self.t0 <- self.t0.notin(self.i0)",
        'self.o0 <= (self.t0 * self.c0.payloads()).lefts(k="k")',
    ),
    "a votes' number that is shown with the vote": (
        'self.l0 <= self.c0.project("v")',
        "self.o0 <= self.l0.size().gt_eq(2).when_true(self.c0.payloads())",
    ),
    "a number that is drawn": ('self.t0 <= self.i0(lambda r: (r.k, random.random()))',),
    "a number that is counted": ('self.t0 <= self.i0(lambda r: (r.k, next(ticket)))',),
    "the time": ('self.t0 <= self.i0(lambda r: (r.k, time.time()))',),
    "what was there first": (
        'self.s0 <= self.c0.payloads().notin(self.t0, k="k")',
        "self.t0 <+ self.s0",
        "self.o0 <= self.s0",
    ),
    "a message with a tick": ("self.o0 <= (self.c0.payloads() * self.z0).lefts()",),
}

_SAME = {
    "two that are stored": (
        "self.t0 <= self.c0.payloads()",
        "self.t1 <+ self.c1.payloads()",
        'self.o0 <= (self.t0 * self.t1).pairs(lambda x, y: (x.k, y.v), v="k")',
    ),
    "a closure of what is stored": (
        "self.t0 <= self.c0.payloads()",
        "self.t1 <= self.t0",
        'self.t1 <= (self.t0 * self.t1).pairs(lambda x, y: (x.k, y.v), v="k")',
    ),
    "the first time": (
        "self.s0 <= self.c0.payloads().notin(self.t0)",
        "self.t0 <+ self.s0",
        "self.o0 <= self.s0",
    ),
    "a scratch that keeps its rows": (
        "self.s0 <= self.c0.payloads()",
        "self.s0 <+ self.s0",
        'self.o0 <= (self.s0 * self.s0).pairs(lambda x, y: (x.k, y.v), v="k")',
    ),
    "what is stored with a tick": ("self.t0 <= self.c0.payloads()", "self.o0 <= (self.t0 * self.z0).lefts()"),
    "a quorum": (
        "self.t0 <= self.c0.payloads()",
        'self.o0 <= self.t0.group(["k"], n=agg.count())(lambda r: (r.k, 1) if r.n >= 2 else None)',
    ),
}


@pytest.mark.parametrize("name", _DIFFER)
def test_a_wrong_promise_is_found_and_shrunk(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = _program(*_DIFFER[name])
    output = "o0" if any("self.o0" in rule for rule in program.rules) else "t0"
    monkeypatch.setattr(drawn_oracle, "labels_of", lambda module: {output: "A"})
    subject = read(program, tmp_path)
    assert subject is not None
    (found,) = disagreements(subject, [program], _SCHEDULES)
    less = shrunk(found, tmp_path, _SCHEDULES)
    assert len(less.program.given) <= 3
    assert len(less.program.rules) <= len(program.rules)
    assert less.first.shown != less.second.shown
    assert f"'{output}' is labelled A, and differs" in str(less)


@pytest.mark.parametrize("name", _SAME)
def test_a_promise_that_is_kept_is_not_doubted(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = _program(*_SAME[name])
    output = "o0" if any("self.o0" in rule for rule in program.rules) else "t1"
    monkeypatch.setattr(drawn_oracle, "labels_of", lambda module: {output: "A"})
    subject = read(program, tmp_path)
    assert subject is not None
    assert not list(disagreements(subject, [program], range(40)))
    assert subject.tried.runs == 40
    assert not subject.tried.spoiled


def test_steps_that_are_given_do_not_say_when_a_message_comes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = _program(
        'self.c0 <~ rows([(1, 1)]).rename("k", "v")(lambda r: ("a", r.k, r.v))',
        'self.o0 <= (self.c0 * self.i0).rights(k="k")',
        "self.t0 <- self.t0.notin(self.i0)",
        "self.t0 <= self.i0",
    )
    monkeypatch.setattr(drawn_oracle, "labels_of", lambda module: {"o0": "N", "t0": "N"})
    subject = read(program, tmp_path)
    assert subject is not None
    (found,) = disagreements(subject, [program], _SCHEDULES)
    assert (found.output, found.label) == ("o0", "N")
    assert [rule for rule in shrunk(found, tmp_path, _SCHEDULES).program.rules if "t0" in rule] == []


def test_a_number_means_one_program() -> None:
    assert drawn(7) == drawn(7)
    assert len({drawn(seed).text for seed in range(100)}) == 100
