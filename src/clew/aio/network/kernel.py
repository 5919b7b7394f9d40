"""The network stack of one life of a host: who listens where, which connections and datagram sockets there are.

A crash takes all of it away without a word.  What comes later for a connection that is not known here any more is
answered by a reset, as by a machine that has rebooted.
"""

from __future__ import annotations

import errno
from collections.abc import Callable
from typing import Any, Protocol

from clew.aio.network.internet import ANY, LOOPBACK, Internet
from clew.aio.network.streams import Key, StreamSide, retry_after
from clew.aio.packets import Connect, Data, Datagram, Reset, Segment, Unit

#: Descriptors that no system gives: whoever uses one where it is not simulated gets an error.
_FIRST_DESCRIPTOR = 1_000_000


class Listener(Protocol):
    """Who is given the connections that come to a port."""

    backlog: int

    def on_connection(self, side: StreamSide) -> None: ...


class DatagramUser(Protocol):
    """Who is given the datagrams that come to a port."""

    def on_datagram(self, data: bytes, sender: tuple[str, int]) -> None: ...


class Transmitter(Protocol):
    """What carries packets to other hosts, and calls back when time has passed."""

    def transmit(self, target: str, packet: Any) -> None: ...

    def schedule(self, delay: float, action: Callable[[], None]) -> None: ...


