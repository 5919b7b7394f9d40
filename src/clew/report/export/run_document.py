"""The JSON of ``clew run`` read back: the only document about a model that has all of an execution."""

from __future__ import annotations

from clew.checker.bounds import LONGEST_EXECUTION
from clew.engine.execution import Message, Row
from clew.errors import UsageError
from clew.faults import FIRST_KINDS, KINDS, FaultSet
from clew.files.json_document import Item
from clew.report.export.of_model import ModelRun
from clew.report.replay.parts import read_cell, read_distinct, read_fault, read_node, read_violation
from clew.report.verdict.renderer import RUN_VERSION

_FIELDS = (
    "format", "version", "files", "verdict", "reason", "exit_code", "spec", "faults", "violated", "duration",
    "tables", "messages", "warnings",
)  # fmt: skip


def read_run(document: Item) -> ModelRun:
    """Return the execution that a document has."""
    version = document.member("version") if "version" in document.mapping() else None
    if version is None or version.number(1) != RUN_VERSION:
        raise UsageError(
            f"{document.file}: this clew reads version {RUN_VERSION} of the JSON of clew run",
            remedy="let this clew write it anew: clew run ... --json FILE",
        )
    part = dict(zip(_FIELDS, document.members(*_FIELDS), strict=True))
    nodes, eot = _read_spec(part["spec"])
    return ModelRun(
        nodes,
        eot,
        _read_faults(part["faults"]),
        {name: _read_table(part["tables"].member(name), eot) for name in part["tables"].mapping()},
        tuple(_read_message(item, eot) for item in part["messages"].items()),
        tuple(read_distinct(part["violated"], read_violation)),
    )


def _read_spec(spec: Item) -> tuple[tuple[str | int, ...], int]:
    params = ["params"] if "params" in spec.mapping() else []
    nodes, eot, *_ = spec.members("nodes", "eot", *params)
    return tuple(read_distinct(nodes, read_node)), eot.number(1, LONGEST_EXECUTION)


def _read_faults(item: Item) -> FaultSet:
    listed = [k for k in KINDS if k.kind.plural in FIRST_KINDS or k.kind.plural in item.mapping()]
    members = item.members(*(kind.kind.plural for kind in listed))
    return FaultSet.of(
        read_fault(fault, kind) for kind, faults in zip(listed, members, strict=True) for fault in faults.items()
    )


def _read_table(item: Item, eot: int) -> tuple[tuple[Row, ...], ...]:
    times = item.items()
    if len(times) != eot:
        item.refuse(f"a list of rows for each of the {eot} times")
    return tuple(tuple(_read_row(row) for row in rows.items()) for rows in times)


def _read_row(item: Item) -> Row:
    return tuple(read_cell(cell) for cell in item.items())


def _read_message(item: Item, eot: int) -> Message:
    again = ["again"] if "again" in item.mapping() else []
    relation, row, source, target, sent, arrived, *second = item.members(
        "relation", "row", "from", "to", "sent", "arrived", *again
    )
    at = sent.number(1, eot)
    # What arrives before it was sent would be an effect before its cause.
    arrivals = [None if time.value is None else time.number(at + 1, eot) for time in (arrived, *second)]
    return Message(relation.text(), _read_row(row), read_node(source), read_node(target), at, *arrivals)
