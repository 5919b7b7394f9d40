"""Delta debugging on its own: schedules are sets of numbers, and a predicate says which of them fail."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.minimization.backtracking import BacktrackingTrial
from clew.minimization.deltas import SingleTrial, TrialMode, externals_of, remove_deliveries, remove_externals
from clew.minimization.search import Family, Success
from clew.minimization.trial import Item, Match, Schedule, ScheduledAct
from minimization.scenarios import act

HOW = TrialMode(Match.TYPE)

Fails = Callable[[frozenset[int]], bool]


@dataclass
class Fake:
    """A search whose candidates fail or not by their numbers, and how many it was asked for.

    ``taken``: what is left of a candidate that fails.
    """

    fails: Fails
    taken: Callable[[Schedule], Schedule] = lambda schedule: schedule
    tried: list[tuple[int, ...]] = field(default_factory=list)

    def first(self, family: Family) -> Success | None:
        for place in range(len(family)):
            candidate = family.at(place)
            assert isinstance(candidate, SingleTrial)
            self.tried.append(numbers(candidate.schedule))
            if self.fails(frozenset(self.tried[-1])):
                return Success(place, self.taken(tuple(candidate.schedule)))
        return None


def numbers(schedule: object) -> tuple[int, ...]:
    assert isinstance(schedule, list | tuple)
    return tuple(item if isinstance(item, int) else item.name for item in schedule)


def scheduled(name: int) -> ScheduledAct:
    return ScheduledAct(act("a", name, "b"), name, -1)


def scheduled_many(count: int) -> Schedule:
    return tuple(scheduled(k) for k in range(count))


culprits = st.sets(st.integers(0, 19), max_size=6).map(frozenset)
#: Fails when one of some sets of culprits is there: whatever is added, it still fails.
monotone = st.lists(culprits, min_size=1, max_size=4)


def one_minimal(fails: Fails, kept: tuple[int, ...]) -> bool:
    return fails(frozenset(kept)) and not any(fails(frozenset(kept) - {k}) for k in kept)


# -- events from outside -----------------------------------------------------------------------------------------


@given(culprits)
def test_the_only_culprits_are_what_is_left(needed: frozenset[int]) -> None:
    search = Fake(lambda kept: needed <= kept)
    assert remove_externals(search, tuple(range(20)), HOW) == tuple(sorted(needed))


@given(monotone)
def test_where_more_never_hurts_nothing_more_can_be_left_out(ways: list[frozenset[int]]) -> None:
    def fails(kept: frozenset[int]) -> bool:
        return any(way <= kept for way in ways)

    assert one_minimal(fails, numbers(remove_externals(Fake(fails), tuple(range(20)), HOW)))


@given(st.sets(st.integers(0, 255)))
def test_whatever_fails_when_the_result_fails(accepted: set[int]) -> None:
    """Any predicate at all over eight events: the result is one that was seen to fail."""

    def fails(kept: frozenset[int]) -> bool:
        return len(kept) == 8 or sum(1 << k for k in kept) in accepted

    result = numbers(remove_externals(Fake(fails), tuple(range(8)), HOW))
    assert fails(frozenset(result))
    assert list(result) == sorted(set(result))


@pytest.mark.parametrize("culprit", range(16))
def test_one_culprit_costs_a_logarithm(culprit: int) -> None:
    """Nothing at all first; then of each half the first, and the second only if the first does not fail."""
    search = Fake(lambda kept: culprit in kept)
    assert remove_externals(search, tuple(range(16)), HOW) == (culprit,)
    assert len(search.tried) == 1 + 4 + culprit.bit_count()


def test_deliveries_stay_where_they_are_while_externals_go() -> None:
    schedule: Schedule = (0, scheduled(10), 1, scheduled(11), 2)
    search = Fake(lambda kept: 1 in kept)
    assert numbers(remove_externals(search, schedule, HOW)) == (10, 1, 11)
    assert search.tried[0] == (10, 11)


@pytest.mark.parametrize("schedule", [(), scheduled_many(3)])
def test_nothing_from_outside(schedule: Schedule) -> None:
    search = Fake(lambda kept: True)
    assert remove_externals(search, schedule, HOW) == schedule
    assert len(search.tried) == 1


def test_what_was_taken_counts_and_not_what_was_asked_for() -> None:
    def taken(schedule: Schedule) -> Schedule:
        return tuple(item for item in schedule if isinstance(item, int))

    search = Fake(lambda kept: 3 in kept, taken)
    assert remove_externals(search, (0, 1, scheduled(10), 3), HOW) == (3,)


# -- deliveries --------------------------------------------------------------------------------------------------


@given(st.sets(st.integers(0, 255)))
def test_whatever_fails_no_single_one_can_be_left_out(accepted: set[int]) -> None:
    """Any predicate at all."""

    def fails(kept: frozenset[int]) -> bool:
        return len(kept) == 8 or sum(1 << k for k in kept) in accepted

    assert one_minimal(fails, numbers(remove_deliveries(Fake(fails), scheduled_many(8), HOW)))


@given(culprits, st.sets(st.integers(0, 19)))
def test_events_from_outside_stay_unless_everything_may_go(needed: frozenset[int], outside: set[int]) -> None:
    schedule: Schedule = tuple(k if k in outside else scheduled(k) for k in range(20))
    search = Fake(lambda kept: needed <= kept)
    assert numbers(remove_deliveries(search, schedule, HOW)) == tuple(sorted(needed | outside))
    assert numbers(remove_deliveries(search, schedule, HOW, everything=True)) == tuple(sorted(needed))


def test_what_cannot_be_made_smaller_costs_twice_its_length() -> None:
    search = Fake(lambda kept: len(kept) == 8)
    assert numbers(remove_deliveries(search, scheduled_many(8), HOW)) == tuple(range(8))
    assert [8 - len(tried) for tried in search.tried] == [4] * 2 + [2] * 4 + [1] * 8
    # From the end to the beginning.
    assert search.tried[:2] == [(0, 1, 2, 3), (4, 5, 6, 7)]
    assert search.tried[-1] == tuple(range(1, 8))


def test_with_a_least_gain_it_may_end_before() -> None:
    """Only a single one of 256 could be spared, and it does not come to that."""
    search = Fake(lambda kept: len(kept) >= 255)
    assert len(remove_deliveries(search, scheduled_many(256), HOW, least_gain=0.02)) == 256
    assert min(256 - len(tried) for tried in search.tried) == 2
    assert len(remove_deliveries(search, scheduled_many(256), HOW)) == 255


def test_it_goes_on_from_what_was_taken() -> None:
    """With each one that is left out its neighbour goes, too."""

    def taken(schedule: Schedule) -> Schedule:
        names = set(numbers(schedule))
        return tuple(item for item in schedule if not isinstance(item, int) and {item.name ^ 1} <= names)

    search = Fake(lambda kept: {4, 5} <= kept, taken)
    assert numbers(remove_deliveries(search, scheduled_many(9), HOW)) == (4, 5)


def test_how_a_schedule_is_tried() -> None:
    schedule: list[Item] = [0, scheduled(1)]
    assert TrialMode(Match.FINGERPRINT).candidate(schedule) == SingleTrial(schedule, Match.FINGERPRINT)
    assert TrialMode(Match.TYPE, 5).candidate(schedule) == BacktrackingTrial(schedule, 5)
    assert externals_of(schedule) == [0]
