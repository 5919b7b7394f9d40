"""The runs under some of a few faults: the same as if all faults were possible, and what tells them apart."""

from __future__ import annotations

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from clew.budgets.deadline import Deadline
from clew.dedalus.loader import parse_program
from clew.dedalus.printer import print_program
from clew.engine.atoms import LinkAtom, RowAtom, SentAtom, SightingAtom
from clew.engine.ground import GroundProgram
from clew.engine.runs import Runs
from clew.errors import BudgetExhaustedError
from clew.faults import Crash, Delay, FailureSpec, FaultSet, Loss
from clew.program.checks import check_program
from clew.program.ir import Program
from generators import failure_specs, fault_sets, programs

PING = """
    ping(a, b)@1;  ping(a, b)@2;
    pong(Y, X)@async :- ping(X, Y);
    seen(Y, X) :- pong(Y, X), notin crash(_, X, _);
    pre(Y, X) :- pong(Y, X);  post(Y, X) :- seen(Y, X);
"""


def program_of(text: str) -> Program:
    return check_program(parse_program(text)).program


@given(st.data())
def test_with_few_faults_runs_are_as_with_all(data: st.DataObject) -> None:
    program = check_program(data.draw(programs())).program
    spec = data.draw(failure_specs(program))
    faults = data.draw(fault_sets(spec))
    note(f"{spec} {faults}\n{print_program(program)}")
    some = FaultSet.of(data.draw(st.sets(st.sampled_from(faults.faults))) if faults else ())
    everything = GroundProgram(program, spec).run(some)
    few = GroundProgram(program, spec, only=faults)
    assert few.run(some) == everything
    assert few.messages(some) == everything.messages
    assert few.violations(some) == everything.violations


@given(st.data())
def test_every_row_that_depends_on_the_faults_has_a_name_and_a_rule(data: st.DataObject) -> None:
    program = check_program(data.draw(programs())).program
    spec = data.draw(failure_specs(program))
    faults = data.draw(fault_sets(spec))
    note(f"{spec} {faults}\n{print_program(program)}")
    runs = Runs.of(program, spec, faults, Deadline(None))
    ground = GroundProgram(program, spec, only=faults)
    with_faults, without = ground.run(faults), ground.run(FaultSet())
    changed = {
        (relation, row, time)
        for relation, by_time in with_faults.tables.items()
        for time, rows in enumerate(by_time, start=1)
        for row in {*rows} ^ {*without.rows(relation, time)}
    }
    atoms = [runs.describe(atom) for atom in runs.true(faults) ^ runs.true(FaultSet())]
    assert {(a.relation, a.row, a.time) for a in atoms if isinstance(a, RowAtom)} == changed
    assert {a.literal for a in atoms if isinstance(a, RowAtom | SentAtom)} <= runs.rules.keys()


def test_what_atoms_stand_for() -> None:
    faults = FaultSet.of([Loss("a", "b", 1), Crash("a", 2)])
    runs = Runs.of(program_of(PING), FailureSpec(("a", "b"), 4, 3, 1), faults, Deadline(None))
    told = [runs.describe(atom) for atom in runs.rules]
    assert {(a.source, a.target, a.time) for a in told if isinstance(a, LinkAtom)} == {
        ("a", "b", 1),
        *(("a", "b", time) for time in (2, 3)),
    }
    assert {a.node for a in told if isinstance(a, SightingAtom)} == {"a"}
    assert {(a.relation, a.time) for a in told if isinstance(a, RowAtom)} >= {("pong", 2), ("pong", 3)}
    assert not [a for a in told if isinstance(a, SentAtom)], "that they are sent is certain"
    assert [runs.describe(atom) for atom in runs.fault_atoms.values()] == [None, None]
    assert all((m.source, m.target) == ("a", "b") for m in runs.messages(faults))
    assert [m.arrived for m in runs.messages(faults)] == [None, None]


def test_what_is_late() -> None:
    faults = FaultSet.of([Delay("a", "b", 1, 1)])
    runs = Runs.of(program_of(PING), FailureSpec(("a", "b"), 4, delays=1), faults, Deadline(None))
    late = [a for a in map(runs.describe, runs.rules) if isinstance(a, LinkAtom)]
    assert [(a.source, a.target, a.time) for a in late] == [("a", "b", 1)]
    assert [m.arrived for m in runs.messages(faults)] == [3, 3]


def test_names_are_known_only_where_they_were_recorded() -> None:
    program, spec = program_of(PING), FailureSpec(("a", "b"), 4, 3, 1)
    for ground in (GroundProgram(program, spec), GroundProgram(program, spec, record_rules=True)):
        with pytest.raises(ValueError, match="to see names"):
            _ = ground.symbols
    assert GroundProgram(program, spec, record_rules=True, traceable=True).symbols


def test_time_can_run_out() -> None:
    deadline = Deadline(None)
    runs = Runs.of(program_of(PING), FailureSpec(("a", "b"), 4, 3, 1), FaultSet.of([Crash("a", 2)]), deadline)
    deadline.interrupted = True
    with pytest.raises(BudgetExhaustedError):
        runs.true(FaultSet())
