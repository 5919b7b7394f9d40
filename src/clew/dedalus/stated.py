"""What the ``//!`` lines of a file state: default bounds, and what its check is expected to come to.

``//! nodes=a,b,c eot=6 eff=3 crashes=1 expect=certified`` stands before the first clause.  Where a bound is a
number, the name of a param may stand for it, so that bounds are complete only when the params have values.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from clew.bounds import Bounds
from clew.dedalus.lexer import Text
from clew.dedalus.patterns import expand_interval
from clew.errors import Position, ProgramError
from clew.expectation import KEYS, Expectation, ExpectationError, make_expectation
from clew.names import nearest_name
from clew.node_lists import NodeListError, WrittenNode, read_nodes
from clew.program.ir import Value

#: One default of a ``//!`` line.  There may be spaces in the name of a node, in quotes.
_DEFAULT = re.compile(r"""(?:"[^"]*(?:"|$)|[^\s"])+""")
_PARAM = re.compile(r"[a-z][A-Za-z0-9_]*")
#: Nodes that are called by numbers: 1..3 or 1..replicas.
_NODE_INTERVAL = re.compile(r"([0-9]{1,9}|[a-z][A-Za-z0-9_]*)\.\.([0-9]{1,9}|[a-z][A-Za-z0-9_]*)")


class NamedNumber(NamedTuple):
    """The name of a param where a ``//!`` line has a number."""

    name: str
    position: Position


class NodeInterval(NamedTuple):
    """``1..replicas`` where a ``//!`` line has nodes: those that are called by these numbers."""

    ends: tuple[int | NamedNumber, int | NamedNumber]
    position: Position


#: What a ``//!`` line says of one bound.
Default = int | tuple[WrittenNode | NodeInterval, ...] | NamedNumber


class Stated(NamedTuple):
    """What the ``//!`` lines of one file state."""

    bounds: Mapping[str, Default] = {}
    expectation: Expectation | None = None


def read_stated(text: Text) -> Stated:
    """Return what the leading ``//!`` lines state; refuse one further down, which a reader would overlook."""
    stated: dict[str, Default] = {}
    expected: dict[str, int | str] = {}
    places: dict[str, Position] = {}
    for comment, leading in text.default_comments():
        if not leading:
            raise ProgramError(
                "'//!' states the defaults of a program and stands before its first clause",
                position=text.position(comment.offset),
                remedy="move it to the top, or write an ordinary comment: //",
            )
        for found in _DEFAULT.finditer(comment.text[3:]):
            offset = comment.offset + 3 + found.start()
            key, _, value = found.group().partition("=")
            position = text.position(offset)
            if key in places:
                raise ProgramError(f"'{key}' is stated twice", position=position, remedy="state it once")
            places[key] = position
            if key in KEYS:
                expected[key] = _parse_expected(key, value, position)
            else:
                stated[key] = _parse_default(key, value, text, offset)
    try:
        expectation = make_expectation(*(expected.get(key) for key in KEYS))
    except ExpectationError as error:
        raise ProgramError(error.message, position=places[error.key], remedy=error.remedy) from None
    return Stated(stated, expectation)


def _parse_expected(key: str, value: str, position: Position) -> int | str:
    if key == "expect":  # which answers there are, make_expectation knows
        return value
    number = _read_number(value)
    if number is None:
        raise _refuse_number(key, value, position)
    return number


def _parse_default(key: str, value: str, whole: Text, offset: int) -> Default:
    """Return one default; it stands at this offset of the whole text."""
    known = [*Bounds._fields, *KEYS]
    position = whole.position(offset)
    if key not in known:
        nearest = nearest_name(key, known)
        raise ProgramError(
            f"unknown default '{key}'",
            position=position,
            remedy=f"did you mean {nearest}=...?" if nearest else "use " + ", ".join(f"{k}=..." for k in known),
        )
    if key == "nodes":
        try:
            return tuple(_read_node(node, value, position) for node in read_nodes(value))
        except NodeListError as error:
            where = whole.position(offset + len("nodes=") + error.offset)
            raise ProgramError(error.message, position=where, remedy=error.remedy) from None
    number = _read_number(value)
    if number is not None:
        return number
    if _PARAM.fullmatch(value):
        return NamedNumber(value, position)
    raise _refuse_number(key, value, position)


def _read_number(value: str) -> int | None:
    # Other scripts have digits, too.
    return int(value) if value.isdecimal() and value.isascii() and len(value) < 10 else None


def _refuse_number(key: str, value: str, position: Position) -> ProgramError:
    return ProgramError(
        f"'{key}={value}' does not give a number", position=position, remedy=f"write {key}=3, without spaces"
    )


def _read_node(node: WrittenNode, text: str, position: Position) -> WrittenNode | NodeInterval:
    is_bare = isinstance(node, str) and f'"{node}"' not in text
    found = _NODE_INTERVAL.fullmatch(node) if isinstance(node, str) and is_bare else None
    if found is None:
        return node
    first, last = (int(end) if end.isdigit() else NamedNumber(end, position) for end in found.groups())
    return NodeInterval((first, last), position)


def resolve_defaults(stated: Mapping[str, Default], params: Mapping[str, Value]) -> Bounds:
    """Return the defaults with the numbers that params stand for."""
    known: dict[str, object] = {}
    for key, value in stated.items():
        if isinstance(value, tuple) and not isinstance(value, NamedNumber):
            known[key] = tuple(node for part in value for node in _resolve_nodes(part, params))
        else:
            known[key] = _resolve_number(value, key, params)
    return Bounds(**known)  # type: ignore[arg-type]  # keys and types are those of _parse_default


def _resolve_number(value: int | NamedNumber, key: str, params: Mapping[str, Value]) -> int:
    if isinstance(value, int):
        return value
    number = params.get(value.name)
    if not isinstance(number, int):
        raise ProgramError(
            f"'{key}={value.name}' does not give a number",
            position=value.position,
            remedy=f"write {key}=3, without spaces, or declare it: param {value.name} = 3;",
        )
    return number


def _resolve_nodes(part: WrittenNode | NodeInterval, params: Mapping[str, Value]) -> Sequence[WrittenNode]:
    if not isinstance(part, NodeInterval):
        return (part,)
    first, last = (_resolve_number(end, "nodes", params) for end in part.ends)
    return expand_interval(first, last, part.position)


def named_numbers(value: Default) -> Iterator[NamedNumber]:
    """Yield the names of params in what a ``//!`` line says."""
    if isinstance(value, NamedNumber):
        yield value
    elif isinstance(value, tuple):
        ends = [end for part in value if isinstance(part, NodeInterval) for end in part.ends]
        yield from (end for end in ends if isinstance(end, NamedNumber))
