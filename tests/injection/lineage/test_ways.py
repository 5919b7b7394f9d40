"""In which ways a promise was kept, and on which events that rests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from clew.injection.execution.run import InjectedRun
from clew.injection.lineage.ways import Way, find_assumed, find_ways, trace_events
from clew.simulation import Kept
from injection.relay import relay, stored_somewhere, was_acknowledged


class Keeper:
    def __init__(self, *values: int) -> None:
        self.values = list(values)
        self.other = 0


def some_has(nodes: Mapping[str, Any]) -> str | None:
    return None if any(1 in node.values for node in nodes.values()) else "nobody has it"


def two_have(nodes: Mapping[str, Any]) -> str | None:
    return None if sum(1 in node.values for node in nodes.values()) >= 2 else "too few have it"


def nobody_has_nine(nodes: Mapping[str, Any]) -> str | None:
    return "somebody has it" if any(9 in node.values for node in nodes.values()) else None


def the_witness_says_so(nodes: Mapping[str, Any]) -> Kept | str:
    have = [name for name, node in nodes.items() if 1 in node.values]
    return Kept(tuple((name,) for name in have)) if have else "nobody has it"


def reads(*names: str) -> frozenset[tuple[str, str]]:
    return frozenset((name, "values") for name in names)


THREE = {"a": Keeper(1), "b": Keeper(1), "c": Keeper()}


@pytest.mark.parametrize(
    ("promise", "ways"),
    [
        (some_has, [Way(("a",), reads("a")), Way(("b",), reads("b"))]),
        (two_have, [Way(("a", "b"), reads("a", "b"))]),
        (nobody_has_nine, [Way((), reads("a", "b", "c"))]),
        (the_witness_says_so, [Way(("a",), reads("a")), Way(("b",), reads("b"))]),
    ],
)
def test_the_smallest_sets_of_nodes_that_keep_a_promise_are_its_ways(promise: Any, ways: list[Way]) -> None:
    assert list(find_ways(promise, THREE)) == ways


def test_a_promise_that_needs_a_node_is_kept_with_it_only() -> None:
    def the_first_has(nodes: Mapping[str, Any]) -> str | None:
        return None if 1 in nodes["a"].values else "it does not"

    assert find_ways(the_first_has, THREE) == (Way(("a",), reads("a")),)


def test_a_promise_that_only_counts_nodes_rests_on_all_of_them() -> None:
    def three_are_up(nodes: Mapping[str, Any]) -> str | None:
        return None if len(nodes) == 3 else "one is down"

    assert find_ways(three_are_up, THREE) == (Way(("a", "b", "c"), frozenset()),)


def test_of_many_nodes_each_is_in_a_way_if_it_can_be() -> None:
    many = {f"n{number}": Keeper(1) for number in range(12)}
    assert [way.witnesses for way in find_ways(some_has, many)] == [(name,) for name in many]


def test_what_only_says_that_something_was_promised_is_no_part_of_a_way() -> None:
    nodes = dict(InjectedRun(relay()).finish().world.nodes)
    assumed = find_assumed(was_acknowledged, nodes)
    assert assumed == {("client", "done")}
    ways = [way.without(assumed) for way in find_ways(stored_somewhere, nodes)]
    assert ways == [
        Way(("server",), frozenset({("server", "stored")})),
        Way(("backup",), frozenset({("backup", "stored")})),
    ]


def test_a_way_rests_on_the_messages_that_led_to_what_it_reads() -> None:
    course = InjectedRun(relay(), tracing=True).finish()
    # 0: it is sent, 1: the client gets it, 2: the server, 3: the backup, 4: the client is answered.
    assert trace_events(course, [("server", "stored")]) == {0, 1, 2}
    assert trace_events(course, [("backup", "stored")]) == {0, 1, 2, 3}
    assert trace_events(course, [("client", "done")]) == {0, 1, 2, 4}
