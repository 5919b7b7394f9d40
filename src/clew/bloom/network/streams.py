"""Connections: those that others opened, and those that this node opened for packets that fit no datagram."""

from __future__ import annotations

import asyncio
import secrets
import ssl
from collections import Counter
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

from clew.bloom.network.access import TLS, Peers
from clew.bloom.network.address_proofs import LONGEST, NONCE_SIZE, Greetings
from clew.bloom.network.addresses import SocketAddress
from clew.bloom.network.authentication import MAC_SIZE, FrameOpener, FrameSealer, Key
from clew.bloom.network.frame_queue import SECONDS_PER_BYTE, FrameQueue
from clew.bloom.network.limits import LimitedLog, Limits
from clew.bloom.network.wire import Frames, GarbageError, make_frame

_CONNECT_SECONDS = 5.0
#: How often connections are looked through for those that take too long, in seconds.
_SWEEP_SECONDS = 1.0
#: Who opened a connection closes it before the other side does, so that no packet meets a connection that ends.
_IDLE_SHARE = 0.5


class Streams:
    """``received`` is called with each packet, and returns False if it was nothing but garbage.

    ``is_proved`` tells whether rows may go to an address without a greeting, ``proved`` is told when one answered,
    and ``datagrams`` counts the datagrams that were read.
    """

    def __init__(
        self,
        received: Callable[[bytes], object],
        garbage: Counter[str],
        limits: Limits,
        key: Key | None,
        tls: TLS | None,
        peers: Peers | None,
        log: LimitedLog,
        is_proved: Callable[[SocketAddress], bool],
        proved: Callable[[SocketAddress], object],
        datagrams: Callable[[], int],
    ) -> None:
        self.received = received
        self.garbage = garbage
        self.limits = limits
        self.key = key
        self.peers = peers
        self.log = log
        self.is_proved = is_proved
        self.proved = proved
        self.greetings = Greetings(key)
        self.loop = asyncio.get_running_loop()
        self.queue = FrameQueue(datagrams)
        self.server_tls = None if tls is None else tls.server_context()
        self._client_tls = None if tls is None else tls.client_context()
        self.incoming: dict[Incoming, None] = {}
        self.outgoing: dict[tuple[str | None, SocketAddress], Outgoing] = {}
        self.retired: dict[Outgoing, None] = {}
        self.unfinished = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self._timer = self.loop.call_later(_SWEEP_SECONDS, self._sweep)

    async def close(self) -> None:
        self._timer.cancel()
        self.queue.close()
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for connection in self._all():
            connection.abort()

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = self.loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _sweep(self) -> None:
        self._timer = self.loop.call_later(_SWEEP_SECONDS, self._sweep)
        now = self.loop.time()
        for connection in self._all():
            connection.check_time(now)

    def _all(self) -> list[Incoming | Outgoing]:
        return [*self.incoming, *self.outgoing.values(), *self.retired]

    # -- from others ---------------------------------------------------------------------------------------------

    def accept(self, connection: Incoming) -> None:
        """Keep it; if there are too many, the idlest goes, and before all others one that never sent anything."""
        if len(self.incoming) >= self.limits.connections:
            # So that connections that say nothing cannot keep out those that do.
            idlest = min(self.incoming, key=lambda one: (one.frames > 0, one.active))
            idlest.refuse("too many connections")
        self.incoming[connection] = None

    def limit_unfinished(self) -> None:
        """Drop the unfinished frame that began first, while all together are too large."""
        while self.unfinished > self.limits.unfinished:
            unfinished = [one for one in self.incoming if one.began is not None]
            if not unfinished:  # the others are complete: they are served, and nothing more is read from them
                return
            min(unfinished, key=lambda one: one.began or 0.0).refuse("too much unfinished")

    # -- to others -----------------------------------------------------------------------------------------------

    def send(self, host: str, where: SocketAddress, packet: bytes) -> None:
        """Send a packet over a connection; with TLS, the certificate has to name the host."""
        key = (None if self._client_tls is None else host, where)
        peer = self.outgoing.get(key)
        if peer is None:
            if len(self.outgoing) >= self.limits.connections:
                min(self.outgoing.values(), key=lambda one: one.active).retire()
            # Before it is connected, so that the packets that follow wait for the same connection.
            peer = self.outgoing[key] = Outgoing(self, key)
            self.spawn(self._connect(peer, host))
        peer.send(packet)

    async def _connect(self, peer: Outgoing, host: str) -> None:
        options: dict[str, Any] = {}
        if self._client_tls is not None:
            options = {"ssl": self._client_tls, "server_hostname": host}
        try:
            async with asyncio.timeout(_CONNECT_SECONDS):
                await self.loop.create_connection(lambda: peer, *peer.where[:2], **options)
        except (OSError, TimeoutError) as error:
            if isinstance(error, ssl.SSLError):
                self.log.write("no TLS", "no TLS connection to %s: %s", host, error)
            peer.fail("not connected")

    def forget(self, peer: Outgoing) -> None:
        """Drop a connection; the next packet to this peer opens another one."""
        self.retired.pop(peer, None)
        if self.outgoing.get(peer.key) is peer:
            del self.outgoing[peer.key]


