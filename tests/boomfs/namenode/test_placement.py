"""Where replicas go."""

from __future__ import annotations

from collections import Counter

from clew.boomfs.namenode.placement import choose_copy, choose_drop, choose_places

#: Address, address of the bytes, free bytes, chunks.
NODES = [("a", "A", 100, 5), ("b", "B", 100, 2), ("c", "C", 100, 7), ("d", "D", 10, 0)]


def test_the_least_loaded_with_room() -> None:
    assert choose_places(1, NODES, (), 2, 50) == ("B", "A")
    assert choose_places(1, NODES, ("B",), 2, 50) == ("A", "C")
    assert choose_places(1, NODES, (), 9, 0) == ("D", "B", "A", "C")
    assert choose_places(1, None, (), 3, 0) == ()


def test_equal_loads_share_the_chunks() -> None:
    nodes = [(name, name.upper(), 100, 0) for name in "abcd"]
    chosen = Counter(place for number in range(1000) for place in choose_places(number, nodes, (), 3, 0))
    assert set(chosen) == {"A", "B", "C", "D"}
    assert all(700 < count < 800 for count in chosen.values())


def test_copies_go_where_there_is_none() -> None:
    assert list(choose_copy(1, 50, ["b"], NODES, 0)) == [("b", 1, 50, "A")]
    assert list(choose_copy(1, 5, ["b"], NODES, 0)) == [("b", 1, 5, "D")]
    assert list(choose_copy(1, 5, ["a", "b", "c", "d"], NODES, 0)) == []
    assert list(choose_copy(1, 5, ["gone"], NODES, 0)) == []


def test_the_most_loaded_drops_its_replica_and_the_last_one_stays() -> None:
    assert list(choose_drop(1, ["a", "b", "c"], NODES)) == [("c", 1)]
    assert list(choose_drop(1, ["a"], NODES)) == []
    assert list(choose_drop(1, ["a", "gone"], NODES)) == []
