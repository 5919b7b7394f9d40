"""Which attributes of nodes are read and replaced: by a promise, or by the handlers of a run.

The nodes are made to be of a class of their own for that time, derived from theirs, that notes it.  So their
methods, properties and operators are noted, too, which would read past an object that only stands in for a node.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from inspect import getattr_static
from types import MemberDescriptorType
from typing import Any

#: Nodes and their attributes.
Attributes = set[tuple[str, str]]

#: By class, the one that notes; None where there can be none.
_NOTING: dict[type, type | None] = {}
#: What is being noted, by the identity of a node: its name, and where to write down what is read and replaced.
_noted: dict[int, tuple[str, Attributes, Attributes]] = {}


def begin_noting(node: Any, name: str, read: Attributes, replaced: Attributes) -> bool:
    """Note from now on which attributes of a node are read, and which are bound without having been read.

    False if that cannot be seen.
    """
    kind = type(node)
    noting = _noting_class(kind)
    try:
        if noting is not None:
            node.__class__ = noting
    except TypeError:  # of a class whose objects cannot change theirs
        noting = None
    if noting is None:
        return False
    _noted[id(node)] = name, read, replaced
    return True


def end_noting(node: Any) -> None:
    """Let a node be of its own class again."""
    if _noted.pop(id(node), None) is not None:
        node.__class__ = type(node).__base__


@contextmanager
def note_reads(nodes: Mapping[str, Any]) -> Iterator[Attributes]:
    """Note what is read of these nodes while inside; all of a node where that cannot be seen."""
    read: Attributes = set()
    try:
        for name, node in nodes.items():
            if not begin_noting(node, name, read, set()):
                read.update((name, each) for each in vars(node))
        yield read
    finally:
        for node in nodes.values():
            end_noting(node)


def _noting_class(kind: type) -> type | None:
    """Return a class like this one, whose objects note what is read and replaced of them."""
    if kind in _NOTING:
        return _NOTING[kind]
    members: Any = kind  # a type checker takes them for methods of the class itself
    read: Callable[[Any, str], Any] = members.__getattribute__
    bind: Callable[[Any, str, Any], None] = members.__setattr__

    parts: dict[str, _Part] = {}

    def read_attribute(node: Any, name: str) -> Any:
        if (noted := _noted.get(id(node))) is not None:
            part = parts.get(name)
            if part is None:  # once for each name: handlers read a lot
                part = parts[name] = _part_of(kind, name)
            if part is _Part.ALL:
                noted[1].update((noted[0], each) for each in read(node, "__dict__"))
            elif part is _Part.STATE or (part is _Part.OF_CLASS and name in read(node, "__dict__")):
                key = noted[0], name
                if key not in noted[2]:
                    noted[1].add(key)
        return read(node, name)

    def set_attribute(node: Any, name: str, value: Any) -> None:
        if (noted := _noted.get(id(node))) is not None and (noted[0], name) not in noted[1]:
            noted[2].add((noted[0], name))
        bind(node, name, value)

    body = {
        "__slots__": (),
        "__getattribute__": read_attribute,
        "__setattr__": set_attribute,
        "__module__": kind.__module__,
        "__qualname__": kind.__qualname__,
    }
    try:
        made: type | None = type(kind.__name__, (kind,), body)
    except Exception:  # a class from which none can be derived, whatever keeps it from that
        made = None
    _NOTING[kind] = made
    return made


class _Part(enum.Enum):
    """What an attribute is: all of a node, a part of its state, that only if the node has its own, or no state."""

    ALL = enum.auto()
    STATE = enum.auto()
    OF_CLASS = enum.auto()
    NO_STATE = enum.auto()


def _part_of(kind: type, name: str) -> _Part:
    """Tell what an attribute is; methods and properties read what they need themselves."""
    if name.startswith("__"):
        return _Part.ALL if name == "__dict__" else _Part.NO_STATE
    member = getattr_static(kind, name, _NOTHING)
    if member is _NOTHING:
        return _Part.STATE
    if isinstance(member, MemberDescriptorType):
        # By convention: what is in a slot and private is machinery, of which the attributes show what matters.
        return _Part.NO_STATE if name.startswith("_") else _Part.STATE
    # A value of the class is what the node has until it gets its own.
    return _Part.NO_STATE if hasattr(type(member), "__set__") else _Part.OF_CLASS


_NOTHING = object()
