"""The socket for datagrams: reading, writing, and what must be known of an address before rows go there."""

from __future__ import annotations

import asyncio
import socket
from collections import Counter, deque
from collections.abc import Callable, Iterable

from clew.bloom.network.access import Peers
from clew.bloom.network.address_proofs import HELLO, STALE, WELCOME, Greetings, Proofs
from clew.bloom.network.addresses import SocketAddress
from clew.bloom.network.authentication import DATAGRAM_OVERHEAD, DatagramOpener, Key
from clew.bloom.network.limits import Limits

#: Larger packets go over a connection: datagrams of this size are not cut on the way.
LARGEST_DATAGRAM = 1400
#: So many are read before the node gets its turn, and for so long, in seconds: a flood must not stop its steps.
_READ_AT_ONCE = 400
_READ_SECONDS = 0.05
#: Datagrams of addresses that have not proved themselves, and their share of the time while others are served.
_MOST_FROM_STRANGERS = 2_000
_STRANGERS_SHARE = 0.25
#: Datagrams that wait because the system takes no more.
_MOST_WAITING = 10_000
_STRANGERS_PAUSE = 0.02
_TICK_SECONDS = 0.1
#: Hints for peers that know an older epoch of this node, in a second.
_MOST_HINTS = 100
_GREETING = b"\xc1"


