"""Lineage-driven fault injection: forward and backward in turn (section 4.3 and Algorithm 1 of the paper).

*Forward*: run the system.  *Backward*: every support that the run showed must be cut, now and in every later
candidate.  The next candidate is a fault set that cuts all supports of some goal in every run so far without
making that goal's violation impossible.  A run that fails is a counterexample; no candidate left is a
certificate, because a support that is not cut is a proof that the outcome is good.

**It accumulates.**  The paper starts over with each run: a formula of its own, whose solutions are all to be run.
Here one incremental SAT solver collects what all runs have shown.  That is sound because a support names
conditions of both signs, messages that must get through *and* faults that must have happened, so what a run has
shown is true under any faults (``clew.lineage.support``).  ack-deliv within the bounds of Figure 13 takes 29
executions (673 in the paper), Kafka within those of Figure 12 takes 4 (38), paxos-synod 187 (173);
``benchmarks/README.md`` has them all.

**Why it exists beside the exact search**, which asks one question about all executions: code has no ground
program.  The loop needs only ``TracedSystem``: run under these faults, and say what the outcome rested on.

**Smallest first**, so that the first counterexample is a smallest one.  Where many faults have to come together,
this is what costs the time, and a certificate does not need it: when a smallest candidate has become hard to
find, any candidate will do until a run fails (ack-deliv with five nodes: 7 s instead of 43).  From then on, only
smaller sets are of interest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Generic, TypeVar

from clew.budgets.deadline import Deadline
from clew.errors import BudgetExhaustedError
from clew.faults import AnyFault, FaultsOf, NodeName
from clew.search.failing import Failing
from clew.search.protocol import SymmetricSystemOf, TracedRunOf, TracedSystemOf
from clew.search.sat import FaultSolver, TooManyConflictsError, Weight
from clew.search.verdict import LedgerOf
from clew.violation import Violation

F = TypeVar("F", bound=AnyFault)

#: Why no candidate is left, and that is no proof.
INCOMPLETE_LINEAGE = "negated premises were not followed, so faults that matter may be missing"

#: How hard to look for a smallest candidate, in conflicts of the solver: the same on every machine.  The programs
#: of the papers need at most 366, ack-deliv within Figure 11 1,242, with five nodes as many as 27,000.
MOST_CONFLICTS = 2_000


def search(
    system: TracedSystemOf[F],
    ledger: LedgerOf[F],
    *,
    find_all: bool = False,
    symmetric: SymmetricSystemOf[F] | None = None,
    most_conflicts: int = MOST_CONFLICTS,
    promises: Sequence[str] = (),
    is_open: bool = False,
    prefer: Callable[[], Sequence[int]] | None = None,
) -> str | None:
    """Alternate until a counterexample is found (or all are, of each promise) or no candidate is left.

    ``is_open``: each run of the system may show faults that were not known before; then the first run that fails
    is the counterexample.  ``prefer``: gates, in this order, under which a candidate is looked for before others
    are.
    """
    hypotheses = _Hypotheses(
        system, symmetric, ledger.deadline, most_conflicts, tell_apart=bool(promises), prefer=prefer
    )
    try:
        return _alternate(system, hypotheses, ledger, Failing(promises), find_all=find_all, is_open=is_open)
    finally:
        hypotheses.close()


def _alternate(
    system: TracedSystemOf[F],
    hypotheses: _Hypotheses[F],
    ledger: LedgerOf[F],
    failing: Failing[F],
    *,
    find_all: bool,
    is_open: bool,
) -> str | None:
    """Run candidate after candidate; return why the search is incomplete, or None."""
    complete = True
    larger: TracedRunOf[F] | None = None  # fails, perhaps with more faults than are needed
    candidate: FaultsOf[F] | None = FaultsOf()  # the failure-free run first: without it, no support is known
    try:
        while candidate is not None:
            ledger.before_run(f"{len(candidate.failures)} faults")
            run = system.trace(candidate)
            ledger.after_run(run)
            complete = complete and run.complete
            broken = failing.broken_anew(run)
            if broken and (hypotheses.is_smallest or is_open):
                ledger.record(run)
                if not find_all:
                    return None
                for image in hypotheses.exclude_supersets(candidate, broken):
                    failing.add(image, broken)
            elif broken:
                larger = run
                hypotheses.expect_smaller(None if find_all else candidate.weight)
            # A run that fails teaches, too: the goals that it did not violate have supports.  It may come again as
            # the smallest candidate, and is then recorded, so it must not be excluded. With complete lineage its
            # own supports see to it that none is run twice, and so they do where a run is all that is known: "not
            # exactly these faults" says nothing of faults that are still to be seen.
            hypotheses.learn(run, exclude=run is not larger and not is_open)
            ledger.tell("choosing faults")
            candidate = hypotheses.next_candidate()
    except BudgetExhaustedError as limit:
        # A violation that a run has shown is true, whatever ends the search; only its size is in doubt.
        if larger is None or ledger.counterexamples:
            raise
        ledger.record(larger)
        return f"{limit}; fewer faults may do"
    if larger is not None and not ledger.counterexamples:
        ledger.record(larger)
        return None
    return None if complete else INCOMPLETE_LINEAGE


class _Hypotheses(Generic[F]):
    """Which goal could still be violated by which faults, after what the runs have shown.

    In the solver, each goal has a variable, "this goal is violated".  It implies that the goal's ``pre`` is
    possible (its hazard), and that none of its supports holds.  A candidate is a fault set that some goal's
    variable admits.
    """

    def __init__(
        self,
        system: TracedSystemOf[F],
        symmetric: SymmetricSystemOf[F] | None,
        deadline: Deadline,
        most_conflicts: int,
        *,
        tell_apart: bool,
        prefer: Callable[[], Sequence[int]] | None,
    ) -> None:
        self._system = system
        self._prefer = prefer
        self._symmetric = symmetric
        self._renamings = symmetric.symmetries() if symmetric else ()
        self._renamed_gates: list[dict[int, int]] = [{} for _ in self._renamings]
        self._solver = FaultSolver(system.spec, system.faults, system.circuit, deadline)
        self._violated: dict[Violation, int] = {}
        # "This promise is broken", where promises are told apart: every goal implies that of its relation.
        self._broken: dict[str | None, int] = {}
        self._tell_apart = tell_apart
        self._most_conflicts: int | None = most_conflicts
        self._below: Weight | None = None
        self._by_size = True
        self.is_smallest = True  # the latest candidate is known to be
        # "One of the known goals is violated, or one still to be introduced": assumed false is the latter.  The
        # clause can grow like that, which those of an incremental solver cannot.
        self._other_goal = self._solver.new_variable()
        self._solver.require(self._other_goal)

    def close(self) -> None:
        """Free the solver's memory, which Python does not know of."""
        self._solver.close()

    def next_candidate(self) -> FaultsOf[F] | None:
        """Return faults that could violate a goal: a smallest set, unless that is hard to find."""
        possible = [-self._other_goal]
        if self._prefer is not None:
            for gate in self._prefer():
                if preferred := self._solver.smallest([*possible, self._solver.implies(gate)], other=True):
                    return preferred
        if self._by_size:
            try:
                self.is_smallest = True
                return self._solver.smallest(possible, self._below, self._most_conflicts)
            except TooManyConflictsError:
                # While nothing has failed, a certificate is likely, and the next size would be as hard.
                self._by_size = self._below is not None
        self.is_smallest = False
        return self._solver.any_size(possible, self._below)

    def expect_smaller(self, size: Weight | None) -> None:
        """Look for sets smaller than one that failed; None: for all minimal sets, whatever the effort."""
        self._by_size = True
        self._below = size
        if size is None:
            self._most_conflicts = None

    def learn(self, run: TracedRunOf[F], *, exclude: bool) -> None:
        """Demand that every support of this run is cut from now on; ``exclude``: it is not to be run again."""
        self._solver.admit(self._system.faults)
        self._introduce(run.supports)
        for barren in run.barren:
            self._solver.require(*(-self._solver.happens(fault) for fault in barren))
        if exclude:
            self._exclude_exactly(run.faults)
        for goal, gate in run.supports.items():
            self._cut(goal, gate)
            for renaming, known in zip(self._renamings, self._renamed_gates, strict=True):
                self._cut(*self._rename(goal, gate, renaming, known))

    def exclude_supersets(self, faults: FaultsOf[F], promises: Sequence[str | None]) -> list[FaultsOf[F]]:
        """Leave out what contains a counterexample: of those, only the minimal ones are wanted.

        Where promises are told apart, it is left out for these: more faults may break others.
        """
        images = self._images(faults)
        for image in images:
            absent = [-self._solver.happens(f) for f in image]
            if self._tell_apart:
                for promise in promises:
                    self._solver.require(-self._promise(promise), *absent)
            else:
                self._solver.require(*absent)
        return images

    def _promise(self, promise: str | None) -> int:
        if promise not in self._broken:
            self._broken[promise] = self._solver.new_variable()
        return self._broken[promise]

    def _introduce(self, goals: Mapping[Violation, int]) -> None:
        """Give new goals their variables; with complete lineage, what no run mentions cannot be violated."""
        new = [goal for goal in goals if goal not in self._violated]
        if not new:
            return
        for goal in new:
            self._violated[goal] = literal = self._solver.new_variable()
            if self._tell_apart:
                self._solver.require(-literal, self._promise(goal.relation))
            hazard = self._system.hazards.get(goal)
            if hazard is not None:
                self._solver.require(-literal, self._solver.implies(hazard))
        still_other = self._solver.new_variable()
        self._solver.require(-self._other_goal, *(self._violated[g] for g in new), still_other)
        self._other_goal = still_other

    def _cut(self, goal: Violation, gate: int) -> None:
        """Demand that a gate does not hold while its goal is violated."""
        if goal in self._violated:
            self._solver.require(-self._violated[goal], -self._solver.follows(gate))

    def _rename(
        self, goal: Violation, gate: int, renaming: Mapping[NodeName, NodeName], known: dict[int, int]
    ) -> tuple[Violation, int]:
        """Return what the same run would show with other names: one run teaches about all its images."""
        symmetric = self._symmetric
        assert symmetric is not None
        rename = symmetric.rename_fault
        renamed_gate = self._system.circuit.rename_faults(gate, lambda f: rename(f, renaming), known)
        return symmetric.rename_goal(goal, renaming), renamed_gate

    def _exclude_exactly(self, faults: FaultsOf[F]) -> None:
        """Leave out one fault set: none is run twice, however little its run has taught.

        With exact lineage its own supports see to that; without, this is what makes the loop end.
        """
        for image in self._images(faults):
            present = set(image)
            self._solver.require(
                *(
                    -self._solver.happens(f) if f in present else self._solver.happens(f)
                    for f in self._system.faults
                )
            )

    def _images(self, faults: FaultsOf[F]) -> list[FaultsOf[F]]:
        """Return the fault set and its images under the symmetries."""
        if self._symmetric is None:
            return [faults]
        rename = self._symmetric.rename_fault
        return [faults, *(FaultsOf.of(rename(f, renaming) for f in faults) for renaming in self._renamings)]
