"""``minimize``: from a recording to a smaller one with the same violation."""

from __future__ import annotations

import dataclasses
import enum
import hashlib
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from clew.budgets.deadline import Deadline
from clew.budgets.whereabouts import tell_limit, tell_run
from clew.errors import ClewError, Notice, UsageError
from clew.files.checkpoints import Checkpoint, as_checkpoint, conclude_own
from clew.minimization.pipeline import Minimizer
from clew.minimization.searching.remembered_search import Memory
from clew.minimization.searching.stages import Progress, Smallest, Stage, Surroundings
from clew.minimization.timed.pipeline import TimedMinimizer
from clew.minimization.trial import not_repeatable_error
from clew.results import BAD_INPUT, HOLDS, INCOMPLETE, Result
from clew.simulation.execution.isolation import needs_child, run_isolated
from clew.simulation.execution.steps import Size
from clew.simulation.execution.trace import Execution, execute
from clew.simulation.execution.watchdog import step_limit
from clew.simulation.loading import LoadedScenario, scenario_question
from clew.simulation.recordings.reading import changed_code_error, open_given
from clew.simulation.recordings.recording import Recording, make_recording, write_recording
from clew.simulation.scenario import Scenario
from clew.workers.processes import limit_workers


class MinimizationAnswer(enum.Enum):
    """``MINIMIZED``: searched to the end; no smaller execution is known to the search."""

    MINIMIZED = "minimized"
    INCOMPLETE = "incomplete"


@dataclass(frozen=True)
class Minimized(Result):
    """``recording`` is the smallest execution found, ``execution`` what happens in it.

    ``reason``: why the search ended before its end, if it did; ``problem``: the mistake in the scenario that
    ended it, if that did.  ``pace`` says after how many schedules how many deliveries were left, whenever that
    became less.
    """

    recording: Recording
    execution: Execution
    size: Size
    stages: tuple[Stage, ...]
    pace: tuple[tuple[int, int], ...] = field(repr=False)
    ahead: int
    reason: str | None
    problem: ClewError | None
    notices: tuple[Notice, ...]

    @property
    def answer(self) -> MinimizationAnswer:
        return MinimizationAnswer.MINIMIZED if self.reason is None else MinimizationAnswer.INCOMPLETE

    @property
    def exit_code(self) -> int:
        if self.problem is not None:
            return BAD_INPUT
        return HOLDS if self.reason is None else INCOMPLETE


def minimize(
    recording: Recording | str | Path,
    scenario: Scenario | str | LoadedScenario | None = None,
    *,
    time_limit: float | None = None,
    workers: int = 1,
    shrink: bool = True,
    progress: Progress | None = None,
    in_process: bool = False,
    checkpoint: str | Path | Checkpoint | None = None,
) -> Minimized:
    """Search for a smaller execution that ends in the violation of a recording.

    ``time_limit``: seconds, after which the best so far is returned.  ``scenario`` stands for the one that the
    recording names.  ``shrink``: whether contents of messages from outside may become smaller.
    ``progress`` is told the stage, how many schedules were tried, and the size so far.  ``in_process``: execute
    the scenario in this process and not in a child, for a debugger.
    ``checkpoint`` is a file that the search goes on from if it is there, and is saved in now and then.
    """
    _check_arguments(workers, time_limit)
    given, loaded, identity = _open(recording, scenario)
    # What a child did to a checkpoint that somebody else concludes would be lost.
    if needs_child(in_process or isinstance(checkpoint, Checkpoint)):
        again = partial(minimize, given, loaded, time_limit=time_limit, workers=workers, shrink=shrink)
        return run_isolated(lambda tell: again(progress=tell, checkpoint=checkpoint, in_process=True), progress)
    tell_limit(time_limit)
    tell_run(given.seed)
    workers, notices = limit_workers(workers)
    deadline = Deadline(time_limit)
    saving = None if checkpoint is None else as_checkpoint(checkpoint)
    memory = None if saving is None else _open_memory(saving, given, loaded, shrink)
    surroundings = Surroundings(deadline, workers, progress, memory)
    minimizer = _make_minimizer(loaded.scenario, given, identity, surroundings, shrink)
    with deadline.listening():
        found = minimizer.run()
        if saving is not None and found.stopped is not None:
            saving.save()
        loaded = dataclasses.replace(loaded, scenario=_pin_clocks(loaded.scenario, found))
        # Executed once more, in full: what is written down is what happened, not what the search believed.
        with step_limit(loaded.scenario.step_seconds):
            execution = execute(loaded.scenario, given.seed, found.steps)
    if execution.identity != identity:
        raise not_repeatable_error(found.steps[len(execution.moments) :])
    if saving is not None:
        # A mistake in the scenario would be met again: with the code that is to be corrected, it is answered.
        saving.answered = found.stopped is None or found.problem is not None
        conclude_own(checkpoint, saving)
    return Minimized(
        make_recording(loaded, given.seed, found.steps, execution),
        execution,
        found.size,
        found.stages,
        found.pace,
        found.ahead,
        found.stopped,
        found.problem,
        tuple(notices),
    )


def _make_minimizer(
    scenario: Scenario, given: Recording, identity: str, surroundings: Surroundings, shrink: bool
) -> Minimizer | TimedMinimizer:
    if scenario.time is None:
        return Minimizer(scenario, given.seed, given.steps, identity, surroundings, shrink=shrink)
    return TimedMinimizer(scenario, given.seed, given.steps, identity, given.clocks, surroundings, shrink=shrink)


def _pin_clocks(scenario: Scenario, found: Smallest) -> Scenario:
    if scenario.time is None:
        return scenario
    return dataclasses.replace(scenario, time=scenario.time.with_clocks(dict(found.clocks)))


def _open_memory(checkpoint: Checkpoint, given: Recording, loaded: LoadedScenario, shrink: bool) -> Memory:
    """Return what a checkpoint knows of this minimization; neither time nor the number of processes matters."""
    # The whole recording: the same scenario may have several, and outcomes are of one.
    recording = hashlib.sha256(write_recording(given).encode()).hexdigest()
    saved = checkpoint.open(
        {
            "command": "minimize",
            **scenario_question(loaded),
            "the recording digest": recording,
            "--shrink": shrink,
        }
    )
    memory = Memory(checkpoint)
    if saved is not None:
        checkpoint.tell_continued(memory.schedules, "schedule")
    return memory


def _open(
    recording: Recording | str | Path, scenario: Scenario | str | LoadedScenario | None
) -> tuple[Recording, LoadedScenario, str]:
    """Open a recording that can be minimized, with its scenario and the identity of its violation."""
    opened = open_given(recording, scenario)
    given, loaded = opened.recording, opened.loaded
    if not opened.same_code:
        raise changed_code_error(opened)
    if given.identity is None:
        raise UsageError(
            "the recording ends in no violation, so there is nothing to keep", remedy="minimize one that fails"
        )
    if given.ends_process:
        raise UsageError(
            "the recording ends its process, and every schedule that is tried would need one of its own",
            remedy="let the code raise an exception instead of ending the process, and record that",
        )
    # Every event is looked at, so that an execution ends where something breaks.
    looking = dataclasses.replace(loaded.scenario, check_every=1)
    return given, dataclasses.replace(loaded, scenario=looking), given.identity


def _check_arguments(workers: int, time_limit: float | None) -> None:
    if workers < 1:
        raise UsageError(f"workers is {workers}", remedy="give at least 1")
    if time_limit is not None and not time_limit > 0:
        raise UsageError(f"the time limit is {time_limit:g} s", remedy="give one above 0")
