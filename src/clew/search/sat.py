"""An incremental SAT solver over faults that can answer with a smallest solution.

The formulas of section 4.3 of the paper, with one variable per fault.  Gates of a circuit are translated on demand
and one way: ``follows(gate)`` gives a literal that is true at least when the gate holds (to forbid it),
``implies(gate)`` one that is true at most then (to demand it).  Both ways would take twice the clauses, and
supports are only ever forbidden.

A smallest solution is found by counting, not by MaxSAT: requirements only grow, so the least size never falls, and
what was refuted for a size stays refuted in the incremental solver.  Failures are counted first; inputs and
choices cost no failure, and of them there are as few as the failures allow.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Generic, TypeVar

from pysat.card import CardEnc, EncType, ITotalizer
from pysat.solvers import Solver

from clew.budgets.deadline import Deadline
from clew.budgets.effort import PROPAGATIONS_PER_UNIT, USED_UP
from clew.errors import EffortExhaustedError
from clew.faults import AnyFault, FaultsOf
from clew.lineage.circuit import Absent, AllOf, AnyOf, AtLeast, CircuitOf, GateOf, Present
from clew.search.protocol import AdmissionOf

F = TypeVar("F", bound=AnyFault)

#: One that is incremental and can be interrupted; not every solver of python-sat can do both.
_SOLVER = "minisat22"
#: python-sat's budget of conflicts for "no budget".
_UNLIMITED = -1


#: How many failures, and how much is given beside them: see ``FaultSet.weight``.
Weight = tuple[int, int]


class TooManyConflictsError(Exception):
    """A question took more of the solver's effort than it was allowed."""


