"""Faults under which code ends its own process: ``os._exit``, a segmentation fault, a signal to itself.

No execution of these faults can be looked at from inside.  So each is executed in a child; the event that ends it
is found by another, which writes down every call, and the execution up to that event is what people are shown.
"""

from __future__ import annotations

from dataclasses import replace

from clew.budgets.whereabouts import ProcessEnd
from clew.errors import UsageError
from clew.faults import FaultsOf
from clew.injection.execution.course import Course
from clew.injection.execution.run import InjectedRun
from clew.injection.faults import CodeFault
from clew.injection.result import CodeCounterexample
from clew.injection.searching.shrinking import shrink_faults
from clew.search.verdict import LedgerOf
from clew.simulation.execution.isolation import Tell, call_in_child, find_end
from clew.simulation.execution.watchdog import step_limit
from clew.simulation.loading import LoadedScenario
from clew.simulation.recordings.recording import PROCESS_GOES_ON, record_deadly
from clew.simulation.scenario import Broken
from clew.workers.processes import WorkerDiedError

CodeFaults = FaultsOf[CodeFault]


def confirm_deadly(
    loaded: LoadedScenario, within: int, larger: CodeFaults, ledger: LedgerOf[CodeFault], seed: int
) -> CodeCounterexample:
    """Leave out the faults without which the process ends as well, and record the execution up to its end.

    ``within``: the time until which faults may begin.
    """

    def execute(faults: CodeFaults) -> Course:
        return _execute(loaded, faults, seed)

    # What is found is found, however little time is left: to make it small takes a handful of runs.
    books: LedgerOf[CodeFault] = LedgerOf(progress=ledger.progress, runs=ledger.runs)
    faults = shrink_faults(execute, within, larger, PROCESS_GOES_ON, books)
    ledger.runs = books.runs
    course = execute(faults)
    if course.broken is None:
        raise UsageError(
            "the process ended by itself under these faults, but not when the same was executed again",
            remedy="the code is not deterministic; it must depend on state, message and context only",
        )
    recording = record_deadly(loaded, seed, course.steps, course.broken.what)
    return CodeCounterexample(faults, course.broken, course.times_of(faults), len(larger), None, recording)


def _execute(loaded: LoadedScenario, faults: CodeFaults, seed: int) -> Course:
    """Return the execution under these faults, up to the event that ends its process, if one does."""
    end = _find_end(loaded, faults, seed)
    if end is None:
        # That it comes to its end is all that counts: nothing else is looked for any more.
        return InjectedRun(loaded.scenario, faults, seed=seed, recording=True, ends_at=1).finish()
    course = InjectedRun(loaded.scenario, faults, seed=seed, recording=True, ends_at=end.event).finish()
    return replace(course, broken=Broken(PROCESS_GOES_ON, str(end)))


def _find_end(loaded: LoadedScenario, faults: CodeFaults, seed: int) -> ProcessEnd | None:
    def perform(tell: Tell) -> None:
        with step_limit(loaded.scenario.step_seconds):
            InjectedRun(loaded.scenario, faults, seed=seed).finish()

    try:
        call_in_child(perform)
    except WorkerDiedError as death:
        return find_end(perform, death, seed=seed)
    return None
