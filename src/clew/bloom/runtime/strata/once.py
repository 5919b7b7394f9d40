"""Strata without recursion: the rules of one collection, none of which reads it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from clew.bloom.runtime.operators.lattices import CellValue, MergeRows
from clew.bloom.runtime.rejections import Rejections
from clew.bloom.runtime.storage import Cell, Store
from clew.bloom.runtime.strata.merging import Batch, merge, report_conflict
from clew.bloom.runtime.strata.tasks import KeptTask, Task, have_changed
from clew.bloom.values import Row, sort_rows


class Runner(Protocol):
    """What evaluates a stratum."""

    def run(self, *, first: bool) -> None:
        """Bring its collections to their fixpoint.  In the first step, nothing was derived from tables before."""

    def forget(self) -> None:
        """Forget what was kept of earlier steps: the last one was not finished."""


class Anew:
    """A scratch that is empty when a step begins, and derived anew in it: most strata of most programs."""

    def __init__(self, name: str, store: Store, tasks: Sequence[Task], rejections: Rejections) -> None:
        self._name = name
        self._store = store
        self._tasks = tasks
        self._rejections = rejections

    def run(self, *, first: bool) -> None:
        found = [(task.origin, task.full()) for task in self._tasks]
        # Mostly there is nothing; this is what a step costs at least.
        if any(rows for _, rows in found):  # an iterator counts as rows
            merge(self._store, found, self._name, self._rejections)

    def forget(self) -> None:
        pass


class LatticeTarget:
    """A lattice, which keeps what was merged into it."""

    def __init__(self, cell: Cell, tasks: Sequence[Task]) -> None:
        self._cell = cell
        self._tasks = tasks
        self._evaluated = False

    def run(self, *, first: bool) -> None:
        found = [value for task in self._tasks for value in self._new_value(task)]
        self._evaluated = True
        for value in found:
            self._cell.merge(value)

    def _new_value(self, task: Task) -> Iterator[Any]:
        """Yield what a rule gives, unless merging it once more would change nothing."""
        if not (self._evaluated and task.by_changes):
            yield task.full()
            return
        if have_changed(task.sources):
            value = task.operator.merge_changes() if isinstance(task.operator, MergeRows | CellValue) else None
            yield task.full() if value is None else value
        task.reports.tell()

    def forget(self) -> None:
        self._evaluated = False


class TableTarget:
    """A table: rows stay when nothing derives them any more, and come back if they are deleted and derived still.

    What a kept task gives is in the table, unless another row has its key (it is *blocked*) or it was deleted.  So
    only these rows are offered to the table, beside those that are new.
    """

    def __init__(self, name: str, store: Store, tasks: Sequence[Task], rejections: Rejections) -> None:
        self._name = name
        self._store = store
        self._rejections = rejections
        # What follows row by row from tables needs no memory, before something is deleted.
        self._tasks = [KeptTask(t) if t.by_changes and not t.only_new else t for t in tasks]
        self._blocked: dict[int, list[Row]] = {}

    def run(self, *, first: bool) -> None:
        batches: list[Batch] = []
        for number, task in enumerate(self._tasks):
            if isinstance(task, Task) and task.only_new and self._store.removed:
                task = self._tasks[number] = KeptTask(task)
            if isinstance(task, KeptTask):
                batches.append((task.task.origin, self._offer(number, task)))
            else:
                found = task.new_rows() if task.only_new and not first else task.full()
                batches.append((task.origin, found))
        if any(rows for _, rows in batches):
            merge(self._store, batches, self._name, self._rejections)
        if self._store.key_of is not None:
            self._note_blocked(batches)

    def _offer(self, number: int, task: KeptTask) -> list[Row]:
        offered = list(task.advance().appeared)
        # A rule that is evaluated by its new rows alone does not repeat what it has reported.
        if not task.task.only_new or self._store.removed:
            offered += filter(task.gives, self._blocked.get(number, ()))
            offered += [row for row in self._store.removed if task.gives(row)]
            task.task.reports.tell()
        else:
            task.task.reports.tell_fresh()
        return offered

    def _note_blocked(self, batches: Sequence[Batch]) -> None:
        there = self._store.rows
        for number, (task, (_, rows)) in enumerate(zip(self._tasks, batches, strict=True)):
            if isinstance(task, KeptTask):
                known = self._blocked.get(number, ())
                self._blocked[number] = [
                    row for row in dict.fromkeys([*known, *rows]) if row not in there and task.gives(row)
                ]

    def forget(self) -> None:
        self._blocked = {}
        for number, task in enumerate(self._tasks):
            if isinstance(task, KeptTask):
                task.forget()
                # Needs no memory, and would report once more what it reported, if it were evaluated anew.
                if task.task.only_new:
                    self._tasks[number] = task.task


class KeptCollection:
    """A scratch of which most rows stay: it is changed by what its rules no longer give, or give now."""

    def __init__(self, name: str, store: Store, tasks: Sequence[Task], rejections: Rejections) -> None:
        self._name = name
        self._store = store
        self._tasks = [KeptTask(task) for task in tasks]
        self._rejections = rejections
        self._given: Sequence[Batch] = ()
        self._inserted: dict[Row, Any] = {}  # in this step, with what gave them
        # By key, rows that lost against another one; they are reported in every step.
        self._losers: dict[Any, list[Row]] = {}

    def give(self, name: str, given: Sequence[Batch]) -> None:
        """Take rows that are inserted for this step."""
        self._given = given

    def run(self, *, first: bool) -> None:
        new, gone = self._insert()
        for task in self._tasks:
            appeared, vanished = task.advance()
            new |= dict.fromkeys(appeared)
            gone |= dict.fromkeys(vanished)
            task.task.reports.tell()
        if self._store.key_of is None:
            self._change(new, gone)
        else:
            self._change_by_key(new, gone)
            self._report_losers()

    def _insert(self) -> tuple[dict[Row, None], dict[Row, None]]:
        """Replace the inserted rows of the last step by those of this one."""
        before, self._inserted = self._inserted, {}
        for origin, rows in self._given:
            for row in rows:
                self._inserted.setdefault(row, origin)
        self._given = ()
        now = self._inserted
        return {row: None for row in now if row not in before}, {row: None for row in before if row not in now}

    def _is_supported(self, row: Row) -> bool:
        return row in self._inserted or any(task.gives(row) for task in self._tasks)

    def _change(self, new: dict[Row, None], gone: dict[Row, None]) -> None:
        store = self._store
        for row in gone:
            if row in store.rows and not self._is_supported(row):
                store.remove(row)
        fresh = [row for row in new if row not in store.rows]
        if fresh:
            store.extend(fresh)

    # -- keys ----------------------------------------------------------------------------------------------------

    def _change_by_key(self, new: dict[Row, None], gone: dict[Row, None]) -> None:
        store = self._store
        key_of = store.key_of
        assert key_of is not None
        touched: dict[Any, list[Row]] = {}
        for row in (*new, *gone):
            touched.setdefault(key_of(row), []).append(row)
        for key, rows in touched.items():
            before = store.by_key.get(key)
            known = [*self._losers.pop(key, ()), *rows, *(() if before is None else (before,))]
            wanted = sort_rows(row for row in dict.fromkeys(known) if self._is_supported(row))
            # What is inserted is there first.
            kept = next(iter([*(row for row in wanted if row in self._inserted), *wanted]), None)
            if before is not None and before != kept:
                store.remove(before)
            if kept is not None and before != kept:
                store.extend([kept])
            if len(wanted) > 1:
                self._losers[key] = [row for row in wanted if row != kept]

    def _report_losers(self) -> None:
        for origin, row, kept in self._conflicts():
            report_conflict(self._rejections, self._name, origin, row, kept)

    def _conflicts(self) -> Iterator[tuple[Any, Row, Row]]:
        for key, rows in self._losers.items():
            kept = self._store.by_key[key]
            for row in rows:
                if row in self._inserted:
                    yield self._inserted[row], row, kept
                # The first rule that derives a row is the one that a conflict is reported of.
                deriving = next((task for task in self._tasks if task.gives(row)), None)
                if deriving is not None:
                    yield deriving.task.origin, row, kept

    def forget(self) -> None:
        self._given, self._inserted, self._losers = (), {}, {}
        self._store.reset()
        for task in self._tasks:
            task.forget()
