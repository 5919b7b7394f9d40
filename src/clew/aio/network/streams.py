"""One side of a stream: what the kernel of a host does for it, from the handshake to the last segment.

Segments arrive in any order and may be lost.  They are put in order by their numbers; of a loss the sender is told
by the world, and sends the segment again after a while that doubles, until it gives up.  So there are no
acknowledgements: a message in a diagram is one that matters.  What the receiver's program has not taken yet counts
against a window; only where that is used up by half does a ``Window`` travel back.

What a program writes during one event is sent at its end, in segments of bounded size.
"""

from __future__ import annotations

import enum
import errno
from collections.abc import Callable
from typing import Any, Protocol

from clew.aio.packets import Accepted, Connect, Data, Finish, Reset, Segment, Unit, Window

#: Bytes that may be under way or wait to be taken.
WINDOW = 256 * 1024
#: Seconds until something lost is sent again, which double, and until its sender gives up: as Linux does.
_FIRST_RETRY, _LONGEST_RETRY, _MOST_RETRIES = 0.2, 120.0, 15
_FIRST_CONNECT, _MOST_CONNECTS = 1.0, 6

#: The opener of a connection, and its number there.
Key = tuple[str, int]


class State(enum.Enum):
    """Where a side of a connection is in its life."""

    CONNECTING = enum.auto()
    OPEN = enum.auto()
    CLOSED = enum.auto()


class StreamUser(Protocol):
    """Who is told what becomes of a side: a transport, or a socket."""

    def on_connected(self) -> None: ...

    def on_data(self, data: bytes) -> None: ...

    def on_end(self) -> None:
        """Handle that the other side sends nothing more."""

    def on_failure(self, error: OSError) -> None:
        """Handle that the connection is no more."""

    def on_room(self) -> None:
        """Handle that more can be sent."""


class Carrier(Protocol):
    """The kernel of the host that a side belongs to."""

    name: str

    def transmit(self, target: str, packet: Any) -> None: ...

    def keep_secret(self, name: tuple[str, int, bool, int], data: bytes) -> None:
        """Carry bytes that differ from run to run beside the packet of this name."""

    def reveal(self, packet: Data) -> bytes: ...

    def will_flush(self, side: StreamSide) -> None:
        """Call ``flush`` of this side when the event is over."""

    def forget(self, side: StreamSide) -> None: ...

    def describe(self, data: bytes) -> str:
        """Return what is sent is called."""

    def find_turn(self, side: StreamSide) -> Unit | None:
        """Return what a fault hits that hits what a side sends now, if that is less than the connection."""

    @property
    def segment_size(self) -> int: ...


