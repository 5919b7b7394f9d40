"""Why one row is violated, in the three ways in which it is told.

- the ``account``: what each fault does, by comparing the failing run with the run without it;
- the ``events``: how it arose in the failing run, where something was derived that should not have been;
- ``why``: the supports that the failure-free run had, and what cuts each.

The first two cost little; supports are looked for where they are shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from clew.engine.runs import Runs
from clew.explain.steps import MessageStep, NodeStep, PhaseStep, RowStep, Step
from clew.explain.without import Account, Comparison
from clew.faults import Fault
from clew.program.outcomes import assertion_definitions
from clew.violation import Violation

if TYPE_CHECKING:
    from clew.explain.why import Why  # where supports are not looked for, what finds them is not loaded


class Event(NamedTuple):
    """Something that happens in the failing run; ``fault``: what makes it happen, or keeps it from happening."""

    time: int
    step: Step | PhaseStep
    fault: Fault | None


class Explanation(NamedTuple):
    """One violated row.  ``like``: an earlier row that the faults violate in the same way.

    ``events`` are in the order of time; there are none where something was only lost.  The last one is followed
    by the violation itself.
    """

    account: Account
    events: tuple[Event, ...] = ()
    like: Violation | None = None
    why: Why | None = None

    @property
    def violation(self) -> Violation:
        return self.account.violation


def explain_rows(runs: Runs, violations: Sequence[Violation]) -> Iterator[Explanation]:
    """Explain every row without its supports."""
    comparison = Comparison(runs)
    asserted = assertion_definitions(runs.program)
    first: dict[object, Violation] = {}
    for violation in violations:
        account = comparison.account(violation)
        # Rows that the same faults violate in the same way are told once: only their assertions differ.
        told = [(line.fault, _of_protocol(line.steps, asserted)) for line in account.without]
        ends = [(line.needed, line.outcome.relation, line.holds) for line in account.without]
        # The first row in the given order is explained, and the others refer to it.
        like = first.setdefault((tuple(told), tuple(ends)), violation)
        events = tuple(_events(account)) if any(map(_has_derivation, told)) else ()
        yield Explanation(account, events, None if like == violation else like)


def _of_protocol(steps: Sequence[Step], asserted: frozenset[str]) -> tuple[Step, ...]:
    """Leave out the rows that only state what must hold."""
    return tuple(s for s in steps if not (isinstance(s, RowStep) and s.relation in asserted))


def _has_derivation(told: tuple[Fault, Sequence[Step]]) -> bool:
    """Tell whether the failing run has something that the run without the fault has not."""
    return any(not step.there and not _is_hit(step) for step in told[1])


def _is_hit(step: Step) -> bool:
    """Tell whether the fault itself makes the step, not one of its consequences."""
    return isinstance(step, NodeStep) or (isinstance(step, MessageStep) and step.hit)


def _message(step: Step | PhaseStep) -> object:
    """Return what tells one message from another; None for a row."""
    return (step.relation, step.row, step.source, step.time) if isinstance(step, MessageStep) else None


def _events(account: Account) -> list[Event]:
    """Return what the faults hit, and what happens in the failing run because of that."""
    # What the run without a fault has is not an event of the failing run, unless the fault itself prevents it.
    found = [
        Event(step.time, step, line.fault if _is_hit(step) else None)
        for line in account.without
        for step in line.steps
        # That a node goes down for a while is told by itself.
        if (_is_hit(step) or not step.there) and not (isinstance(step, NodeStep) and line.fault.phases)
    ]
    hit = {_message(event.step) for event in found if event.fault and isinstance(event.step, MessageStep)}
    # A message that a fault hits does not also "not arrive" as a consequence of another one.
    found = [event for event in found if event.fault or _message(event.step) not in hit]
    return sorted(dict.fromkeys([*_phases(account), *found]), key=lambda event: (event.time, _rank(event.step)))


def _phases(account: Account) -> Iterator[Event]:
    """Yield when faults that last for a while begin and are over."""
    for fault in account.needed:
        for number, (time, words) in enumerate(fault.phases):
            yield Event(time, PhaseStep(time, words, number == 0), fault)


def _rank(step: Step | PhaseStep) -> int:
    """Return a sort key: at one time, rows come after what happens to nodes and before the messages they send."""
    match step:
        case PhaseStep():
            return 0
        case RowStep():
            return 1
        case MessageStep() | NodeStep():
            return 2
