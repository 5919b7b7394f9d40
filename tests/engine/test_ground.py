"""The ground program: executions and searches as queries, values as the user wrote them."""

from __future__ import annotations

import pytest

from clew.dedalus.loader import parse_program
from clew.engine.execution import Execution, Message
from clew.engine.fewest import ever_fewer_faults, minimal_faults
from clew.engine.ground import GroundProgram
from clew.errors import ProgramError
from clew.faults import Crash, Delay, FailureSpec, Fault, FaultSet, Loss
from clew.program.checks import check_program
from clew.violation import Violation

PING = """
    ping(a, b)@1;
    ping(X, Y)@next :- ping(X, Y);
    pong(Y, X)@async :- ping(X, Y);
"""


def ground(text: str, *, expect_outcomes: bool = True, **bounds: int) -> GroundProgram:
    spec = FailureSpec(("a", "b"), **{"eot": 4, **bounds})
    return GroundProgram(check_program(parse_program(text)).program, spec, expect_outcomes=expect_outcomes)


def execute(text: str, *faults: Fault) -> Execution:
    return ground(text, expect_outcomes=False, eff=4, crashes=2, delays=2).run(FaultSet.of(faults))


@pytest.mark.parametrize(
    "value",
    [
        '"plain"',
        '"two words"',
        '"back\\slash"',
        '"percent % and // no comment"',
        '"ünï¢ode"',
        "-3",
        "0",
        '"7"',
        '""',
    ],
)
def test_values_come_back_as_they_were_written(value: str) -> None:
    run = execute(f"p(a, {value}); p(X, V)@next :- p(X, V);")
    written = value[1:-1] if value.startswith('"') else int(value)
    assert run.rows("p") == (("a", written),)


def test_names_that_mean_something_to_the_solver_mean_nothing_here() -> None:
    run = execute("not(a, not); r0(a, 1); bad1.x?(a, node); p(X, Y) :- not(X, Y), r0(X, _), bad1.x?(X, _);")
    assert run.rows("p", 1) == (("a", "not"),)


def test_messages_tell_when_they_were_sent_and_whether_they_arrived() -> None:
    run = execute(PING, Loss("a", "b", 1), Delay("a", "b", 2, 1))
    assert run.messages == (
        Message("pong", ("b", "a"), "a", "b", 1, None),
        Message("pong", ("b", "a"), "a", "b", 2, 4),
        Message("pong", ("b", "a"), "a", "b", 3, 4),
    )
    assert [run.rows("pong", t) for t in (1, 2, 3, 4)] == [(), (), (), (("b", "a"),)]


def test_a_crash_silences_its_node_but_not_its_rules() -> None:
    run = execute(PING, Crash("a", 2))
    assert [m.arrived for m in run.messages] == [2, None, None]
    assert run.rows("ping", 4) == (("a", "b"),)


def test_crashes_can_be_seen_at_every_time_and_place() -> None:
    run = execute("p(a); p(X)@next :- p(X); q(O, N, T) :- p(_), crash(O, N, T);", Crash("b", 3))
    assert run.rows("q", 1) == run.rows("q", 4) == (("a", "b", 3), ("b", "b", 3))


def test_a_row_that_is_only_asked_for_is_not_there() -> None:
    """Such atoms have no number in clingo; reading them as true was once a wrong answer."""
    run = execute("start(a, 1)@1; m(X, N)@next :- start(X, N), notin ack(X, N); ack(X, N)@next :- m(X, N);")
    assert run.rows("ack", 1) == ()
    assert run.rows("ack", 3) == (("a", 1),)


def test_the_minimum_of_a_group_that_may_be_empty() -> None:
    """clingo's empty minimum (#sup) must not become a row."""
    program = PING + "low(Y, min<X>) :- pong(Y, X); pre(X) :- ping(X, _); post(X) :- ping(X, _), low(_, _);"
    found = ground(program, eff=4)
    assert found.run(FaultSet.of([Loss("a", "b", t) for t in (1, 2, 3)])).rows("low") == ()
    assert found.run(FaultSet()).rows("low") == (("b", "a"),)


