"""Functions whose calls execute nothing: ``async def``, and those with ``yield``.

The simulation calls handlers, invariants and the like as functions.  A call of one of these only makes an object
that nobody runs, so that nothing would ever happen and nothing would ever be violated.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncGenerator, Coroutine, Generator
from functools import partial
from typing import Any, NoReturn

from clew.errors import Position, UsageError


def refuse_suspended(what: str, function: Any) -> None:
    """Refuse a function that executes nothing when it is called; ``what`` names it in the message."""
    while isinstance(function, partial):
        function = function.func
    if callable(function) and not hasattr(function, "__code__"):
        function = type(function).__call__  # an object that is called
    if callable(function):
        function = inspect.unwrap(function)
    code = getattr(function, "__code__", None)
    if code is None:
        return
    if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
        _refuse(f"{what} is an async function", Position(code.co_filename, code.co_firstlineno, 1))
    if inspect.isgeneratorfunction(function):
        _refuse(f"{what} is a generator: it has a 'yield'", Position(code.co_filename, code.co_firstlineno, 1))


def refuse_suspended_result(what: str, result: Any) -> None:
    """Refuse what a call returned instead of being executed, such as the coroutine of a wrapped function."""
    if isinstance(result, Coroutine | Generator):
        result.close()
        _refuse(f"{what} returned a {type(result).__name__}", None)
    if isinstance(result, AsyncGenerator):
        _refuse(f"{what} returned an async generator", None)


def _refuse(what: str, position: Position | None) -> NoReturn:
    raise UsageError(
        f"{what}, and nobody would execute it",
        position=position,
        remedy="write a plain function; a node waits for an answer by handling the message that brings it",
    )
