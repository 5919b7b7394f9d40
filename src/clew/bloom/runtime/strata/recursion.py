"""Recursion of which most rows stay: rows are taken back and added, instead of derived anew.

Each rule knows in how many ways it gives a row.  A row that has lost one of its ways may owe the others to itself,
so it is taken away at first, with all that rests on it.  What then is still derived in some way, from rows that
are left, comes back, and what is new is added, in rounds.  (This is DRed, "delete and rederive"; thanks to the
numbers, nobody has to look for other ways to derive a row.)
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import filterfalse

from clew.bloom.runtime.endless import Budget
from clew.bloom.runtime.operators.differences import NOTHING, Difference
from clew.bloom.runtime.rejections import Origin, RejectedRow, Rejections
from clew.bloom.runtime.storage import Cell, Store, note_changes, respell
from clew.bloom.runtime.strata.rounds import Rounds
from clew.bloom.runtime.strata.tasks import KeptTask, NotCountedError, Task, have_changed
from clew.bloom.values import Row

#: Rows by collection.
_Rows = dict[str, dict[Row, None]]

#: Rows are derived anew if more than one of so many would be taken away: to take 630,000 paths away and to put
#: almost all of them back takes four times as long.
_MOST_TAKEN_AWAY = 4
#: But not for so few.
_FEW = 100


class _Waiting:
    """Rows that wait to be added, in order and each once.

    They are taken in portions, which may be of five rows: whoever copied the others each time would never end.
    """

    def __init__(self, rows: Iterable[Row]) -> None:
        self._rows = deque(rows)
        self._known = set(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def put(self, rows: Iterable[Row]) -> None:
        fresh = list(filterfalse(self._known.__contains__, rows))
        self._rows += fresh
        self._known.update(fresh)

    def take(self, size: int | None) -> list[Row]:
        """Take so many rows out, or all of them."""
        taken = [self._rows.popleft() for _ in range(len(self._rows) if size is None else min(size, len(self)))]
        self._known.difference_update(taken)
        return taken


class KeptRounds(Rounds):
    """Scratches that depend on each other; none of their rules may give something else each time."""

    def __init__(self, members: Mapping[str, Store], tasks: Sequence[Task], rejections: Rejections) -> None:
        super().__init__(members, tasks, rejections)
        self._stores = members
        self._counted = [KeptTask(task) for task in tasks]
        self._giving = {name: [t for t in self._counted if t.task.target == name] for name in members}
        self._growing = [t for t in self._counted if not members.keys().isdisjoint(t.task.reads)]
        outside = {id(s): s for t in tasks for s in t.sources} | {id(m): None for m in members.values()}
        self._outside = [source for source in outside.values() if source is not None]
        joined = {id(s): s for t in self._growing for s in t.task.sources if isinstance(s, Store)}
        self._joined = list(joined.values())
        self._is_counted = False
        self._inserted: dict[str, dict[Row, Origin]] = {name: {} for name in members}
        # Of keys: which of two rows stays depends on rounds, so they are all evaluated anew, and it is reported.
        self._conflicts: list[RejectedRow] = []
        self._added: _Rows = {}
        self._removed: _Rows = {}

    def run(self, *, first: bool) -> None:
        if self._stays():
            for task in self._tasks:
                task.reports.tell()
            self._rejections.put(self._conflicts)
        elif self._conflicts or not self._count():
            self._is_counted = False
            number = len(self._rejections)
            super().run(first=first)
            self._conflicts = [] if self._is_settled else self._rejections.since(number)
            self._is_settled = True  # from the same rows, the same conflicts come

    def forget(self) -> None:
        super().forget()
        self._is_counted = False
        self._conflicts = []

    # -- by counting ---------------------------------------------------------------------------------------------

    def _count(self) -> bool:
        """Change what is there by what is different; tell whether that was possible."""
        before = self._insert()
        self._added = {name: {} for name in self._stores}
        self._removed = {name: {} for name in self._stores}
        rows_before: dict[str, dict[Row, None]] = {}
        try:
            if not self._is_counted or not self._change(before):
                rows_before = self._rows_before()
                self._begin_anew(rows_before)
        except NotCountedError:
            for name, rows in (rows_before or self._rows_before()).items():
                self._stores[name].clear()  # also its keys and indexes
                self._stores[name].rows = rows
            return False
        for name, store in self._stores.items():
            store.added, store.removed = self._added[name], self._removed[name]
        self._given, self._was_given = {}, bool(self._given)
        self._is_counted = self._is_settled = True
        for task in self._tasks:
            task.reports.tell()
        return True

    def _insert(self) -> Mapping[str, Mapping[Row, Origin]]:
        """Replace the inserted rows of the last step by those of this one, and return them."""
        before = self._inserted
        self._inserted = {name: {} for name in self._stores}
        for name, batches in self._given.items():
            for origin, rows in batches:
                self._inserted[name] |= dict.fromkeys(rows, origin)
        return before

    def _change(self, inserted_before: Mapping[str, Mapping[Row, Origin]]) -> bool:
        differences = [t.difference() if have_changed(t.task.sources) else NOTHING for t in self._counted]
        known = [found for found in differences if found is not None]
        if len(known) < len(differences):
            return False
        lost, new = self._count_all(zip(self._counted, known, strict=True))
        for name, inserted in self._inserted.items():
            before = inserted_before[name]
            new[name] |= dict.fromkeys(row for row in inserted if row not in before)
            lost[name] |= dict.fromkeys(row for row in before if row not in inserted)
        with self._unchanged_outside():
            if not self._take_away(lost, new):
                return False
            # What was taken away, or lost a way to be derived, may be derived still, or not.
            self._add(
                {name: {row: None for row in rows if self._is_supported(name, row)} for name, rows in new.items()}
            )
        return True

    def _rows_before(self) -> dict[str, dict[Row, None]]:
        """Return the rows that were there before anything was changed in this step."""
        found = {}
        for name, store in self._stores.items():
            self._note_round(name, store)
            added, removed = self._added[name], self._removed[name]
            found[name] = store.rows
            if added or removed:
                found[name] = dict.fromkeys(filterfalse(added.__contains__, store.rows)) | removed
        return found

    def _begin_anew(self, before: Mapping[str, dict[Row, None]]) -> None:
        for store in self._stores.values():
            store.clear()
            store.is_compared = True  # not before its rounds are over
        with self._unchanged_outside():
            new: _Rows = {name: dict.fromkeys(inserted) for name, inserted in self._inserted.items()}
            for task in self._counted:
                new[task.task.target] |= dict.fromkeys(task.evaluate())
            self._add(new)
        for name, store in self._stores.items():
            store.compare_with(before[name])
            store.is_compared = True
            self._added[name], self._removed[name] = store.added, store.removed

    @contextmanager
    def _unchanged_outside(self) -> Iterator[None]:
        """Let nothing be different in collections of other strata: it was counted before."""
        have_changed(self._outside)  # so that nobody finds it out in between
        stores = [source for source in self._outside if isinstance(source, Store)]
        noted = [(store.added, store.removed) for store in stores]
        cells = [source for source in self._outside if isinstance(source, Cell)]
        merged = [(cell.before, cell.merged) for cell in cells]
        for source in self._outside:
            source.forget_changes()
        try:
            yield
        finally:
            for store, changes in zip(stores, noted, strict=True):
                store.added, store.removed = changes
            for cell, grown in zip(cells, merged, strict=True):
                cell.before, cell.merged = grown

    # -- rounds --------------------------------------------------------------------------------------------------

    def _take_away(self, lost: _Rows, new: _Rows) -> bool:
        """Take rows away that have lost a way to be derived, and all that rests on them; note them in ``new``.

        Where everything rests on everything, that is given up: to derive it anew takes less time.
        """
        most = sum(len(store.rows) for store in self._stores.values()) // _MOST_TAKEN_AWAY + _FEW
        while any(lost.values()):
            most -= sum(map(len, lost.values()))
            if most < 0:
                return False
            for name, store in self._stores.items():
                store.forget_changes()
                for row in lost[name]:
                    if row in store.rows:
                        store.remove(row)
                        new[name][row] = None  # it may still be derived in another way
            _, lost = self._end_round(new)
        return True

    def _add(self, new: _Rows) -> None:
        """Add rows that are derived, and what follows from them."""
        budget = Budget([t.task.origin for t in self._growing]) if self._is_watched else None
        size = None if budget is None else budget.portion(self._joined)
        waiting = {name: _Waiting(rows) for name, rows in new.items()}
        while any(waiting.values()):
            count = 0
            for name, store in self._stores.items():
                store.forget_changes()
                fresh = list(filterfalse(store.rows.__contains__, waiting[name].take(size)))
                # What was taken away and comes back has never gone.
                fresh = [*respell(fresh, self._removed[name])]
                self._refuse_conflicts(store, fresh)
                store.extend(fresh)
                count += len(fresh)
            if budget is not None and count:
                budget.spend(count)
            found: _Rows = {name: {} for name in self._stores}
            joined, _ = self._end_round(found)
            for name, rows in found.items():
                waiting[name].put(rows)
            if budget is not None:
                budget.count_joined(joined, sum(map(len, waiting.values())))

    def _end_round(self, new: _Rows) -> tuple[int, _Rows]:
        """Count what follows from the rows of a round, and add it to ``new``.

        Return how often rows were derived, and those that have lost a way to be derived.
        """
        found: list[tuple[KeptTask, Difference]] = []
        for task in self._growing:
            if have_changed(task.task.sources):
                difference = task.difference()
                if difference is None:
                    raise NotCountedError
                found.append((task, difference))
        lost, more = self._count_all(found)
        for name, rows in more.items():
            new[name] |= rows
        for name, store in self._stores.items():
            self._note_round(name, store)
        return sum(len(d.plus) for _, d in found), lost

    def _note_round(self, name: str, store: Store) -> None:
        """Move what a round has changed to what the step has changed."""
        note_changes(store.added, self._removed[name], self._added[name])
        note_changes(store.removed, self._added[name], self._removed[name])
        # Noted once: a row that was taken away and came back would count as new the second time.
        store.forget_changes()

    def _count_all(self, found: Iterable[tuple[KeptTask, Difference]]) -> tuple[_Rows, _Rows]:
        """Count differences, and return the rows that have lost a way to be derived, and those that are new."""
        lost: _Rows = {name: {} for name in self._stores}
        new: _Rows = {name: {} for name in self._stores}
        for task, difference in found:
            name = task.task.target
            task.recount(difference)
            there = self._stores[name].rows
            lost[name].update(dict.fromkeys(filter(there.__contains__, difference.minus)))
            new[name].update(dict.fromkeys(filterfalse(there.__contains__, difference.plus)))
        return lost, new

    def _is_supported(self, name: str, row: Row) -> bool:
        return row in self._inserted[name] or any(task.gives(row) for task in self._giving[name])

    def _refuse_conflicts(self, store: Store, fresh: Sequence[Row]) -> None:
        if store.key_of is not None:
            keys = {store.key_of(row) for row in fresh}
            if len(keys) < len(fresh) or not keys.isdisjoint(store.by_key):
                raise NotCountedError
