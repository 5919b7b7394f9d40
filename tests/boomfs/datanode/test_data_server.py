"""The data protocol between real sockets: the pipeline along replicas, checksums, and whom it believes."""

from __future__ import annotations

import asyncio
import errno
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import msgpack  # type: ignore[import-untyped]
import pytest

from clew.boomfs.client.data_client import DamagedError, DataClient
from clew.boomfs.data_protocol import BLOCK, DataError, DataProtocolError
from clew.boomfs.datanode.chunk_store import ChunkName, ChunkStore
from clew.boomfs.datanode.data_server import DataServer

CONTENT = Random(7).randbytes(3 * BLOCK + 7)
VIEW = memoryview(CONTENT)


class _Servers:
    """DataNodes without their rules, in an event loop of their own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self._thread.start()
        self.servers: list[DataServer] = []
        self.stores: list[ChunkStore] = []
        self.changes: list[tuple[ChunkName, int | None]] = []

    def add(self, secret: bytes | None = None, capacity: int | None = None) -> str:
        store = ChunkStore(self._folder / str(len(self.stores)), capacity=capacity)
        server = DataServer(store, secret, lambda name, length: self.changes.append((name, length)))
        self.stores.append(store)
        self.servers.append(server)
        return str(self.wait(server.open("127.0.0.1", 0)))

    def wait(self, what: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(what, self.loop).result(30)

    def close(self) -> None:
        for server in self.servers:
            self.wait(server.close())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.close()


@pytest.fixture
def servers(tmp_path: Path) -> Iterator[_Servers]:
    found = _Servers(tmp_path)
    yield found
    found.close()


@pytest.fixture
def client() -> Iterator[DataClient]:
    found = DataClient()
    yield found
    found.close()


def test_bytes_go_along_the_replicas(servers: _Servers, client: DataClient) -> None:
    places = [servers.add() for _ in range(3)]
    assert sorted(client.write(places, 0, 5, VIEW)) == sorted(places)
    for where in places:
        assert client.read(where, 0, 5, 0, len(CONTENT)) == CONTENT
        assert client.read(where, 0, 5, BLOCK - 3, BLOCK + 3) == CONTENT[BLOCK - 3 : BLOCK + 3]
    assert servers.changes == [((0, 5), len(CONTENT))] * 3


def test_a_replica_that_fails_costs_only_itself(servers: _Servers, client: DataClient) -> None:
    first, full, last = servers.add(), servers.add(capacity=100), servers.add()
    assert sorted(client.write([first, full, last], 0, 5, VIEW)) == sorted([first, last])
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        away = f"127.0.0.1:{nobody.getsockname()[1]}"
        assert sorted(client.write([first, away, last], 0, 6, VIEW)) == sorted([first, last])
        with pytest.raises(OSError, match="refused"):
            client.write([away, first], 0, 7, VIEW)


def test_a_flipped_byte_is_noticed_by_readers_and_dropped_on_complaint(
    servers: _Servers, client: DataClient
) -> None:
    where = servers.add()
    client.write([where], 0, 5, VIEW)
    (path,) = (servers.stores[0].folder / "data").rglob("5.chunk")
    data = bytearray(CONTENT)
    data[BLOCK + 1] ^= 0x10
    path.write_bytes(data)
    assert client.read(where, 0, 5, 0, BLOCK) == CONTENT[:BLOCK]
    with pytest.raises(DamagedError, match="not what their checksums say"):
        client.read(where, 0, 5, 0, BLOCK + 1)
    client.complain(where, 0, 5)
    with pytest.raises(DataError, match="ENOENT"):
        client.read(where, 0, 5, 0, 1)
    assert servers.changes[-1] == ((0, 5), None)


@pytest.mark.parametrize("act", ["read", "verify", "copy"])
def test_a_process_with_too_many_open_files_drops_nothing(
    servers: _Servers, client: DataClient, monkeypatch: pytest.MonkeyPatch, act: str
) -> None:
    where, target = servers.add(), servers.add()
    client.write([where], 0, 5, VIEW)

    def refuse(name: ChunkName) -> Any:
        raise OSError(errno.EMFILE, "Too many open files")

    with monkeypatch.context() as patch:
        patch.setattr(servers.stores[0], "open", refuse)
        match act:
            case "read":
                with pytest.raises(DataError, match="EMFILE"):
                    client.read(where, 0, 5, 0, 1)
            case "verify":
                client.complain(where, 0, 5)
            case _:
                servers.wait(servers.servers[0].copy((0, 5), target))
    assert client.read(where, 0, 5, 0, len(CONTENT)) == CONTENT
    assert servers.changes == [((0, 5), len(CONTENT))]


def test_copies_are_verified_on_the_way(servers: _Servers, client: DataClient) -> None:
    where, target = servers.add(), servers.add()
    client.write([where], 0, 5, VIEW)
    servers.wait(servers.servers[0].copy((0, 5), target))
    assert client.read(target, 0, 5, 0, len(CONTENT)) == CONTENT
    # A damaged one is not spread but dropped, also if it lacks its checksums.
    for number, damage in ((6, _flip), (7, _forget_sums)):
        client.write([where], 0, number, VIEW)
        damage(servers.stores[0], number)
        servers.wait(servers.servers[0].copy((0, number), target))
        assert servers.changes[-1] == ((0, number), None)
        for each in (where, target):
            with pytest.raises(DataError, match="ENOENT"):
                client.read(each, 0, number, 0, 1)


def _flip(store: ChunkStore, number: int) -> None:
    (path,) = (store.folder / "data").rglob(f"{number}.chunk")
    path.write_bytes(CONTENT[:-1] + bytes([CONTENT[-1] ^ 1]))


def _forget_sums(store: ChunkStore, number: int) -> None:
    (path,) = (store.folder / "data").rglob(f"{number}.sums")
    path.unlink()


def test_a_write_that_breaks_off_leaves_nothing(servers: _Servers, client: DataClient) -> None:
    where = servers.add()

    def bad_checksum(connection: socket.socket) -> None:
        connection.sendall(struct.pack(">II", 3, 12345) + b"abc")

    def too_long(connection: socket.socket) -> None:
        connection.sendall(struct.pack(">II", BLOCK + 1, 0))

    def hang_up(connection: socket.socket) -> None:
        connection.sendall(struct.pack(">II", 100, 0) + b"abc")
        connection.shutdown(socket.SHUT_WR)

    for spoil in (bad_checksum, too_long, hang_up):
        _send(where, {"op": "write", "partition": 0, "chunk": 5, "targets": []}, spoil)
    assert servers.changes == []
    assert list(servers.stores[0].walk()) == []
    assert client.write([where], 0, 5, VIEW) == [where]


@pytest.mark.parametrize(
    "request_",
    [
        {"op": "remove", "partition": 0, "chunk": 5},
        {"op": "read", "partition": "../..", "chunk": 5, "begin": 0, "end": 1},
        {"op": "read", "partition": 0, "chunk": -1, "begin": 0, "end": 1},
        {"op": "write", "partition": 0, "chunk": 6, "targets": ["a"] * 17},
        {"op": "write", "partition": 0, "chunk": 6, "targets": [5]},
        {},
    ],
)
def test_nonsense_ends_the_connection_and_nothing_else(
    servers: _Servers, client: DataClient, request_: dict[str, Any]
) -> None:
    where = servers.add()
    client.write([where], 0, 5, VIEW)
    _send(where, request_, lambda connection: None)
    assert client.read(where, 0, 5, 0, 3) == CONTENT[:3]


def _send(where: str, request: dict[str, Any], then: Callable[[socket.socket], None]) -> None:
    """Send a request by hand, and wait until the server has ended the connection."""
    host, _, port = where.rpartition(":")
    with socket.create_connection((host, int(port)), timeout=30) as connection:
        header = msgpack.packb(request)
        connection.sendall(struct.pack(">I", len(header)) + header)
        then(connection)
        while connection.recv(65536):
            pass


def test_without_the_secret_nothing_is_read_or_written(servers: _Servers, client: DataClient) -> None:
    where = servers.add(secret=b"secret")
    knowing = DataClient("secret")
    assert knowing.write([where], 0, 5, VIEW) == [where]
    assert knowing.read(where, 0, 5, 0, 3) == CONTENT[:3]
    for stranger in (client, DataClient("guess")):
        with pytest.raises((DataProtocolError, OSError)):
            stranger.read(where, 0, 5, 0, 3)
        with pytest.raises((DataProtocolError, OSError)):
            stranger.write([where], 0, 6, VIEW)
    assert [number for _, number, _ in servers.stores[0].walk()] == [5]
    knowing.close()