class Outgoing(asyncio.Protocol):
    """A connection that this node opened; packets wait until it is there, and until the peer has answered."""

    def __init__(self, owner: Streams, key: tuple[str | None, SocketAddress]) -> None:
        self.key = key
        self.where = key[1]
        self.active = owner.loop.time()
        self._owner = owner
        self._transport: asyncio.Transport | None = None
        self._waiting: list[bytes] = []
        self._size = 0
        self._retired = False
        self._open = False
        self._nonce = secrets.token_bytes(NONCE_SIZE)
        self._answers = Frames(LONGEST)
        self._sealer: FrameSealer | None = None

    def send(self, packet: bytes) -> None:
        self.active = self._owner.loop.time()
        written = 0 if self._transport is None else self._transport.get_write_buffer_size()
        if self._size + written + len(packet) > self._owner.limits.unsent:
            self._owner.garbage["too much to send"] += 1
        elif self._open:
            self._write(packet)
        else:
            self._waiting.append(packet)
            self._size += len(packet)

    def _write(self, packet: bytes) -> None:
        assert self._transport is not None
        self._transport.write(make_frame(packet if self._sealer is None else self._sealer.seal(packet)))

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        # Over TLS, the peer has proved already who it is.
        if self._owner.key is None and (self.key[0] is not None or self._owner.is_proved(self.where)):
            self._begin()
        else:
            transport.write(make_frame(self._owner.greetings.hello(self._nonce)))

    def _begin(self) -> None:
        self._open = True
        for packet in self._waiting:
            self._write(packet)
        self._waiting.clear()
        self._size = 0
        if self._retired and self._transport is not None:
            self._transport.close()

    def data_received(self, data: bytes) -> None:
        self._answers.add(data)
        with suppress(GarbageError):
            answer = self._answers.take()
            if answer is None:
                return
            token = None if self._open else self._owner.greetings.token_of_welcome(answer, self._nonce)
            if token is not None:
                self._sealer = None if self._owner.key is None else FrameSealer(self._owner.key, token)
                self._begin()
                self._owner.proved(self.where)
                return
        self._owner.garbage["unexpected answer"] += 1
        self.fail("no answer")

    def retire(self) -> None:
        """Close the connection as soon as everything is sent: another one needs the place."""
        self._owner.forget(self)
        self._owner.retired[self] = None
        self._retired = True
        if self._open and self._transport is not None:
            self._transport.close()

    def check_time(self, now: float) -> None:
        limits = self._owner.limits
        if not self._open and now - self.active > limits.frame_seconds:
            self.fail("no answer")
        elif self._retired and now - self.active > limits.frame_seconds:
            self.abort()  # it does not read what is left
        elif self._open and now - self.active > limits.idle_seconds * _IDLE_SHARE:
            self.active = now
            self.retire()

    def fail(self, reason: str) -> None:
        if self._waiting:
            self._owner.garbage[reason] += len(self._waiting)
            self._waiting.clear()
        self.abort()

    def abort(self) -> None:
        self._owner.forget(self)
        if self._transport is not None:
            self._transport.abort()

    def connection_lost(self, error: Exception | None) -> None:
        self.fail("not connected")


