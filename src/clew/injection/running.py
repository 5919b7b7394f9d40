"""One execution of a scenario under chosen faults: what ``clew run`` does, and what replays a counterexample."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from clew.budgets.whereabouts import ProcessEnd, tell_run
from clew.errors import Notice, UsageError
from clew.faults import FaultsOf
from clew.injection.checking import prepare_scenario
from clew.injection.execution.course import Course, explain_no_end
from clew.injection.execution.run import InjectedRun
from clew.injection.faults import CodeFault, exclusive_code_pairs
from clew.results import HOLDS, INCOMPLETE, VIOLATED, Result
from clew.simulation.execution.isolation import ProcessEndedError, needs_child, run_isolated
from clew.simulation.execution.trace import Execution, execute
from clew.simulation.execution.watchdog import step_limit
from clew.simulation.loading import LoadedScenario, as_loaded
from clew.simulation.recordings.recording import Recording, make_recording, record_deadly
from clew.simulation.scenario import Broken, Scenario


class RunAnswer(enum.Enum):
    """What one execution showed; the values are what JSON calls them."""

    HOLDS = "holds"
    VIOLATED = "violated"
    NOTHING_PROMISED = "nothing promised"
    UNFINISHED = "unfinished"


_EXIT_CODES = {RunAnswer.HOLDS: HOLDS, RunAnswer.VIOLATED: VIOLATED}


@dataclass(frozen=True)
class CodeRun(Result):
    """One execution of a scenario under ``faults``: what is ``broken``, if anything is.

    ``struck``: of each fault, the time at which it struck, None where it did not.
    """

    answer: RunAnswer
    scenario: str
    faults: FaultsOf[CodeFault]
    struck: tuple[int | None, ...]
    broken: Broken | None
    seed: int
    reason: str | None
    execution: Execution = field(repr=False)
    recording: Recording = field(repr=False)
    notices: tuple[Notice, ...] = ()

    @property
    def exit_code(self) -> int:
        return _EXIT_CODES.get(self.answer, INCOMPLETE)


def run_scenario(
    source: Scenario | str | LoadedScenario,
    faults: Iterable[CodeFault] = (),
    *,
    until: float | None = None,
    seed: int = 0,
    in_process: bool = False,
    ends_with: ProcessEnd | None = None,
) -> CodeRun:
    """Execute a scenario once under these faults, on the schedule that checks use.

    ``in_process``: in this process and not in a child, for a debugger.
    ``ends_with``: how the process is known to end; the event that does it is not performed.
    """
    loaded = as_loaded(source)
    loaded = replace(loaded, scenario=prepare_scenario(loaded.scenario, until))
    chosen: FaultsOf[CodeFault] = FaultsOf.of(faults)
    if (pair := next(exclusive_code_pairs(chosen), None)) is not None:
        raise UsageError(
            f"these faults contradict each other: {FaultsOf.of(pair)}",
            remedy="a message is lost or duplicated once; a node crashes once, and not while it is down",
        )
    # In a child: code under faults may end its process, or never return.
    if not needs_child(in_process):
        return _execute(loaded, chosen, seed, ends_with)
    try:
        return run_isolated(lambda tell: _execute(loaded, chosen, seed, ends_with), None)
    except ProcessEndedError as ended:
        # Once more, up to that event and without it, so that what led to it can be shown.
        end = ended.end
    return run_isolated(lambda tell: _execute(loaded, chosen, seed, end), None)


def _execute(loaded: LoadedScenario, chosen: FaultsOf[CodeFault], seed: int, end: ProcessEnd | None) -> CodeRun:
    if end is not None:
        return _execute_up_to(end, loaded, chosen, seed)
    tell_run(seed)
    with step_limit(loaded.scenario.step_seconds):
        course = InjectedRun(loaded.scenario, chosen, seed=seed, recording=True).finish()
        # By the schedule alone, as a replay does it: that is the execution that people are shown.
        execution = execute(loaded.scenario, seed, course.steps)
    if execution.broken != course.broken:
        raise _not_deterministic("the same faults twice do not lead to the same execution")
    recording = make_recording(loaded, seed, course.steps, execution)
    return _make_run(loaded, chosen, course, course.broken, execution, recording)


def _execute_up_to(end: ProcessEnd, loaded: LoadedScenario, chosen: FaultsOf[CodeFault], seed: int) -> CodeRun:
    """Execute all but the event that ends the process."""
    with step_limit(loaded.scenario.step_seconds):
        course = InjectedRun(loaded.scenario, chosen, seed=seed, recording=True, ends_at=end.event).finish()
    # Whoever gets further than the first time was not decided by faults and seed alone.
    if course.broken is not None or course.is_over:
        raise _not_deterministic("the process ended by itself, but not when the same was executed again")
    recording = record_deadly(loaded, seed, course.steps, str(end))
    with step_limit(loaded.scenario.step_seconds):
        execution = execute(loaded.scenario, seed, recording.steps[:-1])
    return _make_run(loaded, chosen, course, recording.broken, execution, recording)


def _not_deterministic(what: str) -> UsageError:
    return UsageError(
        what, remedy="let nodes take time and random numbers from their context, and nothing else from outside"
    )


def _make_run(
    loaded: LoadedScenario,
    chosen: FaultsOf[CodeFault],
    course: Course,
    broken: Broken | None,
    execution: Execution,
    recording: Recording,
) -> CodeRun:
    why = loaded.scenario.explain_vacuity(course.world) if course.is_vacuous else None
    no_end = None if course.is_over else explain_no_end(loaded.scenario, course)
    answer, reason = _judge(broken, no_end, why)
    return CodeRun(
        answer,
        loaded.full_name,
        chosen,
        course.times_of(chosen),
        broken,
        recording.seed,
        reason,
        execution,
        recording,
        tuple(
            Notice(
                f"{fault} did not strike: {fault.missed}", remedy="see what happens with clew run without faults"
            )
            for fault in chosen
            if fault not in course.struck
        ),
    )


def _judge(broken: Broken | None, no_end: str | None, vacuous: str | None) -> tuple[RunAnswer, str | None]:
    # Before anything else: what is broken is broken, whether the run came to its end or not.
    if broken is not None:
        return RunAnswer.VIOLATED, None
    if no_end is not None:
        return RunAnswer.UNFINISHED, f"the execution did not come to its end: {no_end}"
    if vacuous is not None:
        return RunAnswer.NOTHING_PROMISED, f"nothing was promised: {vacuous}"
    return RunAnswer.HOLDS, None
