"""Packets over real sockets on the loopback interface."""

from __future__ import annotations

import asyncio
import socket
from collections import Counter
from collections.abc import Awaitable, Callable

import pytest

from clew.bloom.network import address_proofs as proofs
from clew.bloom.network import transport
from clew.bloom.network.addresses import Address, parse_address
from clew.bloom.network.datagrams import LARGEST_DATAGRAM, Datagrams
from clew.bloom.network.limits import DEFAULT_LIMITS, Limits
from clew.bloom.network.streams import Streams
from clew.bloom.network.transport import Transport
from clew.bloom.network.wire import make_frame
from clew.errors import UsageError

HERE = Address("127.0.0.1", 0)


class Peer:
    """A transport and what it got."""

    def __init__(self, limits: Limits = DEFAULT_LIMITS) -> None:
        self.packets: list[bytes] = []
        self.garbage: Counter[str] = Counter()
        self.address = HERE
        self._limits = limits

    async def open(self, wanted: Address = HERE) -> Peer:
        self.transport = Transport(self.packets.append, self.garbage, self._limits)
        self.address = await self.transport.open(wanted)
        return self

    @property
    def streams(self) -> Streams:
        assert self.transport._streams is not None
        return self.transport._streams

    @property
    def datagrams(self) -> Datagrams:
        assert self.transport._datagrams is not None
        return self.transport._datagrams

    async def until(self, holds: Callable[[], bool]) -> None:
        async with asyncio.timeout(10):
            while not holds():
                await asyncio.sleep(0.001)


def run(test: Callable[[Peer, Peer], Awaitable[None]], limits: Limits = DEFAULT_LIMITS) -> None:
    async def both() -> None:
        one, two = Peer(limits), Peer(limits)
        await one.open()
        try:
            await two.open()
            await test(one, two)
        finally:
            await one.transport.close()
            await two.transport.close()
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(both())


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("localhost:80", Address("localhost", 80)),
        ("[::1]:5", Address("::1", 5)),
        ("127.0.0.1:0", Address("127.0.0.1", 0)),
        ("::1:5", None),
        ("localhost", None),
        (":80", None),
        ("a:65536", None),
        ("a:-1", None),
        ("a:²", None),
        ("a:", None),
        (b"a:1", None),
        (7, None),
    ],
)
def test_addresses(text: object, address: Address | None) -> None:
    assert parse_address(text) == address
    if address is not None:
        assert str(address) == text


def test_small_messages_share_a_datagram() -> None:
    async def test(one: Peer, two: Peer) -> None:
        one.transport.send(two.address, [b"a" * 700, b"b" * 700, b"c"])
        await two.until(lambda: len(two.packets) == 2)
        assert two.packets == [b"a" * 700 + b"b" * 700, b"c"]

    run(test)


def test_large_messages_go_over_one_connection() -> None:
    async def test(one: Peer, two: Peer) -> None:
        large = [bytes([k]) * (LARGEST_DATAGRAM + 1) for k in range(5)] + [b"x" * DEFAULT_LIMITS.frame]
        for message in large:
            one.transport.send(two.address, [message])
        await two.until(lambda: len(two.packets) == 6)
        assert two.packets == large
        assert len(two.streams.incoming) == 1

    run(test)


def test_a_peer_that_comes_back_gets_a_new_connection() -> None:
    async def test(one: Peer, two: Peer) -> None:
        large = b"x" * 5000
        one.transport.send(two.address, [large])
        await two.until(lambda: two.packets == [large])
        await two.transport.close()
        await one.until(lambda: not one.streams.outgoing)
        again = await Peer().open(two.address)
        one.transport.send(two.address, [large])
        await again.until(lambda: again.packets == [large])
        await again.transport.close()

    run(test)


def test_names_are_looked_up_once() -> None:
    async def test(one: Peer, two: Peer) -> None:
        named = Address("localhost", two.address.port)
        for k in range(3):
            one.transport.send(named, [bytes([k])])
        await two.until(lambda: len(two.packets) == 3)
        assert two.packets == [b"\0", b"\1", b"\2"]
        assert list(one.transport._names) == [named]

    run(test)


def test_unreachable_peers_are_counted() -> None:
    async def test(one: Peer, two: Peer) -> None:
        await two.transport.close()
        one.transport.send(two.address, [b"small"])  # nobody can tell
        one.transport.send(two.address, [b"x" * 5000, b"y" * 5000])
        await one.until(lambda: one.garbage == {"not connected": 2})
        one.transport.send(Address("no.such.host.invalid", 1), [b"a", b"b" * LARGEST_DATAGRAM])
        await one.until(lambda: one.garbage["unknown host"] == 2)
        one.transport.send(Address("a" * 64 + ".invalid", 1), [b"a"])
        await one.until(lambda: one.garbage["unknown host"] == 3)
        one.transport.send(Address("127.0.0.1", 0), [b"a"])
        one.transport.send(Address("255.255.255.255", 9), [b"a"])
        assert one.garbage == {"not connected": 2, "unknown host": 3, "send error": 2}

    run(test)


