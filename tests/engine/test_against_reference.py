"""The engine against the naive interpreter: the same rows at every time, under any admissible faults."""

from __future__ import annotations

from hypothesis import given, note, settings
from hypothesis import strategies as st

from clew.dedalus.printer import print_program
from clew.engine.ground import GroundProgram
from clew.program.assertions import PRE
from clew.program.checks import check_program
from clew.program.ir import CRASH
from generators import aggregating_programs, failure_specs, fault_sets, programs
from reference import evaluate, violations

#: Of five mistakes seeded into aggregates and division (an average rounded up, ``per`` ignored, max for min, a
#: sum of what is positive, division that rounds down), 400 programs of the usual kind find none, and 100 that
#: aggregate find four; the fifth takes some more.
_ENOUGH = max(400, settings().max_examples)


@settings(max_examples=_ENOUGH)
@given(st.data())
def test_the_engine_computes_what_the_language_says(data: st.DataObject) -> None:
    program = data.draw(st.one_of(programs(), aggregating_programs()))
    spec = data.draw(failure_specs(program))
    faults = data.draw(fault_sets(spec))
    note(print_program(program))
    run = GroundProgram(check_program(program).program, spec).run(faults)
    expected = evaluate(program, spec, faults)
    for time, relations in expected.items():
        for relation, rows in relations.items():
            if relation != CRASH:
                assert set(run.rows(relation, time)) == set(rows), f"{relation} at {time}"
    found = {v.row if v.relation == PRE else (v.relation, *v.row) for v in run.violations}
    assert found == set(violations(program, spec, faults))
