"""The stages of minimization, one after the other, each beginning with what the one before it left.

Provenance, STSSched and TFB are those of the paper (Table 1); then contents of messages are shrunk, and shorter
executions are looked for away from the original one.  Whatever ends it, the best execution so far is the result:
the time limit, Ctrl-C, or code of the user that raises in an execution that only the search made.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import count

from clew.budgets.deadline import Deadline
from clew.errors import BudgetExhaustedError, ClewError, UsageError
from clew.files.checkpoints import ForeignCheckpointError
from clew.minimization.causal_order import canonicalize, causal_past
from clew.minimization.deltas import TrialMode, remove_deliveries, remove_externals
from clew.minimization.parallel_search import ParallelSearch
from clew.minimization.remembered_search import Memory, RememberedSearch
from clew.minimization.search import CandidateList, Search, SequentialSearch, Witness
from clew.minimization.shortening import shorten
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
from clew.simulation.execution.steps import Size, Step
from clew.simulation.execution.watchdog import StepLimit, step_limit
from clew.simulation.scenario import Scenario

#: STSSched ends when a pass leaves out no more than this share: contents that depend on history keep the rest,
#: which is what TFB is for, and single deliveries of a thousand would take minutes.
_LEAST_GAIN = 0.02
#: How many events the neighbours of a schedule may take before it is given up, and how many they may be.
#: By events and not by schedules, so that long and short executions are given up after about as long.
_BACKTRACK_EVENTS = 3000
_BACKTRACKS = 30
#: How many walks in a row may fail before the search for shorter executions ends.
_PATIENCE = 100
#: How often contents may be replaced by what a user calls smaller and is not shorter: it might go on for ever.
_SIDEWAYS = 100

#: Told now and then: the stage, how many schedules were tried, and the size of the best execution.
Progress = Callable[[str, int, Size], None]


@dataclass(frozen=True)
class Stage:
    """One row of the table: what was left when a stage ended for the last time, and what all of it cost."""

    name: str
    size: Size
    schedules: int
    seconds: float


@dataclass(frozen=True)
class Smallest:
    """``steps`` is the smallest execution found; ``stopped``: why the search ended before its end, if it did.

    ``problem``: the mistake of the user that ended it, if that did.  ``pace`` says after how many schedules how
    many deliveries were left, whenever that became less.  ``ahead``: how many schedules other processes executed
    in vain, because one before them succeeded.
    """

    steps: tuple[Step, ...]
    size: Size
    stages: tuple[Stage, ...]
    pace: tuple[tuple[int, int], ...]
    ahead: int
    stopped: str | None
    problem: ClewError | None


class Minimizer:
    """One minimization; ``run`` may be called once."""

    def __init__(
        self,
        scenario: Scenario,
        seed: int,
        steps: tuple[Step, ...],
        identity: str,
        *,
        deadline: Deadline,
        workers: int = 1,
        progress: Progress | None = None,
        shrink: bool = True,
        memory: Memory | None = None,
    ) -> None:
        externals, schedule = split_steps(steps)
        self._target = Target(scenario, seed, externals, identity)
        self._best = schedule
        self._deadline = deadline
        self._workers = workers
        self._progress = progress
        self._shrink = shrink
        self._memory = memory
        self._stage = "recorded"
        self._tried = 0
        self._ahead = 0
        self._stages: list[Stage] = []
        self._pace: list[tuple[int, int]] = []

    def run(self) -> Smallest:
        self._verify()
        stopped = problem = None
        try:
            self._run_provenance()
            self._run_stssched()
            self._run_tfb()
            self._shrink_and_shorten()
        except BudgetExhaustedError as limit:
            stopped = str(limit)
        except ForeignCheckpointError:
            raise  # there is no best so far that could be trusted
        except ClewError as error:
            # Only a schedule that the search made up ended there; what was found before still holds.
            stopped, problem = f"an error ended the stage {self._stage}", error
        steps = self._target.steps(self._best)
        return Smallest(steps, self._size(), tuple(self._stages), tuple(self._pace), self._ahead, stopped, problem)

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

    def _shrink_and_shorten(self) -> None:
        """Alternate as long as the execution gets shorter: each makes room for the other."""
        for number in count():
            before = length_of(self._best)
            if self._shrink:
                self._shrink_contents()
            self._shorten(number)
            if length_of(self._best) == before:
                return

    def _shrink_contents(self) -> None:
        with self._counting("contents"):
            # A user's ``smaller`` may lead in circles.
            had = {contents(self._target, self._best)}
            sideways = 0
            while sideways < _SIDEWAYS and self._shrink_once(had):
                now = contents(self._target, self._best)
                sideways += now >= min(had)
                had.add(now)

    def _shrink_once(self, had: set[tuple[int, str]]) -> bool:
        for target in smaller_targets(self._target, self._best):
            if contents(target, self._best) in had:
                continue
            success = self._search_alone(target, self._witness_smaller).first(
                CandidateList([self._choose_backtracking().candidate(self._best)])
            )
            if success is not None:
                # Together: one is nothing without the other, should the search be stopped now.
                self._target, self._best = target, success.schedule
                search = self._search_alone(target, self._witness)
                self._keep(remove_deliveries(search, self._best, TrialMode(Match.TYPE), everything=True))
                return True
        return False

    def _shorten(self, number: int) -> None:
        """Look for shorter executions; ``number``, how often that was done before, makes the changes others."""
        with self._searching("shortening") as search:
            self._keep(shorten(search, self._best, f"{self._target.seed}/{number}", _PATIENCE))
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

    def _keep(self, schedule: Schedule | None) -> None:
        if schedule is not None and length_of(schedule) <= length_of(self._best):
            self._best = schedule

    def _witness(self, executed: int, schedule: Schedule | None) -> None:
        """Keep at once whatever reproduced the violation: the search may be stopped at any time."""
        self._tried += executed
        if schedule is not None and length_of(schedule) < length_of(self._best):
            self._best = schedule
        size = self._size()
        if not self._pace or size.deliveries < self._pace[-1][1]:
            self._pace.append((self._tried, size.deliveries))
        if self._progress:
            self._progress(self._stage, self._tried, size)

    def _witness_smaller(self, executed: int, schedule: Schedule | None) -> None:
        """Count only: while contents shrink, a schedule belongs to another target until that is the one."""
        self._witness(executed, None)

    @contextmanager
    def _counting(self, name: str) -> Iterator[StepLimit]:
        self._stage = name
        started, before = time.monotonic(), self._tried
        try:
            with step_limit(self._target.scenario.step_seconds) as limit:
                yield limit
        finally:
            self._close(Stage(name, self._size(), self._tried - before, time.monotonic() - started))

    def _close(self, stage: Stage) -> None:
        """Note a stage that ended; one that was there before goes on, so that all of it is one row."""
        for place, earlier in enumerate(self._stages):
            if earlier.name == stage.name:
                self._stages[place] = Stage(
                    stage.name,
                    stage.size,
                    earlier.schedules + stage.schedules,
                    earlier.seconds + stage.seconds,
                )
                return
        self._stages.append(stage)

    def _size(self) -> Size:
        return measure(self._target, self._best)

    def _search_alone(self, target: Target, witness: Witness) -> Search:
        def make(told: Witness) -> Search:
            return SequentialSearch(target, self._deadline, told)

        return make(witness) if self._memory is None else RememberedSearch(self._memory, target, witness, make)

    @contextmanager
    def _searching(self, name: str) -> Iterator[Search]:
        if self._workers == 1:
            with self._counting(name):
                yield self._search_alone(self._target, self._witness)
            return
        # Before the step limit begins: that is a thread, and a process with threads should not fork.
        before = self._tried
        with ExitStack() as stack:
            parallel, search = self._start_workers(stack)
            try:
                with self._counting(name) as limit:
                    parallel.set_limit(limit)
                    yield search
            finally:
                known = search.known if isinstance(search, RememberedSearch) else 0
                self._ahead += parallel.executed - (self._tried - before - known)

    def _start_workers(self, stack: ExitStack) -> tuple[ParallelSearch, Search]:
        """Return the processes, and the search that uses them and may remember more than they tried."""
        started: list[ParallelSearch] = []

        def make(told: Witness) -> Search:
            started.append(ParallelSearch(self._target, self._deadline, told, self._workers))
            stack.callback(started[0].close)
            return started[0]

        search = (
            make(self._witness)
            if self._memory is None
            else RememberedSearch(self._memory, self._target, self._witness, make)
        )
        return started[0], search
