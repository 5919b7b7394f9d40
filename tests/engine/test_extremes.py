"""The edge of the budget against brute force: all fault sets are run, and none is cheaper or heavier."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise, product
from math import prod
from pathlib import Path

import pytest
from hypothesis import assume, given, note, settings
from hypothesis import strategies as st

from clew.budgets.deadline import Deadline
from clew.checker.bounds import complete
from clew.dedalus.loader import load, parse_program
from clew.dedalus.printer import print_program
from clew.engine.execution import Execution
from clew.engine.extremes import BeyondBudget, Exceeding, Heaviest
from clew.engine.ground import GroundProgram
from clew.errors import BudgetExhaustedError
from clew.faults import Crash, FailureSpec, Fault, FaultSet, NodeName, by_message
from clew.program.assertions import PRE
from clew.program.checks import check_program
from clew.program.ir import Program
from clew.program.outcomes import has_assertions
from clew.violation import Violation
from generators import program_nodes, programs

EXAMPLES = Path(__file__).parents[2] / "examples"
NO_DEADLINE = Deadline(None)
#: So many executions brute force may take.
FEW_RUNS = 600


def example(name: str) -> Program:
    return check_program(load([EXAMPLES / f"{name}.ded"]).program).program


def every_fault_set(ground: GroundProgram) -> Iterator[FaultSet]:
    """All that the bounds admit, of faults that can make a difference."""
    for chosen in product(*choices(ground)):
        faults = FaultSet.of(fault for fault in chosen if fault is not None)
        if ground.spec.admits(faults):
            yield faults


def choices(ground: GroundProgram) -> list[list[Fault | None]]:
    """For every message and every node what can happen to it, if anything."""
    possible = ground.relevant_faults()
    found: list[list[Fault | None]] = [[None, *group] for group in by_message(possible).values()]
    crashes = [fault for fault in possible if isinstance(fault, Crash)]
    for node in dict.fromkeys(crash.node for crash in crashes):
        found.append([None, *(crash for crash in crashes if crash.node == node)])
    return found


def amount_of_work(ground: GroundProgram) -> int:
    return prod(map(len, choices(ground)))


@st.composite
def small_problems(draw: st.DrawFn) -> tuple[Program, FailureSpec]:
    """Two nodes and little time: also everything beyond the budget can be tried."""
    program = check_program(draw(programs())).program
    spec = FailureSpec(
        program_nodes(program)[:2],
        eot=draw(st.sampled_from((3, 4, 2))),
        eff=draw(st.integers(0, 3)),
        crashes=draw(st.integers(0, 2)),
        delays=draw(st.sampled_from((0, 0, 1))),
    )
    note(f"{spec}\n{print_program(program)}")
    return program, spec


# -- the cheapest way out of the budget -------------------------------------------------------------------------


def wide(program: Program, budget: FailureSpec) -> GroundProgram:
    return GroundProgram(program, replace(budget, eff=budget.eot, crashes=len(budget.nodes)))


def excess(faults: FaultSet, budget: FailureSpec) -> int:
    """How many of these faults are outside the budget: every late loss, every crash too many."""
    late = [f for f in faults.losses if f.time >= budget.eff]
    return len(late) + max(len(faults.crashes) - budget.crashes, 0)


def latest_outside(faults: FaultSet, budget: FailureSpec) -> int:
    """How far EFF would have to move; 0 if it need not."""
    return max((f.time for f in faults.losses if f.time >= budget.eff), default=0)


def price(faults: FaultSet, budget: FailureSpec, only: Exceeding | None) -> tuple[int, ...] | None:
    """What is to be as small as possible, most important first; None: these leave the budget in another way."""
    outside = (excess(faults, budget), len(faults))
    if only is None:
        return outside
    late, crowded = latest_outside(faults, budget), len(faults.crashes) > budget.crashes
    if only is Exceeding.LOSSES:
        return None if crowded else (late, *outside)
    return None if late else outside


def groups_of(goals: Sequence[Violation]) -> list[Sequence[Violation]]:
    """Each row alone, all together, some of them, one that no execution has."""
    return [*([goal] for goal in goals), goals, goals[::2], [Violation("never", ("a",))]]


@dataclass(frozen=True)
class Tried:
    """Every execution beyond a budget, and what each of them violates."""

    budget: FailureSpec
    violated: Mapping[FaultSet, tuple[Violation, ...]]

    def prices(self, group: Sequence[Violation], only: Exceeding | None) -> list[tuple[int, ...]]:
        """What it costs to violate one of these rows, for all faults that do."""
        found = [f for f, violated in self.violated.items() if not set(group).isdisjoint(violated)]
        prices = [price(faults, self.budget, only) for faults in found]
        return [p for p in prices if p is not None]


def tried(program: Program, budget: FailureSpec) -> Tried:
    ground = wide(program, budget)
    return Tried(budget, {faults: ground.violations(faults) for faults in every_fault_set(ground)})


def assert_cheapest(program: Program, budget: FailureSpec) -> None:
    known, beyond = tried(program, budget), BeyondBudget(program, budget, NO_DEADLINE)
    for group, only in product(groups_of([*beyond.violation_atoms]), (None, *Exceeding)):
        prices = known.prices(group, only)
        found = beyond.cheapest(group, only)
        if found is None:
            assert not prices
            continue
        assert found.proven
        assert found.violated == tuple(v for v in known.violated[found.faults] if v in group) != ()
        assert found.outside == excess(found.faults, budget)
        assert price(found.faults, budget, only) == min(prices)


@given(small_problems())
@settings(max_examples=settings().max_examples // 2)
def test_no_way_out_of_the_budget_is_cheaper(problem: tuple[Program, FailureSpec]) -> None:
    assume(amount_of_work(wide(*problem)) <= FEW_RUNS)
    assert_cheapest(*problem)


@given(small_problems(), st.sampled_from((1, 2, 4, 8)))
@settings(max_examples=settings().max_examples // 2)
def test_what_is_claimed_after_little_effort_is_true(
    problem: tuple[Program, FailureSpec], most_conflicts: int
) -> None:
    """That there are no faults, or none that are better in what counts first."""
    program, budget = problem
    assume(amount_of_work(wide(program, budget)) <= FEW_RUNS)
    known, beyond = tried(program, budget), BeyondBudget(program, budget, NO_DEADLINE)
    for group, only in product(groups_of([*beyond.violation_atoms]), (None, *Exceeding)):
        prices = known.prices(group, only)
        try:
            found = beyond.cheapest(group, only, most_conflicts)
        except BudgetExhaustedError:
            continue
        if found is None:
            assert not prices
            continue
        claimed = price(found.faults, budget, only)
        assert claimed is not None
        assert claimed in prices
        assert not found.proven or claimed[0] == min(prices)[0]


@pytest.mark.parametrize(
    ("name", "budget"),
    [
        ("simple-deliv", FailureSpec(("a", "b", "c"), 2)),
        ("simple-deliv", FailureSpec(("a", "b", "c"), 3, eff=2)),
        ("retry-deliv", FailureSpec(("a", "b", "c"), 3)),
        ("retry-deliv", FailureSpec(("a", "b"), 4, eff=2, crashes=1)),
        ("retry-deliv", FailureSpec(("a", "b"), 4, crashes=1, delays=1)),
        ("redun-deliv", FailureSpec(("a", "b"), 3, crashes=1)),
        ("ack-deliv", FailureSpec(("a", "b"), 4, eff=2, crashes=1)),
    ],
    ids=str,
)
def test_no_way_out_of_the_budget_of_an_example_is_cheaper(name: str, budget: FailureSpec) -> None:
    assert_cheapest(example(name), budget)


@pytest.mark.parametrize("most_conflicts", [1, 3, 10, 40, 200, 800])
@pytest.mark.parametrize(
    ("name", "budget"),
    [
        ("bully-le-lossy", FailureSpec(("a", "b", "c"), 10)),
        ("redun-deliv", FailureSpec(("a", "b", "c"), 11, eff=10, crashes=1)),
        ("ack-deliv", FailureSpec(("a", "b", "c"), 8)),
    ],
    ids=str,
)
def test_what_is_claimed_of_an_example_after_little_effort_is_true(
    name: str, budget: FailureSpec, most_conflicts: int
) -> None:
    program = example(name)
    hurried, patient = (BeyondBudget(program, budget, NO_DEADLINE) for _ in range(2))
    for only in (None, *Exceeding):
        best = patient.cheapest(patient.violation_atoms, only)
        assert best is None or best.proven
        try:
            found = hurried.cheapest(hurried.violation_atoms, only, most_conflicts)
        except BudgetExhaustedError:
            continue
        prices = [way and price(way.faults, budget, only) for way in (best, found)]
        if best is None or found is None:
            assert prices == [None, None]
        elif found.proven:
            assert prices[0] and prices[1] and prices[0][0] == prices[1][0]
        else:
            assert prices[0] and prices[1] and prices[0] <= prices[1]


TWO_WITNESSES = """
    start(a, x)@1;  next_to(a, b)@1;  next_to(a, c)@1;
    start(N, V)@next :- start(N, V);
    next_to(N, M)@next :- next_to(N, M);
    log(M, V)@async :- start(N, V), next_to(N, M);
    log(N, V)@next :- log(N, V);
    pre(V) :- start(_, V);
    post(V) :- log(N, V), notin crash(_, N, _);
