"""Smaller contents for messages from outside (observation 5 of the paper).

A message that has a method ``smaller`` says itself what it can be shrunk to; otherwise the lists, tuples, sets and
dicts in it lose items, wherever they are: in fields of dataclasses, frozen or not, in items, in keys and values.
Messages that are equal are shrunk together, because they say the same to several
nodes: a cluster whose members disagree about who is in it would break for that reason alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import fields, is_dataclass, replace
from itertools import combinations, islice
from typing import Any, Protocol, TypeVar

from clew.errors import UsageError
from clew.simulation.events import Send
from clew.simulation.user_code import STANDING_IN, ask
from clew.simulation.values import NoValueError, canonical, isolate, to_json
from clew.simulation.world import External

#: So many ways to shrink a message are tried; one that gives them without end is cut off.
_MOST_WAYS = 1000
#: Of as many items, all pairs are tried.
_MOST_FOR_PAIRS = 12


T = TypeVar("T", bound="HasExternals")


class HasExternals(Protocol):
    """What is minimized, as far as messages from outside go."""

    @property
    def externals(self) -> tuple[External, ...]: ...

    def with_externals(self: T, externals: tuple[External, ...]) -> T: ...


def smaller_targets(target: T, schedule: Iterable[object]) -> Iterator[T]:
    """Yield the target with one message that the schedule uses made smaller, wherever it is sent.

    A schedule refers to events from outside by their numbers; what else is in it does not matter here.
    """
    for message in _messages(target, schedule):
        for simpler in shrink_message(message):
            yield _replace_message(target, message, simpler)


def contents(target: HasExternals, schedule: Iterable[object]) -> tuple[int, str]:
    """Return all that the messages from outside say, to be compared: shorter is simpler, and that ends."""
    text = canonical(_messages(target, schedule))
    return len(text), text


def shrink_message(message: Any) -> Iterator[Any]:
    """Yield what a message can be shrunk to in one step."""
    own = getattr(message, "smaller", None)
    if callable(own):
        yield from _ask_smaller(f"the method smaller of a {type(message).__qualname__}", own)
    elif isinstance(message, list | tuple):
        yield from map(type(message), _with_less(message))
    elif isinstance(message, set | frozenset):
        yield from map(type(message), _with_less(sorted(message, key=canonical)))
    elif isinstance(message, dict):
        yield from _smaller_dicts(message)
    elif is_dataclass(message) and not isinstance(message, type):
        yield from _with_smaller_fields(message)


def _cuts(count: int) -> Iterator[set[int]]:
    """Yield the places of items that may go: runs of them, the long ones first, then pairs, then single ones.

    Pairs, because a majority of nine is no smaller when one is gone.
    """
    size = count // 2
    while size > 2:
        yield from (set(range(start, min(start + size, count))) for start in range(0, count, size))
        size //= 2
    if 2 < count <= _MOST_FOR_PAIRS:
        yield from (set(pair) for pair in combinations(range(count), 2))
    yield from ({k} for k in range(count))


def _with_less(items: Sequence[Any]) -> Iterator[list[Any]]:
    """Yield fewer items, then as many with one of them smaller."""
    yield from ([item for k, item in enumerate(items) if k not in out] for out in _cuts(len(items)))
    yield from _inside(list(items))


def _smaller_dicts(message: dict[Any, Any]) -> Iterator[dict[Any, Any]]:
    keys = sorted(message, key=canonical)
    for out in _cuts(len(keys)):
        gone = {keys[k] for k in out}
        yield {k: v for k, v in message.items() if k not in gone}
    for key in keys:
        yield from ({**message, key: simpler} for simpler in shrink_message(message[key]))
    for key in keys:
        for simpler in shrink_message(key):
            # In the same place, so that the order of the others stays; an equal key would be lost.
            if simpler not in message:
                yield {simpler if k == key else k: v for k, v in message.items()}


def _inside(items: list[Any]) -> Iterator[list[Any]]:
    """Yield as many items, but one of them smaller."""
    for k, item in enumerate(items):
        yield from ([*items[:k], simpler, *items[k + 1 :]] for simpler in shrink_message(item))


def _with_smaller_fields(message: Any) -> Iterator[Any]:
    for field in fields(message):
        for simpler in shrink_message(getattr(message, field.name)):
            try:
                made = replace(message, **{field.name: simpler})
            # A dataclass may check its fields in ``__post_init__``.
            except Exception:  # the class says that there is no such message
                continue
            yield made


def _ask_smaller(what: str, function: Callable[[], Any]) -> Iterator[Any]:
    """Yield what the user's function gives, after looking whether it can be sent."""

    def list_smaller() -> Iterable[Any]:
        return list(islice(function() or (), _MOST_WAYS))

    STANDING_IN.add(list_smaller.__code__)  # that the user's function gives no list shows here

    for simpler in ask(what, list_smaller, remedy="it must give messages, the simplest first, or none"):
        try:
            to_json(simpler)
            yield isolate(simpler)
        except NoValueError as error:
            raise UsageError(f"{what} gave no message: {error.message}", remedy=error.remedy) from None


def _messages(target: HasExternals, schedule: Iterable[object]) -> list[Any]:
    """Return the different messages from outside that the schedule uses, in their order."""
    found: dict[str, Any] = {}
    for item in schedule:
        event = target.externals[item] if isinstance(item, int) else None
        if isinstance(event, Send):
            found.setdefault(canonical(event.message), event.message)
    return list(found.values())


def _replace_message(target: T, message: Any, simpler: Any) -> T:
    # Wherever an equal one is sent: see above.
    old = canonical(message)
    externals = tuple(
        Send(event.node, simpler) if isinstance(event, Send) and canonical(event.message) == old else event
        for event in target.externals
    )
    return target.with_externals(externals)
