"""A program that runs, one step at a time, without any input or output of its own.

A step: what waits is applied, deletions first; what arrived appears; the rules run to their fixpoint; what they
send, print and leave for the next step is collected.  Rows of a step can be looked at until the next one begins.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from clew.bloom.ir.program import BloomProgram, Op
from clew.bloom.ir.schema import Collection, Kind
from clew.bloom.runtime.evaluation import Evaluation
from clew.bloom.runtime.invariants import Invariants
from clew.bloom.runtime.prepared import Prepared, prepare
from clew.bloom.runtime.rejections import Origin, RejectedRow, Rejections
from clew.bloom.runtime.storage import Cell, Change, LatticeView, RowsView, Store
from clew.bloom.runtime.strata.merging import merge
from clew.bloom.runtime.tap import Tap
from clew.bloom.values import BadValueError, Row, freeze_row, sort_rows, spell
from clew.errors import UsageError

__all__ = ["Change", "Machine", "RejectedRow", "StepResult", "Waiting"]


@dataclass(frozen=True)
class StepResult:
    """What a step sends, prints, changes and rejects.

    ``sent``: channels and rows for the network, in order.  ``printed``: rows of stdio.  ``changes``: what is
    different in each table that changed since the last step.  ``refused``: rows that were rejected, and why.
    """

    sent: tuple[tuple[str, Row], ...] = ()
    printed: tuple[Row, ...] = ()
    changes: Mapping[str, Change] = field(default_factory=dict)
    refused: tuple[RejectedRow, ...] = ()


class Waiting(NamedTuple):
    """What waits for the next step, by collection, the same for equal states whatever it was derived from."""

    inserted: tuple[tuple[str, tuple[Row, ...]], ...] = ()
    deleted: tuple[tuple[str, tuple[Row, ...]], ...] = ()
    merged: tuple[tuple[str, Any], ...] = ()
    sent: tuple[tuple[str, tuple[Row, ...]], ...] = ()


class _NextStep:
    """What waits for the next step: inserted and deleted rows, values to merge, rows to send."""

    def __init__(self) -> None:
        self.inserted: dict[str, list[tuple[Origin, Iterable[Row]]]] = {}
        self.deleted: dict[str, dict[Row, None]] = {}
        self.merged: list[tuple[str, Any]] = []
        self.sent: dict[str, list[Row]] = {}

    def canonical(self) -> Waiting:
        # A step goes through almost always with nothing left: that must cost nothing.
        if not (self.inserted or self.deleted or self.merged or self.sent):
            return Waiting()
        inserted = {name: [row for _, rows in given for row in rows] for name, given in self.inserted.items()}
        merged: dict[str, Any] = {}
        for name, value in self.merged:
            merged[name] = merged[name].merge(value) if name in merged else value
        return Waiting(
            _sort_by_name(inserted),
            _sort_by_name(self.deleted),
            tuple(sorted(merged.items())),
            _sort_by_name(self.sent),
        )


def _sort_by_name(rows: Mapping[str, Iterable[Row]]) -> tuple[tuple[str, tuple[Row, ...]], ...]:
    return tuple((name, tuple(sort_rows(dict.fromkeys(rows[name])))) for name in sorted(rows))


class Machine:
    """Runs a program; one that has no strata is refused.  ``address`` is that of the node.

    ``prepared``: what is known of the program from another machine of it.  ``tap``: who is told of its steps.
    """

    def __init__(
        self, program: BloomProgram, address: str, prepared: Prepared | None = None, tap: Tap | None = None
    ) -> None:
        self._program = program
        self._tap = tap
        prepared = tap.prepared if tap is not None else prepared or prepare(program)
        kept = prepared.kept
        # Of the program that runs, which has more collections than the user's while somebody traces it.
        collections = prepared.program.collections
        self._stores = {c.name: _store(c, c.name in kept) for c in collections if c.lattice is None}
        # They do not persist, and have no keys: they hold what an expression gives in this step.
        self._stores |= {name: Store(lasts=name in kept) for name in prepared.form.auxiliary}
        self._cells = {c.name: Cell(c.lattice) for c in collections if c.lattice is not None}
        self._cleared = [store for store in self._stores.values() if not store.lasts]
        lasting = (store for store in self._stores.values() if store.lasts)
        self._lasting: Sequence[Store | Cell] = [*lasting, *self._cells.values()]
        self._rejections = Rejections()
        self._evaluation = Evaluation(prepared, self._stores, self._cells, address, self._rejections)
        self._invariants = Invariants(program, self._stores, address)
        self._waiting = _NextStep()
        self._rejected: dict[str, frozenset[Row]] = {}  # in the last step, because of other rows with their keys
        self._first = True

    # -- from outside --------------------------------------------------------------------------------------------

    def insert(self, collection: str, rows: Iterable[Row]) -> None:
        """Insert rows from outside; they are there in the next step."""
        found = self._collection(collection)
        if found.kind in (Kind.LATTICE, Kind.DIE):
            raise UsageError(
                f"rows are inserted into '{collection}', a {found.kind.value}",
                remedy="insert into a collection that it is derived from",
            )
        kept = self._freeze_rows(found, rows)
        if kept:
            self._waiting.inserted.setdefault(collection, []).append((None, kept))

    def deliver(self, channel: str, row: Row) -> None:
        """Take in something that arrived: a message, a timer, a line of input."""
        found = self._collection(channel)
        if not found.kind.arrives:
            raise UsageError(
                f"rows do not arrive in '{channel}', a {found.kind.value}", remedy="use insert(...) for it"
            )
        self.insert(channel, [row])

    def delete(self, table: str, rows: Iterable[Row]) -> None:
        """Delete rows from outside; they are no longer there in the next step."""
        found = self._collection(table)
        if found.kind is not Kind.TABLE:
            raise UsageError(f"'{table}' is not a table", remedy="only tables keep rows")
        self._waiting.deleted.setdefault(table, {}).update(dict.fromkeys(self._freeze_rows(found, rows)))

    def send(self, channel: str, rows: Iterable[Row]) -> None:
        """Send rows from outside, with the next step."""
        found = self._collection(channel)
        if not found.kind.is_sent:
            raise UsageError(f"'{channel}' is not a channel", remedy="use insert(...) for it")
        kept = self._freeze_rows(found, rows)
        # It needs no network, and cannot get lost.
        if found.kind is Kind.LOOPBACK:
            self.insert(channel, kept)
        elif kept:
            self._waiting.sent.setdefault(channel, []).extend(kept)

    def restore(self, table: str, rows: Iterable[Row]) -> None:
        """Restore what a table held before the process was started again.  Before the first step."""
        found = self._collection(table)
        if not self._first or found.kind is not Kind.TABLE:
            raise UsageError(f"'{table}' cannot be restored now", remedy="restore tables before the first step")
        store = self._stores[table]
        # By merge, which builds the keys as for any other row.
        merge(store, [(None, self._freeze_rows(found, rows))], table, self._rejections)
        store.forget_changes()

    def rows(self, collection: str) -> RowsView | LatticeView:
        """Return a view of what the collection holds now."""
        found = self._collection(collection)
        if found.kind is Kind.LATTICE:
            return LatticeView(self._cells[collection])
        return RowsView(self._stores[collection], found.schema)

    def _collection(self, name: str) -> Collection:
        found = self._program.by_name.get(name)
        if found is None:
            known = ", ".join(self._program.by_name)
            raise UsageError(f"{self._program.name} has no collection '{name}'", remedy=f"it has {known}")
        return found

    def _freeze_rows(self, collection: Collection, rows: Iterable[Row]) -> list[Row]:
        """Return the rows that fit into a collection; the others are rejected, and do not stop the node."""
        width, kept = len(collection.schema.columns), []
        for row in rows:
            try:
                frozen = freeze_row(row)
            except (BadValueError, TypeError) as error:
                self._rejections.add(collection.name, None, f"{row!r} is not a row: {error}")
                continue
            if len(frozen) == width:
                kept.append(frozen)
            else:
                what = f"a row with {len(frozen)} columns where {width} are expected: {spell(frozen)}"
                self._rejections.add(collection.name, None, what)
        return kept

    # -- steps ---------------------------------------------------------------------------------------------------

    @property
    def waiting(self) -> Waiting:
        """Return what waits for the next step: together with what is stored, all that decides what it does."""
        return self._waiting.canonical()

    @property
    def pending(self) -> bool:
        """Tell whether a step would find something new; before the first one it would.

        A row that a rule gives again and again, and that has just been refused, is nothing new.
        """
        waiting = self._waiting
        if self._invariants.are_broken:
            return False
        return (
            self._first
            or bool(waiting.sent)
            or any(self._would_insert(name, rows) for name, given in waiting.inserted.items() for _, rows in given)
            or any(self._would_delete(name, rows) for name, rows in waiting.deleted.items())
            or any(self._cells[name].would_change(value) for name, value in waiting.merged)
        )

    def _would_insert(self, name: str, rows: Iterable[Row]) -> bool:
        store = self._stores[name]
        # A node on the network steps while something is pending, and would never rest otherwise.
        known = self._rejected.get(name, ())
        return any(not store.persists or (row not in store.rows and row not in known) for row in rows)

    def _would_delete(self, name: str, rows: Iterable[Row]) -> bool:
        there = self._stores[name].rows
        # Deleted and inserted at once, the row stays, and nothing is new.
        back = {row for _, given in self._waiting.inserted.get(name, ()) for row in given}
        return any(row in there and row not in back for row in rows)

    def step(self) -> StepResult:
        """Run one step: apply what waits, evaluate to the fixpoint, collect what leaves.

        ``InvariantError`` if it breaks an invariant: then nothing leaves, and there is no step after it.
        """
        self._invariants.refuse_step()
        try:
            return self._step()
        except BaseException:
            # Nobody knows how far it came.
            self._evaluation.give_up()
            raise

    def _step(self) -> StepResult:
        for store in self._cleared:
            store.clear()
        self._evaluation.begin()
        # What rules and a loopback leave for the next step is collected while this one is going on.
        waiting, self._waiting = self._waiting, _NextStep()
        self._apply(waiting)
        self._evaluation.run(first=self._first)
        self._first = False
        if self._tap is not None:
            self._tap.tell(self._stores, self._cells)
        self._invariants.end_if_broken()
        sent, printed = self._collect_sent(waiting.sent)
        self._leave_for_next()
        changes = {
            name: store.change()
            for name, store in self._stores.items()
            if store.persists and (store.added or store.removed)
        }
        for changed in self._lasting:
            changed.forget_changes()
        return StepResult(sent, printed, changes, self._rejections.take())

    def _apply(self, waiting: _NextStep) -> None:
        # Deletions first: a row that is deleted and inserted in one step stays.
        for name, rows in waiting.deleted.items():
            store = self._stores[name]
            for row in rows:
                if row in store.rows:
                    store.remove(row)
            if self._tap is not None:
                self._tap.forget(name, rows, self._stores)
        for name, given in waiting.inserted.items():
            store = self._stores[name]
            if store.is_kept:
                self._evaluation.give(name, given)
            else:
                merge(store, given, name, self._rejections)
        self._rejected = {name: self._missing_rows(name, given) for name, given in waiting.inserted.items()}
        for name, value in waiting.merged:
            self._cells[name].merge(value)

    def _missing_rows(self, name: str, given: Iterable[tuple[Origin, Iterable[Row]]]) -> frozenset[Row]:
        store = self._stores[name]
        if not store.persists or store.key_of is None:
            return frozenset()
        return frozenset(row for _, rows in given for row in rows if row not in store.rows)

    def _collect_sent(
        self, from_outside: Mapping[str, list[Row]]
    ) -> tuple[tuple[tuple[str, Row], ...], tuple[Row, ...]]:
        derived: dict[str, dict[Row, None]] = {}
        for name, rows in from_outside.items():
            derived.setdefault(name, {}).update(dict.fromkeys(rows))
        for rule, found in self._evaluation.derive(Op.SEND):
            derived.setdefault(rule.target, {}).update(dict.fromkeys(found))
        sent: list[tuple[str, Row]] = []
        printed: list[Row] = []
        for collection in self._program.collections:
            if not derived.get(collection.name):
                continue
            # Sorted: what leaves must not depend on the order in which rows were derived, nor on hashes.
            found = sort_rows(derived[collection.name])
            if collection.kind is Kind.CHANNEL:
                sent.extend((collection.name, row) for row in found)
            elif collection.kind is Kind.STDIO:
                printed.extend(found)
            else:
                self._waiting.inserted.setdefault(collection.name, []).append((None, found))
        return tuple(sent), tuple(printed)

    def _leave_for_next(self) -> None:
        for rule, found in self._evaluation.derive(Op.NEXT):
            if rule.target in self._cells:
                self._waiting.merged.append((rule.target, found))
            else:
                rows = list(dict.fromkeys(found))
                if rows:
                    self._waiting.inserted.setdefault(rule.target, []).append((rule, rows))
        for rule, found in self._evaluation.derive(Op.DELETE):
            self._waiting.deleted.setdefault(rule.target, {}).update(dict.fromkeys(found))


def _store(collection: Collection, lasts: bool) -> Store:
    schema = collection.schema
    # If every column is a key, no two rows can be in conflict.
    keys = len(schema.keys) if schema.values else None
    return Store(keys, persists=collection.kind is Kind.TABLE, lasts=lasts)
