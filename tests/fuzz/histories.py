"""Histories as nobody recorded them: events of clients in both formats, whatever an object would answer."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any, NamedTuple

#: What clients of each model do, and for each function what is drawn for its argument and its result.
_FUNCTIONS: Mapping[str, Sequence[tuple[str, str, str]]] = {
    "register": [("read", "nil", "value"), ("write", "value", "value"), ("cas", "pair", "pair")],
    "map": [("get", "value", "value"), ("put", "pair", "pair"), ("delete", "value", "value")],
    "queue": [("enqueue", "value", "value"), ("dequeue", "nil", "value")],
    "lock": [("acquire", "nil", "nil"), ("release", "nil", "nil")],
    "counter": [("add", "value", "value"), ("increment", "nil", "nil"), ("read", "nil", "value")],
    "set": [("add", "value", "value"), ("contains", "value", "truth"), ("read", "nil", "list")],
    "stack.py:Stack": [("push", "value", "value"), ("pop", "nil", "value")],
    "serializable": [("txn", "reads", "transaction")],
    "session-serializable": [("txn", "reads", "transaction")],
    "strict-serializable": [("txn", "reads", "transaction")],
}
_ENDS = ["ok", "ok", "ok", "ok", "fail", "unknown", "info"]
_ODD_VALUES: list[Any] = [None, True, -1, 2**70, 1.5, "", "é", [], {}, [[1]], {"a": 1}, "\x1b[1m", "1", [1, 2, 3]]


class History(NamedTuple):
    """The ending of a file's name, the model that it is about, and its text."""

    ending: str
    model: str
    text: str


def history(source: Random) -> History:
    """Draw what some clients did, each one thing after the other, as JSON lines or as Jepsen writes it."""
    model = source.choice(list(_FUNCTIONS))
    edn = source.random() < 0.4
    events = _events(source, model)
    if edn:
        text = "\n".join(_edn(event) for event in events)
        return History(".edn", model, f"[{text}]" if source.random() < 0.3 else text)
    return History(".jsonl", model, "\n".join(json.dumps(event) for event in events) + "\n")


def _events(source: Random, model: str) -> list[dict[str, Any]]:
    clients: list[Any] = [0, 1, 2, "ann"][: source.choice([1, 2, 3, 4])]
    under_way: dict[Any, tuple[str, str]] = {}
    events = []
    for number in range(source.choice([0, 1, 4, 12, 40])):
        client = source.choice(clients)
        if source.random() < 0.01:  # it answers without having been asked, or asks twice
            under_way.pop(client, None)
        event: dict[str, Any] = {"process": client}
        if client in under_way:
            function, result = under_way.pop(client)
            event |= {"type": source.choice(_ENDS), "f": function, "value": _value(source, result, number)}
        else:
            function, argument, result = source.choice(_FUNCTIONS[model])
            under_way[client] = function, result
            event |= {"type": "invoke", "f": function, "value": _value(source, argument, number)}
        if source.random() < 0.02:
            event[source.choice(["type", "f", "process", "key", "time", "index", "error"])] = _odd(source)
        events.append(event)
    return events


def _value(source: Random, kind: str, number: int) -> Any:
    if source.random() < 0.02:
        return _odd(source)
    match kind:
        case "value":
            return source.choice([number, source.randrange(3), source.randrange(3)])
        case "pair":
            return [source.randrange(3), source.randrange(3)]
        case "truth":
            return source.random() < 0.5
        case "list":
            return [source.randrange(3) for _ in range(source.choice([0, 1, 3]))]
        case "reads" | "transaction":
            return [
                _micro(source, number, answered=kind == "transaction") for _ in range(source.choice([1, 2, 3]))
            ]
    return None


def _micro(source: Random, number: int, *, answered: bool) -> list[Any]:
    key = source.choice("ab")
    if source.random() < 0.5:
        return ["append", key, source.choice([number, source.randrange(4)])]
    seen = sorted({source.randrange(6) for _ in range(source.choice([0, 1, 3]))})
    return ["r", key, seen if answered else None]


def _odd(source: Random) -> Any:
    return source.choice(_ODD_VALUES)


def _edn(value: Any) -> str:
    """Write a value as Jepsen would: names of functions and types are keywords."""
    match value:
        case None:
            return "nil"
        case bool():
            return "true" if value else "false"
        case dict():
            return "{" + ", ".join(f":{key} {_edn_of(key, each)}" for key, each in value.items()) + "}"
        case list():
            return "[" + " ".join(map(_edn, value)) + "]"
        case str():
            return f":{value}" if value in ("r", "append", "a", "b") else json.dumps(value)
    return str(value)


def _edn_of(key: str, value: Any) -> str:
    return f":{value}" if key in ("type", "f") and isinstance(value, str) else _edn(value)
