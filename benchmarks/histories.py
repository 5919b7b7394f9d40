"""Histories: how long it takes to check what clients saw, as processor time, reading excluded.

The histories are made by an atomic object that answers at a random moment between call and answer: they are
linearizable, or serializable, unless a value is changed afterwards.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from random import Random
from typing import Any

from benchmarks.bars import Bar
from benchmarks.effort import Effort, say
from clew.histories import History, HistoryAnswer, HistoryVerdict, Operation, Outcome, check_history

#: Operations, keys, clients, and the seconds that checking them may take.
SIZES = ((10_000, 10, 10, 1.0), (1_000, 1, 3, 0.2), (3_000, 1, 3, 1.0))
TRANSACTIONS = (25_000, 100_000)
#: Four times as many transactions may take so many times as long.
GROWTH = 6.0
#: How values are written: few of them again and again, or each once.
FEW = 5


def measure(effort: Effort) -> Iterator[Bar]:
    """Yield the bars of histories."""
    for count, keys, clients, limit in SIZES:
        for unique in (False, True):
            history = register_history(count, keys, clients, unique=unique)
            values = "unique values" if unique else f"{FEW} values"
            name = f"histories: {count} operations, {keys} key{'s' * (keys > 1)}, {clients} clients, {values}"
            say(name)
            yield _bar(name, history, HistoryAnswer.HOLDS, limit, effort)
            yield _bar(f"{name}, with a stale read", spoil(history), HistoryAnswer.VIOLATED, limit, effort)
    yield from _growth(effort)


def _bar(name: str, history: History, answer: HistoryAnswer, limit: float, effort: Effort) -> Bar:
    seconds, verdict = _seconds(lambda: check_history(history), effort)
    return Bar(name, f"{seconds:.3f} s", f"{limit:g} s", verdict.answer is answer and seconds <= limit)


def _growth(effort: Effort) -> Iterator[Bar]:
    sizes = TRANSACTIONS if effort.name == "full" else tuple(size // 10 for size in TRANSACTIONS)
    histories = [transaction_history(size) for size in sizes]
    for model in ("serializable", "strict-serializable"):
        say(f"histories: {sizes[-1]} transactions, {model}")
        measured = [_seconds(partial(check_history, history, model), effort) for history in histories]
        (small, _), (large, _) = measured
        holds = all(verdict.answer is HistoryAnswer.HOLDS for _, verdict in measured)
        name = f"histories: {sizes[1]} transactions beside {sizes[0]}, {model}"
        shown = f"{large / small:.1f} times ({large:.2f} s / {small:.2f} s)"
        yield Bar(name, shown, f"{GROWTH:g} times", holds and large <= GROWTH * small)


def _seconds(check: Callable[[], HistoryVerdict], effort: Effort) -> tuple[float, HistoryVerdict]:
    """Return the fastest of a few checks, and what it came to."""

    def once() -> tuple[float, HistoryVerdict]:
        started = time.process_time()
        verdict = check()
        return time.process_time() - started, verdict

    return min((once() for _ in range(min(3, effort.repetitions))), key=lambda measured: measured[0])


# -- histories ---------------------------------------------------------------------------------------------------


def _interleave(
    random: Random,
    count: int,
    clients: int,
    call: Callable[[], Any],
    perform: Callable[[Any], tuple[Outcome, Any]],
) -> Iterator[tuple[int, Any, Outcome, Any, int, int]]:
    """Yield who did what, how it ended, with which result, and the numbers of its events."""
    waiting: dict[int, list[Any]] = {}
    begun = event = 0
    while begun < count or waiting:
        client = random.randrange(clients)
        if client not in waiting:
            if begun < count:
                begun += 1
                waiting[client] = [event, call(), None]
        elif waiting[client][2] is None:
            waiting[client][2] = perform(waiting[client][1])
        else:
            start, asked, (outcome, result) = waiting.pop(client)
            yield client, asked, outcome, result, start, event
        event += 1


def register_history(count: int, keys: int, clients: int, *, unique: bool, seed: int = 1) -> History:
    """Return reads, writes and cas in equal parts."""
    random = Random(seed)
    cells: dict[int, Any] = {}
    fresh = iter(range(10 * count))

    def call() -> tuple[str, int, Any]:
        key, function = random.randrange(keys), random.choice(("read", "write", "cas"))
        value = next(fresh) if unique else random.randrange(FEW)
        expected = cells.get(key) if random.random() < 0.7 else random.randrange(FEW)
        return function, key, {"read": None, "write": value, "cas": (expected, value)}[function]

    def perform(asked: tuple[str, int, Any]) -> tuple[Outcome, Any]:
        function, key, argument = asked
        if function == "read":
            return Outcome.OK, cells.get(key)
        if function == "cas" and cells.get(key) != argument[0]:
            return Outcome.FAIL, None
        cells[key] = argument if function == "write" else argument[1]
        return Outcome.OK, None

    return _history(
        Operation(client, function, argument, result, outcome, start, end, key)
        for client, (function, key, argument), outcome, result, start, end in _interleave(
            random, count, clients, call, perform
        )
    )


def spoil(history: History) -> History:
    """Return a history in which one of the last reads returns what was read long before."""
    reads = [n for n, op in enumerate(history.operations) if op.function == "read"]
    late = history.operations[reads[-len(reads) // 20]]
    stale = next(
        op.result
        for op in reversed(history.operations)
        if op.function == "read"
        and op.key == late.key
        and op.end
        and op.end < late.start // 2
        and op.result != late.result
    )
    spoiled = [op._replace(result=stale) if op is late else op for op in history.operations]
    return History(tuple(spoiled))


def transaction_history(count: int, clients: int = 10, seed: int = 1) -> History:
    """Return transactions of one to four steps on ten keys at a time, each of which gets fifty values."""
    random = Random(seed)
    lists: dict[int, list[int]] = {}
    active, given = list(range(10)), [0] * 10
    fresh = iter(range(10 * count))

    def step() -> tuple[str, int, Any]:
        place = random.randrange(len(active))
        key = active[place]
        if random.random() < 0.5:
            return "r", key, None
        given[place] += 1
        if given[place] == 50:
            active[place], given[place] = max(active) + 1, 0
        return "append", key, next(fresh)

    def perform(asked: list[tuple[str, int, Any]]) -> tuple[Outcome, Any]:
        done: list[tuple[str, int, Any]] = []
        for function, key, value in asked:
            if function == "append":
                lists.setdefault(key, []).append(value)
            done.append((function, key, value if function == "append" else tuple(lists.get(key, ()))))
        return Outcome.OK, tuple(done)

    def call() -> list[tuple[str, int, Any]]:
        return [step() for _ in range(random.randrange(1, 5))]

    return _history(
        Operation(client, "txn", tuple(asked), result, outcome, start, end)
        for client, asked, outcome, result, start, end in _interleave(random, count, clients, call, perform)
    )


def _history(operations: Iterator[Operation]) -> History:
    return History(tuple(sorted(operations, key=lambda op: op.start)))
