"""Of faults that break something, as few as are needed for it: each of them necessary."""

from __future__ import annotations

from collections.abc import Callable

from clew.faults import FaultsOf
from clew.injection.execution.course import Course
from clew.injection.faults import CodeFault
from clew.search.verdict import LedgerOf


def shrink_faults(
    execute: Callable[[FaultsOf[CodeFault]], Course],
    within: int,
    faults: FaultsOf[CodeFault],
    broken: str,
    ledger: LedgerOf[CodeFault],
) -> FaultsOf[CodeFault]:
    """Leave out fault after fault while the same promise or invariant is ``broken``, until all are needed.

    ``within``: the time until which faults may begin.
    """
    kept = list(faults)
    place = 0
    while place < len(kept):
        fewer = FaultsOf.of([*kept[:place], *kept[place + 1 :]])
        ledger.before_run("leaving out faults")
        course = execute(fewer)
        is_same = course.broken is not None and course.broken.invariant == broken
        if is_same and course.is_within(within):
            # One that was needed before may not be any more.
            kept, place = list(fewer), 0
        else:
            place += 1
    return FaultsOf.of(kept)
