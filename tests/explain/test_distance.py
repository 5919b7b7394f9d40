"""The distance to failure against what it speaks of: runs under more losses and more crashes, all of them.

A certificate at EFF 6 once said "later losses never suffice" of a program that EFF 9 breaks: only rows of the
failure-free run had been looked at, and a timeout promised another one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

import pytest
from hypothesis import assume, given, note
from hypothesis import strategies as st

from clew import Answer, check, parse_program
from clew.budgets.deadline import Deadline
from clew.dedalus.printer import print_program
from clew.engine.extremes import Cheapest
from clew.explain.distance import Distance, Undecided, Way
from clew.explain.explainer import Explainer, Lineage, Margin
from clew.faults import Crash, Delay, FailureSpec, Fault, FaultSet, Loss, NodeName
from clew.program.checks import check_program
from clew.program.ir import Program
from clew.violation import Violation
from generators import program_nodes, programs
from long_mode import few
from promises import impatient_programs
from reference import violations

NO_DEADLINE = Deadline(None)

#: a sends to b until b has confirmed.  At time 7 it gives up on b and promises to reach c, to whom it sends twice.
SPARE = """
item("a", "x");  peer("a", "b");  spare("a", "c");  t("a", 1);
item(X, P)@next :- item(X, P);
peer(X, Y)@next :- peer(X, Y);
spare(X, Y)@next :- spare(X, Y);
t(X, N + 1)@next :- t(X, N);
log(Y, P)@async :- item(X, P), peer(X, Y), notin ack(X, P);
log(X, P)@next :- log(X, P);
ack("a", P)@async :- log(X, P), X == "b";
ack(X, P)@next :- ack(X, P);
late(X, P) :- item(X, P), notin ack(X, P), t(X, 7);
late(X, P)@next :- late(X, P);
log(Y, P)@async :- late(X, P), spare(X, Y), t(X, N), N <= 8;
pre("accepted", P) :- item(_, P);
post("accepted", P) :- item(_, P);
pre("spare", P) :- late(_, P);
post("spare", P) :- log("c", P);
"""
SPARE_BUDGET = FailureSpec(("a", "b", "c"), 12, eff=6)


def explainer_of(program: Program | str, budget: FailureSpec) -> Explainer:
    if isinstance(program, str):
        program = check_program(parse_program(program)).program
    return Explainer(program, budget, NO_DEADLINE)


# -- what it takes, read from a distance and found by trying ----------------------------------------------------


@dataclass(frozen=True)
class Figures:
    """The fewest faults outside the budget, the least EFF, the fewest crashes; None: no faults do it."""

    outside: int | None
    eff: int | None
    crashes: int | None


def figures(distance: Distance, budget: FailureSpec) -> Figures:
    """What a distance claims, once it is made sure that its faults are of the kind that it says."""
    cheapest, by_losses, by_crashes = map(decided, (distance.cheapest, distance.by_losses, distance.by_crashes))
    if by_losses:
        assert len(by_losses.faults.crashes) <= budget.crashes
    if by_crashes:
        assert effective_eff(by_crashes.faults) <= max(budget.eff, 1)
    return Figures(
        cheapest.outside if cheapest else None,
        effective_eff(by_losses.faults) if by_losses else None,
        len(by_crashes.faults.crashes) if by_crashes else None,
    )


def decided(way: Way) -> Cheapest | None:
    assert not isinstance(way, Undecided)
    assert way is None or way.proven
    return way


def effective_eff(faults: FaultSet) -> int:
    """The least EFF that admits these losses; without any, EFF 1 and 0 are the same."""
    return max((loss.time + 1 for loss in faults.losses), default=1)


@dataclass(frozen=True)
class Tried:
    """All runs of one length, each with the rows that it breaks, according to the naive interpreter."""

    eot: int
    broken: tuple[tuple[FaultSet, frozenset[Violation]], ...]

    def breaking(self, rows: Collection[Violation] | None) -> list[FaultSet]:
        """The faults that break one of these rows, or any."""
        return [f for f, broken in self.broken if (broken if rows is None else broken.intersection(rows))]

    def certifies(self, budget: FailureSpec) -> bool:
        return not any(within(faults, budget) for faults in self.breaking(None))

    def figures(self, budget: FailureSpec, rows: Collection[Violation] | None = None) -> Figures:
        breaking = self.breaking(rows)
        few_crashes = [f for f in breaking if len(f.crashes) <= budget.crashes]
        no_later = [f for f in breaking if effective_eff(f) <= max(budget.eff, 1)]
        return Figures(
            min((outside(f, budget) for f in breaking), default=None),
            min((effective_eff(f) for f in few_crashes), default=None),
            min((len(f.crashes) for f in no_later), default=None),
        )


def within(faults: FaultSet, budget: FailureSpec) -> bool:
    return outside(faults, budget) == 0


def outside(faults: FaultSet, budget: FailureSpec) -> int:
    late = [loss for loss in faults.losses if loss.time >= budget.eff]
    return len(late) + max(0, len(faults.crashes) - budget.crashes)


def try_all(program: Program, nodes: Sequence[NodeName], eot: int, delays: int) -> Tried:
    """Run the program under all faults that can happen in so many steps."""
    wide = FailureSpec(tuple(nodes), eot, eot, len(nodes), delays)
    asserting = any(clause.relation == "pre" for clause in program.clauses)

    def broken(faults: FaultSet) -> frozenset[Violation]:
        rows = violations(program, wide, faults)
        if asserting:
            return frozenset(Violation("pre", row) for row in rows)
        return frozenset(Violation(str(row[0]), row[1:]) for row in rows)

    return Tried(eot, tuple((faults, broken(faults)) for faults in all_faults(wide)))


def all_faults(wide: FailureSpec) -> Iterator[FaultSet]:
    """Every combination of faults, but for those of messages that a crashed node does not send anyway."""
    for of_nodes in product(*(list(faults_of(node, wide)) for node in wide.nodes)):
        yield FaultSet.of(fault for faults in of_nodes for fault in faults)


def faults_of(node: NodeName, wide: FailureSpec) -> Iterator[tuple[Fault, ...]]:
    """What can happen to one node and to all that it sends."""
    for crash in (None, *range(1, wide.eot)):
        sent = [(other, t) for other in wide.nodes if other != node for t in range(1, crash or wide.eot)]
        crashed: tuple[Fault, ...] = () if crash is None else (Crash(node, crash),)
        for chosen in product(*(message_faults(node, other, t, wide.delays) for other, t in sent)):
            yield (*crashed, *(fault for fault in chosen if fault is not None))


def message_faults(source: NodeName, target: NodeName, time: int, delays: int) -> list[Fault | None]:
    return [None, Loss(source, target, time), *(Delay(source, target, time, lag + 1) for lag in range(delays))]


# -- against brute force ----------------------------------------------------------------------------------------


@st.composite
def small_problems(draw: st.DrawFn) -> tuple[Program, tuple[str, ...], int, int]:
    """A program, two nodes, EOT and the longest delay."""
    program = check_program(draw(st.one_of(impatient_programs(), impatient_programs(), programs()))).program
    eot, delays = draw(st.sampled_from(((4, 0), (3, 0), (3, 1), (4, 0))))
    nodes = program_nodes(program)[:2]
    note(f"{nodes}, EOT {eot}, delays {delays}\n{print_program(program)}")
    return program, nodes, eot, delays


@given(small_problems())
@few(10, part=4)
def test_distances_are_what_trying_everything_finds(
    problem: tuple[Program, tuple[str, ...], int, int],
) -> None:
    """Of all rows together, of those that only faults promise, and of each outcome of the failure-free run."""
    program, nodes, eot, delays = problem
    assume(not violations(program, FailureSpec(nodes, eot), FaultSet()))  # else it is never certified
    tried = try_all(program, nodes, eot, delays)
    for eff, crashes in product((0, *range(2, eot + 1)), range(len(nodes) + 1)):
        budget = FailureSpec(nodes, eot, eff, crashes, delays)
        if tried.certifies(budget):
            assert_distances(program, budget, tried)


def assert_distances(program: Program, budget: FailureSpec, tried: Tried) -> None:
    about = explainer_of(program, budget)
    achieved = set(about.outcomes())
    assert figures(about.distances.together, budget) == tried.figures(budget)
    for margin in about.margins():
        assert figures(margin.distance, budget) == tried.figures(budget, [margin.violation])
        assert_free_of_messages(margin, tried)
        assert_untouchable(about.lineage(margin.violation), budget, tried)
    others = {v for _, broken in tried.broken for v in broken} - achieved
    found = about.distance_of_others()
    assert (figures(found, budget) if found else Figures(None, None, None)) == tried.figures(budget, others)


def assert_free_of_messages(margin: Margin, tried: Tried) -> None:
    """What needs no message is not broken by losses alone."""
    if not margin.needs_messages:
        breaking = tried.breaking([margin.violation])
        assert not [faults for faults in breaking if len(faults.losses) == len(faults)]


def assert_untouchable(lineage: Lineage, budget: FailureSpec, tried: Tried) -> None:
    """What nothing can touch is not broken by losses, delays, and, if the budget has any, crashes."""
    if lineage.untouchable:
        breaking = tried.breaking([lineage.violation])
        assert not [faults for faults in breaking if budget.crashes or not faults.crashes]


# -- against checks at larger bounds ----------------------------------------------------------------------------

#: So many possible faults, at most, and a check may try all combinations.
FEW_FAULTS = 10


@st.composite
def problems(draw: st.DrawFn) -> tuple[Program, FailureSpec]:
    program = draw(st.one_of(impatient_programs(), programs()))
    eot = draw(st.integers(3, 6))
    budget = FailureSpec(
        program_nodes(program),
        eot,
        eff=draw(st.integers(0, eot - 1)),
        crashes=draw(st.integers(0, 1)),
        delays=draw(st.sampled_from((0, 0, 1))),
    )
    note(f"{budget}\n{print_program(program)}")
    return program, budget


def breaks(program: Program, bounds: FailureSpec) -> bool:
    """Whether a check within these bounds finds a counterexample; where that is feasible, also by trying all."""
    few = sum(1 for _ in bounds.possible_faults()) <= FEW_FAULTS
    answers = {
        check(
            program,
            nodes=bounds.nodes,
            eot=bounds.eot,
            eff=bounds.eff,
            crashes=bounds.crashes,
            delays=bounds.delays,
            strategy=strategy,
            allow_hollow=True,
        ).answer
        for strategy in (("exact", "exhaustive") if few else ("exact",))
    }
    (answer,) = answers
    assert answer is not Answer.INCOMPLETE
    return answer is Answer.COUNTEREXAMPLE


def larger_effs(budget: FailureSpec) -> list[FailureSpec]:
    return [replace(budget, eff=eff) for eff in range(budget.eff + 1, budget.eot + 1)]


def more_crashes(budget: FailureSpec) -> list[FailureSpec]:
    return [replace(budget, crashes=n) for n in range(budget.crashes + 1, len(budget.nodes) + 1)]


def assert_agrees_with_checks(program: Program, budget: FailureSpec) -> None:
    """From the least EFF on, and from the fewest crashes on, the check finds a counterexample, and not before."""
    found = figures(explainer_of(check_program(program).program, budget).distances.together, budget)
    for bounds in larger_effs(budget):
        assert breaks(program, bounds) == (found.eff is not None and bounds.eff >= found.eff), bounds
    for bounds in more_crashes(budget):
        assert breaks(program, bounds) == (found.crashes is not None and bounds.crashes >= found.crashes), bounds
    everything = replace(budget, eff=budget.eot, crashes=len(budget.nodes))
    assert breaks(program, everything) == (found.outside is not None)


@given(problems())
@few(12, part=2)
def test_distances_agree_with_checks_at_larger_bounds(problem: tuple[Program, FailureSpec]) -> None:
    assume(not breaks(*problem))
    assert_agrees_with_checks(*problem)


@pytest.mark.parametrize("eff", range(7))
def test_checks_of_a_timeout_at_larger_bounds_agree(eff: int) -> None:
    assert not breaks(parse_program(SPARE), replace(SPARE_BUDGET, eff=eff))
    assert_agrees_with_checks(parse_program(SPARE), replace(SPARE_BUDGET, eff=eff))


# -- the case that misled ---------------------------------------------------------------------------------------


def test_a_promise_that_only_a_timeout_makes_is_taken_into_account() -> None:
    about = explainer_of(SPARE, SPARE_BUDGET)
    assert [str(v) for v in about.outcomes()] == ["pre(accepted, x)"]
    (accepted,) = about.margins()
    assert accepted.distance == Distance(None, None, None)
    together = about.distances.together
    assert figures(together, SPARE_BUDGET) == Figures(outside=1, eff=9, crashes=1)
    assert together == about.distance_of_others(), "it is the other row that breaks"
    for way in map(decided, (together.cheapest, together.by_losses, together.by_crashes)):
        assert way is not None
        assert way.violated == (Violation("pre", ("spare", "x")),)


def test_outcomes_alone_have_no_others() -> None:
    """Without assertions the rows of the failure-free run are all that must hold."""
    about = explainer_of(
        """
        start(a, x)@1;  peer(a, b)@1;
        got(M, V)@async :- start(N, V), peer(N, M);
        got(N, V)@next :- got(N, V);
        """,
        budget := FailureSpec(("a", "b"), 3),
    )
    assert about.distance_of_others() is None
    assert figures(about.distances.together, budget) == Figures(outside=1, eff=2, crashes=1)
