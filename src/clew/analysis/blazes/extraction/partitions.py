"""The partitions that an order-sensitive operator works on: what the thesis calls the gate (section 4.6).

For a group (also argmin and argmax) they are the grouping columns, for ``notin`` and an outer join the columns
that are compared, and for a table that rows are deleted from, its key.  Rows of one step that must meet partition
by the columns that they are compared by: partitions that are complete on both sides can be let go together.  A
request that looks for what is stored, and is not stored itself, is asked again for every partition that becomes
complete, so whatever the stored rows are sealed on will do.  Gates have the names of input interfaces.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from clew.analysis.blazes.extraction.origins import Origins, Tracing
from clew.analysis.blazes.extraction.unprompted import is_unprompted
from clew.analysis.calm.histories import History, Race
from clew.bloom.ir.expressions import (
    AnyExpr,
    Apply,
    Elements,
    Expr,
    Extreme,
    Group,
    Join,
    NotIn,
    Reduce,
    Ref,
    RowFunction,
    Take,
    Transform,
    children,
    collections_in,
    subexpressions,
)
from clew.bloom.ir.program import BloomProgram, Op, Rule
from clew.bloom.ir.symbolic import Column, Path

#: The origins of the columns that partition; none where the partitions are not known.
Partition = tuple[Origins, ...]


def partitions(
    rule: Rule, collection: str, program: BloomProgram, tracing: Tracing, there: frozenset[str]
) -> tuple[Partition, ...]:
    """Return those of all operators by which a rule reads a collection in a way that is not monotone.

    ``there``: collections that have rows before any input has (``unprompted``), if what the rule gives is shown
    without being asked for.  That does not wait for a partition.
    """
    found = []
    for expr in subexpressions(rule.expr):
        # Shown before the first row comes: no partition to wait for, so no gate either.
        early = any(is_unprompted(source, there) for source in _sources_of_operator(expr, collection))
        found += [() if early else partition for partition in _of_operator(expr, collection, tracing)]
    if rule.op is Op.DELETE:
        # A deletion and an insertion conflict only under one key of the table.
        keys = len(program.by_name[rule.target].schema.keys)
        found.append(tracing.collection(rule.target).columns[:keys])
    return tuple(found) or ((),)


def partitions_of_race(
    rule: Rule, race: Race, histories: Mapping[str, History], tracing: Tracing, *, asks: bool
) -> tuple[Partition, ...]:
    """Return those of rows that must meet in one step; ``asks``: for an input that only reads."""
    stored = [name for name in race.edges if histories[name] is not History.EVENT]
    # A request that is not stored can be made again for each partition, so any seal on what is stored does.
    if stored and asks:
        return tuple(_columns_of_stored(rule, name, tracing) for name in stored)
    found: list[Partition] = []
    for expr in subexpressions(rule.expr):
        match expr:
            case Join(_, matches) if matches:
                found.append(_match_columns(expr, tracing))
            case Transform(Join(matches=()) as join, RowFunction(paths=paths)) if paths:
                found.append(_compare_columns(join, paths, tracing))
            case Group() | Extreme():
                found += (p for name in race.edges for p in _of_operator(expr, name, tracing))
    return tuple(found) or ((),)


def _columns_of_stored(rule: Rule, name: str, tracing: Tracing) -> Partition:
    """Return all columns of what is stored; in a join, also under the names of what they are compared with."""
    for expr in subexpressions(rule.expr):
        if isinstance(expr, Join):
            # As pairs, the join shows the columns of every side, also those that the rule leaves out.
            whole = tracing.of(replace(expr, take=Take.PAIRS)).columns
            widths = [len(source.columns) for source in expr.sources]
            for side, source in enumerate(expr.sources):
                if whole and isinstance(source, Ref) and source.collection == name:
                    return whole[sum(widths[:side]) : sum(widths[: side + 1])]
    return tracing.collection(name).columns


def _match_columns(join: Join, tracing: Tracing) -> Partition:
    """Return the columns of a join that all of its sides are compared by, directly or by way of another side."""
    classes: list[set[tuple[int, int]]] = []
    for match in join.matches:
        pair = {(match.left_source, match.left), (match.right_source, match.right)}
        classes = [pair.union(*(c for c in classes if c & pair)), *(c for c in classes if not c & pair)]
    shown = {Take.LEFTS: 0, Take.RIGHTS: 1}.get(join.take)
    widths = [len(source.columns) for source in join.sources]
    columns = []
    for found in sorted(classes, key=min):
        if {side for side, _ in found} == set(range(len(join.sources))):
            side, column = next(c for c in sorted(found) if shown is None or c[0] == shown)
            columns.append(column + (sum(widths[:side]) if shown is None else 0))
    return _pick(join, columns, tracing)


def _compare_columns(join: Join, paths: Sequence[Path], tracing: Tracing) -> Partition:
    """Return the columns of a join that a function finds equal, wherever it makes a row."""
    columns = tracing.of(join).columns
    making = [frozenset(_equal_columns(path)) for path in paths if path.rows]
    if not columns or not making:
        return ()
    starts = [sum(len(part) for part in join.parts[:k]) for k in range(len(join.parts))]
    found = []
    for pair in sorted(frozenset.intersection(*making), key=repr):
        first, second = (columns[starts[c.part] + c.index] for c in pair)
        found.append({name: first[name] | second[name] for name in first})
    return tuple(found)


def _equal_columns(path: Path) -> Iterator[tuple[Column, Column]]:
    for test in path.tests:
        match test.op, test.left, test.right:
            case "==", Column() as left, Column() as right if left.part != right.part:
                yield left, right


def names(partition: Partition, interfaces: Mapping[str, Sequence[str]], writer: str | None) -> frozenset[str]:
    """Return the attributes that name a partition: every input that has one so called means the same by it.

    ``writer``: an input whose seals are held against the gate on their own; the others only protect reads.
    """
    return frozenset(
        name
        for origins in partition
        for name in frozenset().union(*origins.values())
        if all(name in attributes for i, attributes in origins.items() if name in interfaces[i])
        and (writer is None or writer in origins or name not in interfaces[writer])
    )


def _of_operator(expr: AnyExpr, collection: str, tracing: Tracing) -> Iterator[Partition]:
    match expr:
        case Group(source, keys) if collection in collections_in(source):
            yield tracing.of(expr).columns[: len(keys)]
        case Extreme(source, keys) if collection in collections_in(source):
            yield _pick(expr, keys, tracing)
        case NotIn(_, absent, matches) if collection in collections_in(absent):
            columns = [left for left, _ in matches] or range(len(expr.columns))
            yield _pick(expr, columns, tracing)
        case Join(sources, matches, Take.OUTER) if collection in collections_in(sources[1]):
            yield _pick(expr, [m.left for m in matches], tracing)
        # A function may look at any row of the collection: the whole of it is one partition.
        case Transform(_, RowFunction(reads=reads)) if collection in reads:
            yield ()
        case Reduce() | Apply() | Elements() if collection in collections_in(expr):
            yield ()


def _sources_of_operator(expr: AnyExpr, collection: str) -> Iterator[Expr]:
    """Yield what an operator computes its rows from."""
    match expr:
        case Group(source) | Extreme(source) if collection in collections_in(source):
            yield source
        case NotIn(source, absent) if collection in collections_in(absent):
            yield source
        case Join(sources, _, Take.OUTER) if collection in collections_in(sources[1]):
            yield sources[0]


def partitions_of_absence(rule: Rule, collection: str, tracing: Tracing) -> tuple[Partition, ...] | None:
    """Return the partitions in which a rule looks rows up that may be absent; None if it does anything else.

    Only where all that is not monotone about the collection is on the absent side do rows of the other side
    depend on their own partition alone.
    """
    pending: list[AnyExpr] = [rule.expr]
    found: list[Partition] = []
    while pending:
        expr = pending.pop()
        match expr:
            case NotIn(source, absent) if collection in collections_in(absent):
                pending.append(source)
                found += _of_operator(expr, collection, tracing)
            case Join((source, other), _, Take.OUTER) if collection in collections_in(other):
                pending.append(source)
                found += _of_operator(expr, collection, tracing)
            # An aggregate over the collection looks at all of it, not only at the partition of a row.
            case _ if list(_of_operator(expr, collection, tracing)):
                return None
            case _:
                pending += children(expr)
    return tuple(found) if rule.op is not Op.DELETE else None


def _pick(expr: AnyExpr, columns: Sequence[int], tracing: Tracing) -> Partition:
    traced = tracing.of(expr).columns
    return tuple(traced[k] for k in columns) if traced else ()
