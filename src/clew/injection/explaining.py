"""What each fault of a counterexample cut: by comparison with the run in which it, and only it, does not happen.

Each fault is necessary, so that run is good, or nothing is promised in it.  In the good one, some way in which the
promise was kept rests on what the fault cut; the chain of messages from there to what was read at the end is what
it did.  In the other, something kept anybody from promising: the chain ends where that run does not do what led to
the promise in the run that fails.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import assert_never

from clew.faults import FaultsOf
from clew.injection.execution.course import Course, Occurrence
from clew.injection.execution.reading import note_reads
from clew.injection.faults import (
    CodeFault,
    MessageCopy,
    MessageLoss,
    MessageName,
    NetworkPartition,
    NodeCrash,
    NodeRestart,
)
from clew.injection.lineage.ways import Way, find_assumed, find_ways, trace_events, trace_from
from clew.injection.searching.system import CodeSystem
from clew.simulation.pool import Envelope
from clew.simulation.scenario import Broken, Invariant, Promise, judge_promise


@dataclass(frozen=True)
class Link:
    """One step of a chain: what was delivered where, and when."""

    what: str
    node: str
    time: int


@dataclass(frozen=True)
class Undone:
    """What happens without one ``fault``.

    ``chain``: from what it cut to what keeps the promise.  ``kept_by``: the nodes that keep it then.
    ``is_vacuous``: nothing is promised then, since ``missing`` does not happen, to which the chain leads.
    ``breaks``: what is broken then, if it is something else.
    """

    fault: CodeFault
    chain: tuple[Link, ...] = ()
    kept_by: tuple[str, ...] = ()
    reads: tuple[tuple[str, str], ...] = ()
    is_vacuous: bool = False
    missing: str | None = None
    breaks: str | None = None


@dataclass(frozen=True)
class Difference:
    """The first event that is not the same in two runs: what happens there in each, None where it is over."""

    number: int
    time: int
    here: str | None
    there: str | None


@dataclass(frozen=True)
class Explanation:
    """Why a counterexample is one: what each fault cut, and where the run leaves the one without faults.

    ``relevant``: the events of the run that matter, by number: the faults, and what the outcome rests on.
    """

    undone: tuple[Undone, ...]
    difference: Difference | None
    relevant: frozenset[int] = frozenset()


def explain(system: CodeSystem, faults: FaultsOf[CodeFault]) -> Explanation:
    """Compare the run under these faults with those in which one of them is missing, and with that without any."""
    failing = system.execute(faults, tracing=True)
    promise = _find_broken(system, failing)
    undone = tuple(_undo(system, failing, fault, promise) for fault in faults)
    difference = _find_difference(failing, system.execute(FaultsOf()))
    return Explanation(undone, difference, _find_relevant(system, failing, promise))


def _find_relevant(system: CodeSystem, course: Course, promise: Promise | Invariant | None) -> frozenset[int]:
    """Return the events that the outcome rests on: what was promised, what was read, and what the faults did."""
    nodes = dict(course.world.nodes)
    struck = set(course.struck.values())
    if promise is None or course.world.failure is not None:
        # A handler raised: what matters is what the last event rests on.
        return trace_from(course, {len(course.occurrences) - 1}) | struck
    with note_reads(nodes) as read:
        judge_promise(promise, nodes)
    assumed = find_assumed(system.scenario.assume, nodes) if course.is_over else frozenset()
    return trace_events(course, read | assumed) | struck


def _find_broken(system: CodeSystem, course: Course) -> Promise | Invariant | None:
    """Return the promise or invariant that a run breaks; none where a handler raised."""
    nodes = dict(course.world.nodes)
    if course.world.failure is not None:
        return None
    # Promises are asked at the end only; a run that ended before it was ended by an invariant.
    functions = system.scenario.promises if course.is_over else system.scenario.invariants
    return next((each for each in functions if isinstance(judge_promise(each, nodes), Broken)), None)


def _undo(system: CodeSystem, failing: Course, fault: CodeFault, promise: Promise | Invariant | None) -> Undone:
    """Say what happens without one fault of a run that fails."""
    course = system.execute(FaultsOf.of(f for f in failing.faults if f != fault), tracing=True)
    if course.broken is not None:
        return Undone(fault, breaks=str(course.broken))
    if course.is_vacuous or not course.is_over:
        return _find_missing(system, failing, course, fault)
    if promise is None:
        return Undone(fault)
    return _find_chain(system, course, fault, promise)


def _find_missing(system: CodeSystem, failing: Course, course: Course, fault: CodeFault) -> Undone:
    """Say what led to the promise in the run that fails, does not happen without the fault, and why not."""
    happened = {describe(course, occurrence): occurrence.number for occurrence in course.occurrences}
    promising = trace_events(failing, find_assumed(system.scenario.assume, dict(failing.world.nodes)))
    for number in sorted(promising):
        occurrence = failing.occurrences[number]
        missing = describe(failing, occurrence)
        if missing not in happened:
            break
    else:
        return Undone(fault, is_vacuous=True)
    # It was sent or set by an event that happened here, too, and did not do it: that event read something else.
    cause = failing.occurrences[occurrence.cause] if occurrence.cause >= 0 else None
    ends = [happened[described]] if cause and (described := describe(failing, cause)) in happened else []
    path = _find_path(course, ends, _cut_by(course, fault, range(len(course.occurrences)))) or []
    chain = tuple(_link(course, course.occurrences[each]) for each in path)
    return Undone(fault, chain, is_vacuous=True, missing=missing)


def _find_chain(system: CodeSystem, course: Course, fault: CodeFault, promise: Promise | Invariant) -> Undone:
    """Return the shortest chain from what the fault would cut to what keeps the promise in a good run."""
    nodes = dict(course.world.nodes)
    assumed = find_assumed(system.scenario.assume, nodes)
    best: tuple[int, Way, list[int]] | None = None
    for way in (way.without(assumed) for way in find_ways(promise, nodes)):
        events = trace_events(course, way.read)
        path = _find_path(course, _written_by(course, way), _cut_by(course, fault, events))
        if path is not None and (best is None or len(path) < best[0]):
            best = len(path), way, path
        elif best is None and _is_witness(fault, way):
            best = 0, way, []
    if best is None:
        return Undone(fault)
    _, way, path = best
    return Undone(
        fault,
        tuple(_link(course, course.occurrences[number]) for number in path),
        way.witnesses,
        tuple(sorted(way.read)),
    )


def _cut_by(course: Course, fault: CodeFault, events: Iterable[int]) -> set[int]:
    """Return which of these events would not happen as they did if the fault happened."""
    return {number for number in events if _would_cut(course, course.occurrences[number], fault)}


def _written_by(course: Course, way: Way) -> list[int]:
    """Return the events that wrote what a way rests on."""
    assert course.flow is not None, "the run was traced"
    return sorted({course.flow.last.get(key, -1) for key in way.read} - {-1})


def _would_cut(course: Course, occurrence: Occurrence, fault: CodeFault) -> bool:
    """Tell whether an event would not happen as it did if the fault happened."""
    match fault:
        case MessageLoss(message) | MessageCopy(message):
            return course.message_of(occurrence) == message
        case NodeCrash(node, after) | NodeRestart(node, after, _):
            return occurrence.node == node and occurrence.nth > after
        case NetworkPartition():
            what = occurrence.what
            if not isinstance(what, Envelope) or course.message_of(occurrence) is None:
                return False
            return fault.parts_at(what.source, what.target, course.world.sent_at(what))
        case _:
            assert_never(fault)


def _is_witness(fault: CodeFault, way: Way) -> bool:
    return isinstance(fault, NodeCrash | NodeRestart) and fault.node in way.witnesses


def _find_path(course: Course, ends: Sequence[int], wanted: Collection[int]) -> list[int] | None:
    """Return a shortest chain of events from one that is wanted to one of the ends."""
    flow = course.flow
    assert flow is not None, "the run was traced"
    parents: dict[int, int | None] = dict.fromkeys(ends)
    work = list(ends)
    for number in work:  # grows as it goes: breadth first
        if number in wanted:
            path: list[int] = []
            at: int | None = number
            while at is not None:
                path.append(at)
                at = parents[at]
            return path
        # What caused it comes first: of chains of equal length, people follow the one of messages.
        for earlier in (course.occurrences[number].cause, *flow.rests_on[number]):
            if earlier >= 0 and earlier not in parents:
                parents[earlier] = number
                work.append(earlier)
    return None


def _link(course: Course, occurrence: Occurrence) -> Link:
    return Link(describe(course, occurrence), occurrence.node, occurrence.time)


def describe(course: Course, occurrence: Occurrence) -> str:
    """Say in a few words what happened."""
    message: MessageName | None = course.message_of(occurrence)
    what = occurrence.what
    if not isinstance(what, Envelope):
        return f"{type(what).__name__.lower()} {occurrence.node}".strip()
    if what.timer:
        return f"timer {what.kind} at {what.target}"
    said = message.short if message else f"{what.kind} {what.source or 'outside'}→{what.target}"
    return said if occurrence.fate == "deliver" else f"{said} {_FATES[occurrence.fate]}"


def _tell(course: Course, occurrence: Occurrence) -> str:
    """Say what happened, beside another run in which something else may have become of the same message."""
    what, said = occurrence.what, describe(course, occurrence)
    if not isinstance(what, Envelope) or occurrence.fate != "deliver":
        return said
    return f"{said} goes off" if what.timer else f"{said} arrives"


_FATES = {"lose": "is lost", "duplicate": "is duplicated"}


def _find_difference(failing: Course, passing: Course) -> Difference | None:
    # Compared by what is told of them: what reads the same is no difference to a reader.
    here = [(_tell(failing, o), o.time) for o in failing.occurrences]
    there = [(_tell(passing, o), o.time) for o in passing.occurrences]
    for number in range(max(len(here), len(there))):
        one = here[number] if number < len(here) else None
        other = there[number] if number < len(there) else None
        if one != other:
            time = min(each[1] for each in (one, other) if each is not None)
            return Difference(number + 1, time, one and one[0], other and other[0])
    return None
