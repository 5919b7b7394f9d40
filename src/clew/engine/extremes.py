"""Executions at the edge of the budget: the cheapest way out of it, and the heaviest faults within it.

For reports on certificates: how far the bounds would have to move before something breaks, and what the worst
looks like that the program has survived.  Both are optimization over the same encoding, with other prices.
"""

from __future__ import annotations

import enum
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import assert_never

from clingo import Function, Number

from clew.budgets.deadline import Deadline
from clew.engine.ground import GroundProgram
from clew.engine.solving import last
from clew.engine.values import encode_value
from clew.errors import BudgetExhaustedError
from clew.faults import (
    KINDS,
    Crash,
    Delay,
    Duplicate,
    FailureSpec,
    FaultSet,
    GivenRow,
    Loss,
    MessageFault,
    Partition,
    Pause,
    Restart,
    Stop,
    by_message,
)
from clew.program.assertions import find_assertions
from clew.program.ir import Program
from clew.violation import Violation, keep_earliest

#: How hard to look for an optimum, in conflicts of the solver: unlike seconds, the same on every machine.
MOST_CONFLICTS = 5_000


class Exceeding(enum.Enum):
    """The ways to leave the budget: an EFF as little larger as possible, or more crashes.

    The values are names in the encoding.
    """

    LOSSES = "late_loss"
    CRASHES = "too_many_crashes"


#: An external atom: whether EFF should move as little as possible.
_EARLY = "as_early_as_possible"


@dataclass(frozen=True)
class Cheapest:
    """Faults that violate some of the rows asked for, as few as possible ``outside`` the budget.

    Asked to move EFF alone, the least EFF counts before that.  ``proven``: no other faults are better in what
    counts first.  ``violated``: the rows among those asked for that these faults violate.
    """

    faults: FaultSet
    outside: int
    proven: bool
    violated: tuple[Violation, ...]


class BeyondBudget(GroundProgram):
    """All losses and crashes that can happen until the end of time, with a price on what exceeds the budget.

    EOT, the nodes and the longest delay stay as the budget has them.
    """

    def __init__(self, program: Program, budget: FailureSpec, deadline: Deadline) -> None:
        # Grounded for the largest budget there is, so that every way out of the given one is among the executions.
        super().__init__(program, replace(budget, eff=budget.eot, crashes=len(budget.nodes)), deadline=deadline)
        self._budget = budget
        self._groups: dict[frozenset[Violation], int] = {}
        self.extend("budget", self._prices())

    def _prices(self) -> str:
        """Return the encoding in which a fault outside the budget counts before the number of all faults."""
        crashed = "#count { N : crash(N,_) }"
        late, crowd = Exceeding.LOSSES.value, Exceeding.CRASHES.value
        return (
            f"exceeding(1..{len(self._budget.nodes)})."
            f"beyond(K) :- exceeding(K), {crashed} >= {self._budget.crashes}+K."
            f"#minimize {{ {self._outside_elements('1@1')} }}."
            f"{late} :- loss(_,_,T), T>={self._budget.eff}. {crowd} :- beyond(1)."
            # Asked how far EFF would have to move, that counts before the number of faults.
            f"#external {_EARLY}. needed_until(T) :- loss(_,_,T), T>={self._budget.eff}."
            f"needed_until(T) :- needed_until(T+1), time(T), T>={self._budget.eff}."
            f"#minimize {{ 1@2,T : needed_until(T), {_EARLY} }}."
            # EFF moves for losses alone: what passes is over when the budget says, so that one question is asked.
            f":- duplicate(_,_,T,L), T+1+L>{self._budget.eff}. :- restart(_,_,U), U>{self._budget.eff}."
            f":- pause(_,_,U), U>{self._budget.eff}. :- partition(_,_,U), U>{self._budget.eff}."
        )

    def _outside_elements(self, weight: str) -> str:
        return f"{weight},F,G,T : loss(F,G,T), T>={self._budget.eff}; {weight},crash,K,0 : beyond(K)"

    def cheapest(
        self, rows: Collection[Violation], only: Exceeding | None = None, most_conflicts: int = MOST_CONFLICTS
    ) -> Cheapest | None:
        """Find the cheapest faults that violate at least one of these rows.

        ``only``: exceed the budget in this way, as little as possible, and stay within it otherwise.  None: no
        such faults violate any of them within EOT, which is proven.
        """
        asked = frozenset(rows)
        wanted = self._any_of(asked)
        if wanted is None:
            return None
        kept = [e for e in Exceeding if only is not None and e is not only]
        assumptions = [wanted, *(-literal for e in kept for literal, _ in self.atoms(e.value, 0))]
        self._control.assign_external(Function(_EARLY), only is Exceeding.LOSSES)
        self._solve_options.solve_limit = str(most_conflicts)
        best, proven = last(self.solutions(assumptions, "opt", "auto"), self.faults_of)
        if best is None:
            if not proven:
                raise BudgetExhaustedError("the effort for this question is used up")
            return None
        if not proven:
            best, proven = self._improve(best, assumptions, only)
        violated = keep_earliest(v for v in self.all_violations(best) if v in asked)
        return Cheapest(best, self.outside(best), proven, violated)

    def _any_of(self, rows: frozenset[Violation]) -> int | None:
        """Return an atom that holds in the executions that violate at least one of these rows, if any can."""
        atoms = [atom for violation, atom in self.violation_atoms.items() if violation in rows]
        if len(atoms) < 2:
            return next(iter(atoms), None)
        # Remembered: the report asks about the same rows once for each way to leave the budget.
        if rows not in self._groups:
            with self._control.backend() as backend:
                self._groups[rows] = either = backend.add_atom()
                for atom in atoms:
                    backend.add_rule([either], [atom])
        return self._groups[rows]

    def _improve(
        self, found: FaultSet, assumptions: Sequence[int], only: Exceeding | None
    ) -> tuple[FaultSet, bool]:
        """Look for faults that are better in what counts first, until it is proven that there are none.

        That takes less effort than an optimum in every respect: what could not be proven may be the number of
        faults within the budget, about which nothing is claimed.
        """
        # Each round asks for something strictly better, so the last one's "none" is the proof.
        while True:
            better = self._better_than(found, only)
            if better is None:
                return found, True
            best, proven = last(self.solutions([*assumptions, better], "opt", "auto"), self.faults_of)
            if best is None:
                return found, proven
            found = best

    def _better_than(self, found: FaultSet, only: Exceeding | None) -> int | None:
        """Return a literal that holds for faults that are better in what counts first; None if none can be."""
        outside = self.outside(found)
        if outside == 0:
            return None
        if only is Exceeding.LOSSES:
            bound = Function("needed_until", [Number(max(loss.time for loss in found.losses))])
        else:
            bound = Function("outside", [Number(outside)])
            if bound not in self._control.symbolic_atoms:
                elements = self._outside_elements("1")
                self.extend(f"outside{outside}", f"{bound} :- #sum {{ {elements} }} >= {outside}.")
        return -self._control.symbolic_atoms[bound].literal  # type: ignore[union-attr]

    def outside(self, faults: FaultSet) -> int:
        """Count the faults outside the budget: every late loss, every crash too many."""
        late = crashed = 0
        for fault in faults:
            match fault:
                case Loss():
                    late += fault.time >= self._budget.eff
                case Crash():
                    crashed += 1
                case Delay() | Duplicate() | Restart() | Pause() | Partition() | Stop():
                    pass  # none is longer or later than the budget has it
                case GivenRow():
                    pass  # no fault
                case _:
                    assert_never(fault)
        return late + max(0, crashed - self._budget.crashes)


