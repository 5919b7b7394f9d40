"""A crew of forks of this process."""

from __future__ import annotations

import time
from contextlib import ExitStack
from multiprocessing.connection import wait
from types import TracebackType
from typing import Any, NamedTuple, Self

from clew.workers.crew import Done, Spent
from clew.workers.processes import Serve, Worker, WorkerDiedError, workers


class _Asked(NamedTuple):
    number: int
    since: float


class ForkCrew:
    """So many processes, which ``serve`` requests; one that dies is replaced when there is more to do."""

    def __init__(self, count: int, serve: Serve) -> None:
        self._count = count
        self._serve = serve
        self._idle: list[Worker] = []
        self._busy: dict[Worker, _Asked] = {}
        self._processes = ExitStack()

    @property
    def block_seconds(self) -> float:
        # Handing out costs next to nothing here; a violation in a block is only known when that is done.
        return 0.2

    @property
    def room(self) -> int:
        return self._count - len(self._busy)

    def ask(self, number: int, request: Any) -> None:
        # Started when there is something to do: of a search that ends at once, none is.
        if not self._idle:
            self._idle += self._processes.enter_context(workers(1, self._serve, siblings=[*self._busy]))
        worker = self._idle.pop()
        worker.ask(request)
        self._busy[worker] = _Asked(number, time.monotonic())

    def collect(self, seconds: float) -> list[Done]:
        if not self._busy:
            return []
        answered = wait([worker.connection for worker in self._busy], seconds)
        found = []
        for worker in list(self._busy):
            if worker.connection in answered:
                found.append(self._take_reply(worker))
            elif (stuck := worker.find_stuck()) is not None:
                found.append(self._give_up(worker, stuck))
        return found

    def _take_reply(self, worker: Worker) -> Done:
        try:
            value = worker.reply()
        except WorkerDiedError as death:
            return self._give_up(worker, death)
        asked = self._busy.pop(worker)
        if isinstance(value, Spent):
            # Not used again: what was given up in it still takes its time.
            worker.end()
            value = value.value
        else:
            self._idle.append(worker)
        return Done(asked.number, value, time.monotonic() - asked.since)

    def _give_up(self, worker: Worker, death: WorkerDiedError) -> Done:
        worker.end()
        asked = self._busy.pop(worker)
        return Done(asked.number, None, time.monotonic() - asked.since, death)

    def describe(self) -> str:
        return ""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._processes.close()
