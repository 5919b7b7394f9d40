"""Values that a function uses from outside: followed through modules, classes and other functions."""

from __future__ import annotations

import enum
import functools
import operator
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from types import BuiltinFunctionType, FunctionType, MethodDescriptorType, MethodType, ModuleType
from typing import Any, NamedTuple

from clew.bloom.ir.function_code import HasCollections, NamesCollection
from clew.bloom.purity.assignments import is_stored, methods_of
from clew.bloom.purity.code import FunctionCode
from clew.bloom.purity.known import (
    BUILTINS,
    GETTERS,
    OWN_TYPES,
    VALUE_TYPES,
    ImpureError,
    is_listed,
    is_of_library,
    refuse_hidden,
)  # fmt: skip
from clew.bloom.values import is_immutable


class FoundIn(NamedTuple):
    """A name and the globals, or what a module or class has, where a function finds its value."""

    names: Mapping[str, Any]
    name: str


_DESCRIPTORS = (property, staticmethod, classmethod)


class Following:
    """Follows all names that a function uses; raises ``ImpureError`` at the first that is not pure."""

    def __init__(self) -> None:
        # Compared by identity: two values may be equal and do different things.
        self._seen: list[Any] = []
        self._addressed = ""
        self._showing = 0
        #: Where each name was found that somebody can give another value, without a trace in the code beside it.
        self.found_in: list[FoundIn] = []

    def note_addressed(self, name: str) -> None:
        """Note a class whose objects show their address as text; refuse it together with what makes text."""
        self._addressed = self._addressed or name
        self._refuse_address()

    def note_showing(self, line: int) -> None:
        """Note that a line makes text of something; refuse that together with a class that shows addresses."""
        self._showing = self._showing or line
        self._refuse_address()

    def _refuse_address(self) -> None:
        # Which object is shown is not followed.  Classes without a text of their own are rare in functions of
        # rows, so that hardly any function is refused that keeps the two apart.
        if self._addressed and self._showing:
            raise ImpureError(f"the address of {self._addressed} in a text (line {self._showing})")

    def note_found(self, owner: Any, name: str) -> None:
        """Note that a name is looked up in globals, a module or a class."""
        if isinstance(owner, dict):
            self.found_in.append(FoundIn(owner, name))
            return
        places = owner.__mro__ if isinstance(owner, type) else (owner,)
        # What a class has itself, and not what it gives: a class method is a new object each time.
        place = next((vars(each) for each in places if name in vars(each)), vars(owner))
        self.found_in.append(FoundIn(place, name))

    # -- values --------------------------------------------------------------------------------------------------

    def use(self, value: Any, name: str) -> None:
        """Allow a value from outside, or refuse it."""
        if _is_plain(value) or isinstance(value, NamesCollection) or any(value is known for known in self._seen):
            return
        self._seen.append(value)
        # By what the value is, from the harmless to the unknown: whatever no case knows is refused.
        match value:
            case _ if isinstance(value, VALUE_TYPES) and not isinstance(value, enum.Enum):
                # It cannot change, but a class of its own says what is done with it.
                # A tuple cannot change, and what is in it may.
                for one in value if isinstance(value, tuple | frozenset) else ():
                    self.use(one, name)
                self.use(type(value), type(value).__name__)
            case FunctionType():
                # Python's own functions are not followed: they end in C, and most touch something.
                if is_of_library(value) and not is_listed(value.__module__, value.__name__):
                    raise ImpureError(name)
                self._function(value)
            case MethodType():
                self._method(value, name)
            case functools.partial():
                self.use(value.func, name)
                for given in (*value.args, *value.keywords.values()):
                    self.use(given, f"{name}, which is given something that can change")
            case type():
                self._class(value, name)
            case _ if isinstance(value, BuiltinFunctionType | MethodDescriptorType):
                self._builtin(value, name)
            case _ if type(value).__name__ == "_lru_cache_wrapper":
                self.use(value.__wrapped__, name)
            case enum.Enum():
                self.use(value.value, f"{name}.value")
            case operator.attrgetter() | operator.methodcaller():
                refuse_hidden(name, *(n for n in value.__reduce__()[1] if isinstance(n, str)))
            case _ if isinstance(value, GETTERS):
                return
            case _ if is_dataclass(value) and getattr(type(value), "__dataclass_params__").frozen:  # noqa: B009
                self.use(type(value), type(value).__name__)
                for field in fields(value):
                    self.use(getattr(value, field.name), f"{name}.{field.name}")
            case _:
                raise ImpureError(f"{name}, which can change")

    def _method(self, method: MethodType, name: str) -> None:
        owner = method.__self__
        if isinstance(owner, HasCollections):
            self._function(method.__func__, owner)  # type: ignore[arg-type]  # of a class in Python
        else:
            self.use(owner, name)
            self.use(method.__func__, name)

    def _builtin(self, value: Any, name: str) -> None:
        owner = getattr(value, "__self__", None)
        if isinstance(value, MethodDescriptorType):
            # ``str.upper`` is a function of its argument; ``list.append`` changes it.
            allowed = value.__objclass__ in VALUE_TYPES
        elif owner is not None and not isinstance(owner, ModuleType):
            allowed = is_immutable(owner) or (isinstance(owner, type) and owner in OWN_TYPES)
        elif value.__module__ == "builtins":
            allowed = value.__name__ in BUILTINS
        else:
            allowed = is_listed(value.__module__ or "", value.__name__)
        if not allowed:
            raise ImpureError(name)

    def _class(self, kind: type, name: str) -> None:
        # Exceptions are allowed: raising one ends the step at every node in the same way.
        if kind.__module__ == "builtins":
            if kind.__name__ not in BUILTINS and not issubclass(kind, BaseException):
                raise ImpureError(name)
            return
        if is_listed(kind.__module__, kind.__name__) or issubclass(kind, enum.Enum):
            return
        if is_of_library(kind):
            raise ImpureError(name)
        # A metaclass answers for attributes that are nowhere in the class, in code that no name leads to.
        if type(kind).__module__ not in ("builtins", "abc", "enum"):
            raise ImpureError(f"{name}, whose class has a class of its own")
        if kind.__repr__ is object.__repr__:
            self.note_addressed(name)
        for factory in (f.default_factory for f in (fields(kind) if is_dataclass(kind) else ())):
            if factory is not MISSING:
                self.use(factory, f"{name}, a field of which begins with a function's result")
        for base in kind.__mro__[:-1]:
            # Its fields are descriptors in C, which no name leads into.
            named_tuple = issubclass(base, tuple) and "_fields" in vars(base)
            for attribute, value in vars(base).items() if not is_of_library(base) else ():
                methods = methods_of(value)
                for method in methods:
                    # Methods that dataclasses and named tuples get have no file to point to, and do nothing else.
                    if not _is_generated(method):
                        self._function(method, own=True)
                if methods or attribute.startswith("__") or named_tuple:
                    continue
                if is_stored(attribute, base):
                    raise ImpureError(f"{name}.{attribute}, which others change")
                self.note_found(base, attribute)
                if not isinstance(value, _DESCRIPTORS):
                    self.use(value, f"{name}.{attribute}")

    # -- code ----------------------------------------------------------------------------------------------------

    def _function(self, function: FunctionType, owner: Any = None, *, own: bool = False) -> None:
        """Follow the code of a function.

        ``owner``: what the first parameter is.  ``own``: that is an object that was made during the call.
        """
        if is_listed(function.__module__ or "", function.__name__):
            return
        for value in (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()):
            self.use(value, "a default value")
        first = function.__code__.co_varnames[:1] if owner is not None else ()
        FunctionCode(self, function, owner, own).follow(function.__code__, frozenset(), first)


def _is_plain(value: Any) -> bool:
    """Return whether it cannot change, and all that can be done with it is what Python does."""
    if type(value) in (tuple, frozenset):
        return all(map(_is_plain, value))
    return is_immutable(value) and (
        value is None or type(value) in VALUE_TYPES or type(value).__module__.startswith("clew.bloom.")
    )


def _is_generated(method: FunctionType) -> bool:
    """Return whether ``dataclasses`` or ``NamedTuple`` made a method: these compare, show and set columns."""
    known = method.__globals__.get("__name__")
    return method.__code__.co_filename == "<string>" or known in ("dataclasses", "reprlib", "collections")
