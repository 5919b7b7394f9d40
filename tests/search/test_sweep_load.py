"""A sweep gives the same bytes under any load, whatever the clock says and whenever it is looked at."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from clew import Answer, Verdict, check
from clew.budgets.deadline import Deadline
from clew.checker.bounds import complete
from clew.checker.checking import DEFAULT_SWEEP_EFFORT
from clew.dedalus.loader import load
from clew.faults import FailureSpec
from clew.program.ir import Program
from clew.report.verdict.document import to_json
from command import ROOT
from long_mode import first_of, pair_off


class _Clock:
    """Every look at it comes seconds, hours or weeks after the one before."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)
        self._now = 0.0

    def monotonic(self) -> float:
        self._now += 10 ** self._random.uniform(-3, 6)
        return self._now


def _document(verdict: Verdict) -> str:
    """Return the JSON, but for the seconds: all else must be the same."""
    return to_json(replace(verdict, seconds=0.0))


def _example(name: str) -> tuple[Program, FailureSpec]:
    """Return an example without its own EOT and EFF, which must then be swept."""
    loaded = load([ROOT / "examples" / f"{name}.ded"])
    return loaded.program, complete(loaded.program, loaded.defaults)


def _sweep(name: str, **options: bool) -> Verdict:
    program, spec = _example(name)
    return check(program, nodes=spec.nodes, crashes=spec.crashes, delays=spec.delays, **options)  # type: ignore[arg-type]


#: Small enough that some of the sweeps, and some of the surveys after them, end by it.
EFFORTS = [1_000, 5_000, 20_000, 60_000]
SWEPT = pair_off(["ack-deliv", "flux", "kafka", "paxos-synod", "redun-deliv-late", "3pc"], EFFORTS)


@pytest.mark.parametrize("swept", first_of(SWEPT, 6), ids=str)
def test_the_default_sweep_does_not_look_at_the_clock(
    swept: tuple[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    name, effort = swept
    monkeypatch.setattr("clew.checker.checking.DEFAULT_SWEEP_EFFORT", effort)
    expected = _document(_sweep(name))
    for seed, poll in ((0, 0.000_1), (1, 0.003), (2, 0.5)):
        monkeypatch.setattr("clew.budgets.deadline.time", _Clock(seed))
        monkeypatch.setattr("clew.budgets.deadline._POLL_SECONDS", poll)
        assert _document(_sweep(name)) == expected


@pytest.mark.parametrize(
    "options", [{"find_all": True}, {"strict": True, "coverage": True}, {"allow_hollow": True}]
)
def test_nor_does_it_with_other_demands(options: dict[str, bool], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("clew.checker.checking.DEFAULT_SWEEP_EFFORT", 10_000)
    expected = [_document(_sweep(name, **options)) for name in ("ack-deliv", "kafka")]
    monkeypatch.setattr("clew.budgets.deadline.time", _Clock(3))
    assert [_document(_sweep(name, **options)) for name in ("ack-deliv", "kafka")] == expected


def test_no_deadline_of_a_default_sweep_has_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither that of the sweep nor that of the survey after it."""
    given: list[float | None] = []
    make: Callable[..., None] = Deadline.__init__

    def noting(self: Deadline, seconds: float | None, *effort: object) -> None:
        given.append(seconds)
        make(self, seconds, *effort)

    monkeypatch.setattr(Deadline, "__init__", noting)
    verdict = _sweep("ack-deliv")
    assert (verdict.answer, verdict.survey is not None) == (Answer.CERTIFIED, True)
    assert len(given) >= 2
    assert set(given) == {None}


SEARCHED = pair_off(["ack-deliv", "bully-le-lossy", "paxos-synod"], ["exact", "lineage", "exhaustive"])


@pytest.mark.parametrize("searched", first_of(SEARCHED, 3), ids=str)
def test_a_slow_machine_gives_the_same_answer(searched: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Every look at the clock takes a while, and comes at another moment."""
    example, strategy = searched
    path: Path = ROOT / "examples" / f"{example}.ded"
    expected = _document(check(path, effort=0.02, strategy=strategy))
    check_clock, random = Deadline.check, Random(0)

    def slow_check(self: Deadline) -> None:
        time.sleep(random.choice([0, 0.0003, 0.001]))
        check_clock(self)

    monkeypatch.setattr(Deadline, "check", slow_check)
    for seconds in (0.000_1, 0.7):
        monkeypatch.setattr("clew.budgets.deadline._POLL_SECONDS", seconds)
        assert _document(check(path, effort=0.02, strategy=strategy)) == expected
    assert '"verdict": "incomplete"' not in expected.split('"sweep"')[0]


def test_what_was_found_with_the_last_effort_is_the_same_every_time() -> None:
    """First none is found, then one that is not known to have the fewest faults, and says so; then it is known."""
    seen: dict[tuple[Answer, str | None, int], None] = {}
    for units in range(7_000, 11_000, 500):
        found = [check(ROOT / "examples" / "kafka.ded", effort=units / DEFAULT_SWEEP_EFFORT) for _ in range(2)]
        assert _document(found[0]) == _document(found[1])
        faults = [len(c.faults) for c in found[0].counterexamples]
        seen[found[0].answer, found[0].reason, sum(faults)] = None
    assert list(seen) == [
        (
            Answer.CERTIFIED,
            "the effort of the sweep is used up at EOT 6, EFF 2; "
            "to go on, give a larger --effort (1 is the usual one), or --eot and --eff",
            0,
        ),
        (Answer.COUNTEREXAMPLE, "the effort of the sweep is used up; fewer faults may do", 3),
        (Answer.COUNTEREXAMPLE, None, 3),
    ]
