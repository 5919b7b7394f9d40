"""Blocks of runs for workers: large enough that handing them out costs nothing, and taken in their order."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from clew.simulation.execution.workers import Worker, wait_for_replies

#: How long a worker is to take for the runs that it is given at once.
_BLOCK_SECONDS = 0.2
#: A violation in a block is only known when the block is done.
_LARGEST_BLOCK = 1000
_POLL_SECONDS = 0.05


class Blocks:
    """Runs that are handed out to workers, many at once, and the replies, which are taken in their order."""

    def __init__(self, first: int, runs: int) -> None:
        self._runs = runs
        self.handed_out = first  # the first run that has not been
        self.due = first  # the first run whose reply has not been taken
        self._size = 1
        self._with: dict[Worker, tuple[int, int, float]] = {}
        self._replies: dict[int, tuple[int, Any]] = {}

    @property
    def finished(self) -> bool:
        return self.due >= self._runs

    def hand_out(self, started: list[Worker]) -> None:
        """Give every worker that has nothing to do the next runs."""
        for worker in started:
            if worker not in self._with and self.handed_out < self._runs:
                count = min(self._size, self._runs - self.handed_out)
                worker.ask([self.handed_out, count])
                self._with[worker] = (self.handed_out, count, time.monotonic())
                self.handed_out += count

    def collect(self) -> None:
        """Keep the replies that have come, and size the next blocks by how long they took."""
        for worker in wait_for_replies(list(self._with), _POLL_SECONDS):
            reply = worker.reply()
            first, count, since = self._with.pop(worker)
            self._replies[first] = (count, reply)
            per_run = (time.monotonic() - since) / count
            # Not much larger at once: runs differ.
            self._size = max(1, min(int(_BLOCK_SECONDS / per_run), 8 * self._size, _LARGEST_BLOCK))

    def in_order(self) -> Iterator[Any]:
        """Yield the replies in the order of the runs, as far as they are there."""
        # Whoever was faster: the first violation must not depend on the number of workers.
        while self.due in self._replies:
            count, reply = self._replies.pop(self.due)
            self.due += count
            yield reply

    def rest(self) -> Iterator[Any]:
        """Yield what has been answered although runs before it have not."""
        for _, (_, reply) in sorted(self._replies.items()):
            yield reply
