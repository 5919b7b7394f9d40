"""Evaluate one step's ``<=`` rules to their fixpoint, stratum by stratum, and what other rules derive from that.

This is semi-naive evaluation: the first round of a stratum evaluates its rules in full; the following ones only
look at what the round before added.  All rules of a round see the same rows, so what is derived first does not
depend on the order of the rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import filterfalse
from typing import Any

from clew.bloom.ir.expressions import LatticeExpr
from clew.bloom.ir.program import Op, Rule
from clew.bloom.ir.strata import Stratum
from clew.bloom.runtime.compiler import Compiler
from clew.bloom.runtime.endless import Budget, computes
from clew.bloom.runtime.lattice_operators import LatticeOperator
from clew.bloom.runtime.operators import Operator, require_width
from clew.bloom.runtime.prepared import Prepared, RuleShape
from clew.bloom.runtime.storage import Cell, Store
from clew.bloom.values import Row, sort_rows, spell
from clew.errors import Position

#: What derives or gives rows: a rule, or None for the outside.
Origin = Rule | None
FROM_OUTSIDE = "from outside"


@dataclass(frozen=True)
class RejectedRow:
    """A row that was rejected.  ``rule`` is the block and the line, or "from outside"."""

    collection: str
    rule: str
    message: str
    position: Position | None = None

    def __str__(self) -> str:
        return f"{self.collection} ({self.rule}): {self.message}"


class Rejections:
    """The rows that were rejected since they were last asked for; the same thing once."""

    def __init__(self) -> None:
        self._found: dict[RejectedRow, None] = {}

    def add(self, collection: str, origin: Origin, message: str, position: Position | None = None) -> None:
        where = position or (None if origin is None else origin.position)
        # A dictionary: rules report the same row in every round of a recursion.
        self._found[RejectedRow(collection, _describe_origin(origin), message, where)] = None

    def take(self) -> tuple[RejectedRow, ...]:
        """Return and forget them, ordered by their place in the program: functions give rows in any order."""
        found = sorted(self._found, key=lambda r: (r.position is not None, r.position, r.collection, r.message))
        self._found = {}
        return tuple(found)


def _describe_origin(origin: Origin) -> str:
    if origin is None:
        return FROM_OUTSIDE
    return origin.block if origin.position is None else f"{origin.block}, line {origin.position.line}"


def merge(
    store: Store, batches: Sequence[tuple[Origin, Iterable[Row]]], collection: str, rejections: Rejections
) -> list[Row]:
    """Add rows and return the new ones.  Of two rows with one key the one that is there, or the smaller, stays.

    A conflict of keys is reported, and does not stop the node as it does in the Ruby version.
    """
    there = store.rows
    if store.key_of is None:  # no conflicts are possible, and nobody asks who derived a row: the fast way
        fresh = list(dict.fromkeys(row for _, rows in batches for row in filterfalse(there.__contains__, rows)))
    else:
        derived: dict[Row, Origin] = {}
        for origin, rows in batches:
            for row in filterfalse(there.__contains__, rows):
                # The first rule that derives a row is the one that a conflict is reported of.
                derived.setdefault(row, origin)
        fresh = list(_without_conflicts(store, derived, collection, rejections))
    if fresh:
        store.extend(fresh)
    return fresh


def _without_conflicts(
    store: Store, derived: Mapping[Row, Origin], collection: str, rejections: Rejections
) -> Iterator[Row]:
    assert store.key_of is not None
    by_key: dict[Any, list[Row]] = {}
    for row in derived:
        by_key.setdefault(store.key_of(row), []).append(row)
    for key, rows in by_key.items():
        # In canonical order, so that every node keeps the same one of two rows with the same key.
        if len(rows) > 1:
            rows = sort_rows(rows)
        kept = store.by_key.get(key)
        if kept is None:
            kept = rows.pop(0)
            yield kept
        for row in rows:
            rejections.add(
                collection, derived[row], f"{spell(row)} has the same key as {spell(kept)}, which is kept"
            )


@dataclass(frozen=True)
class Task:
    """A rule that is ready to run.

    ``only_new``: what tables held before was derived from before.  ``joins``: it combines rows, and gives rows.
    """

    origin: Rule
    target: str
    operator: Operator | LatticeOperator
    reads: tuple[str, ...]
    only_new: bool
    joins: bool


class Evaluation:
    """Evaluates the program of a node."""

    def __init__(
        self,
        prepared: Prepared,
        stores: Mapping[str, Store],
        cells: Mapping[str, Cell],
        address: str,
        rejections: Rejections,
    ) -> None:
        self._stores = stores
        self._cells = cells
        self._rejections = rejections
        self._widths = {c.name: len(c.schema.columns) for c in prepared.program.collections}
        form = prepared.form
        tasks = [
            self._task(rule, origin, shape, address)
            for rule, origin, shape in zip(form.rules, form.origins, prepared.shapes, strict=True)
        ]
        self._strata = [(s, [tasks[number] for number in s.rules]) for s in prepared.strata]
        self._later = {
            op: [tasks[k] for k, rule in enumerate(form.rules) if rule.op is op]
            for op in (Op.NEXT, Op.DELETE, Op.SEND)
        }

    def _task(self, rule: Rule, origin: Rule, shape: RuleShape, address: str) -> Task:
        def report(message: str, position: Position | None = None) -> None:
            self._rejections.add(origin.target, origin, message, position)

        compiler = Compiler(self._stores, self._cells, address, report, rule.position)
        operator: Operator | LatticeOperator
        if isinstance(rule.expr, LatticeExpr):
            operator = compiler.lattice(rule.expr)
        else:
            operator = compiler.rows(rule.expr)
            # The rule could not be checked when it was read, so its rows are checked now.
            if not rule.expr.columns and rule.target in self._widths:
                operator = require_width(operator, self._widths[rule.target], report)
        lasting = rule.target in self._stores and self._stores[rule.target].persists
        only_new = rule.op is Op.NOW and lasting and shape.is_row_by_row
        joins = rule.target in self._stores and shape.joins
        return Task(origin, rule.target, operator, shape.reads, only_new, joins)

    # -- this step -----------------------------------------------------------------------------------------------

    def run(self, *, first: bool) -> None:
        """Evaluate to the fixpoint.  In the first step, nothing has been derived from tables yet."""
        for stratum, tasks in self._strata:
            if stratum.recursive:
                self._run_rounds(stratum, tasks, first)
            else:
                self._run_once(tasks, first)

    def _run_once(self, tasks: Sequence[Task], first: bool) -> None:
        """Evaluate rules that do not read what they derive: one collection, and no round that needs a delta."""
        # Most strata of most steps are such, and derive nothing; this is what a step costs at least.
        target = tasks[0].target
        found = [(task.origin, self._first_round(task, first)) for task in tasks]
        if target in self._cells:
            cell = self._cells[target]
            cell.merge(cell.lattice.merge_all(value for _, value in found))
        elif any(rows for _, rows in found):  # an iterator counts as rows
            merge(self._stores[target], found, target, self._rejections)

    def _run_rounds(self, stratum: Stratum, tasks: Sequence[Task], first: bool) -> None:
        changed = self._merge_round([(task, self._first_round(task, first)) for task in tasks])
        members = frozenset(stratum.collections)
        # Rules that read nothing of the stratum have nothing new to say after the first round.
        again = [task for task in tasks if not members.isdisjoint(task.reads)]
        # Rules that only rearrange values come to an end by themselves, and pay nothing for being watched.
        budget = Budget([t.origin for t in again]) if any(computes(t.origin) for t in again) else None
        while changed:
            if budget is not None:
                budget.spend(sum(len(self._stores[name].delta) for name in members if name in self._stores))
            changed = self._merge_round([(task, self._delta(task, budget)) for task in again])
        self._settle(stratum.collections)

    def _delta(self, task: Task, budget: Budget | None) -> Any:
        if budget is None or not task.joins:
            return task.operator.delta()
        sources = {name: self._stores[name] for name in task.reads if name in self._stores}
        return budget.delta(task.operator.delta, sources, self._stores[task.target])

    def _first_round(self, task: Task, first: bool) -> Any:
        """Return what a rule derives at the start of its stratum, without what earlier steps derived for sure."""
        # A row that was deleted from the target may be derived again, from old rows.
        if first or not task.only_new or self._stores[task.target].removed:
            return task.operator.full()
        sources = [self._stores[name] for name in task.reads]
        for store in sources:
            # All rows of a scratch are new in a step; of a table those that this step added.
            store.delta = store.added if store.persists else store.rows
        found = task.operator.delta()
        for store in sources:
            store.delta = ()
        return found

    def _merge_round(self, derived: Sequence[tuple[Task, Any]]) -> bool:
        """End a round: merge what it derived, and tell whether something is new, the delta of the next round."""
        # Only now, when all rules of the round have run: so none of them saw what another one derived in it.
        batches: dict[str, list[tuple[Origin, Any]]] = {}
        for task, found in derived:
            batches.setdefault(task.target, []).append((task.origin, found))
        self._settle(batches)
        changed = False
        for target, given in batches.items():
            if target in self._cells:
                cell = self._cells[target]
                # Merged with each other first: the value of the cell is compared once a round.
                cell.changed = cell.merge(cell.lattice.merge_all(value for _, value in given))
                changed |= cell.changed
            else:
                store = self._stores[target]
                store.delta = merge(store, given, target, self._rejections)
                changed |= bool(store.delta)
        return changed

    def _settle(self, names: Iterable[str]) -> None:
        for name in names:
            if name in self._cells:
                self._cells[name].changed = False
            else:
                self._stores[name].delta = ()

    # -- later ---------------------------------------------------------------------------------------------------

    def derive(self, op: Op) -> Iterator[tuple[Rule, Any]]:
        """Yield what rules with another operator derive: rows, or for lattices a value."""
        for task in self._later[op]:
            yield task.origin, task.operator.full()
