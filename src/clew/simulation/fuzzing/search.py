"""The runs of a search: executed one after the other, or in other processes, with one result.

Runs are counted in their order and the search ends at the first that breaks an invariant, whoever executes them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

from clew.budgets.deadline import Deadline
from clew.budgets.whereabouts import ProcessEnd, current_whereabouts, tell_run
from clew.errors import BudgetExhaustedError, ClewError, Notice, Position, UsageError
from clew.files.checkpoints import Checkpoint, Question
from clew.simulation.execution.isolation import Tell, call_in_child, find_end
from clew.simulation.execution.watchdog import step_limit
from clew.simulation.fuzzing.coverage import PERIOD, Tally
from clew.simulation.fuzzing.random_run import RandomRun
from clew.simulation.fuzzing.recording_run import record_run
from clew.simulation.loading import LoadedScenario
from clew.simulation.recordings.recording import Recording
from clew.workers.blocks import Answered, Block, Blocks
from clew.workers.crew import Crew
from clew.workers.executors import ExecutorCrew, Team
from clew.workers.forks import ForkCrew
from clew.workers.processes import WorkerDiedError
from clew.workers.tasks import Job

#: Told now and then: the number of runs so far, and what is being done.
Progress = Callable[[int, str], None]

#: Reads the files of the user, for workers that do not have them.
Files = Callable[[], Mapping[str, bytes]]


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
        self._lost: list[tuple[Block, ClewError]] = []
        self._is_remote = False
        self._crew: Callable[[], str] = str

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
            by = f" on {crew}" if (crew := self._crew()) else ""
            self._progress(self.tally.runs, f"fuzzing{by}, {self.tally.deliveries} deliveries")

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

    def with_forks(self, count: int) -> None:
        """Let forks of this process execute the runs that are not in the tally yet."""
        with ForkCrew(count, self.serve) as crew:
            self._share_out(crew)

    def with_team(self, team: Team, make_job: Callable[[int], Job], files: Files) -> None:
        """Let the workers of an executor execute the runs that are not in the tally yet.

        The first of them is executed here, for ``make_job`` to say what a worker must come to, too.
        """
        first = self.tally.runs
        if first >= self._runs or self._redo(Block(first, 1)):
            return
        self._is_remote = True
        with ExecutorCrew(team, make_job(first), self.deadline, files) as crew:
            self._crew = crew.describe
            self._share_out(crew)

    def _share_out(self, crew: Crew) -> None:
        blocks = Blocks(crew, self.tally.runs, self._runs, lambda block: block)
        try:
            while not self._take(blocks):
                blocks.hand_out()
                blocks.collect()
                self.deadline.check()
                self._offer()
        except BudgetExhaustedError:
            self._stop()
            if not self._take_rest(blocks):  # a violation that was found is not lost
                raise

    def _take(self, blocks: Blocks) -> bool:
        """Take the replies in the order of the runs, until all is said or a violation is found."""
        return any(map(self._accept_block, blocks.in_order())) or blocks.finished

    def _take_rest(self, blocks: Blocks) -> bool:
        """Take what is there although runs before it are missing."""
        return any(self._accept(each.value) for each in blocks.rest() if not self._is_doubtful(each))

    def _is_doubtful(self, answered: Answered) -> bool:
        # What a distant worker refuses may be so only there; and its paths are not those of this machine.
        return answered.failure is not None or (self._is_remote and answered.value["refused"] is not None)

    def _accept_block(self, answered: Answered) -> bool:
        """Add what a block came to, and execute it here if that is not known; True if that ends the search."""
        if not self._is_doubtful(answered):
            return self._accept(answered.value)
        death = answered.failure
        if self._in_process and death is not None and not self._is_remote and current_whereabouts() is None:
            raise death
        # All of its runs in their order, so that it is the first of them, whichever the worker died in.
        if self._redo(answered.block):
            return True
        if isinstance(death, WorkerDiedError) and not self._is_remote and current_whereabouts() is None:
            raise UsageError(
                f"{death.message}, but not when the same runs were executed again",
                remedy="the code is not deterministic; it must depend on state, message and context only",
            )
        if death is not None:
            self._lost.append((answered.block, death))
        return False

    def list_notices(self) -> list[Notice]:
        """Return what the user should know of how it was done: what workers did not come back with."""
        if not self._lost:
            return []
        (block, why), *more = self._lost
        first, last = self._seed + block.first, self._seed + block.first + block.size - 1
        runs = f"the runs with seeds {first} to {last} were" if first < last else f"the run with seed {first} was"
        others = f", and so on, {len(self._lost)} times in all" if more else ""
        return [Notice(f"{runs} executed here once more, to the end: {why.message}{others}")]

    def _redo(self, block: Block) -> bool:
        """Execute the runs of a block here; True if one of them ends the search."""
        # One by one: the first that ends its process is looked for, and a whole block may take long.
        for number in range(block.first, block.first + block.size):
            self.deadline.check()
            reply = self._execute_safely(number)
            if reply is None or self._accept(reply):
                return True
        return False

    def _execute_safely(self, number: int) -> Any:
        """Execute a run in a process of its own; None if it ends that."""
        if self._in_process:
            # What ends the process ends this one, too, and whoever watches it finds out where.
            return self._execute(Block(number, 1), Tally())
        try:
            return call_in_child(lambda tell: self._execute(Block(number, 1), Tally()))
        except WorkerDiedError as ended:
            seed = self._seed + number
            self.end = find_end(partial(record_alone, self._loaded, seed), ended, seed=seed)
            return None

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

    def serve(self, block: Block) -> Any:
        """Execute a block of runs, in a worker."""
        # Time is the business of the process that hands out: it ends the workers.
        self.deadline = Deadline(None)
        # States that the other side knows of are not sent again: they would be most of the reply.
        tally = Tally(self._told)
        reply = self._execute(block, tally)
        self._told |= tally.states
        return reply

    def _execute(self, block: Block, tally: Tally) -> Any:
        """Execute a block of runs up to the first that breaks an invariant or is refused."""
        found, refused = None, None
        try:
            with step_limit(self._scenario.step_seconds):
                for number in range(block.first, block.first + block.size):
                    found = self._run(number, tally)
                    if found is not None:
                        break
        except UsageError as error:
            place = error.position
            refused = [error.message, place and [place.file, place.line, place.column], error.remedy]
        return {"tally": tally.to_json(), "found": found, "refused": refused}


def record_alone(loaded: LoadedScenario, seed: int, tell: Tell) -> Recording:
    """Record a run in a child, which has nothing to tell on the way."""
    return record_run(loaded, seed)[0]
