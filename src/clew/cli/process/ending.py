"""How a command ends: every way out of it leads to the exit code that docs/reliability.md promises.

An answer (0, 1, 3) leaves a command by ``SystemExit``: raised, and not asked of ``sys.exit``, in whose place the
user's code may have put something else.  A refusal (2) is a ``ClewError`` or click's own.  Whatever else comes out
of it is a failure of Clew or of its surroundings (4), and so is an answer that was found but could not be told in
full: an explanation that broke off by a mistake of ours, or a disk without room for the text.
"""

from __future__ import annotations

import io
import traceback
from collections.abc import Callable
from contextlib import suppress
from itertools import islice
from pathlib import Path

import click

from clew.cli.process.places import is_of_user, show_place
from clew.cli.process.state import CommandState
from clew.cli.process.streams import flush, warn
from clew.errors import (
    BudgetExhaustedError,
    ClewError,
    OutputError,
    Position,
    describe_exception,
    is_quotable,
    render,
)
from clew.files.reading import read_source
from clew.results import BAD_INPUT, FAILED, HOLDS, INCOMPLETE

#: The frames of Clew, from which the place of a failure is taken.
_CLEW = Path(__file__).resolve().parents[2]

_OURS = (
    "this is no answer about your program but a mistake in Clew: please report it, with the command and what it "
    "prints with --traceback"
)
SURROUNDINGS_HINT = "this is no answer about your program: see to the disk and the limits of the machine"

#: A line longer than this is not shown: the caret would be lost on a terminal.
_WIDEST = 160


def conclude(command: Callable[[], object], state: CommandState) -> int:
    """Perform a command to its end and return the exit code."""
    code = _perform(command, state)
    flush(state)
    if state.failures and code != FAILED:
        _tell(state.failures[0], state)
        return FAILED
    return code


def _perform(command: Callable[[], object], state: CommandState) -> int:
    try:
        command()
    except SystemExit as end:
        if (place := _place_outside(end)) is not None:
            warn(f"error: your code ended the command by SystemExit, in {place}\n  remedy: let it return")
            return BAD_INPUT
        if end.code is None or isinstance(end.code, int):
            return end.code or HOLDS
        return _tell(end, state)  # a text: not raised by a command of ours
    except click.ClickException as error:
        with suppress(OSError):
            error.show()
        return BAD_INPUT
    except (KeyboardInterrupt, click.Abort):
        warn("interrupted")
        return INCOMPLETE
    except ClewError as error:
        warn(_show_error(error))
        return FAILED if isinstance(error, OutputError) else BAD_INPUT
    except BudgetExhaustedError as limit:
        warn(f"incomplete: {limit}")
        return INCOMPLETE
    except MemoryError:
        warn("incomplete: memory ran out")
        return INCOMPLETE
    except RecursionError:
        warn("incomplete: what was given is nested too deeply")
        return INCOMPLETE
    except BaseException as failure:  # whatever it is, it is no answer
        # Ctrl-C while an import makes a dataclass: before Python 3.12 it comes as the cause of a RuntimeError.
        if isinstance(failure.__cause__, KeyboardInterrupt):
            warn("interrupted")
            return INCOMPLETE
        if (place := _place_in_user_code(failure)) is not None:
            _show_traceback(failure, state)
            what = describe_exception(failure)
            warn(f"error: your code raised {what}, in {place}\n  remedy: let it return, whatever it is given")
            return BAD_INPUT
        return _tell(failure, state)
    return HOLDS


def _tell(failure: BaseException, state: CommandState) -> int:
    """Say in one line what failed, and what to do."""
    _show_traceback(failure, state)
    what = " ".join(f"{type(failure).__name__}: {failure}".split())
    warn(f"clew failed: {what}{_place(failure)}")
    warn(f"  {SURROUNDINGS_HINT if isinstance(failure, OSError) else _OURS}")
    return FAILED


def _show_traceback(failure: BaseException, state: CommandState) -> None:
    if state.traceback:
        warn("".join(traceback.format_exception(failure)).rstrip())


def _place_outside(end: SystemExit) -> str | None:
    """Name the line that raised it, if that is none of Clew: an answer leaves a command from here only."""
    frames = traceback.extract_tb(end.__traceback__)
    if not frames or _CLEW in Path(frames[-1].filename).parents:
        return None
    return f"{frames[-1].name} at {frames[-1].filename}:{frames[-1].lineno}"


def _place_in_user_code(failure: BaseException) -> str | None:
    """Name the line of the user's files that was being executed, unless code of ours was, called from there."""
    for frame in reversed(traceback.extract_tb(failure.__traceback__)):
        if _CLEW in Path(frame.filename).parents:
            return None
        if is_of_user(frame.filename):
            return show_place(frame.name, frame.filename, frame.lineno or 1)
    return None


def _place(failure: BaseException) -> str:
    """Name the innermost line of Clew that was being executed."""
    for frame in reversed(traceback.extract_tb(failure.__traceback__)):
        file = Path(frame.filename)
        if _CLEW in file.parents:
            return f" (in {file.relative_to(_CLEW.parent)}, line {frame.lineno})"
    return ""


# -- errors with their place --------------------------------------------------------------------------------------


def _show_error(error: ClewError) -> str:
    """Show an error with the line of the program that it is about, and a caret under the place."""
    lines = [render("error", error.message, error.position, None)]
    if error.position:
        lines += _show_line(error.position)
    if error.remedy:
        lines.append(f"  remedy: {error.remedy}")
    return "\n".join(lines)


def _show_line(position: Position) -> list[str]:
    # Documents and programs can name any file, and messages go into logs that others read.
    if not is_quotable(position.file):
        return []
    try:
        text = read_source(position.file).decode("utf-8-sig")
    except (OSError, ValueError):
        return []
    # As files are read by lines: a form feed or a paragraph separator ends none.
    lines = io.StringIO(text, newline=None)
    line = next(islice(lines, position.line - 1, None), "").rstrip("\n").replace("\t", " ")
    if not line.isprintable() or len(line) > _WIDEST:
        return []
    return [f"    {line}", "    " + " " * (position.column - 1) + "^"]
