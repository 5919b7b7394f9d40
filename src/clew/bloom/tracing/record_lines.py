"""Traces in files: one record a line, as JSON, in a file for each process.

Values are written as Python writes them, for not all of them have a form in JSON; so a record that was read has
texts where that of ``trace`` has values.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from clew.bloom.tracing.traces import TraceRecord
from clew.bloom.values import spell
from clew.files.reading import open_input

ENDING = ".trace"
#: A row takes at most 1 MB on the network; a record beyond this is not ours.
_LONGEST_LINE = 64 * 2**20


class RecordLine(NamedTuple):
    """A record of a trace, with texts for the values.  ``to`` is None for a row that stays at its node."""

    time: float
    node: str
    step: int
    rule: str
    collection: str
    operator: str
    row: tuple[str, ...]
    to: str | None

    def __str__(self) -> str:
        goes = f", to {self.to}" if self.to is not None else ""
        row = f"({', '.join(self.row)})"
        return f"{self.node} step {self.step}: {self.collection} {self.operator} {row}{goes} ({self.rule})"


def open_lines(folder: Path) -> BinaryIO:
    """Open the file of this process."""
    path = folder / f"{os.getpid()}-{secrets.token_hex(8)}{ENDING}"
    # Without a buffer: what a process wrote before it was killed is there.
    return path.open("xb", buffering=0)


def append_line(file: BinaryIO, record: TraceRecord) -> None:
    """Write a record down."""
    to = None if record.to is None else str(record.to)
    row = tuple(map(spell, record.row))
    line = RecordLine(
        record.time, record.node, record.step, record.rule, record.collection, record.operator, row, to
    )
    file.write(json.dumps(line).encode() + b"\n")


def read_lines(path: Path) -> Iterator[RecordLine]:
    """Yield the records of a file; the last line of a process that was killed may be half a record."""
    with open_input(path) as file:
        while line := file.readline(_LONGEST_LINE):
            record = _read(line)
            if record is None:
                return
            yield record


def _read(line: bytes) -> RecordLine | None:
    try:
        fields: Any = json.loads(line)
    except (ValueError, RecursionError):
        return None
    match fields:
        case [float(time), str(node), int(step), str(rule), str(collection), str(operator), list(row), to]:
            if (to is None or isinstance(to, str)) and all(isinstance(value, str) for value in row):
                return RecordLine(time, node, step, rule, collection, operator, tuple(row), to)
    return None
