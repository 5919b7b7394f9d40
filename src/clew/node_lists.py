"""Lists of nodes as text, which is what ``--nodes``, ``--lose`` and ``//! nodes=`` contain and what reports print.

=========== ==================================================================================================
``a,B,x.1`` bare names are strings
``1,-2``    bare numbers: the program decides whether the number or the string of this text is its node
``"1"``     in quotes it is a string, whatever is in it: ``"a, b"``; a quote in it is written twice
``+1,+-2``  with a plus it is a number
=========== ==================================================================================================

The last two are for programs that have both, 1 and "1", and for names with commas or spaces at their ends.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from clew.faults import NodeName
from clew.names import looks_like_number, quote

#: Numbers of the language have 32 bits; a longer row of digits can only be a string.
_SMALLEST, _LARGEST = -(2**31), 2**31 - 1

#: One item up to its comma.  Quotes are only quotes around a whole item: anything else would make "a"b two names.
_ITEM = re.compile(r'\s*(?:"(?P<quoted>(?:[^"]|"")*)"|(?P<bare>[^,"]*))\s*(?P<end>,|\Z)')


@dataclass(frozen=True)
class BareNumber:
    """A node that is written as a number without quotes: the number, or the string of this text."""

    text: str

    @property
    def number(self) -> int:
        return int(self.text)

    @property
    def readings(self) -> tuple[NodeName, NodeName]:
        return self.number, self.text


#: A node as it is written; most texts say what is meant.
WrittenNode = NodeName | BareNumber


class NodeListError(ValueError):
    """The text is no list of nodes; ``offset`` is where."""

    def __init__(self, message: str, remedy: str, offset: int) -> None:
        super().__init__(message)
        self.message, self.remedy, self.offset = message, remedy, offset


def read_nodes(text: str) -> list[WrittenNode]:
    """Return the nodes that a text lists; raises ``NodeListError``."""
    return [node for node in read_parts(text) if node is not None]


def read_parts(text: str) -> list[WrittenNode | None]:
    """Return what stands between the commas, None where that is nothing; raises ``NodeListError``."""
    found: list[WrittenNode | None] = []
    offset, last = 0, False
    while not last:
        item = _ITEM.match(text, offset)
        if item is None:
            raise _diagnose_quote(text, offset)
        quoted = item["quoted"]
        found.append(_read_bare(item["bare"].strip(), offset) if quoted is None else quoted.replace('""', '"'))
        offset, last = item.end(), not item["end"]
    return found


def write_nodes(nodes: Collection[NodeName], ambiguous: Collection[NodeName]) -> str:
    """Return a list that is read back as these nodes; numbers in ``ambiguous`` get their plus."""
    return ",".join(write_node(node, ambiguous) for node in nodes)


def write_node(node: NodeName, ambiguous: Collection[NodeName]) -> str:
    if isinstance(node, int):
        return f"+{node}" if node in ambiguous else str(node)
    # Without spaces, because a //! line would be split there.
    try:
        reads_as_itself = read_nodes(node) == [node] and not re.search(r"\s", node)
    except NodeListError:
        reads_as_itself = False
    return node if reads_as_itself else quote(node)


def _read_bare(text: str, offset: int) -> WrittenNode | None:
    if not text:
        return None
    if text.startswith("'"):
        raise NodeListError(f"{text} is in single quotes", 'strings are in double quotes: "a"', offset)
    if text.startswith("+") and looks_like_number(text[1:]):
        if not is_number(text[1:]):
            raise NodeListError(f"the number {text[:40]} is too large", f"numbers go up to {_LARGEST}", offset)
        return int(text[1:])
    return BareNumber(text) if is_number(text) else text


def is_number(text: str) -> bool:
    """Return whether a text is that of a number of the language."""
    # Ten digits, as in programs; Python itself refuses to read very long ones.
    return looks_like_number(text) and len(text) <= 11 and _SMALLEST <= int(text) <= _LARGEST


def _diagnose_quote(text: str, offset: int) -> NodeListError:
    if text[offset:].count('"') % 2:
        return NodeListError('a name is not closed: its last " is missing', 'close it with "', offset)
    return NodeListError(
        'a " stands in the middle of a name',
        'put the whole name in quotes, and write a quote in it twice: "a""b"',
        offset,
    )
