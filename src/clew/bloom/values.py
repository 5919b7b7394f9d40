"""What a column may hold: values that cannot change, so that rows can be compared, stored and sent."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from contextlib import suppress
from types import FunctionType
from typing import Any

Row = tuple[Any, ...]

#: Beyond this a number is no longer the same number in msgpack and SQLite.
LARGEST_INTEGER = 2**63 - 1
DEEPEST = 50
_PLAIN = (type(None), bool, int, float, str, bytes)
_AS_THEY_ARE = frozenset([type(None), bool, int, float, str, bytes, tuple, list, set, frozenset])


class BadValueError(ValueError):
    """What a column cannot hold; the message says what and why."""


def frozen(value: Any, depth: int = 0) -> Any:
    """The value as it is kept: lists become tuples, sets become frozen; what can change is refused."""
    if type(value) not in _AS_THEY_ARE:
        value = _plain(value)
    match value:
        case None | bool() | str() | bytes():
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
        return tuple([frozen(item, depth + 1) for item in value])
    if isinstance(value, set | frozenset):
        return frozenset(frozen(item, depth + 1) for item in value)
    if getattr(type(value), "is_lattice_value", False):
        return value
    hint = " (use tuple(sorted(d.items())))" if isinstance(value, dict) else ""
    raise BadValueError(f"{type(value).__name__} is no value for a column{hint}: it can change or cannot be sent")


def _plain(value: Any) -> Any:
    """A member of an IntEnum and its like is kept as the number or text that it is, and would arrive as."""
    bases: tuple[Any, ...] = (int, float, str, bytes)
    for base in bases:
        if isinstance(value, base):
            return base.__getnewargs__(value)[0]
    return value


def cannot_change(value: Any) -> bool:
    """Whether it is a value as columns hold it, and not only something that can be made one.

    One of a class of its own is none: what its attributes and ``+`` give, that class says, at every call anew.
    """
    if isinstance(value, tuple | frozenset):
        plain = type(value) in (tuple, frozenset) or _only_names_columns(type(value))
        return plain and all(cannot_change(item) for item in value)
    plain = type(value) in _PLAIN or (isinstance(value, enum.Enum) and isinstance(value, _PLAIN))
    return plain or bool(getattr(type(value), "is_lattice_value", False))


def _only_names_columns(kind: type) -> bool:
    """Whether it is a named tuple to which nothing was added."""
    if kind.__bases__ != (tuple,) or "_fields" not in vars(kind):
        return False
    return not any(
        isinstance(member, property)
        or (isinstance(member, FunctionType) and not _is_of_named_tuples(member.__globals__.get("__name__")))
        for member in vars(kind).values()
    )


def _is_of_named_tuples(module: object) -> bool:
    return module == "collections" or str(module).startswith("namedtuple_")


def frozen_row(row: Iterable[Any]) -> Row:
    if not isinstance(row, tuple | list):
        raise BadValueError(f"a row is a tuple, not {type(row).__name__}")
    return tuple([frozen(value) for value in row])


_RANKS = {"NoneType": 0, "bool": 1, "int": 1, "float": 1, "str": 2, "bytes": 3, "tuple": 4, "frozenset": 5}


def sort_key(value: Any) -> tuple[Any, ...]:
    """An order over all values, whatever their types: results do not depend on hashes."""
    rank = _RANKS.get(type(value).__name__, 6)
    if isinstance(value, tuple):
        return rank, tuple(sort_key(item) for item in value)
    if isinstance(value, frozenset):
        return rank, tuple(sorted(sort_key(item) for item in value))
    if value is None:
        return (rank, 0)
    return (rank, value if rank < 6 else repr(value))


def in_order(rows: Iterable[Row]) -> list[Row]:
    given = list(rows)
    if not any(_has_set(row) for row in given):  # sets can be compared, but not ordered
        with suppress(TypeError):
            return sorted(given)  # mostly columns have one type, and then this is the same order, and fast
    return sorted(given, key=sort_key)


def _has_set(value: Row) -> bool:
    for item in value:
        kind = type(item)
        if kind is frozenset or (kind is tuple and _has_set(item)):
            return True
    return False
