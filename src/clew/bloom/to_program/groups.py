"""``group``, ``argmin`` and ``argmax`` in checked programs.

Bloom adds and counts rows, not different values.  The smallest value is the one that no other beats, in the order
of ``clew.bloom.values.sort_key``: that of the engine is another one where columns mix types.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from clew.bloom.ir.expressions import Aggregate
from clew.bloom.to_program.bodies import Body, Compilation, Place
from clew.bloom.values import sort_key
from clew.program import ir
from clew.program.ir import Call, Comparison, Expr, Function, Value, Var


def grouped(made: Compilation, source: Place, keys: Sequence[int], aggregates: Sequence[Aggregate]) -> list[Body]:
    """One row for each group: the keys, then the aggregates."""
    if not aggregates:
        row = made.all_of(source)
        return [row.with_columns(row.columns[k] for k in keys)]
    columns: tuple[Expr, ...] = ()
    elements: list[ir.Premise | Comparison | Call] = []
    values: list[Expr] = []
    for aggregate in aggregates:
        body = _aggregated(made, source, keys, aggregate)
        if columns:
            shared = zip(columns, body.columns, strict=False)
            elements += [Comparison("==", a, b, made.position) for a, b in shared]
        columns = columns or body.columns[: len(keys)]
        elements += body.elements
        values.append(body.columns[len(keys)])
    return [Body(tuple(elements), (*columns, *values))]


def unbeaten(made: Compilation, source: Place, keys: Sequence[int], column: int, *, largest: bool) -> Body:
    """The rows of each group in which a column is smallest (or largest)."""
    row, other = made.all_of(source), made.all_of(source)
    equal = [Comparison("==", row.columns[k], other.columns[k], made.position) for k in keys]
    pair = (row.columns[column], other.columns[column])
    beats = Call(_MORE if largest else _LESS, pair, (), made.position)
    beaten = Body((*row.elements, *other.elements, *equal, beats), _key(row, keys, column))
    losers = made.helper("beaten", [beaten], len(beaten.columns))
    kept = made.all_of(source)
    (way,) = made.absent(losers, [[value] for value in _key(kept, keys, column)])
    return kept.with_elements(*way)


def _key(row: Body, keys: Sequence[int], column: int) -> tuple[Expr, ...]:
    return (*(row.columns[k] for k in keys), row.columns[column])


def _aggregated(made: Compilation, source: Place, keys: Sequence[int], aggregate: Aggregate) -> Body:
    """Rows with the keys and the value of one aggregate."""
    if aggregate.function in ("min", "max", "choose"):
        (column,) = aggregate.over
        row = unbeaten(made, source, keys, column, largest=aggregate.function == "max")
        return row.with_columns(_key(row, keys, column))
    match aggregate.function:
        case "count":
            return counted(made, source, keys, *aggregate.over)
        case "sum":
            return summed(made, source, keys, *aggregate.over)
        case "bool_and" | "bool_or":
            row, truth = made.all_of(source), made.fresh()
            call = Call(_TRUTH, (row.columns[aggregate.over[0]],), (truth,), made.position)
            value = ir.Aggregate("min" if aggregate.function == "bool_and" else "max", truth)
            return _collected(made, row.with_elements(call), keys, value)
    raise made.refusal(
        f"the aggregate '{aggregate.function}' cannot be checked",
        "use count, sum, min, max, choose, bool_and or bool_or",
    )


def counted(made: Compilation, source: Place, keys: Sequence[int], column: int | None = None) -> Body:
    """The number of rows in each group, or of different values of a column."""
    row = made.all_of(source)
    every = _variables(row)
    if column is None:
        return _collected(made, row, keys, ir.Aggregate("count", every[0], every))
    value = row.columns[column]
    assert isinstance(value, Var), "rows of a relation are made of variables"
    return _collected(made, row, keys, ir.Aggregate("count", value))


def summed(made: Compilation, source: Place, keys: Sequence[int], column: int = 0) -> Body:
    """The sum of a column over the rows of each group."""
    row, number = made.all_of(source), made.fresh()
    call = Call(_NUMBER, (row.columns[column],), (number,), made.position)
    return _collected(made, row.with_elements(call), keys, ir.Aggregate("sum", number, _variables(row)))


def climbed(made: Compilation, source: Place, what: str) -> Body:
    """The sizes or sums of all subsets of a set, of which the largest is its own.

    In recursion an aggregate has no meaning in the IR: it needs all elements, and they may depend on it.  Subsets
    stay when elements are added.  Each is built in ascending order, so that no element counts twice; any order
    will do, and so it is the engine's.
    """
    subsets = made.helper("subsets", (), 2)
    first = made.all_of(source)
    alone = first.columns[0] if what == "sum" else ir.Const(1)
    made.conclude(subsets.relation, (*made.here, first.columns[0], alone), first)
    before, added, total = made.all_of(subsets), made.all_of(source), made.fresh()
    ascending = Comparison("<", before.columns[0], added.columns[0], made.position)
    function = _ADDED if what == "sum" else _ONE_MORE
    more = Call(function, (before.columns[1], added.columns[0]), (total,), made.position)
    larger = Body((*before.elements, *added.elements, ascending, more), (added.columns[0], total))
    made.conclude(subsets.relation, (*made.here, *larger.columns), larger)
    found = made.all_of(subsets)
    return found.with_columns(found.columns[1:])


def _collected(made: Compilation, row: Body, keys: Sequence[int], value: ir.Aggregate) -> Body:
    groups = made.helper("groups", (), len(keys) + 1)
    made.conclude(groups.relation, (*made.here, *(row.columns[k] for k in keys), value), row)
    return made.all_of(groups)


def _variables(row: Body) -> tuple[Var, ...]:
    return tuple(dict.fromkeys(c for c in row.columns if isinstance(c, Var)))


def _number(args: tuple[Value, ...]) -> Iterable[tuple[Value, ...]]:
    if not isinstance(args[0], int):
        raise TypeError(f"{args[0]!r} is not a number")
    return [args]


_NUMBER = Function("sum", _number)
_ADDED = Function("sum", lambda args: [(sum(n for n in args if isinstance(n, int)),)])
_ONE_MORE = Function("size", lambda args: [(n + 1,) for n in args[:1] if isinstance(n, int)])
_TRUTH = Function("bool", lambda args: [(int(bool(args[0])),)])
_LESS = Function("a comparison", lambda args: [()] if sort_key(args[1]) < sort_key(args[0]) else [])
_MORE = Function("a comparison", lambda args: [()] if sort_key(args[1]) > sort_key(args[0]) else [])
