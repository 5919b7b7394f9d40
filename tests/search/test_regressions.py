"""Programs on which an answer was once wrong, each as small as it could be made."""

from __future__ import annotations

import pytest

from clew import Answer, Counterexample, FailureSpec, FaultSet, Loss, Verdict, Violation, check, parse_program
from clew.duration import State
from clew.errors import BudgetExhaustedError
from clew.node_lists import read_nodes
from clew.search.sweep import Course, sweep
from clew.search.verdict import Findings, Ledger, Setting

ROUND_ROBIN = """
    peer(1, 2); peer(1, 3); peer(2, 1); peer(2, 3); peer(3, 1); peer(3, 2);
    peer(X, Y)@next :- peer(X, Y);
    turn(X, X) :- peer(X, _)@X;
    got(Y, X)@async :- turn(X, X), peer(X, Y);
    got(X, Y)@next :- got(X, Y);
    pre(X, Y) :- peer(X, Y);
    post(X, Y) :- got(X, Y);
"""
TIME_MEETS_NODE = """
    peer(1, 2); peer(2, 1);
    peer(X, Y)@next :- peer(X, Y);
    hit(X) :- crash(X, Y, T), peer(Y, T);
    pre(X) :- peer(X, _);
    post(X) :- peer(X, _), notin hit(X);
"""


@pytest.mark.parametrize("strategy", ["lineage", "exhaustive"])
def test_nodes_that_are_numbers_are_not_symmetric_when_times_are_data(strategy: str) -> None:
    """Renaming nodes 1 and 2 does not rename the times 1 and 2: once certified with --symmetry."""
    verdict = check(parse_program(ROUND_ROBIN), eot=4, eff=4, strategy=strategy, symmetry=True)
    assert verdict.answer is Answer.COUNTEREXAMPLE
    verdict = check(parse_program(TIME_MEETS_NODE), eot=2, crashes=1, strategy=strategy, symmetry=True)
    assert [str(c.faults) for c in verdict.counterexamples] == ["C(2,1)"]


def test_random_faults_when_there_is_no_time_to_crash() -> None:
    """With a single step nobody can crash; drawing a time for it raised an error."""
    program = parse_program("p(a); p(X)@next :- p(X);")
    assert check(program, eot=1, crashes=1, strategy="random", max_runs=5).answer is Answer.INCOMPLETE


def test_symmetric_exhaustive_search_lists_minimal_counterexamples_only() -> None:
    """The image of a counterexample makes its supersets superfluous, too."""
    text = "node(a, b); node(b, a); node(X, Y)@next :- node(X, Y); m(Y, X)@async :- node(X, Y);"
    program = parse_program(text + "pre(X, Y) :- node(X, Y); post(X, Y) :- m(X, Y);")
    for strategy in ("exhaustive", "lineage"):
        verdict = check(program, eot=3, eff=3, strategy=strategy, symmetry=True, find_all=True)
        assert [len(c.faults) for c in verdict.counterexamples] == [1]


def test_conservative_negation_with_a_premise_at_a_fixed_time() -> None:
    """A rule that looks at time 3 does not run before it; following it back to time 2 went in circles."""
    program = parse_program(
        """
        node(a, b); node(b, a); node(X, Y)@next :- node(X, Y);
        m(Y)@async :- node(X, Y), crash(X, Y, _);
        m(X)@next :- node(X, _), notin q(X)@3;
        q(X) :- node(X, _), notin m(X)@2;
        pre(X) :- node(X, _);
        post(X) :- q(X);
        """
    )
    found = [
        check(program, eot=3, crashes=1, strategy="lineage", negation=n, find_all=True).counterexamples
        for n in ("exact", "conservative")
    ]
    assert found[0] == found[1] == check(program, eot=3, crashes=1, find_all=True).counterexamples != ()


def test_places_that_only_a_fault_leads_to_are_nodes() -> None:
    """The backup hears of it only when the primary crashes; without it as a node that message got lost."""
    program = parse_program(
        """
        server(client, primary); server(primary, client); server(X, Y)@next :- server(X, Y);
        msg("backup", X)@async :- server(X, Y), crash(X, Y, _);
        msg(X, Y)@next :- msg(X, Y);
        pre(X) :- server(X, _);
        post(X) :- server(X, _), notin msg("backup", _);
        """
    )
    verdict = check(program, eot=4, eff=2, crashes=1)
    assert verdict.spec.nodes == ("backup", "client", "primary")
    assert verdict.answer is Answer.COUNTEREXAMPLE


