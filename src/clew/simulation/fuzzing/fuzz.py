"""Fuzzing: random executions, one seed after the other, until an invariant breaks.

Run k of a search with seed s is the execution that belongs to the seed s + k.  So the first violation, and what is
said about the runs before it, is the same whatever the number of processes is.  Runs are not recorded: the
one that breaks an invariant is executed again.  A run that ends its process is a violation like others; the search
goes on in other processes than this one, unless somebody watches it already (``isolation``).
"""

from __future__ import annotations

import dataclasses
import enum
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from clew.budgets.deadline import Deadline
from clew.budgets.whereabouts import ProcessEnd, current_whereabouts, tell_limit, tell_run
from clew.errors import BudgetExhaustedError, Notice, Position, UsageError
from clew.files.checkpoints import Checkpoint, Question, as_checkpoint, conclude_own
from clew.results import HOLDS, INCOMPLETE, VIOLATED, Result
from clew.simulation.execution.isolation import (
    ProcessEndedError,
    Tell,
    call_in_child,
    find_end,
    needs_child,
    run_isolated,
)
from clew.simulation.execution.trace import Execution
from clew.simulation.execution.watchdog import step_limit
from clew.simulation.execution.workers import Worker, WorkerDiedError, can_fork, wait_for_replies, workers
from clew.simulation.fuzzing.coverage import PERIOD, Coverage, Tally
from clew.simulation.fuzzing.random_run import RandomRun
from clew.simulation.fuzzing.recording_run import End, record_death, record_run
from clew.simulation.loading import LoadedScenario, as_loaded, scenario_question
from clew.simulation.recordings.reading import LARGEST_SEED
from clew.simulation.recordings.recording import Recording
from clew.simulation.scenario import Broken, Scenario

#: Told now and then: the number of runs so far, and what is being done.
Progress = Callable[[int, str], None]

DEFAULT_RUNS = 1000

#: Why a search is incomplete in which nothing happened.
NOTHING_DELIVERED = (
    "nothing was delivered in any run, neither a message nor a timer: see that nodes are up (running=...) and "
    "that something is sent"
)

#: How long a worker is to take for the runs that it is given at once.
_BLOCK_SECONDS = 0.2
#: A violation in a block is only known when the block is done.
_LARGEST_BLOCK = 1000
_POLL_SECONDS = 0.05


class Answer(enum.Enum):
    """``NO_VIOLATION`` is said of the runs that were executed, and of no others."""

    NO_VIOLATION = "no violation"
    VIOLATION = "violation"
    INCOMPLETE = "incomplete"


_EXIT_CODES = {Answer.NO_VIOLATION: HOLDS, Answer.VIOLATION: VIOLATED, Answer.INCOMPLETE: INCOMPLETE}


@dataclass(frozen=True)
class Fuzzed(Result):
    """What a search came to.

    ``recording`` is of the first violation, in run ``run`` (from 0), ``trace`` that of its exception, ``also``
    what else is broken there, ``execution`` all that happened in it (None if it ended its process).
    ``coverage`` is that of no run where the process that counted was ended by one.
    ``early``: violations that came after fewer deliveries than were asked for (``at_least``).
    ``reason``: why the search ended before its time, if it did.
    ``scenario``: as a command names it, "" for one made in Python.
    """

    recording: Recording | None
    run: int | None
    trace: str | None
    coverage: Coverage
    early: int
    reason: str | None
    notices: tuple[Notice, ...]
    also: tuple[Broken, ...] = ()
    scenario: str = ""
    at_least: int = 0
    execution: Execution | None = field(default=None, repr=False, compare=False)

    @property
    def answer(self) -> Answer:
        if self.recording is not None:
            return Answer.VIOLATION
        return Answer.NO_VIOLATION if self.reason is None else Answer.INCOMPLETE

    @property
    def exit_code(self) -> int:
        return _EXIT_CODES[self.answer]


