"""A Dedalus program within a failure spec, as a system that the strategies can search.

This is where the rooms meet: the engine executes, the lineage explains, and the search sees only the
protocols of ``clew.search.protocol``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from clew.engine.execution import Execution, Violation
from clew.engine.ground import GroundProgram
from clew.engine.interrupt import Deadline
from clew.faults import FailureSpec, Fault, FaultSet, Node
from clew.lineage.circuit import Circuit
from clew.lineage.graph import RuleGoalGraph
from clew.lineage.possibility import Possibilities
from clew.lineage.reach import Reach
from clew.lineage.support import Negation, Supports
from clew.program.ir import Program
from clew.program.outcomes import PRE, has_assertions
from clew.program.symmetry import automorphisms, renamed_value
from clew.search.protocol import Goal, Run, TracedRun


class Model:
    """Executable, and solvable: what every strategy but the lineage loop needs."""

    def __init__(
        self,
        program: Program,
        spec: FailureSpec,
        *,
        record_rules: bool = False,
        deadline: Deadline | None = None,
    ) -> None:
        self.spec = spec
        self.program = program
        self.ground = GroundProgram(program, spec, record_rules=record_rules, deadline=deadline)
        self.faults: Sequence[Fault] = self.ground.relevant_faults()

    def run(self, faults: FaultSet) -> Run:
        return Run(faults, self.ground.violations(faults))

    def execute(self, faults: FaultSet) -> Execution:
        """The whole execution, for people to look at."""
        return self.ground.run(faults)

    def vacuous(self) -> bool:
        """Whether the failure-free run achieves nothing that could be violated."""
        return has_assertions(self.program) and not self.execute(FaultSet()).rows(PRE)

    def fewest_faults(self) -> FaultSet | None:
        return self.ground.fewest_faults()

    def minimal_faults(self) -> Iterator[FaultSet]:
        return self.ground.minimal_faults()

    def symmetries(self) -> Sequence[Mapping[Node, Node]]:
        return automorphisms(self.program, self.spec.nodes)

    def renamed_goal(self, goal: Goal, renaming: Mapping[Node, Node]) -> Goal:
        assert isinstance(goal, Violation)
        return Violation(goal.relation, tuple(renamed_value(v, renaming) for v in goal.row))


class TracedModel(Model):
    """With lineage: the ground rules are recorded and read backwards."""

    def __init__(
        self, program: Program, spec: FailureSpec, negation: Negation, *, deadline: Deadline | None = None
    ) -> None:
        super().__init__(program, spec, record_rules=True, deadline=deadline)
        self.circuit = Circuit()
        self._negation = negation
        self._graph = RuleGoalGraph(self.ground)
        self._possibilities = Possibilities(self._graph, self.circuit)
        self._reach = Reach(program, self._graph, self.faults)

    @cached_property
    def hazards(self) -> Mapping[Goal, int]:
        return self._possibilities.hazards()

    def trace(self, faults: FaultSet) -> TracedRun:
        true = self.ground.truth(faults, self._graph.atoms)
        violations = tuple(v for v, atom in self._graph.goals.items() if atom in true)
        supports = Supports(
            self._graph, self.circuit, self._possibilities, true, faults, self._negation, self._reach
        )
        return TracedRun(faults, violations, supports.goals(), self._negation is not Negation.IGNORE)
