"""What a search needs of a client of Dask: an executor, and how many workers there are.

Nothing of Dask is imported: a client is handed in.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError, Executor, Future
from typing import Any

from clew.errors import UsageError, describe_exception

#: Often enough that workers which join are used soon; asking goes to the scheduler and back.
_COUNT_SECONDS = 1.0
#: How long to wait for the answer, and until it is asked for again if there was none.
_COUNT_PATIENCE, _COUNT_PAUSE = 2.0, 20.0
#: A cluster that grows with what there is to do may take that long to have a worker.
_LONGEST_WAIT = 120.0


class ClientExecutor(Executor):
    """Lets the workers of a cluster do what is submitted.

    Not that of Dask itself, ``client.get_executor()``: where a connection breaks while a result is fetched, its
    futures never come to an end.
    """

    def __init__(self, client: Any, options: Mapping[str, Any] | None = None) -> None:
        self._client = client
        # Not pure: for Dask, an equal call would be the same one, whose result it may still have.
        self._options = {**(options or {}), "pure": False}

    def submit(self, work: Callable[..., Any], /, *given: Any, **more: Any) -> Future[Any]:
        try:
            theirs = self._client.submit(work, *given, **self._options, **more)
        except Exception as error:  # of its own kinds: that it is closed, or has lost the scheduler for good
            raise RuntimeError(describe_exception(error)) from None
        ours: Future[Any] = Future()
        ours.add_done_callback(lambda done: theirs.cancel() if done.cancelled() else None)
        self._client.loop.add_callback(self._complete, theirs, ours)
        return ours

    async def _complete(self, theirs: Any, ours: Future[Any]) -> None:
        value, raised = None, None
        try:
            # Not client.gather, which waits for half a minute where the scheduler is gone.
            value = await theirs
        # Whatever it is, also what asyncio ends a coroutine with: whoever waits must hear of it.
        except BaseException as error:
            raised = error
        if not ours.set_running_or_notify_cancel():
            return
        if raised is None:
            ours.set_result(value)
        elif isinstance(raised, Exception) and not isinstance(raised, CancelledError):
            ours.set_exception(raised)
        else:
            ours.set_exception(RuntimeError("the cluster gave it up"))


class WorkerCounter:
    """Counts the workers of a cluster, now and then."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._next = 0.0
        self._count = 0
        self._seen = self._heard = time.monotonic()

    def __call__(self) -> int:
        now = time.monotonic()
        if now >= self._next:
            self._ask(now)
        if self._count:
            self._seen = now
        elif now > self._seen + _LONGEST_WAIT:
            raise UsageError(
                f"the cluster at {self._address} has had no workers for {_LONGEST_WAIT:g} s",
                remedy=f"start some: dask worker {self._address}",
            )
        return self._count

    @property
    def _address(self) -> str:
        return str(self._client.scheduler.address)

    def _ask(self, now: float) -> None:
        if self._client.scheduler is None:  # a client that has given up, which shows where work does not come back
            self._next = now + _COUNT_SECONDS
            return
        try:
            # Not client.ncores(), which waits for as long as a scheduler that hangs does.
            found = self._client.sync(self._client.scheduler.ncores, callback_timeout=_COUNT_PATIENCE)
        except TimeoutError:
            if now > self._heard + _LONGEST_WAIT:
                raise UsageError(
                    f"the scheduler at {self._address} has not answered for {_LONGEST_WAIT:g} s",
                    remedy="see what it is doing; --checkpoint FILE saves how far a search has come",
                ) from None
            # Not at once: each time, this process does nothing else.
            self._next = now + _COUNT_PAUSE
        except (OSError, RuntimeError):
            # A scheduler that is gone is noticed where work does not come back.
            self._next = now + _COUNT_SECONDS
        else:
            self._count = sum(found.values())
            self._heard, self._next = now, now + _COUNT_SECONDS
