"""Servers: who listens at a port of a simulated host, and gives each connection a protocol."""

from __future__ import annotations

import asyncio
import socket as real
import sys
from collections.abc import Callable
from typing import Any

from clew.aio.loop.scheduling import Scheduler
from clew.aio.loop.sockets import ShownSocket
from clew.aio.network.kernel import Kernel
from clew.aio.network.streams import StreamSide

#: Before Python 3.12, a server that was closed did not wait for the connections that it still had.
_WAITS_FOR_CLIENTS = sys.version_info >= (3, 12)


class SimulatedServer(asyncio.AbstractServer):
    """What ``create_server`` gives: it listens at one or several addresses."""

    def __init__(
        self,
        loop: Scheduler,
        kernel: Kernel,
        factory: Callable[[], Any],
        places: list[tuple[str, int]],
        make_transport: Callable[[StreamSide, Any, Callable[[], None]], Any],
        backlog: int,
    ) -> None:
        self._loop = loop
        self._kernel = kernel
        self._factory = factory
        self._places = places
        self._make_transport = make_transport
        self._is_serving = False
        self._is_closed = False
        self._active = 0
        self._waiters: list[asyncio.Future[None]] = []
        self._forever: asyncio.Future[None] | None = None
        self.backlog = backlog
        self._transports: list[Any] = []

    def __repr__(self) -> str:
        return f"<SimulatedServer at {self._places}>"

    @property
    def sockets(self) -> tuple[ShownSocket, ...]:
        if self._is_closed:
            return ()
        return tuple(ShownSocket(3 + n, real.SOCK_STREAM, place) for n, place in enumerate(self._places))

    def on_connection(self, side: StreamSide) -> None:
        """Handle a connection that the kernel has accepted."""
        try:
            protocol = self._factory()
        except Exception as error:
            message = "Error on transport creation for incoming connection"
            self._loop.call_exception_handler({"message": message, "exception": error})
            side.reset()
            return
        self._active += 1
        self._transports.append(self._make_transport(side, protocol, self._detach))

    def _detach(self) -> None:
        self._active -= 1
        self._transports = [t for t in self._transports if not t.is_closing()]
        self._wake()

    def _wake(self) -> None:
        if self._is_closed and not self._active:
            waiters, self._waiters = self._waiters, []
            for waiter in waiters:
                if not waiter.done():
                    waiter.set_result(None)

    # -- what programs call --------------------------------------------------------------------------------------

    def get_loop(self) -> Any:
        return self._loop

    def is_serving(self) -> bool:
        return self._is_serving

    def begin(self) -> None:
        if not self._is_serving and not self._is_closed:
            self._is_serving = True
            for place in self._places:
                self._kernel.listen(place, self)

    async def start_serving(self) -> None:
        self.begin()
        await asyncio.sleep(0)

    async def serve_forever(self) -> None:
        if self._forever is not None:
            raise RuntimeError(f"server {self!r} is already being awaited on serve_forever()")
        if self._is_closed:
            raise RuntimeError(f"server {self!r} is closed")
        self.begin()
        self._forever = self._loop.create_future()
        try:
            await self._forever
        except asyncio.CancelledError:
            try:
                self.close()
                await self.wait_closed()
            finally:
                raise
        finally:
            self._forever = None

    def close(self) -> None:
        if self._is_closed or self._loop.is_dead:
            return
        self._is_closed = True
        if self._is_serving:
            self._is_serving = False
            for place in self._places:
                self._kernel.stop_listening(place)
        if self._forever is not None and not self._forever.done():
            self._forever.cancel()
        self._wake()

    def close_clients(self) -> None:
        for transport in list(self._transports):
            transport.close()

    def abort_clients(self) -> None:
        for transport in list(self._transports):
            transport.abort()

    async def wait_closed(self) -> None:
        if self._is_closed and not self._active:
            return
        if self._is_closed and not _WAITS_FOR_CLIENTS:
            return
        waiter = self._loop.create_future()
        self._waiters.append(waiter)
        await waiter
