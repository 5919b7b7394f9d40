"""What a check came to, beside what its program expects of it."""

from __future__ import annotations

from dataclasses import replace

from clew.checker.result import Verdict
from clew.errors import Notice
from clew.expectation import Expectation, describe


def count_faults(verdict: Verdict) -> int | None:
    """Return how many faults the smallest counterexample has; inputs and choices are none.  None without one."""
    return len(verdict.counterexamples[0].faults.failures) if verdict.counterexamples else None


def note_difference(verdict: Verdict, expectation: Expectation | None) -> Verdict:
    """Note an answer that the program says it does not have; the answer stays what it is."""
    faults = count_faults(verdict)
    if expectation is None or expectation.is_met_by(verdict.answer.value, faults):
        return verdict
    got = describe(verdict.answer.value, faults)
    differs = Notice(f"the program expects '{expectation}', and the answer is '{got}'")
    return replace(verdict, notices=(*verdict.notices, differs))
