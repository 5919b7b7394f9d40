"""An error with the line of the program it is about, and a caret under the place."""

from __future__ import annotations

from itertools import islice

from clew.errors import ClewError, render

#: A line longer than this is not shown: the caret would be lost on a terminal.
_WIDEST = 160


def with_source(error: ClewError) -> str:
    message, *rest = render("error", error.message, error.position, error.remedy).split("\n  remedy: ", 1)
    shown = _source_line(error)
    return "\n".join([message, *shown, *(f"  remedy: {remedy}" for remedy in rest)])


def _source_line(error: ClewError) -> list[str]:
    if error.position is None:
        return []
    try:
        with open(error.position.file, encoding="utf-8-sig") as stream:  # noqa: PTH123  # as the user named it
            line = next(islice(stream, error.position.line - 1, None), "").rstrip("\n")
    except (OSError, UnicodeDecodeError):
        return []
    if not line.isprintable() or len(line) > _WIDEST:
        line = line.replace("\t", " ")
        if not line.isprintable() or len(line) > _WIDEST:
            return []
    return [f"    {line}", "    " + " " * (error.position.column - 1) + "^"]
