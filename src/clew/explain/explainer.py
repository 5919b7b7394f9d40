"""Everything that can be said about one program within one failure spec, computed when it is asked for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from clew.engine.execution import Execution
from clew.engine.extremes import BeyondBudget, Cheapest, Exceeding, Heaviest
from clew.errors import BudgetExhaustedError
from clew.explain.failure_free import FailureFree
from clew.explain.lineage_builder import lineage_graph
from clew.explain.lineage_graph import LineageGraph
from clew.explain.why import MOST_SUPPORTS, Why, why
from clew.faults import FailureSpec, FaultSet
from clew.interrupt import Deadline
from clew.lineage.minimal import fewest_losses, independent_supports, minimal_supports
from clew.program.ir import Program
from clew.violation import Violation


@dataclass(frozen=True)
class Margin:
    """How far an outcome that is certified is from failing.

    ``supports``: minimal ones in the failure-free run; ``more`` than these if there are too many to list.
    ``independent``: how many of them share no message, at least (``exact``: that is the largest number).
    ``needs_messages``: whether any message has to arrive at all.  ``cheapest``: the faults with the fewest outside
    the budget that violate it, ``by_losses`` and ``by_crashes``: those that exceed it only so; None if no such
    faults within EOT do.  ``undecided``: that was too hard.
    """

    violation: Violation
    supports: int
    more: bool
    independent: int
    exact: bool
    needs_messages: bool
    cheapest: Cheapest | None
    by_losses: Cheapest | None
    by_crashes: Cheapest | None
    undecided: bool


@dataclass(frozen=True)
class Lineage:
    """Why a violation stayed away: what its minimal supports need, and the whole of it."""

    violation: Violation
    focused: LineageGraph
    whole: LineageGraph

    @cached_property
    def all_needed(self) -> bool:
        """Whether the minimal supports need all of it."""
        return self.focused is self.whole or self.focused == self.whole


class Explainer:
    def __init__(self, program: Program, spec: FailureSpec, deadline: Deadline) -> None:
        self.program = program
        self.spec = spec
        self.deadline = deadline

    @cached_property
    def _failure_free(self) -> FailureFree:
        return FailureFree(self.program, self.spec, self.deadline)

    @property
    def failure_free(self) -> Execution:
        return self._failure_free.execution

    def run(self, faults: FaultSet) -> Execution:
        return self._failure_free.run(faults)

    def why(self, violation: Violation, faults: FaultSet) -> Why:
        """The supports of the failure-free run, and what these faults do to each."""
        return why(self._failure_free, violation, faults)

    def explains(self, violation: Violation) -> bool:
        """Whether the failure-free run keeps this violation away: otherwise there is nothing to explain."""
        return violation in self._failure_free.supports

    def lineage(self, violation: Violation) -> Lineage:
        explained = self.why(violation, FaultSet())
        whole = lineage_graph(self._failure_free, violation)
        if explained.more:
            return Lineage(violation, whole, whole)
        links = {(m.source, m.target, m.sent) for s in explained.supports for m in s.messages}
        return Lineage(violation, lineage_graph(self._failure_free, violation, links), whole)

    def outcomes(self) -> tuple[Violation, ...]:
        """The rows that the failure-free run achieves, as what they would be if they were missing."""
        return tuple(v for v in self._failure_free.supports if self._failure_free.pre_held(v))

    def margins(self) -> Iterator[Margin]:
        """For every outcome how far it is from failing."""
        beyond = BeyondBudget(self.program, self.spec, self.deadline)
        yield from (self._margin(violation, beyond) for violation in self.outcomes())

    def _margin(self, violation: Violation, beyond: BeyondBudget) -> Margin:
        self.deadline.check()
        circuit, gate = self._failure_free.model.circuit, self._failure_free.supports[violation]
        found = minimal_supports(circuit, gate, MOST_SUPPORTS + 1, self.deadline)
        independent = independent_supports(found)
        losses, proven = fewest_losses(circuit, gate, self.deadline)
        cheapest = by_losses = by_crashes = None
        undecided = False
        try:
            cheapest = beyond.cheapest(violation)
            by_losses = beyond.cheapest(violation, Exceeding.LOSSES)
            by_crashes = beyond.cheapest(violation, Exceeding.CRASHES)
        except BudgetExhaustedError:
            self.deadline.check()
            undecided = True
        more = len(found) > MOST_SUPPORTS
        exact = losses is not None and independent == losses
        return Margin(
            violation,
            min(len(found), MOST_SUPPORTS),
            more,
            independent,
            exact,
            losses is not None or not proven,
            cheapest,
            by_losses,
            by_crashes,
            undecided,
        )

    def heaviest(self, count: int) -> Iterator[Execution]:
        """Executions under as many faults as the budget admits, each with others."""
        for faults in Heaviest(self.program, self.spec, self.deadline).heaviest(count):
            yield self.run(faults)
