"""What a step depends on besides its input, as far as it can be seen: the clock, chance, and state of its own.

An annotation is about the order of what comes, and is believed.  That a step gives the same for the same input is
what all annotations presuppose, and of that a part can be seen: which operators of the engine are driven by the
clock, and what the code of the user names.  A replay does not bring these back, and neither does a seal, or an
order.  Code is followed into functions and classes of the user, not into libraries.
"""

from __future__ import annotations

import ast
import builtins
import functools
import inspect
from collections import deque
from collections.abc import Iterator, Mapping, MutableMapping, MutableSequence, MutableSet
from dataclasses import dataclass
from types import FunctionType, MethodType, ModuleType
from typing import Any

from clew.errors import Position

#: Operators of Bytewax that the clock drives; other operators are made of them.
_BY_CLOCK = {
    "window": "windows close by the clock",
    "collect": "a timeout ends it",
    "enrich_cached": "entries expire",
}
#: Modules of which everything is chance, and functions that tell what is different the next time.
_CHANCE = ("random", "secrets", "numpy.random")
_CHANGING = {
    "time": (
        ("time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns", "process_time"),
        "clock",
    ),
    "datetime": (("now", "utcnow", "today"), "clock"),
    "uuid": (("uuid1", "uuid4"), "chance"),
    "posix": (("urandom", "getpid", "times"), "process"),
    # That of a text is another one in each process.
    "builtins": (("id", "hash"), "process"),
}
_STATE = "state"
_MUTATORS = frozenset(
    {"add", "append", "appendleft", "clear", "discard", "extend", "insert", "pop", "popleft", "popitem", "remove"}
    | {"setdefault", "update", "subtract", "sort", "reverse"}
)
_MUTABLE = (MutableMapping, MutableSequence, MutableSet, deque)
#: Where Bytewax wakes up logic by the clock.
_WOKEN = "notify_at"


@dataclass(frozen=True)
class Outside:
    """What a step depends on: ``name`` in a word, ``what`` in words, and where it does."""

    name: str
    what: str
    position: Position | None


def find_outside(step: Any) -> Outside | None:
    """Return the first thing besides its input that a step of Bytewax is seen to depend on; None if nothing is."""
    for given in steps_in(step):
        if is_of_bytewax(type(given)) and type(given).__name__ in _BY_CLOCK:
            return Outside("clock", _BY_CLOCK[type(given).__name__], None)
    for given in steps_in(step):
        # The functions that Bytewax makes around those that it was given have nothing of their own to say.
        found = _Followed().look_into_all(value for value in vars(given).values() if callable(value))
        if found is not None:
            return found
    return None


def steps_in(step: Any) -> Iterator[Any]:
    yield step
    for inner in step.substeps:
        yield from steps_in(inner)


class _Followed:
    """Functions and classes that were looked into already."""

    def __init__(self) -> None:
        self._seen: set[int] = set()

    def look_into_all(self, values: Iterator[Any]) -> Outside | None:
        return next((found for value in values if (found := self.look_into(value)) is not None), None)

    def look_into(self, value: Any) -> Outside | None:
        while isinstance(value, functools.partial | MethodType):
            value = value.func if isinstance(value, functools.partial) else value.__func__
        # What is cached is the same code.
        value = inspect.unwrap(value) if callable(value) and not isinstance(value, type) else value
        said = _say_of_library(value, getattr(value, "__name__", ""))
        if said is not None:
            return Outside(*said, None)
        if id(value) in self._seen or not _is_of_user(value):
            return None
        self._seen.add(id(value))
        if isinstance(value, FunctionType):
            return self._look_into_function(value)
        if isinstance(value, type):
            return self._look_into_class(value)
        call = getattr(type(value), "__call__", None)  # noqa: B004  # its code, not whether it has any
        return self._look_into_function(call) if isinstance(call, FunctionType) else None

    def _look_into_class(self, kind: type) -> Outside | None:
        for owner in kind.__mro__:
            if not _is_of_user(owner):
                continue
            for name, member in vars(owner).items():
                if name == _WOKEN and _is_logic(kind) and isinstance(member, FunctionType):
                    return Outside("clock", f"the clock wakes it up ({_WOKEN})", _position(member))
                found = self.look_into(member) if isinstance(member, FunctionType) else None
                if found is not None:
                    return found
        return None

    def _look_into_function(self, function: FunctionType) -> Outside | None:
        known = _names_known_to(function)
        for node in _nodes_of(function):
            said = _say_outside(node, known)
            if said is not None:
                line = getattr(node, "lineno", function.__code__.co_firstlineno)
                return Outside(*said, Position(function.__code__.co_filename, line, 1))
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in known:
                found = self.look_into(known[node.id])
                if found is not None:
                    return found
        return None


