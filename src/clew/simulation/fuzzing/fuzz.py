"""Fuzzing: random executions, one seed after the other, until an invariant breaks.

Run k of a search with seed s is the execution that belongs to the seed s + k.  So the first violation, and what is
said about the runs before it, is the same whatever the number of processes is.  Runs are not recorded: the
one that breaks an invariant is executed again.  A run that ends its process is a violation like others; the search
goes on in other processes than this one, unless somebody watches it already (``isolation``).
"""

from __future__ import annotations

import dataclasses
import enum
from concurrent.futures import Executor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from clew.budgets.deadline import Deadline
from clew.budgets.whereabouts import ProcessEnd, tell_limit
from clew.errors import BudgetExhaustedError, Notice, UsageError
from clew.files.checkpoints import Checkpoint, Question, as_checkpoint, conclude_own
from clew.results import HOLDS, INCOMPLETE, VIOLATED, Result
from clew.simulation.execution.isolation import (
    ProcessEndedError,
    call_in_child,
    needs_child,
    run_isolated,
)
from clew.simulation.execution.trace import Execution
from clew.simulation.fuzzing.coverage import Coverage, Tally
from clew.simulation.fuzzing.recording_run import End, record_death, record_run
from clew.simulation.fuzzing.search import FoundRun, Progress, Search, record_alone
from clew.simulation.fuzzing.serving import make_job
from clew.simulation.loading import LoadedScenario, as_loaded, scenario_question
from clew.simulation.recordings.reading import LARGEST_SEED
from clew.simulation.recordings.recording import Recording
from clew.simulation.scenario import Broken, Scenario
from clew.simulation.sending import read_files, send_scenario
from clew.workers.executors import Team, as_team
from clew.workers.processes import limit_workers

DEFAULT_RUNS = 1000

#: Why a search is incomplete in which nothing happened.
NOTHING_DELIVERED = (
    "nothing was delivered in any run, neither a message nor a timer: see that nodes are up (running=...) and "
    "that something is sent"
)


class FuzzAnswer(enum.Enum):
    """``NO_VIOLATION`` is said of the runs that were executed, and of no others."""

    NO_VIOLATION = "no violation"
    VIOLATION = "violation"
    INCOMPLETE = "incomplete"


_EXIT_CODES = {FuzzAnswer.NO_VIOLATION: HOLDS, FuzzAnswer.VIOLATION: VIOLATED, FuzzAnswer.INCOMPLETE: INCOMPLETE}


