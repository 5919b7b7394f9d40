"""Sockets that programs make themselves, and those that they are shown of a transport.

While a host runs, ``socket.socket(...)`` gives a ``SimulatedSocket``: it has no descriptor of the system, and
never blocks.  Where a real one would block, this is a mistake that is told, for it would stop the whole host.
"""

from __future__ import annotations

import errno
import os
import socket as real
from collections import deque
from typing import Any

from clew.aio.fences import fence
from clew.aio.network.internet import ANY
from clew.aio.network.kernel import Kernel
from clew.aio.network.streams import State, StreamSide
from clew.aio.running import require_life

_USE_LOOP = "use the loop (sock_recv, sock_accept, ...), or transports and streams"


class ShownSocket:
    """What ``get_extra_info("socket")`` gives: it can be asked, and options can be set, to no effect."""

    def __init__(
        self,
        number: int,
        kind: int,
        local: tuple[str, int],
        remote: tuple[str, int] | None = None,
    ) -> None:
        self.family = real.AF_INET
        self.type = kind
        self.proto = real.IPPROTO_TCP if kind == real.SOCK_STREAM else real.IPPROTO_UDP
        self._number = number
        self._local = local
        self._remote = remote
        self._options: dict[tuple[int, int], Any] = {}

    def __repr__(self) -> str:
        return f"<simulated socket {self._local} to {self._remote}>"

    def fileno(self) -> int:
        return self._number

    def getsockname(self) -> tuple[str, int]:
        return self._local

    def getpeername(self) -> tuple[str, int]:
        if self._remote is None:
            raise OSError(errno.ENOTCONN, "Transport endpoint is not connected")
        return self._remote

    def getsockopt(self, level: int, option: int, size: int = 0) -> Any:
        return self._options.get((level, option), 0)

    def setsockopt(self, level: int, option: int, value: Any, size: int = 0) -> None:
        self._options[level, option] = value

    def setblocking(self, flag: bool) -> None:
        """Ignore it: it never blocks."""

    def settimeout(self, timeout: float | None) -> None:
        """Ignore it: it never blocks."""

    def gettimeout(self) -> float:
        return 0.0

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or not hasattr(real.socket, name):
            raise AttributeError(name)
        fence(f"socket.{name} of a transport's socket", "use the transport")


