"""Faults and violations in a checkpoint."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from clew.faults import KINDS, Fault, FaultSet, NodeName, fault_columns, make_fault
from clew.files.json_document import Item
from clew.violation import Cell, Violation

#: The solver counts times with 32 bits; what is larger is no time of any execution.
LARGEST_TIME = 2**31 - 1

#: The kinds of faults by the names that checkpoints give them.
_KINDS: dict[object, type[Fault]] = {kind.name: kind for kind in KINDS}


def fault_json(fault: Fault) -> list[object]:
    return [fault.name, *fault_columns(fault)]


def faults_json(faults: Iterable[Fault]) -> list[list[object]]:
    return [fault_json(fault) for fault in faults]


def read_fault(item: Item, nodes: Sequence[NodeName]) -> Fault:
    name, *rest = item.items() or [item]
    # A name that is no string may not be hashable.
    kind = _KINDS.get(name.value) if isinstance(name.value, str) else None
    if kind is None or len(rest) != len(kind.kind.columns):
        raise item.mismatch("a fault")
    split = len(kind.kind.nodes)
    numbers = (part.number(1, LARGEST_TIME) for part in rest[split:])
    if not kind.kind.is_failure:
        row = tuple(map(_read_cell, rest[1].items()))
        return make_fault(kind, [rest[0].text("a relation"), row, *numbers])
    if kind.kind.group:
        return make_fault(kind, [tuple(_node(part, nodes) for part in rest[0].items()), *numbers])
    return make_fault(kind, [*(_node(part, nodes) for part in rest[:split]), *numbers])


def read_faults(item: Item, nodes: Sequence[NodeName]) -> FaultSet:
    faults = [read_fault(fault, nodes) for fault in item.items()]
    if len(set(faults)) < len(faults):
        item.refuse("faults, each once")
    return FaultSet.of(faults)


def _node(item: Item, nodes: Sequence[NodeName]) -> NodeName:
    # By type, too: 1 and True are equal, and only one of them is a node.
    for node in nodes:
        if type(node) is type(item.value) and node == item.value:
            return node
    raise item.mismatch("a node")


def violation_json(violation: Violation) -> list[object]:
    when = [] if violation.time is None else [violation.time]
    return [violation.relation, list(map(_cell_json, violation.row)), *when]


def read_violation(item: Item) -> Violation:
    # Only what must never hold has a time; the others are written as they were before there was any.
    timed = len(item.items()) > 2
    relation, row, *when = item.parts("relation", "row", *(["time"] if timed else []))
    time = when[0].number(1, LARGEST_TIME) if when else None
    return Violation(relation.text("a relation"), tuple(map(_read_cell, row.items())), time)


def _cell_json(cell: Cell) -> object:
    return list(map(_cell_json, cell)) if isinstance(cell, tuple) else cell


def _read_cell(item: Item) -> Cell:
    value = item.value
    if value is None or isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    return tuple(map(_read_cell, item.items()))
