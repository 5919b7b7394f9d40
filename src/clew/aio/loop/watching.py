"""What a loop does with sockets that programs make themselves: watch them, and receive and send by them.

As a selector has it: whoever watches a socket is called in every round in which it is ready.
"""

from __future__ import annotations

import asyncio
import socket as real
from asyncio import events
from collections.abc import Callable
from typing import Any

from clew.aio.fences import fence
from clew.aio.loop.scheduling import Scheduler
from clew.aio.loop.sockets import SimulatedSocket
from clew.aio.network.kernel import Kernel


class Watching(Scheduler):
    """The part of a loop that has to do with sockets."""

    _kernel: Kernel

    def __init__(self, read_clock: Callable[[], float], tell: Callable[[str], None]) -> None:
        super().__init__(read_clock, tell)
        self._readers: dict[int, tuple[SimulatedSocket, events.Handle]] = {}
        self._writers: dict[int, tuple[SimulatedSocket, events.Handle]] = {}

    def _poll(self) -> bool:
        # What arrived while it was not watched is still there: sockets are asked, not told.
        for sock, handle in list(self._readers.values()):
            if sock.is_readable:
                self._ready.append(handle)
        for sock, handle in list(self._writers.values()):
            if sock.is_writable:
                self._ready.append(handle)
        return bool(self._ready)

    def _watch(self, table: dict[int, Any], name: str, fd: Any, callback: Any, args: Any) -> None:
        sock = self._kernel.find_socket(fd)
        if not isinstance(sock, SimulatedSocket):
            fence(f"loop.{name}({fd!r})", "watch sockets that were made at this host")
        self._forget(table, fd)
        loop: Any = self
        table[sock.fileno()] = sock, events.Handle(callback, args, loop, None)
        self._watched = True

    def _forget(self, table: dict[int, Any], fd: Any) -> bool:
        number = fd if isinstance(fd, int) else fd.fileno()
        known = table.pop(number, None)
        if known is not None:
            known[1].cancel()
        self._watched = bool(self._readers or self._writers)
        return known is not None

    # -- what programs call --------------------------------------------------------------------------------------

    def add_reader(self, fd: Any, callback: Any, *args: Any) -> None:
        self._watch(self._readers, "add_reader", fd, callback, args)

    def remove_reader(self, fd: Any) -> bool:
        return self._forget(self._readers, fd)

    def add_writer(self, fd: Any, callback: Any, *args: Any) -> None:
        self._watch(self._writers, "add_writer", fd, callback, args)

    def remove_writer(self, fd: Any) -> bool:
        return self._forget(self._writers, fd)

    async def _when(self, add: Any, remove: Any, sock: Any, attempt: Callable[[], Any]) -> Any:
        """Return what an attempt comes to, once it does not have to wait any more."""
        try:
            return attempt()
        except (BlockingIOError, InterruptedError):
            pass
        future = self.create_future()

        def again() -> None:
            if future.done():
                return
            try:
                result = attempt()
            except (BlockingIOError, InterruptedError):
                return
            except (SystemExit, KeyboardInterrupt):
                raise
            except BaseException as error:
                future.set_exception(error)
            else:
                future.set_result(result)

        add(sock, again)
        try:
            return await future
        finally:
            if sock.fileno() >= 0:
                remove(sock)

    def _require_ours(self, sock: Any) -> None:
        if not isinstance(sock, SimulatedSocket):
            fence(f"a socket like {sock!r}", "make sockets at the host that uses them")
        if sock.gettimeout() != 0:
            raise ValueError("the socket must be non-blocking")

    async def sock_recv(self, sock: Any, nbytes: int) -> bytes:
        self._require_ours(sock)
        data: bytes = await self._when(self.add_reader, self.remove_reader, sock, lambda: sock.recv(nbytes))
        return data

    async def sock_recv_into(self, sock: Any, buf: Any) -> int:
        self._require_ours(sock)
        size: int = await self._when(self.add_reader, self.remove_reader, sock, lambda: sock.recv_into(buf))
        return size

    async def sock_recvfrom(self, sock: Any, bufsize: int) -> Any:
        self._require_ours(sock)
        return await self._when(self.add_reader, self.remove_reader, sock, lambda: sock.recvfrom(bufsize))

    async def sock_recvfrom_into(self, sock: Any, buf: Any, nbytes: int = 0) -> Any:
        self._require_ours(sock)
        return await self._when(self.add_reader, self.remove_reader, sock, lambda: sock.recvfrom_into(buf, nbytes))

    async def sock_sendall(self, sock: Any, data: Any) -> None:
        self._require_ours(sock)
        if data:
            await self._when(self.add_writer, self.remove_writer, sock, lambda: sock.send(data))

    async def sock_sendto(self, sock: Any, data: Any, address: Any) -> int:
        self._require_ours(sock)
        size: int = sock.sendto(data, address)
        return size

    async def sock_accept(self, sock: Any) -> Any:
        self._require_ours(sock)
        accepted, address = await self._when(self.add_reader, self.remove_reader, sock, sock.accept)
        accepted.setblocking(False)
        return accepted, address

    async def sock_connect(self, sock: Any, address: Any) -> None:
        self._require_ours(sock)
        try:
            sock.connect(address)
            return
        except (BlockingIOError, InterruptedError):
            pass
        future = self.create_future()

        def look() -> None:
            code = sock.getsockopt(real.SOL_SOCKET, real.SO_ERROR)
            if future.done():
                return
            if code:
                future.set_exception(OSError(code, f"Connect call failed {address}"))
            else:
                future.set_result(None)

        self.add_writer(sock, look)
        try:
            await future
        finally:
            if sock.fileno() >= 0:
                self.remove_writer(sock)

    async def sock_sendfile(
        self, sock: Any, file: Any, offset: int = 0, count: int | None = None, *, fallback: bool | None = None
    ) -> int:
        file.seek(offset)
        data = file.read() if count is None else file.read(count)
        await self.sock_sendall(sock, data)
        return len(data)

    async def sendfile(
        self,
        transport: asyncio.WriteTransport,
        file: Any,
        offset: int = 0,
        count: int | None = None,
        *,
        fallback: bool = True,
    ) -> int:
        """Write the contents of a file to a transport."""
        file.seek(offset)
        data = file.read() if count is None else file.read(count)
        transport.write(data)
        return len(data)
