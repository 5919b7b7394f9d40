"""Call functions of the user: which of them can be called at all, and whose mistake it is when they raise.

What a handler raises is a finding.  What a function raises that is only *asked* something (an invariant, a maker
of events, a fingerprint) is a mistake in the scenario, and what code of Clew raises is neither.

Functions whose calls execute nothing are refused: ``async def``, and those with ``yield``.  A call of one of these
only makes an object that nobody runs.  An async handler was once called and never awaited, and the answer was that
no violation was found.
"""

from __future__ import annotations

import dis
import errno
import inspect
import traceback
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from functools import partial
from pathlib import Path
from types import CodeType
from typing import Any, NoReturn, TypeVar

from clew.errors import ClewError, Position, UsageError


def refuse_suspended(what: str, function: Any) -> None:
    """Refuse a function that executes nothing when it is called; ``what`` names it in the message."""
    # Looked through as far as possible; what remains shows in its result (``refuse_suspended_result``).
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
        # Or Python warns, later and somewhere else, that it was never awaited.
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


T = TypeVar("T")

#: What is in here is ours, not the user's.
_CLEW = Path(__file__).resolve().parents[1]


class StoppedError(BaseException):
    """Raised in the midst of the user's code to stop it; no other code of ours lets it pass for the user's."""


def ask(what: str, function: Callable[..., T], *arguments: Any, remedy: str) -> T:
    """Return the answer of a function; ``what`` says which one it is, should it raise."""
    try:
        result = function(*arguments)
        refuse_suspended_result(what, result)
        return result
    except StoppedError:
        raise
    except BaseException as error:
        raise blame(what, error, remedy) from error


def blame(what: str, error: BaseException, remedy: str) -> ClewError:
    """Return the error to raise instead of one that was raised; for where ``ask``, a call more, costs too much."""
    if isinstance(error, ClewError):
        return error
    raise_own_failure(error)
    return UsageError(f"{what} raised {type(error).__name__}: {error}", position=line_of(error), remedy=remedy)


def raise_own_failure(error: BaseException) -> None:
    """Raise again what a function of Clew raised that the user's code called: that is no finding about the user's.

    What stands in for a built-in type (``Durable`` for a dictionary) raises as that does, on behalf of its caller.
    """
    # Only the innermost: the outermost is always ours, for it called the user's code.
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    code = frames[-1].f_code
    if is_ours(code.co_filename) and len(frames) > 1 and code not in STANDING_IN:
        raise error


#: What mistakes raise, and the calls of the user do not: wrong arguments are TypeErrors and ValueErrors.
_MISTAKES = (
    *(ArithmeticError, AssertionError, AttributeError, LookupError, MemoryError, NameError, RuntimeError),
    SystemExit,
)
#: What the machine says; the other errors of this kind are those of networks.
_OF_MACHINE = {errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOSPC}
#: By a 'raise', or by 'await' what somebody else has raised.
_MEANT = {"RAISE_VARARGS", "RERAISE", "SEND", "YIELD_VALUE", "CLEANUP_THROW"}


def is_mistake_of_ours(error: BaseException) -> bool:
    """Tell whether a function of Clew has failed, which may raise on purpose, too, as ``asyncio`` does."""
    innermost = error.__traceback__
    while innermost is not None and innermost.tb_next is not None:
        innermost = innermost.tb_next
    is_of_machine = isinstance(error, OSError) and error.errno in _OF_MACHINE
    if innermost is None or not (isinstance(error, _MISTAKES) or is_of_machine):
        return False
    code = innermost.tb_frame.f_code
    if not is_ours(code.co_filename) or code in STANDING_IN:
        return False
    return isinstance(error, AssertionError) or dis.opname[code.co_code[innermost.tb_lasti]] not in _MEANT


#: Functions that raise on behalf of the user's code that calls them.
STANDING_IN: set[CodeType] = set()


def line_of(error: BaseException) -> Position | None:
    """Return the innermost line of the user's code that was running."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if not is_ours(f.filename)]
    return Position(frames[-1].filename, frames[-1].lineno or 1, 1) if frames else None


def is_ours(file: str) -> bool:
    """Tell whether a file of code is part of Clew, not of the user's code."""
    return _CLEW in Path(file).parents


def name_of(function: Any) -> str:
    return str(getattr(function, "__name__", type(function).__name__))
