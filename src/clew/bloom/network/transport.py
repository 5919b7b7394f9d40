"""Packets between nodes: datagrams, and connections for what does not fit one, on the same port number.

Nothing here knows about rows.  Whatever goes wrong with a peer (its name, its network, its bytes) is counted and
otherwise without consequence: a channel promises nothing, and a node outlives its peers.  With TLS there are
connections only.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import socket
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable
from contextlib import suppress
from typing import Any

from clew.bloom.network.access import OPEN, Access, Peers, is_loopback
from clew.bloom.network.addresses import Address, SocketAddress, numeric_address
from clew.bloom.network.datagrams import Datagrams
from clew.bloom.network.limits import DEFAULT_LIMITS, LimitedLog, Limits
from clew.bloom.network.streams import Incoming, Streams
from clew.bloom.network.wire import batch
from clew.errors import UsageError

_log = logging.getLogger("clew.bloom")

#: Asked of the system for datagrams that wait to be read, in bytes; it may grant less.
_RECEIVE_BUFFER = 4 * 2**20
#: Packets that wait for a name.
_MOST_WAITING = 10_000
_MOST_NAMES = 10_000
#: How long a name that was looked up is believed, in seconds.
_NAME_SECONDS = 60.0
#: Messages that go over a connection anyway are joined to packets of this size.
_FRAME_OF_MANY = 2**16


class Transport:
    """The sockets of a node.  ``received`` is called with each packet, and returns False if it was only garbage;
    ``garbage`` counts what went wrong.

    It lives in one event loop: everything is called from there.
    """

    def __init__(
        self,
        received: Callable[[bytes], object],
        garbage: Counter[str],
        limits: Limits = DEFAULT_LIMITS,
        access: Access = OPEN,
        log: LimitedLog | None = None,
    ) -> None:
        self._received = received
        self.garbage = garbage
        self._limits = limits
        self._access = access
        self._peers = None if access.peers is None else Peers(access.peers)
        self._loop = asyncio.get_running_loop()
        self._log = log or LimitedLog(_log, limits.log_lines, self._loop.call_later)
        self._family = 0
        self._datagrams: Datagrams | None = None
        self._streams: Streams | None = None
        self._server: asyncio.Server | None = None
        self._names: dict[Address, tuple[float, SocketAddress]] = {}
        self._unnamed: dict[Address, list[bytes]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    # -- opening and closing -------------------------------------------------------------------------------------

    async def open(self, wanted: Address) -> Address:
        """Listen; return the address with the port that it became, if any would do."""
        self._family, where = await self._resolve_own(wanted)
        access = self._access
        if self._peers is not None:
            await self._learn_peers(self._peers)
        self._streams = Streams(
            self._received,
            self.garbage,
            self._limits,
            access.key,
            access.tls,
            self._peers,
            self._log,
            self._is_proved,
            self._note_proof,
            lambda: 0 if self._datagrams is None else self._datagrams.read,
        )
        udp, tcp = _open_sockets(self._family, where, wanted, with_datagrams=access.tls is None)
        port = tcp.getsockname()[1]
        if udp is not None:
            self._datagrams = Datagrams(udp, self._received, self.garbage, self._limits, access.key, self._peers)
        streams = self._streams
        self._server = await self._loop.create_server(lambda: Incoming(streams), sock=tcp)
        # Open by default would be a surprise only where others can reach it.
        if access.is_open and not is_loopback(where[0]):
            _log.warning(
                "the node listens at %s:%d, and everybody who reaches that may send it rows: "
                "give it secret=, tls= or peers=, see docs/network.md",
                wanted.host,
                port,
            )
        if self._peers is not None and self._peers.names():
            self._spawn(self._keep_learning(self._peers))
        return Address(wanted.host, port)

    async def _resolve_own(self, wanted: Address) -> tuple[int, SocketAddress]:
        try:
            found = await self._resolve(wanted, socket.AF_UNSPEC)
        except (OSError, UnicodeError) as error:
            raise _not_bound(wanted, error) from error
        # "localhost" may be both; peers that name it get the same one first, see _look_up.
        family, _, _, _, where = min(found, key=lambda entry: entry[0] != socket.AF_INET)
        return family, where

    async def close(self) -> None:
        """Give everything back; what is still unsent is lost, as with a crash."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._datagrams is not None:
            self._datagrams.close()
            self._datagrams = None
        if self._server is not None:
            self._server.close()
        if self._streams is not None:
            await self._streams.close()
        if self._server is not None:
            await self._server.wait_closed()
        await asyncio.sleep(0)  # connections are given back in the next turn of the loop
        await asyncio.sleep(0)

    # -- peers ---------------------------------------------------------------------------------------------------

    async def _learn_peers(self, peers: Peers) -> None:
        for name in peers.names():
            try:
                found = await self._resolve(name, self._family)
            except (OSError, UnicodeError) as error:
                self._log.write("unknown peer", "the peer %s is not known: %s", name.host, error)
            else:
                peers.learn(name, frozenset(where[0] for *_, where in found))

    async def _keep_learning(self, peers: Peers) -> None:
        """Look names up again and again: one may come to stand for another machine."""
        while True:
            await asyncio.sleep(_NAME_SECONDS)
            await self._learn_peers(peers)

    def _is_proved(self, where: SocketAddress) -> bool:
        if self._peers is not None and self._peers.has_exactly(where[0], where[1]):
            return True
        return self._datagrams is not None and self._datagrams.proofs.is_proved(where)

    def _note_proof(self, where: SocketAddress) -> None:
        if self._datagrams is not None and self._access.key is None:
            self._datagrams.proofs.prove(where)

    # -- sending -------------------------------------------------------------------------------------------------

    def send(self, address: Address, messages: Iterable[bytes]) -> None:
        """Send messages to one node, joined to packets.  Return at once."""
        largest = min(_FRAME_OF_MANY, self._limits.frame) if self._datagrams is None else self._datagrams.largest
        packets = list(batch(messages, largest))
        known = self._names.get(address)
        if known is not None and known[0] > self._loop.time():
            self._send_to(address.host, known[1], packets)
        # It is being looked up: one lookup for all that waits.
        elif address in self._unnamed:
            self._keep(self._unnamed[address], packets)
        elif (where := numeric_address(address, self._family)) is not None:
            self._remember(address, where)
            self._send_to(address.host, where, packets)
        else:
            self._unnamed[address] = []
            self._keep(self._unnamed[address], packets)
            self._spawn(self._look_up(address))

    def _send_to(self, host: str, where: SocketAddress, packets: list[bytes]) -> None:
        assert self._streams is not None
        if self._peers is not None and not self._peers.has(where[0], where[1]):
            self.garbage["not a peer"] += len(packets)
            return
        for packet in packets:
            if self._datagrams is None or len(packet) > self._datagrams.largest:
                self._streams.send(host, where, packet)
            else:
                self._datagrams.send(where, packet)

    def _keep(self, waiting: list[bytes], packets: list[bytes]) -> None:
        room = _MOST_WAITING - len(waiting)
        waiting += packets[:room]
        if len(packets) > room:
            self.garbage["too much to send"] += len(packets) - room

    async def _resolve(self, address: Address, family: int) -> list[tuple[Any, ...]]:
        return await self._loop.getaddrinfo(address.host, address.port, family=family, type=socket.SOCK_DGRAM)

    async def _look_up(self, address: Address) -> None:
        try:
            found = await self._resolve(address, self._family)
        except (OSError, UnicodeError):
            self.garbage["unknown host"] += len(self._unnamed.pop(address))
            return
        self._remember(address, found[0][4])
        self._send_to(address.host, found[0][4], self._unnamed.pop(address))

    def _remember(self, address: Address, where: SocketAddress) -> None:
        # Rows may name any number of addresses; a name that is forgotten is looked up again.
        if len(self._names) >= _MOST_NAMES:
            self._names.clear()
        self._names[address] = (self._loop.time() + _NAME_SECONDS, where)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _open_sockets(
    family: int, where: SocketAddress, wanted: Address, *, with_datagrams: bool
) -> tuple[socket.socket | None, socket.socket]:
    if not with_datagrams:
        return None, _bind_stream(family, where, wanted)
    for _ in range(20):  # a port that is free for datagrams may be in use for connections
        udp, tcp = _bind_pair(family, where, wanted)
        if tcp is not None:
            return udp, tcp
        udp.close()
    raise _not_bound(wanted, "no port is free for datagrams and connections")


def _bind_stream(family: int, where: SocketAddress, wanted: Address) -> socket.socket:
    tcp = socket.socket(family, socket.SOCK_STREAM)
    try:
        tcp.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        tcp.bind(where)
    except OSError as error:
        tcp.close()
        raise _not_bound(wanted, error) from error
    return tcp


def _bind_pair(family: int, where: SocketAddress, wanted: Address) -> tuple[socket.socket, socket.socket | None]:
    """Bind a socket for datagrams and one for connections; None if any port would do, but not this one."""
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
        # The system chose the port for datagrams; another try gets another one.
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
