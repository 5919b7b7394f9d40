"""The naive interpreter on programs small enough to work out by hand.

What it says is the yardstick for the engine, so every expectation here is derived by hand from the description
of the language and, where that leaves room, from the readings listed in ``reference.py``.
"""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clew.dedalus.loader import parse_program
from clew.dedalus.printer import print_program
from clew.faults import Crash, Delay, FailureSpec, Fault, FaultSet, Loss
from clew.program.ir import Rule, Var, expr_vars
from generators import FEW_FAULTS, failure_specs, fault_sets, program_nodes, programs, tiny_specs
from reference import Row, evaluate, violations

SPEC = FailureSpec(("a", "b"), eot=4, eff=4, crashes=2, delays=2)

#: a sends the time to b at every time; b keeps the clock ticks that it got.
TICKS = """
    tick("a", "b")@1;
    tick(X, Y)@next :- tick(X, Y);
    got(Y, N)@async :- tick(X, Y)@N;
    got(Y, N)@next :- got(Y, N);
"""


def rows(text: str, relation: str, *faults: Fault, spec: FailureSpec = SPEC) -> dict[int, set[Row]]:
    """The rows of one relation, without the times that have none."""
    execution = evaluate(parse_program(text), spec, FaultSet.of(faults))
    return {time: set(tables[relation]) for time, tables in execution.items() if tables[relation]}


def now(text: str, relation: str) -> set[Row]:
    """The rows of one relation at time 1."""
    return rows(text, relation).get(1, set())


def test_every_time_and_every_named_relation_is_there() -> None:
    execution = evaluate(parse_program('p("a")@9; q(X) :- p(X), notin r(X);'), SPEC, FaultSet())
    assert execution == {time: {"p": frozenset(), "q": frozenset(), "r": frozenset()} for time in (1, 2, 3, 4)}


# Time.


def test_a_fact_holds_at_its_time_only() -> None:
    assert rows('p("a")@2; p("b");', "p") == {1: {("b",)}, 2: {("a",)}}


def test_persistence_lasts_until_the_end_and_not_beyond() -> None:
    text = 'p("a", 1)@2; p(X, V)@next :- p(X, V);'
    assert rows(text, "p") == {2: {("a", 1)}, 3: {("a", 1)}, 4: {("a", 1)}}


def test_a_rule_without_annotation_concludes_at_the_same_time() -> None:
    assert rows('p("a", 1)@2; q(X, V) :- p(X, V);', "q") == {2: {("a", 1)}}


def test_a_number_on_a_premise_reads_that_time_and_waits_for_it() -> None:
    text = """
        p("a", 1)@1; p("a", 2)@2; here("a")@1;
        here(X)@next :- here(X);
        first(X, V) :- here(X), p(X, V)@1;
        second(X, V) :- here(X), p(X, V)@2;
    """
    assert rows(text, "first") == {time: {("a", 1)} for time in (1, 2, 3, 4)}
    assert rows(text, "second") == {time: {("a", 2)} for time in (2, 3, 4)}


def test_a_number_on_a_negated_premise_waits_too() -> None:
    text = """
        p("b")@1; here("a")@1; here("b")@1;
        here(X)@next :- here(X);
        lacks(X) :- here(X), notin p(X)@1;
        later(X) :- here(X), notin p(X)@3;
    """
    assert rows(text, "lacks") == {time: {("a",)} for time in (1, 2, 3, 4)}
    assert rows(text, "later") == {time: {("a",), ("b",)} for time in (3, 4)}


def test_a_rule_reads_the_finished_rows_of_its_own_time() -> None:
    text = 'p("a")@2; q(X) :- p(X); here("a")@2; r(X) :- here(X), notin q(X)@2; s(X) :- here(X), q(X)@2;'
    assert rows(text, "r") == {}
    assert rows(text, "s") == {2: {("a",)}}


def test_a_variable_on_a_premise_is_the_time() -> None:
    text = 'p("a")@1; p(X)@next :- p(X); clock(X, N) :- p(X)@N;'
    assert rows(text, "clock") == {time: {("a", time)} for time in (1, 2, 3, 4)}


def test_a_time_variable_joins_with_columns_and_may_stand_on_a_negated_premise() -> None:
    text = """
        due("a", 2)@1; due("a", 9)@1;
        due(X, N)@next :- due(X, N);
        rings(X, N) :- due(X, N)@N;
        silent(X, N) :- due(X, _), notin due(X, N)@N;
    """
    assert rows(text, "rings") == {2: {("a", 2)}}
    assert rows(text, "silent") == {time: {("a", time)} for time in (1, 3, 4)}


