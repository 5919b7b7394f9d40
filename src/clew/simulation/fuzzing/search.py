"""The runs of a search: executed one after the other, or in other processes, with one result.

Runs are counted in their order and the search ends at the first that breaks an invariant, whoever executes them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from clew.budgets.deadline import Deadline
from clew.budgets.whereabouts import ProcessEnd, current_whereabouts, tell_run
from clew.errors import BudgetExhaustedError, Position, UsageError
from clew.files.checkpoints import Checkpoint, Question
from clew.simulation.execution.isolation import Tell, call_in_child, find_end
from clew.simulation.execution.watchdog import step_limit
from clew.simulation.execution.workers import WorkerDiedError, workers
from clew.simulation.fuzzing.blocks import Blocks
from clew.simulation.fuzzing.coverage import PERIOD, Tally
from clew.simulation.fuzzing.random_run import RandomRun
from clew.simulation.fuzzing.recording_run import record_run
from clew.simulation.loading import LoadedScenario
from clew.simulation.recordings.recording import Recording

#: Told now and then: the number of runs so far, and what is being done.
Progress = Callable[[int, str], None]


class FoundRun(NamedTuple):
    """A run that broke an invariant: its number, after how many deliveries, and which."""

    run: int
    deliveries: int
    invariant: str


class Search:
    """Executes the runs of a search, one after the other or in other processes."""

    def __init__(
        self,
        loaded: LoadedScenario,
        seed: int,
        runs: int,
        at_least: int,
        deadline: Deadline,
        progress: Progress | None,
        *,
        in_process: bool,
    ) -> None:
        self.tally = Tally()
        self.found: FoundRun | None = None
        self.end: ProcessEnd | None = None
        self.deadline = deadline
        #: Whether a limit or an interrupt ended it before all runs were done.
        self.cut_short = False
        self._checkpoint: Checkpoint | None = None
        self._loaded = loaded
        self._scenario = loaded.scenario
        self._seed = seed
        self._runs = runs
        self._at_least = at_least
        self._progress = progress
        self._in_process = in_process
        self._told: set[int] = set()  # in a worker: the states that the other side knows of

    def resume(self, checkpoint: Checkpoint, question: Question) -> None:
        """Go on from where a checkpoint is, if there is one: all runs before it are in its tally."""
        self._checkpoint = checkpoint
        saved = checkpoint.open(question)
        if saved is not None:
            self.tally = Tally.read(saved, self._runs)
            checkpoint.tell_continued(self.tally.runs, "run")
        checkpoint.state = self.tally.to_json

    def alone(self) -> None:
        """Execute the runs that are not in the tally yet, one after the other."""
        try:
            with step_limit(self._scenario.step_seconds):
                for number in range(self.tally.runs, self._runs):
                    self.found = self._run(number, self.tally)
                    self._tell()
                    if self.found is not None:
                        return
                    self._offer()
        except BudgetExhaustedError:
            self._stop()
            raise

    def _offer(self) -> None:
        if self._checkpoint is not None:
            self._checkpoint.offer()

    def _stop(self) -> None:
        """Save what was done before the search was cut short."""
        self.cut_short = True
        if self._checkpoint is not None:
            self._checkpoint.save()

    def _tell(self) -> None:
        if self._progress is not None:
            self._progress(self.tally.runs, f"fuzzing, {self.tally.deliveries} deliveries")

    def _run(self, number: int, tally: Tally) -> FoundRun | None:
        tell_run(self._seed + number)
        run = RandomRun(self._scenario, self._seed + number)
        self.deadline.check()
        while run.go_on(PERIOD):
            tally.sample(run)
            self.deadline.check()
        tally.add(run)
        if run.broken is None:
            return None
        # With every event looked at it may be another invariant, and fewer deliveries.
        if self._scenario.check_every > 1:
            # The same run, but ending at the very event that broke an invariant.
            run = RandomRun(dataclasses.replace(self._scenario, check_every=1), self._seed + number)
            run.finish()
        if run.deliveries < self._at_least:
            tally.early += 1
            return None
        return FoundRun(number, run.deliveries, run.broken.invariant if run.broken else "")

    # -- in other processes --------------------------------------------------------------------------------------

    def with_workers(self, count: int) -> None:
        """Let other processes execute the runs that are not in the tally yet."""
        blocks = Blocks(self.tally.runs, self._runs)
        try:
            with workers(count, self._serve) as started:
                while not self._take(blocks):
                    blocks.hand_out(started)
                    blocks.collect()
                    self.deadline.check()
                    self._offer()
        except BudgetExhaustedError:
            self._stop()
            if not self._take(blocks, rest=True):  # a violation that was found is not lost
                raise
        except WorkerDiedError as death:
            watched = current_whereabouts() is not None
            if self._in_process and not watched:
                raise
            # All runs that are left are executed in their order, so that it is the first of them, whoever died
            # first.  What ended the worker ends this process, too, if somebody watches it and finds out where.
            if watched:
                self.alone()
            else:
                self._one_by_one(blocks.handed_out, death)

    def _one_by_one(self, end: int, death: WorkerDiedError) -> None:
        """Give each run before ``end`` a process of its own, up to the one that ends it."""
        for number in range(self.tally.runs, end):
            try:
                reply = call_in_child(partial(self._one_run, number))
            except WorkerDiedError as ended:
                seed = self._seed + number
                self.end = find_end(partial(record_alone, self._loaded, seed), ended, seed=seed)
                return
            if self._accept(reply):
                return
            self.deadline.check()
        raise UsageError(
            f"{death.message}, but not when the same runs were executed again",
            remedy="the code is not deterministic; it must depend on state, message and context only",
        )

    def _one_run(self, number: int, tell: Tell) -> Any:
        return self._serve([number, 1])

    def _take(self, blocks: Blocks, *, rest: bool = False) -> bool:
        """Take the replies in the order of the runs, until all is said or a violation is found."""
        for reply in blocks.rest() if rest else blocks.in_order():
            if self._accept(reply):
                return True
        return not rest and blocks.finished

    def _accept(self, reply: Any) -> bool:
        """Add what a worker has found; True if that is a violation."""
        self.tally.merge(reply["tally"])
        self._tell()
        if reply["refused"] is not None:
            message, place, remedy = reply["refused"]
            raise UsageError(message, position=Position(*place) if place else None, remedy=remedy)
        if reply["found"] is not None:
            self.found = FoundRun(*reply["found"])
        return self.found is not None

    def _serve(self, request: Any) -> Any:
        """Execute a block of runs, in a worker, up to the first that breaks an invariant or is refused."""
        first, count = request
        # Time is the business of the process that hands out: it ends the workers.
        self.deadline = Deadline(None)
        # States that the other side knows of are not sent again: they would be most of the reply.
        tally, found, refused = Tally(self._told), None, None
        try:
            with step_limit(self._scenario.step_seconds):
                for number in range(first, first + count):
                    found = self._run(number, tally)
                    if found is not None:
                        break
        except UsageError as error:
            place = error.position
            refused = [error.message, place and [place.file, place.line, place.column], error.remedy]
        self._told |= tally.states
        return {"tally": tally.to_json(), "found": found, "refused": refused}


def record_alone(loaded: LoadedScenario, seed: int, tell: Tell) -> Recording:
    """Record a run in a child, which has nothing to tell on the way."""
    return record_run(loaded, seed)[0]
