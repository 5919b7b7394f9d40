"""Recording a rule: check that what it derives can be put into its target, and add it to the capture."""

from __future__ import annotations

from typing import Any

from clew.bloom.ir.expressions import AnyExpr, Expr, Fold, Transform
from clew.bloom.ir.program import Op, Rule
from clew.bloom.ir.schema import Collection, Kind
from clew.bloom.ir.symbolic import Whole
from clew.bloom.language.capture import current_capture, mistake, user_position
from clew.bloom.language.lattice_relations import LatticeRelation
from clew.bloom.language.relations import as_relation
from clew.bloom.language.scope import Scope

#: What may be derived with each operator.  Only ``<~`` fills what arrives over a network, the node's own or a
#: terminal's: such rows come at another time, and a rule that claimed ``<=`` would promise this step.
_ALLOWED = {
    Op.NOW: (Kind.TABLE, Kind.SCRATCH, Kind.INPUT, Kind.OUTPUT, Kind.TEMP, Kind.LATTICE, Kind.DIE),
    Op.NEXT: (Kind.TABLE, Kind.SCRATCH, Kind.INPUT, Kind.OUTPUT, Kind.LATTICE),
    Op.DELETE: (Kind.TABLE,),
    Op.SEND: (Kind.CHANNEL, Kind.LOOPBACK, Kind.STDIO),
}


def as_expr(rhs: Any) -> AnyExpr:
    """Return the expression of a right-hand side: a lattice, or what can be taken for rows."""
    return rhs.to_expr() if isinstance(rhs, LatticeRelation) else as_relation(rhs).to_expr()


def record_rule(scope: Scope, target: str, op: Op, expr: AnyExpr) -> None:
    """Add ``target op expr`` to the rules of the block being read, or refuse it."""
    capture = current_capture()
    assert capture is not None
    collection = scope.collection_of(target)
    _check_operator(collection, op)
    if collection.lattice is not None:
        expr = _as_lattice(expr, collection)
    else:
        expr = _as_rows(expr, collection)
        _check_width(expr, collection)
    capture.rules.append(Rule(target, op, expr, capture.block, user_position()))


def define_temp(scope: Scope, name: str, full_name: str, op: Op, expr: AnyExpr) -> None:
    """Declare a temp with the columns of its first rule; for the later ones it is a collection like any other."""
    capture = current_capture()
    assert capture is not None
    if scope.is_defined(full_name):
        return
    columns = getattr(expr, "columns", ())
    if op is not Op.NOW or not columns:
        raise mistake(
            f"the columns of the temp '{name}' cannot be inferred",
            "begin with a rule <= whose right-hand side has columns: name them with rename(...)",
        )
    scope.define_temp(full_name, columns, expr.parts, capture.module)  # type: ignore[union-attr]  # it has columns


def _check_operator(collection: Collection, op: Op) -> None:
    if collection.kind in _ALLOWED[op]:
        return
    remedies = [o.value for o, kinds in _ALLOWED.items() if collection.kind in kinds]
    kind = collection.kind.value
    article = "an" if kind[0] in "aeiou" else "a"
    raise mistake(
        f"'{op.value}' into {article} {kind} ('{collection.name}')",
        f"use {' or '.join(remedies)}" if remedies else "its rows come by themselves: derive another collection",
    )


def _check_width(expr: Expr, collection: Collection) -> None:
    wanted = collection.schema.columns
    # If the columns have no names, each path through the last function may still give rows of a known width.
    widths = {len(expr.columns)} if expr.columns else _widths(expr)
    for width in sorted(widths - {len(wanted)}):
        named = f" ({', '.join(expr.columns)})" if expr.columns else ""
        raise mistake(
            f"rows with {width} columns{named} are put into '{collection.name}', which has {len(wanted)}"
            f" ({', '.join(wanted)})",
            "give a value for each column: map(lambda row: (...))"
            + ("; <- needs the full row" if collection.kind is Kind.TABLE else ""),
        )


def _widths(expr: Expr) -> set[int]:
    if isinstance(expr, Transform) and expr.function.paths is not None:
        rows = (row for path in expr.function.paths for row in path.rows)
        return {len(row) for row in rows if not isinstance(row, Whole)}
    return set()


def _as_lattice(expr: AnyExpr, collection: Collection) -> AnyExpr:
    """Return what is merged into a lattice: rows become a fold, a lattice must be the same one."""
    assert collection.lattice is not None
    given = getattr(expr, "lattice", None)
    if given is None:
        # Rows are merged one by one, which is what <= of a collection into a lattice means.
        return Fold(expr, None, collection.lattice)  # type: ignore[arg-type]  # it is no lattice
    if given != collection.lattice:
        what = f"a {given} is merged into '{collection.name}', a {collection.lattice}"
        raise mistake(what, "use the same lattice")
    return expr


def _as_rows(expr: AnyExpr, collection: Collection) -> Expr:
    if getattr(expr, "lattice", None) is not None:
        raise mistake(f"a lattice is put into '{collection.name}'", "take its rows: .elements()")
    return expr  # type: ignore[return-value]
