"""A program with lineage: its executions explain themselves.

Here the rooms meet: the engine executes, the lineage explains, and the lineage loop sees only
``clew.search.protocol.TracedSystem``.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from functools import cached_property
from typing import TYPE_CHECKING

from clew.budgets.deadline import Deadline
from clew.checker.model import Model
from clew.faults import FailureSpec, FaultSet
from clew.lineage.circuit import ALWAYS, NEVER, Circuit
from clew.lineage.graph import RuleGoalGraph
from clew.lineage.negation import Negation
from clew.lineage.support import Supports
from clew.lineage.unfolding import Unfolding
from clew.program.ir import Program
from clew.search.protocol import TracedRun
from clew.violation import Violation, keep_earliest

if TYPE_CHECKING:
    from clew.lineage.reach import Reach


class TracedModel(Model):
    """With lineage: the ground rules are recorded and read backwards."""

    def __init__(
        self,
        program: Program,
        spec: FailureSpec,
        negation: Negation,
        *,
        traceable: bool = False,
        deadline: Deadline | None = None,
    ) -> None:
        super().__init__(program, spec, record_rules=True, traceable=traceable, deadline=deadline)
        self.circuit = Circuit()
        self._negation = negation
        self.graph = RuleGoalGraph(self.ground)
        # Shared by all runs: what faults alone decide is unfolded once, and with NEVER errs on the safe side.
        self._certain = Unfolding(self.graph, self.circuit, on_cycle=NEVER)
        # An explanation shows what supported an outcome without faults, to which other ways add nothing.
        self._settles = not traceable and any(fault.halts for fault in self.graph.faults.values())

    def _reach(self) -> Reach:
        return self._reached

    @cached_property
    def _reached(self) -> Reach:
        from clew.lineage.reach import Reach  # which few programs need: a cold start should not pay for it

        return Reach(self.program, self.graph, self.faults)

    @cached_property
    def hazards(self) -> Mapping[Violation, int]:
        return Unfolding(self.graph, self.circuit, on_cycle=ALWAYS).hazards()

    def trace(self, faults: FaultSet) -> TracedRun:
        return self.trace_atoms(faults, self.ground.truth(faults, self.graph.atoms))

    def trace_atoms(self, faults: FaultSet, true: frozenset[int]) -> TracedRun:
        """Return the run in which exactly these atoms hold."""
        violations = keep_earliest(v for v, atom in self.graph.goals.items() if atom in true)
        supports = self._supports(self.graph, faults, true)
        return TracedRun(faults, violations, supports.goal_gates(), self._negation is not Negation.IGNORE)

    def support(self, violation: Violation, faults: FaultSet, true: frozenset[int]) -> int:
        """Return the gate that keeps one violation from happening: much faster than all of them."""
        _ = self.graph.fault_determined  # which the copy would otherwise have to find again
        graph = copy(self.graph)
        graph.goals = {violation: self.graph.goals[violation]}
        return self._supports(graph, faults, true).goal_gates()[violation]

    def _supports(self, graph: RuleGoalGraph, faults: FaultSet, true: frozenset[int]) -> Supports:
        settled = graph.fault_determined if self._settles else frozenset[int]()
        return Supports(graph, self.circuit, self._certain, true, faults, self._negation, self._reach, settled)
