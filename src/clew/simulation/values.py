"""Values that travel and that are written down: isolated copies, one canonical text, and JSON and back.

A message is a value when it is made of numbers, strings, bytes, None, tuples, lists, sets, dicts and dataclasses
of these.  Whatever is in it that can change is copied, so that no two nodes ever share it.  Nothing here
pickles: JSON names the dataclass, and only dataclasses that the scenario knows are made again.
"""

from __future__ import annotations

import base64
import enum
import json
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from clew.errors import UsageError
from clew.files.json_document import Item, quote_short

#: Exactly these types: a subclass of int may have attributes that change.
_ATOMS = frozenset({int, str, bool, float, bytes, type(None)})
#: A state that is larger has got hold of something that is no state.
_MOST_OBJECTS = 10_000
#: Far below where Python gives up, so that it is a message and no RecursionError.
_DEEPEST = 200

#: Python writes and reads no longer integers as decimals; they are few, and written as hexadecimals.
_LARGEST_DECIMAL = 10**1000

#: What the names of objects without a state of their own look like when they would differ from run to run.
_ADDRESS = " at 0x"


class NoValueError(UsageError):
    """Something that cannot be sent or written down."""


def isolate(value: Any) -> Any:
    """Return the value itself where nothing in it can change, otherwise a copy that shares nothing with it."""
    return value if type(value) in _ATOMS else _isolate(value, 0)


def _isolate(value: Any, depth: int) -> Any:
    kind = type(value)
    if kind in _ATOMS:
        return value
    if depth > _DEEPEST:
        raise NoValueError("the value is nested too deeply, or contains itself", remedy="send something flatter")
    # Looked at before it is copied: most messages are frozen all the way down, and are passed on as they are.
    if kind is tuple or kind is frozenset:
        for item in value:
            if type(item) not in _ATOMS:
                copied = kind(_isolate(i, depth + 1) for i in value)
                return value if kind is tuple and all(map(_same, copied, value)) else copied
        return value
    # By class, not by value: what its fields are is found out once.
    copy = _COPIES.get(kind)
    if copy is None:
        copy = _COPIES[kind] = _copier(kind)
    return copy(value, depth)


def _same(a: object, b: object) -> bool:
    return a is b


def _copier(kind: type) -> Callable[[Any, int], Any]:
    if issubclass(kind, enum.Enum):
        return lambda value, depth: value
    if is_dataclass(kind):
        names = tuple(f.name for f in fields(kind))
        frozen = kind.__dataclass_params__.frozen  # type: ignore[attr-defined]

        def copy(value: Any, depth: int) -> Any:
            changed = {}
            for name in names:
                item = getattr(value, name)
                if type(item) not in _ATOMS:
                    isolated = _isolate(item, depth + 1)
                    if isolated is not item:
                        changed[name] = isolated
            if frozen and not changed:
                return value
            # Not by its constructor, which may refuse or change what it is given.
            twin = object.__new__(kind)
            for name in names:
                object.__setattr__(twin, name, changed[name] if name in changed else getattr(value, name))
            return twin

        return copy
    raise NoValueError(
        f"a {kind.__qualname__} cannot be sent",
        remedy="send numbers, strings, tuples, lists, sets, dicts, enums or dataclasses of these",
    )


_COPIES: dict[type, Callable[[Any, int], Any]] = {
    list: lambda value, depth: [_isolate(i, depth + 1) for i in value],
    set: lambda value, depth: {_isolate(i, depth + 1) for i in value},
    dict: lambda value, depth: {_isolate(k, depth + 1): _isolate(v, depth + 1) for k, v in value.items()},
}


# -- canonical text ----------------------------------------------------------------------------------------------


def canonical(value: Any) -> str:
    """Return one text for equal values, whatever the order in which sets and dicts were filled."""
    return write_compactly(to_json(value, strict=False))


#: Made once: ``json.dumps`` would make one for each of the thousands of small values that are compared.
_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def write_compactly(document: Any) -> str:
    """Return JSON on one line, the same whatever the order of its objects."""
    return _ENCODER.encode(document)


# -- JSON --------------------------------------------------------------------------------------------------------


