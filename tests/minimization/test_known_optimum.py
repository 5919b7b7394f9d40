"""Systems whose smallest execution is known: minimization comes to it, whichever recording it begins with.

``python -m benchmarks --only luck`` does the same for ten recordings each, and for the bugs of the case studies.
"""

from __future__ import annotations

from functools import cache
from itertools import islice

import pytest
from benchmarks.luck import MEDIAN_RATIO, Minimization, Row, bars, find_violating, list_systems, table
from benchmarks.smallest import SMALLEST, size_of

from clew.minimization.minimizing import Minimized, minimize
from clew.simulation import Send
from clew.simulation.execution.steps import Size
from clew.simulation.fuzzing.fuzz import record

SYSTEMS = {subject.name: subject for subject in list_systems()}
SIZES = {"orders": Size(3, 1), "bank": Size(1, 2), "replicas": Size(5, 5)}


@cache
def _minimized(name: str, seed: int) -> Minimized:
    loaded = SYSTEMS[name].loaded
    return minimize(record(loaded, seed), loaded, in_process=True)


@pytest.mark.parametrize("name", SIZES)
def test_the_smallest_execution_is_found(name: str) -> None:
    subject = SYSTEMS[name]
    assert size_of(SMALLEST[subject.loaded.name], subject.loaded) == SIZES[name]
    for seed in islice(find_violating(subject), 2):
        assert _minimized(name, seed).size == SIZES[name], seed


def _sent(name: str) -> list[object]:
    found = _minimized(name, next(find_violating(SYSTEMS[name])))
    return [step.message for step in found.recording.steps if isinstance(step, Send)]


def test_tuples_of_frozen_dataclasses_lose_all_that_they_can() -> None:
    (order,) = _sent("orders")
    assert [line.options for line in order.lines] == [(), ()]  # type: ignore[attr-defined]


def test_members_leave_two_at_a_time_down_to_four() -> None:
    assert [len(sent.names) for sent in _sent("replicas") if hasattr(sent, "names")] == [4, 4]


def test_a_row_tells_the_median_and_the_worst() -> None:
    finals = [Size(10, 2), Size(10, 2), Size(16, 2)]
    row = Row("x", Size(10, 2), tuple(Minimization(k, 100, size, 50, 2.0) for k, size in enumerate(finals)))
    assert table([row]).rows == [
        ("x", "3", "10 E:2", "10 E:2", "16 E:2", "1.00", "1.60", "1.00", "1.50", "2.0"),
    ]
    assert [(bar.measured, bar.limit, bar.passed) for bar in bars([row])] == [
        ("1.00", f"{MEDIAN_RATIO:g}", True),
        ("1.60", "1.5", False),
    ]
