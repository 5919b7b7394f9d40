"""Exact search: one question about all executions at once.

The system is asked for a violating set with the fewest faults; no answer is a certificate.  Every answer
is confirmed by a concrete execution before it counts.
"""

from __future__ import annotations

from clew.errors import BudgetExhaustedError
from clew.faults import FaultSet
from clew.search.protocol import SolvableSystem
from clew.search.verdict import Ledger


def search(system: SolvableSystem, ledger: Ledger, *, find_all: bool = False) -> str | None:
    """Record the smallest counterexample, or every subset-minimal one."""
    ledger.tell("solving")
    found: list[FaultSet] = []
    stopped: str | None = None
    try:
        for faults in system.minimal_faults() if find_all else system.ever_fewer_faults():
            found.append(faults)
    except BudgetExhaustedError as limit:
        if not found:
            raise
        stopped = str(limit)
    for faults in found if find_all else found[-1:]:
        _confirm(system, faults, ledger)
    if stopped is None:
        return None
    return f"{stopped}; there may be more" if find_all else f"{stopped}; fewer faults may do"


def _confirm(system: SolvableSystem, faults: FaultSet, ledger: Ledger) -> None:
    """Queries on the system are over by now: it can execute."""
    ledger.runs += 1
    run = system.run(faults)
    ledger.after_run(run)
    if not run.violations:
        raise AssertionError(f"the solver's counterexample {faults} does not fail when executed")
    ledger.record(run)
