"""Parts of documents about models, checked as they are read: nodes, cells, faults and violations."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from clew.checker.bounds import LONGEST_EXECUTION
from clew.faults import Fault, NodeName, make_fault
from clew.files.json_document import Item, quote_short
from clew.program.assertions import is_never
from clew.program.ir import SMALLEST_NUMBER, Value
from clew.violation import Violation

T = TypeVar("T")


def read_node(item: Item) -> NodeName:
    node = read_value(item, "a node: a string or an integer")
    if isinstance(node, str) and not node.isprintable():
        item.refuse("a node with a printable name")
    return node


def read_value(item: Item, expected: str = "a string or an integer") -> str | int:
    return item.number(SMALLEST_NUMBER) if isinstance(item.value, int) else item.text(expected)


def read_cell(item: Item) -> Value:
    """Read a cell; tuples and None of Bloom programs are arrays and null."""
    if item.value is None:
        return None
    if isinstance(item.value, list):
        return tuple(read_cell(inner) for inner in item.items())
    return read_value(item, "a string, an integer, null or an array of such")


def read_distinct(items: Item, read: Callable[[Item], T]) -> list[T]:
    found: dict[T, None] = {}
    for item in items.items():
        value = read(item)
        # Lists in documents are sets that were written in order: a repetition is a sign of editing by hand.
        if value in found:
            raise item.problem(f"{quote_short(str(value))} is listed twice")
        found[value] = None
    return list(found)


def read_fault(item: Item, kind: type[Fault]) -> Fault:
    parts, split = item.parts(*kind.kind.columns), len(kind.kind.nodes)
    numbers = (part.number(1) for part in parts[split:])
    if not kind.kind.is_failure:
        relation, row = parts[:split]
        if not row.items():
            row.refuse("a row with at least one column")
        return make_fault(kind, [relation.text("a relation"), tuple(map(read_value, row.items())), *numbers])
    if kind.kind.group:
        return make_fault(kind, [tuple(read_distinct(parts[0], read_node)), *numbers])
    return make_fault(kind, [*map(read_node, parts[:split]), *numbers])


def read_violation(item: Item) -> Violation:
    timed = "time" in item.mapping()
    relation, row, *when = item.members("relation", "row", *(["time"] if timed else []))
    # Only what must never hold is violated at a time; without one, nobody would know when.
    if timed != is_never(relation.text()):
        relation.refuse("a relation that must never hold, beside a time" if timed else "a relation with a 'time'")
    time = when[0].number(1, LONGEST_EXECUTION) if when else None
    return Violation(relation.text(), tuple(read_cell(value) for value in row.items()), time)
