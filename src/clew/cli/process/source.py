"""An error with the line of the program it is about, and a caret under the place."""

from __future__ import annotations

import io
from itertools import islice

from clew.errors import ClewError, Position, is_quotable, render
from clew.files.reading import read_source

#: A line longer than this is not shown: the caret would be lost on a terminal.
_WIDEST = 160


def with_source(error: ClewError) -> str:
    lines = [render("error", error.message, error.position, None)]
    if error.position:
        lines += _excerpt(error.position)
    if error.remedy:
        lines.append(f"  remedy: {error.remedy}")
    return "\n".join(lines)


def _excerpt(position: Position) -> list[str]:
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