class SimulatedSocket(real.socket):
    """A socket of a simulated host, for streams or datagrams."""

    def __init__(
        self,
        family: int = -1,
        type: int = -1,
        proto: int = -1,
        fileno: int | None = None,
        *,
        kernel: Kernel | None = None,
    ) -> None:
        # Not that of a real socket, which would ask the system for one.
        if fileno is not None:
            fence("socket.socket(fileno=...)", _USE_LOOP)
        kind = real.SOCK_STREAM if type == -1 else type & ~(_NONBLOCK | _CLOEXEC)
        if family not in (-1, real.AF_INET) or kind not in (real.SOCK_STREAM, real.SOCK_DGRAM):
            if family == real.AF_INET6:
                raise OSError(errno.EAFNOSUPPORT, "Address family not supported by protocol")
            fence(f"socket.socket(family={family!r}, type={type!r})", "use AF_INET, with streams or datagrams")
        self._kernel = kernel = require_life().kernel if kernel is None else kernel
        self._kind = kind
        self._number = kernel.add_socket(self)
        self._timeout: float | None = 0.0 if type != -1 and type & _NONBLOCK else None
        self._options: dict[tuple[int, int], Any] = {}
        self._local: tuple[str, int] | None = None
        self._remote: tuple[str, int] | None = None
        self._side: StreamSide | None = None
        self._arrived: deque[Any] = deque()  # bytes, connections to accept, or datagrams with their senders
        self._has_ended = False
        self._error: OSError | None = None
        self._is_listening = False
        self._closed = False  # by this name, the base class asks for it at the end of a ``with``
        self.backlog = 0

    def __repr__(self) -> str:
        return f"<SimulatedSocket {self._number} {self._local} to {self._remote}>"

    def __del__(self) -> None:
        """Do nothing: there is nothing to be closed."""

    # -- what happens to it --------------------------------------------------------------------------------------

    def on_connection(self, side: StreamSide) -> None:
        accepted = SimulatedSocket(real.AF_INET, real.SOCK_STREAM, kernel=self._kernel)
        accepted.adopt(side)
        self._arrived.append(accepted)

    def on_connected(self) -> None:
        """Be writable, which tells that it is connected."""

    def on_data(self, data: bytes) -> None:
        self._arrived.append(data)

    def on_datagram(self, data: bytes, sender: tuple[str, int]) -> None:
        if self._remote is None or sender == self._remote:
            self._arrived.append((data, sender))

    def on_end(self) -> None:
        self._has_ended = True

    def on_failure(self, error: OSError) -> None:
        self._error = error
        self._has_ended = True

    def on_room(self) -> None:
        """Be writable again."""

    def adopt(self, side: StreamSide) -> None:
        """Be the socket of a side of a connection."""
        side.user = self
        self._side, self._local, self._remote = side, side.local, side.remote

    def release(self) -> tuple[StreamSide, list[bytes], bool]:
        """Give the connection to a transport, with what has arrived and whether that was all."""
        if self._side is None:
            raise OSError(errno.ENOTCONN, "Transport endpoint is not connected")
        side, self._side = self._side, None
        return side, list(self._arrived), self._has_ended

    @property
    def is_readable(self) -> bool:
        return bool(self._arrived) or self._has_ended

    @property
    def is_writable(self) -> bool:
        if self._kind == real.SOCK_DGRAM or self._error is not None:
            return True
        side = self._side
        return side is not None and side.state is not State.CONNECTING and not side.pending

    # -- being asked ---------------------------------------------------------------------------------------------

    @property
    def family(self) -> Any:
        return real.AF_INET

    @property
    def type(self) -> Any:
        return real.SocketKind(self._kind)

    @property
    def proto(self) -> int:
        return 0

    @property
    def timeout(self) -> float | None:
        return self._timeout

    def fileno(self) -> int:
        return self._number

    def getsockname(self) -> Any:
        return self._local or (ANY, 0)

    def getpeername(self) -> Any:
        if self._remote is None:
            raise OSError(errno.ENOTCONN, "Transport endpoint is not connected")
        return self._remote

    def getsockopt(self, level: int, option: int, size: int = 0) -> Any:
        if (level, option) == (real.SOL_SOCKET, real.SO_ERROR):
            error, self._error = self._error, None
            return 0 if error is None else error.errno or errno.EIO
        if (level, option) == (real.SOL_SOCKET, real.SO_TYPE):
            return self._kind
        return self._options.get((level, option), 0)

    def setsockopt(self, level: int, option: int, value: Any = None, size: int = 0) -> None:
        self._options[level, option] = value

    def setblocking(self, flag: bool) -> None:
        self._timeout = None if flag else 0.0

    def getblocking(self) -> bool:
        return self._timeout != 0.0

    def settimeout(self, value: float | None) -> None:
        self._timeout = value

    def gettimeout(self) -> float | None:
        return self._timeout

    def set_inheritable(self, inheritable: bool) -> None:
        """Ignore it: there are no other processes."""

    def get_inheritable(self) -> bool:
        return False

    # -- addresses -----------------------------------------------------------------------------------------------

    def _resolve(self, address: Any) -> tuple[str, int]:
        found = self._kernel.internet.resolve(address[0])
        if not found:
            raise real.gaierror(real.EAI_NONAME, f"Name or service not known: {address[0]!r} is no simulated host")
        return found[0], int(address[1])

    def bind(self, address: Any) -> None:
        table = "tcp" if self._kind == real.SOCK_STREAM else "udp"
        self._local = self._kernel.claim_port(table, *self._resolve(address))
        if self._kind == real.SOCK_DGRAM:
            self._kernel.bind_receiver(self._local, self)

    def listen(self, backlog: int = 100) -> None:
        if self._local is None:
            self._local = self._kernel.claim_port("tcp", ANY, 0)
        self.backlog = backlog
        self._is_listening = True
        self._kernel.listen(self._local, self)

    def accept(self) -> Any:
        if not self._arrived:
            self._refuse_blocking("accept")
        accepted = self._arrived.popleft()
        return accepted, accepted.getpeername()

    def connect(self, address: Any) -> None:
        code = self.connect_ex(address)
        if code == errno.EINPROGRESS and self._timeout != 0.0:
            fence(
                "a blocking socket.connect()", "it would stop the whole host: use the loop, or setblocking(False)"
            )
        if code:
            raise (
                OSError(code, os.strerror(code))
                if code != errno.EINPROGRESS
                else BlockingIOError(code, os.strerror(code))
            )

    def connect_ex(self, address: Any) -> int:
        if self._kind == real.SOCK_DGRAM:
            self._remote = self._resolve(address)
            if self._local is None:
                self.bind((ANY, 0))
            return 0
        if self._side is not None:
            if self._error is not None:
                return int(self.getsockopt(real.SOL_SOCKET, real.SO_ERROR))
            return errno.EALREADY if self._side.state is State.CONNECTING else errno.EISCONN
        try:
            side = self._kernel.open(self._resolve(address), self._local)
        except OSError as error:
            return error.errno or errno.EIO
        self.adopt(side)
        side.connect()
        return errno.EINPROGRESS

    # -- sending and receiving -----------------------------------------------------------------------------------

    def send(self, data: Any, flags: int = 0) -> int:
        if self._kind == real.SOCK_DGRAM:
            return self.sendto(data, self.getpeername())
        side = self._require_side()
        if side.state is State.CONNECTING or side.pending:
            self._refuse_blocking("send")
        size = len(memoryview(data).cast("B"))
        side.write(bytes(data))
        return size

    def sendall(self, data: Any, flags: int = 0) -> None:
        self.send(data)

    def sendto(self, data: Any, *where: Any) -> int:
        if self._kind != real.SOCK_DGRAM:
            return self.send(data)
        if self._local is None:
            self.bind((ANY, 0))
        assert self._local is not None
        self._kernel.send_datagram(self._local, self._resolve(where[-1]), bytes(data))
        return len(data)

    def recv(self, size: int, flags: int = 0) -> bytes:
        data: bytes = self.recvfrom(size)[0]
        return data

    def recvfrom(self, size: int, flags: int = 0) -> Any:
        if not self._arrived:
            if self._error is not None:
                error, self._error = self._error, None
                raise error
            if self._has_ended:
                return b"", self._remote
            self._refuse_blocking("recv")
        if self._kind == real.SOCK_DGRAM:
            data, sender = self._arrived.popleft()
            return data[:size], sender
        data = self._arrived.popleft()
        if len(data) > size:
            self._arrived.appendleft(data[size:])
            data = data[:size]
        if self._side is not None:
            self._side.take(len(data))
        return data, self._remote

    def recv_into(self, buffer: Any, size: int = 0, flags: int = 0) -> int:
        return int(self.recvfrom_into(buffer, size)[0])

    def recvfrom_into(self, buffer: Any, size: int = 0, flags: int = 0) -> Any:
        view = memoryview(buffer).cast("B")
        data, sender = self.recvfrom(size or len(view))
        view[: len(data)] = data
        return len(data), sender

    def _require_side(self) -> StreamSide:
        if self._error is not None:
            error, self._error = self._error, None
            raise error
        if self._side is None:
            raise OSError(errno.ENOTCONN, "Transport endpoint is not connected")
        if self._side.state is State.CLOSED or not self._side.can_send:
            raise BrokenPipeError(errno.EPIPE, "Broken pipe")
        return self._side

    def _refuse_blocking(self, call: str) -> None:
        if self._timeout != 0.0:
            fence(f"a blocking socket.{call}()", f"it would stop the whole host: {_USE_LOOP}")
        raise BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable")

    # -- the end -------------------------------------------------------------------------------------------------

    def shutdown(self, how: int) -> None:
        if self._side is None:
            raise OSError(errno.ENOTCONN, "Transport endpoint is not connected")
        if how in (real.SHUT_WR, real.SHUT_RDWR):
            self._side.finish()
        if how in (real.SHUT_RD, real.SHUT_RDWR):
            self._has_ended = True

    def close(self) -> None:
        if self._number < 0:
            return
        self._kernel.remove_socket(self._number)
        self._number = -1
        self._closed = True
        if self._is_listening and self._local is not None:
            self._kernel.stop_listening(self._local)
            for accepted in self._arrived:
                accepted.close()
        elif self._kind == real.SOCK_DGRAM and self._local is not None:
            self._kernel.unbind_receiver(self._local)
        elif self._side is not None:
            self._side.finish()
            self._side.detach()
        self._arrived.clear()

    def detach(self) -> int:
        fence("socket.detach()", _USE_LOOP)


_NONBLOCK = getattr(real, "SOCK_NONBLOCK", 0)
_CLOEXEC = getattr(real, "SOCK_CLOEXEC", 0)


def _install_fences() -> None:
    """Refuse the methods of sockets that are not simulated: those of C would take its descriptor for a real
    one."""
    known = {"detach", *vars(SimulatedSocket)}
    for name in dir(real.socket):
        if not name.startswith("_") and name not in known and callable(getattr(real.socket, name)):

            def refuse(self: Any, *args: Any, _name: str = name, **kwargs: Any) -> Any:
                fence(f"socket.{_name}()", _USE_LOOP)

            setattr(SimulatedSocket, name, refuse)


_install_fences()
