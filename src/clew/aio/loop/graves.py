"""End suspended coroutines without running a line of them.

A host that crashes does nothing more: no ``finally``, no ``except``, no ``__aexit__``.  But Python closes a
suspended coroutine when nobody refers to it any more, and that runs all of these.  To refer to it for ever would
be a leak. So its frame is told that it has been completed, by which Python takes it apart and executes nothing.

That field is not accessible from Python.  Where it is, is found out once, by looking at generators in different
states, and tried out; where it cannot be found, coroutines of dead lives are kept instead.

Hosts are in one process and may share objects.  So only what a task itself has begun is looked for, in its
variables and what these contain, and never in objects of the program; and what goes on in another host is
protected.
"""

from __future__ import annotations

import ctypes
import gc
import inspect
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
