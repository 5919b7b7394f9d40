"""A program within a failure spec, as a system that the strategies can search."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from clew.budgets.deadline import Deadline
from clew.engine.fewest import ever_fewer_faults, minimal_faults
from clew.engine.ground import GroundProgram
from clew.faults import FailureSpec, Fault, FaultSet, NodeName
from clew.program.assertions import find_assertions, told_apart
from clew.program.ir import Program
from clew.program.outcomes import has_assertions
from clew.search.protocol import Run
from clew.search.symmetry import rename_fault
from clew.violation import Violation


class Model:
    """Executable, and solvable: what every strategy but the lineage loop needs."""

    def __init__(
        self,
        program: Program,
        spec: FailureSpec,
        *,
        record_rules: bool = False,
        traceable: bool = False,
        deadline: Deadline | None = None,
    ) -> None:
        self.spec = spec
        self.program = program
        self.ground = GroundProgram(
            program, spec, record_rules=record_rules, traceable=traceable, deadline=deadline
        )

    # Strategies ask for it in every round.
    @cached_property
    def faults(self) -> Sequence[Fault]:
        return self.ground.relevant_faults()

    def run(self, faults: FaultSet) -> Run:
        return Run(faults, self.ground.violations(faults))

    def vacuous(self) -> bool:
        """Tell whether the failure-free run achieves nothing that could be violated."""
        # Without assertions, what has to survive is read off the failure-free run itself.
        if not has_assertions(self.program):
            return False
        # Of several promises, one that applies is enough here; the survey looks at each.
        pres = [a.relation for a in find_assertions(self.program) if a.post is not None]
        if not pres or any(map(self.ground.rows_at_end, pres)):
            return False
        return not self.program.open_rows or not any(map(self.ground.can_hold_at_end, pres))

    @cached_property
    def promises(self) -> Sequence[str]:
        return told_apart(self.program)

    def ever_fewer_faults(self, promise: str | None = None) -> Iterator[FaultSet]:
        return ever_fewer_faults(self.ground, self.ground.goal_of(promise))

    def minimal_faults(self, promise: str | None = None) -> Iterator[FaultSet]:
        return minimal_faults(self.ground, self.ground.goal_of(promise))

    def symmetries(self) -> Sequence[Mapping[NodeName, NodeName]]:
        from clew.program.symmetry import automorphisms  # only with --symmetry: a cold start does not pay for it

        return automorphisms(self.program, self.spec.nodes)

    def rename_goal(self, goal: Violation, renaming: Mapping[NodeName, NodeName]) -> Violation:
        from clew.program.symmetry import rename_value

        return replace(goal, row=tuple(rename_value(value, renaming) for value in goal.row))

    def rename_fault(self, fault: Fault, renaming: Mapping[NodeName, NodeName]) -> Fault:
        return rename_fault(fault, renaming, self.spec.nodes)
