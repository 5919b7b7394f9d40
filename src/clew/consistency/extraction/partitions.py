"""The partitions that an operator which is not monotone works on: what the thesis calls the gate (section 4.6).

For a group (also argmin and argmax) they are the grouping columns, for ``notin`` and an outer join the columns
that are compared, and for a table that rows are deleted from, its key.  Gates have the names of input interfaces.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from clew.bloom.expressions import (
    AnyExpr,
    Apply,
    Elements,
    Extreme,
    Group,
    Join,
    NotIn,
    Reduce,
    RowFunction,
    Take,
    Transform,
    collections_in,
    everything_in,
)
from clew.bloom.program import BloomProgram, Op, Rule
from clew.consistency.extraction.origins import Origins, Tracing

#: The origins of the columns that partition; none where the partitions are not known.
Partition = tuple[Origins, ...]


def partitions(rule: Rule, collection: str, program: BloomProgram, tracing: Tracing) -> tuple[Partition, ...]:
    """Those of all operators by which a rule reads a collection in a way that is not monotone."""
    found = [p for expr in everything_in(rule.expr) for p in _of_operator(expr, collection, tracing)]
    if rule.op is Op.DELETE:
        keys = len(program.by_name[rule.target].schema.keys)
        found.append(tracing.collection(rule.target).columns[:keys])
    return tuple(found) or ((),)


def names(partition: Partition, interfaces: Mapping[str, Sequence[str]], writer: str | None) -> frozenset[str]:
    """The attributes that name a partition: every input that has one so called means the same by it.

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
            yield _picked(expr, keys, tracing)
        case NotIn(_, absent, matches) if collection in collections_in(absent):
            columns = [left for left, _ in matches] or range(len(expr.columns))
            yield _picked(expr, columns, tracing)
        case Join(sources, matches, Take.OUTER) if collection in collections_in(sources[1]):
            yield _picked(expr, [m.left for m in matches], tracing)
        case Transform(_, RowFunction(reads=reads)) if collection in reads:
            yield ()
        case Reduce() | Apply() | Elements() if collection in collections_in(expr):
            yield ()


def _picked(expr: AnyExpr, columns: Sequence[int], tracing: Tracing) -> Partition:
    traced = tracing.of(expr).columns
    return tuple(traced[k] for k in columns) if traced else ()
