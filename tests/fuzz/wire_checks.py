"""What must hold of packets that are almost right, by their number: for the suite and for long runs."""

from __future__ import annotations

import random
import tracemalloc
from collections.abc import Callable, Mapping
from typing import Any

from clew.bloom.lattices.scalars import Lattice
from clew.bloom.network.wire import Frames, GarbageError, decode, encode
from clew.bloom.values import freeze_row
from fuzz.wire_mutations import frames, packet
from fuzz.wire_reference import LATTICE, StructureError, messages


def check_against_second_reader(number: int) -> int:
    """Compare what is read with what the format says; return how many rows there are."""
    data = packet(f"reader/{number}")
    found = decode(data)
    assert found.messages or found.garbage
    try:
        wanted = messages(data)
    except StructureError:
        wanted = []
    except RecursionError:
        return 0
    rows = [(m.channel, m.row) for m in found.messages]
    if len(rows) != len(wanted):  # only a lattice that is none is seen by one of them alone
        wanted = [m for m in wanted if not _contains_lattice(m)]
        rows = [m for m in rows if not _contains_lattice(m)]
    assert len(rows) == len(wanted), f"reader/{number}"
    assert all(map(_same, rows, wanted)), f"reader/{number}"
    return len(rows)


def check_sending_again(number: int) -> int:
    """Send what was read, and read it again."""
    read = decode(packet(f"again/{number}")).messages
    for message in read:
        assert freeze_row(message.row) == message.row
        (again,) = decode(encode(message.channel, message.row)).messages
        assert again == message, f"again/{number}"
    return len(read)


def check_memory(number: int) -> int:
    """Measure what reading takes: an element at most some 300 bytes, and there is no element without a byte."""
    data = packet(f"memory/{number}")
    tracemalloc.start()
    try:
        decode(data)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 300 * len(data) + 200_000, f"memory/{number}"
    return 1


def check_pieces(number: int) -> int:
    """Cut a stream into frames, whatever pieces of it arrive."""
    data = frames(f"stream/{number}")
    assert _cut(data, [len(data)]) == _cut(data, _pieces(f"pieces/{number}", len(data))), f"stream/{number}"
    return 1


#: By the names that long runs know them by.
WIRE_CHECKS: Mapping[str, Callable[[int], int]] = {
    "wire": check_against_second_reader,
    "wire-again": check_sending_again,
    "wire-memory": check_memory,
    "wire-pieces": check_pieces,
}


def _same(found: Any, wanted: Any) -> bool:
    """Equal in value and type; a lattice for a lattice."""
    if wanted is LATTICE:
        return isinstance(found, Lattice)
    if type(found) is not type(wanted):
        return False
    if isinstance(wanted, tuple):
        return len(found) == len(wanted) and all(map(_same, found, wanted))
    if isinstance(wanted, frozenset) and _contains_lattice(wanted):
        return True
    return bool(found == wanted)


def _contains_lattice(value: Any) -> bool:
    if isinstance(value, tuple | frozenset):
        return any(map(_contains_lattice, value))
    return value is LATTICE or isinstance(value, Lattice)


def _pieces(seed: str, size: int) -> list[int]:
    source = random.Random(seed)
    sizes = []
    while size > 0:
        sizes.append(min(size, source.choice([1, 2, 3, 10, 1_000, 100_000])))
        size -= sizes[-1]
    return sizes


def _cut(data: bytes, sizes: list[int]) -> tuple[list[bytes], str]:
    reader, found, at = Frames(), list[bytes](), 0
    try:
        for size in sizes:
            found += reader.feed(data[at : at + size])
            at += size
    except GarbageError as error:
        return found, str(error)
    return found, ""
