"""From the states of a run to what becomes of its violation."""

from __future__ import annotations

import pytest

from clew.duration import Duration, Loop, Persistence, State, judge_course

LETTERS = {"b": State.BAD, "g": State.GOOD, "v": State.VACUOUS}


def judge(course: str, eot: int, loop: Loop | None = None) -> Duration:
    return judge_course([LETTERS[letter] for letter in course], eot, loop)


@pytest.mark.parametrize(
    ("course", "eot", "loop", "since"),
    [("gbbbb", 3, Loop(4, 1), 2), ("bbbbbb", 4, Loop(3, 2), 1), ("bgbbb", 3, Loop(3, 1), 3)],
)
def test_what_is_violated_throughout_a_loop_lasts(course: str, eot: int, loop: Loop, since: int) -> None:
    assert judge(course, eot, loop) == Duration(Persistence.LASTING, len(course), loop, since)


def test_what_is_violated_at_some_times_of_a_loop_recurs() -> None:
    loop = Loop(3, 2)
    assert judge("bbbgbg", 3, loop) == Duration(Persistence.RECURRING, 6, loop, kept=4, again=5)
    # Beyond what was executed, the loop says how it goes on.
    assert judge("gbgb", 4, Loop(1, 2)) == Duration(Persistence.RECURRING, 4, Loop(1, 2), kept=5, again=6)


@pytest.mark.parametrize(("course", "void"), [("bbbbggg", False), ("bbbbvvv", True)])
def test_what_is_not_violated_in_the_loop_recovers(course: str, void: bool) -> None:
    loop = Loop(6, 1)
    assert judge(course, 3, loop) == Duration(Persistence.TRANSIENT, 7, loop, 5, void)


def test_a_recovery_without_a_loop_holds_as_far_as_it_was_seen() -> None:
    assert judge("bbgggg", 2) == Duration(Persistence.TRANSIENT, 6, None, 3)


def test_with_a_loop_the_last_recovery_counts() -> None:
    assert judge("bgbbgg", 1, Loop(5, 1)).since == 5


@pytest.mark.parametrize(("course", "reason"), [("bbgb", "at time 4 it is still"), ("bgbgg", "up to time 3")])
def test_otherwise_it_is_open(course: str, reason: str) -> None:
    duration = judge(course, 1)
    assert duration.persistence is Persistence.OPEN
    assert duration.reason is not None
    assert reason in duration.reason
