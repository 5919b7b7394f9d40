"""Small programs that talk to themselves by loopback: what each returns must not depend on whose network it is."""

from __future__ import annotations

import asyncio
import errno
import socket
import ssl
from contextlib import suppress
from typing import Any

LOOPBACK = "127.0.0.1"
#: More than what fits into the buffers of both sides.
LARGE = 8 * 1024 * 1024


async def _echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(1000):
        writer.write(data)
        await writer.drain()
    writer.close()


async def _start(handler: Any, **options: Any) -> tuple[asyncio.Server, int]:
    server = await asyncio.start_server(handler, LOOPBACK, 0, **options)
    return server, server.sockets[0].getsockname()[1]


async def echo() -> Any:
    server, port = await _start(_echo)
    async with server:
        reader, writer = await asyncio.open_connection(LOOPBACK, port)
        writer.writelines([b"one\n", b"two\n"])
        lines = [await reader.readline(), await reader.readuntil(b"o")]
        names = writer.get_extra_info("peername"), writer.get_extra_info("sockname")[0]
        writer.write_eof()
        rest = await reader.read()
        writer.close()
        await writer.wait_closed()
        return lines, rest, names == ((LOOPBACK, port), LOOPBACK), server.is_serving()


async def be_refused() -> Any:
    server, port = await _start(_echo)
    server.close()
    await server.wait_closed()
    try:
        await asyncio.open_connection(LOOPBACK, port)
    except OSError as error:
        return type(error).__name__, error.errno == errno.ECONNREFUSED, str(error).count("Connect call failed")


async def take_a_port_twice() -> Any:
    server, port = await _start(_echo)
    async with server:
        try:
            await asyncio.start_server(_echo, LOOPBACK, port)
        except OSError as error:
            return error.errno == errno.EADDRINUSE


