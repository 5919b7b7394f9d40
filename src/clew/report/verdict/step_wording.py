"""Chains of consequences in words: what happens without a fault, and how the violation arose."""

from __future__ import annotations

from clew.explain.explanation import Event
from clew.explain.steps import MessageStep, NodeStep, Step
from clew.explain.without import Without
from clew.faults import Fault
from clew.names import show
from clew.program.outcomes import POST, PRE
from clew.violation import Violation


def step_text(step: Step, fault: Fault) -> str:
    """A step, told of the run without the fault."""
    if isinstance(step, NodeStep):
        return f"{show(step.node)} stays up"
    if not isinstance(step, MessageStep):
        return f"{'' if step.there else 'no '}{Violation(step.relation, step.row)}@{step.time}"
    message = f"{_message(step)}@{step.time}"
    if not step.hit:
        return f"{'' if step.there else 'no '}{message}{_arrival(step)}"
    return f"{message} {fault.undone(_arrival(step))}"


def outcome_text(line: Without) -> str:
    """What the steps lead to."""
    if line.outcome.relation in (PRE, POST):
        return f"{line.outcome} {'holds' if line.holds else 'does not hold'}"
    return f"{line.outcome} is there at the end"


def event_text(event: Event) -> str:
    """An event, told of the failing run; its time stands before it."""
    step, fault = event.step, event.fault
    if isinstance(step, NodeStep):
        return f"{show(step.node)} crashes: {fault}"
    if not isinstance(step, MessageStep):
        return str(Violation(step.relation, step.row))
    if fault is None:
        return f"{_message(step)}{_arrival(step)}"
    return f"{_message(step)} {fault.effect}: {fault}"


def violated_text(violation: Violation) -> str:
    """With what the story ends."""
    if violation.relation == PRE:
        return f"{violation} holds, {Violation(POST, violation.row)} does not"
    return f"{violation} is missing"


def _message(step: MessageStep) -> str:
    """Where others like it are sent at the same time, with what it says."""
    row = f"({', '.join(map(show, step.row[1:]))})" if step.one_of_several else ""
    return f"{step.relation}{row} {show(step.source)}→{show(step.target)}"


def _arrival(step: MessageStep) -> str:
    """Said of a message that arrives later than in the next step."""
    return "" if step.arrives == step.time + 1 else f" (arrives at {step.arrives})"
