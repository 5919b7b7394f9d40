"""Nodes stepped by hand: rows and punctuations in any order, in batches of any size, with empty steps between.

Knows of a coordinated class only how its users know it: interfaces, punctuations, and the tables of producers.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Row = tuple[Any, ...]
#: What an input gets.
Given = tuple[str, Row]
#: A node that is not through after so many steps goes on for ever: those that end do so within 24.
_MOST_STEPS = 100


@dataclass(frozen=True)
class Outcome:
    """All rows that ever were in outputs, and what tables hold in the end."""

    shown: frozenset[Given]
    kept: frozenset[Given]


@dataclass(frozen=True)
class Partitioned:
    """The rows of each sealed input, and where the partition is in them; by producers."""

    rows: Mapping[str, Sequence[Row]]
    at: Mapping[str, int]
    producers: int

    def events(self) -> list[Given]:
        """The rows, and for every partition a punctuation of every producer to every input."""
        found: list[Given] = []
        for name, rows in self.rows.items():
            found += [(name, row) for row in rows]
            for partition in self.partitions():
                for producer in range(self._producers_of(partition)):
                    count = sum(self._belongs(name, row, partition, producer) for row in rows)
                    found.append((f"{name}_punctuation", ((partition,), f"p{producer}", count)))
        return found

    def known(self) -> list[Given]:
        """Who produces what, for consumers that let producers vote."""
        return [
            (f"{name}_seals.producers", ((partition,), f"p{producer}"))
            for name in self.rows
            for partition in self.partitions()
            for producer in range(self._producers_of(partition))
        ]

    def partitions(self) -> list[Any]:
        return sorted({row[self.at[name]] for name, rows in self.rows.items() for row in rows})

    def _producers_of(self, partition: Any) -> int:
        return self.producers

    def _belongs(self, name: str, row: Row, partition: Any, producer: int) -> bool:
        return bool(row[self.at[name]] == partition and sum(row) % self.producers == producer)


def play(
    node: Any,
    first: Iterable[Given],
    events: Sequence[Given],
    chance: random.Random,
    *,
    outputs: Sequence[str],
    tables: Sequence[str],
) -> Outcome:
    """One run of a node."""
    shown: set[Given] = set()

    def step() -> None:
        node.tick()
        shown.update((name, tuple(row)) for name in outputs for row in _part(node, name))

    for name, row in first:
        _part(node, name).insert(row)
    order = list(events)
    chance.shuffle(order)
    pause = chance.choice([0.0, 0.2, 0.5, 0.7])
    for name, row in order:
        while chance.random() < pause:
            step()
        _part(node, name).insert(row)
    _finish(node, step)
    kept = frozenset((name, tuple(row)) for name in tables for row in _part(node, name))
    return Outcome(frozenset(shown), kept)


def again(node: Any) -> Any:
    """The node as it was when it was made.  To make another one takes longer: its rules are read anew."""
    node._machine = None
    return node


def states(
    node: Any, ordered: Sequence[Given], chance: random.Random, *, outputs: Sequence[str], tables: Sequence[str]
) -> list[frozenset[Given]]:
    """The states that a replica goes through, each once, while it is told an order in any order."""
    decided = [(number, name, row) for number, (name, row) in enumerate(ordered)]
    chance.shuffle(decided)
    pause = chance.choice([0.0, 0.3, 0.7])
    found: list[frozenset[Given]] = []

    def step() -> None:
        node.tick()
        state = frozenset((name, tuple(row)) for name in (*outputs, *tables) for row in _part(node, name))
        if not found or found[-1] != state:
            found.append(state)

    for one in decided:
        while chance.random() < pause:
            step()
        node.order.decided.insert(one)
    _finish(node, step)
    return found


def _finish(node: Any, step: Callable[[], None]) -> None:
    """A node on the network takes no step when nothing is pending; some more must not change anything."""
    steps = 0
    while node.machine.pending and steps < _MOST_STEPS:
        step()
        steps += 1
    for _ in range(3):
        step()


def _part(node: Any, name: str) -> Any:
    for part in name.split("."):
        node = getattr(node, part)
    return node
