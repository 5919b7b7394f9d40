"""Exact texts of values: where they are equal, handlers could not tell the values apart.

A recording may sketch what is no value, since nobody continues from it.  Here two states of one text are taken for
one, and the second is not explored: whatever a handler could see has to be in the text.  So it has the types, the
order of dicts, and which of two equal lists are one list.  What cannot be written so is refused; whoever asks must
then tell states apart by their histories.

Not in the text is the order of a set, unless it has nothing but whole numbers: that of strings is another in each
process, and handlers must not depend on it anyway.
"""

from __future__ import annotations

import enum
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable
from typing import Any

from clew.simulation.process import Process
from clew.simulation.values import NoValueError

#: Python has one word for each of these values, and no attribute of them can be set.
_ATOMS = frozenset({str, bool, float, bytes, complex, type(None), type(Ellipsis)})
#: Classes whose own account of themselves is complete.
_KNOWN = frozenset({deque, OrderedDict, defaultdict, Counter})
#: Far below where Python gives up.
_DEEPEST = 150


def encode(value: Any, context: Process | None = None) -> str:
    """Return the text of a value; ``context`` is that of the node it belongs to, which a node may keep."""
    parts: list[str] = []
    _Writer(parts.append, {}, context).write(value, 0)
    return "".join(parts)


class _Writer:
    """``seen``: the objects that can change, by their identity, with their numbers; None inside of sets."""

    def __init__(
        self, put: Callable[[str], None], seen: dict[int, tuple[int, Any]] | None, context: Process | None
    ) -> None:
        self._put = put
        self._seen = seen
        self._context = context

    def write(self, value: Any, depth: int) -> None:
        kind = type(value)
        if kind is int:
            self._put(hex(value))  # Python refuses to write decimals of more than some thousand digits
        elif kind in _ATOMS:
            self._put(repr(value))
        elif depth > _DEEPEST:
            raise NoValueError("the value is nested too deeply", remedy="make it flatter")
        elif kind is tuple:
            self._write_all("(", value, depth)
        elif kind is frozenset:
            self._write_set("f", value)
        elif isinstance(value, enum.Enum):
            self._put(f"E{_name_of(kind)}.{value.name};")
        elif isinstance(value, type):
            self._put(f"T{_name_of(value)};")
        elif self._context is not None and value is self._context:
            self._put("ctx;")  # what it has to say is in the situation: storage, clock and random numbers
        elif not (_can_change(kind) and self._refer(value)):
            self._write_object(value, kind, depth)

    def _refer(self, value: Any) -> bool:
        """Write which object it is, if it was written already."""
        if self._seen is None:
            raise NoValueError("a set contains what can change", remedy="put plain values into sets")
        known = self._seen.get(id(value))
        if known is None:
            # With the object itself: were it gone, another one could get its identity.
            self._seen[id(value)] = len(self._seen), value
            return False
        self._put(f"^{known[0]};")
        return True

    def _write_object(self, value: Any, kind: type, depth: int) -> None:
        if kind is list:
            self._write_all("[", value, depth)
        elif kind is dict:
            self._write_all("{", (part for pair in value.items() for part in pair), depth)
        elif kind is set:
            self._write_set("s", value)
        elif kind is bytearray:
            self._put(repr(value))
        else:
            self._write_account(value, kind, depth)

    def _write_all(self, opening: str, items: Iterable[Any], depth: int) -> None:
        self._put(opening)
        for item in items:
            self.write(item, depth + 1)
            self._put(",")
        self._put(")")

    def _write_set(self, mark: str, items: Iterable[Any]) -> None:
        if all(type(item) is int for item in items):
            # The same in every process, though not for all ways to fill it: the order is a part of the state.
            self._write_all(f"{mark}#", items, 0)
            return
        texts = []
        for item in items:
            parts: list[str] = []
            _Writer(parts.append, None, None).write(item, 0)
            texts.append("".join(parts))
        self._put(f"{mark}{len(texts)}:{','.join(sorted(texts))};")

    def _write_account(self, value: Any, kind: type, depth: int) -> None:
        """Write an object by what copying it would go by: its class, attributes and items."""
        # A class that says itself how to copy it may leave something out: a cache, a connection, a lock.
        if kind not in _KNOWN and not _is_plain(kind):
            raise _refused(kind)
        try:
            _, arguments, *rest = value.__reduce_ex__(4)
        except TypeError:  # it is a part of the machine: a lock, a file, a generator
            raise _refused(kind) from None
        self._put(f"O{_name_of(kind)};")
        state, *items = (*rest, None, None, None)[:3]
        self._write_all("", arguments, depth)
        for part in state if isinstance(state, tuple) else (state,):
            # In the order of their names: nobody sees in which order attributes were set.
            sorted_part = sorted(part.items()) if type(part) is dict else part
            self.write(sorted_part if sorted_part is None else tuple(sorted_part), depth + 1)
        for each in items:
            self._write_all("i", each if each is not None else (), depth)


def _can_change(kind: type) -> bool:
    # Whether two places hold the same object matters only where it can be changed at one of them.
    if issubclass(kind, tuple) and not kind.__dictoffset__:  # a NamedTuple
        return False
    params = getattr(kind, "__dataclass_params__", None)
    return params is None or not params.frozen


def _is_plain(kind: Any) -> bool:
    """Tell whether objects of a class are their attributes and items: it does not say itself how to copy them."""
    return bool(
        kind.__reduce_ex__ is object.__reduce_ex__
        and kind.__reduce__ is object.__reduce__
        and kind.__getstate__ is object.__getstate__
    )


def _refused(kind: type) -> NoValueError:
    return NoValueError(f"a {kind.__qualname__} cannot be written exactly", remedy="use plain values")


def _name_of(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"
