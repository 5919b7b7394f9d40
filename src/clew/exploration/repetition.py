"""Nodes that do not do the same twice, which no exploration can certify.

An event after the same local history must have the same effects: leave the node, its storage and its timers in the
same state, send the same, raise the same; a code block must do the same to all nodes and to the network.  Whatever
is executed again is held against the first time, and what was executed only once is executed once more in the end.
That notices the clock of the machine and what nodes share; not what is fixed for a process, as the order of a set
of strings is.

A coin falls on the same side twice in every second case, so twice is not enough where little is executed at all: a
sample is executed several times more.  Who draws from the module ``random`` changes its state, which is noticed
always (``coverage``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from clew.errors import Position, UsageError
from clew.exploration.event import Event
from clew.simulation.events import Restart, Start
from clew.simulation.node import Node
from clew.simulation.pool import Envelope
from clew.simulation.values import NoValueError, canonical
from clew.simulation.world import CodeBlock, Happened, World


class NotRepeatableError(UsageError):
    """The same schedule led to something else."""

    def __init__(self, what: str, places: Sequence[tuple[Position, str]] = ()) -> None:
        remedy = "nodes must not share anything, nor depend on anything but their state and their context"
        lines = [what, *(f"perhaps because of {place}: {reason}" for place, reason in places)]
        super().__init__("\n  ".join(lines), remedy=remedy)
        self.what = what


#: How many events are executed again and again in the end, and how often at most.
#: A coin falls on the same side fifteen times in one of 16,384 cases.
_SAMPLE, _ROUNDS = 64, 14


class Effect(NamedTuple):
    """What an event did, in hashes of text: to each attribute of the nodes, by what it sent and what it raised.

    ``stored`` and ``timers`` are those of the nodes that it concerns.  ``network``: after a code block, who is up,
    what is under way and which links are blocked.
    """

    state: tuple[tuple[str, str, int], ...]
    sent: int
    raised: str | None
    stored: tuple[tuple[str, int], ...]
    timers: int
    network: int | None


def effect_of(happened: Happened, world: World) -> Effect | None:
    """Return what an event did, None for one that executes no code of the user."""
    what = happened.what
    if isinstance(what, CodeBlock):
        return _effect(world, list(world.nodes), happened.sent, _hash_network(world))
    if isinstance(what, Start | Restart) or (isinstance(what, Envelope) and happened.fate == "deliver"):
        return _effect(world, [happened.node], happened.sent)
    return None


def effect_of_beginning(world: World) -> Effect:
    """Return what the nodes did that are up from the beginning."""
    return _effect(world, list(world.nodes), list(world.pool))


def _effect(world: World, names: list[str], sent: Sequence[Envelope], network: int | None = None) -> Effect:
    state = tuple(part for name in names if name in world.nodes for part in _hash_state(name, world.nodes[name]))
    # In hashes, for an exploration keeps one for each history; Python's own, since they never leave the process.
    messages = hash(tuple((e.target, e.timer, canonical(e.payload)) for e in sent))
    failure = world.failure
    return Effect(
        state,
        messages,
        f"{failure.error} (in {failure.place})" if failure else None,
        # What a code block stored may be that of a node that is down.
        tuple(_hash_storage(world, names if network is None else world.known_names)),
        hash(tuple(sorted((e.target, e.nth, str(e.payload)) for e in world.pool.timers if e.target in names))),
        network,
    )


def _hash_storage(world: World, names: Iterable[str]) -> Iterator[tuple[str, int]]:
    for name in names:
        storage = world.storage_of(name)
        if storage:
            try:
                yield name, hash(canonical(dict(storage)))
            except NoValueError:
                continue


def _hash_network(world: World) -> int:
    under_way = sorted((e.source, e.nth, e.target, canonical(e.payload)) for e in world.pool if not e.timer)
    return hash((tuple(sorted(world.nodes)), tuple(world.pool.held), tuple(under_way)))


def _hash_state(name: str, node: Node) -> Iterator[tuple[str, str, int]]:
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
        self._sample: list[tuple[Sequence[Event], int]] = []
        self._compares_all = False

    def is_wanted(self, history: int) -> bool:
        """Tell whether to compare what the event does after which this is the history."""
        return self._compares_all or history in self._once

    def compare(
        self, history: int, effect: Effect, what: object, execution: Sequence[Event] = (), place: int = 0
    ) -> None:
        """Hold what an event did against what it did before; it is at this place of an execution."""
        known = self._effects.get(history)
        if known is None:
            self._effects[history] = effect
            self._once[history] = (execution, place)
            # The first ones: they are short, and so quick to execute again.
            if len(self._sample) < _SAMPLE:
                self._sample.append((execution, place))
        elif known != effect:
            raise NotRepeatableError(f"executed again, {what} {_difference(known, effect)}")
        else:
            self._once.pop(history, None)

    def yield_executed_once(self) -> Iterator[Sequence[Event]]:
        """Yield executions that end with an event that was executed only once; each is to be executed again."""
        while self._once:
            # Executing it takes away from what is left, also all that comes before it.
            history, (execution, place) = next(reversed(self._once.items()))  # the longest contain the others
            yield execution[: place + 1]
            self._once.pop(history, None)

    def sample(self) -> Iterator[Sequence[Event]]:
        """Yield the first executions that were made, again and again: all that they do is compared."""
        self._compares_all = True
        for _ in range(_ROUNDS):
            for execution, place in self._sample:
                yield execution[: place + 1]


def _difference(known: Effect, now: Effect) -> str:
    differing = sorted({(name, attribute) for name, attribute, _ in {*known.state} ^ {*now.state}})
    if differing:
        return f"leaves another state ({', '.join(f'{attribute} of {name}' for name, attribute in differing)})"
    parts = (
        ("sends something else", known.sent, now.sent),
        ("raises something else", known.raised, now.raised),
        ("stores something else", known.stored, now.stored),
        ("leaves other timers", known.timers, now.timers),
        ("does something else to the network", known.network, now.network),
    )
    return next(words for words, then, later in parts if then != later)
