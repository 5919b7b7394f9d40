"""The task scheduler of the Spark-like example: what is launched where, and in which order."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from clew.simulation.loading import load_scenario

load_scenario(f"{Path(__file__).parents[2] / 'examples' / 'spark' / 'spark_bugs.py'}:correct")
tasks: Any = sys.modules["spark_tasks"]
Task, Locality = tasks.Task, tasks.Locality
HERE, THERE, ELSEWHERE = (tasks.Executor("app", f"worker{n}", 1) for n in (1, 2, 3))


def _task_set(*job: Any, spark_2294: bool = False) -> Any:
    return tasks.TaskSet(job, {0: HERE, 1: THERE}, spark_2294)


def _levels(launches: list[Any]) -> list[tuple[int, str]]:
    return [(launch.task, launch.level.name) for launch in launches]


def test_the_nearest_task_comes_first() -> None:
    some = _task_set(Task(file_at="worker2"), Task(), Task(file_at="worker1"), Task(cached=0))
    assert _levels(some.offer({HERE: 4, THERE: 0})) == [(3, "PROCESS_LOCAL"), (2, "NODE_LOCAL"), (1, "NO_PREF")]
    assert some.pending == [0]
    some.patient = False
    assert _levels(some.offer({HERE: 1, THERE: 0})) == [(0, "ANY")]


def test_with_the_bug_a_task_without_preference_comes_first() -> None:
    some = _task_set(Task(file_at="worker1"), Task(), Task(cached=1), spark_2294=True)
    (launch,) = some.offer({HERE: 1, THERE: 0})
    assert (launch.task, launch.level, launch.best) == (1, Locality.NO_PREF, Locality.NODE_LOCAL)


def test_with_the_bug_all_is_well_as_long_as_nothing_is_cached() -> None:
    some = _task_set(Task(), Task(file_at="worker1"), Task(file_at="worker2"), spark_2294=True)
    assert _levels(some.offer({HERE: 1, THERE: 0})) == [(1, "NODE_LOCAL")]


def test_nobody_waits_for_a_place_where_no_executor_is() -> None:
    some = _task_set(Task(file_at="worker6"))
    assert _levels(some.offer({HERE: 1})) == [(0, "ANY")]


def _mostly_done(spark_2294: bool) -> Any:
    """Seven tasks went here and six of them are done; the eighth is waiting for a core of the other executor."""
    some = _task_set(*[Task()] * 7, Task(file_at="worker2"), spark_2294=spark_2294)
    assert len(some.offer({HERE: 7, THERE: 0})) == 7
    for task in range(7):
        some.start(task)
        some.find_slow()
        assert some.slow == []
    for task in range(6):
        some.finish(task, HERE, 1)
    some.find_slow()
    assert some.slow == [6]
    return some


def test_second_copies_are_for_when_nothing_else_is_pending() -> None:
    some = _mostly_done(spark_2294=False)
    assert some.offer({ELSEWHERE: 1, HERE: 7, THERE: 0}) == []
    assert _levels(some.offer({HERE: 7, THERE: 2})) == [(7, "NODE_LOCAL"), (6, "SPECULATIVE")]


def test_with_the_bug_second_copies_come_before_what_is_pending() -> None:
    (launch,) = _mostly_done(spark_2294=True).offer({ELSEWHERE: 1, THERE: 0})
    assert (launch.task, launch.level, launch.best) == (6, Locality.SPECULATIVE, Locality.ANY)


def test_the_first_copy_to_finish_gives_the_result() -> None:
    some = _mostly_done(spark_2294=False)
    some.offer({THERE: 2})
    some.finish(6, THERE, 5)
    some.finish(6, HERE, 6)
    assert (some.results[6], some.computed_at[6]) == (5, THERE)
    assert not some.is_done
    some.finish(7, THERE, 0)
    assert some.is_done


def test_what_an_executor_took_with_it_is_pending_again() -> None:
    some = _mostly_done(spark_2294=False)
    some.offer({THERE: 1})
    some.lose(THERE)
    assert some.pending == [7]
    some.lose(HERE)
    assert some.pending == [7, 6]
    assert (len(some.results), some.computed_at, some.slow) == (6, {}, [])


def test_more_tasks_come_nearer_to_pi() -> None:
    assert tasks.pi(sum(tasks.points_inside(row, 10) for row in range(10)), 10) == 3.16
    assert tasks.pi(sum(tasks.points_inside(row, 1000) for row in range(1000)), 1000) == 3.141676
