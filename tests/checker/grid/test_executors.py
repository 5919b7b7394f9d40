"""Grids on the workers of an executor: the same rows as here, whatever becomes of the workers."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

import clew
from clew.checker.grid.result import GridResult
from command import ROOT

KAFKA = ROOT / "examples" / "kafka.ded"
AXES: dict[str, Any] = {"crashes": range(2), "eot": range(5, 8)}


def told(found: GridResult) -> object:
    rows = [replace(row, verdict=row.verdict and replace(row.verdict, seconds=0.0)) for row in found.rows]
    return rows, str(found)


class Losing(ThreadPoolExecutor):
    """Loses every other piece of work."""

    turn = 0

    def submit(self, work: Any, *given: Any, **more: Any) -> Future[Any]:  # type: ignore[override]
        self.turn += 1
        if self.turn % 2:
            return super().submit(work, *given, **more)
        lost: Future[Any] = Future()
        lost.set_exception(MemoryError("the worker is gone"))
        return lost


@pytest.mark.parametrize("pool", [ThreadPoolExecutor, Losing])
def test_rows_are_those_of_one_process(pool: type[ThreadPoolExecutor]) -> None:
    said = []
    with pool(2) as executor:
        found = clew.check_grid(KAFKA, AXES, executor=executor, progress=lambda runs, what: said.append(what))
    assert told(found) == told(clew.check_grid(KAFKA, AXES))
    assert said[-1] == "6 of 6 settings on 2 workers"


def test_a_time_limit_is_named_as_it_was_given() -> None:
    with ThreadPoolExecutor(2) as executor:
        found = clew.check_grid(KAFKA, {"eot": range(20, 140)}, executor=executor, time_limit=2)
    assert found.rows[-1].reason == "not reached: the time limit of 2 s ran out"
    reasons = {row.reason or (row.verdict and row.verdict.reason) for row in found.rows}
    assert reasons <= {"not reached: the time limit of 2 s ran out", "the time limit of 2 s ran out", None}
