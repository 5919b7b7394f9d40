"""Counts that cannot exceed others, so that equal means complete.

``present_cnt <= present.group(["number"], count())`` and ``member_cnt <= members.group([], count())``: if each row
of ``present`` comes from one of ``members`` at the same node, and members stay, the first is at most the second in
every group.  Then ``==`` is ``>=``, which stays true.  Needed by ``idioms.Barrier`` and ``idioms.Voting``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from clew.analysis.calm.refinements.projections import columns_in
from clew.analysis.calm.refinements.provenance import UNKNOWN, trace_provenance
from clew.bloom.ir.expressions import Group, Ref
from clew.bloom.ir.program import BloomProgram, Op
from clew.bloom.ir.schema import Kind
from clew.bloom.ir.symbolic import Here


@dataclass(frozen=True)
class CountOf:
    """Column number ``column`` of ``collection`` counts the rows of ``source`` by the columns ``keys``."""

    collection: str
    column: int
    source: str
    keys: tuple[int, ...]


@dataclass(frozen=True)
class Bounded:
    """The first count is at most the second."""

    small: CountOf
    large: CountOf


def find_bounded_counts(program: BloomProgram) -> tuple[Bounded, ...]:
    counts = tuple(_counts(program))
    return tuple(
        Bounded(small, large)
        for small in counts
        for large in counts
        if not large.keys and small != large and _fits(small, large, program)
    )


def _counts(program: BloomProgram) -> Iterator[CountOf]:
    for rule in program.rules:
        match rule.expr:
            case Group(Ref(source), keys, aggregates) if rule.op is Op.NOW:
                alone = sum(other.target == rule.target for other in program.rules) == 1
                if not alone or program.by_name[rule.target].kind not in (Kind.SCRATCH, Kind.TEMP):
                    continue
                for number, aggregate in enumerate(aggregates):
                    # With a column, it counts different values, and these may be fewer than the rows.
                    if aggregate.function == "count" and not aggregate.over:
                        yield CountOf(rule.target, len(keys) + number, source, keys)


def _fits(small: CountOf, large: CountOf, program: BloomProgram) -> bool:
    """Tell whether rows of a group come from different rows of the other collection at the node, which stay."""
    # Were a member to leave, the count of those present could exceed what is left.
    leaves = any(r.target == large.source and r.op is Op.DELETE for r in program.rules)
    if leaves or program.by_name[large.source].kind is not Kind.TABLE:
        return False
    ways = trace_provenance(program, small.source, large.source)
    # Two ways to make a row of a member could make two rows of one member, and count it twice.
    counted = {tuple(c for k, c in enumerate(way.row) if k not in small.keys) for way in ways}
    if len(counted) != 1 or any(way.node != Here() for way in ways):
        return False
    return UNKNOWN not in columns_in(*counted)
