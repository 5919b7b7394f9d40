"""Reach: what could, by the text of a program, make a missing row appear.

Each program is a few rules, the rows that the ground program could have are written by hand, and the question is
always why there is no row of ``r`` at time 3.
"""

from __future__ import annotations

from clew.dedalus.loader import parse_program
from clew.faults import Fault, Input
from clew.lineage.reach import Reach, Reasons
from lineage.hand_made import HandMade, fault

FAULTS = ["O(a,b,1)", "O(a,b,2)", "C(a,1)", "C(a,2)", "D(a,b,2,1)"]


def reasons(program: str, rows: str = "", faults: list[str] | None = None) -> tuple[set[str], set[str], set[str]]:
    """Return the rows that must not go away, the faults that have to stay, and those that must not be added."""
    ground = HandMade("\n".join(f"{row}." for row in rows.split()))
    reach = Reach(parse_program(program), ground.graph, [fault(text) for text in (faults or [])])
    found = reach.reasons("r", 3)
    return ground.names(found.causes), {str(f) for f in found.helpful}, {str(f) for f in found.harmful}


def test_a_row_behind_a_negation_keeps_another_away() -> None:
    """If ``ack`` went away, ``r`` could appear; if ``p`` went away, that would only help."""
    causes, _, _ = reasons("r(X) :- p(X), notin ack(X);", "p(a)@3 ack(a)@3 ack(b)@3")
    assert causes == {"ack(a)@3", "ack(b)@3"}


def test_only_the_time_of_the_rule_counts() -> None:
    causes, _, _ = reasons("r(X)@next :- p(X), notin ack(X);", "ack(a)@1 ack(a)@2 ack(a)@3")
    assert causes == {"ack(a)@2"}


def test_an_even_number_of_negations_is_harmless() -> None:
    """``q`` keeps ``ack`` away, which lets ``r`` in: were ``q`` gone, ``r`` would be no likelier."""
    program = "r(X) :- p(X), notin ack(X);  ack(X) :- p(X), notin q(X);"
    causes, _, _ = reasons(program, "ack(a)@3 q(a)@3")
    assert causes == {"ack(a)@3"}


def test_what_is_read_without_a_negation_is_followed_back() -> None:
    """``p`` persists, so what kept it away at any earlier time is a reason, too."""
    program = "r(X) :- p(X);  p(X)@next :- p(X);  p(X)@next :- s(X), notin stop(X);"
    causes, _, _ = reasons(program, "stop(a)@1 stop(a)@2 stop(a)@3")
    assert causes == {"stop(a)@1", "stop(a)@2"}


def test_a_row_of_an_aggregate_can_act_either_way() -> None:
    causes, _, _ = reasons("r(X, count<Y>) :- p(X, Y);", "p(a,b)@3 p(a,c)@3")
    assert causes == {"p(a,b)@3", "p(a,c)@3"}


def test_faults_that_keep_a_message_away_have_to_stay() -> None:
    """A message sent at 2 would arrive at 3; one that is sent at 1 and late arrives then, too."""
    _, helpful, harmful = reasons("r(Y)@async :- p(X, Y);", faults=FAULTS)
    assert helpful == {"O(a,b,1)", "O(a,b,2)", "C(a,1)", "C(a,2)", "D(a,b,2,1)"}
    assert harmful == {"D(a,b,2,1)"}


def test_without_delays_only_the_time_before_counts() -> None:
    _, helpful, harmful = reasons("r(Y)@async :- p(X, Y);", faults=FAULTS[:-1])
    assert helpful == {"O(a,b,2)", "C(a,1)", "C(a,2)"}
    assert harmful == set()


def test_a_crash_that_a_rule_looks_at_matters_by_the_sign_of_the_premise() -> None:
    _, helpful, harmful = reasons("r(X) :- p(X), crash(X, Y, T);", faults=FAULTS)
    assert (helpful, harmful) == (set(), {"C(a,1)", "C(a,2)"})
    _, helpful, harmful = reasons("r(X) :- p(X), notin crash(X, X, _);", faults=FAULTS)
    assert (helpful, harmful) == ({"C(a,1)", "C(a,2)"}, set())


def test_a_rule_that_names_a_later_time_has_not_run_before_it() -> None:
    causes, _, _ = reasons("r(X)@next :- p(X)@3, notin ack(X);", "ack(a)@2 ack(a)@3")
    assert causes == set()


def test_what_is_given_at_a_place_that_counts_must_not_be_added() -> None:
    program = "r(X)@next :- p(X); input p(X)@T :- q(X); input r(X)@T :- q(X);"
    given: list[Fault] = [
        Input("p", ("a",), 2),
        Input("p", ("a",), 3),
        Input("r", ("a",), 3),
        Input("r", ("a",), 2),
    ]
    reach = Reach(parse_program(program), HandMade("").graph, given)
    assert reach.reasons("r", 3) == Reasons((), frozenset(), frozenset({given[0], given[2]}))
