"""What a promise rested on at the end of a run: the messages, nodes and events that helped to keep it.

A promise is a function of the nodes that are up.  Each smallest set of nodes about which it still says "kept" is
one way in which it was kept.  Such a way rests on the events that last wrote what the promise reads of these
nodes, on all that these rest on, and on the nodes being up at the end.

A promise that is kept where there is no node at all speaks of *every* node ("no two of them ..."): it was kept in
one way, which rests on all that it reads, and on nobody being up.  Invariants are mostly of this kind.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from clew.errors import ClewError, UsageError
from clew.injection.execution.course import Course
from clew.injection.execution.reading import Attributes, note_reads
from clew.simulation.scenario import Assumption, Invariant, Kept, Promise, judge_promise
from clew.simulation.user_code import ask, name_of

#: Of more nodes than this not all sets are asked about: for each node, one is made smaller node by node.
_MOST_NODES = 8


@dataclass(frozen=True)
class Way:
    """One way in which a promise was kept: ``witnesses`` that are up, and what is ``read`` of nodes."""

    witnesses: tuple[str, ...]
    read: frozenset[tuple[str, str]]

    def without(self, assumed: frozenset[tuple[str, str]]) -> Way:
        """Return it without what only says that something was promised: to cut that breaks no promise."""
        read = self.read - assumed
        left = {node for node, _ in read} | (set(self.witnesses) - {node for node, _ in self.read})
        return Way(tuple(name for name in self.witnesses if name in left), read)


def find_ways(promise: Promise | Invariant, nodes: Mapping[str, Any]) -> tuple[Way, ...]:
    """Return in which ways a promise is kept that is kept."""
    kept, read = _ask(promise, nodes)
    if kept is None:
        raise UsageError(
            f"the promise {name_of(promise)} was kept, and is not when it is asked again",
            remedy="let it look at the nodes only, and depend on nothing but their attributes",
        )
    if kept.witnesses:
        return tuple(Way(tuple(names), _of_nodes(read, names)) for names in kept.witnesses)
    readers = _find_readable(promise, nodes)
    ways = [Way(names, _read_of(promise, nodes, names)) for names in _smallest_sets(promise, nodes, readers)]
    # A promise may count nodes of which it reads nothing: then only all together are known to suffice.
    return tuple(ways) or (Way(tuple(nodes), frozenset(read)),)


def _find_readable(promise: Promise | Invariant, nodes: Mapping[str, Any]) -> list[str]:
    """Return the nodes that a promise can come to read.

    Those that it reads, and those that it reads where one of these is not there: ``any`` ends with the first.
    """
    found: set[str] = set()
    work: list[set[str]] = [set()]
    while work:  # once for each node that is found
        absent = work.pop()
        _, read = _ask(promise, {name: node for name, node in nodes.items() if name not in absent})
        new = {node for node, _ in read} - found
        found |= new
        work += [absent | {name} for name in sorted(new)]
    return [name for name in nodes if name in found]


def _ask(promise: Promise | Invariant, nodes: Mapping[str, Any]) -> tuple[Kept | None, Attributes]:
    """Return whether a promise is kept as far as these nodes go, and what it reads to say so."""
    with note_reads(nodes) as read:
        try:
            judged = judge_promise(promise, dict(nodes))
        except ClewError:
            return None, read  # it needs a node that is not there
    return (judged if isinstance(judged, Kept) else None), read


def _read_of(
    promise: Promise | Invariant, nodes: Mapping[str, Any], names: tuple[str, ...]
) -> frozenset[tuple[str, str]]:
    # Of no node nothing can be read; what the promise then speaks of is all of them.
    _, read = _ask(promise, {name: nodes[name] for name in names} if names else nodes)
    return frozenset(read)


def _of_nodes(read: Attributes, names: Iterable[str]) -> frozenset[tuple[str, str]]:
    wanted = set(names)
    return frozenset((node, attribute) for node, attribute in read if node in wanted)


def _smallest_sets(
    promise: Promise | Invariant, nodes: Mapping[str, Any], readers: list[str]
) -> Iterator[tuple[str, ...]]:
    """Yield sets of nodes that suffice, and of which nobody can be left out."""

    def suffices(names: Iterable[str]) -> bool:
        return _ask(promise, {name: nodes[name] for name in names})[0] is not None

    if len(readers) > _MOST_NODES:
        yield from dict.fromkeys(_reduce(suffices, readers, last) for last in readers if suffices(readers))
        return
    found: list[set[str]] = []
    for size in range(len(readers) + 1):
        for names in combinations(readers, size):
            if not any(known <= set(names) for known in found) and suffices(names):
                found.append(set(names))
                yield names


def _reduce(suffices: Any, readers: list[str], last: str) -> tuple[str, ...]:
    """Leave out node after node while the others suffice, and one of them last."""
    names = list(readers)
    for name in [*(each for each in readers if each != last), last]:
        fewer = [each for each in names if each != name]
        if suffices(fewer):
            names = fewer
    return tuple(names)


def find_assumed(assume: Assumption | None, nodes: Mapping[str, Any]) -> frozenset[tuple[str, str]]:
    """Return what is read of nodes to say that something was promised."""
    if assume is None:
        return frozenset()
    with note_reads(nodes) as read:
        ask("the scenario's assume", assume, dict(nodes), remedy="let it look at the nodes only")
    return frozenset(read)


def trace_events(course: Course, read: Iterable[tuple[str, str]]) -> frozenset[int]:
    """Return the events of a run on which what was read at its end rests."""
    assert course.flow is not None, "the run was traced"
    return trace_from(course, {course.flow.last.get(key, -1) for key in read})


def trace_from(course: Course, numbers: Iterable[int]) -> frozenset[int]:
    """Return these events of a run, and those on which they rest."""
    flow = course.flow
    assert flow is not None, "the run was traced"
    work = sorted(numbers)
    found: set[int] = set()
    while work:
        number = work.pop()
        if number >= 0 and number not in found:
            found.add(number)
            work.append(course.occurrences[number].cause)
            work += flow.rests_on[number]
    return frozenset(found)
