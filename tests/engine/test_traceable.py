"""A traceable grounding: the same executions as a plain one, with ground rules that are complete and know their
source."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

from clew.checker.bounds import complete
from clew.dedalus.loader import load, parse_program
from clew.dedalus.printer import print_program
from clew.engine.atoms import GroundRule, RowAtom, SentAtom
from clew.engine.ground import GroundProgram
from clew.faults import FailureSpec, FaultSet
from clew.program.checks import check_program
from clew.program.ir import CRASH, Fact, Program, Timing, Value
from generators import failure_specs, fault_sets, programs

EXAMPLES = Path(__file__).parents[2] / "examples"
NAMES = sorted(path.stem for path in EXAMPLES.glob("*.ded"))
NO_FAULTS = FaultSet()
_HALF = settings().max_examples // 2


@cache
def example(name: str) -> tuple[Program, FailureSpec]:
    loaded = load([EXAMPLES / f"{name}.ded"])
    program = check_program(loaded.program).program
    return program, complete(program, loaded.defaults)


@cache
def plain_example(name: str) -> GroundProgram:
    return GroundProgram(*example(name))


@cache
def traceable_example(name: str) -> GroundProgram:
    return GroundProgram(*example(name), record_rules=True, traceable=True)


def ground(text: str, **bounds: int) -> GroundProgram:
    spec = FailureSpec(("a", "b"), **{"eot": 3, **bounds})
    return GroundProgram(check_program(parse_program(text)).program, spec, record_rules=True, traceable=True)


class Atoms:
    """What the numbers in ground rules stand for."""

    def __init__(self, grounded: GroundProgram) -> None:
        self.rows: dict[int, RowAtom] = {atom.literal: atom for atom in grounded.row_atoms}
        self.sent: dict[int, SentAtom] = {atom.literal: atom for atom in grounded.sent_atoms}
        self._helpers: dict[int, set[int]] = {}
        self._made_by: dict[int, set[int | None]] = {}
        for rule in grounded.rules:
            self._made_by.setdefault(rule.head, set()).add(rule.source)
            if rule.source is None and rule.head not in self.rows and rule.head not in self.sent:
                self._helpers.setdefault(rule.head, set()).update(rule.body)

    def _seen_through(self, literals: Iterable[int]) -> list[int]:
        """clingo has atoms of its own for a premise with ``_``, which any fitting row makes true."""
        return [b for literal in literals for b in (literal, *self._helpers.get(literal, ()))]

    def rows_among(self, literals: Iterable[int]) -> list[RowAtom]:
        return [self.rows[b] for b in self._seen_through(literals) if b in self.rows]

    def messages_among(self, literals: Iterable[int]) -> list[SentAtom]:
        return [self.sent[b] for b in self._seen_through(literals) if b in self.sent]

    def rests_on_rule(self, number: int, literals: Iterable[int]) -> bool:
        """Whether the same rule made one of these: then they are what it aggregates."""
        return any(number in self._made_by.get(b, ()) for b in self._seen_through(map(abs, literals)))


# -- the same executions ----------------------------------------------------------------------------------------


@settings(max_examples=_HALF)
@given(st.data())
def test_marks_change_no_execution(data: st.DataObject) -> None:
    program = data.draw(programs())
    spec = data.draw(failure_specs(program))
    note(print_program(program))
    plain = GroundProgram(check_program(program).program, spec)
    traceable = GroundProgram(check_program(program).program, spec, traceable=True)
    for faults in (NO_FAULTS, data.draw(fault_sets(spec)), data.draw(fault_sets(spec))):
        assert traceable.run(faults) == plain.run(faults)


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
@settings(max_examples=5)
def test_marks_change_no_execution_of_an_example(name: str, data: st.DataObject) -> None:
    _, spec = example(name)
    faults = data.draw(fault_sets(spec))
    assert traceable_example(name).run(faults) == plain_example(name).run(faults)


def test_a_program_without_rules_is_traceable() -> None:
    grounded = ground("pre(a)@1; post(a)@1; pre(b)@1;", eot=1)
    assert [str(v) for v in grounded.run(NO_FAULTS).violations] == ["pre(b)"]
    assert [rule.source for rule in grounded.rules] == [None] * len(grounded.rules)


# -- complete rules ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_every_row_of_the_failure_free_run_has_a_rule_that_fired(name: str) -> None:
    program, _ = example(name)
    grounded = traceable_example(name)
    unexplained = _unexplained(program, grounded, NO_FAULTS)
    assert not unexplained


@settings(max_examples=_HALF)
@given(st.data())
def test_every_row_of_any_run_has_a_rule_that_fired(data: st.DataObject) -> None:
    program = check_program(data.draw(programs())).program
    spec = data.draw(failure_specs(program))
    faults = data.draw(fault_sets(spec))
    note(print_program(program))
    grounded = GroundProgram(program, spec, record_rules=True, traceable=True)
    assert not _unexplained(program, grounded, faults)


def _unexplained(program: Program, grounded: GroundProgram, faults: FaultSet) -> list[RowAtom | SentAtom]:
    """Rows and messages of a run that no fact, no arrival and no rule of their relation accounts for."""
    atoms = Atoms(grounded)
    mentioned = {abs(b) for rule in grounded.rules for b in (rule.head, *rule.body)}
    true = grounded.truth(faults, [*mentioned, *atoms.rows, *atoms.sent])
    explained = {rule.head for rule in grounded.rules if _fired(rule, true) and _accounts(rule, program, atoms)}
    everything: list[RowAtom | SentAtom] = [*atoms.rows.values(), *atoms.sent.values()]
    return [atom for atom in everything if atom.literal in true and atom.literal not in explained]


def _fired(rule: GroundRule, true: frozenset[int]) -> bool:
    return rule.bound is None and all((abs(b) in true) == (b > 0) for b in rule.body)


def _accounts(rule: GroundRule, program: Program, atoms: Atoms) -> bool:
    head = atoms.rows.get(rule.head) or atoms.sent.get(rule.head)
    if head is None:
        return False
    if rule.source is not None:
        return program.rules[rule.source].relation == head.relation
    if carried := atoms.messages_among(rule.body):
        return all(
            (m.relation, m.row) == (head.relation, head.row) and m.time < head.time for m in carried
        )  # one, or where it may have to wait for a node that pauses, one of several senders
    # A node that can stop receives facts only while it runs: nothing but that is in the body.
    return not atoms.rows_among(rule.body) and Fact(head.relation, head.row, head.time) in program.facts


# -- sources ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_sources_of_examples_are_right(name: str) -> None:
    _assert_sources(*example(name))


@settings(max_examples=_HALF)
@given(st.data())
def test_sources_are_right(data: st.DataObject) -> None:
    program = check_program(data.draw(programs())).program
    spec = data.draw(failure_specs(program))
    note(print_program(program))
    _assert_sources(program, spec)


def _assert_sources(program: Program, spec: FailureSpec) -> None:
    """The head is one of the rule's, and every premise is still there: each has a row in the body.

    Looked at before anything is solved: the solver drops rows that turn out to be impossible.
    """
    grounded = GroundProgram(program, spec, record_rules=True, traceable=True, expect_outcomes=False)
    atoms = Atoms(grounded)
    for ground_rule in grounded.rules:
        if ground_rule.source is None:
            continue
        rule = program.rules[ground_rule.source]
        row, message = atoms.rows.get(ground_rule.head), atoms.sent.get(ground_rule.head)
        if row:
            assert row.relation == rule.relation and rule.timing is not Timing.ASYNC
        elif message:
            assert message.relation == rule.relation and rule.timing is Timing.ASYNC
        if rule.aggregates and atoms.rests_on_rule(ground_rule.source, ground_rule.body):
            continue  # a conclusion; the premises stand in the rules for what is aggregated
        assert row or message or rule.aggregates
        positive = atoms.rows_among(b for b in ground_rule.body if b > 0)
        negative = atoms.rows_among(-b for b in ground_rule.body if b < 0)
        assert {atom.relation for atom in positive} == {p.relation for p in rule.positive} - {CRASH}
        # What can never hold is left out of a negated premise.
        assert {atom.relation for atom in negative} <= {p.relation for p in rule.negative}
        _assert_times(rule.timing, [atom.time for atom in positive], row, message)


def _assert_times(timing: Timing, premises: list[int], row: RowAtom | None, message: SentAtom | None) -> None:
    """Premises hold at the time of the rule, or at an earlier one that the rule names."""
    if row:
        assert all(time <= row.time - (timing is Timing.NEXT) for time in premises)
    if message:
        assert all(time <= message.time for time in premises)


ALIKE = """
    q(a, 1)@1; q(a, 2)@1; q(a, 3)@1;
    q(X, N)@next :- q(X, N);
    p(X, N) :- q(X, N), N == 2;
    p(X, N) :- q(X, N), N < 3;
    p(X, N)@next :- q(X, N), N == 2;
    n(X, count<N>) :- q(X, N), N > 1;
    n(X, max<N>) :- q(X, N);
    m(b, N)@async :- q(X, N), N == 3;
    m(b, N)@async :- q(X, N), notin p(X, N);
    pre(X, N) :- m(X, N); post(X, N) :- m(X, N);
