"""Rules that are ready to run, in two kinds.

A *task* is evaluated in every step.  A *kept task* remembers the rows that its rule gives and in how many ways,
and changes them by what changes in the collections that the rule reads.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import filterfalse
from typing import Any, NamedTuple

from clew.bloom.ir.program import Rule
from clew.bloom.runtime.operators.differences import Difference
from clew.bloom.runtime.operators.lattices import LatticeOperator, SetProduct
from clew.bloom.runtime.operators.rows import Operator
from clew.bloom.runtime.rejections import Reports
from clew.bloom.runtime.storage import Cell, Store
from clew.bloom.values import Row


@dataclass(frozen=True)
class Task:
    """A rule that is evaluated in every step.

    ``only_new``: what tables held before was derived from before.  ``joins``: it combines rows, and gives rows.
    ``by_changes``: its operator can tell what changes.  ``always``: a function of it need not give the same twice.
    """

    origin: Rule
    target: str
    operator: Operator | LatticeOperator
    reads: tuple[str, ...]
    sources: Sequence[Store | Cell]
    reports: Reports
    products: Sequence[SetProduct]
    only_new: bool
    joins: bool
    by_changes: bool
    always: bool

    def full(self) -> Any:
        """Evaluate it: return rows, or for a lattice a value."""
        # Mostly there is nothing to report, and this is done for most rules in most steps.
        reports = self.reports
        if reports.times:
            reports.clear()
        found = self.operator.full()
        if reports.times:
            reports.tell()
        return found

    def new_rows(self) -> Iterable[Row]:
        """Return what follows from rows that are new in this step."""
        self.reports.clear()
        stores = [store for store in self.sources if isinstance(store, Store)]
        for store in stores:
            # All rows of a scratch are new in a step; of a table those that this step added.
            store.delta = store.added if store.persists else store.rows
        found: Iterable[Row] = self.operator.delta()
        for store in stores:
            store.delta = ()
        self.reports.tell()
        return found


def have_changed(sources: Iterable[Store | Cell]) -> bool:
    """Tell whether something is different since the last step in one of these."""
    # All of them, since a store that is made anew in each step finds out what is different when it is asked.
    changed = [source.has_changed() for source in sources]
    return any(changed)


class Transition(NamedTuple):
    """Rows that a rule gives now and did not give before, and the other way round."""

    appeared: Iterable[Row]
    vanished: Iterable[Row]


NO_TRANSITION = Transition((), ())


class NotCountedError(Exception):
    """What changes cannot be found by counting, so that rows have to be derived anew."""


class KeptTask:
    """A rule of which the rows are kept.

    It is evaluated anew if something has changed that it reads, and it cannot tell what follows from that.  So it
    is if a row is taken back that it did not give: a function was taken to give the same each time, and what it
    uses was changed from elsewhere.
    """

    def __init__(self, task: Task) -> None:
        self.task = task
        self._operator: Any = task.operator
        #: The rows that it gives, and in how many ways; None before it is evaluated.
        self.counts: Counter[Row] | None = None

    def forget(self) -> None:
        """Forget what it gives: it is evaluated anew in the next step."""
        self.counts = None

    def gives(self, row: Row) -> bool:
        return self.counts is not None and row in self.counts

    def advance(self) -> Transition:
        """Change what it gives by what has changed since it was last asked."""
        if self.counts is None or self.task.always:
            return self._evaluate()
        # Asked before anything else: whoever computes changes relies on it.
        if not have_changed(self.task.sources):
            return NO_TRANSITION
        difference = self.difference()
        return self._evaluate() if difference is None else self.count(difference)

    def difference(self) -> Difference | None:
        """Return what changes, or None if it has to be evaluated anew."""
        if not self.task.by_changes:
            return None
        found: Difference | None = self._operator.changes()
        return found

    def count(self, difference: Difference) -> Transition:
        """Count what changes; rows are there as long as there is one way to derive them."""
        counts = self.counts
        assert counts is not None
        appeared = dict.fromkeys(filterfalse(counts.__contains__, difference.plus))
        counts.update(difference.plus)
        vanished: dict[Row, None] = {}
        try:
            for row in self._count_down(difference.minus):
                if row in appeared:
                    del appeared[row]
                else:
                    vanished[row] = None
        except NotCountedError:
            return self._replace({row: None for row in counts if row not in appeared} | vanished)
        return Transition(appeared, vanished)

    def recount(self, difference: Difference) -> None:
        """Count what changes, for somebody who finds out what that means."""
        assert self.counts is not None
        self.counts.update(difference.plus)
        for _ in self._count_down(difference.minus):
            pass

    def _count_down(self, rows: Iterable[Row]) -> Iterator[Row]:
        """Take rows away once each, and yield those that are not derived in any other way."""
        counts = self.counts
        assert counts is not None
        for row in rows:
            left = counts[row] - 1
            if left > 0:
                counts[row] = left
            elif left < 0:
                raise NotCountedError
            else:
                del counts[row]
                yield row

    def _evaluate(self) -> Transition:
        return self._replace(self.counts or {})

    def _replace(self, before: Mapping[Row, Any]) -> Transition:
        """Evaluate it anew, and compare its rows with what they were."""
        now = self.evaluate()
        return Transition([row for row in now if row not in before], [row for row in before if row not in now])

    def evaluate(self) -> Counter[Row]:
        """Evaluate it anew, and return its rows."""
        # Of an iterator: a dictionary of rows would be taken for their numbers.
        self.counts = Counter(iter(self.task.full()))
        return self.counts
