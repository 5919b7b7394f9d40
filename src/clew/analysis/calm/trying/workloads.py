"""What runs of a program begin with: nodes, and the rows that are given to them.

A node is given rows at its own steps, so that the inputs come in one order whatever the order of messages is.
Rows that are given to a channel are messages from outside, and arrive like all others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from clew.bloom.language.module import Module
from clew.bloom.language.setting import Setting
from clew.bloom.runtime.node import Node
from clew.bloom.values import Row
from clew.errors import UsageError

#: How often a timer goes off at random moments, and then again when all is quiet: clocks go on for ever.
TICKS = 3


@dataclass(frozen=True)
class Input:
    """A row for a collection of a node, at a step of the node; a message is sent in round ``step``."""

    node: str
    collection: str
    row: Row
    step: int = 1


@dataclass(frozen=True)
class Workload:
    """``nodes``: by address, what makes a node, given the address.  ``ticks``: of every timer."""

    nodes: Mapping[str, Callable[[str], Node]]
    inputs: tuple[Input, ...]
    ticks: int = TICKS


def workload(
    nodes: Mapping[str, Callable[[str], Node]],
    inputs: Mapping[str, Mapping[str, Sequence[Iterable[Any]]]],
    *,
    later: Mapping[str, Mapping[int, Mapping[str, Sequence[Iterable[Any]]]]] | None = None,
    ticks: int = TICKS,
) -> Workload:
    """Return a workload.

    ``inputs``: rows by node and collection, for the first step; ``later``: by node, step and collection.
    """
    found = [(node, 1, contents) for node, contents in inputs.items()]
    found += [(node, step, contents) for node, steps in (later or {}).items() for step, contents in steps.items()]
    rows = [
        Input(node, collection, tuple(row), step)
        for node, step, contents in found
        for collection, rows in contents.items()
        for row in rows
    ]
    return Workload(dict(nodes), tuple(rows), ticks)


def workload_of(module: type[Module]) -> Workload:
    """Return what the setting of a class says: its nodes, and what is given to them."""
    # Only what ``clew check`` would be given: no rows are invented, so
    # that a difference is one of the user's program.
    setting = getattr(module, "setting", None)
    if not isinstance(setting, Setting) or not issubclass(module, Node):
        raise UsageError(
            f"{module.__name__} does not say what it runs with",
            remedy="give it nodes and rows: setting = checked(nodes=['a', 'b'], given={...})",
        )
    inputs = [Input(_address(g.node), g.collection, tuple(row), g.time) for g in setting.given for row in g.rows]
    return Workload(dict.fromkeys(map(_address, setting.nodes), _constructor_of(module)), tuple(inputs))


def _address(node: str | int) -> str:
    """Return the address of a node.  One that is a number would never get what is sent to it."""
    if isinstance(node, str):
        return node
    raise UsageError(
        f"the node {node} is a number, and nodes that run have addresses, which are strings",
        remedy=f"name it {str(node)!r} in the setting, and in the rows that are given",
    )


def _constructor_of(module: type[Node]) -> Callable[[str], Node]:
    def make(address: str) -> Node:
        try:
            return module(address=address)
        except TypeError as error:
            raise UsageError(
                f"{module.__name__} cannot be made from an address alone: {error}",
                remedy="give the other parameters of __init__ defaults",
            ) from None

    return make