class FaultSolver(Generic[F]):
    """Admissible fault sets under growing constraints."""

    def __init__(
        self,
        spec: AdmissionOf[F],
        faults: Sequence[F],
        circuit: CircuitOf[F],
        deadline: Deadline | None = None,
    ) -> None:
        self._spec = spec
        self._circuit = circuit
        self._deadline = deadline or Deadline(None)
        self._variables: dict[F, int] = {}
        self._admitted: dict[int, F] = {}  # those that may happen, by variable
        self._pairs: set[tuple[F, F]] = set()  # those that exclude each other
        self._top = 0
        self._failures, self._given = _Counter([]), _Counter([])
        self._follows: dict[int, int] = {}
        self._implies: dict[int, int] = {}
        self._solver = Solver(name=_SOLVER)
        self._size = self._given_size = 0
        self._propagations = 0
        self.admit(faults)

    def close(self) -> None:
        """Free the solver's memory; nothing can be asked any more."""
        self._solver.delete()
        self._failures.delete()
        self._given.delete()

    def admit(self, faults: Sequence[F]) -> None:
        """Let these faults happen, too, within the bounds; those that are known already may be among them."""
        new = [fault for fault in faults if fault not in self._variables]
        if not new:
            return
        # In the order in which they are given, and before all other variables if they are known from the
        # beginning: ties between solutions are broken the same way every time.
        for fault in new:
            self._variables[fault] = variable = self.new_variable()
            self._admitted[variable] = fault
        # Made anew, for a counter does not grow in width; and a fault more can make a smaller set possible.
        self._failures.delete()
        self._given.delete()
        known = self._admitted.items()
        self._failures = _Counter([variable for variable, fault in known if fault.kind.is_failure])
        self._given = _Counter([variable for variable, fault in known if not fault.kind.is_failure])
        self._size = self._given_size = 0
        self._require_bounds()

    def new_variable(self) -> int:
        """Return a variable that nothing uses yet."""
        self._top += 1
        return self._top

    def require(self, *literals: int) -> None:
        """Demand that one of these literals is true."""
        self._solver.add_clause(list(literals))

    def happens(self, fault: F) -> int:
        """Return the literal for a fault; one that cannot make a difference never happens."""
        if fault not in self._variables:
            self._variables[fault] = variable = self.new_variable()
            self.require(-variable)
        return self._variables[fault]

    def smallest(
        self,
        assumptions: Iterable[int],
        below: Weight | None = None,
        most_conflicts: int | None = None,
        *,
        other: bool = False,
    ) -> FaultsOf[F] | None:
        """Return a fault set of least weight that meets all requirements, if that is less than ``below``.

        Sizes never fall as requirements grow, so no size is looked at again; ``other``: what is assumed is not
        what is always assumed, and says nothing of sizes.  Raise ``TooManyConflictsError`` if one of them takes
        more conflicts than allowed.
        """
        sizes = self._size, self._given_size
        try:
            return self._find_smallest(list(assumptions), below, most_conflicts)
        finally:
            if other:
                self._size, self._given_size = sizes

    def _find_smallest(
        self, assumed: list[int], below: Weight | None, most_conflicts: int | None
    ) -> FaultsOf[F] | None:
        with self._deadline.watching(self._solver.interrupt):
            # Without a limit on the size first: otherwise a certificate would have to refute every size.
            if not self._solve(assumed):
                return None
            while below is None or (self._size, self._given_size) < below:
                few_failures = [*assumed, *self._at_most(self._failures, self._size)]
                if self._solve(few_failures, most_conflicts):
                    found = self._fewest_given(few_failures, most_conflicts)
                    return found if below is None or found.weight < below else None
                self._size, self._given_size = self._size + 1, 0
        return None

    def _fewest_given(self, assumed: list[int], most_conflicts: int | None) -> FaultsOf[F]:
        """Return a solution under these assumptions, of which there is one, with as little given as possible."""
        while self._given_size < self._given.most:
            if self._solve([*assumed, *self._at_most(self._given, self._given_size)], most_conflicts):
                return self._solution()
            self._given_size += 1
        # Nothing is limited any more: the question that was answered last may have been another one.
        if self._given.most:
            self._solve(assumed, most_conflicts)
        return self._solution()

    def any_size(self, assumptions: Iterable[int], below: Weight | None = None) -> FaultsOf[F] | None:
        """Return a fault set of any weight less than ``below`` that meets all requirements."""
        assumed = list(assumptions)
        with self._deadline.watching(self._solver.interrupt):
            if below is None:
                return self._solution() if self._solve(assumed) else None
            failures, given = below
            if failures and self._solve([*assumed, *self._at_most(self._failures, failures - 1)]):
                return self._solution()
            fewer = [*self._at_most(self._failures, failures), *self._at_most(self._given, max(0, given - 1))]
            return self._solution() if given and self._solve([*assumed, *fewer]) else None

    def _solution(self) -> FaultsOf[F]:
        # A model lists its literals in the order of the variables, from 1 on.
        model = self._solver.get_model()
        return FaultsOf.of(fault for variable, fault in self._admitted.items() if model[variable - 1] > 0)

    def _solve(self, assumptions: list[int], most_conflicts: int | None = None) -> bool:
        if most_conflicts == 0:  # which python-sat would take for no limit
            raise TooManyConflictsError
        self._solver.conf_budget(_UNLIMITED if most_conflicts is None else most_conflicts)
        effort = self._deadline.effort
        if effort:
            self._solver.prop_budget(effort.propagations_left)
        solvable: bool | None = self._solver.solve_limited(assumptions=assumptions, expect_interrupt=True)
        if effort:
            effort.count(self._new_propagations() // PROPAGATIONS_PER_UNIT)
        # None means stopped, by the clock, by the effort or by the limit on conflicts, and the order of these
        # questions matters: what the user asked for comes before what only this search set itself.
        if solvable is None:
            self._deadline.check()
            if effort and (effort.exhausted or most_conflicts is None):
                raise EffortExhaustedError(USED_UP)
            if most_conflicts is not None:
                raise TooManyConflictsError
            raise AssertionError("the solver stopped without being asked to")
        return solvable

    def _new_propagations(self) -> int:
        before, self._propagations = self._propagations, int(self._solver.accum_stats()["propagations"])
        return self._propagations - before

    def _at_most(self, counter: _Counter, size: int) -> list[int]:
        """Return the assumption that no more than this happen of what is counted.

        An assumption, not a clause, because larger sizes are asked for later.
        """
        if size >= counter.most:
            return []
        for clause in counter.reach(size, self._top):
            self._solver.add_clause(clause)
        self._top = max(self._top, counter.top)
        return [counter.exceeds(size)]

    def _require_bounds(self) -> None:
        """Require the bounds that are not already in the choice of single faults.

        No two faults hit one node at the same time, or one message, and some kinds are limited in number.
        """
        for pair in self._spec.exclusive_pairs(self._admitted.values()):
            if pair not in self._pairs:
                self._pairs.add(pair)
                self.require(*(-self._variables[fault] for fault in pair))
        for faults, most in self._spec.limited_groups(self._admitted.values()):
            variables = [self._variables[fault] for fault in faults]
            if len(variables) > most:
                bound = CardEnc.atmost(variables, bound=most, top_id=self._top, encoding=EncType.seqcounter)
                for clause in bound.clauses:
                    self._solver.add_clause(clause)
                self._top = max(self._top, bound.nv)

    # -- gates -----------------------------------------------------------------------------------------

    def follows(self, gate: int) -> int:
        """Return a literal that is true whenever the gate holds."""
        for number in self._circuit.below([gate], known=self._follows):
            self._follows[number] = self._literal(self._circuit[number], self._follows, demanded=False)
        return self._follows[gate]

    def implies(self, gate: int) -> int:
        """Return a literal that is true only if the gate holds."""
        for number in self._circuit.below([gate], known=self._implies):
            self._implies[number] = self._literal(self._circuit[number], self._implies, demanded=True)
        return self._implies[gate]

    def _literal(self, gate: GateOf[F], known: dict[int, int], *, demanded: bool) -> int:
        match gate:
            case Present(fault):
                return self.happens(fault)
            case Absent(fault):
                return -self.happens(fault)
        output = self.new_variable()
        inputs = [known[i] for i in gate.inputs]
        if demanded:  # true only if the gate holds: false whenever the opposite gate does
            self._conclude(_opposite(gate), [-i for i in inputs], -output)
        else:
            self._conclude(gate, inputs, output)
        return output

    def _conclude(self, gate: AllOf | AnyOf | AtLeast, inputs: Sequence[int], output: int) -> None:
        """Demand that ``output`` is true whenever the gate holds for the inputs."""
        match gate:
            case AllOf():
                self.require(output, *(-i for i in inputs))
            case AnyOf():
                for i in inputs:
                    self.require(output, -i)
            case AtLeast(bound, _, weights):
                self._reach(output, bound, inputs, weights)

    def _reach(self, output: int, bound: int, inputs: Sequence[int], weights: Sequence[int]) -> None:
        """Demand that ``output`` is true when the weights of true inputs reach the bound: sums, input by input."""
        # reached[s]: the inputs so far add up to at least s (for the sums that can occur, capped)
        reached: dict[int, int] = {}
        for literal, weight in zip(inputs, weights, strict=True):
            following: dict[int, int] = {}
            for total in sorted({0, *reached}):
                for new_total, conditions in (
                    (total, [reached[total]] if total else []),
                    (min(bound, total + weight), [literal] + ([reached[total]] if total else [])),
                ):
                    if new_total == 0:
                        continue
                    target = output if new_total == bound else following.setdefault(new_total, 0)
                    if not target:
                        target = following[new_total] = self.new_variable()
                    self.require(target, *(-c for c in conditions))
            reached = {s: v for s, v in following.items() if s < bound}


class _Counter:
    """Counts how many of some variables are true, as far as is asked for."""

    def __init__(self, variables: list[int]) -> None:
        self._variables = variables
        self._totalizer: ITotalizer | None = None
        self.most = len(variables)
        self.top = 0

    def reach(self, size: int, top: int) -> list[list[int]]:
        """Count as far as this size; return the clauses that are new.  ``top`` is the last variable in use."""
        if self._totalizer is None:
            # A totalizer that grows: most searches need only small sizes, and the whole counter is quadratic.
            self._totalizer = ITotalizer(lits=self._variables, ubound=size + 1, top_id=top)
            clauses: list[list[int]] = self._totalizer.cnf.clauses
        elif self._totalizer.ubound <= size:
            # Doubled, so that the counter is rebuilt only a few times, however large sizes become.
            self._totalizer.increase(ubound=2 * size + 1, top_id=top)
            clauses = self._totalizer.cnf.clauses[-self._totalizer.nof_new :]
        else:
            return []
        self.top = self._totalizer.top_id
        return clauses

    def exceeds(self, size: int) -> int:
        """Return the literal that is false only if more are true."""
        assert self._totalizer is not None, "it has counted as far as this"
        literal: int = self._totalizer.rhs[size]
        return -literal

    def delete(self) -> None:
        """Free memory that Python does not know of."""
        if self._totalizer is not None:
            self._totalizer.delete()
            self._totalizer = None


def _opposite(gate: AllOf | AnyOf | AtLeast) -> AllOf | AnyOf | AtLeast:
    """Return the gate over negated inputs that holds exactly when this one does not."""
    match gate:
        case AllOf(inputs):
            return AnyOf(inputs)
        case AnyOf(inputs):
            return AllOf(inputs)
        case AtLeast(bound, inputs, weights):
            return AtLeast(sum(weights) - bound + 1, inputs, weights)
