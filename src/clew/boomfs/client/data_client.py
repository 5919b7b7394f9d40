"""The client's side of the data protocol, with plain sockets: whoever reads a file waits for its bytes."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from clew.boomfs.data_protocol import (
    BLOCK,
    HEADER_PREFIX,
    DataError,
    DataProtocolError,
    find_bad_block,
    header_length,
    pack_block,
    pack_header,
    sign,
    unpack_header,
    unpack_sums,
)
from clew.boomfs.settings import LARGEST_CHUNK

#: For a connection, and for the next bytes on it, in seconds.
_CONNECT_SECONDS, _PATIENCE = 5.0, 30.0
#: Connections to one DataNode that are kept for later.
_MOST_KEPT = 8


class DamagedError(DataError):
    """A replica is not what its checksums say."""


class _Connection:
    def __init__(self, where: str, secret: bytes | None) -> None:
        self._where = where
        self._secret = secret
        self._number = 0
        host, _, port = where.rpartition(":")
        self._socket = socket.create_connection((host, int(port)), timeout=_CONNECT_SECONDS)
        self._socket.settimeout(_PATIENCE)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        nonce = self.receive_header().get("nonce", b"")
        self._nonce = nonce if isinstance(nonce, bytes) else b""

    def wait_for(self, seconds: float) -> None:
        self._socket.settimeout(seconds)

    def request(self, request: Mapping[str, Any]) -> None:
        self._socket.sendall(pack_header(sign(self._secret, self._nonce, self._number, request)))
        self._number += 1

    def send_blocks(self, data: memoryview) -> None:
        for begin in range(0, len(data), BLOCK):
            block = data[begin : begin + BLOCK]
            prefix, _ = pack_block(block)
            self._socket.sendall(prefix)
            self._socket.sendall(block)
        self._socket.sendall(pack_block(b"")[0])

    def receive_header(self) -> dict[str, Any]:
        length = header_length(bytes(self.receive(HEADER_PREFIX)))
        return unpack_header(bytes(self.receive(length)))

    def receive(self, size: int) -> bytearray:
        found = bytearray(size)
        view = memoryview(found)
        at = 0
        while at < size:
            count = self._socket.recv_into(view[at:])
            if not count:
                raise DataProtocolError(f"{self._where} has ended the connection")
            at += count
        return found

    def close(self) -> None:
        with suppress(OSError):
            self._socket.close()


class DataClient:
    """Reads and writes chunks; for all threads of a process.  Connections are kept for the next request."""

    def __init__(self, secret: str | None = None) -> None:
        self._secret = secret.encode() if secret else None
        self._kept: dict[str, list[_Connection]] = {}
        self._process = os.getpid()
        self._lock = threading.Lock()

    def close(self) -> None:
        with self._lock:
            kept, self._kept = self._kept, {}
        for connections in kept.values():
            for connection in connections:
                connection.close()

    def read(self, where: str, partition: int, chunk: int, begin: int, end: int) -> memoryview:
        """Read a range of a chunk, and verify it; DataError if this replica cannot give it."""
        request = {"op": "read", "partition": partition, "chunk": chunk, "begin": begin, "end": end}
        connection, answer = self._begin(where, request)
        try:
            self._require_ok(where, answer)
            start, length = answer.get("start"), answer.get("length")
            if not isinstance(start, int) or not isinstance(length, int) or not 0 <= length <= LARGEST_CHUNK:
                raise DataProtocolError(f"{where} answers with nonsense")
            sums = answer.get("sums")
            data = memoryview(connection.receive(length))
            if not isinstance(sums, bytes) or find_bad_block(data, unpack_sums(sums)) is not None:
                raise DamagedError("the bytes are not what their checksums say", where)
            self._keep(where, connection)
        except DataError:
            self._keep(where, connection)
            raise
        except BaseException:
            connection.close()
            raise
        found = data[max(0, begin - start) : max(0, end - start)]
        if len(found) < end - begin:
            raise DataError("the replica is shorter than the chunk", where)
        return found

    def write(self, places: Sequence[str], partition: int, chunk: int, data: memoryview) -> list[str]:
        """Write a chunk along some DataNodes; return those that have stored it."""
        where, *targets = places
        request = {"op": "write", "partition": partition, "chunk": chunk, "targets": targets}
        connection = self._connect(where)
        try:
            connection.request(request)
            connection.send_blocks(data)
            # Those further on are given up first: what the others have stored is told then.
            connection.wait_for(_PATIENCE * len(places) + _CONNECT_SECONDS)
            answer = connection.receive_header()
            connection.wait_for(_PATIENCE)
            self._require_ok(where, answer)
            stored = answer.get("stored")
        except BaseException:
            connection.close()
            raise
        self._keep(where, connection)
        return [each for each in stored if each in places] if isinstance(stored, list) else []

    def complain(self, where: str, partition: int, chunk: int) -> None:
        """Ask a DataNode to look whether its replica is damaged, and to drop it if it is."""
        with suppress(OSError, DataProtocolError):
            connection, _ = self._begin(where, {"op": "verify", "partition": partition, "chunk": chunk})
            self._keep(where, connection)

    # -- connections ---------------------------------------------------------------------------------------------

    def _begin(self, where: str, request: Mapping[str, Any]) -> tuple[_Connection, dict[str, Any]]:
        """Send a request and receive the header of its answer; once more if the connection was an old one."""
        while True:
            connection, is_new = self._take(where)
            try:
                connection.request(request)
                return connection, connection.receive_header()
            except (OSError, DataProtocolError):
                connection.close()
                if is_new:
                    raise
            except BaseException:
                connection.close()
                raise

    def _take(self, where: str) -> tuple[_Connection, bool]:
        with self._lock:
            if self._process != os.getpid():
                # They belong to the process that this one was forked from.
                self._kept, self._process = {}, os.getpid()
            kept = self._kept.get(where)
            if kept:
                return kept.pop(), False
        return self._connect(where), True

    def _connect(self, where: str) -> _Connection:
        try:
            return _Connection(where, self._secret)
        except ValueError as error:
            raise DataError(f"no address: {error}", where) from None

    def _keep(self, where: str, connection: _Connection) -> None:
        with self._lock:
            kept = self._kept.setdefault(where, [])
            if len(kept) < _MOST_KEPT and self._process == os.getpid():
                kept.append(connection)
                return
        connection.close()

    def _require_ok(self, where: str, answer: Mapping[str, Any]) -> None:
        if answer.get("ok") is not True:
            why = answer.get("why")
            raise DataError(why if isinstance(why, str) else "no reason given", where)