# Messages and faults.


def test_a_message_takes_one_step() -> None:
    assert rows(TICKS, "got") == {2: {("b", 1)}, 3: {("b", 1), ("b", 2)}, 4: {("b", 1), ("b", 2), ("b", 3)}}


def test_a_loss_drops_what_one_node_sends_another_at_that_time() -> None:
    assert rows(TICKS, "got", Loss("a", "b", 1))[4] == {("b", 2), ("b", 3)}
    assert rows(TICKS, "got", Loss("b", "a", 1))[4] == {("b", 1), ("b", 2), ("b", 3)}


def test_a_crash_stops_all_messages_from_its_time_on() -> None:
    assert rows(TICKS, "got", Crash("a", 2))[4] == {("b", 1)}
    assert rows(TICKS, "got", Crash("a", 1)) == {}


def test_the_local_rules_of_a_crashed_node_go_on() -> None:
    assert rows(TICKS, "tick", Crash("a", 1)) == {time: {("a", "b")} for time in (1, 2, 3, 4)}


def test_a_crashed_node_still_receives() -> None:
    assert rows(TICKS, "got", Crash("b", 1)) == rows(TICKS, "got")


def test_a_delayed_message_arrives_later_and_only_then() -> None:
    text = 'p("a", "b")@1; got(Y)@async :- p(X, Y);'
    assert rows(text, "got", Delay("a", "b", 1, 1)) == {3: {("b",)}}
    assert rows(text, "got", Delay("a", "b", 1, 2)) == {4: {("b",)}}


def test_a_message_that_is_delayed_beyond_the_end_does_not_arrive() -> None:
    on_time = {2: {("b", 1)}, 3: {("b", 1), ("b", 2)}, 4: {("b", 1), ("b", 2), ("b", 3)}}
    assert rows(TICKS, "got") == on_time
    late = {**on_time, 4: {("b", 1), ("b", 2)}}
    assert rows(TICKS, "got", Delay("a", "b", 3, 1)) == late
    assert rows(TICKS, "got", Delay("a", "b", 3, 2)) == late


def test_a_crash_stops_delayed_messages_that_are_not_sent_yet() -> None:
    faults = (Delay("a", "b", 1, 2), Crash("a", 2), Delay("a", "b", 2, 1))
    assert rows(TICKS, "got", *faults) == {4: {("b", 1)}}


@pytest.mark.parametrize("fault", [Crash("a", 1), Delay("a", "b", 1, 1), Loss("a", "b", 1)])
def test_a_message_to_oneself_always_arrives(fault: Fault) -> None:
    assert rows('p("a")@1; got(X)@async :- p(X);', "got", fault) == {2: {("a",)}}


def test_messages_from_or_to_places_that_are_no_nodes_never_arrive() -> None:
    text = 'p("a", "z")@1; p("z", "a")@1; p("z", "z")@1; got(Y, X)@async :- p(X, Y);'
    assert rows(text, "got") == {2: {("z", "z")}}


def test_a_rule_sends_from_the_first_column_of_its_first_premise() -> None:
    text = 'p("a")@1; q("b")@1; got("b")@async :- {};'
    from_a, from_b = text.format("p(X), q(Y)"), text.format("q(Y), p(X)")
    assert rows(from_a, "got", Crash("a", 1)) == {}
    assert rows(from_b, "got", Crash("a", 1)) == {2: {("b",)}}


def test_an_anonymous_location_is_that_of_the_row() -> None:
    text = 'p("a", 1)@1; p("b", 2)@1; got("b", V)@async :- p(_, V);'
    assert rows(text, "got", Crash("a", 1)) == {2: {("b", 2)}}


def test_crashes_are_known_everywhere_and_at_every_time() -> None:
    text = "seen(O, N, T) :- crash(O, N, T);"
    assert rows(text, "seen", Crash("b", 3)) == {t: {("a", "b", 3), ("b", "b", 3)} for t in (1, 2, 3, 4)}
    assert rows(text, "seen") == {}


def test_the_absence_of_a_crash_can_be_asked_for() -> None:
    text = 'p("a", "b")@1; p("b", "a")@1; up(X, Y) :- p(X, Y), notin crash(X, Y, _);'
    assert rows(text, "up", Crash("b", 3)) == {1: {("b", "a")}}


# Bodies.


def test_a_join_needs_equal_values() -> None:
    text = 'p("a", 1)@1; p("a", 2)@1; q("a", 2)@1; q("b", 1)@1; r(X, V) :- p(X, V), q(X, V);'
    assert now(text, "r") == {("a", 2)}


