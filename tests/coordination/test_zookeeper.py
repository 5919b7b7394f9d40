"""An order from a real ZooKeeper: replicas that race apply the same rows in the same order."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from clew.bloom import Bloom, bloom, interface, table
from clew.coordination.ordering import OrderedDelivery
from clew.coordination.plans import Ordered, OrderPlan, Service
from clew.coordination.synthesis import build_class
from clew.coordination.zookeeper import ZooKeeperOrder
from clew.errors import UsageError
from coordination.zookeeper_server import why_skipped, zookeeper

SKIPPED = why_skipped()
needs_zookeeper = pytest.mark.skipif(SKIPPED is not None, reason=str(SKIPPED))

PUTS = 40
SECONDS = 60.0


class Register(Bloom):
    """The last one to write a key wins."""

    put = interface.input("key", "writer", "number")
    state = table("key", val=["writer", "number"])

    @bloom
    def replace(self) -> None:
        self.state <+ self.put
        self.state <- (self.state * self.put).lefts(key="key")


OrderedRegister: Any = build_class(Register, OrderPlan((Ordered("", ("put",)),), Service.ZOOKEEPER))


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with zookeeper(tmp_path_factory.mktemp("zookeeper")) as address:
        yield address


class Replica:
    """A node that runs, with its connection, and the rows that it applied, in order."""

    def __init__(self, hosts: str, path: str, stack: ExitStack) -> None:
        self.node = OrderedRegister("127.0.0.1:0")
        self.applied: list[tuple[Any, ...]] = []
        self.node.on(self.node.order.released, lambda rows: self.applied.extend(map(tuple, rows)))
        stack.enter_context(self.node)
        self.order = ZooKeeperOrder(self.node, hosts, path)
        stack.enter_context(self.order)

    @property
    def state(self) -> list[tuple[Any, ...]]:
        return sorted(map(tuple, self.node.state))


def _until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < deadline, "not in time"
        time.sleep(0.02)


def _last_writers(applied: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    return sorted({content[0]: content for _, _, content in applied}.values())


@needs_zookeeper
def test_replicas_that_race_end_in_the_same_state(hosts: str) -> None:
    with ExitStack() as stack:
        replicas = [Replica(hosts, "/race", stack) for _ in range(3)]
        for number in range(PUTS):
            for writer, replica in enumerate(replicas):
                replica.node.put.insert((f"k{number % 5}", writer, number))
        _until(lambda: all(len(replica.applied) == 3 * PUTS for replica in replicas))
        first = replicas[0]
        assert [number for number, _, _ in first.applied] == list(range(3 * PUTS))
        assert all(replica.applied == first.applied for replica in replicas)
        _until(lambda: all(replica.state == _last_writers(first.applied) for replica in replicas))

        late = Replica(hosts, "/race", stack)
        _until(lambda: late.state == first.state)
        assert late.applied == first.applied


@needs_zookeeper
def test_what_several_submit_is_applied_once(hosts: str) -> None:
    with ExitStack() as stack:
        replicas = [Replica(hosts, "/same", stack) for _ in range(2)]
        for replica in replicas:
            replica.node.put.insert(("k", 0, 1))
        _until(lambda: all(replica.applied for replica in replicas))
        replicas[0].node.put.insert(("k", 0, 2))
        _until(lambda: all(len(replica.applied) == 2 for replica in replicas))
        expected = [(0, "put", ("k", 0, 1)), (1, "put", ("k", 0, 2))]
        assert [replica.applied for replica in replicas] == [expected, expected]


@needs_zookeeper
def test_what_is_no_row_is_left_out_by_all(hosts: str, caplog: pytest.LogCaptureFixture) -> None:
    with ExitStack() as stack:
        replica = Replica(hosts, "/garbage", stack)
        replica.order._create(b"\xc1 no row").get()
        replica.node.put.insert(("k", 0, 1))
        _until(lambda: bool(replica.applied))
        assert replica.applied == [(0, "put", ("k", 0, 1))]
    assert "a znode in /garbage is no row, and is left out" in caplog.messages


def test_nobody_answers() -> None:
    """Port 1 is nobody's."""
    order = ZooKeeperOrder(OrderedRegister("a"), "127.0.0.1:1")
    with pytest.raises(UsageError, match=r"no ZooKeeper answers at 127\.0\.0\.1:1 within 0\.5 seconds"):
        order.start(timeout=0.5)
    order.stop()


def test_a_node_without_an_order() -> None:
    with pytest.raises(UsageError, match="Register has nothing to order"):
        ZooKeeperOrder(Register("a"), "127.0.0.1:1")


def test_without_the_client(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "kazoo", None)
    monkeypatch.setitem(sys.modules, "kazoo.client", None)
    with pytest.raises(UsageError) as refusal:
        ZooKeeperOrder(OrderedRegister("a"), "127.0.0.1:1").start()
    assert refusal.value.remedy == "pip install 'clew[zookeeper]'"


def test_the_class_imports_no_sequencer() -> None:
    assert OrderedRegister.order.module is OrderedDelivery
