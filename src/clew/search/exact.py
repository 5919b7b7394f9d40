"""Exact search: one question about all executions at once.

The system is asked for a violating set with the fewest faults; no answer is a certificate.  Where promises are
told apart, those that the answer does not break are asked about one by one: each is broken, by the fewest faults
that do it, or holds.  Every answer is confirmed by a concrete execution before it counts, so that a mistake in an
encoding shows up as a crash, not as a counterexample that nobody can replay.

The default, because it is exact for negation and aggregates and needs no iteration: every row of the paper's
Figures 12 and 13 takes 1 to 4 ms beside grounding (Flux 13 ms; ``benchmarks/README.md``).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from clew.errors import BudgetExhaustedError
from clew.faults import FaultSet
from clew.search.protocol import Run, SolvableSystem
from clew.search.verdict import Ledger


def search(
    system: SolvableSystem, ledger: Ledger, *, find_all: bool = False, promises: Sequence[str] = ()
) -> str | None:
    """Record the smallest counterexample, or every subset-minimal one; of several ``promises``, for each."""
    ledger.tell("solving")
    if promises:
        return _search_each(system, ledger, promises, find_all=find_all)
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


def _search_each(system: SolvableSystem, ledger: Ledger, promises: Sequence[str], *, find_all: bool) -> str | None:
    """Ask for the fewest faults of all, then about every promise that these do not break."""
    decided: list[str] = []
    found: dict[FaultSet, None] = {}
    try:
        if not find_all:
            # One question about all of them first: no answer is a certificate for each.
            for faults in system.ever_fewer_faults():
                found = {faults: None}
            if not found:
                return None
            # Those are the fewest for whatever they break.
            (fewest,) = found
            decided += dict.fromkeys(v.relation for v in _confirm(system, fewest, ledger).violations)
        for promise in promises:
            if promise not in decided:
                _ask_for(promise, system, found, find_all=find_all)
                decided.append(promise)
    except BudgetExhaustedError as limit:
        if not found:
            raise
        _confirm_rest(system, found, ledger)
        undecided = " and ".join(f"'{promise}'" for promise in promises if promise not in decided)
        return f"{limit}; {undecided} may need fewer faults, or hold"
    _confirm_rest(system, found, ledger)
    return None


def _ask_for(promise: str, system: SolvableSystem, found: dict[FaultSet, None], *, find_all: bool) -> None:
    """Add the counterexamples of one promise to what was found, also those at which a limit ends the question."""
    answers: list[FaultSet] = []
    try:
        for faults in system.minimal_faults(promise) if find_all else system.ever_fewer_faults(promise):
            answers.append(faults)
    finally:
        found |= dict.fromkeys(answers if find_all else answers[-1:])


def _confirm_rest(system: SolvableSystem, found: Iterable[FaultSet], ledger: Ledger) -> None:
    known = [c.faults for c in ledger.counterexamples]
    for faults in found:
        if faults not in known:
            _confirm(system, faults, ledger)


def _confirm(system: SolvableSystem, faults: FaultSet, ledger: Ledger) -> Run:
    """Execute with these faults and record what they violate; queries are over by now, so the system can."""
    ledger.runs += 1
    run = system.run(faults)
    ledger.after_run(run)
    if not run.violations:
        raise AssertionError(f"the solver's counterexample {faults} does not fail when executed")
    ledger.record(run)
    return run
