"""Whether what a rule derives can be put into its target."""

from __future__ import annotations

from clew.bloom.ir.expressions import AnyExpr, Expr, Fold, Transform
from clew.bloom.ir.program import Op
from clew.bloom.ir.schema import Collection, Kind
from clew.bloom.ir.symbolic import Whole
from clew.bloom.language.capture import mistake

_ALLOWED = {
    Op.NOW: (Kind.TABLE, Kind.SCRATCH, Kind.INPUT, Kind.OUTPUT, Kind.TEMP, Kind.LATTICE),
    Op.NEXT: (Kind.TABLE, Kind.SCRATCH, Kind.INPUT, Kind.OUTPUT, Kind.LATTICE),
    Op.DELETE: (Kind.TABLE,),
    Op.SEND: (Kind.CHANNEL, Kind.LOOPBACK, Kind.STDIO),
}


def check_operator(collection: Collection, op: Op) -> None:
    if collection.kind in _ALLOWED[op]:
        return
    remedies = [o.value for o, kinds in _ALLOWED.items() if collection.kind in kinds]
    kind = collection.kind.value
    article = "an" if kind[0] in "aeiou" else "a"
    raise mistake(
        f"'{op.value}' into {article} {kind} ('{collection.name}')",
        f"use {' or '.join(remedies)}" if remedies else "its rows come by themselves: derive another collection",
    )


def check_width(expr: Expr, collection: Collection) -> None:
    wanted = collection.schema.columns
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


def as_lattice(expr: AnyExpr, collection: Collection) -> AnyExpr:
    assert collection.lattice is not None
    given = getattr(expr, "lattice", None)
    if given is None:
        return Fold(expr, None, collection.lattice)  # type: ignore[arg-type]  # it is no lattice
    if given != collection.lattice:
        what = f"a {given} is merged into '{collection.name}', a {collection.lattice}"
        raise mistake(what, "use the same lattice")
    return expr


def as_rows(expr: AnyExpr, collection: Collection) -> Expr:
    if getattr(expr, "lattice", None) is not None:
        raise mistake(f"a lattice is put into '{collection.name}'", "take its rows: .elements()")
    return expr  # type: ignore[return-value]
