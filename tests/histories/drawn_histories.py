"""Random histories of every model: some as a real object answers, some with a wrong answer, some of nonsense."""

from __future__ import annotations

from random import Random
from typing import Any

from clew.histories import Operation, Outcome
from histories.brute_force import OBJECTS

#: What a client may ask: the function, and how its argument is drawn.
CALLS: dict[str, list[tuple[str, Any]]] = {
    "register": [
        ("read", lambda r: None),
        ("read", lambda r: None),
        ("write", lambda r: r.randrange(3)),
        ("cas", lambda r: (r.randrange(3), r.randrange(3))),
    ],
    "map": [
        ("get", lambda r: r.choice("ab")),
        ("get", lambda r: r.choice("ab")),
        ("put", lambda r: (r.choice("ab"), r.randrange(3))),
        ("delete", lambda r: r.choice("ab")),
        ("cas", lambda r: (r.choice("ab"), r.randrange(3), r.randrange(3))),
    ],
    "queue": [("enqueue", lambda r: r.randrange(3)), ("dequeue", lambda r: None)],
    "lock": [("acquire", lambda r: None), ("release", lambda r: None)],
    "counter": [
        ("add", lambda r: r.randrange(1, 4)),
        ("increment", lambda r: None),
        ("decrement", lambda r: None),
        ("read", lambda r: None),
        ("read", lambda r: None),
    ],
    "set": [
        ("add", lambda r: r.randrange(3)),
        ("remove", lambda r: r.randrange(3)),
        ("contains", lambda r: r.randrange(3)),
        ("read", lambda r: None),
    ],
}
#: What an answer may be that is drawn and not given by an object.
ANSWERS: dict[str, Any] = {
    "read": lambda r, model: {
        "register": r.choice([None, 0, 1, 2]),
        "counter": r.randrange(-1, 5),
        "set": frozenset(r.sample(range(3), r.randrange(3))),
    }[model],
    "get": lambda r, model: r.choice([None, 0, 1, 2]),
    "contains": lambda r, model: r.random() < 0.5,
    "dequeue": lambda r, model: r.choice([None, 0, 1, 2]),
    "cas": lambda r, model: r.choice([None, None, False]) if model == "register" else None,
}


def draw_history(model: str, seed: int, most: int = 8, *, unique: bool = False) -> list[Operation]:
    """Return up to ``most`` operations of two to four clients; ``unique``: no value is written twice."""
    random = Random(f"{model}/{seed}")
    count, fresh = random.randrange(1, most + 1), iter(range(10, 1000))
    lies = random.choice([0.0, 0.1, 0.3])
    waiting: dict[int, dict[str, Any]] = {}
    clients, newcomer = list(range(random.randrange(2, 5))), 10
    cell: dict[Any, Any] = {}
    found: list[Operation] = []
    begun = time = 0
    while begun < count or waiting:
        process = random.choice(clients)
        time += 1
        if process not in waiting:
            if begun < count:
                begun += 1
                function, argument = _draw_call(random, model, fresh, unique)
                waiting[process] = {"f": function, "a": argument, "start": time, "done": False}
            continue
        call = waiting[process]
        if not call["done"]:
            call["answer"] = _perform(model, cell, process, call["f"], call["a"])
            call["done"] = True
            continue
        del waiting[process]
        outcome, result = call["answer"]
        if random.random() < lies:
            outcome, result = _lie(random, model, call["f"], outcome, found)
        if random.random() < 0.15:
            outcome, result = Outcome.UNKNOWN, None
            clients[clients.index(process)] = newcomer  # as a crashed client is: another one takes its place
            newcomer += 1
        end = None if outcome is Outcome.UNKNOWN else time
        found.append(Operation(process, call["f"], call["a"], result, outcome, call["start"], end))
    return sorted(found, key=lambda op: op.start)


def _lie(
    random: Random, model: str, function: str, outcome: Outcome, found: list[Operation]
) -> tuple[Outcome, Any]:
    """Return what no object said: another answer, often one that was right at another time."""
    if outcome is Outcome.FAIL:
        return Outcome.OK, None
    written = [op.argument for op in found if op.function in ("write", "enqueue")]
    if function in ("read", "dequeue") and model in ("register", "queue") and written and random.random() < 0.8:
        return Outcome.OK, random.choice(written)
    return Outcome.OK, ANSWERS[function](random, model) if function in ANSWERS else None


def _draw_call(random: Random, model: str, fresh: Any, unique: bool) -> tuple[str, Any]:
    while True:
        function, draw = random.choice(CALLS[model])
        if unique and function == "cas":
            continue
        argument = draw(random)
        if unique and function in ("write", "enqueue"):
            argument = next(fresh)
        return function, argument


def _perform(model: str, cell: dict[Any, Any], process: int, function: str, argument: Any) -> tuple[Outcome, Any]:
    """Let the object of the brute force answer: what it takes for right is what it answers."""
    candidates: list[Any] = [None]
    if function in ("read", "get", "dequeue"):
        candidates = [None, *range(-8, 30), *range(10, 60)]
        if model == "set":
            candidates = [frozenset(n for n in range(3) if mask >> n & 1) for mask in range(8)]
    elif function == "contains":
        candidates = [True, False]
    for result in candidates:
        trial = {key: value.copy() if isinstance(value, list | set) else value for key, value in cell.items()}
        op = Operation(process, function, argument, result, Outcome.OK, 0, 0)
        if OBJECTS[model](trial, op, True):
            cell.clear()
            cell.update(trial)
            return Outcome.OK, result
    return Outcome.FAIL, None
