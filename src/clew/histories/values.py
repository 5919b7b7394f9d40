"""Values in histories: hashable, told apart as the file tells them apart, and shown as a reader would write them.

Python takes ``True`` for 1.  A history in which a client wrote 1 and read ``true`` must not pass for it, so the
booleans of files are values of their own here; they work in ``if`` and compare equal to Python's.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Any

Value = Hashable

#: Values are nested no deeper than this.
DEEPEST = 100


class Boolean:
    """``true`` or ``false`` of a file: equal to Python's ``True`` or ``False``, and to no number."""

    # Two of them stand for all that a file has, and files have many.
    __slots__ = ("_is_true",)

    def __init__(self, is_true: bool) -> None:
        self._is_true = is_true

    def __bool__(self) -> bool:
        return self._is_true

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Boolean | bool):
            return bool(other) is self._is_true
        return NotImplemented

    def __hash__(self) -> int:
        return hash(self._is_true)

    def __repr__(self) -> str:
        return "true" if self._is_true else "false"


TRUE, FALSE = Boolean(True), Boolean(False)


@dataclass(frozen=True, repr=False)
class Symbol:
    """A keyword, symbol or character of EDN, as it is written there: ``:read`` is not the string "read"."""

    text: str

    def __repr__(self) -> str:
        return self.text


@dataclass(frozen=True, repr=False)
class Pairs:
    """A map as a value: its pairs, in an order that does not depend on that of the file."""

    items: tuple[tuple[Value, Value], ...]

    def __repr__(self) -> str:
        return "{" + ", ".join(f"{show_value(k)}: {show_value(v)}" for k, v in self.items) + "}"


@dataclass(frozen=True, repr=False)
class Tagged:
    """A value of EDN with a tag that nothing here knows, such as ``#inst "2024-01-01"``."""

    tag: str
    value: Value

    def __repr__(self) -> str:
        return f"#{self.tag} {show_value(self.value)}"


def pairs_of(mapping: Mapping[Any, Any], freeze_item: Callable[[Any], Value]) -> Pairs:
    """Return a map as a value; ``freeze_item`` makes values of what is in it."""
    # Two maps with the same pairs are one value, whatever the order of the file: so there is one order, by what
    # keys look like, since keys of several types cannot be compared.
    frozen = [(freeze_item(key), freeze_item(value)) for key, value in mapping.items()]
    return Pairs(tuple(sorted(frozen, key=lambda pair: (type(pair[0]).__name__, show_value(pair[0])))))


def freeze(value: Any, depth: int = 0) -> Value:
    """Return a value of a client as a hashable one: lists become tuples, sets frozen sets, dicts pairs."""
    if depth > DEEPEST:
        raise ValueError("nested too deeply")
    if isinstance(value, list) or type(value) is tuple:
        return tuple(freeze(item, depth + 1) for item in value)
    if isinstance(value, set | frozenset):
        return frozenset(freeze(item, depth + 1) for item in value)
    if isinstance(value, dict):
        return pairs_of(value, lambda item: freeze(item, depth + 1))
    # Whatever else a client says is taken as it is: numbers, strings, enums, and frozen classes of the user, which
    # compare as they like.
    hash(value)  # raises a TypeError for what cannot be a value
    made: Value = value
    return made


def freeze_json(value: Any, depth: int = 0) -> Value:
    """Return a value of a JSON document as a hashable one, with booleans that are no numbers."""
    if depth > DEEPEST:
        raise ValueError("nested too deeply")
    match value:
        case bool():
            return TRUE if value else FALSE
        case list():
            return tuple(freeze_json(item, depth + 1) for item in value)
        case dict():
            return pairs_of(value, lambda item: freeze_json(item, depth + 1))
        case _:
            made: Value = value
            return made


def show_value(value: object) -> str:
    """Return a value in words: sets in order, strings quoted only where they could be mistaken."""
    match value:
        case None:
            return "nil"
        case bool():
            return "true" if value else "false"
        case str():
            return value if value.isidentifier() and value not in ("nil", "true", "false") else f'"{value}"'
        # They show themselves; everything else is shown here, so that no value looks like another.
        case Symbol() | Pairs() | Tagged():
            return repr(value)
        case tuple():
            return f"[{', '.join(map(show_value, value))}]"
        case frozenset():
            return "{" + ", ".join(sorted(map(show_value, value), key=_by_length)) + "}"
        case _:
            return repr(value)


def _by_length(text: str) -> tuple[int, str]:
    """Order numbers by their size, and everything else the same way every time."""
    return len(text), text
