"""The text of a rule as it stands in the user's file."""

from __future__ import annotations

import ast
from functools import lru_cache

from clew.errors import Position
from clew.files.reading import read_source


def statement_at(position: Position | None) -> str | None:
    """The statement that contains a place, in one line; None if the file cannot be read (any more)."""
    if position is None:
        return None
    text, tree = _parsed(position.file)
    best: ast.stmt | None = None
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt) and node.lineno <= position.line <= (node.end_lineno or node.lineno):
            best = node  # inner statements come later
    segment = ast.get_source_segment(text, best) if isinstance(best, ast.Expr) else None
    return " ".join(segment.split()) if segment else None


@lru_cache(maxsize=16)
def _parsed(file: str) -> tuple[str, ast.Module]:
    try:
        text = read_source(file).decode("utf-8")
        return text, ast.parse(text)
    except (OSError, ValueError, SyntaxError):
        return "", ast.Module([], [])