class Heaviest(GroundProgram):
    """Executions with as many faults as the budget admits, counting only those that hit something."""

    def __init__(self, program: Program, spec: FailureSpec, deadline: Deadline) -> None:
        super().__init__(program, spec, deadline=deadline)
        self.extend("weights", self._weights())  # on top of the usual program: its #minimize has the lowest level
        self._solve_options.solve_limit = str(MOST_CONFLICTS)

    def _weights(self) -> str:
        """Return what counts: that something is asserted at all; then crashes, which are few, before losses."""
        parts = []
        relations = self.encoding.relations
        for assertion in find_assertions(self.program):
            if assertion.post is not None:  # what must never hold is asserted in any case
                any_row = ",".join("_" * relations.arity(assertion.relation))
                parts.append(f"asserted :- r{relations.number(assertion.relation)}({any_row},{self.spec.eot}).")
        if parts:
            parts.append("#maximize { 1@4 : asserted }.")
        for kind in KINDS:
            if issubclass(kind, MessageFault):
                rest = ",_" * (len(kind.kind.numbers) - 1)
                parts.append(f"hit(F,G,T) :- sends(F,G,T), {kind.name}(F,G,T{rest}), not down(F,T).")
        parts.append("#maximize { 1@3,N : crash(N,_); 1@3,N : stop(N,_) }. #maximize { 1@2,F,G,T : hit(F,G,T) }.")
        return "\n".join(parts)

    def heaviest(self, count: int) -> Iterator[FaultSet]:
        """Yield heaviest fault sets: each time other nodes crash, or, where none does, another message arrives."""
        for number in range(count):
            best, _ = last(self.solutions([], "opt", "auto"), self.faults_of)
            if not best or not best.failures:  # nothing, or no fault at all
                return
            yield best
            self.extend(f"other{number}", self._different(best))

    def _different(self, faults: FaultSet) -> str:
        for_good = [fault for fault in faults if fault.span is not None and fault.span.end is None]
        if for_good:
            return f":- {', '.join(f'{f.name}({encode_value(f.nodes[0])},_)' for f in for_good)}."
        hit = (f"hit({encode_value(s)},{encode_value(t)},{time})" for s, t, time in by_message(faults))
        return f":- {', '.join(hit)}."
