"""What a node spends on others at most: bytes, elements, connections, log lines, and answers to strangers."""

from __future__ import annotations

import random
import resource
import socket
import struct
import time
import tracemalloc
from contextlib import suppress
from typing import Any

import msgpack  # type: ignore[import-untyped]
import pytest

from bloom.network.network_programs import Echo, until
from clew.bloom import Bloom, Limits, bloom, channel, table
from clew.bloom.network.address_proofs import MULTIPLE
from clew.bloom.network.element_count import LONGEST_EXTENSION
from clew.bloom.network.limits import DEFAULT_LIMITS
from clew.bloom.network.wire import GarbageError, NotSentError, Packet, decode, encode, make_frame, pack, unpack
from clew.errors import UsageError


def port_of(node: Bloom) -> tuple[str, int]:
    host, port = node.ip_port.split(":")
    return host, int(port)


def filled(size: int, item: bytes) -> bytes:
    """A message of about that many bytes: a row with one long tuple of these items."""
    number = (size - 20) // len(item)
    return b"\x93\x01\xa4ping\x91\xdd" + struct.pack(">I", number) + item * number


ITEMS = {
    "nil": b"\xc0",
    "tuples": b"\x91\xc0",
    "sets": b"\xd5\x01\x91\xc0",
    "texts": b"\xa1x",
    "messages": b"\x93\x01\xa1c\x90",
}