@dataclass(frozen=True)
class Fuzzed(Result):
    """What a search came to.

    ``recording`` is of the first violation, in run ``run`` (from 0), ``trace`` that of its exception, ``also``
    what else is broken there, ``execution`` all that happened in it (None if it ended its process).
    ``coverage`` is that of no run where the process that counted was ended by one.
    ``early``: violations that came after fewer deliveries than were asked for (``at_least``).
    ``reason``: why the search ended before its time, if it did.
    ``scenario``: as a command names it, "" for one made in Python.
    ``steps``: what stood for its bound, if anything did.
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
    steps: int | None = None
    execution: Execution | None = field(default=None, repr=False, compare=False)

    @property
    def answer(self) -> FuzzAnswer:
        if self.recording is not None:
            return FuzzAnswer.VIOLATION
        return FuzzAnswer.NO_VIOLATION if self.reason is None else FuzzAnswer.INCOMPLETE

    @property
    def exit_code(self) -> int:
        return _EXIT_CODES[self.answer]


def fuzz(
    scenario: Scenario | str | LoadedScenario,
    *,
    seed: int = 0,
    runs: int = DEFAULT_RUNS,
    steps: int | None = None,
    workers: int | None = None,
    executor: Executor | Team | None = None,
    at_least: int = 0,
    time_limit: float | None = None,
    progress: Progress | None = None,
    in_process: bool = False,
    checkpoint: str | Path | Checkpoint | None = None,
) -> Fuzzed:
    """Search for a violation after ``at_least`` deliveries; ``steps`` stands for the scenario's bound.

    ``workers``: how many processes (1), forks of this one; with an ``executor``, how many workers that has, where
    it does not say so itself.  An executor needs a scenario that is named by its file; see ``docs/scale.md``.

    ``in_process``: execute the scenario in this process, if there is one worker, for a debugger or for code that
    is to leave something behind; what ends the process then ends the caller, and what ends a worker is an error.
    ``checkpoint`` is a file that the search goes on from if it is there, and is saved in now and then.
    """
    _check_arguments(seed=seed, runs=runs, workers=workers, at_least=at_least, time_limit=time_limit)
    loaded = with_steps(scenario, steps)
    tell_limit(time_limit)
    search = Search(loaded, seed, runs, at_least, Deadline(time_limit), progress, in_process=in_process)
    saving = None if checkpoint is None else as_checkpoint(checkpoint)
    if saving is not None:
        search.resume(saving, fuzz_question(loaded, seed=seed, runs=runs, at_least=at_least))
    apart = needs_child(in_process)
    team = None if executor is None else as_team(executor, workers)
    forks, notices = limit_workers(1 if workers is None or team else workers)
    reason = None
    with search.deadline.listening():
        try:
            if team is not None:
                search.with_team(
                    team,
                    lambda first: make_job(loaded, seed, at_least, first, in_process=not apart),
                    partial(read_files, send_scenario(loaded)),
                )
            elif forks == 1 and not apart:
                search.alone()
            else:
                search.with_forks(min(forks, runs))
        except BudgetExhaustedError as limit:
            reason = str(limit)
    if saving is not None:
        saving.answered = not search.cut_short
        conclude_own(checkpoint, saving)
    notices += search.list_notices()
    if search.end is not None:
        recording = _record_end(loaded, search.end)
        ended = ended_search(recording, run=search.end.seed - seed, at_least=at_least, steps=steps)
        return dataclasses.replace(ended, coverage=search.tally.coverage(), early=search.tally.early)
    fuzzed = Fuzzed(
        None,
        None,
        None,
        search.tally.coverage(),
        search.tally.early,
        reason,
        tuple(notices),
        scenario=loaded.full_name,
        at_least=at_least,
        steps=steps,
    )
    if search.found is None:
        return _with_vacuity(_with_idleness(fuzzed), loaded.scenario)
    return _with_recording(fuzzed, loaded, seed, search.found)


def _with_idleness(fuzzed: Fuzzed) -> Fuzzed:
    """Say that runs in which little or nothing happened mean little."""
    coverage = fuzzed.coverage
    if coverage.is_hollow:
        return dataclasses.replace(fuzzed, reason=fuzzed.reason or NOTHING_DELIVERED)
    if not coverage.is_thin:
        return fuzzed
    thin = Notice(
        f"in {coverage.idle} of {coverage.runs} runs nothing was delivered",
        remedy="let the scenario's events start nodes and send messages early, or give it more steps",
    )
    return dataclasses.replace(fuzzed, notices=(*fuzzed.notices, thin))


def _with_vacuity(fuzzed: Fuzzed, scenario: Scenario) -> Fuzzed:
    """Say that nothing is said by runs in none of which anything was promised."""
    coverage = fuzzed.coverage
    silent = sum(runs for _, runs in coverage.unfinished)
    if fuzzed.reason is not None or scenario.assume is None or not coverage.runs or silent < coverage.runs:
        return fuzzed
    how = " or ".join(how for how, _ in coverage.unfinished)
    return dataclasses.replace(fuzzed, reason=f"no run says anything: {how}")


def _with_recording(fuzzed: Fuzzed, loaded: LoadedScenario, seed: int, found: FoundRun) -> Fuzzed:
    """Make the run that broke an invariant again, with everything recorded: the search only knows how it ended."""
    # Here, where all of it is at hand: a run that came to its end elsewhere does so again.
    recording, execution = record_run(loaded, seed + found.run, End(found.invariant, found.deliveries))
    return dataclasses.replace(
        fuzzed,
        recording=recording,
        run=found.run,
        trace=execution.trace,
        reason=None,
        also=execution.also,
        execution=execution,
    )


def ended_search(recording: Recording, *, run: int, at_least: int, steps: int | None) -> Fuzzed:
    """Return the result of a search that found a run which ends its process, as ``recording`` says."""
    counted = Tally().coverage()
    name = recording.scenario
    return Fuzzed(recording, run, None, counted, 0, None, (), scenario=name, at_least=at_least, steps=steps)


def record(
    scenario: Scenario | str | LoadedScenario, seed: int, *, steps: int | None = None, in_process: bool = False
) -> Recording:
    """Record the execution that belongs to a seed, whether it breaks an invariant or not."""
    loaded = with_steps(scenario, steps)
    if not needs_child(in_process):
        return record_run(loaded, seed)[0]
    try:
        return run_isolated(partial(record_alone, loaded, seed), None)
    except ProcessEndedError as ended:
        return _record_end(loaded, dataclasses.replace(ended.end, seed=seed))


def _record_end(loaded: LoadedScenario, end: ProcessEnd) -> Recording:
    return call_in_child(lambda tell: record_death(loaded, end.seed, end.event, str(end)))


def with_steps(scenario: Scenario | str | LoadedScenario, steps: int | None) -> LoadedScenario:
    """Load a scenario; ``steps`` stands for its own bound."""
    loaded = as_loaded(scenario)
    if steps is None:
        return loaded
    return dataclasses.replace(loaded, scenario=dataclasses.replace(loaded.scenario, steps=steps))


def _check_arguments(
    *, seed: int, runs: int, workers: int | None, at_least: int, time_limit: float | None
) -> None:
    for name, value, least in (("runs", runs, 1), ("workers", workers, 1), ("at_least", at_least, 0)):
        if value is not None and value < least:
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
