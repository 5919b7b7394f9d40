"""Packets that are almost right, by the thousand: to the reader, and to nodes on the network.

With ``--thorough`` a million to the reader and a hundred thousand to nodes.
"""

from __future__ import annotations

import random
import signal
import socket
import tracemalloc
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from bloom.network.network_programs import Echo
from bloom.network.test_running_processes import process
from clew.bloom.lattices.scalars import Lattice
from clew.bloom.network.wire import Frames, GarbageError, decode, encode
from clew.bloom.values import freeze_row
from fuzz.wire_mutations import frames, packet
from fuzz.wire_reference import LATTICE, StructureError, messages


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


def _numbers(request: pytest.FixtureRequest, normal: int, thorough: int) -> range:
    return range(thorough if request.config.getoption("--thorough") else normal)


def test_the_reader_reads_what_the_format_says(request: pytest.FixtureRequest) -> None:
    read = 0
    for number in _numbers(request, 2_500, 1_000_000):
        data = packet(f"reader/{number}")
        found = decode(data)
        assert found.messages or found.garbage
        try:
            wanted = messages(data)
        except StructureError:
            wanted = []
        except RecursionError:
            continue
        rows = [(m.channel, m.row) for m in found.messages]
        if len(rows) != len(wanted):  # only a lattice that is none is seen by one of them alone
            wanted = [m for m in wanted if not _contains_lattice(m)]
            rows = [m for m in rows if not _contains_lattice(m)]
        assert len(rows) == len(wanted), f"reader/{number}"
        assert all(map(_same, rows, wanted)), f"reader/{number}"
        read += len(rows)
    assert read > 500


def _contains_lattice(value: Any) -> bool:
    if isinstance(value, tuple | frozenset):
        return any(map(_contains_lattice, value))
    return value is LATTICE or isinstance(value, Lattice)


def test_what_was_read_can_be_sent_and_read_again(request: pytest.FixtureRequest) -> None:
    for number in _numbers(request, 1_500, 300_000):
        for message in decode(packet(f"again/{number}")).messages:
            assert freeze_row(message.row) == message.row
            (again,) = decode(encode(message.channel, message.row)).messages
            assert again == message, f"again/{number}"


def test_reading_takes_no_more_memory_than_the_bytes_are_worth(request: pytest.FixtureRequest) -> None:
    """An element takes at most some 300 bytes, and there is no element without a byte."""
    for number in _numbers(request, 1_000, 100_000):
        data = packet(f"memory/{number}")
        tracemalloc.start()
        try:
            decode(data)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert peak < 300 * len(data) + 200_000, f"memory/{number}"


def test_streams_are_cut_into_the_same_frames_whatever_pieces_arrive(request: pytest.FixtureRequest) -> None:
    for number in _numbers(request, 1_000, 100_000):
        data = frames(f"stream/{number}")
        assert _cut(data, [len(data)]) == _cut(data, _pieces(f"pieces/{number}", len(data))), f"stream/{number}"


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


def _is_answer(what: Any) -> Callable[[Any], bool]:
    return lambda row: bool(row.what == what)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the system does not tell the memory there")
@pytest.mark.parametrize("program", ["Sink", "SecretSink"])
def test_nodes_live_on_and_serve(program: str, request: pytest.FixtureRequest) -> None:
    secret = "a secret of the tests" if program == "SecretSink" else None
    numbers = _numbers(request, 1_000, 50_000)
    with process(program) as node, Echo(secret=secret) as client:
        host, port = node.address.split(":")
        where = host, int(port)
        early = None
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
            for number in numbers:
                with suppress(OSError):  # too large for a datagram
                    udp.sendto(packet(f"node/{number}"), where)
                if number % 10 == 0:
                    with suppress(OSError), socket.create_connection(where, timeout=10) as tcp:
                        tcp.sendall(frames(f"node/{number}"))
                if number % 100 == 0:
                    what: Any = number if number % 200 else str(number) * 1_000
                    row = client.insert_and_wait(
                        client.ask, (node.address, what), client.answer, _is_answer(what), timeout=30
                    )
                    assert row == (what,)
                if number == len(numbers) // 5:
                    early = node.resident()
        assert early is not None
        assert node.resident() - early < 30
        code, out, errors = node.end(signal.SIGTERM)
        assert code == 0 and out.startswith("ended [(")
        assert "Traceback" not in errors or program == "Sink"  # rules may fail with rows that fit a channel
