"""Linearizability by trying all orders, on objects of its own: it shares no code with Clew.

Every operation of unknown outcome is taken in or left out, and every order of what is in is tried that has each
operation after those that had ended when it began.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

from clew.histories import Operation, Outcome

#: Performs an operation on an object (a list or dict that it may change); False if it cannot end like that.
Perform = Callable[[Any, Operation, bool], bool]


def _parts(op: Operation) -> Any:
    return op.argument


def register(cell: dict[Any, Any], op: Operation, known: bool) -> bool:
    value = cell.get("value")
    if op.function == "read":
        return not known or value == op.result
    if op.function == "write":
        cell["value"] = op.argument
        return True
    expected, new = _parts(op)
    if known and op.result is False:
        return bool(value != expected)
    if value != expected:
        return False
    cell["value"] = new
    return True


def mapping(cells: dict[Any, Any], op: Operation, known: bool) -> bool:
    if op.function == "put":
        key, value = _parts(op)
        cells[key] = value
    elif op.function == "delete":
        cells.pop(op.argument, None)
    elif op.function == "cas":
        key, expected, new = _parts(op)
        if cells.get(key) != expected:
            return False
        cells[key] = new
    else:
        return not known or cells.get(op.argument) == op.result
    return True


def queue(cell: dict[Any, Any], op: Operation, known: bool) -> bool:
    items = cell.setdefault("items", [])
    if op.function == "enqueue":
        items.append(op.argument)
        return True
    first = items.pop(0) if items else None
    return first is not None if not known else first == op.result


def lock(cell: dict[Any, Any], op: Operation, known: bool) -> bool:
    if op.function == "acquire":
        if "holder" in cell:
            return False
        cell["holder"] = op.process
        return True
    return bool(cell.pop("holder", None) == op.process)


def counter(cell: dict[Any, Any], op: Operation, known: bool) -> bool:
    if op.function == "read":
        return not known or cell.get("number", 0) == op.result
    change = {"increment": 1, "decrement": -1}.get(op.function, op.argument)
    cell["number"] = cell.get("number", 0) + change
    return True


def elements(cell: dict[Any, Any], op: Operation, known: bool) -> bool:
    inside = cell.setdefault("inside", set())
    if op.function == "add":
        inside.add(op.argument)
    elif op.function == "remove":
        inside.discard(op.argument)
    elif known:
        return bool(op.result == (op.argument in inside if op.function == "contains" else inside))
    return True


OBJECTS: dict[str, Perform] = {
    "register": register,
    "map": mapping,
    "queue": queue,
    "lock": lock,
    "counter": counter,
    "set": elements,
}


def is_linearizable(operations: Sequence[Operation], perform: Perform) -> bool:
    """Try everything; each key has an object of its own."""
    done = [op for op in operations if op.outcome is Outcome.OK]
    unknown = [op for op in operations if op.outcome is Outcome.UNKNOWN]
    return any(
        _has_order((), [*done, *chosen], perform)
        for size in range(len(unknown) + 1)
        for chosen in combinations(unknown, size)
    )


def _has_order(before: tuple[Operation, ...], left: Sequence[Operation], perform: Perform) -> bool:
    if not _happens(before, perform):
        return False
    if not left:
        return True
    return any(
        _has_order((*before, op), [other for other in left if other is not op], perform)
        for op in left
        if not any(other.end is not None and other.end < op.start for other in left)
    )


def _happens(order: Sequence[Operation], perform: Perform) -> bool:
    """Perform all from the beginning: slow, and without anything to remember or forget."""
    objects: dict[Any, dict[Any, Any]] = {}
    return all(perform(objects.setdefault(op.key, {}), op, op.outcome is Outcome.OK) for op in order)
