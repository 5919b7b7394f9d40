"""Counts of what the rules of a program did, in a file that other processes can read at any time.

A node may be in a process that is killed, and tests kill nodes.  So counts are not written when a process ends:
they *are* in a file, which is mapped into memory.  Each process, and each layout of rules in it, has a file of its
own: the magic number, the length of a header, the header (JSON: which rules and collections), and then numbers of
8 bytes.
"""

from __future__ import annotations

import json
import mmap
import os
import secrets
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from clew.bloom.tracing.rule_names import RuleName
from clew.files.reading import open_input

MAGIC = b"clewcov1"
_LENGTH = struct.Struct("<I")
_NUMBER = struct.Struct("<q")
#: The bytes before the header.
_START = len(MAGIC) + _LENGTH.size
#: What a file of counts is called when all of its header is written.
ENDING = ".counts"
#: Before the numbers of rules: steps, and nodes that made some.
_GENERAL = 2
#: A header beyond this is not ours.
_LONGEST_HEADER = 64 * 2**20


class RuleCounts(NamedTuple):
    """What a rule did: rows that it derived, steps in which it did, rows over the network, and their bytes."""

    firings: int = 0
    steps: int = 0
    messages: int = 0
    bytes: int = 0

    def plus(self, other: RuleCounts) -> RuleCounts:
        return RuleCounts(*map(sum, zip(self, other, strict=True)))


class CollectionCounts(NamedTuple):
    """What a collection had: rows of all steps (of tables: new ones), and the most at once at one node."""

    rows: int = 0
    most: int = 0

    def plus(self, other: CollectionCounts) -> CollectionCounts:
        return CollectionCounts(self.rows + other.rows, max(self.most, other.most))


@dataclass(frozen=True)
class Layout:
    """The rules and collections that a file has counts of, in order."""

    rules: tuple[RuleName, ...]
    collections: tuple[str, ...]

    @property
    def size(self) -> int:
        """Return how many numbers there are."""
        width = len(RuleCounts._fields) * len(self.rules) + len(CollectionCounts._fields) * len(self.collections)
        return _GENERAL + width


class CountsFile:
    """A file of counts that this process writes: ``numbers`` can be added to, and are in the file at once."""

    def __init__(self, folder: Path, layout: Layout) -> None:
        header = json.dumps({"rules": layout.rules, "collections": layout.collections}).encode()
        # The numbers are aligned, as memory that is read as numbers has to be.
        padding = b" " * (-(_START + len(header)) % _NUMBER.size)
        start = MAGIC + _LENGTH.pack(len(header) + len(padding)) + header + padding
        path = folder / f"{os.getpid()}-{secrets.token_hex(8)}"
        with path.open("x+b") as file:
            file.write(start)
            file.flush()
            # Reserved now: a full disk is an error here, and would end the process later, at a number.
            os.posix_fallocate(file.fileno(), 0, len(start) + layout.size * _NUMBER.size)
            memory = memoryview(mmap.mmap(file.fileno(), 0))
        self.numbers = memory[len(start) :].cast("q")
        self.collections_at = _GENERAL + len(RuleCounts._fields) * len(layout.rules)
        path.rename(path.with_suffix(ENDING))

    def count_step(self, *, is_first: bool) -> None:
        self.numbers[0] += 1
        self.numbers[1] += is_first

    def count_rule(self, number: int, firings: int, messages: int, size: int) -> None:
        """Count a step in which a rule fired."""
        at, numbers = _GENERAL + 4 * number, self.numbers
        numbers[at] += firings
        numbers[at + 1] += 1
        if messages:
            numbers[at + 2] += messages
            numbers[at + 3] += size

    def count_collection(self, number: int, rows: int, size: int) -> None:
        """Count what a collection had in a step."""
        at, numbers = self.collections_at + 2 * number, self.numbers
        if rows:
            numbers[at] += rows
        if size > numbers[at + 1]:
            numbers[at + 1] = size


class Counts(NamedTuple):
    """What one file says."""

    steps: int
    nodes: int
    rules: dict[RuleName, RuleCounts]
    collections: dict[str, CollectionCounts]


class BadCountsError(ValueError):
    """A file that is none of counts."""


def read_counts(path: Path) -> Counts:
    """Read a file of counts, also of a process that is still writing it."""
    with open_input(path) as file:  # code that is counted can put anything there
        start = file.read(_START)
        if len(start) < _START or not start.startswith(MAGIC):
            raise BadCountsError("it does not begin as counts do")
        (length,) = _LENGTH.unpack(start[len(MAGIC) :])
        # Before it is read, which takes as much memory as is asked for.
        if length > min(_LONGEST_HEADER, path.stat().st_size):
            raise BadCountsError("its header is too long")
        layout = _read_layout(file.read(length))
        if path.stat().st_size != _START + length + layout.size * _NUMBER.size:
            raise BadCountsError("it has another length than its header says")
        data = file.read(layout.size * _NUMBER.size)
    return _arrange(layout, [number for (number,) in _NUMBER.iter_unpack(data)])


def _read_layout(header: bytes) -> Layout:
    try:
        found: Any = json.loads(header)
        rules = tuple(_read_name(name) for name in found["rules"])
        collections = tuple(found["collections"])
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise BadCountsError(f"its header is none: {error}") from None
    if not all(isinstance(name, str) for name in collections):
        raise BadCountsError("the names of its collections are no texts")
    return Layout(rules, collections)


def _read_name(fields: Any) -> RuleName:
    match fields:
        case [str(file), int(line), int(column), str(block), int(occurrence)]:
            return RuleName(file, line, column, block, occurrence)
    raise ValueError("a rule has no name")


def _arrange(layout: Layout, numbers: Sequence[int]) -> Counts:
    rules_end = _GENERAL + len(RuleCounts._fields) * len(layout.rules)
    of_rules = zip(*[iter(numbers[_GENERAL:rules_end])] * len(RuleCounts._fields), strict=True)
    of_collections = zip(*[iter(numbers[rules_end:])] * len(CollectionCounts._fields), strict=True)
    return Counts(
        numbers[0],
        numbers[1],
        {name: RuleCounts(*each) for name, each in zip(layout.rules, of_rules, strict=True)},
        {name: CollectionCounts(*each) for name, each in zip(layout.collections, of_collections, strict=True)},
    )
