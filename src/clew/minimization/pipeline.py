"""The stages of minimization, one after the other, each beginning with what the one before it left.

Provenance, STSSched and TFB are those of the paper (Table 1); then contents of messages are shrunk, and shorter
executions are looked for away from the original one.
"""

from __future__ import annotations

from itertools import count, islice

from clew.errors import UsageError
from clew.minimization.causal_order import canonicalize, causal_past
from clew.minimization.deltas import TrialMode, remove_deliveries, remove_externals
from clew.minimization.departing import Departure, Shortcuts
from clew.minimization.exchanging import exchange_externals
from clew.minimization.literal import follow_literally
from clew.minimization.points import Point, PointsBySize, count_nodes, weigh
from clew.minimization.search import CandidateList, Search
from clew.minimization.searching.stages import StagedMinimizer, Surroundings
from clew.minimization.shortening import LENGTH, shorten
from clew.minimization.shrinking import contents, smaller_targets
from clew.minimization.trial import (
    Match,
    Schedule,
    Target,
    attempt,
    complete_recorded,
    length_of,
    measure,
    split_steps,
)
from clew.simulation.execution.steps import Ended, Size, Step
from clew.simulation.scenario import Scenario

#: STSSched ends when a pass leaves out no more than this share: contents that depend on history keep the rest,
#: which is what TFB is for, and single deliveries of a thousand would take minutes.
_LEAST_GAIN = 0.02
#: How many events the neighbours of a schedule may take before it is given up, and how many they may be.
#: By events and not by schedules, so that long and short executions are given up after about as long.
_BACKTRACK_EVENTS = 3000
_BACKTRACKS = 30
#: Longer executions than this are departed from before anything else is left out one by one.
_LONG = 300
#: How many candidates in a row may fail before the search for shorter executions ends: at most, for each event of
#: the best execution, and at least.
_PATIENCE = 200
_PATIENCE_EACH = 5
_LEAST_PATIENCE = 10
#: So many exchanges of events from outside are worth a candidate of that search.
_EXCHANGES = 5
#: This part of the patience is for each cluster size to start from, and for departures to smaller ones.
_SHARE = 4
#: How often contents may be replaced by what a user calls smaller and is not shorter: it might go on for ever.
_SIDEWAYS = 100


