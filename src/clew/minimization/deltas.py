"""Delta debugging: leaving out parts of a schedule for as long as the violation stays.

``without_externals`` is Zeller's algorithm in the version without complements, as in appendix A of the paper:
half of the events from outside, or the other half, or both halves in turn while the rest of the other is kept.
``without_deliveries`` leaves out runs of events, of half of them first and of single ones last, and starts again
from what was really taken each time: that is often far less than what was asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from clew.minimization.backtracking import BacktrackingTrial
from clew.minimization.search import Candidate, Search, TrialResult
from clew.minimization.searching.search import Plain
from clew.minimization.trial import Item, Match, Schedule, Target, attempt, from_plain, plain

#: A run of events is short when it is less than this part of a schedule.
_LONG_RUNS = 64


class TrialMode(NamedTuple):
    """How a schedule is tried: which messages it means, and how many neighbours are tried when it fails."""

    match: Match
    backtracks: int = 0

    def candidate(self, schedule: Sequence[Item]) -> Candidate:
        return (
            BacktrackingTrial(schedule, self.backtracks) if self.backtracks else SingleTrial(schedule, self.match)
        )


class SingleTrial(NamedTuple):
    """A schedule that is tried as it is."""

    schedule: Sequence[Item]
    match: Match

    def evaluate(self, target: Target) -> TrialResult:
        return TrialResult(attempt(target, self.schedule, self.match), 1)


def externals_of(schedule: Sequence[Item]) -> list[int]:
    return [item for item in schedule if isinstance(item, int)]


def remove_externals(search: Search, schedule: Schedule, how: TrialMode) -> Schedule:
    """Return the schedule with as few events from outside as delta debugging finds."""
    return _Externals(search, how, schedule).minimize()


class _Externals:
    """``best`` is the execution that the latest success came to."""

    def __init__(self, search: Search, how: TrialMode, schedule: Schedule) -> None:
        self._search = search
        self._how = how
        self._original = schedule
        self._best = schedule

    def minimize(self) -> Schedule:
        everything = externals_of(self._original)
        # First without any event from outside: what nodes do by themselves may be enough.
        nothing = self._try([[]])
        if nothing is None and everything:
            self._find_needed(everything, [])
        return self._best

    def _find_needed(self, suspects: list[int], kept: list[int]) -> list[int]:
        """Return those of the suspects that are needed together with what is kept."""
        if len(suspects) == 1:
            return suspects
        # Zeller's ddmin without complements: half, the other half, then each half with the rest of the other kept.
        middle = len(suspects) // 2
        first, second = suspects[:middle], suspects[middle:]
        place = self._try([[*first, *kept], [*second, *kept]])
        if place is not None:
            return self._find_needed((first, second)[place], kept)
        needed = self._find_needed(first, [*second, *kept])
        return [*needed, *self._find_needed(second, [*needed, *kept])]

    def _try(self, subsets: list[list[int]]) -> int | None:
        success = self._search.first(_Subsets(self._original, self._how, subsets))
        if success is None:
            return None
        self._best = success.schedule
        return success.place


class _Subsets:
    """The schedule with each of some subsets of its events from outside, and no others."""

    def __init__(self, schedule: Schedule, how: TrialMode, subsets: list[list[int]]) -> None:
        self._schedule = schedule
        self._how = how
        self._subsets = subsets

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpack_subsets, (plain(self._schedule), self._how, self._subsets)

    def __len__(self) -> int:
        return len(self._subsets)

    def at(self, place: int) -> Candidate:
        chosen = set(self._subsets[place])
        return self._how.candidate(
            tuple(item for item in self._schedule if not isinstance(item, int) or item in chosen)
        )


def _unpack_subsets(items: Plain, how: TrialMode, subsets: list[list[int]]) -> _Subsets:
    return _Subsets(from_plain(items), how, subsets)


def remove_deliveries(
    search: Search, schedule: Schedule, how: TrialMode, *, everything: bool = False, least_gain: float = 0.0
) -> Schedule:
    """Leave out the deliveries that can be spared; with ``everything``, also events from outside.

    It goes on until no single one can be spared; or, with ``least_gain``, until leaving out short runs of some
    length makes the schedule shorter by no more than this share of it: still shorter ones promise little then.
    """
    best = schedule
    chunk = max(1, len(_removable(best, everything)) // 2)
    while True:
        before = len(best)
        best = _pass(search, best, how, chunk, everything)
        # Long runs may gain nothing and shorter ones still do, so only short ones may end it.
        short = chunk == 1 or (least_gain and chunk * _LONG_RUNS < before)
        if short and before - len(best) <= least_gain * before:
            return best
        removable = len(_removable(best, everything))
        chunk = 1 if chunk == 1 else max(1, min(chunk // 2, removable // 2))


def _pass(search: Search, schedule: Schedule, how: TrialMode, chunk: int, everything: bool) -> Schedule:
    """Try to leave out every run of ``chunk`` events once, from the end to the beginning."""
    best, done = schedule, 0
    while True:
        success = search.first(_Cuts(best, how, chunk, done, everything))
        if success is None:
            return best
        # What comes after the cut was tried already, and what was taken of it may be less.
        done = min(done + success.place * chunk, max(0, len(success.schedule) - 1))
        best = success.schedule


class _Cuts:
    """The schedule without each run of ``chunk`` events, but for the last ``done`` ones, the latest first."""

    def __init__(self, schedule: Schedule, how: TrialMode, chunk: int, done: int, everything: bool) -> None:
        self._schedule = schedule
        self._given = (how, chunk, done, everything)
        self._how = how
        self._chunk = chunk
        self._places = _removable(schedule, everything)
        self._end = max(0, len(self._places) - done)

    def __reduce__(self) -> tuple[Any, ...]:
        # As plain tuples: see ``Plain``.
        return _unpack_cuts, (plain(self._schedule), *self._given)

    def __len__(self) -> int:
        return -(-self._end // self._chunk)

    def at(self, place: int) -> Candidate:
        end = self._end - place * self._chunk
        out = set(self._places[max(0, end - self._chunk) : end])
        return self._how.candidate([item for k, item in enumerate(self._schedule) if k not in out])


def _unpack_cuts(items: Plain, how: TrialMode, chunk: int, done: int, everything: bool) -> _Cuts:
    return _Cuts(from_plain(items), how, chunk, done, everything)


def _removable(schedule: Schedule, everything: bool) -> list[int]:
    return [place for place, item in enumerate(schedule) if everything or not isinstance(item, int)]
