"""Duplicates, restarts, pauses and partitions: the engine against the naive interpreter, all kinds mixed."""

from __future__ import annotations

from hypothesis import given, note, settings
from hypothesis import strategies as st

import reference
from clew.dedalus.printer import print_program
from clew.engine.execution import Execution
from clew.engine.ground import GroundProgram
from clew.program.assertions import PRE
from clew.program.checks import check_program
from clew.program.ir import BUILT_IN
from generators import fault_sets, lasting_programs, mixed_specs
from reference import evaluate, sendings, violations

_ENOUGH = max(150, settings().max_examples)


@settings(max_examples=_ENOUGH)
@given(st.data())
def test_the_engine_computes_what_the_language_says_under_all_kinds_of_faults(data: st.DataObject) -> None:
    program = data.draw(lasting_programs())
    spec = data.draw(mixed_specs(program))
    faults = data.draw(fault_sets(spec))
    note(print_program(program))
    note(str(faults))
    checked = check_program(program).program
    run = GroundProgram(checked, spec).run(faults)
    expected = evaluate(program, spec, faults)
    for time, relations in expected.items():
        for relation, rows in relations.items():
            if relation not in BUILT_IN:
                assert set(run.rows(relation, time)) == set(rows), f"{relation} at {time}"
    found = {v.row if v.relation == PRE else (v.relation, *v.row) for v in run.violations}
    assert found == set(violations(program, spec, faults))
    sent = {(m.relation, m.source, m.row, m.sent) for m in run.messages}
    assert sent == sendings(program, spec, faults)
    _assert_arrivals(run, expected)
    few = GroundProgram(checked, spec, record_rules=True, only=faults).run(faults)
    assert few.tables == run.tables
    assert few.messages == run.messages


def _assert_arrivals(run: Execution, expected: reference.Execution) -> None:
    for message in run.messages:
        for time in (message.arrived, message.again):
            if time is not None:
                assert message.row in expected[time][message.relation], (message, time)
