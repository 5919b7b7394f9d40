"""``group``, ``argmin`` and ``argmax`` in checked programs.

Bloom adds and counts rows, not different values.  The smallest value is the one that no other beats, in the order
of ``clew.bloom.values.sort_key``: that of the engine is another one where columns mix types.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from clew.bloom.ir.expressions import Aggregate
from clew.bloom.to_program.bodies import Body, Place, RuleWriter
from clew.bloom.values import sort_key
from clew.program import ir
from clew.program.ir import Call, Comparison, Expr, Function, Value, Var


def group_rows(
    writer: RuleWriter, source: Place, keys: Sequence[int], aggregates: Sequence[Aggregate]
) -> list[Body]:
    """Translate ``group``: one row for each group, the keys, then the aggregates."""
    if not aggregates:
        row = writer.all_of(source)
        return [row.with_columns(row.columns[k] for k in keys)]
    columns: tuple[Expr, ...] = ()
    elements: list[ir.Premise | Comparison | Call] = []
    values: list[Expr] = []
    # Each has a relation of its own, and they are joined by the keys: the smallest value, for example, is no
    # aggregate of the IR, but a row that none beats.
    for aggregate in aggregates:
        body = _aggregate(writer, source, keys, aggregate)
        if columns:
            shared = zip(columns, body.columns, strict=False)
            elements += [Comparison("==", a, b, writer.position) for a, b in shared]
        columns = columns or body.columns[: len(keys)]
        elements += body.elements
        values.append(body.columns[len(keys)])
    return [Body(tuple(elements), (*columns, *values))]


def select_extreme(writer: RuleWriter, source: Place, keys: Sequence[int], column: int, *, largest: bool) -> Body:
    """Select the rows of each group in which a column is smallest (or largest)."""
    row, other = writer.all_of(source), writer.all_of(source)
    equal = [Comparison("==", row.columns[k], other.columns[k], writer.position) for k in keys]
    pair = (row.columns[column], other.columns[column])
    beats = Call(_MORE if largest else _LESS, pair, (), writer.position)
    beaten = Body((*row.elements, *other.elements, *equal, beats), _key(row, keys, column))
    # Negation needs a relation: rows that are beaten, and then those that are not among them.
    losers = writer.helper("beaten", [beaten], len(beaten.columns))
    kept = writer.all_of(source)
    (way,) = writer.absent(losers, [[value] for value in _key(kept, keys, column)])
    return kept.with_elements(*way)


def _key(row: Body, keys: Sequence[int], column: int) -> tuple[Expr, ...]:
    return (*(row.columns[k] for k in keys), row.columns[column])


def _aggregate(writer: RuleWriter, source: Place, keys: Sequence[int], aggregate: Aggregate) -> Body:
    """Translate one aggregate to rows with the keys and its value."""
    # Not the aggregates of the IR: these order values in another way where a column mixes types.
    if aggregate.function in ("min", "max", "choose"):
        (column,) = aggregate.over
        row = select_extreme(writer, source, keys, column, largest=aggregate.function == "max")
        return row.with_columns(_key(row, keys, column))
    match aggregate.function:
        case "count":
            return count_rows(writer, source, keys, *aggregate.over)
        case "sum":
            return sum_rows(writer, source, keys, *aggregate.over)
        case "bool_and" | "bool_or":
            row, truth = writer.all_of(source), writer.fresh()
            call = Call(_TRUTH, (row.columns[aggregate.over[0]],), (truth,), writer.position)
            # All are true if the smallest of 0 and 1 is 1, and any is if the largest is.
            value = ir.Aggregate("min" if aggregate.function == "bool_and" else "max", truth)
            return _collect(writer, row.with_elements(call), keys, value)
    raise writer.refusal(
        f"the aggregate '{aggregate.function}' cannot be checked",
        "use count, sum, min, max, choose, bool_and or bool_or",
    )


def count_rows(writer: RuleWriter, source: Place, keys: Sequence[int], column: int | None = None) -> Body:
    """Count the rows in each group, or the different values of a column."""
    row = writer.all_of(source)
    every = _variables(row)
    if column is None:
        # Of all columns together: two rows with the same value count twice, as at a node.
        return _collect(writer, row, keys, ir.Aggregate("count", every[0], every))
    value = row.columns[column]
    assert isinstance(value, Var), "rows of a relation are made of variables"
    return _collect(writer, row, keys, ir.Aggregate("count", value))


def sum_rows(writer: RuleWriter, source: Place, keys: Sequence[int], column: int = 0) -> Body:
    """Sum a column over the rows of each group."""
    row, number = writer.all_of(source), writer.fresh()
    call = Call(_NUMBER, (row.columns[column],), (number,), writer.position)
    return _collect(writer, row.with_elements(call), keys, ir.Aggregate("sum", number, _variables(row)))


def measure_subsets(writer: RuleWriter, source: Place, what: str) -> Body:
    """Compute the sizes or sums of all subsets of a set, of which the largest is its own.

    In recursion an aggregate has no meaning in the IR: it needs all elements, and they may depend on it.  Subsets
    stay when elements are added.  Each is built in ascending order, so that no element counts twice; any order
    will do, and so it is the engine's.
    """
    subsets = writer.helper("subsets", (), 2)
    first = writer.all_of(source)
    alone = first.columns[0] if what == "sum" else ir.Const(1)
    writer.conclude(subsets.relation, (*writer.here, first.columns[0], alone), first)
    before, added, total = writer.all_of(subsets), writer.all_of(source), writer.fresh()
    ascending = Comparison("<", before.columns[0], added.columns[0], writer.position)
    function = _ADDED if what == "sum" else _ONE_MORE
    more = Call(function, (before.columns[1], added.columns[0]), (total,), writer.position)
    larger = Body((*before.elements, *added.elements, ascending, more), (added.columns[0], total))
    writer.conclude(subsets.relation, (*writer.here, *larger.columns), larger)
    found = writer.all_of(subsets)
    return found.with_columns(found.columns[1:])


def _collect(writer: RuleWriter, row: Body, keys: Sequence[int], value: ir.Aggregate) -> Body:
    groups = writer.helper("groups", (), len(keys) + 1)
    writer.conclude(groups.relation, (*writer.here, *(row.columns[k] for k in keys), value), row)
    return writer.all_of(groups)


def _variables(row: Body) -> tuple[Var, ...]:
    return tuple(dict.fromkeys(c for c in row.columns if isinstance(c, Var)))


def _number(args: tuple[Value, ...]) -> Iterable[tuple[Value, ...]]:
    if not isinstance(args[0], int):
        raise TypeError(f"{args[0]!r} is not a number")  # as sum(...) at a node does
    return [args]


_NUMBER = Function("sum", _number)
_ADDED = Function("sum", lambda args: [(sum(n for n in args if isinstance(n, int)),)])
_ONE_MORE = Function("size", lambda args: [(n + 1,) for n in args[:1] if isinstance(n, int)])
_TRUTH = Function("bool", lambda args: [(int(bool(args[0])),)])
_LESS = Function("a comparison", lambda args: [()] if sort_key(args[1]) < sort_key(args[0]) else [])
_MORE = Function("a comparison", lambda args: [()] if sort_key(args[1]) > sort_key(args[0]) else [])
