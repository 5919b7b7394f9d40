"""TLS on simulated connections: Python's own, by memory, over a simulated transport.

Its random numbers come from OpenSSL, so that ciphertext differs from run to run.  It travels beside the packets,
and nobody is shown it; what matters, when which side sends something, is the same.
"""

from __future__ import annotations

import asyncio
from asyncio.sslproto import SSLProtocol
from collections.abc import Callable
from typing import Any

from clew.aio.loop.scheduling import Scheduler
from clew.aio.loop.transports import StreamTransport
from clew.aio.network.streams import StreamSide

#: How long a handshake and a shutdown may take.
Times = tuple[float | None, float | None]


def make_secure(
    loop: Scheduler,
    side: StreamSide,
    protocol: Any,
    shown: Any,
    context: Any,
    times: Times,
    waiter: asyncio.Future[None] | None = None,
    server_hostname: str | None = None,
    on_lost: Callable[[], None] | None = None,
    early: tuple[list[bytes], bool, OSError | None] = ([], False, None),
) -> Any:
    """Return the transport of a program that talks TLS; without a waiter, it is that of a server."""
    side.is_secret = True
    secure = _make_protocol(loop, protocol, context, waiter, waiter is None, server_hostname, times)
    StreamTransport(loop, side, secure, shown, on_lost=on_lost).receive_early(*early)
    return secure._app_transport


async def upgrade(
    loop: Scheduler,
    transport: Any,
    protocol: Any,
    context: Any,
    times: Times,
    server_side: bool,
    server_hostname: str | None,
) -> Any:
    """Go on with TLS on a transport that was plain so far."""
    if not isinstance(transport, StreamTransport):
        raise TypeError(f"transport {transport!r} is not supported by start_tls()")
    waiter = loop.create_future()
    secure = _make_protocol(
        loop, protocol, context, waiter, server_side, server_hostname, times, call_connection_made=False
    )
    # Nothing may come in between: the first bytes of the handshake are for the new protocol.
    transport.pause_reading()
    transport.hide_contents()
    transport.set_protocol(secure)
    begun = loop.call_soon(secure.connection_made, transport)
    resumed = loop.call_soon(transport.resume_reading)
    try:
        await waiter
    except BaseException:
        transport.close()
        begun.cancel()
        resumed.cancel()
        raise
    return secure._app_transport


def _make_protocol(
    loop: Scheduler,
    protocol: Any,
    context: Any,
    waiter: asyncio.Future[None] | None,
    server_side: bool,
    server_hostname: str | None,
    times: Times,
    *,
    call_connection_made: bool = True,
) -> Any:
    make: Any = SSLProtocol  # its signature differs between versions
    secure = make(
        loop,
        protocol,
        context,
        waiter,
        server_side,
        server_hostname,
        call_connection_made=call_connection_made,
        ssl_handshake_timeout=times[0],
        ssl_shutdown_timeout=times[1],
    )
    if not hasattr(secure, "_app_transport") or secure._app_transport is None:
        secure._get_app_transport()
    return secure
