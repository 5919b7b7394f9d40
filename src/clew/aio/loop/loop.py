"""The event loop of a simulated host: what ``asyncio.get_running_loop()`` gives its program.

Everything that would reach the real network, processes or files is either simulated or refused by name.
"""

from __future__ import annotations

import asyncio
import socket as real
from collections.abc import Callable
from typing import Any

from clew.aio.fences import fence
from clew.aio.loop.secure import make_secure, upgrade
from clew.aio.loop.servers import SimulatedServer
from clew.aio.loop.sockets import ShownSocket, SimulatedSocket
from clew.aio.loop.transports import SimulatedDatagramTransport, StreamTransport
from clew.aio.loop.watching import Watching
from clew.aio.network.internet import ANY
from clew.aio.network.kernel import Kernel
from clew.aio.network.streams import StreamSide

#: What has come for a connection before it has a transport: bytes, whether that was all, and how it failed.
Early = tuple[list[bytes], bool, "OSError | None"]


class SimulatedLoop(Watching):
    """The loop of one life of a host; ``kernel`` is its network stack, ``offload`` runs what a thread would."""

    def __init__(
        self,
        kernel: Kernel,
        read_clock: Callable[[], float],
        tell: Callable[[str], None],
        offload: Callable[[Callable[[], None]], None],
    ) -> None:
        super().__init__(read_clock, tell)
        self._kernel = kernel
        self._offload = offload
        self._sockets = 3

    def __repr__(self) -> str:
        return f"<SimulatedLoop of {self._kernel.name}>"

    def _show_socket(
        self, kind: int, local: tuple[str, int], remote: tuple[str, int] | None = None
    ) -> ShownSocket:
        self._sockets += 1
        return ShownSocket(self._sockets, kind, local, remote)

    # -- names ---------------------------------------------------------------------------------------------------

    def resolve(
        self, host: Any, port: Any, *, family: int = 0, type: int = 0, proto: int = 0, flags: int = 0
    ) -> Any:
        """Return what ``getaddrinfo`` says of a host of the simulation."""
        addresses = self._kernel.internet.resolve(host, is_passive=bool(flags & real.AI_PASSIVE))
        if not addresses or family == real.AF_INET6:
            shown = host.decode("ascii", "replace") if isinstance(host, bytes) else host
            raise real.gaierror(real.EAI_NONAME, f"Name or service not known: {shown!r} is no simulated host")
        number = 0 if port is None else _SERVICES.get(port, port) if isinstance(port, str) else port
        kinds = [(real.SOCK_STREAM, real.IPPROTO_TCP), (real.SOCK_DGRAM, real.IPPROTO_UDP)]
        return [
            (real.AF_INET, kind, protocol, "", (address, int(number)))
            for address in addresses
            for kind, protocol in kinds
            if type in (0, kind) and proto in (0, protocol)
        ]

    async def getaddrinfo(
        self, host: Any, port: Any, *, family: int = 0, type: int = 0, proto: int = 0, flags: int = 0
    ) -> Any:
        await asyncio.sleep(0)
        return self.resolve(host, port, family=family, type=type, proto=proto, flags=flags)

    async def getnameinfo(self, sockaddr: Any, flags: int = 0) -> tuple[str, str]:
        host = self._kernel.internet.find_host(sockaddr[0])
        return (host or sockaddr[0], str(sockaddr[1]))

    def _resolve_one(self, host: Any, port: Any, *, is_passive: bool = False) -> tuple[str, int]:
        return self._resolve_all(host, port, is_passive=is_passive)[0]

    def _resolve_all(self, host: Any, port: Any, *, is_passive: bool = False) -> list[tuple[str, int]]:
        flags = real.AI_PASSIVE if is_passive else 0
        found = self.resolve(host, port, type=real.SOCK_STREAM, flags=flags)
        return [entry[4] for entry in found]

    # -- streams -------------------------------------------------------------------------------------------------

    async def create_connection(
        self,
        protocol_factory: Callable[[], Any],
        host: Any = None,
        port: Any = None,
        *,
        ssl: Any = None,
        family: int = 0,
        proto: int = 0,
        flags: int = 0,
        sock: Any = None,
        local_addr: Any = None,
        server_hostname: str | None = None,
        ssl_handshake_timeout: float | None = None,
        ssl_shutdown_timeout: float | None = None,
        happy_eyeballs_delay: float | None = None,
        interleave: int | None = None,
        all_errors: bool = False,
    ) -> tuple[Any, Any]:
        """Open a connection to a simulated host."""
        if server_hostname is not None and not ssl:
            raise ValueError("server_hostname is only meaningful with ssl")
        if server_hostname is None and ssl:
            if not host:
                raise ValueError("You must set server_hostname when using ssl without a host")
            server_hostname = host
        early: Early
        if sock is not None:
            if host is not None or port is not None:
                raise ValueError("host/port and sock can not be specified at the same time")
            side, chunks, has_ended = _require_simulated(sock).release()
            early = chunks, has_ended, None
            shown: Any = sock
        else:
            if host is None and port is None:
                raise ValueError("host and port was not specified and no sock specified")
            side, early = await self._connect_any(host, port, local_addr)
            shown = self._show_socket(real.SOCK_STREAM, side.local, side.remote)
        protocol = protocol_factory()
        made = self.create_future()
        transport: Any
        if ssl:
            times = ssl_handshake_timeout, ssl_shutdown_timeout
            context = None if isinstance(ssl, bool) else ssl
            transport = make_secure(
                self, side, protocol, shown, context, times, made, server_hostname, early=early
            )
        else:
            transport = StreamTransport(self, side, protocol, shown, on_made=lambda: _fulfill(made, None))
            transport.receive_early(*early)
        try:
            await made
        except BaseException:
            transport.close()
            raise
        return transport, protocol

    async def _connect_any(self, host: Any, port: Any, local_addr: Any) -> tuple[StreamSide, Early]:
        """Connect to the first address of a host that agrees."""
        errors: list[OSError] = []
        local = None if local_addr is None else self._resolve_one(*local_addr)
        for remote in self._resolve_all(host, port):
            try:
                return await self._connect(remote, local)
            except OSError as error:
                errors.append(error)
        if len(errors) == 1:
            raise errors[0]
        raise OSError(f"Multiple exceptions: {', '.join(map(str, errors))}")

    async def _connect(self, remote: tuple[str, int], local: tuple[str, int] | None) -> tuple[StreamSide, Early]:
        side = self._kernel.open(remote, local)
        waiter = self.create_future()
        side.user = waiting = _Waiting(waiter)
        side.connect()
        try:
            await waiter
        except BaseException:
            side.user = None
            side.reset()
            raise
        return side, (waiting.chunks, waiting.has_ended, waiting.error)

    async def create_server(
        self,
        protocol_factory: Callable[[], Any],
        host: Any = None,
        port: Any = None,
        *,
        family: int = 0,
        flags: int = real.AI_PASSIVE,
        sock: Any = None,
        backlog: int = 100,
        ssl: Any = None,
        reuse_address: bool | None = None,
        reuse_port: bool | None = None,
        keep_alive: bool | None = None,
        ssl_handshake_timeout: float | None = None,
        ssl_shutdown_timeout: float | None = None,
        start_serving: bool = True,
    ) -> SimulatedServer:
        """Listen at a port of this host."""
        if isinstance(ssl, bool):
            raise TypeError("ssl argument must be an SSLContext or None")
        times = ssl_handshake_timeout, ssl_shutdown_timeout
        if sock is not None:
            places = [_require_simulated(sock).getsockname()]
        elif host is None and port is None:
            raise ValueError("Neither host/port nor sock were specified")
        else:
            places = self._claim_places(host, port)

        def make(side: StreamSide, protocol: Any, on_lost: Callable[[], None]) -> Any:
            shown = self._show_socket(real.SOCK_STREAM, side.local, side.remote)
            if ssl is not None:
                return make_secure(self, side, protocol, shown, ssl, times, on_lost=on_lost)
            return StreamTransport(self, side, protocol, shown, on_lost=on_lost)

        server = SimulatedServer(self, self._kernel, protocol_factory, places, make, backlog)
        if start_serving:
            server.begin()
            await asyncio.sleep(0)
        return server

    def _claim_places(self, host: Any, port: Any) -> list[tuple[str, int]]:
        """Return the free addresses at which a server is to listen."""
        hosts = [ANY] if host in (None, "") else [host] if isinstance(host, str | bytes) else list(host)
        wanted = [place for each in hosts for place in self._resolve_all(each, port, is_passive=True)]
        return [self._kernel.claim_port("tcp", *place) for place in dict.fromkeys(wanted)]

    async def start_tls(
        self,
        transport: Any,
        protocol: Any,
        sslcontext: Any,
        *,
        server_side: bool = False,
        server_hostname: str | None = None,
        ssl_handshake_timeout: float | None = None,
        ssl_shutdown_timeout: float | None = None,
    ) -> Any:
        """Go on with TLS on a connection that was plain so far."""
        times = ssl_handshake_timeout, ssl_shutdown_timeout
        return await upgrade(self, transport, protocol, sslcontext, times, server_side, server_hostname)

    # -- datagrams -----------------------------------------------------------------------------------------------

    async def create_datagram_endpoint(
        self,
        protocol_factory: Callable[[], Any],
        local_addr: Any = None,
        remote_addr: Any = None,
        *,
        family: int = 0,
        proto: int = 0,
        flags: int = 0,
        reuse_address: bool | None = None,
        reuse_port: bool | None = None,
        allow_broadcast: bool | None = None,
        sock: Any = None,
    ) -> tuple[Any, Any]:
        """Bind a port of this host for datagrams."""
        remote = None if remote_addr is None else self._resolve_one(*remote_addr)
        if sock is not None:
            local, remote = _require_simulated(sock).getsockname(), remote
            shown: Any = sock
        else:
            wanted = (ANY, 0) if local_addr is None else self._resolve_one(*local_addr, is_passive=True)
            local = self._kernel.claim_port("udp", *wanted)
            shown = self._show_socket(real.SOCK_DGRAM, local, remote)
        protocol = protocol_factory()
        transport = SimulatedDatagramTransport(self, self._kernel, protocol, local, remote, shown)
        await asyncio.sleep(0)
        return transport, protocol

    # -- threads -------------------------------------------------------------------------------------------------

    def run_in_executor(self, executor: Any, func: Callable[..., Any], *args: Any) -> asyncio.Future[Any]:
        """Call a function as an event of its own, as a thread would; nothing else runs meanwhile."""
        future = self.create_future()

        def perform() -> None:
            if future.cancelled():
                return
            try:
                result = func(*args)
            except (SystemExit, KeyboardInterrupt):
                raise
            except BaseException as error:
                self.call_soon(_fail, future, error)
            else:
                self.call_soon(_fulfill, future, result)

        self._offload(perform)
        return future

    def set_default_executor(self, executor: Any) -> None:
        """Ignore it: functions in executors are events."""

    # -- signals, which nobody sends -----------------------------------------------------------------------------

    def add_signal_handler(self, sig: int, callback: Any, *args: Any) -> None:
        """Accept it: in the simulation, nobody sends signals."""

    def remove_signal_handler(self, sig: int) -> bool:
        return False

    # -- what programs of a host do not call ---------------------------------------------------------------------

    def run_until_complete(self, future: Any) -> Any:
        fence("loop.run_until_complete()", "the loop of a host is running already: use await, or create_task")

    def run_forever(self) -> None:
        fence("loop.run_forever()", "the loop of a host is running already: await asyncio.Event().wait()")

    def stop(self) -> None:
        fence("loop.stop()", "let the program of the host return instead")

    def close(self) -> None:
        fence("loop.close()", "let the program of the host return instead")