def to_json(value: Any, *, strict: bool = True) -> Any:
    """Return JSON for a value: what JSON has no word for is an object with one key that begins with a dollar sign.

    Not ``strict``, an object that is no value is written by its attributes: enough to look at, not to read back.
    """
    return _json(value, None if strict else {}, 0)


def _json(value: Any, seen: dict[int, int] | None, depth: int) -> Any:
    """Return JSON; ``seen`` are the objects that are no values and have been written, None where none may be."""
    kind = type(value)
    # By type and not by ``isinstance``, and in this order: states are mostly made of these.
    if kind is str or kind is bool or value is None:
        return value
    if kind is int:
        return value if -_LARGEST_DECIMAL < value < _LARGEST_DECIMAL else {"$int": hex(value)}
    if depth > _DEEPEST:
        raise NoValueError("the value is nested too deeply, or contains itself", remedy="make it flatter")
    inner = depth + 1
    if kind is tuple:
        return {"$tuple": _items(value, seen, inner)}
    match value:
        case enum.Enum():
            # Before the other cases: an enum may be a float, a tuple or a dataclass, too.
            return {"$enum": [kind.__qualname__, value.name]}
        case float():
            return value if value == value and abs(value) != float("inf") else {"$float": repr(value)}
        case bytes():
            return {"$bytes": base64.b64encode(value).decode("ascii")}
        case list():
            return _items(value, seen, inner)
        case tuple():
            return {"$tuple": _items(value, seen, inner)}
        case set() | frozenset():
            # In no order: what is seen in one item must not show in the others.
            items = [_json(item, None if seen is None else dict(seen), inner) for item in value]
            return {"$frozenset" if isinstance(value, frozenset) else "$set": sorted(items, key=_order)}
        case dict():
            pairs = [[_json(k, seen, inner), _json(v, seen, inner)] for k, v in value.items()]
            return {"$dict": sorted(pairs, key=lambda pair: _order(pair[0]))}
        case _ if is_dataclass(value) and not isinstance(value, type):
            return {
                "$" + kind.__qualname__: {
                    f.name: _json(getattr(value, f.name), seen, inner) for f in fields(value)
                }
            }
    if seen is None:
        raise NoValueError(
            f"a {kind.__qualname__} cannot be written down",
            remedy="use numbers, strings, tuples, lists, sets, dicts, enums or dataclasses of these",
        )
    return _sketch(value, seen, inner)


def _order(document: Any) -> str:
    """Return a key that orders all JSON: strings, of which most sets and keys consist, need no encoding for it."""
    return f'"{document}' if type(document) is str else write_compactly(document)


def _items(value: Iterable[Any], seen: dict[int, int] | None, depth: int) -> list[Any]:
    """Return JSON for each of these; most of what is written is here, so simple ones take no call."""
    return [
        item
        if (kind := type(item)) is str or (kind is int and -_LARGEST_DECIMAL < item < _LARGEST_DECIMAL)
        else _json(item, seen, depth)
        for item in value
    ]


def _sketch(value: Any, seen: dict[int, int], depth: int) -> Any:
    """Describe something that is no value by what can be seen of it."""
    name = type(value).__qualname__
    if isinstance(value, type) or callable(value):
        # Not its repr, which has an address: digests of equal states must be equal in every process.
        return {"$object": getattr(value, "__qualname__", name)}
    if getattr(type(value), "is_machinery", False):
        return {"$object": name}
    if len(seen) >= _MOST_OBJECTS:
        raise NoValueError(
            f"it is made of more than {_MOST_OBJECTS} objects that are no values",
            remedy="keep large machinery out of the attributes of a node, for example in __slots__",
        )
    # Objects refer to each other in circles; numbers in the order of meeting them are the same every time.
    if id(value) in seen:
        return {"$object": name, "again": seen[id(value)]}
    seen[id(value)] = len(seen)
    if isinstance(value, deque):
        return {"$object": name, "state": [_json(item, seen, depth) for item in value]}
    state = dict(_attributes(value))
    if state or hasattr(value, "__dict__"):
        return {"$object": name, "state": {key: _json(state[key], seen, depth) for key in sorted(state)}}
    text = repr(value)
    return {"$object": name} if _ADDRESS in text else {"$object": name, "state": text}


