"""Blocks: every piece once, in order, whatever comes back first."""

from __future__ import annotations

from random import Random
from typing import Any, Self

import pytest

from clew.errors import UsageError
from clew.workers.blocks import Block, Blocks
from clew.workers.crew import Done


class Shuffling:
    """A crew that answers in any order, each request after a while, with seconds that it makes up."""

    def __init__(self, seed: int, most: int) -> None:
        self._random = Random(seed)
        self._most = most
        self._asked: dict[int, Any] = {}
        self.sizes: list[int] = []

    @property
    def block_seconds(self) -> float:
        return 1.0

    @property
    def room(self) -> int:
        return self._most - len(self._asked)

    def ask(self, number: int, request: Any) -> None:
        assert self.room > 0
        self._asked[number] = request
        self.sizes.append(request.size)

    def collect(self, seconds: float) -> list[Done]:
        if not self._asked:
            return []
        number = self._random.choice(list(self._asked))
        block = self._asked.pop(number)
        failure = UsageError("lost") if self._random.random() < 0.2 else None
        return [Done(number, block, 0.1 * block.size, failure)]

    def describe(self) -> str:
        return ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        pass


@pytest.mark.parametrize("seed", range(20))
def test_every_piece_is_answered_once_and_in_order(seed: int) -> None:
    crew = Shuffling(seed, 1 + seed % 4)
    blocks = Blocks(crew, 3, 200, lambda block: block)
    pieces: list[int] = []
    failures = 0
    while not blocks.finished:
        blocks.hand_out()
        blocks.collect()
        for answered in blocks.in_order():
            assert answered.value == answered.block
            failures += answered.failure is not None
            pieces += range(answered.block.first, answered.block.first + answered.block.size)
    assert pieces == list(range(3, 200))
    assert failures and not blocks.is_waiting


def test_blocks_grow_to_what_fits() -> None:
    crew = Shuffling(1, 1)
    blocks = Blocks(crew, 0, 500, lambda block: block)
    while not blocks.finished:
        blocks.hand_out()
        blocks.collect()
        list(blocks.in_order())
    # A tenth of a second for each piece, and a second for a block; the last is what is left.
    assert crew.sizes[0] == 1
    assert set(crew.sizes[2:-1]) == {10}


def test_no_block_is_larger_than_is_said() -> None:
    crew = Shuffling(1, 2)
    blocks = Blocks(crew, 0, 40, lambda block: block, largest=1)
    while not blocks.finished:
        blocks.hand_out()
        blocks.collect()
        list(blocks.in_order())
    assert crew.sizes == [1] * 40


def test_the_rest_is_what_came_too_early() -> None:
    crew = Shuffling(1, 3)
    blocks = Blocks(crew, 0, 3, lambda block: block, largest=1)
    blocks.hand_out()
    assert not blocks.finished and blocks.is_waiting
    while len(list(blocks.rest())) < 2:
        blocks.collect()
    first = [answered.block for answered in blocks.in_order()]
    assert [*first, *(answered.block for answered in blocks.rest())] == sorted(
        [*first, *(answered.block for answered in blocks.rest())]
    )
    assert blocks.handed_out == 3
    assert Block(0, 1).first == 0
