"""Faults and violations in a checkpoint."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from clew.faults import Crash, Delay, Fault, FaultSet, Loss, Node
from clew.files.json_document import Item
from clew.violation import Cell, Violation

#: No execution is longer.
LARGEST_TIME = 2**31 - 1


def fault_json(fault: Fault) -> list[object]:
    match fault:
        case Loss(source, target, time):
            return ["loss", source, target, time]
        case Crash(node, time):
            return ["crash", node, time]
        case Delay(source, target, time, lag):
            return ["delay", source, target, time, lag]


def faults_json(faults: Iterable[Fault]) -> list[list[object]]:
    return [fault_json(fault) for fault in faults]


def read_fault(item: Item, nodes: Sequence[Node]) -> Fault:
    kind, *rest = item.items() or [item]
    match kind.value, rest:
        case "loss", [source, target, time]:
            return Loss(_node(source, nodes), _node(target, nodes), time.number(0, LARGEST_TIME))
        case "crash", [node, time]:
            return Crash(_node(node, nodes), time.number(0, LARGEST_TIME))
        case "delay", [source, target, time, lag]:
            times = time.number(0, LARGEST_TIME), lag.number(1, LARGEST_TIME)
            return Delay(_node(source, nodes), _node(target, nodes), *times)
    raise item.mismatch("a fault")


def read_faults(item: Item, nodes: Sequence[Node]) -> FaultSet:
    faults = [read_fault(fault, nodes) for fault in item.items()]
    if len(set(faults)) < len(faults):
        item.refuse("faults, each once")
    return FaultSet.of(faults)


def _node(item: Item, nodes: Sequence[Node]) -> Node:
    for node in nodes:
        if type(node) is type(item.value) and node == item.value:
            return node
    raise item.mismatch("a node")


def violation_json(violation: Violation) -> list[object]:
    return [violation.relation, list(map(_cell_json, violation.row))]


def read_violation(item: Item) -> Violation:
    relation, row = item.parts("relation", "row")
    return Violation(relation.text("a relation"), tuple(map(_read_cell, row.items())))


def _cell_json(cell: Cell) -> object:
    return list(map(_cell_json, cell)) if isinstance(cell, tuple) else cell


def _read_cell(item: Item) -> Cell:
    value = item.value
    if value is None or isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    return tuple(map(_read_cell, item.items()))
