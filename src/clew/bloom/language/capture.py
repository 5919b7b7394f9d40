"""Reading the rules of a block: where they stand, and the block and class that they belong to.

While a method marked with ``@bloom`` runs for the first time, its statements are recorded instead of evaluated.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from clew.errors import Notice, Position, ProgramError

if TYPE_CHECKING:
    from clew.bloom.ir.program import Rule

#: Frames of these files are not the user's: all of ``bloom``, since the runtime and the IR raise mistakes, too.
_OUR_FILES = str(Path(__file__).parents[1])


@dataclass
class Capture:
    """What was read so far of one program."""

    rules: list[Rule] = field(default_factory=list)
    notices: list[Notice] = field(default_factory=list)
    #: Whether the block is about all nodes together: it is only checked, and never runs.
    outside: bool = False
    #: The class and the method that is being read, innermost last.
    blocks: list[tuple[type, str]] = field(default_factory=list)

    @property
    def module(self) -> type:
        return self.blocks[-1][0]

    @property
    def block(self) -> str:
        owner, method = self.blocks[-1]
        return f"{owner.__name__}.{method}"


_CURRENT: ContextVar[Capture | None] = ContextVar("clew_bloom_capture", default=None)


def current() -> Capture | None:
    """The reading that is going on, if one is."""
    return _CURRENT.get()


@contextmanager
def capturing(capture: Capture) -> Iterator[None]:
    token = _CURRENT.set(capture)
    try:
        yield
    finally:
        _CURRENT.reset(token)


_ACTING_AS: ContextVar[Any] = ContextVar("clew_bloom_node", default=None)


def acting_node() -> Any:
    """The node that a function is called for while a program is checked; None while it runs."""
    return _ACTING_AS.get()


@contextmanager
def acting_as(node: Any) -> Iterator[None]:
    token = _ACTING_AS.set(node)
    try:
        yield
    finally:
        _ACTING_AS.reset(token)


def user_position() -> Position | None:
    """The place in the user's program that is being executed."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_OUR_FILES):
        frame = frame.f_back
    return None if frame is None else position_in(frame)


def position_in(frame: FrameType, instruction: int | None = None) -> Position:
    at = frame.f_lasti if instruction is None else instruction
    line = frame.f_lineno if instruction is None else None
    places = list(frame.f_code.co_positions())
    if at // 2 < len(places):
        start, _, column, _ = places[at // 2]
        return Position(frame.f_code.co_filename, start or line or 1, (column or 0) + 1)
    return Position(frame.f_code.co_filename, line or 1, 1)


def mistake(message: str, remedy: str, position: Position | None = None) -> ProgramError:
    """An error that names the class and the block that is being read."""
    capture = current()
    where = f"{capture.block}: " if capture is not None and capture.blocks else ""
    return ProgramError(where + message, position=position or user_position(), remedy=remedy)


def position_of_error(error: BaseException) -> Position | None:
    """The innermost place of the user's program that an exception went through."""
    found = None
    trace: Any = error.__traceback__
    while trace is not None:
        if not trace.tb_frame.f_code.co_filename.startswith(_OUR_FILES):
            found = position_in(trace.tb_frame, trace.tb_lasti)
        trace = trace.tb_next
    return found
