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

from clew.faults import FaultsOf
from clew.files.checkpoints import ForeignCheckpointError
from clew.injection.execution.course import Course
from clew.injection.faults import CodeFault, MessageLoss, NetworkPartition
from clew.injection.repeating import digest_prefixes, refuse_other_beginning
from clew.injection.searching.frontier import Frontier, OrderedFaults, read_frontier
from clew.injection.searching.possible import Moment, possible_faults
from clew.injection.searching.saving import Saving
from clew.injection.searching.system import CodeSystem, violation_of
from clew.injection.written import flag_reader
from clew.search.protocol import RunOf
from clew.search.verdict import LedgerOf
from clew.simulation.events import Start, Stop
from clew.simulation.pool import Envelope


def search(
    system: CodeSystem, ledger: LedgerOf[CodeFault], *, prune: bool = True, saving: Saving | None = None
) -> str | None:
    """Run every set of faults; return why that is not all, or None.  ``prune``: leave out what cannot matter."""
    front = Frontier() if saving is None else _resume(saving, system, ledger)
    beginnings = _Beginnings(system, prune)
    while (each := front.next()) is not None:
        ledger.before_run(f"{len(each.faults)} faults")
        extends = system.spec.has_room(each.faults)
        course = system.execute(FaultsOf.of(each.faults), tracing=extends, observing=extends and prune)
        broken = () if course.broken is None else (violation_of(course.broken),)
        # Before anything is believed of the run: prunings rest on runs that begin alike.
        refuse_other_beginning(course, _events_before(each.last), beginnings.digest_of(each))
        run = RunOf(FaultsOf.of(each.faults), broken)
        ledger.after_run(run)
        system.count(course)
        if course.broken is not None:
            ledger.record(run)
            return None
        front.unfinished += not course.is_over
        if extends and not (prune and _is_known(course, each, front.seen)):
            front.following += _extend(system, course, each)
        front.place, front.runs, front.vacuous = front.place + 1, ledger.runs, system.vacuous
        # Only here is a run done: what is saved says of none that it was made and forgets what follows from it.
        if saving is not None:
            saving.offer()
    if front.unfinished:
        within = f"{system.scenario.steps} events"
        return f"{front.unfinished} runs did not come to their end within {within}: give the scenario more steps"
    return None


def _resume(saving: Saving, system: CodeSystem, ledger: LedgerOf[CodeFault]) -> Frontier:
    """Return how far the search had come when it was saved, or its beginning."""
    front = Frontier()
    if saving.saved is not None:
        front = read_frontier(saving.saved, system.spec, flag_reader(system.scenario))
        ledger.runs, system.vacuous = front.runs, front.vacuous
    saving.save_with(front.to_json, front.runs)
    return front


class _Beginnings:
    """What happens until the last fault of a set strikes, as in the run without that fault.

    Sets from a checkpoint do not know it, since digests are of one process: that run is made again, once for all
    sets that extend it.
    """

    def __init__(self, system: CodeSystem, prune: bool) -> None:
        self._system = system
        self._prune = prune
        self._without: tuple[CodeFault, ...] | None = None
        self._prefixes: list[int] = []
        self._moments: dict[CodeFault, Moment] = {}

    def digest_of(self, each: OrderedFaults) -> int:
        """Return the digest; raise ``ForeignCheckpointError`` if the last fault does not strike then."""
        if each.before is not None:
            return each.before
        # Sets with the same beginning stand one after the other.
        if each.faults[:-1] != self._without:
            self._without = each.faults[:-1]
            course = self._system.repeat(FaultsOf.of(self._without), observing=self._prune)
            self._prefixes = digest_prefixes(course)
            self._moments = {fault: moment for moment, fault in possible_faults(course, self._system.spec)}
        if self._moments.get(each.faults[-1]) != each.last:
            raise ForeignCheckpointError(f"when {each.faults[-1]} strikes")
        return self._prefixes[_events_before(each.last)]


def _extend(system: CodeSystem, course: Course, each: OrderedFaults) -> list[OrderedFaults]:
    """Return the set with each fault that can still strike, those first that cut what promises rest on."""
    cutting = system.cuts_of(course)
    possible = possible_faults(course, system.spec, each.last)
    ordered = sorted(possible, key=lambda p: p.fault not in cutting)
    prefixes = digest_prefixes(course)
    return [
        OrderedFaults((*each.faults, fault), moment, prefixes[_events_before(moment)])
        for moment, fault in ordered
        if system.spec.admits((*each.faults, fault))
    ]


def _events_before(moment: Moment) -> int:
    """Return how many events are the same without the fault that strikes then."""
    number, part, _ = moment
    return max(0, number + part)


def _is_known(course: Course, each: OrderedFaults, seen: dict[bytes, list[OrderedFaults]]) -> bool:
    """Tell whether another set had the same history, with no more faults of any kind, and strikes no later."""
    number = each.last[0]
    since = course.occurrences[number].time if number >= 0 else 0
    if any(fault.until > since for fault in each.faults if isinstance(fault, NetworkPartition)):
        return False
    # What is lost for good, such as a connection, would lose what is sent because of the next fault, too.
    if any(fault.message in course.world.units for fault in each.faults if isinstance(fault, MessageLoss)):
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