async def close_one_half() -> Any:
    heard = asyncio.get_running_loop().create_future()

    async def answer_at_the_end(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.set_result(await reader.read())
        writer.write(b"answer")
        writer.close()

    server, port = await _start(answer_at_the_end)
    async with server:
        reader, writer = await asyncio.open_connection(LOOPBACK, port)
        writer.write(b"question")
        writer.write_eof()
        answer = await reader.read(), await heard, reader.at_eof(), writer.can_write_eof()
        writer.close()
        return answer


async def be_reset() -> Any:
    async def abort(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readline()
        writer.transport.abort()

    # What was not read makes the kernel reset the connection; in the simulation, abort always does.
    server, port = await _start(abort, limit=16)
    async with server:
        reader, writer = await asyncio.open_connection(LOOPBACK, port)
        writer.write(b"\n" + b"x" * 200_000)
        try:
            await reader.read()
        except OSError as error:
            writer.close()
            return type(error).__name__


async def press_back() -> Any:
    """Not all fits on its way: who writes has to wait until somebody reads."""
    go_on, all_read = asyncio.Event(), asyncio.get_running_loop().create_future()

    async def read_late(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await go_on.wait()
        all_read.set_result(len(await reader.read()))
        writer.close()

    server, port = await _start(read_late)
    async with server:
        _, writer = await asyncio.open_connection(LOOPBACK, port)
        writer.write(bytes(LARGE))
        drained = asyncio.create_task(writer.drain())
        await asyncio.sleep(0.05)
        waited = not drained.done()
        is_full = writer.transport.get_write_buffer_size() > 0
        go_on.set()
        await drained
        writer.write_eof()
        size = await all_read
        writer.close()
        return waited, is_full, size


async def read_too_little_or_too_much() -> Any:
    async def say(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"short" if await reader.readexactly(1) == b"s" else b"x" * 100)
        writer.close()

    server, port = await _start(say)
    seen = []
    async with server:
        for first in (b"s", b"l"):
            reader, writer = await asyncio.open_connection(LOOPBACK, port, limit=20)
            writer.write(first)
            try:
                await (reader.readexactly(10) if first == b"s" else reader.readuntil())
            except (asyncio.IncompleteReadError, asyncio.LimitOverrunError) as error:
                seen.append((type(error).__name__, getattr(error, "partial", None)))
            writer.close()
    return seen


class _Noting(asyncio.BufferedProtocol):
    """Notes what becomes of a connection."""

    def __init__(self, seen: list[Any], done: asyncio.Future[None]) -> None:
        self.seen, self.done = seen, done
        self.buffer = bytearray(4)

    def connection_made(self, transport: Any) -> None:
        self.seen.append("made")
        transport.write(b"0123456789")

    def get_buffer(self, sizehint: int) -> bytearray:
        return self.buffer

    def buffer_updated(self, size: int) -> None:
        self.seen.append(bytes(self.buffer[:size]))

    def eof_received(self) -> None:
        self.seen.append("end")

    def connection_lost(self, error: Exception | None) -> None:
        self.seen.append(("lost", error))
        self.done.set_result(None)


async def call_protocols() -> Any:
    loop = asyncio.get_running_loop()
    seen: list[Any] = []
    done = loop.create_future()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(await reader.readexactly(10))
        writer.close()

    server, port = await _start(answer)
    async with server:
        transport, _ = await loop.create_connection(lambda: _Noting(seen, done), LOOPBACK, port)
        await done
        return seen, transport.is_closing()


async def go_on_after_a_server_has_closed() -> Any:
    server, port = await _start(_echo)
    reader, writer = await asyncio.open_connection(LOOPBACK, port)
    writer.write(b"before")
    first = await reader.read(100)
    server.close()
    writer.write(b"after")
    second = await reader.read(100)
    writer.close()
    return first, second, server.is_serving(), server.sockets


class _Datagrams(asyncio.DatagramProtocol):
    def __init__(self, answers: bool = False) -> None:
        self.answers = answers
        self.heard: asyncio.Queue[Any] = asyncio.Queue()

    def connection_made(self, transport: Any) -> None:
        self.transport = transport

    def datagram_received(self, data: bytes, sender: Any) -> None:
        self.heard.put_nowait((data, sender))
        if self.answers:
            self.transport.sendto(data.upper(), sender)


async def send_datagrams() -> Any:
    loop = asyncio.get_running_loop()
    server, _ = await loop.create_datagram_endpoint(lambda: _Datagrams(True), local_addr=(LOOPBACK, 0))
    where = server.get_extra_info("sockname")
    connected, one = await loop.create_datagram_endpoint(_Datagrams, remote_addr=where)
    connected.sendto(b"one")
    free, other = await loop.create_datagram_endpoint(_Datagrams, local_addr=(LOOPBACK, 0))
    free.sendto(b"other", where)
    answers = [(await each.heard.get()) for each in (one, other)]
    for transport in (server, connected, free):
        transport.close()
    return [data for data, _ in answers], all(sender == where for _, sender in answers), free.is_closing()


async def use_sockets() -> Any:
    loop = asyncio.get_running_loop()
    listening, calling = socket.socket(), socket.socket()
    for each in (listening, calling):
        each.setblocking(False)
    listening.bind((LOOPBACK, 0))
    listening.listen()
    accepting = asyncio.create_task(loop.sock_accept(listening))
    await loop.sock_connect(calling, listening.getsockname())
    accepted, address = await accepting
    await loop.sock_sendall(calling, b"hello world")
    first = await loop.sock_recv(accepted, 5)
    readable = loop.create_future()

    def read() -> None:
        loop.remove_reader(accepted)
        readable.set_result(accepted.recv(100))

    loop.add_reader(accepted, read)
    second = await readable
    is_ours = address == calling.getsockname()
    calling.close()
    third = await loop.sock_recv(accepted, 5)
    for each in (accepted, listening):
        each.close()
    return first, second, third, is_ours


async def would_block() -> Any:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.setblocking(False)
        one.bind((LOOPBACK, 0))
        with suppress(BlockingIOError):
            return one.recv(1)
        return "would block"


async def connect_given_sockets() -> Any:
    loop = asyncio.get_running_loop()
    server, port = await _start(_echo)
    async with server:
        own = socket.socket()
        own.setblocking(False)
        await loop.sock_connect(own, (LOOPBACK, port))
        reader, writer = await asyncio.open_connection(sock=own)
        writer.write(b"by my socket")
        answer = await reader.read(100)
        writer.close()
        return answer


async def find_addresses() -> Any:
    loop = asyncio.get_running_loop()
    found = [await loop.getaddrinfo(LOOPBACK, 80, type=kind) for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM)]
    try:
        await loop.getaddrinfo("no.such.host.invalid", 80)
    except socket.gaierror:
        return found


def _secure(side: int) -> ssl.SSLContext:
    """Return a context without certificates: both sides are anonymous, which TLS 1.2 still allows."""
    context = ssl.SSLContext(side)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    context.set_ciphers("aNULL:@SECLEVEL=0")
    return context


async def talk_secretly() -> Any:
    server, port = await _start(_echo, ssl=_secure(ssl.PROTOCOL_TLS_SERVER))
    async with server:
        reader, writer = await asyncio.open_connection(LOOPBACK, port, ssl=_secure(ssl.PROTOCOL_TLS_CLIENT))
        writer.write(b"secret" * 10_000)
        heard = await reader.readexactly(60_000)
        version = writer.get_extra_info("ssl_object").version()
        writer.close()
        return heard == b"secret" * 10_000, version


async def go_on_secretly() -> Any:
    async def upgrade(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readline()
        writer.write(b"go on\n")
        await writer.drain()
        await writer.start_tls(_secure(ssl.PROTOCOL_TLS_SERVER))
        writer.write(await reader.readline())
        writer.close()

    server, port = await _start(upgrade)
    async with server:
        reader, writer = await asyncio.open_connection(LOOPBACK, port)
        writer.write(b"starttls\n")
        plain = await reader.readline()
        await writer.start_tls(_secure(ssl.PROTOCOL_TLS_CLIENT), server_hostname="any")
        writer.write(b"secret\n")
        secret = await reader.readline()
        writer.close()
        return plain, secret


PROGRAMS = (
    *(echo, be_refused, take_a_port_twice, close_one_half, be_reset, press_back, read_too_little_or_too_much),
    *(call_protocols, go_on_after_a_server_has_closed, send_datagrams, use_sockets, would_block),
    *(connect_given_sockets, find_addresses, talk_secretly, go_on_secretly),
)
