"""End suspended coroutines without running a line of them.

A host that crashes does nothing more: no ``finally``, no ``except``, no ``__aexit__``.  But Python closes a
suspended coroutine when nobody refers to it any more, and that runs all of these.  To refer to it for ever would
be a leak. So its frame is told that it has been completed, by which Python takes it apart and executes nothing.

That field is not accessible from Python.  Where it is, is found out once, by looking at generators in different
states, and tried out; where it cannot be found, coroutines of dead lives are kept instead.

Hosts are in one process and may share objects.  So at first only what a task itself has begun is looked for, in
its variables and what these contain; and what goes on in another host is protected.  After a crash, objects of the
program are looked through as well: generators in them end silently, too, and their ``__del__`` is not called,
unless they can be reached from another host.  At the end of an execution nobody looks through all of them, which
would take longer than many an execution.
"""

from __future__ import annotations

import ctypes
import gc
import inspect
import sys
import types
from collections import deque
from collections.abc import Iterable, Iterator
from functools import cache, partial
from typing import Any

_KINDS = (types.CoroutineType, types.GeneratorType, types.AsyncGeneratorType)
#: What CPython 3.11 to 3.13 call a frame that has returned.
_COMPLETED = 1
#: What is looked through for generators that a function has begun: containers, and what stacks up contexts.
_TRANSPARENT = (list, tuple, set, dict, deque, types.MethodType, partial)
_CONTEXTS = ("_GeneratorContextManager", "_AsyncGeneratorContextManager", "ExitStack", "AsyncExitStack")
_DEEPEST = 12

#: What could not be ended silently, and so is never ended.
_kept: list[Any] = []


def end_silently(tasks: Iterable[Any], generators: Iterable[Any], others: Iterable[Any]) -> None:
    """End tasks that are not done, and everything that they have begun; ``others`` are tasks that go on."""
    dead = [task for task in tasks if not task.done()]
    for task in tasks:
        task._log_destroy_pending = False
        task._log_traceback = False
    offset = _find_state()
    if offset is None:
        _kept.extend(dead)
        return
    roots = [*(task.get_coro() for task in dead), *(each for each in generators if each is not None)]
    protected = _find_begun(task.get_coro() for task in others)
    for identity, suspended in _find_begun(roots).items():
        if identity not in protected:
            _mark_completed(suspended, offset)


def end_objects(tasks: Iterable[Any], others: Iterable[Any], shared: Iterable[Any]) -> None:
    """Let objects that only these tasks refer to go without running their generators and finalizers.

    ``others`` are tasks that go on, and ``shared`` is what hosts are started with.
    """
    offset = _find_state()
    if offset is None:
        return
    kept = _find_reachable([*(task.get_coro() for task in others), *shared])
    for identity, one in _find_reachable([task.get_coro() for task in tasks if not task.done()]).items():
        if identity in kept:
            continue
        if isinstance(one, _KINDS):
            if _is_suspended(one):
                _mark_completed(one, offset)
        elif isinstance(getattr(type(one), "__del__", None), types.FunctionType) and _can_be_finalized():
            _mark_finalized(one)


def _find_reachable(roots: Iterable[Any]) -> dict[int, Any]:
    """Return all that can be reached, by identity; neither modules, classes and functions nor beyond them."""
    found = {id(root): root for root in roots}
    latest = list(found.values())
    while latest:
        reached = {id(one): one for one in gc.get_referents(*latest) if gc.is_tracked(one)}
        new = {k: one for k, one in reached.items() if k not in found and not _is_border(one)}
        found |= new
        latest = list(new.values())
    return found


def _is_border(one: Any) -> bool:
    return isinstance(one, _BORDERS) or getattr(type(one), "is_machinery", False)


#: Beyond these is what all hosts share, and by frames and tracebacks Clew itself.
_BORDERS = (
    type,
    types.ModuleType,
    types.FunctionType,
    types.BuiltinFunctionType,
    types.CodeType,
    types.FrameType,
    types.TracebackType,
)


def _mark_finalized(one: Any) -> None:
    """Let the finalizer of an object count as called: a bit of the word before it, the collector's link back."""
    ctypes.c_size_t.from_address(id(one) - ctypes.sizeof(ctypes.c_size_t)).value |= 1


@cache
def _can_be_finalized() -> bool:
    """Try it out, where that bit is known to be free in the link of every object."""
    trial = _Trial()
    if sys.version_info >= (3, 14) or not gc.is_tracked(trial) or gc.is_finalized(trial):
        return False
    _mark_finalized(trial)
    return gc.is_finalized(trial)


class _Trial:
    """An object like those of programs."""


def _find_begun(roots: Iterable[Any]) -> dict[int, Any]:
    """Return what is suspended of these, what they wait for, and what they have begun, by identity."""
    found: dict[int, Any] = {}
    seen: dict[int, Any] = {}
    work = [(root, 0) for root in roots]
    while work:
        one, depth = work.pop()
        if id(one) in seen or depth > _DEEPEST:
            continue
        seen[id(one)] = one
        if isinstance(one, _KINDS):
            if _is_suspended(one):
                found[id(one)] = one
            # What they wait for may be something of C that refers to a generator: in between, nothing is lost.
            work += [(each, 1) for each in gc.get_referents(one) if _is_passed_through(each)]
        else:
            work += [(each, depth + 1) for each in gc.get_referents(one) if _is_passed_through(each)]
    return found


def _is_passed_through(one: Any) -> bool:
    """Tell whether there may be something in it that belongs to whoever refers to it."""
    kind = type(one)
    if isinstance(one, _KINDS) or kind in _TRANSPARENT:
        return True
    return kind.__name__ in _CONTEXTS or kind.__name__ in _ASKED


#: What waits for an async generator, or for a coroutine by ``__await__``.
_ASKED = ("async_generator_asend", "async_generator_athrow", "coroutine_wrapper", "anext_awaitable")


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
    states = [[byte - 256 if byte > 127 else byte for byte in look] for look in looks]
    found = [place for place, state in enumerate(zip(*states, strict=True)) if _are_states(*state)]
    return found[0] if len(found) == 1 and _works(found[0]) else None


def _are_states(created: int, suspended: int, done: int) -> bool:
    """Tell whether these can be the states of three frames: what is not done is below 0."""
    return created in (-3, -2) and suspended in (-2, -1) and created < suspended and done in (1, 4)


def _works(offset: int) -> bool:
    """Try it out: a generator that is marked goes away, and runs nothing."""
    trial = _count()
    next(trial)
    _ran.clear()
    _mark_completed(trial, offset)
    del trial
    return not _ran
