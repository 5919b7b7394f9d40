"""Scenarios of Bloom programs, in a line or two.

scenario = bloom_scenario({"a": Store, "b": Store}, given={EVERY: {"members": MEMBERS}}, time=VirtualTime())
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from clew.bloom.ir.program import BloomProgram
from clew.bloom.ir.schema import Kind
from clew.bloom.language.setting import EVERY
from clew.bloom.simulated.bloom_run import DIED, REFUSED
from clew.bloom.simulated.contributions import sources_of_invariants
from clew.bloom.simulated.messages import RowMessage, message_type
from clew.bloom.simulated.node import BloomNode
from clew.bloom.simulated.programs import DERIVED_ONLY, HIDDEN, GivenRows, Made, Programs, make_program
from clew.errors import UsageError
from clew.simulation.scenario import Broken, Invariant, Scenario


def bloom_node(make: Made, given: GivenRows | None = None, *, batches: bool = False) -> Callable[[], BloomNode]:
    """Return what makes a simulated node that runs a program, for the ``nodes`` of a scenario.

    ``make``: a class, which is given the name of the node as its address, or a function of that name.  ``given``:
    rows by collection, for each of its lives.  ``batches``: rows that arrive may come together in one step.
    """
    return _make_node(make, given or {}, batches, shows_death=False)


def _make_node(make: Made, given: GivenRows, batches: bool, *, shows_death: bool) -> Callable[[], BloomNode]:
    return partial(BloomNode, Programs(make, given), batches=batches, shows_death=shows_death)


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
    function that raises) is one of the invariants, unless they ``may_refuse``; so is that no rule of ``die``
    derives one.
    """
    _refuse_unknown_nodes(nodes, given or {})
    makers = {
        name: _make_node(made, _find_given(name, given or {}), batches, shows_death=True)
        for name, made in nodes.items()
    }
    programs = {name: make_program(made, name).program for name, made in nodes.items()}
    # By name, once each: several programs have the same channels.
    types = {kind.collection: kind for program in programs.values() for kind in _message_types(program)}
    mortal = {name: _shown_sources(program) for name, program in programs.items() if _has_invariants(program)}
    standing = [*([] if may_refuse else [no_row_is_refused]), *([_watch_deaths(mortal)] if mortal else [])]
    return Scenario(
        nodes=makers,
        running=tuple(nodes) if running is None else running,
        invariants=(*invariants, *standing) if standing else invariants,
        messages=(*types.values(), *messages),
        **others,
    )


def no_row_is_refused(nodes: Mapping[str, Any]) -> Broken | None:
    """Check that no node has just refused a row: on a network that is a line in a log, and mostly a mistake."""
    for name, node in nodes.items():
        for refused in node[REFUSED]:
            return Broken("no row is refused", refused, (name,))
    return None


def _has_invariants(program: BloomProgram) -> bool:
    return any(collection.kind is Kind.DIE for collection in program.collections)


def _shown_sources(program: BloomProgram) -> tuple[str, ...]:
    return tuple(name for name in sources_of_invariants(program) if program.by_name[name].kind not in HIDDEN)


def _watch_deaths(mortal: Mapping[str, Sequence[str]]) -> Invariant:
    """Return the invariant that no rule of ``die`` derives a row at these nodes, from these collections."""

    def no_node_dies(nodes: Mapping[str, Any]) -> Broken | None:
        for name, sources in mortal.items():
            # The first of them: by its name, executions that end in another invariant are told apart.
            for place, told in nodes[name][DIED] if name in nodes else ():
                return Broken(place, told, (name,))
            # To look at them is all: what kept the invariant is what lineage cuts.
            for source in sources if name in nodes else ():
                nodes[name][source]
        return None

    return no_node_dies


def row_messages(make: Made, name: str = "node") -> tuple[type[RowMessage], ...]:
    """Return the types of the messages that bring rows to a program, for the ``messages`` of a scenario."""
    return _message_types(make_program(make, name).program)


def _message_types(program: BloomProgram) -> tuple[type[RowMessage], ...]:
    return tuple(message_type(c.name) for c in program.collections if c.kind not in DERIVED_ONLY)


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
