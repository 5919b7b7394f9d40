"""Scenarios of Bloom programs, in a line or two.

scenario = bloom_scenario({"a": Store, "b": Store}, given={EVERY: {"members": MEMBERS}}, time=VirtualTime())
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from clew.bloom.ir.schema import Kind
from clew.bloom.language.setting import EVERY
from clew.bloom.simulated.bloom_run import REFUSED
from clew.bloom.simulated.messages import RowMessage, message_type
from clew.bloom.simulated.node import BloomNode
from clew.bloom.simulated.programs import GivenRows, Made, Programs, make_program
from clew.errors import UsageError
from clew.simulation.scenario import Broken, Invariant, Scenario


def bloom_node(make: Made, given: GivenRows | None = None, *, batches: bool = False) -> Callable[[], BloomNode]:
    """Return what makes a simulated node that runs a program, for the ``nodes`` of a scenario.

    ``make``: a class, which is given the name of the node as its address, or a function of that name.  ``given``:
    rows by collection, for each of its lives.  ``batches``: rows that arrive may come together in one step.
    """
    return partial(BloomNode, Programs(make, given or {}), batches=batches)


def bloom_scenario(
    nodes: Mapping[str, Made],
    *,
    given: Mapping[Any, GivenRows] | None = None,
    batches: bool = False,
    running: Sequence[str] | None = None,
    invariants: Sequence[Invariant] = (),
    may_refuse: bool = False,
    messages: Sequence[type] = (),
    **others: Any,
) -> Scenario:
    """Return a scenario of Bloom programs by the names of their nodes; ``others`` are fields of ``Scenario``.

    ``given``: for a node, or for ``EVERY`` node, rows by collection, which it has whenever it starts.  Without
    ``running``, all nodes are up from the beginning.  That no node refuses a row (two rows with one key, a
    function that raises) is one of the invariants, unless they ``may_refuse``.
    """
    _refuse_unknown_nodes(nodes, given or {})
    makers = {
        name: bloom_node(made, _find_given(name, given or {}), batches=batches) for name, made in nodes.items()
    }
    # By name, once each: several programs have the same channels.
    types = {kind.collection: kind for name, made in nodes.items() for kind in row_messages(made, name)}
    return Scenario(
        nodes=makers,
        running=tuple(nodes) if running is None else running,
        invariants=invariants if may_refuse else (*invariants, no_row_is_refused),
        messages=(*types.values(), *messages),
        **others,
    )


def no_row_is_refused(nodes: Mapping[str, Any]) -> Broken | None:
    """Check that no node has just refused a row: on a network that is a line in a log, and mostly a mistake."""
    for name, node in nodes.items():
        for refused in node[REFUSED]:
            return Broken("no row is refused", refused, (name,))
    return None


def row_messages(make: Made, name: str = "node") -> tuple[type[RowMessage], ...]:
    """Return the types of the messages that bring rows to a program, for the ``messages`` of a scenario."""
    collections = make_program(make, name).program.collections
    return tuple(message_type(c.name) for c in collections if c.kind is not Kind.LATTICE)


def _find_given(name: str, given: Mapping[Any, GivenRows]) -> GivenRows:
    rows: dict[str, list[Sequence[Any]]] = {}
    for contents in (given.get(EVERY, {}), given.get(name, {})):
        for collection, more in contents.items():
            rows.setdefault(collection, []).extend(more)
    return rows


def _refuse_unknown_nodes(nodes: Mapping[str, Made], given: Mapping[Any, GivenRows]) -> None:
    for name in given:
        if name is not EVERY and name not in nodes:
            raise UsageError(
                f"rows are given to the unknown node {name!r}", remedy=f"use EVERY or one of {', '.join(nodes)}"
            )
