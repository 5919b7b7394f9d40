"""Nodes that do not do the same twice, which no exploration can certify.

An event after the same local history must have the same effects: leave the node in the same state, send the same,
raise the same.  Whatever is executed again is held against the first time, and what was executed only once is
executed once more in the end.  That notices the clock of the machine, the module ``random`` and what nodes share;
not what is fixed for a process, as the order of a set of strings is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from clew.errors import Position, UsageError
from clew.exploration.event import Event
from clew.simulation.events import CodeBlock, Restart, Start
from clew.simulation.node import Node
from clew.simulation.pool import Envelope
from clew.simulation.values import NoValueError, canonical
from clew.simulation.world import Happened, World


class NotRepeatableError(UsageError):
    """The same schedule led to something else."""

    def __init__(self, what: str, places: Sequence[tuple[Position, str]] = ()) -> None:
        remedy = "nodes must not share anything, nor depend on anything but their state and their context"
        lines = [what, *(f"perhaps because of {place}: {reason}" for place, reason in places)]
        super().__init__("\n  ".join(lines), remedy=remedy)
        self.what = what


class Effect(NamedTuple):
    """What an event did, in hashes of text: to each attribute of the nodes, by what it sent and what it raised."""

    state: tuple[tuple[str, str, int], ...]
    sent: int
    raised: str | None


def effect_of(happened: Happened, world: World) -> Effect | None:
    """Return what an event did, None for one that executes no code of the user."""
    what = happened.what
    if isinstance(what, CodeBlock):
        names = list(world.nodes)
    elif isinstance(what, Start | Restart) or (isinstance(what, Envelope) and happened.fate == "deliver"):
        names = [happened.node]
    else:
        return None
    return _effect(world, names, happened.sent)


def effect_of_beginning(world: World) -> Effect:
    """Return what the nodes did that are up from the beginning."""
    return _effect(world, list(world.nodes), list(world.pool))


def _effect(world: World, names: list[str], sent: Sequence[Envelope]) -> Effect:
    state = tuple(part for name in names if name in world.nodes for part in _state(name, world.nodes[name]))
    messages = hash(tuple((e.target, e.timer, canonical(e.payload)) for e in sent))
    failure = world.failure
    return Effect(state, messages, f"{failure.error} (in {failure.place})" if failure else None)


def _state(name: str, node: Node) -> Iterator[tuple[str, str, int]]:
    for attribute, value in sorted(vars(node).items()):
        try:
            yield name, attribute, hash(canonical(value))
        except NoValueError:
            continue  # there are no words for it, and so nothing to compare


class Repetition:
    """The effects that are known, by the number of a history."""

    def __init__(self) -> None:
        self._effects: dict[int, Effect] = {}
        self._once: dict[int, tuple[Sequence[Event], int]] = {}

    def happened_once(self, history: int) -> bool:
        """Whether the event after which this is the history was executed once, and not again so far."""
        return history in self._once

    def compare(
        self, history: int, effect: Effect, what: object, execution: Sequence[Event] = (), place: int = 0
    ) -> None:
        """Hold what an event did against what it did before; it is at this place of an execution."""
        known = self._effects.get(history)
        if known is None:
            self._effects[history] = effect
            self._once[history] = (execution, place)
        elif known != effect:
            raise NotRepeatableError(f"executed again, {what} {_difference(known, effect)}")
        else:
            self._once.pop(history, None)

    def executed_once(self) -> Iterator[Sequence[Event]]:
        """Yield executions that end with an event that was executed only once; each is to be executed again."""
        while self._once:
            history, (execution, place) = next(reversed(self._once.items()))  # the longest contain the others
            yield execution[: place + 1]
            self._once.pop(history, None)


def _difference(known: Effect, now: Effect) -> str:
    differing = sorted({(name, attribute) for name, attribute, _ in {*known.state} ^ {*now.state}})
    if differing:
        return f"leaves another state ({', '.join(f'{attribute} of {name}' for name, attribute in differing)})"
    return "sends something else" if known.sent != now.sent else "raises something else"
