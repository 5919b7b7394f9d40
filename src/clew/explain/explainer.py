"""Everything that can be said about one program within one failure spec, computed when it is asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from clew.budgets.deadline import Deadline
from clew.engine.execution import Execution
from clew.engine.extremes import Heaviest
from clew.engine.ground import GroundProgram
from clew.engine.runs import Runs
from clew.explain.distance import Distance, Distances
from clew.explain.explanation import Explanation, explain_rows
from clew.explain.failure_free import FailureFree
from clew.explain.lineage_builder import build_lineage_graph
from clew.explain.lineage_graph import LineageGraph
from clew.explain.why import MOST_SUPPORTS, Why, find_why
from clew.faults import FailureSpec, FaultSet
from clew.lineage.minimal import fewest_losses, independent_supports, minimal_supports
from clew.program.inputs import fix_given_rows
from clew.program.ir import Program
from clew.violation import Violation


@dataclass(frozen=True)
class Margin:
    """How an outcome that is certified came about in the failure-free run, and how far it is from failing.

    ``supports``: minimal ones in the failure-free run; ``more`` than these if there are too many to list.
    ``independent``: how many of them share no message, at least (``exact``: that is the largest number).
    ``needs_messages``: whether any message has to arrive in it at all.  ``distance`` is about all runs.
    """

    violation: Violation
    supports: int
    more: bool
    independent: int
    exact: bool
    needs_messages: bool
    distance: Distance


@dataclass(frozen=True)
class Lineage:
    """Why a violation stayed away: what its minimal supports need, and the whole of it.

    ``untouchable``: nothing is needed.  No losses bring the violation about, whatever else happens: no crashes, if
    the bounds admit any, and no delays as long as they admit.
    """

    violation: Violation
    focused: LineageGraph
    whole: LineageGraph
    untouchable: bool

    @cached_property
    def all_needed(self) -> bool:
        """Tell whether the minimal supports need all of it."""
        return self.focused is self.whole or self.focused == self.whole


class Explainer:
    """One program within one failure spec; every question is answered when it is asked, and what it needs is kept.

    A report asks for all of it, the terminal for little: nothing may be computed that is not shown.
    """

    def __init__(
        self, program: Program, spec: FailureSpec, deadline: Deadline, given: FaultSet | None = None
    ) -> None:
        """``given``: the inputs and choices of the failure-free run, which everything is compared with."""
        self.program = program
        self.spec = spec
        self.deadline = deadline
        self.given = FaultSet() if given is None else given
        self._with_given: dict[FaultSet, FailureFree] = {}

    @property
    def _failure_free(self) -> FailureFree:
        return self._failure_free_with(self.given)

    def _failure_free_with(self, given: FaultSet) -> FailureFree:
        """Return the run with these inputs and choices, and no failures."""
        if given not in self._with_given:
            fixed = fix_given_rows(self.program, given)
            self._with_given[given] = FailureFree(fixed, self.spec, self.deadline)
        return self._with_given[given]

    @property
    def failure_free(self) -> Execution:
        return self._failure_free.execution

    def run(self, faults: FaultSet) -> Execution:
        if not self.program.open_rows:
            return self._failure_free.run(faults)
        # Of others than those of the failure-free run, there may be many: each is grounded for itself alone.
        ground = GroundProgram(self.program, self.spec, only=faults, deadline=self.deadline)
        return ground.run(faults)

    def why(self, violation: Violation, faults: FaultSet) -> Why:
        """Return the supports of the failure-free run, and what these faults do to each."""
        return find_why(self._failure_free_with(faults.given), violation, FaultSet(faults.failures))

    def explain(self, violations: Sequence[Violation], faults: FaultSet) -> tuple[Explanation, ...]:
        """Explain every row that is violated under these faults, with its supports."""
        if self.program.open_rows:
            runs = Runs.of(self.program, self.spec, faults, self.deadline)
        else:
            runs = self._failure_free.runs(faults)
        rows = explain_rows(runs, violations)
        return tuple(row._replace(why=self.why(row.violation, faults)) for row in rows)

    def explains(self, violation: Violation) -> bool:
        """Tell whether the failure-free run keeps this violation away: otherwise there is nothing to explain."""
        return self._failure_free.prevents(violation)

    def lineage(self, violation: Violation) -> Lineage:
        """Return the lineage that kept a violation away, to be drawn."""
        explained = self.why(violation, self.given)
        whole = build_lineage_graph(self._failure_free, violation)
        untouchable = any(not (s.falsifier or s.out_of_reach) for s in explained.supports)
        # Only if all supports are known can anything be called unneeded.
        if explained.more:
            return Lineage(violation, whole, whole, untouchable)
        links = {(m.source, m.target, m.sent) for s in explained.supports for m in s.messages}
        return Lineage(violation, build_lineage_graph(self._failure_free, violation, links), whole, untouchable)

    def outcomes(self) -> tuple[Violation, ...]:
        """Return the rows that the failure-free run achieves, as what they would be if they were missing."""
        goals = self._failure_free.graph.goals
        return tuple(v for v in goals if self.explains(v) and self._failure_free.pre_held(v))

    @cached_property
    def distances(self) -> Distances:
        """Measure how far it is from failing, in any run with more losses or crashes."""
        return Distances(self.program, self.spec, self.deadline)

    def distance_of_others(self) -> Distance | None:
        """Measure the rows that the failure-free run does not achieve: faults make these promises.

        None if there cannot be any.
        """
        achieved = set(self.outcomes())
        others = [v for v in self.distances.rows if v not in achieved]
        return self.distances.of(others) if others else None

    def margins(self) -> Iterator[Margin]:
        """Measure every outcome of the failure-free run."""
        yield from map(self._margin, self.outcomes())

    def _margin(self, violation: Violation) -> Margin:
        self.deadline.check()
        circuit, gate = self._failure_free.model.circuit, self._failure_free.supports[violation]
        # One more than is listed, to know whether there are more.
        found = minimal_supports(circuit, gate, MOST_SUPPORTS + 1, self.deadline)
        independent = independent_supports(found)
        losses, proven = fewest_losses(circuit, gate, self.deadline)
        return Margin(
            violation,
            supports=min(len(found), MOST_SUPPORTS),
            more=len(found) > MOST_SUPPORTS,
            independent=independent,
            # No more supports can share no message than losses cut them all: where the two meet, it is exact.
            exact=losses is not None and independent == losses,
            needs_messages=losses is not None or not proven,
            distance=self.distances.of([violation]),
        )

    def heaviest(self, count: int) -> Iterator[Execution]:
        """Yield executions under as many faults as the budget admits, each with others."""
        for faults in Heaviest(self.program, self.spec, self.deadline).heaviest(count):
            yield self.run(faults)