def test_bytes_that_are_no_frames_end_the_connection_only() -> None:
    async def test(one: Peer, two: Peer) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", two.address.port)
        writer.write(make_frame(b"good") + b"\xff\xff\xff\xff")
        assert await reader.read() == b""
        writer.close()
        assert (two.packets, two.garbage) == ([b"good"], {"too large": 1})
        assert not two.streams.incoming

    run(test)


def test_a_frame_that_breaks_off_is_counted() -> None:
    async def test(one: Peer, two: Peer) -> None:
        _, writer = await asyncio.open_connection("127.0.0.1", two.address.port)
        writer.write(make_frame(b"good")[:-1])
        writer.close()
        await two.until(lambda: two.garbage == {"incomplete": 1})
        assert two.packets == []

    run(test)


def test_unfinished_frames_are_limited() -> None:
    async def test(one: Peer, two: Peer) -> None:
        writers = [(await asyncio.open_connection("127.0.0.1", two.address.port))[1] for _ in range(3)]
        for writer in writers:
            writer.write(make_frame(b"x" * 5000)[:-1])
        await two.until(lambda: two.garbage == {"too much unfinished": 2})
        for writer in writers:
            writer.close()
        await two.until(lambda: not two.streams.incoming)
        assert two.streams.unfinished == 0
        one.transport.send(two.address, [b"y" * 9000])
        await two.until(lambda: two.packets == [b"y" * 9000])

    run(test, Limits(unfinished=10_000))


def test_connections_are_limited() -> None:
    async def test(one: Peer, two: Peer) -> None:
        writers = [(await asyncio.open_connection("127.0.0.1", two.address.port))[1] for _ in range(3)]
        await two.until(lambda: two.garbage == {"too many connections": 1})
        assert len(two.streams.incoming) == 2
        for writer in writers:
            writer.close()
        others = [await Peer().open() for _ in range(3)]
        for other in others:
            one.transport.send(other.address, [b"x" * 5000])
        for other in others:
            await other.until(lambda other=other: other.packets == [b"x" * 5000])  # type: ignore[misc]
        assert len(one.streams.outgoing) == 2
        for other in others:
            await other.transport.close()

    run(test, Limits(connections=2))


def test_what_waits_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "_MOST_WAITING", 2)
    monkeypatch.setattr(proofs, "MOST_HELD", 2)

    async def test(one: Peer, two: Peer) -> None:
        named = Address("localhost", two.address.port)
        one.transport.send(named, [b"a" * LARGEST_DATAGRAM] * 3)
        assert one.garbage == {"too much to send": 1}
        one.transport.send(two.address, [b"b" * 5000] * 2)
        assert one.garbage == {"too much to send": 2}
        await two.until(lambda: len(two.packets) == 3)

    run(test, Limits(unsent=6000))


def test_datagrams_wait_while_the_system_takes_none() -> None:
    class Full:
        """Refuses a few times."""

        def __init__(self, real: socket.socket) -> None:
            self.real, self.refusals = real, 3

        def sendto(self, packet: bytes, where: tuple[str, int]) -> int:
            if self.refusals:
                self.refusals -= 1
                raise BlockingIOError
            return self.real.sendto(packet, where)

        def __getattr__(self, name: str) -> object:
            return getattr(self.real, name)

    async def test(one: Peer, two: Peer) -> None:
        one.transport.send(two.address, [b"first"])  # so that the address is proved
        await two.until(lambda: two.packets == [b"first"])
        two.packets.clear()
        one.datagrams.socket = Full(one.datagrams.socket)  # type: ignore[assignment]
        messages = [bytes([k]) * LARGEST_DATAGRAM for k in range(10)]
        one.transport.send(two.address, messages)
        assert len(one.datagrams._unsent) == 10
        await two.until(lambda: len(two.packets) == 10)
        assert two.packets == messages
        assert one.garbage == {}

    run(test)


def test_both_sockets_have_the_same_port() -> None:
    async def test(one: Peer, two: Peer) -> None:
        one.transport.send(two.address, [b"x" * 5000, b"y"])
        await two.until(lambda: len(two.packets) == 2)
        assert sorted(two.packets) == [b"x" * 5000, b"y"]
        assert two.address.port != 0

    run(test)


def test_a_port_in_use_is_an_error_with_a_remedy() -> None:
    async def test(one: Peer, two: Peer) -> None:
        with pytest.raises(UsageError) as raised:
            await Peer().open(one.address)
        assert raised.value.message.startswith(f"the node cannot listen at {one.address}: ")
        assert raised.value.remedy == "give it an address of this machine with a free port; port 0 means any"

    run(test)


@pytest.mark.parametrize("host", ["no.such.host.invalid", "192.0.2.1"])
def test_an_address_of_another_machine_is_an_error(host: str) -> None:
    async def test() -> None:
        with pytest.raises(UsageError, match=f"the node cannot listen at {host}:0"):
            await Peer().open(Address(host, 0))

    asyncio.run(test())
