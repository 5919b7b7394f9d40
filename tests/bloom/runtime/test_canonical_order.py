"""The canonical order of rows is that of ``sort_key``, whichever shorter way finds it."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from clew.bloom.values import sort_key, sort_rows, sort_values


def _draw(chance: Random, depth: int = 0) -> Any:
    kinds: list[Callable[[], Any]] = [
        lambda: chance.randint(-2, 2),
        lambda: chance.choice(["", "a", "b"]),
        lambda: chance.choice([None, True, b"a", 0.5]),
        lambda: tuple(_draw(chance, depth + 1) for _ in range(chance.randint(0, 2))),
        lambda: frozenset(_draw(chance, depth + 1) for _ in range(chance.randint(0, 3))),
    ]
    return chance.choice(kinds if depth < 2 else kinds[:3])()


def test_rows_with_sets_are_in_the_order_of_their_keys() -> None:
    chance = Random(5)
    seen_sets = 0
    for _ in range(400):
        rows = [tuple(_draw(chance) for _ in range(3)) for _ in range(chance.randint(0, 6))]
        rows = list(dict.fromkeys(rows))
        chance.shuffle(rows)
        assert sort_rows(rows) == sorted(rows, key=sort_key)
        seen_sets += any(isinstance(value, frozenset) for row in rows for value in row)
    assert seen_sets > 200


def test_values_are_in_the_order_of_their_keys() -> None:
    chance = Random(6)
    for _ in range(400):
        values = list({_draw(chance) for _ in range(chance.randint(0, 6))})
        assert sort_values(values) == sorted(values, key=sort_key)
