"""Recursion: collections that depend on each other, evaluated in rounds.

This is semi-naive evaluation: the first round evaluates all rules in full; the following ones only look at what
the round before added.  All rules of a round see the same rows, so what is derived first does not depend on the
order of the rules.  If nothing is different from the last step, neither is the fixpoint, and it stays.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from functools import partial
from itertools import chain
from typing import Any

from clew.bloom.runtime.endless import Budget, check_product, computes
from clew.bloom.runtime.rejections import Rejections
from clew.bloom.runtime.storage import Cell, Store
from clew.bloom.runtime.strata.merging import Batch, merge
from clew.bloom.runtime.strata.tasks import Task, have_changed


class Rounds:
    """``members``: the collections, by name."""

    def __init__(self, members: Mapping[str, Store | Cell], tasks: Sequence[Task], rejections: Rejections) -> None:
        self._members = members
        self._tasks = tasks
        self._rejections = rejections
        # Rules that read nothing of the stratum have nothing new to say after the first round.
        self._again = [task for task in tasks if not members.keys().isdisjoint(task.reads)]
        # Rules that only rearrange values come to an end by themselves, and pay nothing for being watched.
        self._is_watched = any(computes(task.origin) for task in self._again)
        if self._is_watched:
            rules = [task.origin for task in self._again]
            for made in chain.from_iterable(task.products for task in self._again):
                made.watch = partial(check_product, rules)
        # Scratches that are empty in the beginning of a step tell that it has to be evaluated anew, as does a
        # function that need not give the same twice.
        self._kept = [member for member in members.values() if isinstance(member, Store) and not member.persists]
        self._can_stay = all(store.lasts for store in self._kept) and not any(task.always for task in tasks)
        self._is_settled = False
        self._given: dict[str, Sequence[Batch]] = {}
        self._was_given = False

    def give(self, name: str, given: Sequence[Batch]) -> None:
        """Take rows that are inserted into one of the collections for this step."""
        self._given[name] = given

    def run(self, *, first: bool) -> None:
        if self._stays():
            for task in self._tasks:
                if not task.only_new:
                    task.reports.tell()
            return
        given, self._given = self._given, {}
        self._was_given = bool(given)
        self._is_settled = False
        before = [store.rows for store in self._kept]
        for store in self._kept:
            if store.lasts:
                store.clear()
        conflicts = self._rejections.conflicts
        for name, batches in given.items():
            merge(self._store(name), batches, name, self._rejections)
        self._run_rounds(first)
        for store, rows in zip(self._kept, before, strict=True):
            if store.lasts:
                store.compare_with(rows)
                store.is_compared = True
        # Which of two rows with one key stays depends on the round in which they come, and so on what was there.
        self._is_settled = conflicts == self._rejections.conflicts

    def _stays(self) -> bool:
        # Nobody may ask a scratch what is different in it before it is complete.
        if not (self._can_stay and self._is_settled) or self._given or self._was_given:
            return False
        changed = have_changed(source for task in self._tasks for source in task.sources)
        return not have_changed(self._members.values()) and not changed

    def forget(self) -> None:
        self._is_settled = False
        self._given = {}

    def _store(self, name: str) -> Store:
        found = self._members[name]
        assert isinstance(found, Store)
        return found

    # -- rounds --------------------------------------------------------------------------------------------------

    def _run_rounds(self, first: bool) -> None:
        changed = self._merge_round([(task, self._first_round(task, first)) for task in self._tasks])
        budget = Budget([t.origin for t in self._again]) if self._is_watched else None
        before = {} if budget is None else self._sizes()
        while changed:
            if budget is not None:
                sizes = self._sizes()
                grown = sum(size - before.get(name, 0) for name, size in sizes.items())
                rows = sum(len(m.delta) for m in self._members.values() if isinstance(m, Store))
                budget.spend(rows + grown)
                before = sizes
            changed = self._merge_round([(task, self._delta(task, budget)) for task in self._again])
        self._settle(self._members)
        for task in self._again:
            task.reports.tell()

    def _sizes(self) -> dict[str, int]:
        """Return how many elements the lattices have that have any; of a map, how many entries."""
        cells = {name: m.value.held for name, m in self._members.items() if isinstance(m, Cell)}
        return {name: len(held) for name, held in cells.items() if isinstance(held, Set | Mapping)}

    def _first_round(self, task: Task, first: bool) -> Any:
        """Return what a rule derives at the start of its stratum, without what earlier steps derived for sure."""
        # A row that was deleted from the target may be derived again, from old rows.
        if first or not task.only_new or self._store(task.target).removed:
            return task.full()
        return task.new_rows()

    def _delta(self, task: Task, budget: Budget | None) -> Any:
        if budget is None or not task.joins:
            return task.operator.delta()
        sources = [source for source in task.sources if isinstance(source, Store)]
        return budget.delta(task.operator.delta, sources, self._store(task.target))

    def _merge_round(self, derived: Sequence[tuple[Task, Any]]) -> bool:
        """End a round: merge what it derived, and tell whether something is new, the delta of the next round."""
        # Only now, when all rules of the round have run: so none of them saw what another one derived in it.
        batches: dict[str, list[tuple[Any, Any]]] = {}
        for task, found in derived:
            batches.setdefault(task.target, []).append((task.origin, found))
        self._settle(batches)
        changed = False
        for target, given in batches.items():
            member = self._members[target]
            if isinstance(member, Cell):
                # Merged with each other first: the value of the cell is compared once a round.
                member.changed = member.merge(member.lattice.merge_all(value for _, value in given))
                changed |= member.changed
            else:
                member.delta = merge(member, given, target, self._rejections)
                changed |= bool(member.delta)
        return changed

    def _settle(self, names: Iterable[str]) -> None:
        for name in names:
            member = self._members[name]
            if isinstance(member, Cell):
                member.changed = False
            else:
                member.delta = ()
