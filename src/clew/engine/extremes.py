"""Executions at the edge of the budget: the cheapest way out of it, and the heaviest faults within it."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass, replace

from clingo import Function

from clew.engine.encode import encode_value
from clew.engine.ground import GroundProgram
from clew.engine.solving import last
from clew.errors import BudgetExhaustedError
from clew.faults import FailureSpec, FaultSet, by_message
from clew.interrupt import Deadline
from clew.program.ir import Program
from clew.program.outcomes import PRE, has_assertions
from clew.violation import Violation

#: How hard to look for an optimum, in conflicts of the solver: unlike seconds, the same on every machine.
MOST_CONFLICTS = "5000"


class Exceeding(enum.Enum):
    """The ways to leave the budget: an EFF as little larger as possible, or more crashes.

    The values are names in the encoding.
    """

    LOSSES = "late_loss"
    CRASHES = "too_many_crashes"


_EARLY = "as_early_as_possible"


@dataclass(frozen=True)
class Cheapest:
    """Faults that violate an outcome, as few as possible ``outside`` the budget; ``proven`` if none have fewer."""

    faults: FaultSet
    outside: int
    proven: bool


class BeyondBudget(GroundProgram):
    """All losses and crashes that can happen until the end of time, with a price on what exceeds the budget."""

    def __init__(self, program: Program, budget: FailureSpec, deadline: Deadline) -> None:
        super().__init__(program, replace(budget, eff=budget.eot, crashes=len(budget.nodes)), deadline=deadline)
        self._budget = budget
        self.extend("budget", self._prices())
        self._solve_options.solve_limit = MOST_CONFLICTS

    def _prices(self) -> str:
        """The price of a fault outside the budget counts before the number of all faults."""
        crashed = "#count { N : crash(N,_) }"
        late, crowd = Exceeding.LOSSES.value, Exceeding.CRASHES.value
        return (
            f"exceeding(1..{len(self._budget.nodes)})."
            f"beyond(K) :- exceeding(K), {crashed} >= {self._budget.crashes}+K."
            f"#minimize {{ 1@1,F,G,T : loss(F,G,T), T>={self._budget.eff}; 1@1,crash,K,0 : beyond(K) }}."
            f"{late} :- loss(_,_,T), T>={self._budget.eff}. {crowd} :- beyond(1)."
            # Asked how far EFF would have to move, that counts before the number of faults.
            f"#external {_EARLY}. needed_until(T) :- loss(_,_,U), time(T), {self._budget.eff}<=T, T<=U."
            f"#minimize {{ 1@2,T : needed_until(T), {_EARLY} }}."
        )

    def cheapest(self, violation: Violation, only: Exceeding | None = None) -> Cheapest | None:
        """``only``: exceed the budget in this way, as little as possible, and stay within it otherwise.

        None: no number of lost messages and crashes violates this outcome within EOT.
        """
        wanted = self.violation_atoms.get(violation)
        if wanted is None:
            return None
        kept = [e for e in Exceeding if only is not None and e is not only]
        within = [-literal for e in kept for literal, _ in self.atoms(e.value, 0)]
        self._control.assign_external(Function(_EARLY), only is Exceeding.LOSSES)
        best, proven = last(self.solutions([wanted, *within], "opt", "auto"), self.faults_of)
        if best is None and not proven:
            raise BudgetExhaustedError("the effort for this question is used up")
        return None if best is None else Cheapest(best, self.outside(best), proven)

    def outside(self, faults: FaultSet) -> int:
        late = sum(loss.time >= self._budget.eff for loss in faults.losses)
        return late + max(0, len(faults.crashes) - self._budget.crashes)


class Heaviest(GroundProgram):
    """Executions with as many faults as the budget admits, counting only those that hit something."""

    def __init__(self, program: Program, spec: FailureSpec, deadline: Deadline) -> None:
        super().__init__(program, spec, deadline=deadline)
        self._program_has_assertions = has_assertions(program)
        self.extend("weights", self._weights())
        self._solve_options.solve_limit = MOST_CONFLICTS

    def _weights(self) -> str:
        """Something must be asserted at all; then crashes, which are few, count before losses."""
        parts = []
        if self._program_has_assertions:
            relations = self.encoding.relations
            any_row = ",".join("_" * relations.arity(PRE))
            parts.append(f"asserted :- r{relations.number(PRE)}({any_row},{self.spec.eot}).")
            parts.append("#maximize { 1@4 : asserted }.")
        parts.append("hit(F,G,T) :- sends(F,G,T), loss(F,G,T), not down(F,T).")
        parts.append("hit(F,G,T) :- sends(F,G,T), delay(F,G,T,_), not down(F,T).")
        parts.append("#maximize { 1@3,N : crash(N,_) }. #maximize { 1@2,F,G,T : hit(F,G,T) }.")
        return "\n".join(parts)

    def heaviest(self, count: int) -> Iterator[FaultSet]:
        """Different ones: other nodes crash, or, where none does, another message gets through."""
        for number in range(count):
            best, _ = last(self.solutions([], "opt", "auto"), self.faults_of)
            if best is None:
                return
            if not best:
                return
            yield best
            self.extend(f"other{number}", self._different(best))

    def _different(self, faults: FaultSet) -> str:
        if faults.crashes:
            return f":- {', '.join(f'crash({encode_value(c.node)},_)' for c in faults.crashes)}."
        hit = (f"hit({encode_value(s)},{encode_value(t)},{time})" for s, t, time in by_message(faults))
        return f":- {', '.join(hit)}."