# -- the code of a function --------------------------------------------------------------------------------------


def _names_known_to(function: FunctionType) -> Mapping[str, Any]:
    """Return what names mean to a function that are none of its own."""
    own = {*function.__code__.co_varnames, *function.__code__.co_cellvars}
    around = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            around[name] = cell.cell_contents
        except ValueError:
            continue  # not assigned yet
    found = {**vars(builtins), **function.__globals__, **around}
    return {name: value for name, value in found.items() if name not in own}


def _nodes_of(function: FunctionType) -> list[ast.AST]:
    """Return the syntax of a function; nothing if its text is not there."""
    try:
        lines, _ = inspect.findsource(function)
        tree = ast.parse("".join(lines))
    except (OSError, SyntaxError, TypeError, ValueError):
        return []
    first = function.__code__.co_firstlineno
    name = function.__code__.co_name
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == name:
            if first in (node.lineno, *(decorator.lineno for decorator in node.decorator_list)):
                return [inner for statement in node.body for inner in ast.walk(statement)]
        # Several in one line are not told apart.
        elif isinstance(node, ast.Lambda) and name == "<lambda>" and node.lineno == first:
            return list(ast.walk(node.body))
    return []


def _say_outside(node: ast.AST, known: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return the name and the words for what a piece of code depends on; None if that is nothing known."""
    match node:
        case ast.Global([name, *_]) | ast.Nonlocal([name, *_]):
            return _STATE, f"it changes {name}, which is outside"
        case ast.Call(ast.Name("next"), [ast.Name(id=name), *_]) if hasattr(known.get(name), "__next__"):
            return _STATE, f"it takes from {name}, which is outside"
        case ast.Call(ast.Attribute(value=ast.Name(id=name), attr=attribute)) if attribute in _MUTATORS:
            return _say_changed(name, known)
        case ast.Subscript(value=ast.Name(id=name), ctx=ast.Store() | ast.Del()):
            return _say_changed(name, known)
        case ast.Attribute() | ast.Name():
            return _say_changing(node, known)
    return None


def _say_changed(name: str, known: Mapping[str, Any]) -> tuple[str, str] | None:
    is_state = isinstance(known.get(name), _MUTABLE)
    return (_STATE, f"it changes {name}, which is outside") if is_state else None


def _say_changing(node: ast.expr, known: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return the words for what is different at each call, or in each process, if that is what is named."""
    return _say_of_library(_resolve(node, known), ast.unparse(node))


def _say_of_library(named: Any, text: str) -> tuple[str, str] | None:
    if isinstance(named, ModuleType | type) or not callable(named):
        return None
    # Methods of one generator that ``random`` makes, and of the class of dates, are no functions of a module.
    owner = getattr(named, "__self__", None)
    homes = [getattr(thing, "__module__", None) for thing in (named, owner, type(owner))]
    for home in filter(None, map(str, homes)):
        if home in _CHANCE:
            return "chance", f"it draws by chance ({text})"
        names, kind = _CHANGING.get(home, ((), ""))
        if getattr(named, "__name__", "") in names:
            return kind, f"{text} tells something else each time, or in each process"
    return None


def _resolve(node: ast.expr, known: Mapping[str, Any]) -> Any:
    """Return what is named; attributes only of modules and classes, which answer without running code."""
    if isinstance(node, ast.Name):
        return known.get(node.id) if isinstance(node.ctx, ast.Load) else None
    if isinstance(node, ast.Attribute):
        owner = _resolve(node.value, known)
        if isinstance(owner, ModuleType) or (isinstance(owner, type) and type(owner) is type):
            return getattr(owner, node.attr, None)
        if type(owner).__module__ in _CHANCE:
            return getattr(owner, node.attr, None)
    return None


# -- whose it is -------------------------------------------------------------------------------------------------


def _is_of_user(value: Any) -> bool:
    """Tell whether code is the user's: not of Bytewax, of Python, or of what was installed."""
    if isinstance(value, FunctionType):
        file = value.__code__.co_filename
    else:
        kind = value if isinstance(value, type) else type(value)
        file = str(getattr(inspect.getmodule(kind), "__file__", None) or "")
    library = str(inspect.getfile(ast)).rpartition("/")[0]
    return bool(file) and "site-packages" not in file and not file.startswith((library, "<"))


def _is_logic(kind: type) -> bool:
    return any(is_of_bytewax(base) for base in kind.__mro__)


def is_of_bytewax(kind: type) -> bool:
    return kind.__module__.partition(".")[0] == "bytewax"


def _position(function: FunctionType) -> Position:
    return Position(function.__code__.co_filename, function.__code__.co_firstlineno, 1)
