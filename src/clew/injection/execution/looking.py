"""Look through the state of a node: two looks are equal only if nothing that code can see is different.

Like pickling, but nothing is ever made again of what is found: a flat list of types, atoms, and the places where
an object comes again.  It is compared within one process and never shown.
"""

from __future__ import annotations

import datetime
import decimal
import enum
import fractions
import pathlib
import re
import types
import uuid
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from functools import cache, partial
from random import Random
from typing import Any

from clew.simulation.process import Process

#: Nothing in these ever changes, and equal ones cannot be told apart.
_ATOMS = frozenset({int, str, bool, bytes, type(None), range, type(Ellipsis)})
#: Nothing in these changes, but equal ones can be told apart: 0.0 is not -0.0, nor 1.0 the same decimal as 1.00.
_TEXTS = frozenset(
    {
        *(float, complex, re.Pattern),
        *(datetime.date, datetime.datetime, datetime.time, datetime.timedelta, datetime.timezone),
        *(decimal.Decimal, fractions.Fraction, uuid.UUID, pathlib.PurePosixPath, pathlib.PosixPath),
    }
)
#: What these are is all that there is to see of them.
_NAMED = (type, types.BuiltinFunctionType, types.ModuleType)
_DEEPEST = 100

#: What C code adds to a class: one that has any of these may have a state that is not in its attributes.
_OF_C = (types.WrapperDescriptorType, types.MethodDescriptorType, types.ClassMethodDescriptorType)
#: Classes in C that are seen through, and whose descendants in Python are.
_KNOWN = (object, list, tuple, set, frozenset, dict, deque, OrderedDict, defaultdict, Counter)


class OpaqueError(Exception):
    """An object through which nothing can be seen."""


def look_through(value: Any) -> list[Any]:
    """Return all that there is to see; raise ``OpaqueError`` where something may be hidden."""
    look = _Look()
    look.at(value, 0)
    return look.found


class _Look:
    """One look: what was ``found``, and which objects have been seen."""

    def __init__(self) -> None:
        self.found: list[Any] = []
        # With the object: its identity is its own only as long as it lives.
        self._seen: dict[int, tuple[int, Any]] = {}

    def at(self, value: Any, depth: int) -> None:
        kind = type(value)
        found = self.found
        found.append(kind)
        if kind in _ATOMS:
            found.append(value)
            return
        if kind in _TEXTS:
            found.append(repr(value))
            return
        if depth > _DEEPEST:
            raise OpaqueError
        if kind in _SEERS:
            if not self._is_again(value):
                _SEERS[kind](self, value, depth + 1)
        elif isinstance(value, _NAMED):
            found.append(value)
        elif isinstance(value, enum.Enum):
            found.append(value.name)
        elif isinstance(value, Process):
            # Its world is no part of the state of a node, and to go there would be to look at the whole cluster.
            pass  # a node that keeps its context: storage, timers and random numbers are looked at beside it
        elif not self._is_again(value):
            self._inside(value, kind, depth + 1)

    def _is_again(self, value: Any) -> bool:
        known = self._seen.get(id(value))
        if known is not None:
            self.found.append(known[0])
            return True
        self._seen[id(value)] = len(self._seen), value
        return False

    def _inside(self, value: Any, kind: type, depth: int) -> None:
        if not _is_of_python(kind):
            raise OpaqueError
        if (base := _known_base(kind)) is not None:
            _SEERS[base](self, value, depth)
        self.attributes(value, depth)

    def all(self, values: Any, depth: int) -> None:
        for value in values:
            self.at(value, depth)
        self.found.append(_END)

    def mapping(self, value: dict[Any, Any], depth: int) -> None:
        for key, item in dict.items(value):
            self.at(key, depth)
            self.at(item, depth)
        self.found.append(_END)

    def unordered(self, value: Any, depth: int) -> None:
        """Look at a set: its order is no part of a state, and differs from process to process."""
        looks = [look_through(item) for item in value]
        self.found.append(sorted(map(repr, looks)))

    def attributes(self, value: Any, depth: int) -> None:
        try:
            # Past the class of a node whose reads are noted: to look is not to read.
            own = object.__getattribute__(value, "__dict__")
        except AttributeError:
            own = {}
        self.mapping(own, depth)
        kind: Any = type(value)
        for member in _slots_of(kind):
            self.at(_get_slot(member, value), depth)

    def function(self, value: types.FunctionType, depth: int) -> None:
        self.found.append(value.__code__)
        # What two functions made in one place have apart from each other.
        cells = [cell.cell_contents for cell in value.__closure__ or () if not _is_empty(cell)]
        self.all([*cells, value.__defaults__, value.__kwdefaults__, value.__dict__], depth)

    def call(self, value: Any, depth: int) -> None:
        self.all([value.func, value.args, value.keywords], depth)


#: After the last item of a collection, so that nothing runs into what follows.
_END = object()
_UNSET = "\0unset"

_SEERS: dict[type, Callable[[_Look, Any, int], None]] = {
    list: lambda look, value, depth: look.all(list.__iter__(value), depth),
    tuple: lambda look, value, depth: look.all(tuple.__iter__(value), depth),
    deque: lambda look, value, depth: look.all([value.maxlen, *deque.__iter__(value)], depth),
    dict: _Look.mapping,
    OrderedDict: lambda look, value, depth: look.all([*OrderedDict.items(value)], depth),
    Counter: _Look.mapping,
    defaultdict: lambda look, value, depth: look.all([value.default_factory, *dict.items(value)], depth),
    set: _Look.unordered,
    frozenset: _Look.unordered,
    types.FunctionType: _Look.function,
    types.MethodType: lambda look, value, depth: look.all([value.__func__, value.__self__], depth),
    partial: _Look.call,
    Random: lambda look, value, depth: look.found.append(value.getstate()),
    types.MappingProxyType: lambda look, value, depth: look.all([*value.items()], depth),
}


@cache
def _is_of_python(kind: type) -> bool:
    """Tell whether all of the state of its objects is in attributes: the class is in Python, as are its bases."""
    return all(
        base in _KNOWN or not any(isinstance(member, _OF_C) for member in vars(base).values())
        for base in kind.__mro__
    )


@cache
def _known_base(kind: type) -> type | None:
    """Return the collection from which a class is derived, if it is from one."""
    return next((base for base in kind.__mro__ if base in _SEERS), None)


@cache
def _slots_of(kind: type) -> tuple[types.MemberDescriptorType, ...]:
    """Return what reads the attributes that a class and its bases have in ``__slots__``."""
    found = []
    for base in kind.__mro__:
        slots = base.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            member = base.__dict__.get(_mangled(base, name))
            if isinstance(member, types.MemberDescriptorType):
                found.append(member)
    return tuple(found)


def _mangled(base: type, name: str) -> str:
    hidden = name.startswith("__") and not name.endswith("__")
    return f"_{base.__name__.lstrip('_')}{name}" if hidden else name


def _get_slot(member: Any, value: Any) -> Any:
    try:
        return member.__get__(value)
    except AttributeError:
        return _UNSET


def _is_empty(cell: types.CellType) -> bool:
    try:
        return cell.cell_contents is _UNSET  # never: to look is what matters
    except ValueError:
        return True
