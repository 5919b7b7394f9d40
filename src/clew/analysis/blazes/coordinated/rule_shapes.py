"""What single rules look like: which is which, and what they do to the rows that they pass on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from clew.bloom.ir.expressions import AnyExpr, Project, Ref, Role, Transform, collections_in
from clew.bloom.ir.program import Rule
from clew.bloom.ir.symbolic import Column, Constant, Path, Scalar, Test, Whole

Signature = tuple[str, str, str, str, tuple[str, ...]]


def signature(rule: Rule, renamed: Mapping[str, str] | None = None, prefix: str = "") -> Signature:
    """Return what tells a rule from others, with some collections called otherwise."""
    names = renamed or {}
    read = sorted(prefix + names.get(n, n) for n in set(collections_in(rule.expr)))
    place = f"{rule.position.file}:{rule.position.line}:{rule.position.column}" if rule.position else ""
    return rule.block, rule.op.value, place, prefix + names.get(rule.target, rule.target), tuple(read)


def row_shape(expr: AnyExpr, name: str) -> tuple[Scalar, ...]:
    """Return the one row that is made of every row of a collection; an empty one if it is not so simple."""
    match expr:
        case Transform(Ref(collection), function) if collection == name and function.paths is not None:
            if len(function.paths) == 1 and not function.paths[0].tests and len(function.paths[0].rows) == 1:
                row = function.paths[0].rows[0]
                return () if isinstance(row, Whole) else row
    return ()


def is_content(expr: AnyExpr) -> bool:
    """Return whether rows are the tuples in the column ``content`` of a collection, all of them."""
    match expr:
        case Transform(Ref(columns=columns), function) if "content" in columns:
            return _gives_content(function.paths, columns.index("content"))
    return False


def is_content_of(expr: AnyExpr, stream: Constant) -> bool:
    """Return whether rows are the tuples in the column ``content`` of one stream, all of them."""
    match expr:
        case Transform(Transform(rows, chosen), function) if chosen.role is Role.FILTER:
            if not isinstance(rows, Ref) or not {"stream", "content"} <= set(rows.columns):
                return False
            wanted = Test("==", Column(0, rows.columns.index("stream")), stream)
            kept = [path.tests for path in chosen.paths or () if path.rows]
            return kept == [(wanted,)] and _gives_content(function.paths, rows.columns.index("content"))
    return False


def is_projection(expr: AnyExpr) -> bool:
    """Return whether rows are passed on with some of their columns."""
    return isinstance(expr, Project) and isinstance(expr.source, Ref)


def _gives_content(paths: Sequence[Path] | None, column: int) -> bool:
    """Return whether a function gives the tuple in a column as a row, whatever it is."""
    return bool(paths) and all(path.rows in ((Whole(Column(0, column)),), ()) for path in paths or ())
