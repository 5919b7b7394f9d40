"""Random transactions on lists, and serializability by trying all orders of them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, permutations
from random import Random
from typing import Any

from clew.histories import Operation, Outcome


def draw_transactions(seed: int, most: int = 5) -> list[Operation]:
    """Return up to ``most`` transactions: a store executes them at once, or step by step, or somebody lies."""
    random = Random(f"transactions/{seed}")
    count = random.randrange(1, most + 1)
    step_by_step, lies = random.random() < 0.7, random.choice([0.0, 0.0, 0.1])
    store: dict[str, list[int]] = {}
    values = iter(range(1, 1000))
    waiting: dict[int, dict[str, Any]] = {}
    found: list[Operation] = []
    begun = time = 0
    clients = list(range(random.randrange(2, 4)))
    while begun < count or waiting:
        process = random.choice(clients)
        time += 1
        if process not in waiting:
            if begun < count:
                begun += 1
                waiting[process] = {"plan": _draw_steps(random, values), "done": [], "start": time}
            continue
        call = waiting[process]
        while len(call["done"]) < len(call["plan"]):
            call["done"].append(_perform(random, store, call["plan"][len(call["done"])], lies))
            if step_by_step:
                break
        if len(call["done"]) == len(call["plan"]):
            del waiting[process]
            outcome = random.choice([Outcome.OK] * 8 + [Outcome.FAIL, Outcome.UNKNOWN])
            if outcome is Outcome.FAIL and random.random() < 0.8:  # undone, or not
                for _, key, value in call["plan"]:
                    if value in store.get(key, []):
                        store[key].remove(value)
            result = tuple(call["done"]) if outcome is Outcome.OK else None
            end = None if outcome is Outcome.UNKNOWN else time
            found.append(Operation(process, "txn", tuple(call["plan"]), result, outcome, call["start"], end))
    return sorted(found, key=lambda op: op.start)


def _draw_steps(random: Random, values: Any) -> list[tuple[str, str, Any]]:
    return [
        ("append", random.choice("xy"), next(values))
        if random.random() < 0.5
        else ("r", random.choice("xy"), None)
        for _ in range(random.randrange(1, 4))
    ]


def _perform(random: Random, store: dict[str, list[int]], step: tuple[str, str, Any], lies: float) -> Any:
    function, key, value = step
    if function == "append":
        if random.random() >= lies:  # or it is lost
            store.setdefault(key, []).append(value)
        return step
    read = list(store.get(key, []))
    if read and random.random() < lies:
        match random.randrange(3):
            case 0:
                read.pop()
            case 1:
                read.reverse()
            case _:
                read.append(77)
    return "r", key, tuple(read)


def is_serializable(operations: Sequence[Operation], *, realtime: bool = False, process: bool = False) -> bool:
    """Try every order of those that were committed, with and without each that may have been."""
    sure = [op for op in operations if op.outcome is Outcome.OK]
    maybe = [op for op in operations if op.outcome is Outcome.UNKNOWN]
    return any(
        _runs(order) and not any(_violates(order, realtime, process))
        for size in range(len(maybe) + 1)
        for chosen in combinations(maybe, size)
        for order in permutations([*sure, *chosen])
    )


def _runs(order: Sequence[Operation]) -> bool:
    lists: dict[Any, list[Any]] = {}
    for op in order:
        told: Any = op.result if op.outcome is Outcome.OK else op.argument
        for function, key, value in told:
            if function == "append":
                lists.setdefault(key, []).append(value)
            elif op.outcome is Outcome.OK and list(value) != lists.get(key, []):
                return False
    return True


def _violates(order: Sequence[Operation], realtime: bool, process: bool) -> Any:
    for place, later in enumerate(order):
        for earlier in order[place + 1 :]:
            if earlier.end is not None and earlier.end < later.start:
                yield realtime or (process and earlier.process == later.process)


def is_fully_observed(operations: Sequence[Operation]) -> bool:
    """Tell whether every committed append is in some committed read: then the order of all is known."""
    read = {
        (key, value)
        for op in operations
        if op.outcome is Outcome.OK
        for function, key, values in op.result  # type: ignore[attr-defined]
        if function == "r"
        for value in values
    }
    return all(
        (key, value) in read
        for op in operations
        if op.outcome is Outcome.OK
        for function, key, value in op.result  # type: ignore[attr-defined]
        if function == "append"
    )