"""


@pytest.mark.parametrize(
    ("eff", "crashes", "outside", "faults"),
    [
        (0, 0, 1, "C(a,1)"),
        (0, 1, 0, "C(a,1)"),
        (3, 0, 0, "O(a,b,1) O(a,c,1) O(a,b,2) O(a,c,2)"),
        (2, 0, 1, "C(a,1)"),
    ],
)
def test_the_price_is_what_exceeds_the_budget(eff: int, crashes: int, outside: int, faults: str) -> None:
    budget = FailureSpec(("a", "b", "c"), 3, eff, crashes)
    found = BeyondBudget(parse_program(TWO_WITNESSES), budget, NO_DEADLINE).cheapest([Violation(PRE, ("x",))])
    assert found is not None
    assert (found.outside, str(found.faults), found.proven) == (outside, faults, True)


def test_crashes_beyond_the_budget_are_counted_one_by_one() -> None:
    """No message matters: both witnesses have to crash."""
    program = parse_program(
        TWO_WITNESSES.replace("log(M, V)@async :- start(N, V)", "log(M, V)@next :- start(N, V)")
    )
    for crashes, outside in ((0, 2), (1, 1), (2, 0), (3, 0)):
        budget = FailureSpec(("a", "b", "c"), 3, 0, crashes)
        found = BeyondBudget(program, budget, NO_DEADLINE).cheapest([Violation(PRE, ("x",))])
        assert found is not None
        assert (found.outside, {c.node for c in found.faults.crashes}) == (outside, {"b", "c"})


def test_losses_beyond_the_budget_are_counted_one_by_one() -> None:
    """All three messages to b, or one to c and one to d: the price is that of the fewer messages, not links."""
    program = parse_program("""
        start(a, x)@1;  often(a, b)@1;  once(a, c)@1;  once(a, d)@1;
        start(N, V)@next :- start(N, V);
        often(N, M)@next :- often(N, M);
        log(M, V)@async :- start(N, V), often(N, M);
        log(M, V)@async :- start(N, V), once(N, M);
        log(N, V)@next :- log(N, V);
        pre(V) :- start(N, V), notin crash(_, N, _);
        post(V) :- log(b, V), log(c, V);
        post(V) :- log(b, V), log(d, V);
    """)
    found = BeyondBudget(program, FailureSpec(("a", "b", "c", "d"), 4), NO_DEADLINE).cheapest(
        [Violation(PRE, ("x",))]
    )
    assert found is not None
    assert (found.outside, str(found.faults)) == (2, "O(a,c,1) O(a,d,1)")


def test_crashes_and_losses_have_the_same_price() -> None:
    """Three witnesses crash, or the two messages to the fourth, who needs no crash to forget, are lost."""
    program = parse_program("""
        start(a, x)@1;  twice(a, e)@1;  witness(a, b)@1;  witness(a, c)@1;  witness(a, d)@1;
        start(N, V)@next :- start(N, V);
        witness(N, M)@next :- witness(N, M);
        twice(N, M)@next :- twice(N, M);
        told(M, V)@async :- start(N, V), twice(N, M);
        told(N, V)@next :- told(N, V);
        stands(V) :- start(N, V), witness(N, M), notin crash(_, M, _);
        pre(V) :- start(N, V), notin crash(_, N, _);
        post(V) :- stands(V), told(_, V);
    """)
    nodes = ("a", "b", "c", "d", "e")
    for crashes, outside, faults in ((0, 2, "O(a,e,1) O(a,e,2)"), (2, 1, None), (3, 0, None)):
        found = BeyondBudget(program, FailureSpec(nodes, 3, 0, crashes), NO_DEADLINE).cheapest(
            [Violation(PRE, ("x",))]
        )
        assert found is not None
        assert found.outside == outside
        if faults is None:
            assert {c.node for c in found.faults.crashes} == {"b", "c", "d"}
        else:
            assert str(found.faults) == faults


def test_either_bound_can_be_moved_alone() -> None:
    """One crash beyond the budget, or an EFF that is moved as little as possible, at the price of more losses."""
    beyond = BeyondBudget(parse_program(TWO_WITNESSES), FailureSpec(("a", "b", "c"), 4, eff=2), NO_DEADLINE)
    found = {only: beyond.cheapest([Violation(PRE, ("x",))], only) for only in (None, *Exceeding)}
    assert {only: cheapest and str(cheapest.faults) for only, cheapest in found.items()} == {
        None: "C(a,1)",
        Exceeding.CRASHES: "C(a,1)",
        Exceeding.LOSSES: "O(a,b,1) O(a,c,1) O(a,b,2) O(a,c,2) O(a,b,3) O(a,c,3)",
    }
    assert {only: cheapest and cheapest.outside for only, cheapest in found.items()} == {
        None: 1,
        Exceeding.CRASHES: 1,
        Exceeding.LOSSES: 4,
    }


def test_eff_is_moved_as_little_as_possible() -> None:
    """Three losses at time 2 rather than a single one at time 3."""
    program = parse_program("""
        start(a, x)@1;  peer(a, b)@1;  peer(a, c)@1;  peer(a, d)@1;
        start(N, V)@next :- start(N, V);  peer(N, M)@next :- peer(N, M);
        early(M, V)@async :- start(N, V)@2, peer(N, M), second(N);  second(a)@2;
        early(M, V)@next :- early(M, V);
        late(b, V)@async :- start(N, V), third(N);  third(a)@3;  late(M, V)@next :- late(M, V);
        pre(V) :- start(N, V), notin crash(_, N, _);
        post(V) :- early(_, V), late(_, V);
    """)
    beyond = BeyondBudget(program, FailureSpec(("a", "b", "c", "d"), 5, eff=2), NO_DEADLINE)
    fewest, earliest = (beyond.cheapest([Violation(PRE, ("x",))], only) for only in (None, Exceeding.LOSSES))
    assert fewest and earliest
    assert (str(fewest.faults), fewest.outside) == ("O(a,b,3)", 1)
    assert (str(earliest.faults), earliest.outside) == ("O(a,b,2) O(a,c,2) O(a,d,2)", 3)


def test_what_no_fault_violates_has_no_way_out() -> None:
    text = TWO_WITNESSES + "safe(N, V) :- start(N, V); pre(V) :- safe(_, V); post(V) :- safe(_, V);"
    found = BeyondBudget(parse_program(text), FailureSpec(("a", "b", "c"), 3, 2, 1), NO_DEADLINE)
    assert found.cheapest([Violation(PRE, ("x",))]) is None
    assert found.cheapest([Violation("unknown", ())]) is None


# -- the heaviest faults within it ------------------------------------------------------------------------------


@dataclass(frozen=True, order=True)
class Weight:
    """Something is asserted; then crashes; then faults that hit a message; then none that hits nothing."""

    asserted: bool
    crashes: int
    hits: int
    idle: int


def weight(run: Execution, program: Program) -> Weight:
    asserted = has_assertions(program) and bool(run.rows(PRE))
    links = {(m.source, m.target, m.sent) for m in run.messages if not _crashed(m.source, m.sent, run.faults)}
    hits = len(by_message(run.faults).keys() & links)
    return Weight(asserted, len(run.faults.crashes), hits, len(run.faults.crashes) + hits - len(run.faults))


def _crashed(node: NodeName, time: int, faults: FaultSet) -> bool:
    return any(c.node == node and c.time <= time for c in faults.crashes)


def repeats(faults: FaultSet, earlier: FaultSet) -> bool:
    """The same nodes crash, or, where none did, everything is hit that was hit before."""
    if earlier.crashes:
        return {c.node for c in earlier.crashes} <= {c.node for c in faults.crashes}
    return by_message(earlier).keys() <= by_message(faults).keys()


def assert_heaviest(program: Program, spec: FailureSpec, count: int = 3) -> None:
    ground = GroundProgram(program, spec)
    weights = {faults: weight(ground.run(faults), program) for faults in every_fault_set(ground)}
    found = list(Heaviest(program, spec, NO_DEADLINE).heaviest(count))
    assert FaultSet() not in found and len(set(found)) == len(found)
    for number in range(count):
        left = {f: w for f, w in weights.items() if not any(repeats(f, earlier) for earlier in found[:number])}
        if number < len(found):
            assert weights[found[number]] == max(left.values())
        elif left:
            assert weights[FaultSet()] == max(left.values()), "only the failure-free run is left"
            break


@given(small_problems())
@settings(max_examples=settings().max_examples // 2)
def test_no_faults_within_the_budget_are_heavier(problem: tuple[Program, FailureSpec]) -> None:
    assume(amount_of_work(GroundProgram(*problem)) <= FEW_RUNS // 2)
    assert_heaviest(*problem)


@pytest.mark.parametrize(
    ("name", "spec"),
    [
        ("simple-deliv", FailureSpec(("a", "b", "c"), 3, eff=2, crashes=1)),
        ("retry-deliv", FailureSpec(("a", "b", "c"), 4, eff=3)),
        ("retry-deliv", FailureSpec(("a", "b"), 4, eff=2, crashes=2)),
        ("ack-deliv", FailureSpec(("a", "b"), 4, eff=3, crashes=1)),
        ("classic-deliv", FailureSpec(("a", "b", "c"), 3, delays=1)),
    ],
    ids=str,
)
def test_no_faults_within_the_budget_of_an_example_are_heavier(name: str, spec: FailureSpec) -> None:
    assert_heaviest(example(name), spec)


@cache
def heaviest_of(name: str) -> tuple[FailureSpec, list[FaultSet]]:
    loaded = load([EXAMPLES / f"{name}.ded"])
    program = check_program(loaded.program).program
    spec = complete(program, loaded.defaults)
    return spec, list(Heaviest(program, spec, NO_DEADLINE).heaviest(3))


@pytest.mark.parametrize("name", ["ack-deliv", "bully-le", "paxos-synod", "redun-deliv", "kafka", "3pc"])
def test_the_heaviest_faults_of_an_example(name: str) -> None:
    spec, found = heaviest_of(name)
    assert len(found) == 3
    assert all(spec.admits(faults) for faults in found)
    assert {len(faults.crashes) for faults in found} == {spec.crashes}
    assert len({tuple(c.node for c in faults.crashes) for faults in found}) == 3
    assert all(len(before) >= len(after) for before, after in pairwise(found))


def test_without_any_possible_fault_there_is_nothing_heavy() -> None:
    assert not [*Heaviest(example("simple-deliv"), FailureSpec(("a", "b"), 3), NO_DEADLINE).heaviest(3)]


def test_a_crash_that_empties_pre_is_not_worth_it() -> None:
    """If a crashes at once, nobody correct has the payload, and nothing is asserted: it crashes later."""
    program, spec = example("retry-deliv"), FailureSpec(("a", "b"), 3, crashes=1)
    for faults in Heaviest(program, spec, NO_DEADLINE).heaviest(2):
        assert GroundProgram(program, spec).run(faults).rows(PRE)
        assert len(faults.crashes) == 1