def test_a_message_to_oneself_arrives_even_where_no_node_is_known() -> None:
    run = execute("n(q)@1; m(X)@async :- n(X);")
    assert run.rows("m", 2) == (("q",),)


def test_numbers_do_not_wrap_around() -> None:
    with pytest.raises(ProgramError, match="becomes too large") as caught:
        execute("p(a, 50000)@1; p(X, N * N)@next :- p(X, N);")
    assert (caught.value.position.line, caught.value.position.column) == (1, 16)  # type: ignore[union-attr]


def test_sums_do_not_wrap_around() -> None:
    with pytest.raises(ProgramError, match="a sum in the rule for 's' can become too large"):
        execute("p(a, 2147483647)@1; p(a, 1)@1; s(X, sum<N>) :- p(X, N);")


def test_sums_of_what_is_not_certain_do_not_wrap_around() -> None:
    """clingo refuses these itself, while it grounds."""
    with pytest.raises(ProgramError, match="a sum in the rule for 's' can become too large") as caught:
        ground("p(a, 1500000000)@1; p(a, 1000000000)@1; q(b, N)@async :- p(a, N); s(X, sum<N>) :- q(X, N);", eff=2)
    assert (caught.value.position.line, caught.value.position.column) == (1, 67)  # type: ignore[union-attr]


def test_division_truncates_and_undefined_arithmetic_does_not_fire() -> None:
    found = ground("p(a, -7, 2); p(a, 1, 0); p(a, 1, x); q(X, M / N)@next :- p(X, M, N);q(X,M)@next :- q(X,M);")
    assert found.run(FaultSet()).rows("q", 2) == (("a", -3),)
    assert ["divides by zero" in str(n) or "is not a number" in str(n) for n in found.notices] == [True]


def test_fewest_faults_and_every_minimal_set() -> None:
    text = PING + "pong(X, Y)@next :- pong(X, Y); pre(X) :- ping(_, X); post(X) :- pong(X, _);"
    found = ground(text, eff=3, crashes=1)
    assert [*ever_fewer_faults(found)][-1] == FaultSet((Crash("a", 1),))
    assert {str(s) for s in minimal_faults(found)} == {"C(a,1)", "O(a,b,1) C(a,2)", "O(a,b,1) O(a,b,2) C(a,3)"}
    assert [*ever_fewer_faults(found)][-1] == FaultSet((Crash("a", 1),))


def test_no_faults_no_counterexample() -> None:
    text = PING + "pong(X, Y)@next :- pong(X, Y); pre(X) :- ping(_, X); post(X) :- pong(X, _);"
    found = ground(text)
    assert [*ever_fewer_faults(found)] == []
    assert list(minimal_faults(found)) == []


def test_without_assertions_the_failure_free_rows_must_persist() -> None:
    found = ground(PING + "pong(X, Y)@next :- pong(X, Y);", eff=4)
    lost = FaultSet.of(Loss("a", "b", t) for t in (1, 2, 3))
    assert found.run(FaultSet()).good
    assert found.run(lost).violations == (Violation("pong", ("b", "a")),)
    assert [*ever_fewer_faults(found)][-1] == lost


def test_inadmissible_faults_are_refused() -> None:
    with pytest.raises(ValueError, match="not admissible"):
        ground(PING + "p(a)@1; p(X)@next :- p(X);", crashes=1).run(FaultSet.of([Crash("a", 1), Crash("b", 1)]))


def test_relevant_faults_are_those_of_possible_messages() -> None:
    found = ground(PING, expect_outcomes=False, eff=3, crashes=1)
    assert {str(f) for f in found.relevant_faults()} == {
        "O(a,b,1)", "O(a,b,2)", "C(a,1)", "C(a,2)", "C(a,3)", "C(b,1)", "C(b,2)", "C(b,3)",
    }  # fmt: skip


def test_places_that_are_no_nodes_are_noticed() -> None:
    found = ground('p(a)@1; p(z)@1; q("y") :- p("y"); m("x")@async :- p(a);', expect_outcomes=False)
    told = [n.message for n in found.notices]
    assert told == [
        "messages from or to the unknown node 'x' get lost",
        "'p' is given at the unknown node 'z'",
        "the rule for 'q' runs at the unknown node 'y'",
    ]
