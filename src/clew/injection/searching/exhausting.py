"""Every set of faults within the bounds, on one schedule, the fewest faults first: what certifies.

Sets are made as ``possible`` says: each fault is added where it strikes, so that no set is run twice and none is
missing.  Two prunings are sound:

- a fault that changes nothing is left out (``possible_faults``);
- sets of faults that lead to the same history are one.  What follows from a history is the same, so that of two
  runs with the same one only that is extended which leaves more faults to add.  A partition that is not over is
  more than its history: it would lose what is sent because of the next fault.  And a copy that has not arrived is
  in no other history.

All of this takes for granted that a run under one more fault is the same up to where that fault strikes.  That is
looked at in every run: code that draws or remembers what it should not is found out.

At each size the faults come first that cut what the promises rest on: bugs are mostly there.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import NamedTuple

from clew.faults import FaultsOf
from clew.injection.execution.course import Course
from clew.injection.faults import CodeFault, NetworkPartition
from clew.injection.repeating import NOTHING_BEFORE, digest_prefixes, refuse_other_beginning
from clew.injection.searching.possible import BEGINNING, Moment, possible_faults
from clew.injection.searching.system import CodeSystem, violation_of
from clew.search.protocol import RunOf
from clew.search.verdict import LedgerOf
from clew.simulation.events import Start, Stop
from clew.simulation.pool import Envelope


class _Set(NamedTuple):
    """Faults in the order in which they strike, when the last one does, and a digest of what happens before it."""

    faults: tuple[CodeFault, ...]
    last: Moment
    before: int = NOTHING_BEFORE


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
            refuse_other_beginning(course, _events_before(each.last), each.before)
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
    prefixes = digest_prefixes(course)
    return [
        _Set((*each.faults, fault), moment, prefixes[_events_before(moment)])
        for moment, fault in ordered
        if system.spec.admits((*each.faults, fault))
    ]


def _events_before(moment: Moment) -> int:
    """Return how many events are the same without the fault that strikes then."""
    number, part, _ = moment
    return max(0, number + part)


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
            if occurrence.fate != "lose":  # what is lost does not arrive, which says it all
                named = f"{occurrence.fate}\0{what.target}\0{what.source}\0{what.nth}\0{occurrence.time}\n"
                digest.update(named.encode("utf-8", "surrogatepass"))
        elif isinstance(what, Start | Stop):
            digest.update(f"{what}\0{occurrence.time}\n".encode("utf-8", "surrogatepass"))
    return digest.digest()