class Incoming(asyncio.Protocol):
    """A connection that a peer opened.  While a complete frame waits for its turn, nothing more is read."""

    def __init__(self, owner: Streams) -> None:
        self.frames = 0
        self.active = self.waiting_since = owner.loop.time()
        self.expected = 0.0
        self._owner = owner
        self._transport: asyncio.Transport
        # The limit is for the packet; with a secret, its hash comes on top.
        self._frames = Frames(owner.limits.frame + MAC_SIZE)
        self.began: float | None = None
        self._opener = None if owner.key is None else FrameOpener(owner.key)
        self._greeted = False
        self._kept = True
        self._early: list[bytes] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        peers, name = self._owner.peers, transport.get_extra_info("peername")
        self._owner.accept(self)
        if peers is not None and (not name or not peers.has_host(name[0])):
            self.refuse("not a peer")
        elif self._owner.server_tls is not None:
            self._early = []
            transport.pause_reading()
            self._owner.spawn(self._secure(transport, self._owner.server_tls))

    async def _secure(self, transport: asyncio.Transport, context: ssl.SSLContext) -> None:
        """Do the TLS handshake; connections that do not get through it count as any others, and can be evicted."""
        loop, seconds = self._owner.loop, self._owner.limits.frame_seconds
        try:
            secured = await loop.start_tls(
                transport, self, context, server_side=True, ssl_handshake_timeout=seconds
            )
        except (OSError, TimeoutError) as error:
            self._refuse_handshake(str(error))
            return
        if secured is None:  # the connection has ended meanwhile: evicted here, or closed there
            self._refuse_handshake("it has ended before it was secured")
            return
        assert isinstance(secured, asyncio.Transport)
        self._transport = secured
        early, self._early = self._early, None
        if not self._kept:
            secured.abort()
        for data in early or ():
            self.data_received(data)

    def _refuse_handshake(self, why: str) -> None:
        if self._kept:  # what was evicted is counted as that
            self._owner.log.write("no TLS", "refused a connection: %s", why)
            self.refuse("not authentic")
        self._end()

    def data_received(self, data: bytes) -> None:
        if not self._kept:
            return
        if self._early is not None:  # the handshake has ended, but who waits for it has not been told
            self._early.append(data)
            return
        if self.began is None:
            self.began = self._owner.loop.time()
        self._frames.add(data)
        self._owner.unfinished += len(data)
        if self._frames.has_packet:
            self.began = None
            if not self._owner.queue.has(self):
                self.expected = self.expected or self._frames.waiting * SECONDS_PER_BYTE
                # A sender that is faster than this node waits in its own buffer, and not in the memory here.
                self._transport.pause_reading()
                self._owner.queue.add(self)
        self._owner.limit_unfinished()

    def serve(self) -> bool:
        """Take one frame; return whether there is another one."""
        before = self._frames.waiting
        try:
            packet = self._frames.take()
        except GarbageError as error:
            self.refuse(str(error))
            return False
        self._owner.unfinished -= before - self._frames.waiting
        assert packet is not None  # it was complete when it was queued
        self._take(packet)
        if not self._kept:
            return False
        if self._frames.has_packet:
            return True
        self.active = self._owner.loop.time()
        self.began = self.active if self._frames.waiting else None
        if self._transport.is_closing():
            self._end_lost()
        else:
            self._transport.resume_reading()
        return False

    def _take(self, packet: bytes) -> None:
        greetings = self._owner.greetings
        # With a secret, every frame after the greeting begins with its hash, and one in 65,536 of these looks like
        # another greeting.
        sealed = self._opener is not None and self._greeted
        if not sealed and greetings.is_hello(packet):
            answer = greetings.answer(packet, b"" if self._opener is None else self._opener.token)
            # One question a connection is enough: answering any number would be work for nothing.
            if answer is None or self._greeted:
                self.refuse("unexpected greeting")
            else:
                self._greeted = True
                self._transport.write(make_frame(answer))
            return
        opened = packet if self._opener is None else self._opener.open(packet)
        if opened is None:
            self.refuse("not authentic")
            return
        if self._owner.received(opened) is False:
            self.refuse("connection with garbage")
        else:
            self.frames += 1

    def check_time(self, now: float) -> None:
        limits = self._owner.limits
        if self._owner.queue.has(self):
            return  # it is this node that takes its time
        if self.began is not None and now - self.began > limits.frame_seconds:
            self.refuse("too slow")
        elif not self.frames and now - self.active > limits.frame_seconds:
            self.refuse("silent")
        elif now - self.active > limits.idle_seconds:
            self.abort()

    def refuse(self, reason: str) -> None:
        """Count it, and end the connection."""
        if self._kept:
            self._owner.garbage[reason] += 1
            self.abort()

    def abort(self) -> None:
        self._kept = False
        self._transport.abort()
        self._end()

    def connection_lost(self, error: Exception | None) -> None:
        if not self._owner.queue.has(self):  # complete frames are served, whether or not their sender is there
            self._end_lost()

    def _end_lost(self) -> None:
        if self._kept and self._frames.waiting:
            self._owner.garbage["incomplete"] += 1
        self._end()

    def _end(self) -> None:
        if self in self._owner.incoming:
            del self._owner.incoming[self]
            self._owner.queue.remove(self)
            self._owner.unfinished -= self._frames.waiting
            self._frames = Frames()
