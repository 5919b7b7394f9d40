"""Recordings executed again: exactly, or there is nothing to export.

What a recording may name, and when its code is executed, is as for ``clew replay``
(``clew.simulation.recordings.reading``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from clew.report.export.choice import Choice
from clew.report.export.events import Trace
from clew.report.export.of_code import trace_of_run
from clew.report.simulated.violations import UNNAMED
from clew.simulation.execution.isolation import needs_child, run_isolated
from clew.simulation.execution.steps import At, Step
from clew.simulation.execution.trace import Execution, execute
from clew.simulation.execution.watchdog import step_limit
from clew.simulation.loading import as_loaded
from clew.simulation.recordings.nondeterminism import NondeterminismError
from clew.simulation.recordings.reading import OpenedRecording, open_given
from clew.simulation.recordings.recording import Recording
from clew.simulation.recordings.replaying import replay_opened
from clew.simulation.scenario import Scenario


def trace_of_recording(recording: Recording, scenario: Scenario | str | None, choice: Choice) -> Trace:
    """Return the execution of a recording that was made just now."""
    return trace_of_opened(open_given(recording, scenario), choice)


def trace_of_opened(found: OpenedRecording, choice: Choice, document: str = "the recording") -> Trace:
    """Execute a recording again, and return what happens in it."""
    execution = execute_opened(found, document, in_process=choice.in_process)
    return trace_of_run(execution, found.recording.scenario or UNNAMED, broken=found.recording.broken)


def execute_opened(found: OpenedRecording, document: str, *, in_process: bool) -> Execution:
    """Execute a recording again; raise if anything happens that was not recorded."""
    # What ends the process is not performed here either: nothing would be left to export.
    ends = found.recording.ends_process
    performed = found._replace(recording=_without_end(found.recording)) if ends else found
    if needs_child(in_process):
        replayed = run_isolated(lambda tell: replay_opened(performed), None)
    else:
        replayed = replay_opened(performed)
    if replayed.difference is not None and replayed.cause is not None:
        raise NondeterminismError(f"{document}: {replayed.reason}", replayed.cause)
    return replayed.execution


def _without_end(recording: Recording) -> Recording:
    """Leave out the last step, which ends the process, and when it happens."""
    # With virtual time, when the last step happens is a step of its own before it.
    last = len(recording.steps) - 1
    last -= last > 0 and isinstance(recording.steps[last - 1], At)
    return replace(
        recording, steps=recording.steps[:last], effects=recording.effects[:last], broken=None, identity=None
    )


def reexecute(scenario: str, seed: int, steps: Sequence[Step], *, in_process: bool) -> Execution:
    """Execute a schedule of a scenario that is in a file."""
    loaded = as_loaded(scenario)

    def perform(tell: object) -> Execution:
        with step_limit(loaded.scenario.step_seconds):
            return execute(loaded.scenario, seed, steps)

    return run_isolated(perform, None) if needs_child(in_process) else perform(None)
