"""Traced programs: they do what they did, and their firings are what a naive evaluator finds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from bloom.runtime.test_evaluation_naive import (
    COLLECTIONS,
    NAMES,
    Generated,
    naive,
    programs,
    relations,
    rules,
    run_naively,
)
from clew.bloom import Bloom, bloom, channel, interface, lmap, lmax, lset, scratch, table
from clew.bloom.ir.program import BloomProgram, Op, Rule
from clew.bloom.ir.schema import Collection, Kind, Schema
from clew.bloom.language.module import program_of
from clew.bloom.runtime.machine import Machine, StepResult
from clew.bloom.runtime.rewriting import rewrite
from clew.bloom.runtime.tap import Observed, Tap
from clew.bloom.values import Row

# mypy: disable-error-code="comparison-overlap, operator"


@dataclass
class Kept:
    """Keeps what it hears, step by step."""

    rules: frozenset[int]
    heard: list[dict[int, set[Row]]] = field(default_factory=list)
    held: list[dict[str, tuple[int, int]]] = field(default_factory=list)

    def hear(self, step: Observed) -> None:
        assert step.number == len(self.heard) + 1
        self.heard.append({number: set(rows) for number, rows in step.firings})
        self.held.append({held.collection: (held.rows, held.size) for held in step.held()})


def traced_machine(program: BloomProgram, selected: Sequence[int] | None = None) -> tuple[Machine, Kept]:
    kept = Kept(frozenset(range(len(program.rules)) if selected is None else selected))
    return Machine(program, "here", tap=Tap(program, [kept])), kept


# -- generated programs ------------------------------------------------------------------------------------------

CHANNEL = Collection("sent", Kind.CHANNEL, Schema(("x", "y"), (), "x"), "Generated")


@st.composite
def sending_programs(draw: st.DrawFn) -> Generated:
    """Programs with a rule that sends."""
    generated = draw(programs())
    sends = Rule("sent", Op.SEND, draw(relations(2, 2)).to_expr(), "Generated.rules")
    drawn = draw(st.permutations([*generated.program.rules, sends]))
    program = replace(generated.program, collections=(*COLLECTIONS, CHANNEL), rules=tuple(drawn))
    return replace(generated, program=program)


@given(sending_programs(), st.data())
def test_firings_are_what_the_bodies_give(generated: Generated, data: st.DataObject) -> None:
    program = generated.program
    selected = data.draw(st.sets(st.sampled_from(range(len(program.rules))), min_size=1))
    traced, kept = traced_machine(program, sorted(selected))
    plain = Machine(program, "here")
    local = tuple(rule for rule in program.rules if rule.op is not Op.SEND)
    without = replace(generated, program=replace(program, rules=local))
    known: dict[int, set[Row]] = {number: set() for number in selected}
    deleted: dict[str, set[Row]] = {name: set() for name in NAMES}
    for arrived, state in zip(generated.steps, run_naively(without), strict=True):
        for name, rows_given in arrived.items():
            plain.insert(name, rows_given)
            traced.insert(name, rows_given)
        assert traced.step() == plain.step()
        assert (traced.waiting, traced.pending) == (plain.waiting, plain.pending)
        assert all(list(traced.rows(name)) == list(plain.rows(name)) for name in NAMES)
        expected = {}
        for number in selected:
            rule = program.rules[number]
            found = naive(rule.expr, state)  # type: ignore[arg-type]
            if rule.target[0] == "t" and rule.op is Op.NOW:
                before = known[number]
                known[number] = (before - deleted[rule.target]) | found
                found = known[number] - before
            if found:
                expected[number] = found
        assert kept.heard[-1] == expected
        deleted = {name: set() for name in NAMES}
        for rule in program.rules:
            if rule.op is Op.DELETE:
                deleted[rule.target] |= naive(rule.expr, state)  # type: ignore[arg-type]
        for name in NAMES:
            assert kept.held[-1][name][1] == len(state[name])


@given(st.lists(rules(), min_size=1, max_size=5), st.permutations(range(5)))
def test_what_is_traced_does_not_depend_on_the_order_of_rules(drawn: list[Rule], order: list[int]) -> None:
    program = BloomProgram("Generated", COLLECTIONS, tuple(drawn))
    shuffled = [k for k in order if k < len(drawn)]
    again = replace(program, rules=tuple(drawn[k] for k in shuffled))
    heard = []
    for each, numbers in ((program, range(len(drawn))), (again, [shuffled.index(k) for k in range(len(drawn))])):
        machine, kept = traced_machine(each)
        machine.insert("t0", [(1, 2), (2, 2)])
        machine.step()
        heard.append([kept.heard[0].get(number) for number in numbers])
    assert heard[0] == heard[1]


# -- one by one --------------------------------------------------------------------------------------------------


class Votes(Bloom):
    vote = interface.input("who", "rank")
    said = channel("@to", "who")
    highest = lmax()
    voters = lset()
    result = scratch("n")
    kept = table("who", val=["rank"])
    bad = scratch("who")

    @bloom
    def rules(self) -> None:
        self.said <~ self.vote(lambda v: (v.who, v.who))
        self.highest <= self.vote(lambda v: (v.rank,))
        self.voters <= self.vote(lambda v: (v.who,))
        self.result <= self.voters.size().gt_eq(2).when_true([(2,)])
        self.kept <= self.vote
        self.bad <= self.vote(lambda v: (1 // v.rank,))


def _step(machine: Machine, *rows: Row) -> StepResult:
    machine.insert("vote", rows)
    return machine.step()


def test_lattices_count_what_they_had_not() -> None:
    machine, kept = traced_machine(program_of(Votes))
    _step(machine, ("a", 1))
    _step(machine, ("a", 1))
    _step(machine, ("b", 3), ("c", 2))
    _step(machine)
    assert [step.get(1, set()) for step in kept.heard] == [{(1,)}, set(), {(3,)}, set()]
    assert [step.get(2, set()) for step in kept.heard] == [{("a",)}, set(), {("b",), ("c",)}, set()]
    assert [step.get(3, set()) for step in kept.heard] == [set(), set(), {(2,)}, {(2,)}]
    # Of lattices nothing is counted in steps that leave them as they are.
    assert [step.get("voters") for step in kept.held] == [(0, 1), None, (0, 3), None]


def test_lattices_in_lattices_are_traced() -> None:
    class Nested(Bloom):
        told = interface.input("key", "value")
        sets = lmap(lset)

        @bloom
        def rules(self) -> None:
            self.sets <= self.told

    machine, kept = traced_machine(program_of(Nested))
    for value in (1, 1, 2):
        machine.insert("told", [("a", frozenset([value]))])
        machine.step()
    assert [len(step.get(0, ())) for step in kept.heard] == [1, 0, 1]


def test_rows_that_are_refused_are_refused_once_and_of_the_user_rule() -> None:
    plain, (traced, kept) = Machine(program_of(Votes), "here"), traced_machine(program_of(Votes))
    rows = ("a", 0), ("b", 1), ("b", 2)
    assert [str(r) for r in _step(traced, *rows).refused] == [str(r) for r in _step(plain, *rows).refused]
    # Both rows for one key were derived; which of them stays is another matter.
    assert kept.heard[0][4] == set(rows)
    assert kept.held[0]["kept"] == (2, 2)


def test_functions_that_are_not_seen_through_are_called_once() -> None:
    called: list[Any] = []

    def note(row: Any) -> Any:
        called.append(tuple(row))
        return (row.x, len(called))

    class Opaque(Bloom):
        told = interface.input("x")
        kept = table("x", "n")
        seen = scratch("x", "n")

        @bloom
        def rules(self) -> None:
            self.kept <= self.told(note)
            self.seen <= self.kept

    machine, kept = traced_machine(program_of(Opaque))
    machine.insert("told", [("a",), ("b",)])
    machine.step()
    assert called == [("a",), ("b",)]
    assert kept.heard == [{0: {("a", 1), ("b", 2)}, 1: {("a", 1), ("b", 2)}}]


def test_what_is_deleted_and_derived_again_is_new() -> None:
    class Forgetful(Bloom):
        told = interface.input("x")
        drop = interface.input("x")
        kept = table("x")

        @bloom
        def rules(self) -> None:
            self.kept <= self.told
            self.kept <- self.drop

    machine, kept = traced_machine(program_of(Forgetful), [0])
    for told, dropped in ([("a",)], []), ([("a",)], [("a",)]), ([], []), ([("a",)], [("a",)]), ([("a",)], []):
        machine.insert("told", told)
        machine.insert("drop", dropped)
        machine.step()
    # Deleted at the beginning of the third step; and at that of the fifth, which derives it again at once.
    assert [step.get(0, set()) for step in kept.heard] == [{("a",)}, set(), set(), {("a",)}, set()]


def test_traces_do_not_grow_with_what_is_gone() -> None:
    class Latest(Bloom):
        told = interface.input("key", "value")
        latest = table("key", val=["value"])
        highest = lmax()
        counts = lmap(lmax)

        @bloom
        def rules(self) -> None:
            self.latest <+ self.told
            self.latest <- (self.latest * self.told).lefts(key="key")
            self.highest <= self.told(lambda t: (t.value,))
            self.counts <= self.told

    machine, kept = traced_machine(program_of(Latest))
    for number in range(200):
        machine.insert("told", [("a", number)])
        machine.step()
    assert sum(len(store.rows) for store in machine._stores.values()) <= 10
    assert [sum(len(step.get(rule, ())) for step in kept.heard) for rule in range(4)] == [200, 199, 200, 200]


def test_bodies_of_tables_are_not_held_a_second_time() -> None:
    # Of such rules only new rows are evaluated: that must stay so.
    traced = rewrite(program_of(Votes), range(6))
    assert [traced.firings[number] for number in range(6)] == [
        *("(body 0)", "(fired 1)", "(fired 2)", "(body 3)", "(fired 4)", "(body 5)")
    ]
