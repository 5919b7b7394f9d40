"""End suspended coroutines without running a line of them.

A host that crashes does nothing more: no ``finally``, no ``except``, no ``__aexit__``.  But Python closes a suspended
coroutine when nobody refers to it any more, and that runs all of these.  To refer to it for ever would be a leak.
So its frame is told that it has been completed, by which Python takes it apart and executes nothing.

That field is not accessible from Python.  Where it is, is found out once, by looking at generators in different
states, and tried out; where it cannot be found, coroutines of dead lives are kept instead.
"""

from __future__ import annotations

import ctypes
import gc
import inspect
import types
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

_KINDS = (types.CoroutineType, types.GeneratorType, types.AsyncGeneratorType)
#: What CPython 3.11 to 3.13 call a frame that has returned.
_COMPLETED = 1
#: So many objects are looked at in a dead life: what has more keeps some of its generators.
_MOST_OBJECTS = 50_000
#: What is not searched for generators: there are none of this life in it.
_OPAQUE = (type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.CodeType, str, bytes, int)

_kept: list[Any] = []


def end_silently(tasks: Iterable[Any], generators: Iterable[Any]) -> None:
    """End tasks that are not done, and everything that they have begun."""
    roots = [*tasks, *(generator for generator in generators if generator is not None)]
    for root in roots:
        if hasattr(root, "_log_destroy_pending"):
            root._log_destroy_pending = False
        if hasattr(root, "_log_traceback"):
            root._log_traceback = False
    offset = _find_state()
    for suspended in _find_suspended(roots):
        if offset is None:
            _kept.append(suspended)
        else:
            _mark_completed(suspended, offset)


def _find_suspended(roots: list[Any]) -> Iterator[Any]:
    """Yield the coroutines and generators that can be reached from these and are suspended."""
    seen: dict[int, Any] = {}
    work = list(roots)
    while work and len(seen) < _MOST_OBJECTS:
        one = work.pop()
        if id(one) in seen or isinstance(one, _OPAQUE):
            continue
        seen[id(one)] = one
        if isinstance(one, _KINDS) and _is_suspended(one):
            yield one
        if not getattr(type(one), "is_machinery", False):
            work += gc.get_referents(one)


def _is_suspended(one: Any) -> bool:
    if isinstance(one, types.CoroutineType):
        return inspect.getcoroutinestate(one) in (inspect.CORO_SUSPENDED, inspect.CORO_CREATED)
    if isinstance(one, types.GeneratorType):
        return inspect.getgeneratorstate(one) in (inspect.GEN_SUSPENDED, inspect.GEN_CREATED)
    return one.ag_frame is not None and not one.ag_running


def _mark_completed(suspended: Any, offset: int) -> None:
    ctypes.c_int8.from_address(id(suspended) + offset).value = _COMPLETED


def _count() -> Iterator[int]:
    try:
        yield 1
        yield 2
    finally:
        _ran.append(1)


_ran: list[int] = []


@cache
def _find_state() -> int | None:
    """Return where in a generator the state of its frame is; None if that cannot be found."""
    size = types.GeneratorType.__basicsize__
    created, suspended, done = _count(), _count(), _count()
    next(suspended)
    list(done)
    looks = [bytes((ctypes.c_char * size).from_address(id(one))) for one in (created, suspended, done)]
    signed = [[byte - 256 if byte > 127 else byte for byte in look] for look in looks]
    found = [
        place
        for place in range(size)
        # Created before suspended, both below 0; what is done is above.
        if signed[0][place] in (-3, -2) and signed[1][place] in (-2, -1) and signed[2][place] in (1, 4)
        and signed[0][place] < signed[1][place]
    ]  # fmt: skip
    return found[0] if len(found) == 1 and _works(found[0]) else None


def _works(offset: int) -> bool:
    """Try it out: a generator that is marked goes away, and runs nothing."""
    trial = _count()
    next(trial)
    _ran.clear()
    _mark_completed(trial, offset)
    del trial
    return not _ran
