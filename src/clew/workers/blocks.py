"""Work in numbered pieces, handed out in blocks, large enough that this costs nothing, and taken in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from clew.errors import ClewError
from clew.workers.crew import Crew, Done

#: Not much larger at once: pieces differ.
_GROWTH = 8
_POLL_SECONDS = 0.05


class Block(NamedTuple):
    """``size`` pieces from the number ``first`` on."""

    first: int
    size: int


class Answered(NamedTuple):
    """What a block came to; ``failure``: why there is no value."""

    block: Block
    value: Any
    failure: ClewError | None


class Blocks:
    """The pieces from ``first`` to before ``end``, of which ``request`` says how to ask for some.

    ``largest``: so many at most are handed out at once.
    """

    def __init__(
        self, crew: Crew, first: int, end: int, request: Callable[[Block], Any], *, largest: int = 1000
    ) -> None:
        self._crew = crew
        self._end = end
        self._request = request
        self._largest = largest
        self._next = first  # the first piece that has not been handed out
        self._due = first  # the first whose answer has not been taken
        self._size = 1
        self._asked: dict[int, Block] = {}
        self._answered: dict[int, Answered] = {}

    @property
    def finished(self) -> bool:
        return self._due >= self._end

    @property
    def is_waiting(self) -> bool:
        """Tell whether something is being done."""
        return bool(self._asked)

    @property
    def handed_out(self) -> int:
        """Return the first piece that has not been handed out."""
        return self._next

    def hand_out(self) -> None:
        """Give everybody who has nothing to do the next block."""
        while self._next < self._end and self._crew.room > 0:
            block = Block(self._next, min(self._size, self._end - self._next))
            self._asked[block.first] = block
            self._next += block.size
            self._crew.ask(block.first, self._request(block))

    def collect(self) -> None:
        """Keep the answers that have come, and size the next blocks by how long they took."""
        for done in self._crew.collect(_POLL_SECONDS):
            block = self._asked.pop(done.number)
            self._answered[block.first] = Answered(block, done.value, done.failure)
            self._resize(block, done)

    def _resize(self, block: Block, done: Done) -> None:
        if done.failure is None:
            fitting = int(self._crew.block_seconds * block.size / max(done.seconds, 1e-9))
            self._size = max(1, min(fitting, _GROWTH * self._size, self._largest))

    def in_order(self) -> Iterator[Answered]:
        """Yield the answers in the order of the pieces, as far as they are there."""
        # Whoever was faster: what comes first must not depend on the number of workers.
        while self._due in self._answered:
            answered = self._answered.pop(self._due)
            self._due += answered.block.size
            yield answered

    def rest(self) -> Iterator[Answered]:
        """Yield what has been answered although pieces before it have not."""
        for _, answered in sorted(self._answered.items()):
            yield answered
