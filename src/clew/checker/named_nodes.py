"""The nodes that somebody names: on a command line, in a ``//!`` line, or from Python.

Python values are what they are.  A bare number in a text is the number or the string of this text, whichever can
be a node of the program; if both can, it is refused.  To pick one would make the other an unknown node, whose
messages all get lost, and what is certified then says nothing about the program.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterator, Sequence
from dataclasses import dataclass

from clew.errors import Notice, UsageError
from clew.faults import Fault, GivenRow, NodeName
from clew.names import nearest_name, show
from clew.node_lists import BareNumber, WrittenNode, is_number
from clew.program.columns import possible_locations
from clew.program.ir import LARGEST_NUMBER, SMALLEST_NUMBER, Fact, Program, Value


def resolve_nodes(program: Program, named: Sequence[WrittenNode]) -> tuple[NodeName, ...]:
    """Return the nodes that are meant, each once; raises ``UsageError`` for what cannot be meant."""
    if not named:
        raise UsageError("no nodes given", remedy="name them, as in --nodes a,b,c")
    for node in named:
        _check_type(node)
    # What the program's nodes can be takes a pass over all its rules, and only look-alikes need it.
    if not any(map(_has_lookalike, named)):
        return tuple(dict.fromkeys(_read_node(node, ()) for node in named))
    possible = possible_locations(program)
    nodes = tuple(dict.fromkeys(_read_node(node, possible) for node in named))
    # Python values, too: whoever passes "1" for 1 would have every message lost, and an empty certificate.
    for node in nodes:
        _refuse_lookalike(node, nodes, possible)
    return nodes


#: Nodes that the program does not have and that get a notice each; of a thousand, nobody reads a thousand notices.
_MOST_IDLE = 5


def notice_idle_nodes(program: Program, nodes: Sequence[NodeName]) -> Iterator[Notice]:
    """Yield a notice for each node that the program does not have: what is misspelt would survive anything."""
    # Whoever has a fact takes part; only for others the rules have to be looked through.
    if set(nodes) <= {fact.args[0] for fact in program.facts if fact.relation not in program.ranges}:
        return
    possible = possible_locations(program)
    names = [value for value in possible.values if isinstance(value, str)]
    idle = [node for node in nodes if node not in possible]
    for node in idle[:_MOST_IDLE]:
        nearest = nearest_name(node, names) if isinstance(node, str) else None
        spelling = "check its name, or" if nearest is None else f"did you mean '{show(nearest)}'? Otherwise"
        yield Notice(
            f"the program has no node '{show(node)}': no row and no message can be there",
            remedy=f"{spelling} leave it out",
        )
    if more := idle[_MOST_IDLE:]:
        others = f" nor {len(more) - 1} more of the nodes that are named," if len(more) > 1 else ""
        yield Notice(
            f"the program has no node '{show(more[0])}',{others} either: no row and no message can be there",
            remedy="check their names, or leave them out" if others else "check its name, or leave it out",
        )


def find_ambiguous_nodes(program: Program | None, nodes: Collection[NodeName]) -> set[NodeName]:
    """Return the numbers that need a plus to be read back as numbers: a string of the same text can be a node."""
    numbers = [node for node in nodes if isinstance(node, int)]
    possible = possible_locations(program) if numbers and program else ()
    return {number for number in numbers if str(number) in nodes or str(number) in possible}


@dataclass(frozen=True)
class WrittenFault:
    """A fault as it is written on a command line; its nodes are still to be looked up, or it has a ``row``."""

    make: Callable[..., Fault]
    nodes: tuple[WrittenNode, ...] = ()
    times: tuple[int, ...] = ()
    grouped: bool = False
    row: Fact | None = None


def resolve_fault(fault: Fault | WrittenFault, nodes: Sequence[NodeName]) -> Fault:
    """Return the fault with its nodes looked up; raises ``UsageError`` that says which nodes there are."""
    if isinstance(fault, GivenRow):  # its values are the program's, and no nodes to look up
        return fault
    if isinstance(fault, WrittenFault):
        if fault.row is not None:
            return fault.make(fault.row.relation, fault.row.args, fault.row.time)
        meant = tuple(resolve_node(node, nodes) for node in fault.nodes)
        made = fault.make(meant, *fault.times) if fault.grouped else fault.make(*meant, *fault.times)
        return made.among(nodes)
    return fault.rename(lambda node: resolve_node(node, nodes)).among(nodes)


def resolve_node(written: WrittenNode, nodes: Sequence[NodeName]) -> NodeName:
    """Return the node that is meant; raises ``UsageError`` that says which nodes there are."""
    node = _read_node(written, nodes)
    if node not in nodes:
        name = written.text if isinstance(written, BareNumber) else show(written)
        raise UsageError(f"unknown node '{name}'", remedy=f"the nodes are {', '.join(map(show, nodes))}")
    return nodes[nodes.index(node)]  # the one of the list: True is equal to 1, and shown otherwise


def _read_node(node: WrittenNode, known: Container[Value]) -> NodeName:
    """Return the reading that is known; where none is, nothing can happen, and it is the one of the language."""
    if not isinstance(node, BareNumber):
        return node
    if node.text in known and node.number in known:
        raise UsageError(
            f"'{node.text}' can mean two nodes: the number {node.number}, and the string {show(node.text)}",
            remedy=f"write +{node.number} for the number, {show(node.text)} with its quotes for the string",
        )
    return node.text if node.text in known else node.number


def _check_type(node: object) -> None:
    # bool is an int to Python, and the solver has 32 bits.
    number = isinstance(node, int) and not isinstance(node, bool) and SMALLEST_NUMBER <= node <= LARGEST_NUMBER
    if not number and not isinstance(node, str | BareNumber):
        raise UsageError(f"invalid node name {node!r}", remedy="use strings, or integers of 32 bits")


def _has_lookalike(node: WrittenNode) -> bool:
    return not isinstance(node, str) or is_number(node)


def _refuse_lookalike(node: NodeName, nodes: Collection[NodeName], possible: Container[Value]) -> None:
    """Refuse "1" where the program has 1, and the other way round: nothing could ever happen there."""
    if node in possible or not _has_lookalike(node):
        return
    other = str(node) if isinstance(node, int) else BareNumber(node).number
    if other in possible and other not in nodes:
        kind, other_kind = ("number", "string") if isinstance(node, int) else ("string", "number")
        raise UsageError(
            f"the {kind} {show(node)} can be no node of the program, but the {other_kind} {show(other)} can",
            remedy="strings are written in quotes, and numbers without: in a shell, --nodes '\"1\",2'",
        )
