"""Exact search: one question about all executions at once.

The system is asked for a violating set with the fewest faults; no answer is a certificate.  Every answer
is confirmed by a concrete execution before it counts.
"""

from __future__ import annotations

from clew.faults import FaultSet
from clew.search.protocol import SolvableSystem
from clew.search.verdict import Ledger


def search(system: SolvableSystem, ledger: Ledger, *, find_all: bool = False) -> str | None:
    """Record the smallest counterexample, or every subset-minimal one."""
    ledger.tell("solving")
    if not find_all:
        fewest = system.fewest_faults()
        if fewest is not None:
            _confirm(system, fewest, ledger)
        return None
    candidates: list[FaultSet] = []
    try:
        candidates.extend(system.minimal_faults())
    finally:
        for faults in candidates:
            _confirm(system, faults, ledger)
    return None


def _confirm(system: SolvableSystem, faults: FaultSet, ledger: Ledger) -> None:
    ledger.runs += 1
    run = system.run(faults)
    if not run.violations:
        raise AssertionError(f"the solver's counterexample {faults} does not fail when executed")
    ledger.record(run)
