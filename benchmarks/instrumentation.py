"""Table 4 of the second paper, repeated: the lines of code that a case study takes beside the system itself.

Counted are lines with code, neither empty ones nor comments nor docstrings.  Ours are Python, the published ones
Scala, so that no more than the order of magnitude is comparable.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.cases import EXAMPLES
from benchmarks.output import Table

_NO_CODE = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}


@dataclass(frozen=True)
class Lines:
    """One row: what the lines are for, ours and the published ones for Raft and for Spark."""

    purpose: str
    raft: int
    raft_published: str
    spark: int
    spark_published: str


def measure() -> list[Lines]:
    raft, spark = EXAMPLES / "raft/raft_bugs.py", EXAMPLES / "spark/spark_bugs.py"
    raft_fingerprint = count_lines(raft, "fingerprint")
    spark_fingerprint = count_lines(spark, "fingerprint")
    raft_invariants = count_lines(EXAMPLES / "raft/raft_invariants.py") + count_lines(raft, "which")
    spark_invariants = count_lines(spark, "locality", "results", "cores", "_inside", "identity")
    raft_rest = count_lines(raft) - raft_fingerprint - count_lines(raft, "which")
    return [
        Lines("message fingerprint", raft_fingerprint, "59", spark_fingerprint, "56"),
        Lines("nondeterminism", 0, "2", 0, "~250"),
        Lines("invariants", raft_invariants, "331", spark_invariants, "151"),
        Lines(
            "test configuration",
            raft_rest,
            "328",
            count_lines(spark) - spark_fingerprint - spark_invariants,
            "445",
        ),
    ]


def count_lines(path: Path, *functions: str) -> int:
    """Count the lines with code of a file, or of these functions in it."""
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    lines = set(_code_lines(text)) - set(_docstring_lines(tree))
    if not functions:
        return len(lines)
    chosen = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name in functions]
    assert len(chosen) == len(functions), f"{path}: not all of {functions}"
    return sum(line in lines for node in chosen for line in range(node.lineno, (node.end_lineno or 0) + 1))


def _code_lines(text: str) -> Iterator[int]:
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _NO_CODE:
            yield from range(token.start[0], token.end[0] + 1)


def _docstring_lines(tree: ast.Module) -> Iterator[int]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node) is not None:
            yield from range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1)


def table_4(rows: Sequence[Lines]) -> Table:
    cells = [
        (row.purpose, f"{row.raft} ({row.raft_published})", f"{row.spark} ({row.spark_published})") for row in rows
    ]
    remark = "In brackets: as published, of Scala; there another 336 lines intercept the calls of Akka."
    return Table("Table 4: lines of code beside the system", ("lines for", "Raft", "Spark"), cells, [remark])
