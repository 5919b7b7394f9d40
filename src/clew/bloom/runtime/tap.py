"""Who looks at the rules of nodes: observers, asked for each machine that is made, and told after its steps.

Nothing of this is there unless somebody observes: a machine then runs the rewritten program (``rewriting``).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, Protocol

from clew.bloom.ir.program import BloomProgram
from clew.bloom.ir.schema import Kind
from clew.bloom.runtime.prepared import Prepared
from clew.bloom.runtime.rewriting import Traced, rewrite
from clew.bloom.runtime.storage import Cell, Store
from clew.bloom.values import Row


class Held(NamedTuple):
    """What a collection had at the end of a step: its rows in this step, of tables those that are new, and all."""

    collection: str
    rows: int
    size: int


class Observed(NamedTuple):
    """A step.  ``number`` counts from 1; ``firings``: rows by the number of the rule, only of rules with some.

    ``changed``: the lattices that have another value than after the last step.
    """

    number: int
    firings: Sequence[tuple[int, Collection[Row]]]
    stores: Mapping[str, Store]
    cells: Mapping[str, Cell]
    program: BloomProgram
    changed: Collection[str]

    def held(self) -> Iterator[Held]:
        """Yield what collections have; of a lattice nothing, unless it has changed: to count it may take long."""
        for collection in self.program.collections:
            if collection.kind is not Kind.LATTICE:
                store = self.stores[collection.name]
                yield Held(collection.name, len(store.added if store.persists else store.rows), len(store.rows))
            elif collection.name in self.changed:
                yield Held(collection.name, 0, self.cells[collection.name].value.count_elements())


class Listener(Protocol):
    """Hears of the steps of one node; ``rules`` are the numbers of those that it wants to know of."""

    @property
    def rules(self) -> frozenset[int]: ...

    def hear(self, step: Observed) -> None: ...


class Observer(Protocol):
    """Is asked about each machine that is made."""

    def listen(self, node: Any, program: BloomProgram, address: str) -> Listener | None:
        """Return who wants to hear of this node, if anybody; ``node`` is the object that has its rules."""


class Tap:
    """Tells listeners of the steps of a machine, which runs ``prepared``."""

    def __init__(self, program: BloomProgram, listeners: Sequence[Listener]) -> None:
        traced = _rewrite_once(program, frozenset[int]().union(*(listener.rules for listener in listeners)))
        self.prepared: Prepared = traced.prepared
        self._firings = traced.firings
        self._program = program
        self._listeners = listeners
        self._number = 0
        self._lattices = [c.name for c in program.collections if c.kind is Kind.LATTICE]
        self._values: dict[str, Any] = {}
        self._tables = _traced_tables(program, traced)

    def forget(self, table: str, rows: Iterable[Row], stores: Mapping[str, Store]) -> None:
        """Forget what is deleted from a table at the beginning of a step: derived again, it is something new."""
        for name in self._tables.get(table, ()):
            for row in rows:
                if row in stores[name].rows:
                    stores[name].remove(row)

    def tell(self, stores: Mapping[str, Store], cells: Mapping[str, Cell]) -> None:
        """Tell of the step that has just been evaluated."""
        self._number += 1
        found: list[tuple[int, Collection[Row]]] = []
        for number, name in self._firings.items():
            if name in cells:
                rows: Collection[Row] = _new_elements(cells[name])
            else:
                rows = stores[name].added if stores[name].persists else stores[name].rows
            if rows:
                found.append((number, rows))
        changed = self._find_changed(cells)
        for listener in self._listeners:
            mine = [(number, rows) for number, rows in found if number in listener.rules]
            listener.hear(Observed(self._number, mine, stores, cells, self._program, changed))
        for name in self._firings.values():
            # What is there for tracing alone is no change of the node.
            if name in stores:
                stores[name].forget_changes()

    def _find_changed(self, cells: Mapping[str, Cell]) -> Collection[str]:
        # A cell keeps its value while nothing new is merged into it.
        changed = [name for name in self._lattices if cells[name].value is not self._values.get(name)]
        self._values.update((name, cells[name].value) for name in changed)
        return changed


def _new_elements(cell: Cell) -> Collection[Row]:
    if not cell.has_changed():
        return ()
    fresh, _ = cell.value.elements_since(cell.before, cell.merged)
    return frozenset(fresh)


def _traced_tables(program: BloomProgram, traced: Traced) -> Mapping[str, Sequence[str]]:
    """Return, for each table, where the rows are kept that traced rules put there."""
    found: dict[str, list[str]] = {}
    kinds = traced.prepared.program.by_name
    for number, name in traced.firings.items():
        if kinds[name].kind is Kind.TABLE:
            found.setdefault(program.rules[number].target, []).append(name)
    return found


#: The latest programs that were rewritten: simulated nodes begin a thousand lives with one.
_REWRITTEN: dict[tuple[int, frozenset[int]], tuple[BloomProgram, Traced]] = {}
_MOST_REWRITTEN = 32


def _rewrite_once(program: BloomProgram, rules: frozenset[int]) -> Traced:
    # By identity, as to compare programs goes through all of their rules; the entry keeps the program alive.
    key = id(program), rules
    if key not in _REWRITTEN:
        if len(_REWRITTEN) >= _MOST_REWRITTEN:
            _REWRITTEN.clear()
        _REWRITTEN[key] = program, rewrite(program, rules)
    return _REWRITTEN[key][1]


#: Everybody who observes in this process; threads that run nodes have no context that could hold them.
_OBSERVERS: list[Observer] = []


def observe(observer: Observer) -> None:
    """Ask an observer about every machine that is made from now on."""
    _OBSERVERS.append(observer)


@contextmanager
def observing(observer: Observer) -> Iterator[None]:
    """Ask an observer about machines that are made in the block."""
    _OBSERVERS.append(observer)
    try:
        yield
    finally:
        _OBSERVERS.remove(observer)


def tap_of(node: Any, program: BloomProgram, address: str) -> Tap | None:
    """Return what a new machine of a node tells of its steps to; None, which costs nothing, if nobody listens."""
    asked = [observer.listen(node, program, address) for observer in _OBSERVERS]
    listeners = [listener for listener in asked if listener is not None]
    return Tap(program, listeners) if listeners else None
