"""A set of faults is run once, and this is what a search through all sets sees of the run."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b
from typing import NamedTuple

from clew.errors import UsageError
from clew.faults import FaultsOf
from clew.files.checkpoints import ForeignCheckpointError
from clew.injection.execution.course import Course
from clew.injection.faults import CodeFault, MessageLoss, NetworkPartition
from clew.injection.repeating import digest_prefixes, refuse_other_beginning, refuse_repetition
from clew.injection.searching.frontier import OrderedFaults
from clew.injection.searching.possible import Moment, possible_faults
from clew.injection.searching.system import CodeSystem, violation_of
from clew.simulation.events import Start, Stop
from clew.simulation.pool import Envelope
from clew.violation import Violation


class Visited(NamedTuple):
    """What a run showed.

    ``extends``: there is room for one more fault, and ``extend`` gives the sets with each that can still strike.
    ``history``: a digest of all that happened, if another set with the same one is as good.
    """

    faults: OrderedFaults
    broken: Violation | None
    is_over: bool
    is_vacuous: bool
    extends: bool
    history: bytes | None
    extend: Callable[[], list[OrderedFaults]]


class Visitor:
    """Runs sets of faults in this process.

    ``is_resumed``: sets may come from a checkpoint, which is then to blame if they do not fit.
    """

    def __init__(self, system: CodeSystem, prune: bool, *, is_resumed: bool = True) -> None:
        self._system = system
        self._prune = prune
        self._beginnings = _Beginnings(system, prune, is_resumed)

    def visit(self, each: OrderedFaults) -> Visited:
        """Run a set of faults."""
        system = self._system
        extends = system.spec.has_room(each.faults)
        course = system.execute(FaultsOf.of(each.faults), tracing=extends, observing=extends and self._prune)
        # Before anything is believed of the run: prunings rest on runs that begin alike.
        refuse_other_beginning(course, _events_before(each.last), self._beginnings.digest_of(each))
        return Visited(
            each,
            None if course.broken is None else violation_of(course.broken),
            course.is_over,
            course.is_vacuous,
            extends,
            _history(course, each) if extends else None,
            lambda: _extend(system, course, each),
        )


class _Beginnings:
    """What happens until the last fault of a set strikes, as in the run without that fault.

    Sets from elsewhere do not know it, since digests are of one process: that run is made again, once for all sets
    that extend it.
    """

    def __init__(self, system: CodeSystem, prune: bool, is_resumed: bool) -> None:
        self._system = system
        self._prune = prune
        self._is_resumed = is_resumed
        self._without: tuple[CodeFault, ...] | None = None
        self._prefixes: list[int] = []
        self._moments: dict[CodeFault, Moment] = {}

    def digest_of(self, each: OrderedFaults) -> int:
        """Return the digest; raise if the last fault does not strike then."""
        if each.before is not None:
            return each.before
        # Sets with the same beginning stand one after the other.
        if each.faults[:-1] != self._without:
            self._without = each.faults[:-1]
            course = self._system.repeat(FaultsOf.of(self._without), observing=self._prune)
            self._prefixes = digest_prefixes(course)
            self._moments = {fault: moment for moment, fault in possible_faults(course, self._system.spec)}
        if self._moments.get(each.faults[-1]) != each.last:
            raise self._refuse(f"when {each.faults[-1]} strikes")
        return self._prefixes[_events_before(each.last)]

    def _refuse(self, what: str) -> UsageError:
        return ForeignCheckpointError(what) if self._is_resumed else refuse_repetition(f"{what} is not the same")


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


def _history(course: Course, each: OrderedFaults) -> bytes | None:
    """Return a digest of what happened; None while one of these faults may still lose something."""
    number = each.last[0]
    since = course.occurrences[number].time if number >= 0 else 0
    if any(fault.until > since for fault in each.faults if isinstance(fault, NetworkPartition)):
        return None
    # What is lost for good, such as a connection, would lose what is sent because of the next fault, too.
    if any(fault.message in course.world.units for fault in each.faults if isinstance(fault, MessageLoss)):
        return None
    return digest_history(course)


def digest_history(course: Course) -> bytes:
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
