"""The stages of minimization in virtual time, each beginning with what the one before it left.

How long an execution is depends mostly on how much time passes in it.  So the search for one that breaks early
comes first; then what is not needed of it goes, contents shrink, and in the end its times become simple.
"""

from __future__ import annotations

from typing import NamedTuple

from clew.errors import UsageError
from clew.minimization.searching.search import CandidateList, TrialResult
from clew.minimization.searching.stages import StagedMinimizer, Surroundings
from clew.minimization.shrinking import contents, smaller_targets
from clew.minimization.timed.changes import (
    TimedSearch,
    cut_out,
    leave_out,
    list_all,
    list_removable,
    remove_runs,
    simplify_times,
)
from clew.minimization.timed.departing import Departure, Silence, Walk
from clew.minimization.timed.schedule import TimedSchedule, TimedTarget, measure, split_timed, weigh
from clew.minimization.timed.trial import attempt, complete_recorded, write_steps
from clew.simulation.execution.steps import Size, Step
from clew.simulation.scenario import Scenario

#: Longer executions than this are departed from before anything is left out one by one.
_LONG = 60
#: So many departures may fail in a row there.
_SHORTCUTS = 20
#: How many candidates in a row may fail before the search for shorter executions ends: at most, for each event of
#: the best execution, and at least.
_PATIENCE = 120
_PATIENCE_EACH = 5
_LEAST_PATIENCE = 30
#: How often contents may be replaced by what a user calls smaller and is not shorter: it might go on for ever.
_SIDEWAYS = 100


class TimedMinimizer(StagedMinimizer[TimedTarget, TimedSchedule]):
    """One minimization of an execution in virtual time."""

    def __init__(
        self,
        scenario: Scenario,
        seed: int,
        steps: tuple[Step, ...],
        identity: str,
        clocks: tuple[tuple[str, float], ...],
        surroundings: Surroundings,
        *,
        shrink: bool = True,
    ) -> None:
        speeds = dict(clocks)
        target, self._best = split_timed(
            scenario, seed, steps, identity, [speeds[node] for node in scenario.nodes]
        )
        super().__init__(target, surroundings)
        self._steps = steps
        self._shrink = shrink

    def _verify(self) -> None:
        with self._counting("recorded"):
            recorded = complete_recorded(self._target, self._steps, self._best.speeds)
            if recorded is None:
                raise UsageError(
                    "the recorded schedule does not end in the recorded violation",
                    remedy="clew replay shows where it goes another way",
                )
            self._best = recorded
            self._witness(1, recorded)

    def _minimize(self) -> None:
        if len(self._best.items) > _LONG:
            with self._searching("departures") as search:
                self._fall_silent(search)
                self._depart(search)
        rounds = 0
        while True:
            before = weigh(self._target, self._best)[:2]
            self._leave_out()
            self._shorten(rounds)
            if self._shrink:
                self._shrink_contents()
            rounds += 1
            if weigh(self._target, self._best)[:2] == before:
                break
        with self._searching("times") as search:
            self._best = simplify_times(search, self._target, self._best)

    def _fall_silent(self, search: TimedSearch) -> None:
        if self._target.scenario.loss:
            success = search.first(_Silences(self._best, _list_places(len(self._best.items))))
            if success is not None:
                self._best = success.schedule

    def _depart(self, search: TimedSearch) -> None:
        generation = 0
        while len(self._best.items) > _LONG:
            family = _Departures(self._best, f"{self._target.seed}/early/{generation}", _SHORTCUTS)
            success = search.first(family)
            if success is None:
                return
            self._best = success.schedule
            generation += 1

    def _leave_out(self) -> None:
        with self._searching("leaving out") as search:
            while True:
                before = len(self._best.items)
                self._best = remove_runs(search, self._target, self._best, list_removable, leave_out)
                self._best = remove_runs(search, self._target, self._best, list_all, cut_out)
                if len(self._best.items) == before:
                    return

    def _shorten(self, number: int) -> None:
        with self._searching("shortening") as search:
            generation = 0
            while self._best.items:
                patience = min(_PATIENCE, max(_LEAST_PATIENCE, _PATIENCE_EACH * len(self._best.items)))
                family = _Around(self._best, f"{self._target.seed}/{number}/{generation}", patience)
                success = search.first(family)
                if success is None:
                    return
                self._best = success.schedule
                generation += 1

    def _shrink_contents(self) -> None:
        with self._counting("contents"):
            had = {contents(self._target, self._used)}
            for _ in range(_SIDEWAYS):
                if not self._shrink_once(had):
                    return
                had.add(contents(self._target, self._used))

    def _shrink_once(self, had: set[tuple[int, str]]) -> bool:
        for target in smaller_targets(self._target, self._used):
            if contents(target, self._used) not in had:
                search = self._search_alone(target, self._witness_smaller)
                success = search.first(CandidateList([_Same(self._best)]))
                if success is not None:
                    self._target, self._best = target, success.schedule
                    return True
        return False

    @property
    def _used(self) -> list[int]:
        return [item.name for item in self._best.items if isinstance(item.name, int)]

    # -- the books -----------------------------------------------------------------------------------------------

    def _measure(self) -> Size:
        return measure(self._target, self._best)

    def _length(self) -> int:
        return len(self._best.items)

    def _consider(self, schedule: TimedSchedule) -> None:
        if weigh(self._target, schedule) < weigh(self._target, self._best):
            self._best = schedule

    def _write_steps(self) -> tuple[tuple[Step, ...], tuple[tuple[str, float], ...]]:
        steps = write_steps(self._target, self._best)
        return steps, tuple(zip(self._target.scenario.nodes, self._best.speeds, strict=True))


def _list_places(length: int) -> tuple[int, ...]:
    """Return places up to a length: all of the first ones, and then ever fewer."""
    places = [0]
    while (place := places[-1] + 1 + places[-1] // 8) < length:
        places.append(place)
    return tuple(places)


class _Silences(NamedTuple):
    """Silences from ever later places on: the first that breaks is about the shortest."""

    best: TimedSchedule
    places: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.places)

    def at(self, place: int) -> Silence:
        return Silence(self.best, self.places[place])


class _Departures(NamedTuple):
    best: TimedSchedule
    seed: str
    candidates: int

    def __len__(self) -> int:
        return self.candidates

    def at(self, place: int) -> Departure:
        return Departure(self.best, f"{self.seed}/{place}")


class _Around(NamedTuple):
    """Walks and departures from the same execution, each with random numbers of its own."""

    best: TimedSchedule
    seed: str
    candidates: int

    def __len__(self) -> int:
        return self.candidates

    def at(self, place: int) -> Walk | Departure:
        seed = f"{self.seed}/{place}"
        # By place and not by chance: a family must be the same in every process.
        return Walk(self.best, seed) if place % 2 else Departure(self.best, seed)


class _Same(NamedTuple):
    """The same schedule, for another target: it must not become longer."""

    best: TimedSchedule

    def evaluate(self, target: TimedTarget) -> TrialResult[TimedSchedule]:
        return TrialResult(attempt(target, self.best, len(self.best.items)), 1)
