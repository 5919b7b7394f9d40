"""Candidates tried by several processes at once, with the same result as by one.

Each worker is a copy of this process, so that the scenario need not be sent anywhere.  Blocks of places are
handed out in order, and this process tries blocks like the others; the success with the lowest place counts, once
all before it have failed.
"""

from __future__ import annotations

import pickle
import time
from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack
from mmap import mmap
from multiprocessing.sharedctypes import RawValue
from typing import Any, Generic, NamedTuple

from clew.budgets.deadline import Deadline
from clew.errors import ClewError, Position, UsageError
from clew.minimization.searching.search import CandidateList, Family, Plain, S, Success, T, TrialResult, Witness
from clew.simulation.execution.watchdog import StepLimit, step_limit
from clew.workers.processes import Worker, wait_for_replies, workers

#: How long a block should take: long enough to make handing it over cheap, short enough to waste little.
_BLOCK_SECONDS = 0.002
_POLL_SECONDS = 0.05
_LONGEST_BLOCK = 256
#: A worker has the next block already when it is done with one.
_BLOCKS_AHEAD = 2
#: What a family may take, pickled; of a larger one nothing is handed out.  Only what is used takes memory.
_BOARD_BYTES = 1 << 26


class _Board:
    """Memory that all processes share, with the family of the latest search.

    Whoever needs a family finds it here as soon as it is there, even if its last answer was not read yet.
    """

    def __init__(self) -> None:
        self._search = RawValue("q", 0)
        self._length = RawValue("q", 0)
        self._memory = mmap(-1, _BOARD_BYTES)

    @property
    def search(self) -> int:
        return int(self._search.value)

    def next_search(self) -> None:
        self._search.value += 1
        # Or the family of the search before would be taken for the one that is posted.
        self._length.value = 0

    def post(self, family: Family[Any, Any]) -> bool:
        """Post a family, once, for all; False if there is no room for it."""
        if not self._length.value:
            # Packed once, not for each worker: a family holds a whole execution.
            packed = pickle.dumps(family)
            if len(packed) <= _BOARD_BYTES:
                self._memory[: len(packed)] = packed
                self._length.value = len(packed)
        return bool(self._length.value)

    def family(self, search: int) -> Family[Any, Any] | None:
        """Read the family of a search; None if that is over."""
        packed = self._memory[: self._length.value]
        # Afterwards: if it is the latest one now, nobody wrote meanwhile.
        if self.search != search:
            return None
        family: Family[Any, Any] = pickle.loads(packed)  # from the process that this one is a copy of
        return family


class _Block(NamedTuple):
    """Places from ``start`` to before ``end`` of the family of a search."""

    search: int
    start: int
    end: int


class _Outcome(NamedTuple, Generic[S]):
    """What the candidates of a block came to, up to the first success or the first that is refused."""

    results: list[TrialResult[S]]
    refused: ClewError | None
    seconds: float


class _Answer(NamedTuple):
    """The same for another process."""

    results: list[tuple[Plain | None, int]]
    refused: tuple[str, Position | None, str | None] | None
    seconds: float