"""


def test_rules_of_one_relation_are_told_apart() -> None:
    grounded = ground(ALIKE, eot=2, eff=2)
    atoms = Atoms(grounded)
    known: dict[int, RowAtom | SentAtom] = {**atoms.rows, **atoms.sent}
    found: dict[tuple[str, tuple[Value, ...], int], set[int]] = {}
    for rule in grounded.rules:
        if rule.source is not None and rule.head in known:
            atom = known[rule.head]
            found.setdefault((atom.relation, atom.row, atom.time), set()).add(rule.source)
    assert found["p", ("a", 1), 1] == {2}
    assert found["p", ("a", 2), 1] == {1, 2}
    assert found["p", ("a", 2), 2] == {1, 2, 3}
    assert found["q", ("a", 3), 2] == {0}
    assert found["n", ("a", 2), 1] == {4, 5}  # might be: two of the values are larger than 1, or 2 is the largest
    assert found["n", ("a", 3), 1] == {5}
    assert found["m", ("b", 3), 1] == {6, 7}
    assert found["m", ("b", 1), 1] == {7}


def test_a_plain_grounding_has_no_sources() -> None:
    program, spec = example("simple-deliv")
    plain = GroundProgram(program, spec, record_rules=True)
    assert {rule.source for rule in plain.rules} == {None}
