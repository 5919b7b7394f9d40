"""Every set of faults within the bounds, on one schedule, the fewest faults first: what certifies.

Sets are made as ``possible`` says: each fault is added where it strikes, so that no set is run twice and none is
missing.  Two prunings are sound:

- a fault that changes nothing is left out (``possible_faults``);
- sets of faults that lead to the same history are one.  What follows from a history is the same, so that of two
  runs with the same one only that is extended which leaves more faults to add.  A partition that is not over is
  more than its history: it would lose what is sent because of the next fault.

At each size the faults come first that cut what the promises rest on: bugs are mostly there.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import NamedTuple

from clew.faults import FaultsOf
from clew.injection.execution.run import Course
from clew.injection.faults import CodeFault, NetworkPartition
from clew.injection.searching.possible import BEGINNING, Moment, possible_faults
from clew.injection.searching.system import CodeSystem, violation_of
from clew.search.protocol import RunOf
from clew.search.verdict import LedgerOf
from clew.simulation.events import Start, Stop
from clew.simulation.pool import Envelope


class _Set(NamedTuple):
    """Faults in the order in which they strike, and when the last one does."""

    faults: tuple[CodeFault, ...]
    last: Moment


def search(system: CodeSystem, ledger: LedgerOf[CodeFault], *, prune: bool = True) -> str | None:
    """Run every set of faults; return why that is not all, or None.  ``prune``: leave out what cannot matter."""
    seen: dict[bytes, list[_Set]] = {}
    unfinished = 0
    level = [_Set((), BEGINNING)]
    while level:
        following: list[_Set] = []
        for each in level:
            ledger.before_run(f"{len(each.faults)} faults")
            extends = system.spec.has_room(each.faults)
            course = system.execute(FaultsOf.of(each.faults), tracing=extends, observing=extends and prune)
            broken = () if course.broken is None else (violation_of(course.broken),)
            run = RunOf(FaultsOf.of(each.faults), broken)
            ledger.after_run(run)
            system.count(course)
            if course.broken is not None:
                ledger.record(run)
                return None
            unfinished += not course.is_over
            if extends and not (prune and _is_known(course, each, seen)):
                following += _extend(system, course, each)
        level = following
    if unfinished:
        steps = system.scenario.steps
        return f"{unfinished} runs did not come to their end within {steps} events: give the scenario more steps"
    return None


def _extend(system: CodeSystem, course: Course, each: _Set) -> list[_Set]:
    """Return the set with each fault that can still strike, those first that cut what promises rest on."""
    cutting = system.cuts_of(course)
    possible = possible_faults(course, system.spec, each.last)
    ordered = sorted(possible, key=lambda p: p.fault not in cutting)
    return [
        _Set((*each.faults, fault), moment)
        for moment, fault in ordered
        if system.spec.admits((*each.faults, fault))
    ]


def _is_known(course: Course, each: _Set, seen: dict[bytes, list[_Set]]) -> bool:
    """Tell whether another set had the same history, with no more faults of any kind, and strikes no later."""
    number = each.last[0]
    since = course.occurrences[number].time if number >= 0 else 0
    if any(fault.until > since for fault in each.faults if isinstance(fault, NetworkPartition)):
        return False
    earlier = seen.setdefault(_digest(course), [])
    if any(other.last <= each.last and _is_cheaper(other.faults, each.faults) for other in earlier):
        return True
    earlier.append(each)
    return False


def _is_cheaper(one: Sequence[CodeFault], other: Sequence[CodeFault]) -> bool:
    kinds = {type(fault) for fault in one}
    return all(sum(type(f) is kind for f in one) <= sum(type(f) is kind for f in other) for kind in kinds)


def _digest(course: Course) -> bytes:
    """Return a digest of all that happened: what was delivered where and when, and who stopped and started."""
    digest = blake2b(digest_size=16)
    for occurrence in course.occurrences:
        what = occurrence.what
        if isinstance(what, Envelope):
            if occurrence.fate == "deliver":
                digest.update(f"{what.target}\0{what.source}\0{what.nth}\0{occurrence.time}\n".encode())
        elif isinstance(what, Start | Stop):
            digest.update(f"{what}\0{occurrence.time}\n".encode())
    return digest.digest()