def _fulfill(future: asyncio.Future[Any], result: Any) -> None:
    if not future.done():
        future.set_result(result)


def _fail(future: asyncio.Future[Any], error: BaseException) -> None:
    if isinstance(error, StopIteration):  # which a future cannot hold
        error = RuntimeError("StopIteration interacts badly with generators")
    if not future.done():
        future.set_exception(error)


def _require_simulated(sock: Any) -> SimulatedSocket:
    if not isinstance(sock, SimulatedSocket):
        fence(f"a socket like {sock!r}", "make sockets at the host that uses them")
    return sock


class _Waiting:
    """Waits for a connection to be made, and keeps what comes before a transport is there."""

    def __init__(self, waiter: asyncio.Future[None]) -> None:
        self._waiter = waiter
        self.chunks: list[bytes] = []
        self.has_ended = False
        self.error: OSError | None = None

    def on_connected(self) -> None:
        if not self._waiter.done():
            self._waiter.set_result(None)

    def on_failure(self, error: OSError) -> None:
        self.error = error
        if not self._waiter.done():
            self._waiter.set_exception(error)

    def on_data(self, data: bytes) -> None:
        self.chunks.append(data)

    def on_end(self) -> None:
        self.has_ended = True

    def on_room(self) -> None:
        """Ignore it: nothing is written yet."""


_SERVICES = {"http": 80, "https": 443}

#: Methods of a loop that are not simulated, and what to do instead.
_FENCED = {
    "subprocess_shell": "run the other program as a host of the simulation",
    "subprocess_exec": "run the other program as a host of the simulation",
    "create_unix_connection": "use TCP",
    "create_unix_server": "use TCP",
    "connect_read_pipe": "use TCP",
    "connect_write_pipe": "use TCP",
    "connect_accepted_socket": "use create_server",
}


def _install_fences() -> None:
    for name, remedy in _FENCED.items():

        def refuse(self: Any, *args: Any, _name: str = name, _remedy: str = remedy, **kwargs: Any) -> Any:
            fence(f"loop.{_name}()", _remedy)

        setattr(SimulatedLoop, name, refuse)


_install_fences()
