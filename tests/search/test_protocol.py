"""The strategies on a system that has nothing to do with Dedalus.

A pager tries to wake somebody: it calls a at 1, and, only if that call was lost, b at 2.  It is a dozen lines of
Python with positive lineage, which is what simulated code will offer to the same loops.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from clew.budgets.deadline import Deadline
from clew.errors import BudgetExhaustedError
from clew.faults import Crash, FailureSpec, Fault, FaultSet, Loss
from clew.lineage.circuit import Circuit
from clew.search import exact, exhaustive, lineage, random_faults
from clew.search.protocol import Run, TracedRun
from clew.search.verdict import Answer, Ledger, conduct
from clew.violation import Violation

ASLEEP = Violation("asleep", ())
FIRST, SECOND = Loss("pager", "a", 1), Loss("pager", "b", 2)


@dataclass
class Pager:
    spec: FailureSpec
    circuit: Circuit = field(default_factory=Circuit)
    hazards: Mapping[Violation, int] = field(default_factory=dict)
    ran: list[FaultSet] = field(default_factory=list)

    @property
    def faults(self) -> Sequence[Fault]:
        return [f for f in self.spec.possible_faults() if f in (FIRST, SECOND) or isinstance(f, Crash)]

    def run(self, faults: FaultSet) -> Run:
        return Run(faults, () if self._calls(faults) else (ASLEEP,))

    def trace(self, faults: FaultSet) -> TracedRun:
        self.ran.append(faults)
        reasons = [self._why(call, faults) for call in self._calls(faults)]
        supports = {ASLEEP: self.circuit.any_of(reasons)} if reasons else {}
        return TracedRun(faults, self.run(faults).violations, supports, complete=True)

    def _calls(self, faults: FaultSet) -> list[Loss]:
        """The calls that get through."""
        return [
            call for call in self._attempts(faults) if call not in faults and not self._down(call.time, faults)
        ]

    def _attempts(self, faults: FaultSet) -> Iterator[Loss]:
        yield FIRST
        if FIRST in faults:
            yield SECOND

    def _down(self, time: int, faults: FaultSet) -> bool:
        return any(c.node == "pager" and c.time <= time for c in faults.crashes)

    def _why(self, call: Loss, faults: FaultSet) -> int:
        """The call got through, the pager was up, and what led to the second call had happened."""
        up = [self.circuit.absent(Crash("pager", t)) for t in range(1, call.time + 1)]
        reason = [self.circuit.present(FIRST)] if call == SECOND else []
        return self.circuit.all_of([self.circuit.absent(call), *up, *reason])

    def ever_fewer_faults(self, promise: str | None = None) -> Iterator[FaultSet]:
        yield FaultSet.of([FIRST, SECOND, Crash("pager", 2)])
        yield FaultSet.of([FIRST, SECOND])
        raise BudgetExhaustedError("the time limit of 1 s ran out")

    def minimal_faults(self, promise: str | None = None) -> Iterator[FaultSet]:
        yield FaultSet.of([FIRST, SECOND])
        raise BudgetExhaustedError("the time limit of 1 s ran out")


def pager(*, eff: int, crashes: int) -> Pager:
    return Pager(FailureSpec(("pager", "a", "b"), eot=3, eff=eff, crashes=crashes))


def test_lineage_loses_one_call_then_both() -> None:
    system = pager(eff=3, crashes=0)
    found = conduct(lambda book: lineage.search(system, book), Ledger())
    assert system.ran == [FaultSet(), FaultSet((FIRST,)), FaultSet((FIRST, SECOND))]
    assert [c.faults for c in found.counterexamples] == [FaultSet((FIRST, SECOND))]
    assert found.runs == 3


def test_lineage_certifies_when_the_second_call_cannot_be_lost() -> None:
    system = pager(eff=2, crashes=0)
    found = conduct(lambda book: lineage.search(system, book), Ledger())
    assert system.ran == [FaultSet(), FaultSet((FIRST,))]
    assert found.answer is Answer.CERTIFIED


def test_lineage_and_exhaustive_list_the_same_minimal_counterexamples() -> None:
    one, other = pager(eff=3, crashes=1), pager(eff=3, crashes=1)
    by_lineage = conduct(lambda book: lineage.search(one, book, find_all=True), Ledger())
    by_force = conduct(lambda book: exhaustive.search(other, book, find_all=True), Ledger())
    expected = ["C(pager,1)", "O(pager,a,1) O(pager,b,2)", "O(pager,a,1) C(pager,2)"]
    assert [str(c.faults) for c in by_lineage.counterexamples] == expected
    assert [str(c.faults) for c in by_force.counterexamples] == expected
    assert by_lineage.runs < by_force.runs


def test_a_hazard_keeps_the_loop_from_trying_what_is_vacuous() -> None:
    """Say that nobody need be woken once the pager has crashed: then crashes are never tried."""
    system = pager(eff=2, crashes=1)
    up = [system.circuit.absent(Crash("pager", t)) for t in (1, 2)]
    system.hazards = {ASLEEP: system.circuit.all_of(up)}
    found = conduct(lambda book: lineage.search(system, book), Ledger())
    assert found.answer is Answer.CERTIFIED
    assert not any(faults.crashes for faults in system.ran)


def test_incomplete_lineage_gives_an_incomplete_answer() -> None:
    system = pager(eff=2, crashes=0)
    trace = system.trace
    system.trace = lambda faults: TracedRun(  # type: ignore[method-assign]
        faults, trace(faults).violations, trace(faults).supports, complete=False
    )
    found = conduct(lambda book: lineage.search(system, book), Ledger())
    assert found.answer is Answer.INCOMPLETE
    assert found.reason is not None and "negated premises" in found.reason


def test_a_budget_of_runs_is_kept() -> None:
    system = pager(eff=3, crashes=0)
    found = conduct(lambda book: lineage.search(system, book), Ledger(max_runs=2))
    assert (found.answer, found.runs) == (Answer.INCOMPLETE, 2)
    assert found.reason == "the limit of 2 runs was reached"


@dataclass
class Doorbell:
    """It rings unless one wire is cut, or both others are; here the solver prefers to cut two."""

    spec: FailureSpec = field(default_factory=lambda: FailureSpec(("bell", "a", "b"), eot=4, eff=4, crashes=0))
    faults: Sequence[Fault] = (Loss("bell", "a", 1), Loss("bell", "a", 2), Loss("bell", "a", 3))
    circuit: Circuit = field(default_factory=Circuit)
    hazards: Mapping[Violation, int] = field(default_factory=dict)
    ran: list[FaultSet] = field(default_factory=list)

    def run(self, faults: FaultSet) -> Run:
        one, two, three = (fault in faults for fault in self.faults)
        return Run(faults, (ASLEEP,) if one or (two and three) else ())

    def trace(self, faults: FaultSet) -> TracedRun:
        self.ran.append(faults)
        one, two, three = map(self.circuit.absent, self.faults)
        violations = self.run(faults).violations
        gate = self.circuit.all_of([one, self.circuit.any_of([two, three])])
        return TracedRun(faults, violations, {} if violations else {ASLEEP: gate}, complete=True)


def test_a_failing_run_with_more_faults_than_needed_leads_to_a_smallest_one() -> None:
    system = Doorbell()
    one, two, three = system.faults
    found = conduct(lambda book: lineage.search(system, book, most_conflicts=0), Ledger())
    assert system.ran == [FaultSet(), FaultSet((two, three)), FaultSet((one,))]
    assert [c.faults for c in found.counterexamples] == [FaultSet((one,))]
    assert (found.answer, found.reason) == (Answer.COUNTEREXAMPLE, None)


def test_a_failing_run_with_more_faults_than_needed_is_kept_when_the_budget_is_used_up() -> None:
    system = Doorbell()
    found = conduct(lambda book: lineage.search(system, book, most_conflicts=0), Ledger(max_runs=2))
    assert [c.faults for c in found.counterexamples] == [FaultSet(tuple(system.faults[1:]))]
    assert (found.answer, found.runs) == (Answer.COUNTEREXAMPLE, 2)
    assert found.reason == "the limit of 2 runs was reached; fewer faults may do"


def test_all_minimal_counterexamples_are_listed_by_size_after_one_that_was_found_too_early() -> None:
    system = Doorbell()
    one, two, three = system.faults
    found = conduct(lambda book: lineage.search(system, book, find_all=True, most_conflicts=0), Ledger())
    both = FaultSet((two, three))
    assert system.ran == [FaultSet(), both, FaultSet((one,)), both]
    assert [c.faults for c in found.counterexamples] == [FaultSet((one,)), both]


def test_random_draws_the_same_for_the_same_seed_and_proves_nothing() -> None:
    def draw(seed: int) -> list[str]:
        system = pager(eff=3, crashes=1)
        found = conduct(lambda book: random_faults.search(system, book, seed=seed, max_runs=50), Ledger())
        return [str(c.faults) for c in found.counterexamples] + [str(found.runs)]

    assert draw(1) == draw(1)
    assert len({tuple(draw(seed)) for seed in range(8)}) > 1
    safe = pager(eff=2, crashes=0)
    found = conduct(lambda book: random_faults.search(safe, book, seed=0, max_runs=20), Ledger())
    assert (found.answer, found.runs) == (Answer.INCOMPLETE, 20)


def test_exact_keeps_the_best_it_has_when_the_time_is_up() -> None:
    found = conduct(lambda book: exact.search(pager(eff=3, crashes=1), book), Ledger())
    assert [str(c.faults) for c in found.counterexamples] == ["O(pager,a,1) O(pager,b,2)"]
    assert found.reason == "the time limit of 1 s ran out; fewer faults may do"
    found = conduct(lambda book: exact.search(pager(eff=3, crashes=1), book, find_all=True), Ledger())
    assert found.reason == "the time limit of 1 s ran out; there may be more"


def test_a_deadline_that_has_passed_stops_before_the_first_run() -> None:
    found = conduct(lambda book: lineage.search(pager(eff=3, crashes=0), book), Ledger(Deadline(0.0)))
    assert (found.answer, found.runs) == (Answer.INCOMPLETE, 0)
