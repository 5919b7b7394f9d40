"""Which bounds are checked: flags, the program's own line, defaults, and what contradicts itself."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clew.bounds import Bounds, without_faults
from clew.checker import bounds
from clew.checker.bounds import complete
from clew.dedalus.loader import parse_program
from clew.errors import UsageError
from clew.faults import FailureSpec
from clew.program.checks import check_program
from clew.program.ir import Program
from generators import open_programs, programs

#: a sends to b, and b, which no fact mentions as a place, sends on to c.
RELAY = parse_program('n("a", "b"); m(Y)@async :- n(X, Y); k("c")@async :- m(X);')
NODES = ("a", "b", "c")


def spec(stated: Bounds | None = None, asked: Bounds | None = None) -> FailureSpec:
    return complete(RELAY, (asked or Bounds()).or_else(stated or Bounds()))


STATED = Bounds(("a", "b"), 6, 3, 1, 2)


def test_what_the_program_states() -> None:
    assert spec(STATED) == FailureSpec(("a", "b"), 6, 3, 1, 2)


def test_flags_win() -> None:
    assert spec(STATED, Bounds(["x", "y"], 5, 2, 0, 1)) == FailureSpec(("x", "y"), 5, 2, 0, 1)


@pytest.mark.parametrize(
    ("asked", "wanted"),
    [
        (Bounds(nodes=["z"]), FailureSpec(("z",), 6, 3, 1, 2)),
        (Bounds(eot=9), FailureSpec(("a", "b"), 9, 3, 1, 2)),
        (Bounds(eff=0), FailureSpec(("a", "b"), 6, 0, 1, 2)),
        (Bounds(crashes=0), FailureSpec(("a", "b"), 6, 3, 0, 2)),
        (Bounds(delays=0), FailureSpec(("a", "b"), 6, 3, 1, 0)),
    ],
)
def test_one_flag_leaves_the_rest(asked: Bounds, wanted: FailureSpec) -> None:
    assert spec(STATED, asked) == wanted


def test_nothing_said_leaves_the_times_to_the_sweep_with_one_crash() -> None:
    assert spec() == FailureSpec(NODES, 1, 0, 1, 0)


def test_a_sweep_that_is_told_of_stops_explores_no_crash() -> None:
    assert spec(asked=Bounds(stops=2)) == FailureSpec(NODES, 1, 0, 0, 0, stops=2)


def test_an_eot_without_a_word_on_faults_allows_none() -> None:
    assert spec(asked=Bounds(eot=4)) == FailureSpec(NODES, 4, 0, 0, 0)


def test_bounds_without_faults_win_over_what_the_program_states() -> None:
    assert spec(STATED, without_faults(None, 4)) == FailureSpec(("a", "b"), 4)


# Nodes.


def test_nodes_are_where_facts_and_messages_are() -> None:
    assert spec(asked=Bounds(eot=4)).nodes == NODES


def test_places_that_no_message_reaches_in_time_are_no_nodes() -> None:
    assert spec(asked=Bounds(eot=2)).nodes == ("a", "b")


def test_nodes_are_sorted_numbers_first() -> None:
    program = parse_program('n("b"); n(2); n("a"); n(10); n(-1);')
    assert complete(program, Bounds(eot=2)).nodes == (-1, 2, 10, "a", "b")


def test_named_nodes_keep_their_order_and_come_once() -> None:
    assert spec(asked=Bounds(["b", "a", "b"], eot=2)).nodes == ("b", "a")


@pytest.mark.parametrize("name", ["a\tb", "a\u00a0b", "\x9b31m"])
def test_a_name_that_cannot_be_printed_is_refused_whoever_names_it(name: str) -> None:
    program = parse_program(f'n("{name}");')
    for asked in (Bounds(eot=2), Bounds([name], eot=2)):
        with pytest.raises(UsageError, match="invalid node name"):
            complete(program, asked)


# Contradictions.


@pytest.mark.parametrize(
    ("asked", "message", "remedy"),
    [
        (Bounds(eot=0), "eot is 0", "give --eot a number from 1 on"),
        (Bounds(eot=-3), "eot is -3", "give --eot a number from 1 on"),
        (Bounds(eff=-1), "eff is -1", "give --eff a number from 0 on"),
        (Bounds(crashes=-1), "crashes is -1", "give --crashes a number from 0 on"),
        (Bounds(delays=-1), "delays is -1", "give --delays a number from 0 on"),
        (Bounds(eot=3, eff=4), "EFF 4 is larger than EOT 3", "--eff at most --eot"),
        (Bounds(eot=4, crashes=4), "4 crashes are more than the 3 nodes (a, b, c)", "--crashes a number up to 3"),
        (Bounds(eot=4, stops=4), "4 stops are more than the 3 nodes (a, b, c)", "--stops a number up to 3"),
        (Bounds(stops=-1), "stops is -1", "give --stops a number from 0 on"),
        (Bounds(["a"], crashes=2), "2 crashes are more than the 1 node", "--crashes a number up to 1"),
        (Bounds([]), "no nodes given", "--nodes a,b,c"),
        (Bounds(["a"], eot=10**9), "eot is 1000000000", "--eot"),
        (Bounds(["a"], eot=4, delays=10**9), "1000000000", "--delays"),
    ],
)
def test_what_is_refused(asked: Bounds, message: str, remedy: str) -> None:
    with pytest.raises(UsageError) as caught:
        spec(asked=asked)
    assert message in caught.value.message
    assert remedy in (caught.value.remedy or "")


def test_what_the_program_states_is_refused_too() -> None:
    with pytest.raises(UsageError, match="EFF 9 is larger than EOT 6"):
        spec(Bounds(eot=6, eff=9))
    with pytest.raises(UsageError, match="EFF 3 is larger than EOT 2"):
        spec(STATED, Bounds(eot=2))


@pytest.mark.parametrize("name", ["eot", "eff", "crashes", "delays"])
@pytest.mark.parametrize(
    ("given", "shown"),
    [("@", "the string '@'"), (int, "of type type"), (2.5, "of type float"), (True, "of type bool")],
)
def test_bounds_are_integers(name: str, given: Any, shown: str) -> None:
    for stated, asked in ((Bounds(**{name: given}), Bounds()), (Bounds(), Bounds(**{name: given}))):
        with pytest.raises(UsageError) as caught:
            spec(stated, asked)
        assert caught.value.message == f"{name} is {shown}, which is no integer"


def test_the_limits_are_allowed() -> None:
    assert spec(asked=Bounds(eot=4, eff=4, crashes=3)) == FailureSpec(NODES, 4, 4, 3, 0)


def test_a_program_without_facts_has_no_nodes() -> None:
    with pytest.raises(UsageError) as caught:
        complete(parse_program("p(X) :- q(X);"), Bounds(eot=3))
    assert caught.value.message == "the program has no facts, so there are no nodes"
    assert "--nodes" in (caught.value.remedy or "")


def test_a_program_without_facts_can_be_given_nodes() -> None:
    program = parse_program("p(X) :- q(X);")
    assert complete(program, Bounds(["a"], eot=3)).nodes == ("a",)


# -- nodes that nobody names -------------------------------------------------------------------------------------


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(program=programs() | open_programs(), crashes=st.integers(0, 1), delays=st.integers(0, 1))
def test_the_text_of_the_rules_tells_the_nodes_that_grounding_would(
    program: Program, crashes: int, delays: int
) -> None:
    """Where the text suffices nothing is grounded; it must not suffice where grounding finds more."""
    checked = check_program(program).program
    asked = Bounds(eot=3, eff=2, crashes=crashes, delays=delays)
    with pytest.MonkeyPatch.context() as patched:
        found = complete(checked, asked).nodes
        patched.setattr(bounds, "_stay_at", lambda program, located: False)
        assert found == complete(checked, asked).nodes


@pytest.mark.parametrize(
    ("text", "nodes"),
    [
        ("n(a, b); n(b, a); m(Y)@async :- n(X, Y);", ("a", "b")),
        ("n(a, b); m(Y)@async :- n(X, Y);", ("a", "b")),
        # Where it is computed, only grounding tells.
        ("n(1, 1); n(X, N + 1)@next :- n(X, N), N < 3; m(N)@async :- n(X, N);", (1, 2, 3)),
        ('n(a, b); m("c")@async :- n(X, Y), crash(_, X, _);', ("a", "c")),
    ],
)
def test_the_nodes_that_nobody_names(text: str, nodes: tuple[str | int, ...]) -> None:
    assert complete(check_program(parse_program(text)).program, Bounds(eot=5)).nodes == nodes
