"""The state of reading a program: its rules so far, the block being executed, and the user's lines.

While a method marked with ``@bloom`` runs for the first time, its statements are recorded instead of evaluated.
The capture is a context variable and not an argument, because rules are Python operators: ``a <= b`` has no place
to pass one.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from types import FrameType
from typing import Any

from clew.bloom.ir.program import Rule
from clew.errors import Notice, Position, ProgramError
from clew.files.reading import read_source

#: Frames of these files are not the user's: all of ``bloom``, since the runtime and the IR raise mistakes, too.
_OUR_FILES = str(Path(__file__).parents[1])


@dataclass
class Capture:
    """What was read so far of one program."""

    rules: list[Rule] = field(default_factory=list)
    notices: list[Notice] = field(default_factory=list)
    #: Whether the blocks are outcomes: they see all nodes at once, are only checked, and never run.
    sees_all_nodes: bool = False
    #: The class and the method that is being read, innermost last: a block may call one of its base class.
    blocks: list[tuple[type, str]] = field(default_factory=list)

    @property
    def module(self) -> type:
        return self.blocks[-1][0]

    @property
    def block(self) -> str:
        owner, method = self.blocks[-1]
        return f"{owner.__name__}.{method}"


_CURRENT: ContextVar[Capture | None] = ContextVar("clew_bloom_capture", default=None)


def current_capture() -> Capture | None:
    """Return the capture that rules are recorded in; None outside of reading."""
    return _CURRENT.get()


@contextmanager
def capturing(capture: Capture) -> Iterator[None]:
    """Record rules in this capture."""
    token = _CURRENT.set(capture)
    try:
        yield
    finally:
        _CURRENT.reset(token)


_ACTING_AS: ContextVar[Any] = ContextVar("clew_bloom_node", default=None)


def acting_node() -> Any:
    """Return the node that a function is called for while a program is checked; None while it runs."""
    return _ACTING_AS.get()


@contextmanager
def acting_as(node: Any) -> Iterator[None]:
    """Let ``self.ip_port`` be this node: the checker calls one function for many nodes, the runtime for one."""
    token = _ACTING_AS.set(node)
    try:
        yield
    finally:
        _ACTING_AS.reset(token)


# -- where it stands in the user's file --------------------------------------------------------------------------


def user_position() -> Position | None:
    """Return the place in the user's program that is being executed."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_OUR_FILES):
        frame = frame.f_back
    return None if frame is None else position_in(frame)


def position_in(frame: FrameType, instruction: int | None = None) -> Position:
    """Return the place of an instruction, or else of the one that a frame has reached."""
    at = frame.f_lasti if instruction is None else instruction
    line = frame.f_lineno if instruction is None else None
    places = list(frame.f_code.co_positions())
    # Bytecode comes in units of two bytes; co_positions() has one entry a unit, inline caches included.
    if at // 2 < len(places):
        start, _, column, _ = places[at // 2]
        return Position(frame.f_code.co_filename, start or line or 1, (column or 0) + 1)
    return Position(frame.f_code.co_filename, line or 1, 1)


def position_of_error(error: BaseException) -> Position | None:
    """Return the innermost place of the user's program that an exception went through."""
    found = None
    trace: Any = error.__traceback__
    while trace is not None:
        if not trace.tb_frame.f_code.co_filename.startswith(_OUR_FILES):
            found = position_in(trace.tb_frame, trace.tb_lasti)
        trace = trace.tb_next
    return found


def mistake(message: str, remedy: str, position: Position | None = None) -> ProgramError:
    """Make an error that names the class and the block that is being read."""
    capture = current_capture()
    where = f"{capture.block}: " if capture is not None and capture.blocks else ""
    return ProgramError(where + message, position=position or user_position(), remedy=remedy)


def statement_at(position: Position | None) -> str | None:
    """Return the statement around a place, in one line; None if the file cannot be read (any more)."""
    if position is None:
        return None
    text, tree = _parse_source(position.file)
    best: ast.stmt | None = None
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt) and node.lineno <= position.line <= (node.end_lineno or node.lineno):
            best = node  # ast.walk goes breadth first, so inner statements come later
    # Anything but an expression is a statement around the rule, such as a loop whose body is on the same line.
    segment = ast.get_source_segment(text, best) if isinstance(best, ast.Expr) else None
    return " ".join(segment.split()) if segment else None


@lru_cache(maxsize=16)  # one lookup for each rule, and a program has few files
def _parse_source(file: str) -> tuple[str, ast.Module]:
    try:
        text = read_source(file).decode("utf-8")
        return text, ast.parse(text)
    except (OSError, ValueError, SyntaxError):
        return "", ast.Module([], [])  # edited or deleted since it was imported: reports do without the text