class Minimizer(StagedMinimizer[Target, Schedule]):
    """One minimization of an execution in any order."""

    def __init__(
        self,
        scenario: Scenario,
        seed: int,
        steps: tuple[Step, ...],
        identity: str,
        surroundings: Surroundings,
        *,
        shrink: bool = True,
    ) -> None:
        externals, schedule = split_steps(steps)
        at_end = any(isinstance(step, Ended) for step in steps)
        super().__init__(Target(scenario, seed, externals, identity, at_end), surroundings)
        self._best = schedule
        self._kept: Point | None = None
        self._shrink = shrink
        self._sideways = 0

    def _minimize(self) -> None:
        self._run_provenance()
        self._run_stssched()
        self._run_tfb()
        self._shrink_and_shorten()

    def _write_steps(self) -> tuple[tuple[Step, ...], tuple[tuple[str, float], ...]]:
        target, schedule = self._smallest
        return target.steps(schedule), ()

    # -- the stages ----------------------------------------------------------------------------------------------

    def _verify(self) -> None:
        with self._counting("recorded"):
            recorded = complete_recorded(self._target, self._best)
            if recorded is None:
                raise UsageError(
                    "the recorded schedule does not end in the recorded violation",
                    remedy="clew replay shows where it goes another way",
                )
            self._best = recorded
            self._witness(1, recorded)

    def _run_provenance(self) -> None:
        with self._counting("provenance"):
            past = attempt(self._target, causal_past(self._target, self._best), Match.FINGERPRINT)
            self._witness(1, past)
            self._keep(past)

    def _run_stssched(self) -> None:
        how = TrialMode(Match.FINGERPRINT)
        with self._searching("STSSched") as search:
            self._keep(remove_externals(search, self._best, how))
            self._keep(remove_deliveries(search, self._best, how, least_gain=_LEAST_GAIN))

    def _run_tfb(self) -> None:
        with self._searching("TFB") as search:
            self._take_shortcut(search)
            while True:
                before = length_of(self._best)
                self._keep(remove_externals(search, self._best, TrialMode(Match.TYPE)))
                self._keep(remove_deliveries(search, self._best, TrialMode(Match.TYPE), everything=True))
                self._keep(remove_externals(search, self._best, TrialMode(Match.CAUSE)))
                self._keep(remove_deliveries(search, self._best, TrialMode(Match.CAUSE), everything=True))
                self._keep(remove_externals(search, self._best, self._choose_backtracking()))
                self._keep(remove_deliveries(search, self._best, self._choose_backtracking(), everything=True))
                if length_of(self._best) == before:
                    return

    def _take_shortcut(self, search: Search) -> None:
        """Begin with a short execution instead of a long one, if random departures from the long one find any."""
        if length_of(self._best) > _LONG:
            success = search.first(Shortcuts(self._best, f"{self._target.seed}/shortcut"))
            self._keep(success and success.schedule)

    def _shrink_and_shorten(self) -> None:
        """Shorten at every cluster size for a while, then at the best for long, and alternate while it helps."""
        effort, rounds = self._effort, count()
        points = self._shrink_contents() if self._shrink else [self._point]
        if len(points) > 1:
            for point in points:
                self._enter(point)
                self._shorten(next(rounds), max(1, self._choose_patience(effort) // _SHARE))
            self._enter(self._smallest)
        self._shorten(next(rounds), self._choose_patience(effort))
        while self._shrink and self._shrink_further(effort):
            self._shorten(next(rounds), self._choose_patience(effort))

    def _shrink_further(self, effort: int) -> bool:
        """Tell whether contents could be shrunk so that the execution is shorter, which makes room for others."""
        before = length_of(self._best)
        self._shrink_contents()
        return length_of(self._best) < before or self._depart_to_smaller(self._choose_patience(effort) // _SHARE)

    def _choose_patience(self, effort: int) -> int:
        """Return how many candidates may fail in a row: together not much more than all stages before cost."""
        length = max(1, length_of(self._best))
        return min(_PATIENCE, max(_LEAST_PATIENCE, min(_PATIENCE_EACH * length, effort // (LENGTH * length))))

    def _shrink_contents(self) -> list[Point]:
        """Shrink as far as possible; return the smallest execution of each cluster size on the way."""
        with self._counting("contents"):
            points = PointsBySize(self._point)
            # A user's ``smaller`` may lead in circles.
            had = {contents(self._target, self._best)}
            while self._sideways < _SIDEWAYS and (found := self._shrink_once(had)):
                for point in found:
                    points.add(point)
                self._enter(found[0])
                now = contents(self._target, self._best)
                self._sideways += now >= min(had)
                had.add(now)
            # The smallest cluster last: what is entered later counts, of two executions that are alike.
            return points.list_largest_first()

    def _shrink_once(self, had: set[tuple[int, str]]) -> list[Point]:
        """Return the first smaller execution; and if its cluster is smaller by several, the first in between."""
        found: list[Point] = []
        largest = count_nodes(self._point)
        for target in smaller_targets(self._target, self._best):
            if contents(target, self._best) in had:
                continue
            point = self._try_smaller(target)
            if point is not None and not found:
                found.append(point)
            elif point is not None and count_nodes(found[0]) < count_nodes(point) < largest:
                return [*found, point]
            if found and count_nodes(found[0]) >= largest - 1:
                return found
        return found

    def _try_smaller(self, target: Target) -> Point | None:
        search = self._search_alone(target, self._witness_smaller)
        success = search.first(CandidateList([self._choose_backtracking().candidate(self._best)]))
        smaller = self._follow_literally(target) if success is None else success.schedule
        if smaller is None:
            return None
        return Point(target, remove_deliveries(search, smaller, TrialMode(Match.TYPE), everything=True))

    def _follow_literally(self, target: Target) -> Schedule | None:
        smaller = follow_literally(self._target, self._best, target)
        self._witness_smaller(1, smaller)
        return smaller

    def _depart_to_smaller(self, patience: int) -> bool:
        """Enter a smaller target that only a departure from the best schedule fits; False if there is none."""
        with self._counting("contents"):
            targets = list(islice(smaller_targets(self._target, self._best), patience))
            # Each in turn, several times if there are few, as of a cluster: those are what counts most.
            for number in range(patience if targets else 0):
                target = targets[number % len(targets)]
                departure = Departure(self._best, f"{target.seed}/smaller/{number}", LENGTH)
                search = self._search_alone(target, self._witness_smaller)
                success = search.first(CandidateList([departure]))
                if success is not None:
                    self._enter(Point(target, success.schedule))
                    return True
            return False

    def _shorten(self, number: int, patience: int) -> None:
        """Look for shorter executions; ``number``, how often that was done before, makes the changes others."""
        with self._searching("shortening") as search:
            self._keep(exchange_externals(search, self._target, self._best, _EXCHANGES * patience))
            self._keep(shorten(search, self._best, f"{self._target.seed}/{number}", patience))
            self._canonicalize(search)

    def _canonicalize(self, search: Search) -> None:
        """Bring the execution into canonical order, where more may be spared, until nothing changes."""
        canonical: Schedule | None = None
        while True:
            self._keep(remove_deliveries(search, self._best, TrialMode(Match.TYPE), everything=True))
            if self._best == canonical:
                return
            canonical = attempt(self._target, canonicalize(self._target, self._best), Match.FINGERPRINT)
            self._witness(1, canonical)
            # Equivalent in theory; but an invariant is looked at after every event, and another order has other
            # states.
            if canonical is None or length_of(canonical) > length_of(self._best):
                return
            self._best = canonical

    def _choose_backtracking(self) -> TrialMode:
        """Return how to try with backtracks: the longer the schedule, the fewer neighbours can be afforded."""
        affordable = _BACKTRACK_EVENTS // max(1, len(self._best))
        return TrialMode(Match.TYPE, max(1, min(_BACKTRACKS, affordable)))

    # -- keeping the books ---------------------------------------------------------------------------------------

    @property
    def _point(self) -> Point:
        return Point(self._target, self._best)

    @property
    def _smallest(self) -> Point:
        """The smallest execution so far, of those entered before and the present one."""
        return self._point if self._kept is None else min(self._point, self._kept, key=weigh)

    def _enter(self, point: Point) -> None:
        """Go on from another execution; the smallest so far is kept, should the search be stopped now."""
        self._kept = self._smallest
        self._target, self._best = point

    def _keep(self, schedule: Schedule | None) -> None:
        if schedule is not None and length_of(schedule) <= length_of(self._best):
            self._best = schedule

    def _consider(self, schedule: Schedule) -> None:
        if length_of(schedule) < length_of(self._best):
            self._best = schedule

    def _measure(self) -> Size:
        return measure(*self._smallest)

    def _length(self) -> int:
        return length_of(self._best)
