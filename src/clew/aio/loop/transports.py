"""Transports over simulated streams and datagrams, as ``asyncio``'s own behave over sockets.

A transport reads as long as it is not paused; what arrives meanwhile waits, and counts against the window of the
other side.  Once more is written than there is room for, the protocol is asked to pause (high and low water).
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from contextvars import Context, copy_context
from typing import Any

from clew.aio.loop.scheduling import Scheduler
from clew.aio.network.kernel import Kernel
from clew.aio.network.streams import State, StreamSide

_HIGH_WATER = 64 * 1024


class StreamTransport(asyncio.Transport):
    """A transport over one side of a stream."""

    def __init__(
        self,
        loop: Scheduler,
        side: StreamSide,
        protocol: Any,
        socket: Any,
        on_made: Callable[[], None] | None = None,
        on_lost: Callable[[], None] | None = None,
    ) -> None:
        extra = {"socket": socket, "peername": side.remote, "sockname": side.local}
        super().__init__(extra)
        self._loop = loop
        self._side = side
        self._context: Context = copy_context()
        self._is_paused = False
        self._is_closing = False
        self._is_lost = False
        self._has_eof = False
        self._waiting: deque[bytes] = deque()
        self._is_ended_there = False
        self._is_protocol_paused = False
        self._high, self._low = _HIGH_WATER, _HIGH_WATER // 4
        self._on_lost = on_lost
        self._protocol: Any = protocol
        self._is_buffered = isinstance(protocol, asyncio.BufferedProtocol)
        side.user = self
        # As CPython does: the protocol learns of the connection before anything is read, and both come later.
        loop.call_soon(self._protocol.connection_made, self)
        self._is_reading = False
        loop.call_soon(self._begin_to_read)
        if on_made is not None:
            loop.call_soon(on_made)

    def __repr__(self) -> str:
        state = "closed" if self._is_lost else "closing" if self._is_closing else "open"
        return f"<StreamTransport {state} {self._side.local} to {self._side.remote}>"

    def hide_contents(self) -> None:
        """Show nobody what travels from now on: it is ciphertext, and differs from run to run."""
        self._side.is_secret = True

    # -- what happens to it --------------------------------------------------------------------------------------

    def on_connected(self) -> None:
        """Do nothing: it is connected from the beginning."""

    def on_data(self, data: bytes) -> None:
        if self._is_closing and not self._is_lost:
            # Closed for the program, and still sending: nobody will take this.
            self._side.take(len(data))
            return
        self._waiting.append(data)
        self._deliver()

    def receive_early(self, chunks: list[bytes], has_ended: bool, error: OSError | None = None) -> None:
        """Receive what came before the connection was given to this transport."""
        self._waiting.extend(chunks)
        self._is_ended_there = self._is_ended_there or has_ended
        if error is not None:
            self._loop.call_soon(self._fail, error)

    def on_end(self) -> None:
        self._is_ended_there = True
        self._deliver()

    def on_room(self) -> None:
        if self._is_protocol_paused and self.get_write_buffer_size() <= self._low:
            self._is_protocol_paused = False
            self._call(self._protocol.resume_writing)
        if self._is_closing and not self._side.pending:
            self._finish_closing()

    def on_failure(self, error: OSError) -> None:
        self._fail(error)

    def _begin_to_read(self) -> None:
        self._is_reading = True
        self._deliver()

    def _deliver(self) -> None:
        while self._waiting and self._can_read:
            data = self._waiting.popleft()
            self._side.take(len(data))
            self._hand_over(data)
        if self._is_ended_there and not self._waiting and self._can_read:
            self._is_ended_there = False
            keep_open = self._call(self._protocol.eof_received)
            if not keep_open:
                self.close()

    @property
    def _can_read(self) -> bool:
        return self._is_reading and not self._is_paused and not self._is_closing

    def _hand_over(self, data: bytes) -> None:
        if not self._is_buffered:
            self._call(self._protocol.data_received, data)
            return
        while data and not self._is_closing:
            buffer = self._call(self._protocol.get_buffer, len(data))
            if not buffer:
                return
            size = min(len(buffer), len(data))
            memoryview(buffer)[:size] = data[:size]
            data = data[size:]
            self._call(self._protocol.buffer_updated, size)

    def _call(self, callback: Any, *args: Any) -> Any:
        try:
            return self._context.run(callback, *args)
        except (SystemExit, KeyboardInterrupt):
            raise
        except BaseException as error:
            name = getattr(callback, "__name__", "callback")
            self._report(error, f"Fatal error: protocol.{name}() call failed.")
            self._fail(error)
            return None

    def _report(self, error: BaseException, message: str) -> None:
        context = {"message": message, "exception": error, "transport": self, "protocol": self._protocol}
        self._loop.call_exception_handler(context)

    def _fail(self, error: BaseException) -> None:
        """End it at once, also what was still to be written."""
        if not self._is_lost:
            self._side.reset()
            self._is_closing = True
            self._lose(error)

    def _lose(self, error: BaseException | None) -> None:
        if not self._is_lost:
            self._is_lost = True
            self._waiting.clear()
            self._loop.call_soon(self._tell_lost, error)

    def _tell_lost(self, error: BaseException | None) -> None:
        try:
            self._protocol.connection_lost(error)
        finally:
            if self._on_lost is not None:
                self._on_lost()
            if self._side.user is self:
                self._side.detach()

    # -- what programs call --------------------------------------------------------------------------------------

    def set_protocol(self, protocol: Any) -> None:
        self._protocol = protocol
        self._is_buffered = isinstance(protocol, asyncio.BufferedProtocol)

    def get_protocol(self) -> Any:
        return self._protocol

    def is_closing(self) -> bool:
        return self._is_closing or self._loop.is_dead

    def is_reading(self) -> bool:
        return not self._is_closing and not self._is_paused

    def pause_reading(self) -> None:
        self._is_paused = True

    def resume_reading(self) -> None:
        if self._is_paused and not self._is_closing:
            self._is_paused = False
            if self._waiting or self._is_ended_there:
                self._loop.call_soon(self._deliver)

    def write(self, data: Any) -> None:
        if not isinstance(data, bytes | bytearray | memoryview):
            raise TypeError(
                f"data argument must be a bytes-like object, not {type(data).__name__!r}",
            )
        if self._has_eof:
            raise RuntimeError("Cannot call write() after write_eof()")
        if not data or self._is_lost or self._loop.is_dead or not self._side.can_send:
            return
        self._side.write(data)
        self._pause_if_full()

    def _pause_if_full(self) -> None:
        if not self._is_protocol_paused and self.get_write_buffer_size() > self._high:
            self._is_protocol_paused = True
            self._call(self._protocol.pause_writing)

    def writelines(self, list_of_data: Any) -> None:
        self.write(b"".join(list_of_data))

    def can_write_eof(self) -> bool:
        return True

    def write_eof(self) -> None:
        if not self._is_closing and not self._has_eof:
            self._has_eof = True
            if not self._loop.is_dead:
                self._side.finish()

    def close(self) -> None:
        if not self._is_closing and not self._loop.is_dead:
            self._is_closing = True
            if not self._side.pending or self._side.state is State.CLOSED:
                self._finish_closing()

    def _finish_closing(self) -> None:
        if not self._is_lost:
            self._side.finish()
            self._lose(None)

    def abort(self) -> None:
        if not self._loop.is_dead and not self._is_lost:
            self._side.reset()
            self._is_closing = True
            self._lose(None)

    def get_write_buffer_size(self) -> int:
        return len(self._side.pending)

    def get_write_buffer_limits(self) -> tuple[int, int]:
        return self._low, self._high

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        if high is None:
            high = 4 * low if low is not None else _HIGH_WATER
        if low is None:
            low = high // 4
        if not high >= low >= 0:
            raise ValueError(f"high ({high!r}) must be >= low ({low!r}) must be >= 0")
        self._high, self._low = high, low
        self._pause_if_full()


class SimulatedDatagramTransport(asyncio.DatagramTransport):
    """A transport for datagrams, bound to a port of its host."""

    def __init__(
        self,
        loop: Scheduler,
        kernel: Kernel,
        protocol: Any,
        local: tuple[str, int],
        remote: tuple[str, int] | None,
        socket: Any,
    ) -> None:
        super().__init__({"socket": socket, "sockname": local, "peername": remote})
        self._loop = loop
        self._kernel = kernel
        self._protocol = protocol
        self._local = local
        self._remote = remote
        self._is_closing = False
        self._context: Context = copy_context()
        kernel.bind_receiver(local, self)
        loop.call_soon(protocol.connection_made, self)

    def on_datagram(self, data: bytes, sender: tuple[str, int]) -> None:
        if self._is_closing or (self._remote is not None and sender != self._remote):
            return
        try:
            self._context.run(self._protocol.datagram_received, data, sender)
        except (SystemExit, KeyboardInterrupt):
            raise
        except BaseException as error:
            message = "Fatal read error on datagram transport"
            context = {"message": message, "exception": error, "transport": self, "protocol": self._protocol}
            self._loop.call_exception_handler(context)
            self._close(error)

    def sendto(self, data: Any, addr: Any = None) -> None:
        if not isinstance(data, bytes | bytearray | memoryview):
            raise TypeError(f"data argument must be a bytes-like object, not {type(data).__name__!r}")
        if self._remote is not None and addr not in (None, self._remote):
            raise ValueError(f"Invalid address: must be None or {self._remote}")
        target = self._remote if addr is None else addr
        if target is None:
            raise ValueError("no address to send to")
        if self._is_closing or self._loop.is_dead:
            return
        resolved = self._kernel.internet.resolve(target[0])
        if resolved:
            self._kernel.send_datagram(self._local, (resolved[0], target[1]), bytes(data))

    def close(self) -> None:
        self._close(None)

    def abort(self) -> None:
        self._close(None)

    def _close(self, error: BaseException | None) -> None:
        if not self._is_closing and not self._loop.is_dead:
            self._is_closing = True
            self._kernel.unbind_receiver(self._local)
            self._loop.call_soon(self._protocol.connection_lost, error)

    def is_closing(self) -> bool:
        return self._is_closing or self._loop.is_dead

    def set_protocol(self, protocol: Any) -> None:
        self._protocol = protocol

    def get_protocol(self) -> Any:
        return self._protocol

    def get_write_buffer_size(self) -> int:
        return 0
