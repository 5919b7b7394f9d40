"""Why code does not do the same twice: on what it seems to depend, and where in it to look.

Suspects are places whose result is not determined by what a node has seen: the clock, random numbers, the order of
a set.  They are found in the text, so that something can be said also of code that differs only in another
process.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from clew.errors import Position, UsageError
from clew.files.reading import read_source


@dataclass(frozen=True)
class Cause:
    """On what the code seems to depend, and the places in it that may be why."""

    text: str
    places: tuple[tuple[Position, str], ...] = ()


class NondeterminismError(UsageError):
    """Code that does not do the same twice: what differs, and why that may be."""

    def __init__(self, difference: str, cause: Cause) -> None:
        lines = [difference, f"likely cause: {cause.text}"]
        lines += [f"  {place}: {what}" for place, what in cause.places]
        super().__init__(
            "\n  ".join(lines),
            remedy="let nodes take time and random numbers from their context, and nothing else from outside",
        )


def find_cause(modules: Iterable[str], *, same_twice: bool) -> Cause:
    """Tell on what code depends that differs from its recording; ``same_twice``: but not from itself."""
    if same_twice:
        text = (
            "it depends on the process, as the order of a set of strings does (PYTHONHASHSEED), the environment "
            "and files; or the recording was edited"
        )
    else:
        text = "it differs from one execution to the next, as the clock, random, id() and global variables do"
    return Cause(text, find_suspects(modules))


# -- suspects -----------------------------------------------------------------------------------------------------

#: Modules any function of which may answer differently each time; of the others, only these functions do.
_MODULES = {"random": "random numbers", "secrets": "random numbers", "uuid": "random numbers", "time": "the clock"}
_MODULES |= {"threading": "threads", "multiprocessing": "processes", "asyncio": "another scheduler"}
_FUNCTIONS = {
    "id": "the address of an object",
    "hash": "the hash of a string differs from process to process",
    "os.urandom": "random numbers",
    "os.getpid": "the process",
    "os.getenv": "the environment",
    "os.environ": "the environment",
    "os.listdir": "files",
    "open": "files",
    "datetime.now": "the clock",
    "datetime.utcnow": "the clock",
    "datetime.datetime.now": "the clock",
    "datetime.datetime.utcnow": "the clock",
    "date.today": "the clock",
    "datetime.date.today": "the clock",
}
#: A seeded generator of one's own is no suspect.
_HARMLESS = {"random.Random"}
_SETS = {"set", "frozenset"}


def find_suspects(files: Iterable[str], most: int = 5) -> tuple[tuple[Position, str], ...]:
    """Find where the code asks for something that a replay cannot repeat, and for what; the first few."""
    found: list[tuple[Position, str]] = []
    for file in files:
        try:
            tree = ast.parse(read_source(file))
        # A suspect is only a hint; a file that has changed meanwhile is no reason to fail.
        except (OSError, SyntaxError, ValueError):
            continue
        for node, what in _find_suspicious(tree, _resolve_imports(tree)):
            found.append((Position(file, getattr(node, "lineno", 1), getattr(node, "col_offset", 0) + 1), what))
    return tuple(sorted(found)[:most])


def _resolve_imports(tree: ast.Module) -> dict[str, str]:
    """Return what names stand for: ``now`` for ``time.time`` after ``from time import time as now``."""
    names: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.asname:
                    names[alias.asname] = alias.name
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                names[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return names


def _find_suspicious(tree: ast.Module, names: dict[str, str]) -> Iterator[tuple[ast.AST, str]]:
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=function):
                name = _qualify(function, names)
                reason = _reason(name)
                if reason:
                    yield node, f"{name}(): {reason}"
            case ast.Subscript(value=value) if _qualify(value, names) == "os.environ":
                yield node, "os.environ: the environment"
            case ast.For(iter=iterated) | ast.comprehension(iter=iterated) if _is_set(iterated):
                yield iterated, "goes through a set: its order differs from process to process"


def _reason(name: str) -> str | None:
    if name in _HARMLESS:
        return None
    if name.startswith("os.environ."):
        return _FUNCTIONS["os.environ"]
    module, dot, _ = name.partition(".")
    return _FUNCTIONS.get(name) or (_MODULES.get(module) if dot else None)


def _qualify(node: ast.expr, names: dict[str, str]) -> str:
    """Return ``a.b.c`` for such an expression, with imported names as what they stand for; "" for any other."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ""
    return ".".join([names.get(node.id, node.id), *reversed(parts)])


def _is_set(node: ast.expr) -> bool:
    if isinstance(node, ast.Set | ast.SetComp):
        return True
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _SETS
