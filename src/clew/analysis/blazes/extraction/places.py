"""The order-sensitive places of a part of a program, in the sense of ``clew calm``, and whom they are charged to.

All inputs are taken to arrive when they like.  Then ``clew.analysis.calm.histories`` says which rule reads which
collection in a way that the order of events can change; nothing else is order-sensitive here.  A place is charged
to the inputs whose order matters there:

- to those whose rows pass it before they are stored, also if they only meet what comes from it (a request that is
  joined with a count, or with a table that is updated in place);
- to those that it is reached from, if it decides what is stored;
- to those that it is reached from, if what it reads is shown without waiting for another input.  Where an output
  only appears when another input asks for it, the place is charged to that input: clicks that are only stored and
  a request that counts them are CW and OR (section 4.5 of the thesis).  An input that asks and stores is
  no mere read, whose answer would wait: then the place is charged to both.

Whatever leads to an output is charged to one input at least.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from clew.analysis.blazes.extraction.regions import Region
from clew.analysis.calm.boundaries import Source
from clew.analysis.calm.dataflow.graph import Edge, NodeKind, leaves
from clew.analysis.calm.histories import History, Race, histories_of
from clew.program.graph import components


@dataclass(frozen=True)
class Place:
    """Statement number ``statement`` reads ``source``, and order matters.

    ``source`` is the target itself where the statement is order-sensitive whatever it reads.  ``race``: rows must
    meet in one step; None for what is not monotone.
    """

    statement: int
    source: str
    target: str
    reason: str
    history: History
    race: Race | None = None


class Places:
    """``repeated``: inputs whose rows come again until all that they can find is there."""

    def __init__(self, region: Region, repeated: frozenset[str] = frozenset()) -> None:
        self._region = region
        self._flow = region.flow
        self._repeated = repeated
        # Fixed rows are always there; that they were made inputs here only says
        # that their order is open once they are sent.
        given = [name for name in region.inputs if name not in region.fixed]
        self.histories = histories_of(self._flow, [Source(name, arrives=True) for name in given])
        found = list(self._find_places())
        self.all = tuple(p for p in found if not self._is_repeated(p))
        #: Races that do no harm because one side asks again.
        self.excused = tuple(p for p in found if self._is_repeated(p))

    def _find_places(self) -> Iterator[Place]:
        races = {(race.statement, str(race)): race for race in self.histories.races}
        for read in self.histories.reads:
            if not read.by_chance:
                target = self._flow.statements[read.statement].target
                race = races.get((read.statement, read.reason))
                yield Place(read.statement, read.collection or target, target, read.reason, read.history, race)

    @cached_property
    def by_chance(self) -> tuple[tuple[int, str], ...]:
        """Return the statements with an impure function, and what makes it impure."""
        return tuple((read.statement, read.reason) for read in self.histories.reads if read.by_chance)

    def _is_repeated(self, place: Place) -> bool:
        """Return whether an input that asks again looks for what stays, and nothing else must come with it."""
        race = place.race
        # Rows of one input that must come together are not helped by asking again.
        if race is None or race.first == race.second or self._repeated.isdisjoint((race.first, race.second)):
            return False
        events = [name for name in race.edges if self.histories.of[name] is History.EVENT]
        once = [i for i in self._region.inputs if i not in self._repeated]
        return len(events) < len(race.edges) and not any(
            name in self.reach_unstored(i) for name in events for i in once
        )

    # -- what is charged to an input -----------------------------------------------------------------------------

    def charge(self, end: str) -> dict[str, tuple[Place, ...]]:
        """Return the places that are charged to each input that reaches an output."""
        reaching = [i for i in self._region.inputs if end in self._flow.reachable_from([i])]
        # A collection that is input and output at once would have a path of no rules.
        begins = [i for i in reaching if i != end or i in self._region.fixed]
        found = {begin: dict.fromkeys(self._charge_input(begin, end)) for begin in begins}
        # An input that stores what it asks with changes what others find, so the place is theirs as well.
        for asking in [begin for begin in begins if self.writes(begin)]:
            for other in begins:
                shared = (p for p in tuple(found[asking]) if p.source in self._flow.reachable_from([other]))
                found[other].update(dict.fromkeys(shared))
        # The safe side: if the rules above charge nobody although order
        # matters, everybody who leads there is charged.
        if not any(found.values()):
            needed = self._flow.leading_to([end])
            left = dict.fromkeys(p for p in self.all if p.target in needed)
            found = {begin: dict(left) for begin in begins}
        return {begin: tuple(places) for begin, places in found.items()}

    def writes(self, begin: str) -> bool:
        return not self.stored.isdisjoint(self._flow.reachable_from([begin]))

    def _charge_input(self, begin: str, end: str) -> Iterator[Place]:
        needed = self._flow.leading_to([end])
        passing = self.reach_unstored(begin)
        reached = self._flow.reachable_from([begin])
        unasked = _along(self._unasked, [end], back=True)
        after_store = _along(self._unasked, self.stored & reached)
        for edge in self._flow.edges:
            if edge.target in needed and edge.source in passing:
                yield from self._at.get((edge.statement, edge.source), ())
                yield from self._places_beside(edge)
        for place in self.all:
            if place.target not in needed or place.source not in reached:
                continue
            # Stored contents that depend on order stay different, whoever asks for them and when.
            decides = not self.stored.isdisjoint(self._flow.reachable_from([place.target]) & needed)
            shown = place.source in after_store and place.target in unasked
            if decides or (shown and not self._is_asked(place.statement, place.source)):
                yield place

    def is_unasked(self, place: Place, end: str) -> bool:
        """Return whether what a place gives is stored, or shown at an output, without waiting for an input."""
        needed = self._flow.leading_to([end])
        decides = not self.stored.isdisjoint(self._flow.reachable_from([place.target]) & needed)
        return decides or place.target in _along(self._unasked, [end], back=True)

    def _places_beside(self, edge: Edge) -> Iterator[Place]:
        """Yield what is order-sensitive about the other collections that a rule reads."""
        others = {e.source for e in self._flow.edges if e.statement == edge.statement and e.source != edge.source}
        before = self._flow.leading_to(others)
        for place in self.all:
            here = place.statement == edge.statement and place.source in others
            if here or place.target in before:
                yield place

    def reach_unstored(self, begin: str) -> frozenset[str]:
        """Return the collections that rows reach before they are stored."""
        # A row that was stored has no time any more: what reads it later is charged to who asks.
        edges = [e for e in self._flow.edges if e.source not in self.stored]
        return _along(edges, [begin]) - self.stored

    def _is_asked(self, statement: int, source: str) -> bool:
        """Return whether the rule waits for something that passes, besides the collection that is read."""
        sides = {*leaves(self._flow.statements[statement].reading), *self._clocks(statement)}
        return any(name in self._driven for name in sides if name != source)

    def _clocks(self, statement: int) -> Iterator[str]:
        """Return the clocks that say when; a reading may leave them out, because nothing is missed for them."""
        read = (e.source for e in self._flow.edges if e.statement == statement and not e.reason)
        return (name for name in read if self._flow.by_name[name].kind is NodeKind.PERIODIC)

    # -- the graph -----------------------------------------------------------------------------------------------

    @cached_property
    def _at(self) -> Mapping[tuple[int, str], tuple[Place, ...]]:
        found: dict[tuple[int, str], tuple[Place, ...]] = {}
        for place in self.all:
            key = (place.statement, place.source)
            found[key] = (*found.get(key, ()), place)
        return found

    @cached_property
    def _unasked(self) -> tuple[Edge, ...]:
        return tuple(e for e in self._flow.edges if not self._is_asked(e.statement, e.source))

    @cached_property
    def stored(self) -> frozenset[str]:
        """Return the tables and lattices, and what goes round from step to step."""
        tables = {node.name for node in self._flow.nodes if node.kind.stored}
        order = [node.name for node in self._flow.nodes]
        for cycle in components(order, lambda name: [e.target for e in self._flow.outgoing[name]]):
            inner = [e for e in self._flow.edges if e.source in cycle and e.target in cycle]
            if any(e.temporal or e.sends for e in inner):
                tables.update(cycle)
        return frozenset(tables)

    @cached_property
    def sent(self) -> frozenset[str]:
        """Return the collections that messages within this part reach: a channel takes a partition apart."""
        return self._flow.reachable_from(e.target for e in self._flow.edges if e.sends)

    @cached_property
    def _driven(self) -> frozenset[str]:
        """Return the collections that have rows only in steps in which an input has some."""
        # The greatest fixpoint: rules that feed each other in one step are
        # driven if something outside drives them.
        found = {node.name for node in self._flow.nodes} - self.stored
        while True:
            kept = {name for name in found if self._is_driven(name, found)}
            if kept == found:
                return frozenset(found)
            found = kept

    def _is_driven(self, name: str, driven: set[str]) -> bool:
        if name in self._region.inputs:
            return True
        statements = [s for s in self._flow.statements if s.target == name]
        return bool(statements) and all(any(leaf in driven for leaf in leaves(s.reading)) for s in statements)


def _along(edges: Iterable[Edge], begins: Iterable[str], *, back: bool = False) -> frozenset[str]:
    """Return the collections that edges lead to, and those that they begin at."""
    following: dict[str, list[str]] = {}
    for edge in edges:
        start, end = (edge.target, edge.source) if back else (edge.source, edge.target)
        following.setdefault(start, []).append(end)
    pending = list(begins)
    found = set(pending)
    while pending:
        new = [name for name in following.get(pending.pop(), ()) if name not in found]
        found.update(new)
        pending += new
    return frozenset(found)
