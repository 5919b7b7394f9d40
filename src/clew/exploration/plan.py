"""What comes from outside, in its order, and how far an exploration goes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from clew.errors import UsageError
from clew.simulation.scenario import Scenario
from clew.simulation.world import CodeBlock, External, Wait, WaitCondition

#: Timers mostly set themselves again, so without a bound no execution would be complete.
DEFAULT_TIMERS = 2


@dataclass(frozen=True)
class Bounds:
    """How often a timer goes off at each node, and how often each link loses or duplicates a message.

    Each of these counts what happens at one place, so an execution stays within the bounds when unrelated events
    trade places.  A bound on the length of an execution, or on all losses together, would not have that property.
    """

    timers: int = DEFAULT_TIMERS
    losses: int = 0
    duplicates: int = 0

    def __post_init__(self) -> None:
        for name, number in (("timers", self.timers), ("losses", self.losses), ("duplicates", self.duplicates)):
            if number < 0:
                raise UsageError(f"{name} is {number}", remedy="give a number that is at least 0")

    def __str__(self) -> str:
        counts = (
            (self.timers, "timer", "node"),
            (self.losses, "loss", "link"),
            (self.duplicates, "duplicate", "link"),
        )
        return ", ".join(_at_most(number, what, place) for number, what, place in counts)


def _at_most(number: int, what: str, place: str) -> str:
    several = {"loss": "losses"}.get(what, f"{what}s")
    return f"no {several}" if not number else f"at most {number} {what if number == 1 else several} a {place}"


class Item(NamedTuple):
    """The next event from outside: ``gate`` is what it waits for; an ``event`` of None only waits.

    What waits, and arbitrary code, looks at everything, so it can trade places with nothing.
    """

    event: External | None
    gate: Wait | None

    @property
    def is_global(self) -> bool:
        return self.gate is not None or isinstance(self.event, CodeBlock)


def plan_events(scenario: Scenario) -> tuple[Item, ...]:
    """Return the events from outside; waiting at the end is left out: exploring goes on until nothing is left.

    Whether what is awaited at the end ever comes is asked of the states themselves (``awaited_at_last``).
    """
    if scenario.count:
        raise UsageError(
            f"the scenario draws {scenario.count} events at random (count), and these cannot be explored",
            remedy="list the events in 'before' and leave 'count' out",
        )
    items: list[Item] = []
    gate: Wait | None = None
    events = [*scenario.before, *scenario.after]
    # They would make every execution look at everything once more, to no effect.
    while events and isinstance(events[-1], Wait):
        events.pop()
    for event in events:
        if not isinstance(event, Wait):
            items.append(Item(event, gate))
            gate = None
            continue
        if gate is not None:
            items.append(Item(None, gate))
        gate = event
    return tuple(items)


def find_final_waits(scenario: Scenario) -> tuple[WaitCondition, ...]:
    """Return the conditions that are waited for when all events from outside have happened."""
    found: list[WaitCondition] = []
    for event in reversed([*scenario.before, *scenario.after]):
        if not isinstance(event, Wait):
            break
        if isinstance(event, WaitCondition):
            found.append(event)
    return tuple(reversed(found))