def test_a_repeated_variable_and_a_constant_select_rows() -> None:
    text = 'p("a", "a", 1)@1; p("a", "b", 1)@1; r(V) :- p(X, X, V); s(Y) :- p(_, Y, 1); t(Y) :- p(_, Y, "1");'
    assert (now(text, "r"), now(text, "s"), now(text, "t")) == ({(1,)}, {("a",), ("b",)}, set())


def test_negation_with_a_wildcard_asks_for_any_row() -> None:
    text = """
        p("a")@1; p("b")@1; q("a", 1)@1;
        none(X) :- p(X), notin q(X, _);
        not_two(X) :- p(X), notin q(X, 2);
        nowhere(X) :- p(X), notin q(_, _);
    """
    assert now(text, "none") == {("b",)}
    assert now(text, "not_two") == {("a",), ("b",)}
    assert now(text, "nowhere") == set()


def test_a_variable_that_occurs_only_under_negation_reads_as_a_wildcard() -> None:
    assert now('p("a")@1; p("b")@1; q("a", 1)@1; none(X) :- p(X), notin q(X, V);', "none") == {("b",)}


def test_recursion_within_a_time_runs_to_the_end_before_negation() -> None:
    text = """
        edge("a", "b")@1; edge("b", "c")@1; edge("c", "b")@1;
        path(X, Y) :- edge(X, Y);
        path(X, Z) :- path(X, Y), edge(Y, Z);
        apart(X, Y) :- edge(X, _), edge(Y, _), notin path(X, Y);
        reach(X, count<Y>) :- path(X, Y);
    """
    assert now(text, "path") == {(x, y) for x in "abc" for y in "bc"}
    assert now(text, "apart") == {("a", "a"), ("b", "a"), ("c", "a")}
    assert now(text, "reach") == {("a", 2), ("b", 2), ("c", 2)}


def test_a_negation_cycle_within_a_time_is_no_program() -> None:
    program = parse_program('s("a")@1; p(X) :- s(X), notin q(X); q(X) :- s(X), notin p(X);')
    with pytest.raises(ValueError, match="own negation"):
        evaluate(program, SPEC, FaultSet())


def test_a_negation_cycle_over_time_is_fine() -> None:
    assert rows('s("a")@1; s(X)@next :- s(X); p(X)@next :- s(X), notin p(X);', "p") == {2: {("a",)}, 4: {("a",)}}


# Values.


@pytest.mark.parametrize(
    ("comparison", "holds"),
    [
        ('"1" == 1', False),
        ('"1" != 1', True),
        ('99 < ""', True),
        ('"a" > 99', True),
        ("-2 < -1", True),
        ("10 > 9", True),
        ('"10" < "9"', True),
        ('"ab" < "b"', True),
        ('"B" < "a"', True),
        ('"z" < "é"', True),
        ("1 <= 1", True),
        ('"b" <= "ab"', False),
        ("1 >= 2", False),
        ('"x" + 1 != 0', False),
        ("1 / 0 == 1 / 0", False),
        ("1 + 2 * 3 == 7", True),
    ],
)
def test_comparisons(comparison: str, holds: bool) -> None:
    assert now(f'p("a")@1; r(X) :- p(X), {comparison};', "r") == ({("a",)} if holds else set())


@pytest.mark.parametrize(
    ("expression", "value"),
    [("7 / 2", 3), ("-7 / 2", -3), ("7 / -2", -3), ("-7 / -2", 3), ("1 / 2", 0), ("3 - 5", -2), ("-2 * 3", -6)],
)
def test_arithmetic_is_on_integers_and_division_truncates_toward_zero(expression: str, value: int) -> None:
    assert now(f'p("a")@1; r(X, {expression}) :- p(X);', "r") == {("a", value)}


def test_arithmetic_without_a_result_silences_that_instance_only() -> None:
    text = 'p("a", 0)@1; p("a", 4)@1; p("a", "x")@1; r(X, 8 / V) :- p(X, V); s(X, V + 1) :- p(X, V);'
    assert now(text, "r") == {("a", 2)}
    assert now(text, "s") == {("a", 1), ("a", 5)}


