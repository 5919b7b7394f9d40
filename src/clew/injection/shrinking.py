"""Of faults that break something, as few as are needed for it: each of them necessary, and nodes stop early."""

from __future__ import annotations

from dataclasses import replace

from clew.faults import FaultsOf
from clew.injection.faults import CodeFault, NodeCrash, NodeRestart
from clew.injection.system import CodeSystem
from clew.search.verdict import LedgerOf


#: So many events earlier a node is tried to stop.
_MOST_EARLIER = 20


def shrink_faults(
    system: CodeSystem, faults: FaultsOf[CodeFault], broken: str, ledger: LedgerOf[CodeFault]
) -> FaultsOf[CodeFault]:
    """Leave out fault after fault while the same promise or invariant is ``broken``, until none can be left out."""
    kept = list(faults)
    place = 0
    while place < len(kept):
        fewer = FaultsOf.of([*kept[:place], *kept[place + 1 :]])
        ledger.before_run("leaving out faults")
        course = system.execute(fewer)
        if course.broken is not None and course.broken.invariant == broken:
            # One that was needed before may not be any more.
            kept, place = list(fewer), 0
        else:
            place += 1
    return _stop_earlier(system, FaultsOf.of(kept), broken, ledger)


def _stop_earlier(
    system: CodeSystem, faults: FaultsOf[CodeFault], broken: str, ledger: LedgerOf[CodeFault]
) -> FaultsOf[CodeFault]:
    """Let nodes stop after as few events as will do: right after what matters, and not some heartbeats later."""
    for fault in faults:
        if not isinstance(fault, NodeCrash | NodeRestart):
            continue
        at = fault
        for _ in range(min(fault.after, _MOST_EARLIER)):
            earlier = replace(at, after=at.after - 1)
            moved = FaultsOf.of(earlier if each == at else each for each in faults)
            if not system.spec.admits(moved):
                break
            ledger.before_run("stopping nodes earlier")
            course = system.execute(moved)
            if course.broken is None or course.broken.invariant != broken:
                break
            faults, at = moved, earlier
    return faults
