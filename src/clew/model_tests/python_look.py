"""Look at a Python file without executing it: does it state expectations, or models without any, or neither?

Files that merely lie in a folder are executed only if their text says that they are for Clew: they import it, or a
module beside them that does, and some call in them has an argument ``expect=...``, or a dict the key "expect".
"""

from __future__ import annotations

import ast
import enum
from pathlib import Path

from clew.files.python_module import find_own_files
from clew.files.reading import read_source


class Look(enum.Enum):
    """What a file seems to contain."""

    NOTHING = enum.auto()
    MODELS = enum.auto()
    EXPECTATIONS = enum.auto()


#: A file without any of these words is not even parsed.
_WORDS = (b"expect", b"checked", b"Scenario")
#: What makes a model: a setting of a Bloom class, or a scenario.
_MAKERS = ("checked", "Scenario")


def look_at(file: str) -> Look:
    """Tell what a file seems to contain; raise ``OSError`` where it cannot be read."""
    source = read_source(file)
    if not any(word in source for word in _WORDS):
        return Look.NOTHING
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        # No Python that runs; what looks like a test of a model must not be passed over for a typing error.
        return Look.EXPECTATIONS if b"clew" in source and b"expect=" in source else Look.NOTHING
    nodes = list(ast.walk(tree))
    expects = any(map(_states_expectation, nodes))
    makes = any(isinstance(node, ast.Call) and _name_of(node.func) in _MAKERS for node in nodes)
    if not (expects or makes) or not _uses_clew(tree, Path(file)):
        return Look.NOTHING
    return Look.EXPECTATIONS if expects else Look.MODELS


def find_imported_names(source: bytes) -> frozenset[str]:
    """Return the names that a module takes from others: what they mean is tested where it is defined."""
    statements = (node for node in ast.parse(source).body if isinstance(node, ast.ImportFrom))
    return frozenset(alias.asname or alias.name for node in statements for alias in node.names)


def _states_expectation(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        return any(keyword.arg == "expect" for keyword in node.keywords)
    # Of arguments that several models share: Scenario(**settings).
    return isinstance(node, ast.Dict) and any(
        isinstance(key, ast.Constant) and key.value == "expect" for key in node.keys
    )


def _name_of(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _uses_clew(tree: ast.Module, path: Path) -> bool:
    """Tell whether a file imports Clew, by itself or through a module beside it."""
    if _imports_clew(tree):
        return True
    try:
        return any(_imports_clew(ast.parse(read_source(file))) for file in find_own_files(path))
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return False


def _imports_clew(tree: ast.Module) -> bool:
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names = [node.module or ""]
        if any(name.split(".")[0] == "clew" for name in names):
            return True
    return False