class Kernel:
    """The network stack of a host; its ``name`` is that of the host."""

    def __init__(self, name: str, internet: Internet, transmitter: Transmitter) -> None:
        self.name = name
        self.internet = internet
        self.transmit = transmitter.transmit
        self._schedule = transmitter.schedule
        self._sides: dict[tuple[str, int, bool], StreamSide] = {}
        self._dirty: list[StreamSide] = []
        self._listeners: dict[tuple[str, int], Listener] = {}
        self._receivers: dict[tuple[str, int], DatagramUser] = {}
        self._attempts: dict[tuple[Key, bool, int], int] = {}
        self._own: set[tuple[Key, bool]] = set()
        self._sockets: dict[int, Any] = {}
        self._made_sockets = 0

    # -- ports ---------------------------------------------------------------------------------------------------

    def claim_port(self, table: str, address: str, port: int) -> tuple[str, int]:
        """Return a free address of this host to listen or receive at; port 0 stands for any."""
        taken: dict[tuple[str, int], Any] = self._listeners if table == "tcp" else self._receivers
        if address not in (ANY, LOOPBACK) and self.internet.host_at(address) != self.name:
            raise OSError(errno.EADDRNOTAVAIL, f"Cannot assign requested address: {address} is not {self.name}")
        if not port:
            port = self.internet.free_port(self.name)
        for known, number in taken:
            if number == port and (known == address or ANY in (known, address)):
                raise OSError(errno.EADDRINUSE, f"Address already in use: ({address!r}, {port})")
        return address, port

    def listen(self, where: tuple[str, int], listener: Listener) -> None:
        self._listeners[where] = listener

    def stop_listening(self, where: tuple[str, int]) -> None:
        self._listeners.pop(where, None)

    def bind_receiver(self, where: tuple[str, int], user: DatagramUser) -> None:
        self._receivers[where] = user

    def unbind_receiver(self, where: tuple[str, int]) -> None:
        self._receivers.pop(where, None)

    def _find(self, table: dict[tuple[str, int], Any], address: str, port: int) -> Any:
        return table.get((address, port)) or table.get((ANY, port))

    # -- sockets -------------------------------------------------------------------------------------------------

    def add_socket(self, socket: Any) -> int:
        """Give a socket a descriptor."""
        self._made_sockets += 1
        number = _FIRST_DESCRIPTOR + self._made_sockets
        self._sockets[number] = socket
        return number

    def remove_socket(self, number: int) -> None:
        self._sockets.pop(number, None)

    def find_socket(self, given: Any) -> Any:
        """Return the socket that is given, itself or by its descriptor."""
        number = given if isinstance(given, int) else given.fileno()
        return self._sockets.get(number)

    # -- streams -------------------------------------------------------------------------------------------------

    def open(self, remote: tuple[str, int], local: tuple[str, int] | None = None) -> StreamSide:
        """Make the side of a new connection; it begins with its ``connect``."""
        address, port = remote
        peer = self.name if address in (LOOPBACK, ANY) else self.internet.host_at(address)
        number, nth = self.internet.number_connection(self.name, peer)
        own = LOOPBACK if address in (LOOPBACK, ANY) else self.internet.address_of(self.name)
        if local is not None and local[0] not in ("", ANY):
            own = local[0]
        here = (own, (local[1] if local is not None else 0) or self.internet.free_port(self.name))
        unit = self._name_connection(peer, nth)
        side = StreamSide(self, (self.name, number), peer, here, (address, port), is_opener=True, unit=unit)
        return self._keep(side)

    def _keep(self, side: StreamSide) -> StreamSide:
        self._sides[(*side.key, side.is_opener)] = side
        # Also when it has been forgotten: its last packet may be lost.
        self._own.add((side.key, not side.is_opener))
        return side

    def receive_segment(self, sender: str, packet: Segment) -> None:
        """Give a segment to the side that it is for; answer what nobody here knows of."""
        side = self._sides.get((packet.opener, packet.number, packet.is_reply))
        if side is not None:
            side.receive(packet)
        elif isinstance(packet, Connect):
            self._receive_connect(sender, packet)
        elif not isinstance(packet, Reset):
            self._answer_reset(sender, packet)

    def _receive_connect(self, sender: str, packet: Connect) -> None:
        listener: Listener | None = self._find(self._listeners, packet.address, packet.port)
        if listener is None or self.name in self.internet.refusing:
            self._answer_reset(sender, packet, is_refusal=True)
            return
        local, remote = (packet.address, packet.port), (packet.source, packet.source_port)
        key = (packet.opener, packet.number)
        side = self._keep(StreamSide(self, key, sender, local, remote, is_opener=False, unit=packet.unit))
        side.begin_accepted()
        listener.on_connection(side)

    def _answer_reset(self, sender: str, packet: Segment, *, is_refusal: bool = False) -> None:
        label = "refused" if is_refusal else "reset"
        # Counted from 0: a reset is heeded whatever came before it.
        answer = Reset(packet.opener, packet.number, not packet.is_reply, 0, packet.unit, label, is_refusal)
        self.transmit(sender, answer)

    def will_flush(self, side: StreamSide) -> None:
        self._dirty.append(side)

    def flush(self) -> None:
        """Send what was written during the event that is over."""
        if self._dirty:
            dirty, self._dirty = self._dirty, []
            for side in dict.fromkeys(dirty):
                side.flush()

    def forget(self, side: StreamSide) -> None:
        self._sides.pop((*side.key, side.is_opener), None)

    def close_all(self) -> None:
        """Close everything, as the end of a process does."""
        self._listeners.clear()
        self._receivers.clear()
        self._sockets.clear()
        for side in list(self._sides.values()):
            side.user = None
            side.finish()
        self.flush()

    @property
    def segment_size(self) -> int:
        return self.internet.segment_size

    def describe(self, data: bytes) -> str:
        return self.internet.describe(data)

    def find_turn(self, side: StreamSide) -> Unit | None:
        if side.turn is not None or self.internet.unit != "request":
            return side.turn
        kind = "request" if side.is_opener else "reply"
        return (self.name, side.peer, kind, self.internet.number_turn(self.name, side.peer, kind))

    def _name_connection(self, peer: str, nth: int) -> Unit | None:
        return None if self.internet.unit == "segment" else (self.name, peer, "connection", nth)

    def keep_secret(self, name: tuple[str, int, bool, int], data: bytes) -> None:
        self.internet.secrets[name] = data

    def reveal(self, packet: Data) -> bytes:
        # Not taken out: a copy of the packet may come later.
        return self.internet.secrets[packet.opener, packet.number, packet.is_reply, packet.nth]

    # -- losses --------------------------------------------------------------------------------------------------

    def reset_connections(self, peer: str | None) -> None:
        """End all connections with a host, or with all; both sides are told."""
        for side in list(self._sides.values()):
            if peer in (None, side.peer):
                self._break(side)

    def _break(self, side: StreamSide) -> None:
        side.reset()
        if side.user is not None:
            side.user.on_failure(ConnectionResetError(errno.ECONNRESET, "Connection reset by peer"))

    def break_connection(self, target: str, packet: Any) -> None:
        """End the connection of a packet that was lost: refused if it is the first one, and reset otherwise."""
        if not isinstance(packet, Segment) or isinstance(packet, Reset):
            return
        side = self._sides.get((packet.opener, packet.number, not packet.is_reply))
        if isinstance(packet, Connect):
            if side is not None:
                side.fail(ConnectionRefusedError(errno.ECONNREFUSED, f"Connect call failed {side.remote}"))
            return
        # Of no unit: the fault has struck, and this is what comes of it.
        self.transmit(target, Reset(packet.opener, packet.number, packet.is_reply, 0, None, "reset"))
        if side is not None:
            side.fail(ConnectionResetError(errno.ECONNRESET, "Connection reset by peer"))

    def handle_loss(self, target: str, packet: Any) -> None:
        """Send what was lost again after a while, or give the connection up."""
        if not isinstance(packet, Segment):
            return  # a datagram that is lost is lost
        key = (packet.opener, packet.number)
        if (key, packet.is_reply) not in self._own:
            return  # sent by an earlier life
        what = (key, packet.is_reply, packet.nth)
        attempts = self._attempts[what] = self._attempts.get(what, 0) + 1
        delay = retry_after(packet, attempts)
        side = self._sides.get((packet.opener, packet.number, not packet.is_reply))
        if delay is not None:
            self._schedule(delay, lambda: self.transmit(target, packet))
        elif side is not None:
            # As an event of its own: nothing of this host goes on now that could notice it.
            self._schedule(0.0, lambda: side.fail(TimeoutError(errno.ETIMEDOUT, "Connection timed out")))

    # -- datagrams -----------------------------------------------------------------------------------------------

    def send_datagram(self, source: tuple[str, int], target: tuple[str, int], data: bytes) -> None:
        """Send a datagram; one that goes to no host is lost, as nobody says otherwise."""
        address, port = target
        peer = self.name if address in (LOOPBACK, ANY) else self.internet.find_host(address)
        if peer is not None:
            own = source[0]
            if own == ANY:
                own = LOOPBACK if peer == self.name else self.internet.address_of(self.name)
            label = self.internet.describe(data)
            self.transmit(peer, Datagram(data, own, source[1], address, port, label))

    def receive_datagram(self, packet: Datagram) -> None:
        user: DatagramUser | None = self._find(self._receivers, packet.address, packet.port)
        if user is not None:
            user.on_datagram(packet.data, (packet.source, packet.source_port))
