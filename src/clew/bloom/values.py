"""What a column may hold: immutable values, so that rows can be compared, stored and sent.

A value is the same in memory, in a message, in SQLite and in the checker; so what does not survive one of these
ways is refused when it enters a collection, and not when it is sent.
"""

from __future__ import annotations

import enum
from collections.abc import Container, Iterable
from contextlib import suppress
from types import FunctionType
from typing import Any

Row = tuple[Any, ...]

#: Beyond this a number is no longer the same number in msgpack and SQLite.
LARGEST_INTEGER = 2**63 - 1
#: Deeper nesting is refused: freezing, packing and sorting recurse, and a message must not exhaust the stack.
DEEPEST = 50
#: Types whose instances hold no references: nothing behind them can change.
_PLAIN = (type(None), bool, int, float, str, bytes)
#: Types that are taken as they are; an instance of anything else may be a subclass, such as an IntEnum.
_EXACT_TYPES = frozenset([type(None), bool, int, float, str, bytes, tuple, list, set, frozenset])


class BadValueError(ValueError):
    """A value that a column cannot hold; the message says which and why."""


def freeze(value: Any, depth: int = 0) -> Any:
    """Return the value as columns hold it: lists become tuples, sets frozen sets; refuse what is mutable."""
    if type(value) not in _EXACT_TYPES:
        value = _as_base_type(value)
    match value:
        case None | bool() | str() | bytes():  # bool before int, which it is a subclass of
            return value
        case int():
            if not -LARGEST_INTEGER - 1 <= value <= LARGEST_INTEGER:
                raise BadValueError(f"the number {value} needs more than 64 bits")
            return value
        case float():
            if value != value:
                raise BadValueError("nan is not equal to itself and cannot be kept in a collection")
            return value
    if depth > DEEPEST:
        raise BadValueError(f"a value is nested more than {DEEPEST} deep")
    if isinstance(value, tuple | list):
        return tuple([freeze(item, depth + 1) for item in value])
    if isinstance(value, set | frozenset):
        return frozenset(freeze(item, depth + 1) for item in value)
    if getattr(type(value), "is_lattice_value", False):
        return value
    hint = " (use tuple(sorted(d.items())))" if isinstance(value, dict) else ""
    raise BadValueError(
        f"{type(value).__name__} is not a value for a column{hint}: it can change or cannot be sent"
    )


def _as_base_type(value: Any) -> Any:
    """Reduce a member of an IntEnum and its like to the number or text that would arrive at another node."""
    bases: tuple[Any, ...] = (int, float, str, bytes)
    for base in bases:
        if isinstance(value, base):
            return base.__getnewargs__(value)[0]  # int(value) would call an overridden __int__
    return value


def is_immutable(value: Any) -> bool:
    """Tell whether it is a value as columns hold it, and not only something that can be made one.

    One of a class of its own is none: what its attributes and ``+`` give, that class says, at every call anew.
    """
    if isinstance(value, tuple | frozenset):
        plain = type(value) in (tuple, frozenset) or _only_names_columns(type(value))
        return plain and all(is_immutable(item) for item in value)
    plain = type(value) in _PLAIN or (isinstance(value, enum.Enum) and isinstance(value, _PLAIN))
    return plain or bool(getattr(type(value), "is_lattice_value", False))


def _only_names_columns(kind: type) -> bool:
    """Tell whether it is a named tuple to which nothing was added."""
    if kind.__bases__ != (tuple,) or "_fields" not in vars(kind):
        return False
    return not any(
        isinstance(member, property)
        or (isinstance(member, FunctionType) and not _is_of_named_tuples(member.__globals__.get("__name__")))
        for member in vars(kind).values()
    )


def _is_of_named_tuples(module: object) -> bool:
    return module == "collections" or str(module).startswith("namedtuple_")


def freeze_row(row: Iterable[Any]) -> Row:
    """Return a row as collections hold it; refuse what is neither a tuple nor a list."""
    if not isinstance(row, tuple | list):
        raise BadValueError(f"a row is a tuple, not {type(row).__name__}")
    return tuple([freeze(value) for value in row])


#: bool, int and float share a rank: they compare with each other, and 1, True and 1.0 are one key of a dictionary.
_RANKS = {"NoneType": 0, "bool": 1, "int": 1, "float": 1, "str": 2, "bytes": 3, "tuple": 4, "frozenset": 5}


def sort_key(value: Any) -> tuple[Any, ...]:
    """Return a key that orders all values, whatever their types, so that results do not depend on hashes."""
    rank = _RANKS.get(type(value).__name__, 6)
    if isinstance(value, tuple):
        return rank, tuple(sort_key(item) for item in value)
    if isinstance(value, frozenset):
        return rank, tuple(sorted(sort_key(item) for item in value))
    if value is None:
        return (rank, 0)
    return (rank, value if rank < 6 else repr(value))


def sort_rows(rows: Iterable[Row]) -> list[Row]:
    """Return rows in their canonical order."""
    given = list(rows)
    # Sets compare without an error, but by inclusion, which is no total order: the input's order would show.
    if not any(_has_set(row) for row in given):
        with suppress(TypeError):
            return sorted(given)  # mostly columns have one type, and then this is the same order, and fast
    # Mostly something before the first set decides, and large sets need not be put in order.
    before = min((_columns_before_set(row) for row in given), default=0)
    ranked = [(tuple([sort_key(value) for value in row[:before]]), row) for row in given]
    if len({key for key, _ in ranked}) == len(ranked):
        return [row for _, row in sorted(ranked, key=lambda pair: pair[0])]
    return sorted(given, key=sort_key)


def sort_values(values: Iterable[Any]) -> list[Any]:
    """Return values in their canonical order."""
    return [row[0] for row in sort_rows((value,) for value in values)]


class _Probe:
    """Is equal to a value, and ``found`` is what it was compared with: a dictionary does not tell its own keys."""

    __slots__ = ("found", "value")

    def __init__(self, value: Any) -> None:
        self.value = self.found = value

    def __hash__(self) -> int:
        return hash(self.value)

    def __eq__(self, other: object) -> bool:
        if other != self.value:
            return False
        self.found = other
        return True


def find_spelling(known: Container[Any], value: Any) -> Any:
    """Return the one among the keys of a map that is equal, as 1 is to 1.0; the value itself, if there is none."""
    probe = _Probe(value)
    return probe.found if probe in known else value


def spell(value: Any) -> str:
    """Write a value as Python does, but sets in canonical order: ``repr`` has them in that of their hashes."""
    if isinstance(value, tuple):
        return f"({', '.join(map(spell, value))}{',' if len(value) == 1 else ''})"
    if isinstance(value, frozenset):
        return f"frozenset({{{', '.join(map(spell, sorted(value, key=sort_key)))}}})" if value else "frozenset()"
    return repr(value)


def _columns_before_set(row: Row) -> int:
    return next((k for k, value in enumerate(row) if _has_set((value,))), len(row))


def _has_set(value: Row) -> bool:
    for item in value:
        kind = type(item)
        if kind is frozenset or (kind is tuple and _has_set(item)):
            return True
    return False
