"""Table 2.3 of the thesis beside ours: lines of rules, and of the language around them, in BOOM-FS.

``python -m benchmarks.boomfs_lines`` prints it.  Counted are lines with code, neither empty ones nor comments nor
docstrings.  Rules are the methods marked with ``@bloom`` and the collections of their classes; all else is Python,
also functions of rows.  The thesis does not say how it counted.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.instrumentation import count_lines

_SOURCE = Path(__file__).parents[1] / "src" / "clew"
#: System, lines of Java, lines of Overlog.
PUBLISHED = (("HDFS", 21_700, 0), ("BOOM-FS", 1_431, 469))
_DECLARES = frozenset({"table", "scratch", "channel", "periodic", "interface", "lmax", "lset", "imported"})


@dataclass(frozen=True)
class Part:
    """A part of the system, with its lines of rules and of Python."""

    name: str
    rules: int
    python: int


def measure() -> list[Part]:
    """Count the parts of BOOM-FS; Multipaxos is a part of its own, since others use it, too."""
    folders = {
        "NameNode": "boomfs/namenode",
        "DataNode": "boomfs/datanode",
        "client, fsspec": "boomfs/client",
        "messages, settings, data protocol": "boomfs/*.py",
        "Multipaxos": "multipaxos",
    }
    command = ("command.py", "local_cluster.py", "__main__.py")
    parts = [_count(name, _files(folder, without=command)) for name, folder in folders.items()]
    return [*parts, _count("command, clusters for trying", [_SOURCE / "boomfs" / name for name in command])]


def _files(folder: str, without: tuple[str, ...]) -> list[Path]:
    found = _SOURCE.glob(folder) if folder.endswith(".py") else (_SOURCE / folder).glob("*.py")
    return sorted(path for path in found if path.name not in without)


def _count(name: str, files: list[Path]) -> Part:
    rules = sum(map(count_rules, files))
    return Part(name, rules, sum(map(count_lines, files)) - rules)


def count_rules(path: Path) -> int:
    """Count the lines of rules and of collections in a file."""
    text = path.read_text(encoding="utf-8")
    lines = set(_rule_lines(ast.parse(text)))
    shown = text.splitlines()
    return sum(1 for line in lines if shown[line - 1].strip() and not shown[line - 1].strip().startswith("#"))


def _rule_lines(tree: ast.Module) -> Iterator[int]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and any(_name(each) == "bloom" for each in node.decorator_list):
            skipped = node.body[0].end_lineno if ast.get_docstring(node) else None
            yield from range(node.lineno - len(node.decorator_list), node.body[0].lineno)
            yield from range((skipped or node.body[0].lineno - 1) + 1, (node.end_lineno or node.lineno) + 1)
        elif isinstance(node, ast.ClassDef):
            for each in node.body:
                if isinstance(each, ast.Assign) and _name(each.value) in _DECLARES:
                    yield from range(each.lineno, (each.end_lineno or each.lineno) + 1)


def _name(node: ast.expr) -> str:
    """Return what a call or an attribute begins with: ``interface`` of ``interface.input("x")``."""
    while isinstance(node, ast.Call | ast.Attribute):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def table(parts: list[Part]) -> str:
    """Write the table, with the published one above it."""
    rows = [
        ("system", "lines of Java", "of Overlog"),
        *((name, str(java), str(rules)) for name, java, rules in PUBLISHED),
    ]
    rows += [("", "of Python", "of Bloom"), *((part.name, str(part.python), str(part.rules)) for part in parts)]
    rows.append(("all", str(sum(part.python for part in parts)), str(sum(part.rules for part in parts))))
    return "\n".join(f"{name:<36}{code:>14}{rules:>12}" for name, code, rules in rows)


if __name__ == "__main__":
    print(table(measure()))