class Datagrams:
    """``received`` is called with each packet of rows.  It lives in one event loop."""

    def __init__(
        self,
        udp: socket.socket,
        received: Callable[[bytes], object],
        garbage: Counter[str],
        limits: Limits,
        key: Key | None,
        peers: Peers | None,
    ) -> None:
        self.socket = udp
        #: How many were read, whatever they were.
        self.read = 0
        #: How many came from addresses that have proved themselves.
        self._known = 0
        self._is_open = True
        self._received = received
        self._garbage = garbage
        self._key = key
        self._peers = peers
        self._loop = asyncio.get_running_loop()
        self._buffer = bytearray(65536)  # one for all datagrams: none is larger than UDP allows
        self._strangers: deque[bytes] = deque()
        self._is_scheduled = False
        self._unsent: deque[tuple[bytes, SocketAddress]] = deque()
        self._greetings = Greetings(key)
        self._opener = None if key is None else DatagramOpener(key)
        self.proofs = Proofs(key, self._loop.time, self._ask, self._release, garbage, limits.unsent)
        self._timer: asyncio.TimerHandle | None = None
        self._hints = 0
        self._hints_since = 0.0
        self._loop.add_reader(udp.fileno(), self._read)

    @property
    def largest(self) -> int:
        """Return the size of the largest packet that fits."""
        return LARGEST_DATAGRAM - (0 if self._key is None else DATAGRAM_OVERHEAD)

    def close(self) -> None:
        self._is_open = False
        if self._timer is not None:
            self._timer.cancel()
        self._loop.remove_reader(self.socket.fileno())
        self._loop.remove_writer(self.socket.fileno())
        self.socket.close()

    # -- receiving -----------------------------------------------------------------------------------------------

    def _read(self) -> None:
        """Read all datagrams that are there: the node takes them in one step."""
        begun = self._loop.time()
        before = self._known
        view = memoryview(self._buffer)
        for _ in range(_READ_AT_ONCE):
            try:
                size, where = self.socket.recvfrom_into(view)
            except (BlockingIOError, InterruptedError):
                break
            except OSError:
                self._garbage["receive error"] += 1
                break
            self.read += 1
            self._take(bytes(view[:size]), where)
            if self._loop.time() - begun > _READ_SECONDS:
                break
        if self._strangers:
            spent = self._loop.time() - begun
            self._serve_strangers(_STRANGERS_SHARE * spent if self._known > before else _READ_SECONDS)

    def _serve_strangers(self, seconds: float) -> None:
        """Take what waits for so long, at least one; the rest has its turn when others have had theirs."""
        deadline = self._loop.time() + seconds
        while self._strangers:
            self._received(self._strangers.popleft())
            if self._loop.time() > deadline:
                break
        if self._strangers and not self._is_scheduled:
            self._is_scheduled = True
            self._loop.call_later(_STRANGERS_PAUSE, self._serve_later)

    def _serve_later(self) -> None:
        self._is_scheduled = False
        if self._strangers and self._is_open:
            self._serve_strangers(_STRANGERS_SHARE * _STRANGERS_PAUSE)

    def _take(self, data: bytes, where: SocketAddress) -> None:
        if self._peers is not None and not self._peers.has(where[0], where[1]):
            self._garbage["not a peer"] += 1
        elif data[:1] == _GREETING and data[:2] in (HELLO, WELCOME, STALE):
            self._greet(data, where)
        elif self._opener is None:
            self._take_open(data, where)
        else:
            self._open(self._opener, data, where)

    def _take_open(self, data: bytes, where: SocketAddress) -> None:
        """Serve those first who have proved themselves, or are on the list; nobody displaces them."""
        named = self._peers is not None and self._peers.has_exactly(where[0], where[1])
        if named or self.proofs.note_bytes(where, len(data)):
            self._known += 1
            self._received(data)
            return
        self._start_timer()
        if len(self._strangers) >= _MOST_FROM_STRANGERS:
            self._strangers.popleft()
            self._garbage["too much from strangers"] += 1
        self._strangers.append(data)

    def _open(self, opener: DatagramOpener, data: bytes, where: SocketAddress) -> None:
        opened = opener.open(data)
        if isinstance(opened, bytes):
            self._received(opened)
            return
        self._garbage[opened] += 1
        if opened == "other epoch":
            now = self._loop.time()
            if now - self._hints_since > 1:
                self._hints, self._hints_since = 0, now
            if self._hints < _MOST_HINTS:
                self._hints += 1
                self._send(STALE + opener.epoch[:8], where)

    def _greet(self, data: bytes, where: SocketAddress) -> None:
        kind = data[:2]
        if kind == HELLO:
            answer = self._greetings.answer(data, b"" if self._opener is None else self._opener.epoch)
            if answer is not None:
                self._send(answer, where)
                return
        elif kind == WELCOME:
            if self.proofs.take_answer(data):
                return
        elif self._opener is not None and len(data) == len(STALE) + 8:
            self.proofs.doubt(where)
            return
        self._garbage["unexpected greeting"] += 1

    # -- sending -------------------------------------------------------------------------------------------------

    def send(self, where: SocketAddress, packet: bytes) -> None:
        """Send at once if the address has proved itself, or was named by the user; otherwise wait for that."""
        if self._key is None and self._peers is not None and self._peers.has_exactly(where[0], where[1]):
            self._send(packet, where)
            return
        ready = self.proofs.pass_on(where, packet)
        if ready is not None:
            self._send(ready, where)
        else:
            self._start_timer()

    def _start_timer(self) -> None:
        if self._timer is None:
            self._timer = self._loop.call_later(_TICK_SECONDS, self._tick)

    def _tick(self) -> None:
        self._timer = self._loop.call_later(_TICK_SECONDS, self._tick) if self.proofs.tick() else None

    def _ask(self, where: SocketAddress, question: bytes) -> bool:
        try:
            self.socket.sendto(question, where)
        except (BlockingIOError, InterruptedError):
            return True  # it is asked again
        except (OSError, OverflowError):
            return False
        return True

    def _release(self, where: SocketAddress, packets: Iterable[bytes]) -> None:
        for packet in packets:
            self.send(where, packet)

    def _send(self, data: bytes, where: SocketAddress) -> None:
        if self._unsent:
            self._later(data, where)
            return
        try:
            self.socket.sendto(data, where)
        except (BlockingIOError, InterruptedError):
            self._later(data, where)
            self._loop.add_writer(self.socket.fileno(), self._send_unsent)
        except (OSError, OverflowError):
            self._garbage["send error"] += 1

    def _later(self, data: bytes, where: SocketAddress) -> None:
        if len(self._unsent) >= _MOST_WAITING:
            self._garbage["too much to send"] += 1
        else:
            self._unsent.append((data, where))

    def _send_unsent(self) -> None:
        self._loop.remove_writer(self.socket.fileno())
        waiting, self._unsent = self._unsent, deque()
        for data, where in waiting:
            self._send(data, where)