def test_a_number_that_only_a_rule_names_can_be_given_as_a_node() -> None:
    program = parse_program(
        "start(1); start(X)@next :- start(X); m(3, X)@async :- start(X); m(X, Y)@next :- m(X, Y);"
    )
    assert check(program, nodes=read_nodes("1,3"), eot=3).spec.nodes == (1, 3)


def _swept(text: str, **bounds: int) -> Verdict:
    return check(parse_program(text), **bounds)  # type: ignore[arg-type]


def test_a_run_that_becomes_vacuous_has_not_recovered() -> None:
    """pre holds at time 2 only; at larger EOTs nothing is asserted, which once counted as recovery."""
    verdict = _swept(
        """
        node(a, b); start(a);
        msg(Y)@async :- start(X), node(X, Y);
        started(X)@next :- start(X);
        pre(X) :- started(X);
        post(X) :- started(X), msg(_);
        """
    )
    assert (verdict.answer, verdict.spec.eot) == (Answer.COUNTEREXAMPLE, 2)


def test_a_run_that_is_bad_again_and_again_has_not_recovered() -> None:
    verdict = _swept(
        """
        node(a, b); node(X, Y)@next :- node(X, Y); start(a);
        got(Y)@async :- start(X), node(X, Y);
        got(X)@next :- got(X);
        odd(a); even(X)@next :- odd(X); odd(X)@next :- even(X);
        pre(X) :- node(X, _);
        post(X) :- node(X, Y), got(Y);
        post(X) :- node(X, _), even(X);
        """,
        crashes=0,
    )
    assert verdict.answer is Answer.COUNTEREXAMPLE
    assert str(verdict.counterexamples[0].faults) == "O(a,b,1)"


class _SlowToFollow:
    """Certified until losses are possible; following the counterexample then uses up the budget."""

    def follow(self, faults: FaultSet, until: int) -> Course:
        if faults:
            raise BudgetExhaustedError("the time limit of 1 s ran out")
        return Course((State.GOOD,) * until, settled=2)

    def examine(self, spec: FailureSpec, ledger: Ledger) -> tuple[Findings, bool]:
        if spec.eff < 2:
            return Findings(Answer.CERTIFIED, (), 0), False
        found = Counterexample(FaultSet((Loss("a", "b", 1),)), (Violation("pre", ("a",)),))
        return Findings(Answer.COUNTEREXAMPLE, (found,), 1), False


def test_a_counterexample_in_hand_is_not_dropped_when_the_time_is_up() -> None:
    """The sweep once fell back to the setting certified before; then it said counterexample, and was not sure."""
    swept = sweep(_SlowToFollow(), FailureSpec(("a", "b"), 1), None, Ledger())
    assert swept.findings.answer is Answer.INCOMPLETE
    assert swept.findings.counterexamples == ()
    assert [str(c.faults) for c in swept.findings.candidates] == ["O(a,b,1)"]
    assert swept.findings.reason == (
        "the time limit of 1 s ran out at EOT 3, EFF 2, so it may only lack the time to recover; "
        "certified up to EOT 2, EFF 1"
    )
    assert (swept.spec.eot, swept.spec.eff) == (3, 2)
    assert swept.certified == Setting(2, 1, Answer.CERTIFIED)


GIVEN = """
    node(a, b); node(b, a); node(X, Y)@next :- node(X, Y);
    input bad(X)@T :- node(X, _), T == 2;
    bad(X)@next :- bad(X);
    pre(X) :- node(X, _);
    post(X) :- node(X, _), notin bad(X);
"""
CHOSEN = """
    node(a, b); node(a, a); node(b, a); node(X, Y)@next :- node(X, Y);
    favourite(X, Y)@next :- node(X, Y), choose((X), (Y));
    bad(X) :- favourite(X, Y), X != Y, node(X, X);
    pre(X) :- node(X, _);
    post(X) :- node(X, _), notin bad(X);
"""


@pytest.mark.parametrize(
    ("text", "found"), [(GIVEN, {"I(bad(a),2)", "I(bad(b),2)"}), (CHOSEN, {"K(favourite(a, b),3)"})]
)
@pytest.mark.parametrize("negation", ["exact", "conservative"])
def test_what_is_given_can_make_a_missing_row_appear(text: str, found: set[str], negation: str) -> None:
    """Conservative negation asked the rules alone what could bring in a row, and certified both."""
    verdict = check(parse_program(text), eot=4, eff=2, strategy="lineage", negation=negation, find_all=True)
    assert {str(c.faults) for c in verdict.counterexamples} == found
