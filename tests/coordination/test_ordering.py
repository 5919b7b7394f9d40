"""A total order: by number, without gaps, one row a step, whatever the network does."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from clew.bloom import Bloom, imported
from clew.bloom.runtime.machine import StepResult
from clew.coordination import OrderedDelivery, SequencedDelivery, Sequencer
from clew.coordination.ordering import CATCH_UP, StepwiseSequencing
from random_network import RandomNetwork

REPLICAS = ("a", "b", "c")


class Replica(Bloom):
    order = imported(SequencedDelivery)


def _released(node: Any) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in node.released]


@pytest.mark.parametrize("order", list(itertools.permutations(range(4))), ids=str)
def test_rows_are_let_go_by_number_whatever_order_they_arrive_in(order: tuple[int, ...]) -> None:
    node: Any = OrderedDelivery("a")
    found: list[tuple[Any, ...]] = []
    for number in order:
        node.decided.insert((number, "s", (number,)))
        node.tick()
        found += _released(node)
    for _ in range(4):
        node.tick()
        found += _released(node)
    assert found == [(number, "s", (number,)) for number in range(4)]


def test_one_row_in_a_step() -> None:
    node: Any = OrderedDelivery("a")
    node.decided.insert(*((number, "s", (number,)) for number in range(3)))
    steps = []
    for _ in range(4):
        node.tick()
        steps.append(_released(node))
    assert steps == [[(0, "s", (0,))], [(1, "s", (1,))], [(2, "s", (2,))], []]


def test_what_was_let_go_is_not_let_go_again() -> None:
    node: Any = OrderedDelivery("a")
    for row in [(0, "s", (0,)), (0, "s", (0,)), (1, "s", (1,)), (0, "s", (0,))]:
        node.decided.insert(row)
        node.tick()
    assert _released(node) == []
    node.until_quiet()
    assert (_released(node), [tuple(row) for row in node.arrived]) == ([], [])


class _Recorded(RandomNetwork):
    """Writes down what replicas let go, in order."""

    def __init__(self, nodes: Any, seed: int, **chances: float) -> None:
        super().__init__(nodes, seed, **chances)
        self.applied: dict[str, list[tuple[Any, ...]]] = {address: [] for address in REPLICAS}

    def take(self, address: str, stepped: StepResult) -> None:
        if address in self.applied:
            self.applied[address] += _released(self.nodes[address].order)
        super().take(address, stepped)


def _racing(seed: int, **chances: float) -> _Recorded:
    """Each replica proposes four rows, and one that all propose."""
    nodes: dict[str, Any] = {address: Replica(address) for address in REPLICAS}
    nodes["sequencer"] = Sequencer("sequencer", REPLICAS)
    for address in REPLICAS:
        nodes[address].order.sequencer.insert(("sequencer",))
        nodes[address].order.propose.insert(*(("s", (address, k)) for k in range(4)), ("t", ("same",)))
    return _Recorded(nodes, seed, **chances)


PROPOSED = sorted([*(("s", (address, k)) for address in REPLICAS for k in range(4)), ("t", ("same",))])


@pytest.mark.parametrize("seed", range(10))
def test_all_replicas_let_the_same_rows_go_in_the_same_order(seed: int) -> None:
    cluster = _racing(seed)
    cluster.settle()
    first = cluster.applied["a"]
    assert cluster.applied == dict.fromkeys(REPLICAS, first)
    assert [number for number, _, _ in first] == list(range(len(PROPOSED)))
    assert sorted((stream, content) for _, stream, content in first) == PROPOSED
    assert cluster.refused == []


@pytest.mark.parametrize("seed", range(10))
def test_losses_and_repetitions_change_nothing(seed: int) -> None:
    cluster = _racing(seed, loss=0.3, duplication=0.3)
    for _ in range(60):
        for address in REPLICAS:
            cluster.fire(address, "order.timer")
        cluster.run(2)
    first = cluster.applied["a"]
    assert cluster.applied == dict.fromkeys(REPLICAS, first)
    assert sorted((stream, content) for _, stream, content in first) == PROPOSED
    assert all(not cluster.nodes[address].order.unordered for address in REPLICAS)


def test_the_order_is_not_the_same_in_every_run() -> None:
    orders = set()
    for seed in range(5):
        cluster = _racing(seed)
        cluster.settle()
        orders.add(tuple(cluster.applied["a"]))
    assert len(orders) > 1


class _OneByOne(Bloom):
    order = imported(StepwiseSequencing)


def test_a_sequencer_that_numbers_one_row_in_a_step() -> None:
    sequencer: Any = _OneByOne("sequencer")
    sequencer.order.replicas.insert(("a",))
    for k in (2, 1, 2):
        sequencer.machine.deliver("order.submit_msg", ("sequencer", "s", (k,)))
    sent = [row for step in sequencer.until_quiet() for _, row in step.sent]
    assert sent == [("a", 0, "s", (1,)), ("a", 1, "s", (2,))]
    sequencer.machine.deliver("order.submit_msg", ("sequencer", "s", (1,)))
    assert [step.sent for step in sequencer.until_quiet()] == [()]


def test_who_is_far_behind_catches_up_bit_by_bit() -> None:
    sequencer: Any = Sequencer("sequencer", ())
    for k in range(CATCH_UP + 1):
        sequencer.machine.deliver("order.submit_msg", ("sequencer", "s", (k,)))
    sequencer.until_quiet()
    sent = []
    for number in (0, CATCH_UP, CATCH_UP + 1):
        sequencer.machine.deliver("order.missing_msg", ("sequencer", "a", number))
        sent.append(len(sequencer.tick().sent))
    assert sent == [CATCH_UP, 1, 0]
