"""Packets between nodes: datagrams, and connections for what does not fit one, on the same port number.

Nothing here knows about rows.  Whatever goes wrong with a peer (its name, its network, its bytes) is counted and
otherwise without consequence: a channel promises nothing, and a node outlives its peers.
"""

from __future__ import annotations

import asyncio
import errno
import socket
from collections import Counter, deque
from collections.abc import Callable, Coroutine, Iterable
from contextlib import suppress
from typing import Any

from clew.bloom.addresses import Address, SocketAddress, numeric
from clew.bloom.wire import Frames, GarbageError, batched, framed
from clew.errors import UsageError

#: Larger packets go over a connection: datagrams of this size are not cut on the way.
LARGEST_DATAGRAM = 1400
#: Asked of the system for datagrams that wait to be read, in bytes; it may grant less.
_RECEIVE_BUFFER = 4 * 2**20
#: Datagrams read before the node gets its turn.
_READ_AT_ONCE = 400
#: Datagrams that wait because the system takes no more, and packets that wait for a name or a connection.
_MOST_WAITING = 10_000
#: Bytes that wait for a peer that does not read.
_MOST_UNREAD = 64 * 2**20
#: Connections, those that others opened and those that this node opened.
_MOST_CONNECTIONS = 256
#: Bytes of packets that are not complete, of all incoming connections.
_MOST_BUFFERED = 256 * 2**20
_MOST_NAMES = 10_000
_CONNECT_SECONDS = 5.0
#: How long a name that was looked up is believed, in seconds.
_NAME_SECONDS = 60.0


