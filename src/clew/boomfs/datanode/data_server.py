"""The server of a DataNode for bytes: writes that go on along the replicas, reads, and looking for damage.

It runs in the event loop of the node's rules; whatever waits for the disk does so in a thread.  A replica further
on that fails costs only itself: what was stored is said at the end, and the NameNode has the rest copied.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import secrets
import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from clew.boomfs.data_protocol import (
    BLOCK,
    BLOCK_PREFIX,
    HEADER_PREFIX,
    NONCE,
    DataProtocolError,
    header_length,
    is_signed,
    pack_block,
    pack_header,
    pack_sums,
    sign,
    unpack_block_prefix,
    unpack_header,
)
from clew.boomfs.datanode.chunk_store import ChunkName, ChunkStore, PartialChunk, is_damage
from clew.boomfs.settings import LARGEST_CHUNK

_log = logging.getLogger("clew.boomfs")

#: For the next bytes of a connection, in seconds.
_PATIENCE = 30.0
_MOST_CONNECTIONS = 256
#: Accepting, connecting and beginning to serve take three rounds of the loop of asyncio.
_ROUNDS_TO_BEGIN = 5
_MOST_TARGETS = 16
#: Blocks that are written to disk at once: going to another thread takes as long as writing one.
_BLOCKS_AT_ONCE = 4
#: What a broken connection raises, or one on which nonsense arrives.
_BROKEN = (OSError, EOFError, TimeoutError, DataProtocolError)


class DataServer:
    """``changed`` is called with the name of a chunk, and its length, or None if it is there no longer."""

    def __init__(
        self, store: ChunkStore, secret: bytes | None, changed: Callable[[ChunkName, int | None], object]
    ) -> None:
        self._store = store
        self._secret = secret
        self._changed = changed
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()
        self.address = ""

    async def open(self, host: str, port: int) -> str:
        """Listen; return the address."""
        self._server = await asyncio.start_server(self._serve, host, port, limit=2 * BLOCK)
        self.address = f"{host}:{self._server.sockets[0].getsockname()[1]}"
        return self.address

    async def close(self) -> None:
        if self._server is not None:
            self._server.close()
            # What was accepted last is a task only some rounds of the loop later; it would be left open.
            for _ in range(_ROUNDS_TO_BEGIN):
                await asyncio.sleep(0)
        for task in list(self._connections):
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)
        if self._server is not None:
            await self._server.wait_closed()

    # -- connections ---------------------------------------------------------------------------------------------

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        if len(self._connections) >= _MOST_CONNECTIONS:
            writer.close()
            return
        self._connections.add(task)
        try:
            nonce = secrets.token_bytes(NONCE)
            writer.write(pack_header({"nonce": nonce}))
            number = 0
            while True:
                request = await _read_header(reader)
                if not is_signed(self._secret, nonce, number, request):
                    raise DataProtocolError("a request without proof of the secret")
                number += 1
                await self._answer(request, reader, writer)
                await writer.drain()
        except asyncio.CancelledError:
            pass  # the server is closed; nobody waits for this task but close()
        except _BROKEN as error:
            if isinstance(error, DataProtocolError):
                _log.warning("a connection was closed: %s", error)
        finally:
            self._connections.discard(task)
            writer.close()

    async def _answer(
        self, request: Mapping[str, Any], reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        name = _chunk_name(request)
        match request.get("op"):
            case "write":
                await self._write(name, _targets(request), reader, writer)
            case "read":
                await self._read(name, request, writer)
            case "verify":
                intact = await self.verify(name)
                writer.write(pack_header({"ok": intact, "why": None if intact else "EBADMSG"}))
            case other:
                raise DataProtocolError(f"an unknown operation {other!r}")

    # -- reading -------------------------------------------------------------------------------------------------

    async def _read(self, name: ChunkName, request: Mapping[str, Any], writer: asyncio.StreamWriter) -> None:
        try:
            file, sums, size = await asyncio.to_thread(self._open_chunk, name)
        except FileNotFoundError:
            writer.write(pack_header({"ok": False, "why": "ENOENT"}))
            return
        except (OSError, DataProtocolError) as error:
            _log.warning("chunk %s cannot be read: %s", name, error)
            why = "EBADMSG"
            if isinstance(error, OSError) and not is_damage(error):
                why = errno.errorcode.get(error.errno or 0, "EIO")
            else:
                self._drop(name)
            writer.write(pack_header({"ok": False, "why": why}))
            return
        with file:
            begin, end = request.get("begin"), request.get("end")
            if not isinstance(begin, int) or not isinstance(end, int) or not 0 <= begin <= end:
                raise DataProtocolError("a read of no range")
            first, last = min(begin, size) // BLOCK, -(-min(end, size) // BLOCK)
            start, stop = first * BLOCK, min(last * BLOCK, size)
            header = {"ok": True, "start": start, "length": stop - start, "sums": pack_sums(sums[first:last])}
            writer.write(pack_header(header))
            await writer.drain()
            if stop > start:
                # Not verified here: who reads does so anyway, and asks this node to look where it finds damage.
                loop = asyncio.get_running_loop()
                await loop.sendfile(writer.transport, file, start, stop - start)

    def _open_chunk(self, name: ChunkName) -> tuple[Any, tuple[int, ...], int]:
        size = self._store.length(name)  # first: what has no file is not there, what has no checksums is damaged
        try:
            sums = self._store.sums(name)
        except FileNotFoundError:
            raise DataProtocolError("its checksums are gone") from None
        if len(sums) != -(-size // BLOCK):
            raise DataProtocolError("it is shorter or longer than it was")
        return self._store.open(name), sums, size

    async def verify(self, name: ChunkName) -> bool:
        """Read a chunk and drop it if it is damaged; return whether it is there and intact."""
        try:
            if await asyncio.to_thread(self._store.is_intact, name):
                return True
        except OSError as error:
            _log.warning("chunk %s cannot be read now: %s", name, error)
            return False
        _log.warning("chunk %s is damaged or gone: it is dropped here", name)
        self._drop(name)
        return False

    def _drop(self, name: ChunkName) -> None:
        self._store.drop(name)
        self._changed(name, None)

    # -- writing -------------------------------------------------------------------------------------------------

    async def _write(
        self,
        name: ChunkName,
        targets: Sequence[str],
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        onward = _Onward(self._secret, name, targets)
        part = _Part(self._store, name)
        try:
            await onward.open()
            length = 0
            while True:
                size, checksum = unpack_block_prefix(await _read_exactly(reader, BLOCK_PREFIX))
                data = await _read_exactly(reader, size)
                length += size
                if zlib.crc32(data) != checksum or length > LARGEST_CHUNK:
                    raise DataProtocolError("a block is not what its checksum says, or too many of them")
                await onward.send(data)
                if not size:
                    break
                await part.write(data, checksum)
            stored = await part.finish()
            if stored:
                self._changed(name, length)
            further = await onward.finish()
            here = [self.address] if stored else []
            writer.write(pack_header({"ok": True, "stored": [*here, *further], "why": part.why}))
        finally:
            await part.discard()
            onward.close()

    async def copy(self, name: ChunkName, target: str) -> None:
        """Send a chunk that is here to another DataNode; drop it if it turns out to be damaged."""
        try:
            file, sums, _ = await asyncio.to_thread(self._open_chunk, name)
        except (OSError, DataProtocolError):
            await self.verify(name)  # or this node would be told to copy it forever
            return
        onward = _Onward(self._secret, name, [target])
        try:
            with file:
                await onward.open()
                for checksum in sums:
                    data = await asyncio.to_thread(file.read, BLOCK)
                    if zlib.crc32(data) != checksum:
                        await self.verify(name)
                        return
                    await onward.send(data)
                await onward.send(b"")
            if not await onward.finish():
                _log.warning("chunk %s was not copied to %s", name, target)
        except _BROKEN as error:
            _log.warning("chunk %s was not copied to %s: %s", name, target, error)
        finally:
            onward.close()


class _Part:
    """The replica that is written here, which may fail while the others go on."""

    def __init__(self, store: ChunkStore, name: ChunkName) -> None:
        self.why: str | None = None
        self._store = store
        self._name = name
        self._part: PartialChunk | None = None
        self._blocks: list[tuple[bytes, int]] = []

    async def write(self, data: bytes, checksum: int) -> None:
        self._blocks.append((data, checksum))
        if len(self._blocks) >= _BLOCKS_AT_ONCE:
            await self._flush()

    async def finish(self) -> bool:
        """Complete the replica; return whether it is stored."""
        await self._flush()
        if self.why is None:
            await asyncio.to_thread(self._attempt, lambda part: part.finish())
        return self.why is None

    async def discard(self) -> None:
        if self._part is not None:
            await asyncio.shield(asyncio.to_thread(self._part.discard))

    async def _flush(self) -> None:
        blocks, self._blocks = self._blocks, []
        if self.why is None:
            await asyncio.to_thread(self._attempt, lambda part: part.write(blocks))

    def _attempt(self, act: Callable[[PartialChunk], None]) -> None:
        try:
            if self._part is None:
                self._part = self._store.begin(self._name)
            act(self._part)
        except OSError as error:
            self.why = errno.errorcode.get(error.errno or 0, "EIO")
            _log.warning("chunk %s is not stored here: %s", self._name, error)
            if self._part is not None:
                self._part.discard()


class _Onward:
    """The connection to the next replica; without one, or once it is broken, it does nothing."""

    def __init__(self, secret: bytes | None, name: ChunkName, targets: Sequence[str]) -> None:
        self._secret = secret
        self._name = name
        self._targets = list(targets)
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def open(self) -> None:
        """Connect to the first of the targets that can be reached."""
        while self._targets and self._streams is None:
            target = self._targets.pop(0)
            try:
                host, _, port = target.rpartition(":")
                async with asyncio.timeout(_PATIENCE):
                    reader, writer = await asyncio.open_connection(host, int(port), limit=2 * BLOCK)
                self._streams = reader, writer
                nonce = (await _read_header(reader)).get("nonce", b"")
                partition, chunk = self._name
                request = {"op": "write", "partition": partition, "chunk": chunk, "targets": self._targets}
                writer.write(pack_header(sign(self._secret, nonce, 0, request)))
            except (*_BROKEN, ValueError) as error:
                self._fail(f"{target}: {error}")

    async def send(self, data: bytes) -> None:
        if self._streams is None:
            return
        try:
            prefix, _ = pack_block(data)
            self._streams[1].write(prefix)
            self._streams[1].write(data)
            async with asyncio.timeout(_PATIENCE):
                await self._streams[1].drain()
        except _BROKEN as error:
            self._fail(str(error))

    async def finish(self) -> list[str]:
        """Return who stored it from here on."""
        if self._streams is None:
            return []
        try:
            # Those further on are given up first, so that what they have stored is told.
            answer = await _read_header(self._streams[0], _PATIENCE * (1 + len(self._targets)))
            stored = answer.get("stored")
            return [each for each in stored if isinstance(each, str)] if isinstance(stored, list) else []
        except _BROKEN as error:
            self._fail(str(error))
            return []

    def close(self) -> None:
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None

    def _fail(self, why: str) -> None:
        _log.warning("chunk %s does not get further than this replica: %s", self._name, why)
        self.close()


async def _read_exactly(reader: asyncio.StreamReader, size: int, patience: float = _PATIENCE) -> bytes:
    async with asyncio.timeout(patience):
        return await reader.readexactly(size)


async def _read_header(reader: asyncio.StreamReader, patience: float = _PATIENCE) -> dict[str, Any]:
    length = header_length(await _read_exactly(reader, HEADER_PREFIX, patience))
    return unpack_header(await _read_exactly(reader, length))


def _chunk_name(request: Mapping[str, Any]) -> ChunkName:
    partition, chunk = request.get("partition"), request.get("chunk")
    for number in (partition, chunk):
        if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number < 2**62:
            raise DataProtocolError("a request without a chunk")
    assert isinstance(partition, int)
    assert isinstance(chunk, int)
    return partition, chunk


def _targets(request: Mapping[str, Any]) -> list[str]:
    targets = request.get("targets")
    if not isinstance(targets, list) or len(targets) > _MOST_TARGETS:
        raise DataProtocolError("a write to nobody knows whom")
    if not all(isinstance(target, str) for target in targets):
        raise DataProtocolError("a write to nobody knows whom")
    return targets
