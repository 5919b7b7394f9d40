"""A Bloom node that goes through everything in every step: the oracle of drawn programs.

Rows are in sets, a stratum is evaluated until nothing changes, and of a step nothing is remembered but tables,
lattices and what the rules leave for the next one.  Strata are found by following what reads what.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any

from clew.bloom.ir.expressions import (
    Aggregate,
    Apply,
    Elements,
    Extreme,
    Fold,
    Group,
    Join,
    LatticeRef,
    NotIn,
    Project,
    Reduce,
    Ref,
    Rename,
    Role,
    RowFunction,
    Rows,
    Take,
    Transform,
    Value,
    WhenTrue,
)
from clew.bloom.ir.program import BloomProgram, Op, Rule
from clew.bloom.ir.schema import Collection, Kind
from clew.bloom.lattices.containers import LATTICES
from clew.bloom.values import BadValueError, Row, freeze_row, sort_key, sort_rows, spell
from clew.errors import describe_exception

#: A collection, and what was said of its rows.
Report = tuple[str, str]


@dataclass
class Stepped:
    """What a step sends, and reports of the rows of scratches."""

    sent: set[tuple[str, Row]] = field(default_factory=set)
    reports: set[Report] = field(default_factory=set)
    #: Whether two rows with one key met in a recursion: then it depends on the rounds which of them stays.
    ambiguous: bool = False


class NaiveNode:
    """``rows`` and ``values`` are what collections and lattices hold after the latest step."""

    def __init__(self, program: BloomProgram) -> None:
        self._program = program
        self._kinds = {c.name: c for c in program.collections}
        self.rows: dict[str, set[Row]] = {c.name: set() for c in program.collections if c.lattice is None}
        self.values: dict[str, Any] = {
            c.name: LATTICES[c.lattice].bottom() for c in program.collections if c.lattice is not None
        }
        self._inserted: list[tuple[str, Row]] = []
        self._deleted: list[tuple[str, Row]] = []
        self._merged: list[tuple[str, Any]] = []
        self._strata = list(_strata(program))
        self._now = Stepped()
        self._target = ""

    def kind_of(self, name: str) -> Collection:
        """Return how a collection was declared."""
        return self._kinds[name]

    def insert(self, name: str, rows: Iterable[Row]) -> None:
        self._inserted += [(name, row) for row in rows]

    def delete(self, name: str, rows: Iterable[Row]) -> None:
        self._deleted += [(name, row) for row in rows]

    # -- a step --------------------------------------------------------------------------------------------------

    def step(self) -> Stepped:
        self._now = Stepped()
        for name, rows in self.rows.items():
            if self._kinds[name].kind is not Kind.TABLE:
                rows.clear()
        for name, row in self._deleted:
            self.rows[name].discard(row)
        given: dict[str, set[Row]] = {}
        for name, row in self._inserted:
            given.setdefault(name, set()).add(row)
        for name, rows in given.items():
            self._add(name, rows)
        for name, value in self._merged:
            self.values[name] = self.values[name].merge(value)
        self._inserted, self._deleted, self._merged = [], [], []
        for rules, recursive in self._strata:
            self._to_fixpoint(rules, recursive)
        self._leave()
        return self._now

    def _to_fixpoint(self, rules: list[Rule], recursive: bool) -> None:
        while True:
            found = [(rule.target, self._derived(rule)) for rule in rules]
            before = self._extent()
            by_target: dict[str, set[Row]] = {}
            for name, derived in found:
                if name in self.values:
                    self.values[name] = self.values[name].merge(derived)
                else:
                    by_target.setdefault(name, set()).update(derived)
            for name, rows in by_target.items():
                self._now.ambiguous |= self._add(name, rows) and recursive
            if not recursive or before == self._extent():
                return

    def _extent(self) -> tuple[int, dict[str, Any]]:
        """Return what is different after anything was added."""
        return sum(map(len, self.rows.values())), dict(self.values)

    def _add(self, name: str, rows: set[Row]) -> bool:
        """Add rows without conflicts of keys, and tell whether there was one."""
        schema = self._kinds[name].schema
        keys = len(schema.keys) if schema.values else None
        conflict = False
        for row in sort_rows(rows - self.rows[name]):
            kept = next((r for r in self.rows[name] if keys is not None and r[:keys] == row[:keys]), None)
            if kept is None:
                self.rows[name].add(row)
            elif kept != row:
                conflict = True
                self._say(name, f"{spell(row)} has the same key as {spell(kept)}, which is kept")
        return conflict

    def _leave(self) -> None:
        for rule in self._program.rules:
            if rule.op is Op.NOW:
                continue
            found = self._derived(rule)
            if rule.op is Op.SEND and self._kinds[rule.target].kind is Kind.LOOPBACK:
                self.insert(rule.target, found)
            elif rule.op is Op.SEND:
                self._now.sent |= {(rule.target, row) for row in found}
            elif rule.op is Op.DELETE:
                self.delete(rule.target, found)
            elif rule.target in self.values:
                self._merged.append((rule.target, found))
            else:
                self.insert(rule.target, found)

    def _derived(self, rule: Rule) -> Any:
        self._target = rule.target
        if rule.target in self.values:
            return self._value(rule.expr)
        found = self._rows(rule.expr)
        width = len(self._kinds[rule.target].schema.columns)
        return found if rule.expr.columns else self._of_width(found, width)  # type: ignore[union-attr]

    def _of_width(self, rows: set[Row], width: int) -> set[Row]:
        for row in rows:
            if len(row) != width:
                self._say(self._target, f"a row with {len(row)} columns where {width} are expected: {row!r}")
        return {row for row in rows if len(row) == width}

    def _say(self, name: str, message: str) -> None:
        # Of tables, the runtime looks at what is new only, and does not repeat itself.
        if self._kinds[name].kind is Kind.SCRATCH:
            self._now.reports.add((name, message))

    # -- rows ----------------------------------------------------------------------------------------------------

    def _rows(self, expr: Any) -> set[Row]:
        match expr:
            case Ref(collection):
                return set(self.rows[collection])
            case Rows(rows):
                return set(rows)
            case Rename(source, columns):
                return self._rows(source) if source.columns else self._of_width(self._rows(source), len(columns))
            case Project(source, kept):
                return {tuple(row[k] for k in kept) for row in self._rows(source)}
            case Transform(source, function):
                return {found for row in self._rows(source) for found in self._call(function, row)}
            case Join():
                return join_naively(expr, [self._rows(source) for source in expr.sources])
            case NotIn(source, absent, matches):
                there = self._rows(absent)
                if not matches:
                    return self._rows(source) - there
                keys = {tuple(row[b] for _, b in matches) for row in there}
                return {row for row in self._rows(source) if tuple(row[a] for a, _ in matches) not in keys}
            case WhenTrue(condition, source):
                return self._rows(source) if self._value(condition).held else set()
            case Elements(lattice):
                return set(self._value(lattice).elements())
        return self._over_all_rows(expr)

    def _over_all_rows(self, expr: Any) -> set[Row]:
        rows = sort_rows(self._rows(expr.source))
        if isinstance(expr, Reduce):
            return self._reduced(expr, rows)
        groups: dict[Row, list[Row]] = {}
        for row in rows:
            groups.setdefault(tuple(row[k] for k in expr.keys), []).append(row)
        if isinstance(expr, Extreme):
            best = max if expr.largest else min
            return {
                row
                for members in groups.values()
                for row in members
                if sort_key(row[expr.column]) == best(sort_key(r[expr.column]) for r in members)
            }
        assert isinstance(expr, Group)
        found = set()
        for key, members in groups.items():
            try:
                found.add((*key, *freeze_row([_aggregate(a, members) for a in expr.aggregates])))
            except (TypeError, ArithmeticError, BadValueError) as error:
                names = ", ".join(a.function for a in expr.aggregates)
                why = describe_exception(error)
                self._say(self._target, f"{names} of the group {key!r} cannot be computed: {why}")
        return found

    def _call(self, function: RowFunction, row: Row) -> list[Row]:
        parts, start = [], 0
        for columns in function.parts:
            width = len(columns) or len(row)
            parts.append(_Named(row[start : start + width], columns))
            start += width
        try:
            result = function.call(*parts)
            match function.role:
                case Role.FILTER:
                    return [row] if result else []
                case Role.MAP:
                    return [] if result is None else [_as_row(result)]
                case Role.FLAT_MAP:
                    return [_as_row(one) for one in result]
        except Exception as error:
            what = f"raised {describe_exception(error)}"
            if isinstance(error, _NoRowError | BadValueError):
                what = f"returned something that is not a row ({error})"
            self._say(self._target, f"a function {what} for the row {spell(row)}")
        return []

    def _reduced(self, expr: Reduce, rows: list[Row]) -> set[Row]:
        memo = deepcopy(expr.initial)
        try:
            for row in rows:
                memo = expr.fold(memo, _Named(row, expr.source.columns))
            return {_as_row(row) for row in memo.items()}
        except Exception as error:
            what = "raised"
            if isinstance(error, _NoRowError | BadValueError):
                what = "returned something that is not rows:"
            self._say(self._target, f"reduce {what} {describe_exception(error)}")
            return set()

    # -- lattices ------------------------------------------------------------------------------------------------

    def _value(self, expr: Any) -> Any:
        match expr:
            case LatticeRef(collection):
                return self.values[collection]
            case Value(value, lattice):
                return LATTICES[lattice].of(value)
            case Fold(source, None, lattice):
                made = LATTICES[lattice]
                found = made.bottom()
                for row in sort_rows(self._rows(source)):
                    try:
                        found = found.merge(made.of_row(row))
                    except ValueError:
                        continue
                return found
            case Apply(source, method, arguments, lattice):
                value = self._value(source)
                given = [self._value(a) if is_dataclass(a) else a for a in arguments]
                try:
                    return getattr(value, method)(*given)
                except Exception as error:
                    why = describe_exception(error)
                    self._say(self._target, f"{method} of {value!r} cannot be computed: {why}")
                    return LATTICES[lattice].bottom()
        raise AssertionError(expr)


class _Named(tuple[Any, ...]):
    """A row with columns by name."""

    def __new__(cls, row: Row, columns: tuple[str, ...]) -> _Named:
        made = super().__new__(cls, row)
        made.columns = columns  # type: ignore[attr-defined]
        return made

    def __getattr__(self, name: str) -> Any:
        columns = self.__dict__["columns"]
        if name in columns:
            return self[columns.index(name)]
        raise AttributeError(name)


class _NoRowError(Exception):
    pass


def _as_row(result: Any) -> Row:
    if not isinstance(result, tuple | list):
        raise _NoRowError(f"{type(result).__name__} instead of a tuple: {result!r}")
    return freeze_row(result)


def _aggregate(aggregate: Aggregate, members: list[Row]) -> Any:
    rows = [tuple(member[k] for k in aggregate.over) for member in members]
    values: list[Any] = [row[0] if row else None for row in rows]
    match aggregate.function:
        case "count":
            return len(set(rows)) if rows[0] else len(rows)
        case "sum":
            return sum(values)
        case "avg":
            return sum(values) / len(values)
        case "min" | "choose":
            return sorted(values, key=sort_key)[0]
        case "max":
            return sorted(values, key=sort_key)[-1]
        case "accum":
            return frozenset(values)
        case "accum_pair":
            return frozenset(rows)
        case "bool_and":
            return False not in map(bool, values)
        case "bool_or":
            return True in map(bool, values)
    raise AssertionError(aggregate)


def join_naively(expr: Join, sides: list[set[Row]]) -> set[Row]:
    """Return all combinations of rows of the sides that match, as the join takes them."""
    found = [
        rows
        for rows in itertools.product(*sides)
        if all(rows[m.left_source][m.left] == rows[m.right_source][m.right] for m in expr.matches)
    ]
    match expr.take:
        case Take.LEFTS:
            return {rows[0] for rows in found}
        case Take.RIGHTS:
            return {rows[1] for rows in found}
        case Take.OUTER:
            matched = {rows[0] for rows in found}
            missing = (None,) * len(expr.sources[1].columns)
            return {a + b for a, b in found} | {row + missing for row in sides[0] - matched}
    return {tuple(itertools.chain(*rows)) for rows in found}


# -- strata ------------------------------------------------------------------------------------------------------


def _strata(program: BloomProgram) -> Iterator[tuple[list[Rule], bool]]:
    """Yield the rules of collections that depend on each other, and whether they do, sources first."""
    rules = [rule for rule in program.rules if rule.op is Op.NOW]
    reads: dict[str, set[str]] = {c.name: set() for c in program.collections}
    for rule in rules:
        reads[rule.target] |= set(_names_in(rule.expr))
    reaches = {name: set(sources) for name, sources in reads.items()}
    for _ in reads:
        for sources in reaches.values():
            sources |= set().union(*(reaches[source] for source in sources))
    done: set[str] = set()
    while len(done) < len(reads):
        left = sorted(reads.keys() - done)
        name = next(n for n in left if all(m in done or n in reaches[m] for m in reaches[n]))
        together = {m for m in reaches[name] if name in reaches[m]} | {name}
        done |= together
        yield [rule for rule in rules if rule.target in together], name in reaches[name]


def _names_in(expr: Any) -> Iterator[str]:
    """Yield what an expression reads, wherever it stands in it."""
    if isinstance(expr, Ref | LatticeRef):
        yield expr.collection
    elif isinstance(expr, tuple):
        for one in expr:
            yield from _names_in(one)
    elif isinstance(expr, RowFunction | Reduce):
        yield from expr.reads
    if is_dataclass(expr):
        for part in fields(expr):
            yield from _names_in(getattr(expr, part.name))


def look_at(node: NaiveNode) -> Mapping[str, Any]:
    """Return what all collections hold."""
    return {**node.rows, **node.values}
