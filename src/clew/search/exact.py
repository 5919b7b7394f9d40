"""Exact search: one question about all executions at once.

The system is asked for a violating set with the fewest faults; no answer is a certificate.  Every answer is
confirmed by a concrete execution before it counts, so that a mistake in an encoding shows up as a crash, not as a
counterexample that nobody can replay.

The default, because it is exact for negation and aggregates and needs no iteration: every row of the paper's
Figures 12 and 13 takes 1 to 4 ms beside grounding (Flux 13 ms; ``benchmarks/README.md``).
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
        # What was found before time ran out is still a counterexample, only perhaps not the smallest.
        if not found:
            raise
        stopped = str(limit)
    for faults in found if find_all else found[-1:]:  # the last is the smallest
        _confirm(system, faults, ledger)
    if stopped is None:
        return None
    return f"{stopped}; there may be more" if find_all else f"{stopped}; fewer faults may do"


def _confirm(system: SolvableSystem, faults: FaultSet, ledger: Ledger) -> None:
    """Execute with these faults and record what they violate; queries are over by now, so the system can."""
    ledger.runs += 1
    run = system.run(faults)
    ledger.after_run(run)
    if not run.violations:
        raise AssertionError(f"the solver's counterexample {faults} does not fail when executed")
    ledger.record(run)
