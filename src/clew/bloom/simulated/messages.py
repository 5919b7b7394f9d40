"""What simulated nodes send each other: rows of channels, as messages that recordings and faults can name.

Each collection has a message type of its own, which is called like it.  So ``--lose a,b,data_chan,1`` is the first
row of the channel ``data_chan`` from a to b, and a recording says ``data_chan`` where it says what arrived.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

from clew.bloom.values import BadValueError, Row, freeze_row, sort_key
from clew.errors import UsageError
from clew.simulation.events import Send


@dataclass(frozen=True)
class RowMessage:
    """A row of a collection on its way to a node; the classes derived from it say of which."""

    row: Row
    collection: ClassVar[str]

    @property
    def label(self) -> str:
        return f"{self.collection}({', '.join(map(_show, self.row))})"


def _show(value: object) -> str:
    # As short as can be: a label is a name in a diagram.
    match value:
        case str():
            return value
        case tuple():
            return f"({', '.join(map(_show, value))})"
        case frozenset():
            return f"{{{', '.join(map(_show, sorted(value, key=sort_key)))}}}"
    return repr(value)


@cache
def message_type(collection: str) -> type[RowMessage]:
    """Return the type of the messages that bring rows of a collection: one for each name, whoever has it."""
    # The qualified name is what recordings, faults and coverage call a message by.
    body = {"collection": collection, "__qualname__": collection, "__module__": __name__}
    return dataclass(frozen=True)(type(collection, (RowMessage,), body))


@dataclass(frozen=True)
class NextStep:
    """From a node to itself: there is something left to do.

    A message and no timer: an execution is not quiet before it has arrived.
    """

    label: ClassVar[str] = "next step"


def insert(node: str, collection: str, row: Sequence[Any]) -> Send:
    """Return the event from outside that a row comes into a collection of a node, such as an input interface."""
    try:
        # Frozen here, at the line of the scenario, and not when it arrives.
        frozen = freeze_row(row)
    except BadValueError as error:
        raise UsageError(
            f"{row!r} is inserted into '{collection}': {error}",
            remedy=f"give a row of plain values: insert({node!r}, {collection!r}, ('x', 1))",
        ) from None
    return Send(node, message_type(collection)(frozen))
