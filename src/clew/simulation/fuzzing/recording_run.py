"""Recording a random execution: it is executed again, and what is recorded is what happens every time.

The recording is held against a second execution just as a replay holds it, so that none is written that does not
replay.  Code blocks and conditions are names in a recording: the second execution has what the names stand for.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple

from clew.errors import UsageError
from clew.simulation.execution.steps import Step
from clew.simulation.execution.trace import Execution
from clew.simulation.execution.watchdog import step_limit
from clew.simulation.fuzzing.random_run import RandomRun, random_run
from clew.simulation.loading import LoadedScenario
from clew.simulation.recordings.nondeterminism import NondeterminismError, find_cause
from clew.simulation.recordings.recording import Recording, make_recording, record_deadly
from clew.simulation.recordings.replaying import Attempt, attempt, first_difference
from clew.simulation.scenario import Broken, Scenario
from clew.simulation.user_code import StoppedError
from clew.simulation.world import CodeBlock, WaitCondition


class End(NamedTuple):
    """How an execution ended: the invariant that broke, "" for none, and after how many deliveries."""

    invariant: str
    deliveries: int

    def __str__(self) -> str:
        return f"{repr(self.invariant) if self.invariant else 'nothing'} breaks after {self.deliveries} deliveries"


def record_run(loaded: LoadedScenario, seed: int, found: End | None = None) -> tuple[Recording, Execution]:
    """Record the execution that belongs to a seed; ``found`` is how it ended when it was not recorded."""
    # It ends at the very event that breaks something.
    scenario = replace(loaded.scenario, check_every=1)
    with step_limit(scenario.step_seconds):
        run = random_run(scenario, seed, recording=True)
        steps = _name_steps(scenario, run.steps)
        # Twice: what is recorded is the first, and the second has to be the same, with names resolved as a reader
        # will.
        first = attempt(scenario, seed, run.steps)
        _refuse_absence(loaded, first)
        recording = make_recording(loaded, seed, steps, first.execution)
        again = attempt(scenario, seed, steps)
        difference = first_difference(recording, again)
        if difference is not None:
            # The likelier reason first: two code blocks of one name, of which the reader finds only one.
            _refuse_ambiguity(scenario, seed, run.steps, steps, first)
            raise _nondeterminism(loaded, str(difference))
    ends = [] if found is None else [found]
    ends += [_end(run.broken, run.deliveries), _end(first.execution.broken, first.execution.deliveries)]
    if len(set(ends)) > 1:
        raise _nondeterminism(loaded, ", then ".join(map(str, dict.fromkeys(ends))))
    return recording, first.execution


def record_death(loaded: LoadedScenario, seed: int, event: int, what: str) -> Recording:
    """Record the execution that belongs to a seed up to an event that ends the process, which is not performed.

    ``event`` counts from 1; ``what`` says how it ends.
    """
    scenario = replace(loaded.scenario, check_every=1)
    with step_limit(scenario.step_seconds):
        run = RandomRun(scenario, seed, recording=True)
        while run.world.events < event - 1 and run.advance():
            pass
        _let_halt(run)
        steps = _name_steps(scenario, run.steps)
    return record_deadly(loaded, seed, steps, what)


class _HaltError(StoppedError):
    """Raised instead of performing an event."""


def _let_halt(run: RandomRun) -> None:
    """Let a run choose its next event, and take it down without performing it."""

    def halt(*_: object) -> None:
        raise _HaltError

    # In this world only: the draw must be the same as in the run that ended its process.
    vars(run.world).update(deliver=halt, inject=halt)
    with suppress(_HaltError):
        run.advance()


def _end(broken: Broken | None, deliveries: int) -> End:
    return End(broken.invariant if broken else "", deliveries)


def _nondeterminism(loaded: LoadedScenario, difference: str) -> NondeterminismError:
    text = f"the same execution twice is not the same: {difference}"
    return NondeterminismError(text, find_cause(loaded.modules, same_twice=False))


def _refuse_absence(loaded: LoadedScenario, first: Attempt) -> None:
    if first.absent is not None:
        raise _nondeterminism(loaded, first.absent.message)


# -- names -------------------------------------------------------------------------------------------------------


def _name_steps(scenario: Scenario, steps: Sequence[Step]) -> list[Step]:
    """Return the steps as a reader of the recording gets them: it can only name what the scenario names."""
    blocks, conditions = scenario.blocks_by_name(), scenario.conditions_by_name()
    named: list[Step] = []
    for step in steps:
        if isinstance(step, CodeBlock | WaitCondition):
            known: Step | None = (blocks if isinstance(step, CodeBlock) else conditions).get(step.name)
            if known is None:
                raise UsageError(
                    f"the scenario's events made '{step.name}', which a recording could not name",
                    remedy="list code blocks in the scenario's code=[...], and conditions in its before or after",
                )
            named.append(known)
        else:
            named.append(step)
    return named


def _refuse_ambiguity(
    scenario: Scenario, seed: int, made: Sequence[Step], named: Sequence[Step], first: Attempt
) -> None:
    """Tell a name that stands for several functions from code that does not do the same twice."""
    for step, known in zip(made, named, strict=True):
        if _function(step) is not _function(known) and isinstance(step, CodeBlock | WaitCondition):
            if attempt(scenario, seed, made).digests == first.digests:
                raise UsageError(
                    f"several functions of the scenario are called '{step.name}', and they do not do the same",
                    remedy="give each a name of its own: in a recording there is nothing but the name",
                )
            return


def _function(step: Step) -> object:
    match step:
        case CodeBlock(_, action):
            return action
        case WaitCondition(_, condition):
            return condition
    return None