class Transport:
    """The sockets of a node.  ``received`` is called with each packet; ``garbage`` counts what went wrong.

    It lives in one event loop: everything is called from there.
    """

    def __init__(self, received: Callable[[bytes], None], garbage: Counter[str]) -> None:
        self._received = received
        self.garbage = garbage
        self._loop = asyncio.get_running_loop()
        self._udp: socket.socket | None = None
        self._server: asyncio.Server | None = None
        self._buffer = bytearray(65536)
        self._unsent: deque[tuple[bytes, SocketAddress]] = deque()
        self._names: dict[Address, tuple[float, SocketAddress]] = {}
        self._unnamed: dict[Address, list[bytes]] = {}
        self._outgoing: dict[SocketAddress, _Outgoing] = {}
        self._open: set[asyncio.Transport] = set()
        self._incoming = 0
        self._buffered = 0
        self._tasks: set[asyncio.Task[None]] = set()

    # -- opening and closing -------------------------------------------------------------------------------------

    async def open(self, wanted: Address) -> Address:
        """Listens; the address says which port it became if any would do."""
        family, where = await self._own(wanted)
        for _ in range(20):  # a port that is free for datagrams may be in use for connections
            udp, tcp = _bound(family, where, wanted)
            if tcp is not None:
                break
            udp.close()
        else:
            raise _not_bound(wanted, "no port is free for datagrams and connections")
        self._udp = udp
        self._loop.add_reader(udp.fileno(), self._read)
        self._server = await self._loop.create_server(lambda: _Incoming(self), sock=tcp)
        return Address(wanted.host, udp.getsockname()[1])

    async def _own(self, wanted: Address) -> tuple[int, SocketAddress]:
        try:
            found = await self._resolved(wanted, socket.AF_UNSPEC)
        except (OSError, UnicodeError) as error:
            raise _not_bound(wanted, error) from error
        # "localhost" may be both; peers that name it get the same one first, see _looked_up.
        family, _, _, _, where = min(found, key=lambda entry: entry[0] != socket.AF_INET)
        return family, where

    async def close(self) -> None:
        """Gives everything back; what is still unsent is lost, as with a crash."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._udp is not None:
            self._loop.remove_reader(self._udp.fileno())
            self._loop.remove_writer(self._udp.fileno())
            self._udp.close()
            self._udp = None
        for connection in list(self._open):
            connection.abort()
        if self._server is not None:
            self._server.close()
            await self._server.wait_closed()
        await asyncio.sleep(0)  # connections are given back in the next turn of the loop
        await asyncio.sleep(0)

    # -- receiving -----------------------------------------------------------------------------------------------

    def _read(self) -> None:
        """All datagrams that are there: the node takes them in one step."""
        assert self._udp is not None
        view = memoryview(self._buffer)
        for _ in range(_READ_AT_ONCE):
            try:
                size = self._udp.recv_into(view)
            except (BlockingIOError, InterruptedError):
                return
            except OSError:
                self.garbage["receive error"] += 1
                return
            self._received(bytes(view[:size]))

    def buffered(self, change: int) -> bool:
        """Whether packets that are not complete yet may take that many bytes more, all connections together."""
        self._buffered += change
        return self._buffered <= _MOST_BUFFERED

    def accepted(self, connection: asyncio.Transport) -> bool:
        """Whether another connection from a peer is kept."""
        self._open.add(connection)
        self._incoming += 1
        if self._incoming > _MOST_CONNECTIONS:
            self.garbage["too many connections"] += 1
            connection.abort()
            return False
        return True

    def ended(self, connection: asyncio.Transport) -> None:
        self._open.discard(connection)
        self._incoming -= 1

    def packet(self, data: bytes) -> None:
        self._received(data)

    # -- sending -------------------------------------------------------------------------------------------------

    def send(self, address: Address, messages: Iterable[bytes]) -> None:
        """Messages to one node, joined to packets.  It returns at once."""
        assert self._udp is not None
        packets = list(batched(messages, LARGEST_DATAGRAM))
        known = self._names.get(address)
        if known is not None and known[0] > self._loop.time():
            self._send_to(known[1], packets)
        elif address in self._unnamed:
            self._keep(self._unnamed[address], packets)
        elif (where := numeric(address, self._udp.family)) is not None:
            self._remember(address, where)
            self._send_to(where, packets)
        else:
            self._unnamed[address] = []
            self._keep(self._unnamed[address], packets)
            self._spawn(self._look_up(address))

    def _send_to(self, where: SocketAddress, packets: list[bytes]) -> None:
        for packet in packets:
            if len(packet) > LARGEST_DATAGRAM:
                self._send_on_connection(where, packet)
            elif self._unsent:
                self._later(packet, where)
            else:
                self._send_datagram(packet, where)

    def _send_datagram(self, packet: bytes, where: SocketAddress) -> None:
        assert self._udp is not None
        try:
            self._udp.sendto(packet, where)
        except (BlockingIOError, InterruptedError):
            self._later(packet, where)
            self._loop.add_writer(self._udp.fileno(), self._send_unsent)
        except (OSError, OverflowError):
            self.garbage["send error"] += 1

    def _later(self, packet: bytes, where: SocketAddress) -> None:
        if len(self._unsent) >= _MOST_WAITING:
            self.garbage["too much to send"] += 1
        else:
            self._unsent.append((packet, where))

    def _send_unsent(self) -> None:
        assert self._udp is not None
        self._loop.remove_writer(self._udp.fileno())
        waiting, self._unsent = self._unsent, deque()
        for packet, where in waiting:
            self._send_to(where, [packet])

    def _keep(self, waiting: list[bytes], packets: list[bytes]) -> None:
        room = _MOST_WAITING - len(waiting)
        waiting += packets[:room]
        if len(packets) > room:
            self.garbage["too much to send"] += len(packets) - room

    async def _resolved(self, address: Address, family: int) -> list[tuple[Any, ...]]:
        return await self._loop.getaddrinfo(address.host, address.port, family=family, type=socket.SOCK_DGRAM)

    async def _look_up(self, address: Address) -> None:
        assert self._udp is not None
        try:
            found = await self._resolved(address, self._udp.family)
        except (OSError, UnicodeError):
            self.garbage["unknown host"] += len(self._unnamed.pop(address))
            return
        self._remember(address, found[0][4])
        self._send_to(found[0][4], self._unnamed.pop(address))

    def _remember(self, address: Address, where: SocketAddress) -> None:
        if len(self._names) >= _MOST_NAMES:
            self._names.clear()
        self._names[address] = (self._loop.time() + _NAME_SECONDS, where)

    # -- connections ---------------------------------------------------------------------------------------------

    def _send_on_connection(self, where: SocketAddress, packet: bytes) -> None:
        peer = self._outgoing.get(where)
        if peer is None:
            self._make_room()
            peer = self._outgoing[where] = _Outgoing(self, where)
            self._spawn(self._connect(peer))
        peer.send(packet)

    def _make_room(self) -> None:
        """The connection that was opened first goes."""
        if len(self._outgoing) >= _MOST_CONNECTIONS:
            self._outgoing.pop(next(iter(self._outgoing))).close()

    async def _connect(self, peer: _Outgoing) -> None:
        assert self._udp is not None
        host, port = peer.where[:2]
        try:
            async with asyncio.timeout(_CONNECT_SECONDS):
                await self._loop.create_connection(lambda: peer, host, port, family=self._udp.family)
        except (OSError, TimeoutError):
            self.garbage["not connected"] += len(peer.waiting)
            self.forget(peer)

    def opened(self, connection: asyncio.Transport) -> None:
        self._open.add(connection)

    def forget(self, peer: _Outgoing) -> None:
        """The next packet to this peer opens a connection again."""
        if self._outgoing.get(peer.where) is peer:
            del self._outgoing[peer.where]
        if peer.transport is not None:
            self._open.discard(peer.transport)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


class _Outgoing(asyncio.Protocol):
    """A connection that this node opened; packets wait until it is there."""

    def __init__(self, owner: Transport, where: SocketAddress) -> None:
        self.where = where
        self.transport: asyncio.Transport | None = None
        self.waiting: list[bytes] = []
        self._owner = owner
        self._size = 0
        self._unwanted = False

    def close(self) -> None:
        """As soon as everything is sent."""
        self._unwanted = True
        if self.transport is not None:
            self.transport.close()

    def send(self, packet: bytes) -> None:
        unread = self._size if self.transport is None else self.transport.get_write_buffer_size()
        if unread + len(packet) > _MOST_UNREAD:
            self._owner.garbage["too much to send"] += 1
        elif self.transport is None:
            self.waiting.append(packet)
            self._size += len(packet)
        else:
            self.transport.write(framed(packet))

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        for packet in self.waiting:
            transport.write(framed(packet))
        self.waiting.clear()
        self._owner.opened(transport)
        if self._unwanted:
            transport.close()

    def data_received(self, data: bytes) -> None:
        self._owner.garbage["unexpected answer"] += 1

    def connection_lost(self, error: Exception | None) -> None:
        self._owner.forget(self)


class _Incoming(asyncio.Protocol):
    """A connection that a peer opened."""

    def __init__(self, owner: Transport) -> None:
        self._owner = owner
        self._frames = Frames()
        self._kept = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._kept = self._owner.accepted(transport)

    def data_received(self, data: bytes) -> None:
        if not self._kept:
            return
        before = self._frames.waiting
        try:
            for packet in self._frames.feed(data):
                self._owner.packet(packet)
        except GarbageError as error:
            self._refuse(str(error))
        if not self._owner.buffered(self._frames.waiting - before):
            self._refuse("too much unfinished")

    def _refuse(self, reason: str) -> None:
        if self._kept:
            self._owner.garbage[reason] += 1
            self._kept = False
            self._transport.abort()

    def connection_lost(self, error: Exception | None) -> None:
        self._owner.buffered(-self._frames.waiting)
        if self._kept and self._frames.waiting:
            self._owner.garbage["incomplete"] += 1
        self._owner.ended(self._transport)


def _bound(family: int, where: SocketAddress, wanted: Address) -> tuple[socket.socket, socket.socket | None]:
    """A socket for datagrams and one for connections; None if any port would do, but not this one."""
    udp = socket.socket(family, socket.SOCK_DGRAM)
    tcp = socket.socket(family, socket.SOCK_STREAM)
    try:
        udp.setblocking(False)
        with suppress(OSError):
            udp.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _RECEIVE_BUFFER)
        tcp.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        udp.bind(where)
        tcp.bind((where[0], udp.getsockname()[1], *where[2:]))
    except OSError as error:
        tcp.close()
        if error.errno == errno.EADDRINUSE and wanted.port == 0:
            return udp, None
        udp.close()
        raise _not_bound(wanted, error) from error
    return udp, tcp


def _not_bound(wanted: Address, why: object) -> UsageError:
    return UsageError(
        f"the node cannot listen at {wanted}: {why}",
        remedy="give it an address of this machine with a free port; port 0 means any",
    )
