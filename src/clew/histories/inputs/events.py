"""What is said of one event, in JSON or in EDN, becomes an ``Event``; or a defect with its line.

Both say the same with the same words, which are Jepsen's: ``process``, ``type`` (``invoke``, ``ok``, ``fail``,
``info``), ``f``, ``value``, and perhaps ``time``, ``key``.  What Jepsen's nemesis does is no operation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from clew.errors import Position, UsageError
from clew.histories.pairing import Event, Kind
from clew.histories.values import Symbol, Value, show_value

#: ``info`` is Jepsen's word for what nobody knows; ``unknown`` says it.
KINDS = {
    **{word: Kind(word) for word in ("invoke", "ok", "fail", "unknown")},
    "info": Kind.UNKNOWN,
    "crash": Kind.UNKNOWN,
    "timeout": Kind.UNKNOWN,
}
_REMEDY = "docs/histories.md describes the lines of a history"
#: These are in histories of Jepsen, and say nothing here.
_NEMESIS = ("nemesis", ":nemesis")


@dataclass(frozen=True)
class Source:
    """Where events are from: the file, and whether their values are pairs of a key and a value."""

    file: str
    keyed: bool = False

    def refuse(self, line: int, message: str, remedy: str = _REMEDY) -> NoReturn:
        """Raise for a line."""
        raise UsageError(message, position=Position(self.file, line, 1), remedy=remedy)


def make_event(fields: Mapping[str, Any], line: int, source: Source) -> Event | None:
    """Return the event that these fields describe; None for what is no operation of a client."""
    process = required_field(fields, "process", line, source)
    # It invokes and answers with ``info`` in both cases, which no client does.
    if show_value(process) in _NEMESIS:
        return None
    kind = _kind(fields, line, source)
    function = word_of(required_field(fields, "f", line, source))
    if function is None:
        source.refuse(line, f"expected the name of a function as 'f', found {show_value(fields['f'])}")
    # A call without an argument, such as a read, often has no value at all.
    value, key = fields.get("value"), fields.get("key")
    if source.keyed:
        key, value = split_pair(value, line, source)
    return Event(process, kind, function, value, key, time_of(fields.get("time"), "time", line, source), line)


def split_pair(value: Value, line: int, source: Source) -> tuple[Value, Value]:
    """Return the key and the value of a pair, as ``jepsen.independent`` writes them."""
    if not isinstance(value, tuple) or len(value) != 2:
        source.refuse(
            line,
            f"expected a pair of a key and a value, found {show_value(value)}",
            "leave out --keyed where values are no pairs",
        )
    return value[0], value[1]


def word_of(value: object) -> str | None:
    """Return the word that a string or a keyword says; None for what is neither."""
    match value:
        case str():
            return value.removeprefix(":")
        case Symbol(text):
            return text.removeprefix(":")
        case _:
            return None


def time_of(value: object, name: str, line: int, source: Source) -> float | None:
    """Return a time, which is a number where it is given."""
    if value is not None and not isinstance(value, int | float):
        source.refuse(line, f"expected a number as {name!r}, found {show_value(value)}")
    return value


def outcome_of(value: object, known: Mapping[str, Any], line: int, source: Source) -> Any:
    """Return what the word of a ``type`` stands for."""
    word = word_of(value)
    if word is None or word not in known:
        source.refuse(line, f"expected one of {', '.join(known)} as 'type', found {show_value(value)}")
    return known[word]


def required_field(fields: Mapping[str, Any], name: str, line: int, source: Source) -> Any:
    """Return a field that must be there."""
    if name not in fields:
        source.refuse(line, f"the field {name!r} is missing")
    return fields[name]


def _kind(fields: Mapping[str, Any], line: int, source: Source) -> Kind:
    kind = outcome_of(required_field(fields, "type", line, source), KINDS, line, source)
    assert isinstance(kind, Kind)
    return kind
