"""What a search needs of a client of Dask, with one that behaves as no real one can be made to at will."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator
from concurrent.futures import CancelledError
from typing import Any

import pytest

from clew.errors import UsageError
from clew.workers import dask_client
from clew.workers.dask_client import ClientExecutor, WorkerCounter
from clew.workers.executors import as_team


class FakeClient:
    """A client whose results are what ``fetch`` says."""

    def __init__(self, fetch: Callable[[], Any]) -> None:
        self.loop = self.ncores = self
        self.scheduler: FakeClient | None = self
        self.address = "tcp://there:1"
        self.asked = 0
        self.cancelled: list[object] = []
        self._fetch = fetch

    def submit(self, work: Callable[..., Any], *given: Any, pure: bool, fails: bool = False) -> Any:
        assert not pure
        return self._fetch() if fails else self

    def cancel(self) -> None:
        self.cancelled.append(self)

    def add_callback(self, work: Callable[..., Any], *given: Any) -> None:
        asyncio.run(work(*given))

    def __await__(self) -> Generator[Any, None, Any]:
        yield from ()
        return self._fetch()

    def sync(self, what: object, callback_timeout: float) -> Any:
        self.asked += 1
        return self._fetch()


def failing(error: BaseException) -> Callable[[], Any]:
    def fetch() -> Any:
        raise error

    return fetch


def test_a_result_comes_back() -> None:
    assert ClientExecutor(FakeClient(lambda: 3)).submit(print).result(1) == 3


@pytest.mark.parametrize(
    ("raised", "kind"),
    [
        (OSError("the connection broke"), OSError),
        (ValueError("the work failed"), ValueError),
        (CancelledError(), RuntimeError),
        (asyncio.CancelledError(), RuntimeError),
    ],
)
def test_whatever_goes_wrong_while_a_result_is_fetched_is_told(
    raised: BaseException, kind: type[Exception]
) -> None:
    with pytest.raises(kind):
        ClientExecutor(FakeClient(failing(raised))).submit(print).result(1)


def test_a_client_that_is_closed_takes_no_more_work() -> None:
    with pytest.raises(RuntimeError, match="ValueError: closed"):
        ClientExecutor(FakeClient(failing(ValueError("closed"))), {"fails": True}).submit(print)


def test_what_is_given_up_is_given_up_there() -> None:
    client = FakeClient(lambda: 3)
    client.add_callback = lambda work, *given: None  # type: ignore[method-assign]
    future = ClientExecutor(client).submit(print)
    assert future.cancel() and client.cancelled == [client]


class Clock:
    now = 0.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(dask_client, "time", clock)
    return clock


def test_workers_are_counted_now_and_then(clock: Clock) -> None:
    client = FakeClient(lambda: {"one": 2, "two": 4})
    count = WorkerCounter(client)
    for clock.now in (0.0, 0.5, 1.0, 1.5):
        assert count() == 6
    assert client.asked == 2


def test_a_cluster_without_workers_is_waited_for_and_then_refused(clock: Clock) -> None:
    count = WorkerCounter(FakeClient(dict))
    for clock.now in (0.0, 60.0, 120.0):
        assert count() == 0
    clock.now = 120.5
    with pytest.raises(UsageError) as caught:
        count()
    assert caught.value.message == "the cluster at tcp://there:1 has had no workers for 120 s"


def test_a_scheduler_that_hangs_is_asked_seldom_and_refused_in_the_end(clock: Clock) -> None:
    answers = iter([{"one": 2}])
    client = FakeClient(lambda: next(answers, None) or failing(TimeoutError())())
    count = WorkerCounter(client)
    for now in range(121):
        clock.now = float(now)
        assert count() == 2
    assert client.asked == 1 + 6
    clock.now = 150.0
    with pytest.raises(UsageError) as caught:
        count()
    assert caught.value.message == "the scheduler at tcp://there:1 has not answered for 120 s"


def test_a_scheduler_that_is_gone_is_noticed_elsewhere(clock: Clock) -> None:
    answers = iter([{"one": 2}])
    count = WorkerCounter(FakeClient(lambda: next(answers, None) or failing(OSError())()))
    for clock.now in (0.0, 500.0):
        assert count() == 2


def test_a_client_that_has_given_up_is_noticed_elsewhere(clock: Clock) -> None:
    """It has no scheduler any more; that was taken for a mistake of Clew."""
    client = FakeClient(lambda: {"a": 1})
    count = WorkerCounter(client)
    assert count() == 1
    client.scheduler = None
    clock.now += 2
    assert (count(), client.asked) == (1, 1)


def test_what_is_no_executor_is_refused() -> None:
    with pytest.raises(UsageError) as caught:
        as_team(4)  # type: ignore[arg-type]
    assert caught.value.message == "the executor is of the type int"