class StreamSide:
    """One side of a connection, at one life of a host.

    ``local`` and ``remote`` are addresses with ports, ``peer`` is the host of the other side.
    """

    __slots__ = (
        "_carrier", "_credit", "_early", "_ended", "_finishing", "_is_ended_there", "_nth", "_outbox", "_passed",
        "_received", "_taken", "_told", "is_opener", "is_secret", "key", "local", "notes", "peer", "pending",
        "remote", "state", "turn", "unit", "user",
    )  # fmt: skip

    def __init__(
        self,
        carrier: Carrier,
        key: Key,
        peer: str,
        local: tuple[str, int],
        remote: tuple[str, int],
        *,
        is_opener: bool,
        unit: Unit | None,
    ) -> None:
        self.key = key
        self.peer = peer
        self.local = local
        self.remote = remote
        self.is_opener = is_opener
        self.unit = unit
        #: What is sent now, until the other side sends something: as a fault hits it.
        self.turn: Unit | None = None
        self.state = State.CONNECTING if is_opener else State.OPEN
        self.user: StreamUser | None = None
        #: Written by the program, beyond what the other side has room for.
        self.pending = bytearray()
        #: Whether what travels is ciphertext, which nobody may look at.
        self.is_secret = False
        #: What a decoder remembers of this side.
        self.notes: dict[str, Any] = {}
        self._carrier = carrier
        self._credit = WINDOW
        self._passed = 0  # bytes that the other side has said it has taken
        self._outbox = bytearray()  # to be sent when the event is over
        self._nth = 0  # packets sent so far
        self._received = 0  # packets received in order
        self._early: dict[int, Segment] = {}
        self._taken = 0  # bytes that the program has taken
        self._told = 0  # and of how many of them the other side knows
        self._finishing = False
        self._ended = False
        self._is_ended_there = False

    # -- what the program does -----------------------------------------------------------------------------------

    def connect(self) -> None:
        """Ask the other side for a connection."""
        self._carrier.transmit(self.peer, Connect(*self._head("connect"), *self.local, *self.remote))

    def begin_accepted(self) -> None:
        """Agree to the connection that the other side has asked for by its first packet."""
        self._received = 1
        self._emit(Accepted, "accepted")

    @property
    def can_send(self) -> bool:
        return self.state is not State.CLOSED and not self._finishing

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Send as much as there is room for when the event is over, and keep the rest."""
        if not self.pending and self._credit >= len(data):
            self._credit -= len(data)
            self._outbox += data
        else:
            self.pending += data
            self._move()
        self._carrier.will_flush(self)

    def finish(self) -> None:
        """Send nothing more after what has been written."""
        if not self._finishing and self.state is not State.CLOSED:
            self._finishing = True
            self._carrier.will_flush(self)

    def take(self, size: int) -> None:
        """Note that the program has taken so many bytes; tell the other side now and then."""
        self._taken += size
        if self._taken - self._told >= WINDOW // 2 and self.state is State.OPEN:
            self._told = self._taken
            self._carrier.transmit(self.peer, Window(*self._head("window"), self._taken))

    def reset(self) -> None:
        """End it at once: the other side gets a reset, what was not sent is dropped."""
        if self.state is not State.CLOSED:
            self._emit(Reset, "reset")
            self.close()

    def close(self) -> None:
        """Forget it; what still arrives for it is answered by a reset."""
        if self.state is not State.CLOSED:
            self.state = State.CLOSED
            self.pending.clear()
            self._outbox.clear()
            self._carrier.forget(self)

    # -- sending -------------------------------------------------------------------------------------------------

    def _move(self) -> None:
        """Send of what waits as much as there is room for."""
        size = min(self._credit, len(self.pending))
        if size:
            self._outbox += self.pending[:size]
            del self.pending[:size]
            self._credit -= size

    def flush(self) -> None:
        """Send what was written during this event."""
        if self.state is not State.OPEN:
            return  # what is written before it is connected goes when it is
        size = self._carrier.segment_size
        while self._outbox:
            chunk = bytes(self._outbox[:size])
            del self._outbox[:size]
            self.turn = self._carrier.find_turn(self)
            self._send_data(chunk, "ciphertext" if self.is_secret else self._carrier.describe(chunk))
        if self._finishing and not self.pending and not self._ended:
            self._ended = True
            self._emit(Finish, "finish")
            self.settle()

    def _send_data(self, data: bytes, label: str) -> None:
        head = self._head(label)
        if self.is_secret:
            self._carrier.keep_secret(head[:4], data)
        self._carrier.transmit(self.peer, Data(*head, b"" if self.is_secret else data, self.is_secret))

    def _head(self, label: str) -> tuple[str, int, bool, int, Unit | None, str]:
        self._nth += 1
        return (*self.key, not self.is_opener, self._nth, self.turn or self.unit, label)

    def _emit(self, kind: Callable[..., Segment], label: str) -> None:
        self._carrier.transmit(self.peer, kind(*self._head(label)))

    # -- receiving -----------------------------------------------------------------------------------------------

    def receive(self, packet: Segment) -> None:
        """Handle a packet for this side, or keep it until those before it are there."""
        if type(packet) is Reset:
            self._handle_reset(packet)
        elif packet.nth == self._received + 1:
            self._handle(packet)
            while self._early and (following := self._early.pop(self._received + 1, None)) is not None:
                self._handle(following)
        elif packet.nth > self._received:
            self._early[packet.nth] = packet

    def _handle(self, packet: Segment) -> None:
        self._received = packet.nth
        if isinstance(packet, Data):
            data = self._carrier.reveal(packet) if packet.is_secret else packet.seen
            self.turn = None
            if self.user is not None:
                self.user.on_data(data)
            elif self.state is not State.CLOSED:
                self.reset()  # nobody will ever take it, and the other side is to know
        elif isinstance(packet, Finish):
            self._is_ended_there = True
            if self.user is not None:
                self.user.on_end()
            self.settle()
        elif isinstance(packet, Accepted):
            self.state = State.OPEN
            if self.user is not None:
                self.user.on_connected()
            self._carrier.will_flush(self)
        elif isinstance(packet, Window):
            self._credit += packet.taken - self._passed
            self._passed = packet.taken
            self._move()
            self._carrier.will_flush(self)
            if self.user is not None:
                self.user.on_room()

    def _handle_reset(self, packet: Reset) -> None:
        if self.state is State.CLOSED:
            return
        if packet.is_refusal and self.state is State.CONNECTING:
            self.fail(ConnectionRefusedError(errno.ECONNREFUSED, f"Connect call failed {self.remote}"))
        else:
            self.fail(ConnectionResetError(errno.ECONNRESET, "Connection reset by peer"))

    def fail(self, error: OSError) -> None:
        """End it with an error for the program."""
        if self.state is not State.CLOSED:
            self.close()
            if self.user is not None:
                self.user.on_failure(error)

    def detach(self) -> None:
        """Go on without a program: what was written is still sent."""
        self.user = None
        self.settle()

    def settle(self) -> None:
        """Forget it when both sides have sent all that they will."""
        if self._ended and self._is_ended_there and self.user is None:
            self.close()


def retry_after(packet: Segment, attempts: int) -> float | None:
    """Return when something that was lost so often is sent again, in seconds; None if it is given up."""
    if type(packet) is Reset:
        return None
    first, most = (_FIRST_CONNECT, _MOST_CONNECTS) if type(packet) is Connect else (_FIRST_RETRY, _MOST_RETRIES)
    return None if attempts > most else min(first * 2 ** (attempts - 1), _LONGEST_RETRY)
