"""The DataNode: chunks on a disk, which it tells NameNodes of, and does with them what they say.

The rules know which chunks are there by walking the folder with every heartbeat; bytes are the matter of the
server beside them (``data_server``).
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

from clew.bloom import agg, bloom, periodic, rows, scratch, table
from clew.bloom.network.addresses import parse_address
from clew.boomfs.datanode.chunk_store import ChunkName, ChunkStore
from clew.boomfs.datanode.data_server import DataServer
from clew.boomfs.messages import DataNodeMessages
from clew.boomfs.settings import CHUNKS_IN_PAGE
from clew.errors import UsageError

#: Copies that one DataNode sends at a time.
_COPIES_AT_ONCE = 4


class DataNodeRules(DataNodeMessages):
    """``store``: where the chunks are; ``namenodes``: for each partition the addresses of its NameNodes."""

    beat = periodic(0.5)
    namenode = table("partition", "addr")
    stored = table("partition", "chunk", val=["length"])
    walked = scratch("partition", "chunk", "length")
    room = scratch(val=["bytes"])
    page = scratch("partition", "page", val=["digest", "chunks"])
    summary = scratch("partition", val=["pages"])

    def __init__(
        self,
        address: str | None,
        store: ChunkStore,
        data_address: str,
        namenodes: Sequence[Sequence[str]],
        **options: Any,
    ) -> None:
        super().__init__(address, **options)
        self._store = store
        self._data_address = data_address
        self.namenode.insert(*((number, addr) for number, group in enumerate(namenodes) for addr in group))

    @bloom
    def walk(self) -> None:
        self.walked <= self.beat.flat_map(lambda b: self._store.walk())
        self.room <= self.beat.argmax([], "key")(lambda b: (self._store.free(),))
        self.stored <+ self.walked.notin(self.stored, partition="partition", chunk="chunk")
        self.temp.gone <= (self.stored * self.beat).lefts().notin(self.walked)
        self.stored <- self.temp.gone

    @bloom
    def add_up(self) -> None:
        self.temp.paged <= self.stored(
            lambda s: (s.partition, s.chunk // CHUNKS_IN_PAGE, (s.chunk, s.length))
        ).rename("partition", "page", "entry")
        self.page <= self.temp.paged.group(["partition", "page"], chunks=agg.accum("entry"))(
            lambda p: (p.partition, p.page, digest(p.chunks), p.chunks)
        )
        self.summary <= self.page.group(["partition"], agg.accum_pair("page", "digest"))

    @bloom
    def send_heartbeats(self) -> None:
        self.temp.latest <= self.beat.argmax([], "key")
        self.temp.told <= (self.namenode * self.summary).outer(
            lambda n, s: (n.addr, s.pages or frozenset()), partition="partition"
        ).rename("addr", "pages")
        self.heartbeat <~ (self.temp.told * self.temp.latest * self.room).pairs(
            lambda t, b, f: (t.addr, self.ip_port, b.key, self._data_address, f.bytes, t.pages)
        )

    @bloom
    def report_pages(self) -> None:
        self.temp.asked <= (self.ask_page * self.namenode).lefts(namenode="addr", partition="partition")
        self.page_report <~ (self.temp.asked * self.page).outer(
            lambda a, p: (a.namenode, self.ip_port, a.page, p.digest or "", p.chunks or frozenset()),
            partition="partition", page="page",
        )


def digest(chunks: Iterable[tuple[int, int]]) -> str:
    """Return what tells a page of chunks from others."""
    return sha256(repr(sorted(chunks)).encode()).hexdigest()[:16]


class DataNode:
    """A DataNode: its rules and its server, in one event loop."""

    def __init__(
        self,
        folder: Path,
        namenodes: Sequence[Sequence[str]],
        *,
        address: str = "127.0.0.1:0",
        data_address: str = "127.0.0.1:0",
        capacity: int | None = None,
        sync: bool = False,
        secret: str | None = None,
    ) -> None:
        self._store = ChunkStore(folder, capacity=capacity, sync=sync)
        self._namenodes = namenodes
        self._address = address
        self._data_address = data_address
        self._secret = secret
        self._node: DataNodeRules | None = None
        self._copies: set[asyncio.Task[None]] = set()

    async def run_async(self, ready: Callable[[str], object]) -> None:
        """Run until cancelled; ``ready`` is told the address of the rules once both listen."""
        where = parse_address(self._data_address)
        if where is None:
            raise UsageError(f"{self._data_address!r} is not an address", remedy="give a host and a port")
        self._copying = asyncio.Semaphore(_COPIES_AT_ONCE)
        server = DataServer(self._store, self._secret.encode() if self._secret else None, self._note_change)
        data_address = await server.open(where.host, where.port)
        node = self._node = DataNodeRules(
            self._address, self._store, data_address, self._namenodes, secret=self._secret
        )
        node.on(node.copy_command, lambda rows: self._copy(server, rows))
        node.on(node.drop_command, self._drop)
        try:
            await node.run_async(lambda: ready(node.ip_port))
        finally:
            for task in self._copies:
                task.cancel()
            await server.close()

    def run(self, ready: Callable[[str], object]) -> None:
        """Run until Ctrl-C or SIGTERM."""
        with suppress(KeyboardInterrupt, asyncio.CancelledError):
            asyncio.run(self._run_until_signal(ready))

    async def _run_until_signal(self, ready: Callable[[str], object]) -> None:
        task = asyncio.current_task()
        assert task is not None
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, task.cancel)
        await self.run_async(ready)

    # -- what the rules say --------------------------------------------------------------------------------------

    def _note_change(self, name: ChunkName, length: int | None) -> None:
        """Tell the rules of a chunk before its heartbeat does: readers come at once."""
        assert self._node is not None
        if length is not None:
            self._node.stored.insert((*name, length))
            return
        known = self._node.stored[name]
        if known is not None:
            self._node.stored <- rows([tuple(known)])

    def _copy(self, server: DataServer, commands: Iterable[Any]) -> None:
        for row in commands:
            task = asyncio.create_task(self._copy_one(server, (row.partition, row.chunk), row.target))
            self._copies.add(task)
            task.add_done_callback(self._copies.discard)

    async def _copy_one(self, server: DataServer, name: ChunkName, target: str) -> None:
        async with self._copying:
            await server.copy(name, target)

    def _drop(self, commands: Iterable[Any]) -> None:
        for row in commands:
            name = row.partition, row.chunk
            if all(isinstance(number, int) and number >= 0 for number in name):
                self._store.drop(name)
                self._note_change(name, None)
