"""Candidates tried by several processes at once, with the same result as by one.

Each worker is a copy of this process, so that the scenario need not be sent anywhere.  Blocks of places are
handed out in order; the success with the lowest place counts, once all before it have failed.
"""

from __future__ import annotations

import pickle
import time
from collections.abc import Iterator
from contextlib import ExitStack
from typing import NamedTuple

from clew.errors import ClewError, Position, UsageError
from clew.interrupt import Deadline
from clew.minimization.searching import Family, Listed, Success, Tried, Witness
from clew.minimization.trial import Plain, Target, from_plain, plain
from clew.simulation.watchdog import step_limit
from clew.simulation.workers import Worker, ready, workers

#: How long a block should take: long enough to make handing it over cheap, short enough to waste little.
_BLOCK_SECONDS = 0.008
_POLL_SECONDS = 0.05
_LONGEST_BLOCK = 256


class _Block(NamedTuple):
    """Places from ``start`` to before ``end``; ``family`` is pickled, None where the worker has it already."""

    family: bytes | None
    start: int
    end: int


class _Answer(NamedTuple):
    """What the candidates of a block came to, up to the first success or the first that is refused."""

    results: list[tuple[Plain | None, int]]
    seconds: float
    refused: tuple[str, Position | None, str | None] | None


class Together:
    """``close`` ends the workers."""

    def __init__(self, target: Target, deadline: Deadline, witness: Witness, count: int) -> None:
        self._target = target
        self._deadline = deadline
        self._witness = witness
        self._count = count
        self._size = 1
        #: How many schedules the workers have executed, also those ahead of a success that made them needless.
        self.executed = 0
        self._number = 0
        self._lucky = False
        self._packed: bytes | None = None  # the family of this search: it is the same for all workers
        self._stack = ExitStack()
        self._idle = list(self._stack.enter_context(workers(count, _Server(target).serve)))
        self._busy: dict[Worker, tuple[int, int]] = {}  # the search, and where the block starts
        self._told: dict[Worker, int] = {}  # the search whose family a worker knows

    def close(self) -> None:
        self._stack.close()

    def first(self, family: Family) -> Success | None:
        self._number += 1
        self._packed = None
        results: dict[int, Tried | UsageError] = {}
        told = place = 0
        if self._lucky and len(family):
            # Last time the first one was a success: then to hand candidates out takes longer than to try it.
            first = family.at(0).tried(self._target)
            results[0] = first
            self.executed += first.executed
            place = 1
        while told < len(family):
            if told not in results:
                place = self._hand_out(family, place)
                results.update(self._answers())
            while told in results:
                result = results.pop(told)
                if isinstance(result, UsageError):  # only now: alone, nobody would have come to it before
                    raise result
                self._witness(result.executed, result.schedule)
                if result.schedule is not None:
                    self._lucky = told == 0
                    return Success(told, result.schedule)
                told += 1
        self._lucky = False
        return None

    def _hand_out(self, family: Family, place: int) -> int:
        while self._idle and place < len(family):
            worker = self._idle.pop()
            # Towards the end smaller blocks, so that nobody waits for one who has much left.
            fair = -(-(len(family) - place) // (2 * self._count))
            end = place + max(1, min(self._size, fair))
            if self._packed is None:
                self._packed = pickle.dumps(family)
            worker.ask(_Block(None if self._told.get(worker) == self._number else self._packed, place, end))
            self._told[worker] = self._number
            self._busy[worker] = (self._number, place)
            place = end
        return place

    def _answers(self) -> Iterator[tuple[int, Tried | UsageError]]:
        """What has become of candidates of this search, by their place."""
        done: list[Worker] = []
        while not done:
            self._deadline.check()
            done = ready(list(self._busy), _POLL_SECONDS)
        for worker in done:
            search, start = self._busy.pop(worker)
            answer: _Answer = worker.reply()
            self._idle.append(worker)
            self._adapt(answer)
            self.executed += sum(executed for _, executed in answer.results)
            if search != self._number:
                continue  # tried ahead, and not wanted any more
            yield from ((start + k, _tried(*result)) for k, result in enumerate(answer.results))
            if answer.refused is not None:
                message, position, remedy = answer.refused
                yield start + len(answer.results), UsageError(message, position=position, remedy=remedy)

    def _adapt(self, answer: _Answer) -> None:
        each = answer.seconds / max(1, len(answer.results))
        self._size = max(1, min(_LONGEST_BLOCK, int(_BLOCK_SECONDS / max(each, 1e-6))))


def _tried(items: Plain | None, executed: int) -> Tried:
    return Tried(None if items is None else from_plain(items), executed)


class _Server:
    """In a worker: tries blocks of candidates."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._family: Family = Listed()

    def serve(self, block: _Block) -> _Answer:
        started = time.perf_counter()
        if block.family is not None:
            self._family = pickle.loads(block.family)  # from the process that this one is a copy of
        results: list[tuple[Plain | None, int]] = []
        refused = None
        try:
            with step_limit(self._target.scenario.step_seconds):
                for place in range(block.start, block.end):
                    schedule, executed = self._family.at(place).tried(self._target)
                    results.append((None if schedule is None else plain(schedule), executed))
                    if schedule is not None:
                        break
        except ClewError as error:
            refused = (error.message, error.position, error.remedy)
        return _Answer(results, time.perf_counter() - started, refused)
