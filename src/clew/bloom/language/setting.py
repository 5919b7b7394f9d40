"""What a Bloom program says about its own checking: its nodes, bounds, and given rows.

    setting = checked(nodes=["a", "b"], eot=6, eff=3, crashes=1, given={"a": {"send": [("m1",)]}})

in a class plays the role of the ``//!`` line and the facts of a Dedalus program.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from clew.bloom.language.capture import user_position
from clew.bounds import Bounds
from clew.errors import Position, ProgramError
from clew.expectation import Expectation, ExpectationError, make_expectation
from clew.faults import NodeName
from clew.program.ir import Value, as_value


# A class and not a string such as "*": any string may be the name of a node.
class _Every:
    """Stands for all nodes in ``given``."""

    def __repr__(self) -> str:
        return "EVERY"


EVERY = _Every()


@dataclass(frozen=True)
class Given:
    """Rows that a collection of a node has at a time, without any rule."""

    node: NodeName
    collection: str
    time: int
    rows: tuple[tuple[Value, ...], ...]


@dataclass(frozen=True)
class Setting:
    """The bounds of a program, with their ``nodes`` once more as names, and the rows that are given to it.

    ``expectation``: what the check of it comes to, if that is stated.
    """

    nodes: tuple[NodeName, ...]
    bounds: Bounds
    given: tuple[Given, ...]
    position: Position | None = field(default=None, compare=False)
    expectation: Expectation | None = None


def checked(
    *,
    nodes: Sequence[NodeName],
    eot: int | None = None,
    eff: int | None = None,
    crashes: int | None = None,
    delays: int | None = None,
    duplicates: int | None = None,
    restarts: int | None = None,
    pauses: int | None = None,
    partitions: int | None = None,
    stops: int | None = None,
    given: Mapping[Any, Mapping[Any, Any]] | None = None,
    expect: str | None = None,
    faults: int | None = None,
) -> Setting:
    """Say how a program is checked when nothing else is said; see ``clew.check`` for the bounds.

    ``given``: for a node, or for ``EVERY`` node, the rows of collections at time 1, ``{"a": {"log": [("x",)]}}``,
    or at other times, ``{"a": {3: {"log": [("x",)]}}}``.
    ``expect``: what that comes to, for ``clew test``: "counterexample", "certified" or "incomplete"; ``faults``:
    how many faults the smallest counterexample has.
    """
    position = user_position()
    # A string is a sequence of strings: nodes="abc" would quietly be three nodes.
    if isinstance(nodes, str) or not nodes:
        raise _mistake("'nodes' is not a list of nodes", "name them: nodes=['a', 'b', 'c']", position)
    for node in nodes:
        # True is an int, and equal to the node 1.
        if isinstance(node, bool) or not isinstance(node, str | int):
            message = f"'nodes' contains {node!r}, which is not a name for a node"
            raise _mistake(message, "use strings, or whole numbers", position)
    rows: list[Given] = []
    for node, contents in (given or {}).items():
        if node is not EVERY and node not in nodes:
            message = f"rows are given to the unknown node {node!r}"
            raise _mistake(message, f"use EVERY or one of {', '.join(map(repr, nodes))}", position)
        # As it stands in the list: a key may be equal to a node, as True is to 1, and another name.
        for one in nodes if node is EVERY else [n for n in nodes if n == node][:1]:
            rows += _read_given(one, contents, position)
    names = tuple(nodes)
    bounds = Bounds(names, eot, eff, crashes, delays, duplicates, restarts, pauses, partitions, stops)
    try:
        expectation = make_expectation(expect, faults)
    except ExpectationError as error:
        raise _mistake(error.message, error.remedy, position) from None
    return Setting(names, bounds, tuple(rows), position, expectation)


def _read_given(node: NodeName, contents: Mapping[Any, Any], position: Position | None) -> Iterator[Given]:
    for key, value in contents.items():
        # Times are integers and collections are strings, so that the short form needs no keyword of its own.
        if isinstance(key, str):
            yield Given(node, key, 1, _read_rows(key, value, position))
        elif isinstance(key, int) and key >= 1 and isinstance(value, Mapping):
            for collection, rows in value.items():
                yield Given(node, collection, key, _read_rows(collection, rows, position))
        else:
            remedy = "give rows by collection, or by time (from 1 on) and collection"
            raise _mistake(f"{key!r} is neither a collection nor a time", remedy, position)


def _read_rows(collection: str, rows: Iterable[Any], position: Position | None) -> tuple[tuple[Value, ...], ...]:
    if isinstance(rows, str) or not all(isinstance(row, tuple | list) for row in rows):
        remedy = "give a list of tuples, such as [('a', 1)]"
        raise _mistake(f"what is given to '{collection}' is not a list of rows", remedy, position)
    try:
        # Refused here, at the user's line, and not when the engine meets the value.
        return tuple(tuple(as_value(value) for value in row) for row in rows)
    except ValueError as problem:
        message = f"{problem} is given to '{collection}', and cannot be checked"
        raise _mistake(message, "use text, tuples, None and small integers", position) from None


def _mistake(message: str, remedy: str, position: Position | None) -> ProgramError:
    return ProgramError(f"checked(...): {message}", position=position, remedy=remedy)
