"""Generated programs over several steps: the machine agrees with an evaluator that goes through everything."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from bloom.runtime.naive_node import join_naively
from clew.bloom import agg
from clew.bloom.ir.expressions import (
    Aggregate,
    Expr,
    Extreme,
    Group,
    Join,
    NotIn,
    Project,
    Ref,
    Rename,
    Role,
    Transform,
)
from clew.bloom.ir.program import BloomProgram, Op, Rule
from clew.bloom.ir.schema import Collection, Kind, Schema
from clew.bloom.language.columns import ColumnRef
from clew.bloom.language.relations import Relation
from clew.bloom.runtime.machine import Machine
from clew.bloom.runtime.operators.rows import AGGREGATES
from clew.bloom.values import Row, sort_key, sort_rows

State = dict[str, set[Row]]

# -- the evaluator -----------------------------------------------------------------------------------------------


def naive(expr: Expr, state: Mapping[str, set[Row]]) -> set[Row]:
    match expr:
        case Ref(collection):
            return set(state[collection])
        case Rename(source):
            return naive(source, state)
        case Project(source, kept):
            return {tuple(row[k] for k in kept) for row in naive(source, state)}
        case Transform(source):
            return {found for row in naive(source, state) for found in _through(expr, row)}
        case Join():
            return join_naively(expr, [naive(source, state) for source in expr.sources])
        case NotIn(source, absent, matches):
            there = naive(absent, state)
            rows = naive(source, state)
            return {row for row in rows if not any(all(row[a] == r[b] for a, b in matches) for r in there)}
        case Group(source, keys, aggregates):
            groups = _groups(naive(source, state), keys).items()
            return {(*key, *(_aggregated(a, members) for a in aggregates)) for key, members in groups}
        case Extreme(source, keys, column, largest):
            best = max if largest else min
            return {
                row
                for members in _groups(naive(source, state), keys).values()
                for row in members
                if sort_key(row[column]) == best(sort_key(r[column]) for r in members)
            }
    raise AssertionError(expr)


def _aggregated(aggregate: Aggregate, rows: list[Row]) -> Any:
    return AGGREGATES[aggregate.function]([tuple(row[k] for k in aggregate.over) for row in rows])


def _through(expr: Transform, row: Row) -> list[Row]:
    parts, rest = [], row
    for columns in expr.function.parts:
        parts.append(rest[: len(columns)])
        rest = rest[len(columns) :]
    result = expr.function.call(*parts)
    match expr.function.role:
        case Role.FILTER:
            return [row] if result else []
        case Role.MAP:
            return [] if result is None else [tuple(result)]
        case Role.FLAT_MAP:
            return [tuple(one) for one in result]


def _groups(rows: set[Row], keys: tuple[int, ...]) -> dict[Row, list[Row]]:
    groups: dict[Row, list[Row]] = {}
    for row in sort_rows(rows):
        groups.setdefault(tuple(row[k] for k in keys), []).append(row)
    return groups


def run_naively(generated: Generated) -> list[State]:
    program, state = generated.program, {c.name: set[Row]() for c in generated.program.collections}
    deleted: State = {}
    inserted: State = {}
    history = []
    for arrived in generated.steps:
        for collection in program.collections:
            name = collection.name
            kept = state[name] - deleted.get(name, set()) if collection.kind is Kind.TABLE else set()
            state[name] = kept | inserted.get(name, set()) | arrived.get(name, set())
        for level in range(LEVELS):
            _to_fixpoint([r for r in program.rules if r.op is Op.NOW and level_of(r.target) == level], state)
        history.append({name: set(rows) for name, rows in state.items()})
        deleted, inserted = ({}, {})
        for rule in program.rules:
            if rule.op is not Op.NOW:
                later = deleted if rule.op is Op.DELETE else inserted
                later.setdefault(rule.target, set()).update(naive(rule.expr, state))  # type: ignore[arg-type]
    return history


def _to_fixpoint(rules: list[Rule], state: State) -> None:
    size = -1
    while size != sum(map(len, state.values())):
        size = sum(map(len, state.values()))
        for rule in rules:
            state[rule.target] |= naive(rule.expr, state)  # type: ignore[arg-type]


# -- generated programs ------------------------------------------------------------------------------------------

LEVELS = 3
NAMES = tuple(f"{kind}{level}" for level in range(LEVELS) for kind in ("t", "s"))
COLLECTIONS = tuple(
    Collection(name, Kind.TABLE if name[0] == "t" else Kind.SCRATCH, Schema(("x", "y")), "Generated")
    for name in NAMES
)


def level_of(name: str) -> int:
    return int(name[1:])


@dataclass(frozen=True)
class Generated:
    program: BloomProgram
    steps: tuple[State, ...]


def _opaque(row: Any) -> Any:
    return None if row[0] is None else (row[1], row[0])


def ref(name: str) -> Relation:
    return Relation(Ref(name, ("x", "y"), (("x", "y"),)))


@st.composite
def relations(draw: st.DrawFn, level: int, depth: int) -> Relation:
    """Columns x and y.  Strict uses are of lower levels, others also of this one."""
    if depth == 0 or draw(st.booleans()):
        return ref(draw(st.sampled_from([n for n in NAMES if level_of(n) <= level])))
    made = draw(row_by_row(level, depth) if level == 0 else row_by_row(level, depth) | strict(level, depth))
    return made if made.to_expr().columns == ("x", "y") else made.rename("x", "y")


@st.composite
def row_by_row(draw: st.DrawFn, level: int, depth: int) -> Relation:
    a, b, c = (draw(relations(level, depth - 1)) for _ in range(3))
    match draw(st.integers(0, 9)):
        case 0:
            return a.filter(lambda r: r[0] != r[1])
        case 1:
            return a.map(lambda r: (r[1], r[0]))
        case 2:
            return a.map(_opaque)
        case 3:
            return a.flat_map(lambda r: [(r[0], r[0]), (r[1], 1)])
        case 4:
            return (a * b).pairs(lambda p, q: (p[0], q[1]), y="x")
        case 5:
            return (a * b).lefts(x="y")
        case 6:
            return (a * b).rights(x="x", y="y")
        case 7:
            return (a * b).lefts()
        case 8:
            return _triple(a.rename("x", "y"), b.rename("u", "v"), c.rename("w", "z"))
    return a.project("y", "x")


def _triple(a: Relation, b: Relation, c: Relation) -> Relation:
    matches = (ColumnRef(a, "y") == ColumnRef(b, "u"), ColumnRef(a, "x") == ColumnRef(c, "z"))
    return (a * b * c).pairs(*matches, lambda p, q, r: (q[1], r[0]))


@st.composite
def strict(draw: st.DrawFn, level: int, depth: int) -> Relation:
    a, lower = draw(relations(level, depth - 1)), draw(relations(level - 1, depth - 1))
    match draw(st.integers(0, 6)):
        case 0:
            return a.notin(lower, x="y")
        case 1:
            return a.notin(lower)
        case 2:
            return (a * lower).outer(lambda p, q: (p[1], q[1]), x="x")
        case 3:
            return lower.group(["x"], agg.count())
        case 4:
            return lower.group(["y"], draw(st.sampled_from([agg.min, agg.max, agg.choose]))("x"))
        case 5:
            return lower.argmin(["x"], "y")
    return lower.argmax([], "x")


@st.composite
def rules(draw: st.DrawFn) -> Rule:
    target = draw(st.sampled_from(NAMES))
    ops = [Op.NOW, Op.NOW, Op.NOW, Op.NEXT, *([Op.DELETE] * 2 if target[0] == "t" else [])]
    op = draw(st.sampled_from(ops))
    level = level_of(target) if op is Op.NOW else LEVELS - 1
    return Rule(target, op, draw(relations(level, 2)).to_expr(), "Generated.rules")


@st.composite
def recursive_rules(draw: st.DrawFn) -> Rule:
    """Longer and longer ways: many rounds, with something new on both sides of the join."""
    target = draw(st.sampled_from(NAMES))
    other = draw(st.sampled_from([n for n in NAMES if level_of(n) == level_of(target)]))
    sides = draw(st.sampled_from([(target, other), (other, target), (target, target)]))
    joined = (ref(sides[0]) * ref(sides[1])).pairs(lambda p, q: (p[0], q[1]), y="x")
    return Rule(target, Op.NOW, joined.to_expr(), "Generated.rules")


VALUES = st.integers(0, 6)
ARRIVING = st.dictionaries(st.sampled_from(NAMES), st.sets(st.tuples(VALUES, VALUES), max_size=8), max_size=4)


@st.composite
def programs(draw: st.DrawFn) -> Generated:
    drawn = tuple(draw(st.lists(rules() | recursive_rules(), min_size=1, max_size=6)))
    steps = tuple(draw(st.lists(ARRIVING, min_size=1, max_size=4)))
    return Generated(BloomProgram("Generated", COLLECTIONS, drawn), steps)


@given(programs())
def test_the_machine_agrees_with_the_naive_evaluator(generated: Generated) -> None:
    machine = Machine(generated.program, "here")
    before: dict[str, set[Row]] = {name: set() for name in NAMES}
    for arrived, expected in zip(generated.steps, run_naively(generated), strict=True):
        for name, rows in arrived.items():
            machine.insert(name, rows)
        stepped = machine.step()
        assert stepped.refused == ()
        assert {name: set(machine.rows(name)) for name in NAMES} == expected
        for name in NAMES:
            change = stepped.changes.get(name)
            if name[0] == "t":
                added, removed = expected[name] - before[name], before[name] - expected[name]
                assert (set(change.added), set(change.removed)) == (added, removed) if change else added == removed
            else:
                assert change is None
        before = expected