def fuzz(
    scenario: Scenario | str | LoadedScenario,
    *,
    seed: int = 0,
    runs: int = DEFAULT_RUNS,
    steps: int | None = None,
    workers: int = 1,
    at_least: int = 0,
    time_limit: float | None = None,
    progress: Progress | None = None,
    in_process: bool = False,
    checkpoint: str | Path | Checkpoint | None = None,
) -> Fuzzed:
    """Search for a violation after ``at_least`` deliveries; ``steps`` stands for the scenario's bound.

    ``in_process``: execute the scenario in this process, if there is one worker, for a debugger or for code that
    is to leave something behind; what ends the process then ends the caller, and what ends a worker is an error.
    ``checkpoint`` is a file that the search goes on from if it is there, and is saved in now and then.
    """
    _check_arguments(seed=seed, runs=runs, workers=workers, at_least=at_least, time_limit=time_limit)
    loaded = with_steps(scenario, steps)
    tell_limit(time_limit)
    search = _Search(loaded, seed, runs, at_least, Deadline(time_limit), progress, in_process=in_process)
    saving = None if checkpoint is None else as_checkpoint(checkpoint)
    if saving is not None:
        search.resume(saving, fuzz_question(loaded, seed=seed, runs=runs, at_least=at_least))
    notices = []
    apart = needs_child(in_process)
    if workers > 1 and not can_fork():
        notices.append(Notice("this system cannot fork a process, so there is one worker only"))
        workers = 1
    reason = None
    with search.deadline.listening():
        try:
            search.alone() if workers == 1 and not apart else search.with_workers(min(workers, runs))
        except BudgetExhaustedError as limit:
            reason = str(limit)
    if saving is not None:
        saving.answered = not search.cut_short
        conclude_own(checkpoint, saving)
    found, coverage, early = search.found, search.tally.coverage(), search.tally.early
    if search.end is not None:
        end = search.end
        recording = _record_end(loaded, end)
        return dataclasses.replace(
            ended_search(recording, run=end.seed - seed, at_least=at_least), coverage=coverage, early=early
        )
    if found is None:
        if coverage.is_hollow:
            reason = reason or NOTHING_DELIVERED
        elif coverage.is_thin:
            notices.append(
                Notice(
                    f"in {coverage.idle} of {coverage.runs} runs nothing was delivered",
                    remedy="let the scenario's events start nodes and send messages early, or give it more steps",
                )
            )
        return Fuzzed(
            None,
            None,
            None,
            coverage,
            early,
            reason,
            tuple(notices),
            scenario=loaded.full_name,
            at_least=at_least,
        )
    # A worker tells only how its run ended; the run itself is made again, with everything recorded.
    ending = End(found.invariant, found.deliveries)
    # Here, where all of it is at hand: a run that came to its end elsewhere does so again.
    recording, execution = record_run(loaded, seed + found.run, ending)
    return Fuzzed(
        recording,
        found.run,
        execution.trace,
        coverage,
        early,
        None,
        tuple(notices),
        execution.also,
        loaded.full_name,
        at_least,
        execution,
    )


def ended_search(recording: Recording, *, run: int, at_least: int) -> Fuzzed:
    """Return the result of a search that found a run which ends its process, as ``recording`` says."""
    counted = Tally().coverage()
    return Fuzzed(recording, run, None, counted, 0, None, (), scenario=recording.scenario, at_least=at_least)


def record(
    scenario: Scenario | str | LoadedScenario, seed: int, *, steps: int | None = None, in_process: bool = False
) -> Recording:
    """Record the execution that belongs to a seed, whether it breaks an invariant or not."""
    loaded = with_steps(scenario, steps)
    if not needs_child(in_process):
        return record_run(loaded, seed)[0]
    try:
        return run_isolated(partial(_record_run, loaded, seed), None)
    except ProcessEndedError as ended:
        return _record_end(loaded, dataclasses.replace(ended.end, seed=seed))


def _record_run(loaded: LoadedScenario, seed: int, tell: Tell) -> Recording:
    return record_run(loaded, seed)[0]


def _record_end(loaded: LoadedScenario, end: ProcessEnd) -> Recording:
    return call_in_child(lambda tell: record_death(loaded, end.seed, end.event, str(end)))


