"""One life of a Bloom program among simulated nodes: its machine, and what it leaves for later.

It does what ``network.driver`` does on a network.  A step takes what has arrived; its changes to durable tables
are written first, and then its messages leave.  If it leaves something for the next step and there are durable
tables, its messages leave when that step is written, too.
"""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping, Sequence
from typing import Any

from clew.bloom.ir.program import Op
from clew.bloom.ir.schema import Collection, Kind
from clew.bloom.runtime.invariants import BrokenInvariant, InvariantError
from clew.bloom.runtime.machine import Machine, StepResult, Waiting
from clew.bloom.runtime.storage import LatticeView, RowsView
from clew.bloom.simulated.contents import Contents, LatticeContents
from clew.bloom.simulated.contributions import Effect
from clew.bloom.simulated.programs import Plan
from clew.bloom.values import Row

#: What is shown of a node besides its collections, under names that no collection can have.
NEXT_STEP, HELD_BACK, TIMERS, REFUSED, DIED = "(next step)", "(held back)", "(timers)", "(refused)", "(died)"


class BloomRun:
    """``shown`` is what can be seen of the node, by name; only ``step``, ``fire`` and ``arrive`` change it.

    ``used``: what of it the latest change came from.
    """

    def __init__(self, machine: Machine, plan: Plan, durable: MutableMapping[Any, Any]) -> None:
        self.plan = plan
        self.shown: dict[str, Any] = {}
        self.used: set[str] = set()
        self._machine = machine
        self._views = {c.name: machine.rows(c.name) for c in plan.program.collections}
        self._durable = durable
        # Not whether the machine is pending: a row that is there already is a step, too, as on the network.
        self._has_news = False
        self._held: list[StepResult] = []
        self._fired: dict[str, int] = {}
        for table in plan.durable:
            if table in durable:
                self._machine.restore(table, durable[table])
        for collection in plan.shown:
            self.shown[collection.name] = self._look_at(collection)
        self.shown |= {NEXT_STEP: (Waiting(), False), HELD_BACK: (), TIMERS: (), REFUSED: ()}
        if plan.invariants:
            self.shown[DIED] = ()
        #: What ended this life; nothing happens in it from then on.
        self.death: InvariantError | None = None

    @property
    def is_pending(self) -> bool:
        """Tell whether there is something to do: a row has arrived, or a step would find something new."""
        return self._has_news or self._machine.pending

    # -- what arrives --------------------------------------------------------------------------------------------

    def arrive(self, collection: str, row: Row) -> None:
        """Take in a row for the next step."""
        self._machine.insert(collection, [row])
        self._has_news = True
        # What waited before is a part of what waits now.
        self.used.add(NEXT_STEP)
        self.shown[NEXT_STEP] = self._machine.waiting, True

    def fire(self, timer: str, now: float) -> None:
        """Take in the row of a timer that goes off: its number in this life, and the time."""
        number = self._fired[timer] = self._fired.get(timer, 0) + 1
        self.used.add(TIMERS)
        self.shown[TIMERS] = tuple(sorted(self._fired.items()))
        self.arrive(timer, (number, now))

    # -- a step --------------------------------------------------------------------------------------------------

    def step(self) -> Sequence[StepResult]:
        """Take a step; return what can be told to others now, of this and of earlier ones."""
        self.used.add(NEXT_STEP)
        # The causes first: what is shown below would hide that something had waited.
        self._has_news = False
        try:
            stepped = self._machine.step()
        except InvariantError as error:
            self._end(error)
            return ()
        changed = self._show_changes(stepped)
        told = self._keep(stepped)
        waiting = self._machine.waiting
        self.shown |= {NEXT_STEP: (waiting, False), REFUSED: tuple(map(str, stepped.refused))}
        effects = [*changed, *self._find_sent(stepped), *_find_waiting(waiting)]
        self.used |= self.plan.contributions.find(effects, self._has_rows)
        return told

    def _end(self, error: InvariantError) -> None:
        """Show which invariants are broken; the rest stays as it was before the step, as it does on disk."""
        self.death = error
        self.shown[DIED] = tuple((broken.name, _tell(broken)) for broken in error.broken)
        effects = [(name, Op.NOW) for name in self.plan.invariants if self._has_rows(name)]
        self.used |= self.plan.contributions.find(effects, self._has_rows)

    def _keep(self, stepped: StepResult) -> list[StepResult]:
        """Write what the step did to durable tables; return what may be told after that."""
        told, self._held = [*self._held, stepped], []
        if self.plan.durable:
            for table in self.plan.durable:
                # As a whole: storage knows no rows, and a table on disk is small in an execution.
                if table in stepped.changes:
                    self._durable[table] = tuple(map(tuple, self.shown[table]))
            if self._machine.pending:
                # What this step tells may rest on rows that the next one writes: it is told after that.
                self._held = [told.pop()]
            if self._held or self.shown[HELD_BACK]:
                self.used.add(HELD_BACK)
                self.shown[HELD_BACK] = tuple((held.sent, held.printed) for held in self._held)
        return told

    # -- what is seen of it --------------------------------------------------------------------------------------

    def _show_changes(self, stepped: StepResult) -> Iterator[Effect]:
        """Show the collections that a step changed."""
        changed: list[Effect] = []
        for collection in self.plan.shown:
            name = collection.name
            if collection.kind is Kind.TABLE and name not in stepped.changes:
                continue
            # Scratches are mostly empty, as they were before.
            if not self.shown[name] and not self._has_rows(name):
                continue
            seen = self._look_at(collection)
            if seen != self.shown[name]:
                self.shown[name] = seen
                changed.append((name, Op.NOW))
                if collection.kind.persists:
                    self.used.add(name)  # what is there now is what was there, and more or less
        return iter(changed)

    def _look_at(self, collection: Collection) -> Contents:
        view = self._views[collection.name]
        if isinstance(view, RowsView):
            return Contents.of(view, collection.schema)
        assert isinstance(view, LatticeView) and collection.lattice is not None
        known: LatticeContents | None = self.shown.get(collection.name)
        # Mostly it is the value that it was: then its elements are in order already.
        return (
            known
            if known is not None and known.value == view.value
            else LatticeContents.of_lattice(view, collection.lattice)
        )

    def _has_rows(self, name: str) -> bool:
        return len(self._views[name]) > 0

    def _find_sent(self, stepped: StepResult) -> Iterator[Effect]:
        for channel in dict.fromkeys(channel for channel, _ in stepped.sent):
            yield channel, Op.SEND
        if stepped.printed:
            yield from ((name, Op.SEND) for name in self.plan.stdio)


def _tell(broken: BrokenInvariant) -> str:
    return str(broken) if broken.position is None else f"{broken} (line {broken.position.line})"


def _find_waiting(waiting: Waiting) -> Iterator[Effect]:
    for name, _ in (*waiting.inserted, *waiting.merged):
        yield from ((name, Op.NEXT), (name, Op.SEND))  # by <+, or into a loopback
    for name, _ in waiting.deleted:
        yield name, Op.DELETE
