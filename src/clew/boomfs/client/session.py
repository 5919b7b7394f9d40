"""Asking NameNodes, from any thread: requests, the pages of their answers, and which partition is asked.

A process has one node of Bloom for each cluster, in the background.  A session asks for one thing at a time, so
a NameNode needs to remember one answer of it; there are as many sessions as threads ask at once.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import socket
import threading
from collections.abc import Iterable, Sequence
from concurrent.futures import Future, InvalidStateError
from concurrent.futures import TimeoutError as FutureTimeoutError
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from clew.bloom.network.addresses import parse_address
from clew.boomfs.client.errors import UnansweredError, error_for
from clew.boomfs.client.rules import MetadataClient
from clew.boomfs.paths import partition_of

#: For an answer, in seconds: another NameNode takes over within some.
PATIENCE = 60.0
_START_SECONDS = 30.0


@dataclass(frozen=True)
class _Failed:
    why: str


@dataclass
class _Pending:
    """What has come of an answer so far.

    Whoever asks again may be answered twice, and the file system may have changed in between: pages belong
    together if they were made after the same change.
    """

    future: Future[list[Any] | _Failed]
    pages: dict[int, dict[int, Any]] = field(default_factory=dict)


class Sessions:
    """``namenodes``: addresses of which one is enough to learn the cluster."""

    def __init__(self, namenodes: Sequence[str], *, secret: str | None = None, patience: float = PATIENCE) -> None:
        self._given = list(namenodes)
        self._secret = secret
        self._patience = patience
        self._lock = threading.Lock()
        self._pending: dict[tuple[str, int], _Pending] = {}
        self._idle: list[tuple[str, int]] = []
        self._node: MetadataClient | None = None
        self._process = -1
        self.partitions = 1
        self.chunk_size = 0

    # -- the node ------------------------------------------------------------------------------------------------

    def _running_node(self) -> MetadataClient:
        with self._lock:
            # A fork has the node, but not its thread.
            if self._node is None or self._process != os.getpid():
                self._pending, self._idle = {}, []
                self._start()
            assert self._node is not None
            return self._node

    def _start(self) -> None:
        bootstrap = self._make_node([self._given])
        self._node, self._process = bootstrap, os.getpid()
        try:
            (found,) = self._ask(bootstrap, "cluster", 0, ())
        except BaseException:
            self._node = None
            raise
        finally:
            bootstrap.stop()
        groups, self.chunk_size = found
        groups = [list(group) for group in groups] or [self._given]
        self.partitions = len(groups)
        self._node = self._make_node(groups)

    def _make_node(self, groups: Sequence[Sequence[str]]) -> MetadataClient:
        host = _own_host([addr for group in groups for addr in group])
        node = MetadataClient(f"{host}:0", secret=self._secret)
        for partition, group in enumerate(groups):
            node.namenode.insert(*((partition, rank, addr) for rank, addr in enumerate(group)))
            node.leader.insert((partition, 0))
        node.on(node.response, self._take)
        listens = threading.Event()
        # A daemon, unlike that of node.start(): fsspec keeps file systems until the process ends, and nobody
        # closes them.
        threading.Thread(target=_run, args=(node, listens), name="boomfs", daemon=True).start()
        if not listens.wait(_START_SECONDS):
            raise UnansweredError("the client has not started to listen")
        return node

    def close(self) -> None:
        with self._lock:
            node, self._node = self._node, None
        if node is not None and self._process == os.getpid():
            node.stop()

    def _take(self, rows: Iterable[Any]) -> None:
        """Note pages of answers; in the thread of the node."""
        for row in rows:
            key = row.session, row.number
            waiting = self._pending.get(key)
            if waiting is None:
                continue
            pages = waiting.pages.setdefault(row.at, {})
            pages[row.page] = row.result
            if len(pages) >= row.pages or not row.ok:
                self._pending.pop(key, None)
                with suppress(InvalidStateError):
                    found = [pages[page] for page in sorted(pages)]
                    waiting.future.set_result(found if row.ok else _Failed(str(row.result)))

    # -- asking --------------------------------------------------------------------------------------------------

    def ask(self, command: str, partition: int, *columns: Any) -> list[Any]:
        """Ask the NameNode of a partition; return the pages of the answer.  OSError says why it failed."""
        return self._ask(self._running_node(), command, partition, columns)

    def one(self, command: str, partition: int, *columns: Any) -> Any:
        """Ask for something of which the answer has one page."""
        (page,) = self.ask(command, partition, *columns)
        return page

    def all(self, command: str, partition: int, *columns: Any) -> list[Any]:
        """Ask for something of which the pages are sets, and return what is in them, in order."""
        return sorted(entry for page in self.ask(command, partition, *columns) for entry in page)

    def home(self, path: str) -> int:
        """Return the partition of a file."""
        self._running_node()
        return partition_of(path, self.partitions)

    def _ask(self, node: MetadataClient, command: str, partition: int, columns: Sequence[Any]) -> list[Any]:
        try:
            name, last = self._idle.pop()  # without looking first: other threads take some, too
        except IndexError:
            name, last = secrets.token_hex(8), 0
        number = last + 1
        answer: Future[list[Any] | _Failed] = Future()
        self._pending[name, number] = _Pending(answer)
        try:
            getattr(node, command).insert((partition, name, number, *columns))
            found = answer.result(self._patience)
        except FutureTimeoutError:
            raise UnansweredError(
                f"no NameNode of partition {partition} answers '{command}' after {self._patience} seconds"
            ) from None
        finally:
            self._pending.pop((name, number), None)
            node.forget.insert((name, number))
        self._idle.append((name, number))
        if isinstance(found, _Failed):
            raise error_for(found.why, str(columns[0]) if columns else "")
        return found


def _run(node: MetadataClient, listens: threading.Event) -> None:
    asyncio.run(node.run_async(listens.set))


def _own_host(namenodes: Sequence[str]) -> str:
    """Return the address of this machine that NameNodes can answer to: that which leads to one of them."""
    for where in filter(None, map(parse_address, namenodes)):
        # A datagram socket that connects looks for the way, and sends nothing.
        with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as way:
            way.connect((where.host, where.port or 1))
            return str(way.getsockname()[0])
    return "127.0.0.1"