def with_steps(scenario: Scenario | str | LoadedScenario, steps: int | None) -> LoadedScenario:
    """Load a scenario; ``steps`` stands for its own bound."""
    loaded = as_loaded(scenario)
    if steps is None:
        return loaded
    return dataclasses.replace(loaded, scenario=dataclasses.replace(loaded.scenario, steps=steps))


def _check_arguments(*, seed: int, runs: int, workers: int, at_least: int, time_limit: float | None) -> None:
    for name, value, least in (("runs", runs, 1), ("workers", workers, 1), ("at_least", at_least, 0)):
        if value < least:
            raise UsageError(f"{name} is {value}", remedy=f"give at least {least}")
    if not 0 <= seed <= LARGEST_SEED - runs:
        raise UsageError(f"the seed is {seed}", remedy=f"give one from 0 to {LARGEST_SEED - runs}")
    if time_limit is not None and not time_limit > 0:
        raise UsageError(f"the time limit is {time_limit:g} s", remedy="give one above 0")


def fuzz_question(loaded: LoadedScenario, *, seed: int, runs: int, at_least: int) -> Question:
    """Return what the answer depends on: not on the number of processes, nor on time."""
    return {
        "command": "fuzz",
        **scenario_question(loaded),
        "--seed": seed,
        "--runs": runs,
        "--steps": loaded.scenario.steps,
        "--at-least": at_least,
    }


# -- the search --------------------------------------------------------------------------------------------------


class _FoundRun(NamedTuple):
    """A run that broke an invariant: its number, after how many deliveries, and which."""

    run: int
    deliveries: int
    invariant: str


class _Search:
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
        self.found: _FoundRun | None = None
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

    def _run(self, number: int, tally: Tally) -> _FoundRun | None:
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
        return _FoundRun(number, run.deliveries, run.broken.invariant if run.broken else "")

    # -- in other processes --------------------------------------------------------------------------------------

    def with_workers(self, count: int) -> None:
        blocks = _Blocks(self.tally.runs, self._runs)
        try:
            with workers(count, self._serve) as started:
                while not self._take(blocks):
                    blocks.hand_out(started)
                    blocks.collect(started)
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
                self.end = find_end(partial(_record_run, self._loaded, seed), ended, seed=seed)
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

    def _take(self, blocks: _Blocks, *, rest: bool = False) -> bool:
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
            self.found = _FoundRun(*reply["found"])
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


class _Blocks:
    """Runs that are handed out to workers, many at once, and the replies, which are taken in their order."""

    def __init__(self, first: int, runs: int) -> None:
        self._runs = runs
        self.handed_out = first  # the first run that has not been
        self.due = first  # the first run whose reply has not been taken
        self._size = 1
        self._with: dict[Worker, tuple[int, int, float]] = {}
        self._replies: dict[int, tuple[int, Any]] = {}

    @property
    def finished(self) -> bool:
        return self.due >= self._runs

    def hand_out(self, started: list[Worker]) -> None:
        for worker in started:
            if worker not in self._with and self.handed_out < self._runs:
                count = min(self._size, self._runs - self.handed_out)
                worker.ask([self.handed_out, count])
                self._with[worker] = (self.handed_out, count, time.monotonic())
                self.handed_out += count

    def collect(self, started: list[Worker]) -> None:
        for worker in wait_for_replies(list(self._with), _POLL_SECONDS):
            reply = worker.reply()
            first, count, since = self._with.pop(worker)
            self._replies[first] = (count, reply)
            per_run = (time.monotonic() - since) / count
            # Not much larger at once: runs differ.
            self._size = max(1, min(int(_BLOCK_SECONDS / per_run), 8 * self._size, _LARGEST_BLOCK))

    def in_order(self) -> Iterator[Any]:
        # In the order of the runs, whoever was faster: the first violation must not depend on the number of
        # workers.
        while self.due in self._replies:
            count, reply = self._replies.pop(self.due)
            self.due += count
            yield reply

    def rest(self) -> Iterator[Any]:
        """Yield what has been answered although runs before it have not."""
        for _, (_, reply) in sorted(self._replies.items()):
            yield reply
