"""Two runs of one program that differ in their faults: on which other differences a difference rests.

One of the runs, *there*, is explained.  What it has and the other run lacks came about by a rule that fired; all
premises of it that differ were needed.  What it lacks and the other run has could have come about by each of the
rules that fired in the other run; one premise that differs was enough to keep such a rule from firing.  A premise
that differs is a row that only the same run has or, under ``notin``, one that only the other run has.  Followed
back, every difference ends in faults that only one of the runs has.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from itertools import repeat
from typing import NamedTuple

from clew.engine.atoms import GroundRule


class Link(NamedTuple):
    """An atom that holds in one of the runs only: ``there``, in the one that is explained, or in the other one."""

    atom: int
    there: bool


#: Every difference in a reason with those that it directly rests on; causes come first.
Reason = Mapping[Link, tuple[Link, ...]]


class _Way(NamedTuple):
    """One rule: ``causes`` with weights, of which as much as is ``needed`` explains that it fired, or did not."""

    causes: tuple[tuple[Link, int], ...]
    needed: int


class Topic(NamedTuple):
    """What is said of an atom: ``what`` it is about, which is said once, and the ``time`` at which that is so."""

    what: Hashable
    time: int


class _Found(NamedTuple):
    """What has to be said of a difference and all that it rests on, with the time from which on it is so."""

    topics: Mapping[Hashable, int] = {}
    causes: tuple[Link, ...] = ()

    def with_cause(self, link: Link, found: _Found) -> _Found:
        return _Found(self._topics_with(found), (*self.causes, link))

    def length_with(self, found: _Found) -> tuple[int, int]:
        """Return how much has to be said of both; of equal ones, what is so from earlier on is preferred."""
        topics = self._topics_with(found)
        return len(topics), sum(topics.values())

    def _topics_with(self, found: _Found) -> dict[Hashable, int]:
        topics = {**self.topics, **found.topics}
        for what in self.topics.keys() & found.topics.keys():
            topics[what] = min(self.topics[what], found.topics[what])
        return topics


class Difference:
    """``here`` and ``there``: the atoms that hold in either run.  ``topic``: what is said of an atom, if anything.

    Reasons are chosen so that little has to be said; that nothing shorter could be said is not promised.
    """

    def __init__(
        self,
        rules: Mapping[int, Sequence[GroundRule]],
        here: frozenset[int],
        there: frozenset[int],
        topic: Callable[[int], Topic | None],
    ) -> None:
        self._rules = rules
        self._topic = topic
        self._true = {True: there, False: here}
        self._changed = here ^ there  # the whole walk stays within these, usually few of all atoms
        self._fired = {side: self._find_fired(side) for side in (True, False)}
        self._ranks = {side: self._rank(side) for side in (True, False)}
        self._found: dict[Link, _Found | None] = {}

    def reason(self, end: Link) -> Reason:
        """Return what a difference rests on."""
        self._search(end)
        reason: dict[Link, tuple[Link, ...]] = {}
        work = [end]
        while work:
            found = self._found[work[-1]]
            assert found, "what differs between two runs rests on a fault that only one of them has"
            missing = [cause for cause in found.causes if cause not in reason]
            work.extend(missing)
            if not missing:
                reason[work.pop()] = tuple(dict.fromkeys(found.causes))
        return reason

    # -- which reasons there are -------------------------------------------------------------------------------

    def _search(self, end: Link) -> None:
        """Find a reason for a difference, depth first and without recursion: chains are as long as the runs."""
        ways: dict[Link, list[_Way]] = {}
        work = [end]
        while work:
            link = work[-1]
            if link in self._found:
                work.pop()
            elif link in ways:
                self._found[link] = self._choose(link, ways[link])
                work.pop()
            else:
                ways[link] = list(self._ways(link))
                work.extend(c for way in ways[link] for c, _ in way.causes if c not in ways)

    def _choose(self, link: Link, ways: Sequence[_Way]) -> _Found | None:
        # A helper of the encoding has no topic: it costs a reader nothing.
        topic = self._topic(link.atom)
        itself = _Found({(topic.what, link.there): topic.time}) if topic else _Found()
        if link.atom not in self._rules:
            return itself  # a fault
        # What is there needs one rule, so the shortest story will do; what is missing needs all of them kept away.
        if link.there:
            options = [option for way in ways if (option := self._follow(way, itself))]
            return min(options, key=_Found().length_with, default=None)
        found: _Found | None = None
        for way in ways:
            found = self._follow(way, found or itself) or found
        return found

    def _follow(self, way: _Way, so_far: _Found) -> _Found | None:
        """Add causes, always the one of which least has to be said, until they are enough."""
        left = [(link, found, weight) for link, weight in way.causes if (found := self._found.get(link))]
        needed = way.needed
        if needed > sum(weight for _, _, weight in left):
            return None
        while needed > 0:
            # Greedy: the shortest choice together is set cover, and a reader wants a short story, not the
            # shortest.
            best = min(range(len(left)), key=lambda k: so_far.length_with(left[k][1])) if len(left) > 1 else 0
            link, found, weight = left.pop(best)
            so_far = so_far.with_cause(link, found)
            needed -= weight
        return so_far

    def _ways(self, link: Link) -> Iterator[_Way]:
        """Yield the rules that fired for the atom in the run that has it, with their premises that differ."""
        ranks = self._ranks[link.there]
        for rule in self._fired[link.there][link.atom]:
            causes = []
            # The weight of what holds in both runs, only in this one, only in the other one.
            same = own = others = 0
            for literal, weight in _weigh(rule):
                atom = abs(literal)
                holds = (atom in self._true[link.there]) == (literal > 0)
                if atom not in self._changed:
                    same += weight if holds else 0
                elif not holds:
                    others += weight
                else:
                    own += weight
                    if literal < 0:
                        causes.append((Link(atom, not link.there), weight))
                    elif ranks[atom] < ranks[link.atom]:  # otherwise the two may only confirm each other
                        causes.append((Link(atom, link.there), weight))
            bound = len(rule.body) if rule.bound is None else rule.bound
            yield _Way(tuple(causes), bound - same if link.there else same + own + others - bound + 1)

    # -- the runs ----------------------------------------------------------------------------------------------

    def _find_fired(self, side: bool) -> dict[int, list[GroundRule]]:
        """Return for each atom that only this run has the rules that fired for it."""
        true = self._true[side]
        inside = sorted(self._changed & true)
        return {atom: [rule for rule in self._rules.get(atom, ()) if rule.fires(true)] for atom in inside}

    def _rank(self, side: bool) -> dict[int, int]:
        """Number the atoms that only this run has in an order in which they can have been derived.

        Without it, atoms of one time step that confirm each other could pass for each other's cause.
        """
        fired = self._fired[side]
        true = self._true[side]
        heads: list[int] = []
        missing: list[int] = []  # how much of its weight each rule still waits for
        uses: dict[int, list[tuple[int, int]]] = {}
        ready = deque(atom for atom in fired if atom not in self._rules)
        for rule in (rule for rules in fired.values() for rule in rules):
            missing.append(len(rule.body) if rule.bound is None else rule.bound)
            for literal, weight in _weigh(rule):
                if literal in fired:
                    uses.setdefault(literal, []).append((len(heads), weight))
                elif (abs(literal) in true) == (literal > 0):
                    missing[-1] -= weight
            heads.append(rule.head)
            if missing[-1] <= 0:
                ready.append(rule.head)
        ranks: dict[int, int] = {}
        while ready:
            atom = ready.popleft()
            if atom in ranks:
                continue
            ranks[atom] = len(ranks)
            for number, weight in uses.get(atom, ()):
                missing[number] -= weight
                if missing[number] <= 0:
                    ready.append(heads[number])
        return ranks


def _weigh(rule: GroundRule) -> Iterator[tuple[int, int]]:
    """Yield the literals of a rule with their weights, 1 where it has none."""
    return zip(rule.body, rule.weights or repeat(1), strict=False)