@pytest.mark.parametrize("kind", ITEMS)
def test_a_frame_with_too_many_elements_is_refused_before_anything_is_built(kind: str) -> None:
    item = ITEMS[kind]
    data = filled(2**20, item) if kind != "messages" else item * (2**20 // len(item))
    decode(data)
    tracemalloc.start()
    try:
        assert decode(data) == Packet((), ("too many elements",))
        assert tracemalloc.get_traced_memory()[1] < 100_000
    finally:
        tracemalloc.stop()


def test_a_message_that_cannot_be_read_hides_no_elements_behind_it() -> None:
    broken = b"\x93\x01\xa1c\x91\xd4\x01\xc1"
    data = broken + ITEMS["messages"] * (2**20 // len(ITEMS["messages"]) - 2)
    assert decode(data) == Packet((), ("too many elements",))
    (message,) = decode(broken + ITEMS["messages"]).messages
    assert message.channel == "c"


@pytest.mark.parametrize("kind", ITEMS)
def test_an_extension_without_end_hides_no_elements_behind_it(kind: str) -> None:
    """Neither in small packets, where nothing is counted otherwise, nor in bytes that are sent."""
    header = LONGEST_EXTENSION + b"\x01"
    for data in (header + ITEMS[kind] * 3, header + ITEMS[kind] * (2**20 // len(ITEMS[kind]) - 6)):
        assert decode(data) == Packet((), ("too many elements",))
    row = (LONGEST_EXTENSION,)
    assert decode(encode("c", row)).messages[0].row == row


def test_sixteen_megabytes_are_refused_by_their_length() -> None:
    with Echo() as one, Echo() as two:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        with socket.create_connection(port_of(two)) as tcp, pytest.raises(OSError):
            data = make_frame(filled(16 * 2**20, b"\xd5\x01\x91\xc0"))
            while True:
                tcp.sendall(data)
        until(lambda: two.garbage["too large"] == 1)
        assert one.insert_and_wait(one.ask, (two.ip_port, "x" * 5000), one.answer) == ("x" * 5000,)
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000  # kilobytes; 965 MB once


@pytest.mark.parametrize("elements", [1_000, 30_000])
def test_what_is_sent_is_what_is_taken(elements: int) -> None:
    limits = Limits(elements=elements)
    for number in (elements - 10, elements + 10):
        row = ("127.0.0.1:1", "127.0.0.1:2", tuple(["xy"] * number))
        if number > elements:
            with pytest.raises(NotSentError, match=f"it has more than {elements} elements"):
                encode("ping", row, limits)
            plain = msgpack.packb([1, "ping", row])
            assert decode(plain, limits) == Packet((), ("too many elements",))
        else:
            assert decode(encode("ping", row, limits), limits).messages[0].row == row


def test_durable_rows_may_be_larger_than_what_is_sent() -> None:
    """They once could be written and not read again."""
    row = (b"x" * (17 * 2**20), tuple(range(100_000)))
    assert unpack(pack(row)) == row
    with pytest.raises(GarbageError):
        unpack(pack(row)[:-1])


@pytest.mark.parametrize("wrong", [{"frame": 0}, {"idle_seconds": -1.0}, {"elements": True}, {"frame": 2**32}])
def test_limits_are_positive(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="the limit"):
        Limits(**wrong)


# -- connections -------------------------------------------------------------------------------------------------


def test_silent_connections_do_not_block_large_rows() -> None:
    with Echo() as one, Echo() as two:
        silent = [socket.create_connection(port_of(two)) for _ in range(DEFAULT_LIMITS.connections + 44)]
        try:
            for turn in range(3):
                what = str(turn) * 5000
                assert one.insert_and_wait(one.ask, (two.ip_port, what), one.answer) == (what,)
            assert two.garbage["too many connections"] >= 44
        finally:
            for tcp in silent:
                tcp.close()


@pytest.mark.parametrize(
    ("sent", "reason"),
    [(b"", "silent"), (b"\0\0", "too slow"), (make_frame(b"x" * 1000)[:-1], "too slow")],
    ids=["nothing", "half a length", "half a frame"],
)
def test_a_connection_has_to_say_something_in_time(sent: bytes, reason: str) -> None:
    with Echo(limits=Limits(frame_seconds=0.2)) as node, socket.create_connection(port_of(node)) as tcp:
        tcp.sendall(sent)
        until(lambda: node.garbage == {reason: 1})


def test_a_frame_that_trickles_is_cut_off() -> None:
    with Echo(limits=Limits(frame_seconds=0.3)) as node, socket.create_connection(port_of(node)) as tcp:
        with pytest.raises(OSError):
            for byte in make_frame(b"x" * 10_000):
                tcp.sendall(bytes([byte]))
                time.sleep(0.01)
        assert node.garbage == {"too slow": 1}


def test_idle_connections_end_and_nothing_is_lost() -> None:
    """Who opened one closes it first; the next row opens another."""
    limits = Limits(idle_seconds=0.5)
    with Echo(limits=limits) as one, Echo(limits=limits) as two:
        for turn in range(3):
            what = str(turn) * 5000
            assert one.insert_and_wait(one.ask, (two.ip_port, what), one.answer) == (what,)
            until(lambda: _connections(one) == _connections(two) == 0)
        assert (one.garbage, two.garbage) == ({}, {})


def _connections(node: Bloom) -> int:
    assert node._driver is not None and node._driver._transport is not None
    streams = node._driver._transport._streams
    assert streams is not None
    return len(streams.incoming) + len(streams.outgoing)


def test_a_server_that_is_no_node_gets_no_rows() -> None:
    with Echo(limits=Limits(frame_seconds=0.3)) as node, socket.create_server(("127.0.0.1", 0)) as server:
        host, port = server.getsockname()
        node.ask.insert((f"{host}:{port}", "x" * 100_000))
        connection, _ = server.accept()
        with connection:
            connection.settimeout(10)
            got = bytearray()
            while data := connection.recv(65536):
                got += data
            assert len(got) == 4 + 18  # the question
        until(lambda: node.garbage["no answer"] == 1)


# -- log lines ---------------------------------------------------------------------------------------------------


def test_refused_rows_cost_a_few_lines(caplog: pytest.LogCaptureFixture) -> None:
    with Echo() as node, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        for number in range(500):
            udp.sendto(encode("nothing" * 100, (number,)), port_of(node))
            udp.sendto(encode("ping", (number,)), port_of(node))
        until(lambda: sum(node.garbage.values()) == 1000)
    lines = [r.getMessage() for r in caplog.records if r.name == "clew.bloom"]
    assert len(lines) == 22 and max(map(len, lines)) < 600
    assert sorted(lines)[-1].startswith("wrong width: 490 more like that")


# -- answers to strangers ----------------------------------------------------------------------------------------


class Library(Bloom):
    """Answers a short question with a long text."""

    write = channel("@dst", "key", val=["text"])
    read = channel("@dst", "reader", "number", val=["key"])
    answer = channel("@dst", "number", val=["text"])
    texts = table("key", val=["text"])

    @bloom
    def rules(self) -> None:
        self.texts <= self.write(lambda w: (w.key, w.text))
        self.answer <~ (self.read * self.texts).pairs(lambda r, t: (r.reader, r.number, t.text), key="key")


@pytest.mark.parametrize("size", [1000, 30_000], ids=["datagrams", "connections"])
def test_nobody_gets_what_somebody_else_asked_for(size: int) -> None:
    """783 bytes were answered with 35,641 to a forged address."""
    with Library() as node, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as victim:
        victim.bind(("127.0.0.1", 0))
        host, port = victim.getsockname()
        victim.settimeout(0.5)
        with socket.create_server((host, port)) as server, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
            server.settimeout(0.5)
            with socket.create_connection(port_of(node)) as tcp:
                tcp.sendall(make_frame(encode("write", ("", "k", "x" * size))))
                until(lambda: len(node.texts) == 1)
            asked = b"".join(encode("read", ("", f"{host}:{port}", number, "k")) for number in range(25))
            udp.sendto(asked, port_of(node))
            got = sum(map(len, _datagrams(victim)))
            try:
                connection, _ = server.accept()
            except TimeoutError:
                pass
            else:
                with connection:
                    connection.settimeout(0.5)
                    with suppress(TimeoutError):
                        got += len(connection.recv(1_000_000))
            assert got <= MULTIPLE * len(asked)
            assert got <= 3 * 18 + 22  # nothing but questions


def test_who_asks_for_himself_gets_a_multiple_without_a_proof() -> None:
    """A client that is no node may be there; its address may also be forged."""
    source = random.Random(1)
    with Library() as node, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.bind(("127.0.0.1", 0))
        client.settimeout(0.5)
        host, port = client.getsockname()
        client.sendto(encode("write", ("", "k", "x" * 100)), port_of(node))
        sent = len(encode("write", ("", "k", "x" * 100)))
        for number in range(50):
            data = encode("read", ("", f"{host}:{port}", number, source.choice("kkkx")))
            client.sendto(data, port_of(node))
            sent += len(data)
        got = [len(data) for data in _datagrams(client)]
        assert 0 < sum(got) <= MULTIPLE * sent + 3 * 18
        assert sum(got) > sent


def _datagrams(udp: socket.socket) -> list[bytes]:
    found = []
    try:
        while True:
            found.append(udp.recv(65536))
    except TimeoutError:
        return found
