"""The execution of a result, as ``check``, ``run``, ``fuzz`` and the others return it."""

from __future__ import annotations

from clew.checker.api import run
from clew.checker.result import Verdict
from clew.engine.execution import Execution as ModelExecution
from clew.errors import UsageError
from clew.exploration.result import Exploration
from clew.injection.result import CodeVerdict
from clew.injection.running import CodeRun
from clew.minimization.minimizing import Minimized
from clew.report.export.choice import Choice
from clew.report.export.events import Trace
from clew.report.export.of_code import trace_of_run
from clew.report.export.of_model import model_run_of, trace_of_model
from clew.report.export.recorded import reexecute, trace_of_recording
from clew.report.replay.replaying import ReplayedVerdict
from clew.report.simulated.violations import UNNAMED
from clew.results import Result
from clew.simulation.execution.trace import Execution
from clew.simulation.fuzzing.fuzz import Fuzzed
from clew.simulation.recordings.recording import Recording
from clew.simulation.recordings.replaying import Replayed

_NOTHING = "give one with a counterexample; or what clew.run or clew.run_scenario returned"


def trace_of_result(source: Result | Recording, choice: Choice) -> Trace:
    """Return the execution that a result has, or the counterexample that is chosen."""
    match source:
        case Verdict():
            return _of_verdict(source, choice)
        case ReplayedVerdict():
            return of_model(choice.pick("the replay", source.runs), source.files)
        case ModelExecution():
            choice.refuse_number("the run")
            return of_model(source, source.files)
        case Exploration():
            return _of_exploration(source, choice)
        case _:
            choice.refuse_number("the result")
            return _of_one(source, choice)


def of_model(execution: ModelExecution, files: tuple[str, ...]) -> Trace:
    """Return the trace of an execution of a model that is in these files."""
    return trace_of_model(model_run_of(execution), " + ".join(files) or "a program made in Python")


def _of_verdict(verdict: Verdict, choice: Choice) -> Trace:
    if not verdict.found or verdict.program is None:
        raise _nothing("the verdict", verdict.answer.value)
    found = choice.pick("the verdict", verdict.found)
    spec = verdict.spec
    return of_model(run(verdict.program, found.faults, nodes=spec.nodes, eot=spec.eot), verdict.files)


def _of_exploration(explored: Exploration, choice: Choice) -> Trace:
    recording = explored.recording
    if not explored.found or recording is None:
        raise _nothing("the exploration", explored.answer.value)
    found = choice.pick("the exploration", explored.found, "violation")
    # Of the others only the steps are kept: executions are large.
    if found is explored.found[0] and explored.execution is not None:
        return trace_of_run(explored.execution, explored.scenario or UNNAMED)
    if not explored.scenario:
        raise UsageError(
            "of several violations only the first is kept with its execution, for the scenario was made in Python",
            remedy="leave the number out, or explore a scenario that is in a file",
        )
    execution = reexecute(explored.scenario, recording.seed, found.steps, in_process=choice.in_process)
    return trace_of_run(execution, explored.scenario)


def _of_one(source: Result | Recording, choice: Choice) -> Trace:
    match source:
        case Recording():
            return trace_of_recording(source, None, choice)
        case CodeRun():
            return trace_of_run(source.execution, source.scenario or UNNAMED)
        case CodeVerdict():
            found = source.counterexample
            return _of_run(None if found is None else found.execution, source, source.scenario)
        case Fuzzed():
            # A run that ends its process has a recording, and nobody came back to tell what happened in it.
            if source.execution is None and source.recording is not None:
                return trace_of_recording(source.recording, None, choice)
            return _of_run(source.execution, source, source.scenario)
        case Minimized():
            return trace_of_run(source.execution, source.recording.scenario or UNNAMED)
        case Replayed():
            return trace_of_run(source.execution, source.scenario or UNNAMED)
    raise UsageError(
        f"a {type(source).__name__} is of no single execution",
        remedy="give what clew.check, run, fuzz, explore, minimize or replay returned",
    )


def _of_run(execution: Execution | None, result: Result, scenario: str) -> Trace:
    if execution is None:
        raise _nothing("the result", result.answer.value)
    return trace_of_run(execution, scenario or UNNAMED)


def _nothing(what: str, answer: str) -> UsageError:
    return UsageError(f"{what} is '{answer}', and there is no execution to export", remedy=_NOTHING)