def _attributes(value: Any) -> Iterator[tuple[str, Any]]:
    for kind in type(value).__mro__:
        slots = kind.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if name not in ("__dict__", "__weakref__") and hasattr(value, name):
                yield name, getattr(value, name)
    yield from ((str(name), item) for name, item in getattr(value, "__dict__", {}).items())


def unknown_type(value: Any, types: Mapping[str, type]) -> type | None:
    """Return a dataclass or enum in a value that could not be made again from its name; None if all could."""
    kind = type(value)
    if kind in _ATOMS:
        return None
    inside: Iterable[Any] = ()
    if isinstance(value, enum.Enum) or is_dataclass(value):
        if types.get(kind.__qualname__) is not kind:
            return kind
        inside = [getattr(value, f.name) for f in fields(value)] if is_dataclass(value) else ()
    elif isinstance(value, dict):
        inside = [*value, *value.values()]
    elif isinstance(value, tuple | list | set | frozenset):
        inside = value
    return next(filter(None, (unknown_type(item, types) for item in inside)), None)


# -- and back ----------------------------------------------------------------------------------------------------


def from_json(item: Item, types: Mapping[str, type]) -> Any:
    """Make the value again; ``types`` are the dataclasses and enums that may be made, by their name."""
    return _revive_value(item, types, 0)


def _revive_value(item: Item, types: Mapping[str, type], depth: int) -> Any:
    document = item.value
    if document is None or isinstance(document, bool | int | str):
        return document
    if isinstance(document, float) and abs(document) != float("inf"):
        return document
    if depth > _DEEPEST:
        raise item.problem("is nested too deeply")
    if isinstance(document, list):
        return [_revive_value(part, types, depth + 1) for part in item.items()]
    if not isinstance(document, dict) or len(item.mapping()) != 1 or not next(iter(document)).startswith("$"):
        item.refuse(
            "a value: a number, a string, true, false, null, a list, or an object with one key like $tuple"
        )
    # One key that begins with a dollar: no plain object can be mistaken for it, for dicts are written as pairs.
    (mark,) = document
    return _revive(mark[1:], item.member(mark), types, depth + 1)


def _revive(mark: str, content: Item, types: Mapping[str, type], depth: int) -> Any:
    if isinstance(content.value, dict):
        return _revive_dataclass(mark, content, types, depth)
    try:
        if mark in _FROM_TEXT:
            return _FROM_TEXT[mark](content.text())
        if mark == "enum":
            return _revive_member(content, types)
        if mark == "dict":
            pairs = [pair.parts("key", "value") for pair in content.items()]
            return {_revive_value(key, types, depth): _revive_value(value, types, depth) for key, value in pairs}
        if mark in _FROM_LIST:
            return _FROM_LIST[mark](_revive_value(part, types, depth) for part in content.items())
    except (ValueError, TypeError) as error:
        raise content.problem(f"not a valid {mark}: {error}") from None
    raise content.problem(f"unknown message type {quote_short(mark)}")


_FROM_TEXT: dict[str, Callable[[str], Any]] = {
    "float": float,
    "int": lambda text: int(text, 16),
    "bytes": lambda text: base64.b64decode(text, validate=True),
}
_FROM_LIST: dict[str, Callable[[Iterator[Any]], Any]] = {"tuple": tuple, "set": set, "frozenset": frozenset}


def _revive_dataclass(name: str, content: Item, types: Mapping[str, type], depth: int) -> Any:
    kind = types.get(name)
    if kind is None or not is_dataclass(kind):
        raise content.problem(f"unknown message type {quote_short(name)}")
    # Without its constructor, as when it was isolated; nothing that a document names is executed.
    made = object.__new__(kind)
    names = [f.name for f in fields(kind)]
    for field, part in zip(names, content.members(*names), strict=True):
        object.__setattr__(made, field, _revive_value(part, types, depth))
    return made


def _revive_member(content: Item, types: Mapping[str, type]) -> Any:
    name, member = content.parts("the name of an enum", "the name of its member")
    kind = types.get(name.text())
    if kind is None or not issubclass(kind, enum.Enum):
        raise name.problem(f"unknown enum {quote_short(name.text())}")
    if member.text() not in kind.__members__:
        raise member.problem(f"{kind.__qualname__} has no member {quote_short(member.text())}")
    return kind[member.text()]