@pytest.mark.parametrize(("aggregate", "value"), [("count", 3), ("sum", -3), ("min", -7), ("max", 4), ("avg", -1)])
def test_aggregates_over_distinct_numbers(aggregate: str, value: int) -> None:
    """a has -7, 0 and twice 4: distinct values, of which the average is -1 exactly."""
    text = f'p("a", 1, -7)@1; p("a", 1, 0)@1; p("a", 1, 4)@1; p("a", 2, 4)@1; r(X, {aggregate}<V>) :- p(X, _, V);'
    assert now(text, "r") == {("a", value)}


@pytest.mark.parametrize(
    ("aggregate", "value"), [("count", 4), ("sum", -7), ("min", -9), ("max", "b"), ("avg", -1)]
)
def test_aggregates_over_numbers_and_strings(aggregate: str, value: int | str) -> None:
    """-9, 2, "ab", "b": strings come after numbers and add nothing, but count; -7 / 4 truncates to -1."""
    text = f'p("a", -9)@1; p("a", 2)@1; p("a", "ab")@1; p("a", "b")@1; r(X, {aggregate}<V>) :- p(X, V);'
    assert now(text, "r") == {("a", value)}


def test_a_group_is_the_other_arguments_and_an_empty_one_has_no_row() -> None:
    text = """
        p("a", 1)@1; p("a", 2)@1; p("a", 3)@1; p("b", "x")@1;
        halves(X, count<V>, V / 2) :- p(X, V);
        big(X, count<V>) :- p(X, V), V == 7;
    """
    assert now(text, "halves") == {("a", 1, 0), ("a", 2, 1)}
    assert now(text, "big") == set()


def test_several_aggregates_share_the_group() -> None:
    text = 'p("a", 1, 5)@1; p("a", 2, 5)@1; r(X, sum<V>, count<W>, max<V>) :- p(X, V, W);'
    assert now(text, "r") == {("a", 3, 1, 2)}


def test_every_sender_aggregates_for_itself() -> None:
    text = """
        p("a", 1)@1; p("a", 2)@1; p("b", 3)@1;
        got("b", count<V>)@async :- p(X, V);
        all("b", count<V>) :- p(X, V);
    """
    assert rows(text, "got") == {2: {("b", 2), ("b", 1)}}
    assert rows(text, "got", Loss("a", "b", 1)) == {2: {("b", 1)}}
    assert now(text, "all") == {("b", 3)}


# Outcomes.


def test_a_violation_is_a_row_of_pre_without_post_at_the_end() -> None:
    text = 'pre("a", 1)@4; pre("a", 2)@4; pre("a", 3)@3; post("a", 1)@4; post("a", 2)@3; post("a", 4)@4;'
    assert violations(parse_program(text), SPEC, FaultSet()) == {("a", 2)}


def test_without_assertions_the_rows_of_persistent_relations_must_survive() -> None:
    program = parse_program(
        """
        p("a", "b")@1;
        got(Y, X)@async :- p(X, Y);
        got(Y, X)@next :- got(Y, X);
        passing(Y, X)@async :- got(X, Y);
        kept(Y)@next :- got(Y, X), notin gone(Y);
        kept(Y)@next :- kept(Y), notin gone(Y);
        """
    )
    assert violations(program, SPEC, FaultSet()) == frozenset()
    assert violations(program, SPEC, FaultSet.of([Loss("a", "b", 1)])) == {("got", "b", "a")}


def test_more_rows_than_without_faults_are_no_violation() -> None:
    program = parse_program('p("a")@1; p(X)@next :- p(X); p(N) :- crash(O, N, T); p("b") :- crash(_, _, 2);')
    assert violations(program, SPEC, FaultSet.of([Crash("a", 2)])) == frozenset()


# The promises of the strategies that feed the interpreter.


def _is_safe(rule: Rule) -> bool:
    bound = {v for p in rule.positive for v in (*p.args, p.at) if isinstance(v, Var)}
    used = {v for arg in rule.args for v in expr_vars(arg)}
    used |= {v for p in rule.negative for v in p.args if isinstance(v, Var)}
    used |= {v for c in rule.comparisons for side in (c.left, c.right) for v in expr_vars(side)}
    return used <= bound


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_generated_programs_are_safe_stratified_and_printable(data: st.DataObject) -> None:
    program = data.draw(programs())
    assert all(_is_safe(rule) for rule in program.rules)
    assert parse_program(print_program(program)) == program
    assert len(program_nodes(program)) in (2, 3)
    spec = data.draw(failure_specs(program))
    faults = data.draw(fault_sets(spec))
    assert spec.admits(faults)
    evaluate(program, spec, faults)  # raises if a time step is not stratified
    assert len(list(data.draw(tiny_specs(program)).possible_faults())) <= FEW_FAULTS
