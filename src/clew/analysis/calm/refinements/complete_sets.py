"""Sets that are complete when they are seen: what is computed from them is final.

Behind a barrier, as in

    full <= (present_cnt * member_cnt).lefts(cnt="cnt")
    cast <= (votes * full).lefts(number="number")

the votes on a number appear all at once, after the last of them, if ``present`` are the keys of ``votes`` and the
count of them cannot exceed that of the members (``bounded_counts``).  ``cast`` is *sealed* by its number: an
aggregate for each number is no point of order.  Needed by ``idioms.Voting``.  The law: a key that is counted has
its row, and no key is left that could bring another.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from clew.analysis.calm.refinements.bounded_counts import Bounded, CountOf, find_bounded_counts
from clew.analysis.calm.refinements.projections import trace_copy
from clew.bloom.ir.expressions import Group, Join, Ref, Take, Transform
from clew.bloom.ir.program import BloomProgram, Op, Rule
from clew.bloom.ir.schema import Kind
from clew.bloom.ir.symbolic import Column, Whole


@dataclass(frozen=True)
class Known:
    """What the rules of a program together say.  ``sealed``: collections, and the columns they are sealed by."""

    bounded: tuple[Bounded, ...] = ()
    sealed: Mapping[str, tuple[int, ...]] = field(default_factory=dict)


def collect_known(program: BloomProgram) -> Known:
    bounded = find_bounded_counts(program)
    return Known(bounded, dict(_find_sealed(program, bounded)))


def is_sealed(group: Group, sealed: Mapping[str, tuple[int, ...]]) -> bool:
    """Tell whether every group is made from rows that appear together and are all there will be."""
    match group.source:
        case Ref(collection):
            # Grouping by more than the seal only splits complete groups; by
            # less, it would mix them with open ones.
            wanted = {Column(0, k) for k in sealed.get(collection, ())}
            return bool(wanted) and wanted <= {Column(0, k) for k in group.keys}
        case Transform(Ref(collection), function) if function.paths is not None and not function.reads:
            wanted = {Column(0, k) for k in sealed.get(collection, ())}
            rows = [row for path in function.paths for row in path.rows]
            return bool(wanted) and all(
                not isinstance(row, Whole) and wanted <= {row[k] for k in group.keys} for row in rows
            )
    return False


def _find_sealed(program: BloomProgram, bounded: tuple[Bounded, ...]) -> Iterator[tuple[str, tuple[int, ...]]]:
    full = {name: count for b in bounded for name, count in _full(program, b)}
    for rule in _only_rules(program):
        match rule.expr:
            case Join((Ref(stored), Ref(barrier)), matches, Take.LEFTS) if barrier in full:
                count = full[barrier]
                columns = {m.right: m.left for m in matches}
                keys = tuple(columns[k] for k in range(len(count.keys)) if k in columns)
                if len(keys) == len(count.keys) and _are_keys(program, stored, count, keys):
                    yield rule.target, keys


def _full(program: BloomProgram, bounded: Bounded) -> Iterator[tuple[str, CountOf]]:
    """Return collections with a row for each complete group; its columns begin with those of the group."""
    small, large = bounded.small, bounded.large
    for rule in _only_rules(program):
        match rule.expr:
            case Join((Ref(first), Ref(second)), matches, Take.LEFTS):
                compared = {(m.left, m.right) for m in matches}
                if (first, second) == (small.collection, large.collection) and compared == {
                    (small.column, large.column)
                }:
                    yield rule.target, small


def _only_rules(program: BloomProgram) -> Iterator[Rule]:
    """Return the rules that alone derive what is there for a step."""
    for rule in program.rules:
        alone = sum(other.target == rule.target for other in program.rules) == 1
        if alone and rule.op is Op.NOW and program.by_name[rule.target].kind in (Kind.SCRATCH, Kind.TEMP):
            yield rule


def _are_keys(program: BloomProgram, stored: str, count: CountOf, by: tuple[int, ...]) -> bool:
    """Tell whether the rows that are counted are the keys of those that are stored, by the same columns."""
    collection = program.by_name[stored]
    rules = [r for r in program.rules if r.target == count.source]
    # A row that is gone leaves its key counted.
    kept = all(r.op is not Op.DELETE for r in program.rules if r.target == stored)
    if collection.kind is not Kind.TABLE or not kept or len(rules) != 1 or rules[0].op is not Op.NOW:
        return False
    counted = trace_copy(rules[0].expr)
    if counted is None or not counted.always or counted.collections != (stored,):
        return False
    names = {Column(0, k) for k in range(len(collection.schema.keys))}
    return names <= set(counted.row) and tuple(counted.row[k] for k in count.keys) == tuple(
        Column(0, k) for k in by
    )
