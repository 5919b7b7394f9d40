"""ZooKeeper as the ordering service of a node: every row becomes a sequential znode, and their numbers are the
order.

A client of its own for each replica; they meet in a folder of ZooKeeper.  Znodes are never deleted here, so all
replicas see the same sequence, of which each has read some beginning; one that joins later reads it from the
start.  Contents that come again, because several replicas submitted them or because a connection was lost before
it was known whether a znode was made, are dropped by all replicas in the same place.
"""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Self

from clew.bloom import Bloom
from clew.bloom.network.wire import GarbageError, pack, unpack
from clew.bloom.values import Row
from clew.coordination.ordering import OrderedDelivery
from clew.errors import UsageError

_log = logging.getLogger("clew.coordination")

#: So many rows are submitted together.
BATCH = 500
#: Seconds that ``stop`` waits for what is not submitted yet.
SUBMITTING = 5.0
_PREFIX = "row-"


class ZooKeeperOrder:
    """Connects the ``OrderedDelivery`` that a node imports as ``order`` to ZooKeeper, from ``start`` to ``stop``.

    ``hosts``: "host:port", several with commas.  ``path``: the folder that the replicas share; one for each order.
    """

    def __init__(self, node: Bloom, hosts: str, path: str = "/clew/order") -> None:
        order = getattr(node, "order", None)
        if not isinstance(order, OrderedDelivery):
            raise UsageError(
                f"{type(node).__name__} has nothing to order",
                remedy="synthesize an order with the service zookeeper: it imports OrderedDelivery as 'order'",
            )
        self._node = node
        self._order = order
        self._hosts = hosts
        self._path = path
        self._client: Any = None
        self._watch: Any = None
        self._submitted: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._worker: threading.Thread | None = None
        self._read = 0
        self._numbers: dict[bytes, int] = {}

    def start(self, timeout: float = 10.0) -> None:
        """Connect; what is ordered already arrives at once."""
        kazoo = _kazoo()
        self._client = kazoo.client.KazooClient(hosts=self._hosts)
        try:
            self._client.start(timeout)
        except kazoo.handlers.threading.KazooTimeoutError:
            self._client.close()
            raise UsageError(
                f"no ZooKeeper answers at {self._hosts} within {timeout} seconds",
                remedy="check that it runs there",
            ) from None
        self._client.ensure_path(self._path)
        # A thread of its own: ZooKeeper answers after a disk write, and a
        # node that waited for it would take no steps.
        self._worker = threading.Thread(target=self._submit_all, name="clew.coordination submit")
        self._worker.start()
        self._watch = self._node.on(self._order.proposed, self._propose)
        self._client.ChildrenWatch(self._path, self._look)

    def stop(self) -> None:
        """Disconnect, after what the node proposed before is submitted, if there is a connection."""
        if self._client is None or self._worker is None:
            return
        self._watch()
        self._submitted.put(None)
        self._worker.join(SUBMITTING)
        # In this order: a worker that waits for an answer ends only when the connection does.
        self._client.stop()  # what is under way fails now
        self._worker.join()
        self._client.close()
        self._client = self._worker = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    # -- submitting ----------------------------------------------------------------------------------------------

    def _propose(self, rows: Sequence[Any]) -> None:
        """Queue rows for ZooKeeper; called in the thread of the node, which does not wait."""
        for row in rows:
            self._submitted.put(pack(tuple(row)))

    def _submit_all(self) -> None:
        failed = _kazoo().exceptions.KazooException
        ending = False
        while not ending:
            batch, ending = self._next_batch()
            # All of a batch is under way before the first answer is awaited.
            tried = [(data, self._create(data)) for data in batch]
            for data, made in tried:
                try:
                    made.get()
                except failed as error:
                    _log.warning("a row was not submitted to ZooKeeper: %s", error)
                    if not ending:
                        self._submitted.put(data)  # maybe it was: then it is there twice

    def _next_batch(self) -> tuple[list[bytes], bool]:
        batch: list[bytes] = []
        while len(batch) < BATCH:
            if batch and self._submitted.empty():
                break
            data = self._submitted.get()
            if data is None:
                return batch, True
            batch.append(data)
        return batch, False

    def _create(self, data: bytes) -> Any:
        return self._client.create_async(f"{self._path}/{_PREFIX}", data, sequence=True)

    # -- reading -------------------------------------------------------------------------------------------------

    def _look(self, children: Sequence[str]) -> None:
        """Read the znodes that are new; called whenever there are more."""
        # The numbers in the names have ten digits, so that sorting the names sorts the numbers.
        names = sorted(name for name in children if name.startswith(_PREFIX))
        found: list[bytes] = []
        for first in range(self._read, len(names), BATCH):
            some = names[first : first + BATCH]
            found += [asked.get()[0] for asked in [self._client.get_async(f"{self._path}/{n}") for n in some]]
        # Numbers are given when all are read: a connection that is lost before has changed nothing.
        rows = [row for data in found for row in self._number_row(data)]
        self._read += len(found)
        if rows:
            self._order.decided.insert(*rows)

    def _number_row(self, data: bytes) -> list[Row]:
        """Return the row with its number, if it is new."""
        # Numbers are given to different contents only, in the order of the
        # znodes: all replicas skip the same ones.
        if data in self._numbers:
            return []
        try:
            stream, content = unpack(data)
        except (GarbageError, ValueError):
            _log.warning("a znode in %s is no row, and is left out", self._path)
            return []
        self._numbers[data] = len(self._numbers)
        return [(self._numbers[data], stream, content)]


def _kazoo() -> Any:
    """Import the client, which only users of ZooKeeper need."""
    try:
        import kazoo.client
        import kazoo.exceptions
        import kazoo.handlers.threading
    except ImportError:
        raise UsageError(
            "the client of ZooKeeper is not installed", remedy="pip install 'clew[zookeeper]'"
        ) from None
    return kazoo
