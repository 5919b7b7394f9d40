"""A crew of the workers of a ``concurrent.futures.Executor``: processes, threads, or those of a cluster.

The executor is the caller's: it is neither shut down here nor asked to do anything when the search is over.
Whatever becomes of a request there, nothing is lost: the executor tries it again if it does that, and what does
not come back is done here, where it shows whether it was the user's code that ended a process.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor, Future
from contextlib import suppress
from dataclasses import dataclass, replace
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import Any, NamedTuple, Self

from clew.budgets.deadline import Deadline
from clew.errors import UsageError, describe_exception
from clew.workers.crew import Done
from clew.workers.dask_client import ClientExecutor, WorkerCounter
from clew.workers.processes import WorkerDiedError
from clew.workers.serving import Refusal
from clew.workers.tasks import Job, Reply, perform

#: Each worker has the next request already when it is done with one.
_AHEAD = 2
#: A block is worth the way there and back, and many workers together must not keep this process from handing out:
#: as measured, a request costs it about a millisecond (docs/scale.md).
SHORTEST_BLOCK, BLOCK_PER_WORKER = 0.5, 0.01
#: What a worker raises that does not know the functions and classes that it is sent.
UNLOADABLE = (ImportError, AttributeError)


@dataclass(frozen=True)
class Team:
    """An executor, and how many workers it has, which may change; ``where`` is what progress says of them."""

    executor: Executor
    count: Callable[[], int]
    where: str = ""


def as_team(executor: Executor | Team, workers: int | None = None) -> Team:
    """Return the team of an executor; its size is what is said, or what it says itself."""
    if isinstance(executor, Team):
        return executor
    # Of Dask: a client, or what its get_executor() returns.
    client: Any = getattr(executor, "_client", executor)
    if hasattr(client, "ncores") and hasattr(client, "scheduler"):
        counter = WorkerCounter(client) if workers is None else lambda: workers
        return Team(ClientExecutor(client, getattr(executor, "_kwargs", None)), counter)
    if not isinstance(executor, Executor):
        raise UsageError(
            f"the executor is of the type {type(executor).__name__}",
            remedy="give a concurrent.futures.Executor, such as ProcessPoolExecutor(), or a client of Dask",
        )
    if workers is not None:
        return Team(executor, lambda: workers)
    # Pools of processes and threads, also others than those of Python, call it so; no interface has it.
    size = getattr(executor, "_max_workers", None) or os.cpu_count() or 1
    return Team(executor, lambda: size)


class _Asked(NamedTuple):
    number: int
    request: Any
    job: Job


class ExecutorCrew:
    """What a search sees of an executor; ``files`` reads those of the user, for workers that do not have them."""

    def __init__(
        self, team: Team, job: Job, deadline: Deadline, files: Callable[[], Mapping[str, bytes]] | None = None
    ) -> None:
        self._team = team
        self._job = job
        self._deadline = deadline
        self._files = files
        self._with_files: Job | None = None
        self._asked: dict[Future[Reply], _Asked] = {}
        # Not concurrent.futures.wait, which looks at all of them each time: thousands, for a thousand workers.
        self._finished: SimpleQueue[Future[Reply]] = SimpleQueue()
        self._lost: list[Done] = []
        self._turns = 0
        self._search = secrets.token_hex(8)
        self._size = team.count()

    @property
    def block_seconds(self) -> float:
        return max(SHORTEST_BLOCK, BLOCK_PER_WORKER * self._size)

    @property
    def room(self) -> int:
        # At least one: of a cluster that has no workers yet, some may come.
        return _AHEAD * max(1, self._size) - len(self._asked) - len(self._lost)

    def ask(self, number: int, request: Any) -> None:
        self._submit(_Asked(number, request, self._job))

    def _submit(self, asked: _Asked) -> None:
        self._turns += 1
        # Dask takes calls with equal arguments for the same one, also of searches that are over.
        turn = f"{self._search}-{self._turns}"
        try:
            future = self._team.executor.submit(perform, asked.job, asked.request, self._deadline.remaining, turn)
        except RuntimeError as error:  # also what a broken pool of processes says
            self._lose(asked, f"the executor takes no more work ({describe_exception(error)})")
        else:
            self._asked[future] = asked
            future.add_done_callback(self._finished.put)

    def collect(self, seconds: float) -> list[Done]:
        self._size = self._team.count()
        # What is lost already is told at once: nothing else may ever come.
        found = [done for future in self._await(0.0 if self._lost else seconds) if (done := self._take(future))]
        lost, self._lost = self._lost, []
        return [*lost, *found]

    def _await(self, seconds: float) -> Iterator[Future[Reply]]:
        """Yield what has come, and wait for at most so long for the first."""
        with suppress(Empty):
            if self._asked:
                yield self._finished.get(timeout=seconds) if seconds else self._finished.get_nowait()
            while True:
                yield self._finished.get_nowait()

    def _take(self, future: Future[Reply]) -> Done | None:
        asked = self._asked.pop(future)
        if future.cancelled():
            self._lose(asked, "the executor gave it up")
            return None
        error = future.exception()
        if isinstance(error, UNLOADABLE):
            raise UsageError(
                f"a worker cannot load what Clew sends: {describe_exception(error)}",
                remedy="install the same Clew, with the same Python, wherever there are workers",
            )
        if error is not None:
            # Whatever it is: the executor has tried again, if it does that, and there is no answer.
            self._lose(asked, f"its worker was lost ({describe_exception(error)})")
            return None
        return self._read(asked, future.result())

    def _read(self, asked: _Asked, reply: Reply) -> Done | None:
        if reply.needs_files:
            # Only now: most workers see the same disk, or have opened the job before.
            self._submit(asked._replace(job=self._job_with_files()))
            return None
        if reply.unfit is not None:
            # One unfit worker ends the search: it would answer again and again, and faster than the others.
            raise _make_error(reply.unfit, f"the worker on {reply.where} cannot do this: ")
        if reply.failed is not None:
            # Not done again here: a defect of Clew's must be seen, and not be a loss of time.
            raise RuntimeError(f"on {reply.where}:\n{reply.failed}")
        if reply.died is not None:
            died = WorkerDiedError(reply.died.message, reply.died.remedy or "", reply.how)
            return Done(asked.number, None, reply.seconds, died)
        if reply.refused is not None:
            return Done(asked.number, None, reply.seconds, _make_error(reply.refused))
        return Done(asked.number, reply.value, reply.seconds)

    def _job_with_files(self) -> Job:
        if self._with_files is None:
            files = {} if self._files is None else self._files()
            self._with_files = replace(self._job, files=files)
        return self._with_files

    def _lose(self, asked: _Asked, why: str) -> None:
        self._lost.append(Done(asked.number, None, 0.0, WorkerDiedError(why, "see what became of the workers")))

    def describe(self) -> str:
        return f"{self._size} worker{'' if self._size == 1 else 's'}{self._team.where}"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # What is being done ends by itself, within the time of a block.
        for future in self._asked:
            future.cancel()


def _make_error(refusal: Refusal, before: str = "") -> UsageError:
    return UsageError(f"{before}{refusal.message}", position=refusal.position, remedy=refusal.remedy)