class ParallelSearch(Generic[T, S]):
    """``count`` processes, this one among them; ``close`` ends the others."""

    def __init__(self, target: T, deadline: Deadline, witness: Witness[S], count: int) -> None:
        self._deadline = deadline
        self._witness = witness
        self._count = count
        self._size = 1
        #: How many schedules were executed, also those ahead of a success that made them needless.
        self.executed = 0
        self._board = _Board()
        self._own: _BlockRunner[T, S] = _BlockRunner(target, self._board)
        self._stack = ExitStack()
        others = self._stack.enter_context(workers(count - 1, self._own.serve))
        self._asked: dict[Worker, deque[_Block]] = {worker: deque() for worker in others}

    def set_limit(self, limit: StepLimit) -> None:
        """Set the limit in this process, before the first search.

        It is a thread, so it begins after the others were forked.
        """
        self._own.limit = limit

    def close(self) -> None:
        self._stack.close()

    def first(self, family: Family[T, S]) -> Success[S] | None:
        self._board.next_search()
        self._own.family = family
        results: dict[int, TrialResult[S] | ClewError] = {}
        told = place = 0
        while told < len(family):
            if told not in results:
                self._deadline.check()
                place = self._one_round(family, place, results)
            while told in results:
                # In the order of places: the answer must not depend on who was first.
                result = results.pop(told)
                if isinstance(result, ClewError):  # only now: alone, nobody would have come to it before
                    raise result
                self._witness(result.executed, result.schedule)
                if result.schedule is not None:
                    return Success(told, result.schedule)
                told += 1
        return None

    def _one_round(self, family: Family[T, S], place: int, results: dict[int, TrialResult[S] | ClewError]) -> int:
        """Take a block from ``place`` on, hand out those after it, and see what the others answer."""
        own = _Block(self._board.search, place, self._end(family, place))
        place = self._hand_out(family, own.end)
        if own.start < own.end:
            # This process tries, too: on two cores, one that only waits would be half of the machine.
            results.update(self._by_place(own, self._own.outcome(own)))
        results.update(self._answers(0.0 if own.start < own.end else _POLL_SECONDS))
        return place

    def _end(self, family: Family[T, S], place: int) -> int:
        # Towards the end smaller blocks, so that nobody waits for one who has much left.
        fair = -(-(len(family) - place) // (2 * self._count))
        return place + min(self._size, fair)

    def _hand_out(self, family: Family[T, S], place: int) -> int:
        # One for each before a second for any.
        for _ in range(_BLOCKS_AHEAD):
            for worker, asked in self._asked.items():
                if place < len(family) and len(asked) < _BLOCKS_AHEAD and self._board.post(family):
                    asked.append(_Block(self._board.search, place, self._end(family, place)))
                    worker.ask(asked[-1])
                    place = asked[-1].end
        return place

    def _answers(self, seconds: float) -> Iterator[tuple[int, TrialResult[S] | ClewError]]:
        """Yield what has become of candidates of this search, by their place."""
        for worker in wait_for_replies([worker for worker, asked in self._asked.items() if asked], seconds):
            yield from self._by_place(self._asked[worker].popleft(), self._own.read_answer(worker.reply()))

    def _by_place(self, block: _Block, outcome: _Outcome[S]) -> Iterator[tuple[int, TrialResult[S] | ClewError]]:
        self.executed += sum(tried.executed for tried in outcome.results)
        if outcome.results:
            each = outcome.seconds / len(outcome.results)
            self._size = max(1, min(_LONGEST_BLOCK, int(_BLOCK_SECONDS / max(each, 1e-6))))
        if block.search != self._board.search:
            return  # tried ahead, and not wanted any more
        yield from enumerate(outcome.results, block.start)
        if outcome.refused is not None:
            yield block.start + len(outcome.results), outcome.refused


class _BlockRunner(Generic[T, S]):
    """Tries blocks of candidates, in this process or in a worker."""

    def __init__(self, target: T, board: _Board) -> None:
        self.family: Family[T, S] = CandidateList()
        self.limit: StepLimit | None = None
        self._target = target
        self._board = board
        self._search = 0  # whose family it is

    def outcome(self, block: _Block) -> _Outcome[S]:
        assert self.limit is not None
        started = time.perf_counter()
        results: list[TrialResult[S]] = []
        refused = None
        try:
            with self.limit.guard():
                for place in range(block.start, block.end):
                    # Another search has begun, so one before it succeeded: nobody wants the rest.
                    if self._board.search != block.search:
                        break
                    results.append(self.family.at(place).evaluate(self._target))
                    if results[-1].schedule is not None:
                        break
        except ClewError as error:
            refused = error
        return _Outcome(results, refused, time.perf_counter() - started)

    def serve(self, block: _Block) -> _Answer:
        """Answer a request, in a worker."""
        if self.limit is None:
            self.limit = _ENDS_WITH_THE_PROCESS.enter_context(step_limit(self._target.scenario.step_seconds))
        if block.search != self._search:
            family = self._board.family(block.search)
            if family is None:
                return _Answer([], None, 0.0)
            self.family, self._search = family, block.search
        results, error, seconds = self.outcome(block)
        pack = self._target.pack
        plainly = [(None if schedule is None else pack(schedule), executed) for schedule, executed in results]
        refused = None if error is None else (error.message, error.position, error.remedy)
        return _Answer(plainly, refused, seconds)

    def read_answer(self, answer: _Answer) -> _Outcome[S]:
        """Return what a worker answered, in this process."""
        unpack = self._target.unpack
        results = [
            TrialResult(None if items is None else unpack(items), executed) for items, executed in answer.results
        ]
        refused = None
        if answer.refused is not None:
            message, position, remedy = answer.refused
            refused = UsageError(message, position=position, remedy=remedy)
        return _Outcome(results, refused, answer.seconds)


_ENDS_WITH_THE_PROCESS = ExitStack()
