"""What becomes of a collection from step to step, and which rules the order of events can therefore change.

The *history* of a collection at a node is the sequence of its contents over the steps of the node.  A schedule
says which step gets which input, when messages arrive, when clocks tick, and how many steps there are.

- FIXED: the same rows in every step, from the first one on, under every schedule.
- STABLE: a row that is there stays, and what is there in the end is the same under every schedule.
- EVENT: rows come and go, and the rows that ever were there are the same under every schedule.

These hold of every collection that no *order-sensitive read* leads to.  The argument, rule by rule:

- What no rule fills and is not given while the program runs is FIXED; inputs and channels are EVENT.
- A rule that makes rows of single rows keeps the history of what it reads: FIXED, STABLE or EVENT.
- ``<+`` makes STABLE of FIXED, because the rows are not there in the first step.
- Whatever is put into a table or merged into a lattice stays there, so these are STABLE if nothing is deleted
  (FIXED if all is there in the first step).  ``p <+ p`` makes a table of a scratch.
- A join finds a combination when all of its rows are there in one step.  FIXED rows are always there; STABLE
  rows are all there from some step on: joins of these are FIXED or STABLE.  A row of one step meets FIXED rows
  whenever it comes (EVENT), but STABLE rows only if these came before, and other rows of one step only if they
  come with it: both are *races*.  Except: a row that waits for its own answer is there when that comes
  (``answered``), and a clock that only says when ticks again after all STABLE rows are there.
- What looks at several rows at once (a count that is compared, the size of a set) finds all STABLE rows in the
  end, and of EVENT rows those that happen to come in one step: a race of the rows with themselves.
- What is not monotone (``notin``, a count that is passed on, ``argmin``) sees one content only if that is FIXED.
- A deletion ends the history of a row at a step that depends on the schedule.

The rows that ever are in a collection are then the least solution of monotone equations, one for each rule, in
which no schedule occurs: recursion, also by way of messages, needs no rule of its own.

``order_sensitive_reads`` is the one place that says what is order-sensitive.  White-box extraction (Blazes) uses
it too, so that the two analyses cannot disagree about it.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

from clew.analysis.calm.boundaries import Source
from clew.analysis.calm.dataflow.graph import (
    Aggregation,
    Combination,
    Dataflow,
    Edge,
    Leaf,
    NodeKind,
    Reading,
    Statement,
    leaves,
    parts_of,
)

#: From the collection in which rows appeared to whether they are gone after a step; empty for what is FIXED.
Arrivals = Mapping[str, bool]


class History(enum.Enum):
    """What becomes of the rows of a collection, provided that no order-sensitive read leads to it."""

    FIXED = "fixed"
    STABLE = "stored"
    EVENT = "there for a step"


@dataclass(frozen=True)
class Race:
    """In statement number ``statement``, rows that came by ``first`` and by ``second`` must meet in one step.

    They are the same where several rows of one collection must.  ``edges``: the collections that the rule reads
    them from.  ``local``: neither comes by messages or clocks.
    """

    statement: int
    first: str
    second: str
    edges: tuple[str, ...]
    local: bool

    def __str__(self) -> str:
        if self.first == self.second:
            return f"rows of {self.first} meet only if they come in the same step"
        return f"{self.first} and {self.second} meet, and it is open which comes first"


@dataclass(frozen=True)
class SensitiveRead:
    """Statement number ``statement`` reads ``collection`` in a way that the schedule can change, and why.

    ``history``: whether the rows that it reads there are events or stored.  ``collection`` is None where the
    statement is order-sensitive whatever it reads: it deletes rows that are written down, or a function of it is
    none.  ``by_chance``: the latter; then not even one schedule gives one outcome.
    """

    statement: int
    collection: str | None
    reason: str
    history: History
    by_chance: bool = False


@dataclass(frozen=True)
class Histories:
    """The histories of all collections, and all that is order-sensitive, in the order of the text."""

    of: Mapping[str, History]
    races: tuple[Race, ...]
    reads: tuple[SensitiveRead, ...]


def order_sensitive_reads(flow: Dataflow, sources: Iterable[Source]) -> tuple[SensitiveRead, ...]:
    """Return the reads of rules whose result the schedule can change.

    This is the notion of order-sensitivity of ``clew calm``, and white-box extraction uses it too.  ``sources``
    are where rows enter; a collection that none of them reaches is fixed.  A read that is not listed gives the
    same rows in the end under every schedule, provided that what it reads does.
    """
    return histories_of(flow, sources).reads


def histories_of(flow: Dataflow, sources: Iterable[Source]) -> Histories:
    """Return the histories of all collections of a program, and its order-sensitive reads."""
    following = _Following(flow, tuple(sources))
    following.settle()
    races = tuple(following.races())
    found = (read for number in range(len(flow.statements)) for read in following.sensitive(number, races))
    return Histories(
        {node.name: following.history(node.name) for node in flow.nodes}, races, tuple(dict.fromkeys(found))
    )


class _Following:
    """Follows rows from where they appear, until nothing changes."""

    def __init__(self, flow: Dataflow, sources: tuple[Source, ...]) -> None:
        self._flow = flow
        self._order = {node.name: k for k, node in enumerate(flow.nodes)}
        self._arrivals: dict[str, dict[str, bool]] = {node.name: {} for node in flow.nodes}
        # What is sent arrives at a step that nobody chooses, also if the sender is in this program.
        receiving = {s.target for s in flow.statements if s.sends}
        self._clocks = {n.name for n in flow.nodes if n.kind is NodeKind.PERIODIC}
        self._asynchronous = receiving | self._clocks | {s.name for s in sources if s.arrives}
        # Fixed sources have no arrivals at all: an empty entry is what FIXED means below.
        given = {s.name for s in sources if not s.fixed}
        for node in flow.nodes:
            if node.name in given | self._asynchronous:
                self._arrivals[node.name] = {node.name: not node.kind.stored}
        # ``p <+ p`` is storage, whatever ``p`` is declared as (idiom of section
        # 2.2): taking it for a scratch was a false D.
        kept = {s.target for s in flow.statements if s.keeps}
        self._stored = {n.name for n in flow.nodes if n.kind.stored} | kept

    def settle(self) -> None:
        changed = True
        while changed:
            # Rows that are sent appear at the channel, which is an origin of its own; deletions bring no rows.
            # A list, not a generator: every statement is derived in every round.
            found = [self._derive(s) for s in self._flow.statements if not (s.sends or s.deletes)]
            changed = any(found)

    def _derive(self, statement: Statement) -> bool:
        into = self._arrivals[statement.target]
        found = dict(self._of(statement.reading)) if statement.reading is not None else {}
        if not found and (statement.later or statement.passing):
            # From the second step on, or in the first one only: a history of its own.
            found = {statement.target: False}
        before = dict(into)
        for origin, passing in found.items():
            stays = statement.target in self._stored
            # Once passing, always passing: another rule that keeps rows of this
            # origin does not keep those of this one.
            into[origin] = not stays and (passing or statement.passing or into.get(origin, False))
        return into != before

    def _of(self, reading: Reading) -> Arrivals:
        match reading:
            case Leaf(node):
                return self._arrivals[node]
            case Aggregation(of):
                return self._of(of)
        # A combination is there only while all of its rows are, so one side that passes makes it pass.
        sides = [self._of(side) for side in reading.sides]
        passing = any(any(side.values()) for side in sides)
        return {origin: passing for side in sides for origin in side}

    def history(self, name: str) -> History:
        arrivals = self._arrivals[name]
        if not arrivals:
            return History.FIXED
        return History.EVENT if any(arrivals.values()) else History.STABLE

    # -- races ---------------------------------------------------------------------------------------------------

    def races(self) -> Iterator[Race]:
        for number, statement in enumerate(self._flow.statements):
            # Nobody can tell what it deletes (refinement ``repetitions``), so nobody can tell when.
            if statement.harmless:
                continue
            found: dict[tuple[str, str], set[str]] = {}
            for reading in parts_of(statement.reading):
                for first, second, read in self._racing_origins(reading):
                    # One race for both orders of the sides, named in the order of
                    # the text, so that messages are stable.
                    pair = (first, second) if self._order[first] <= self._order[second] else (second, first)
                    found.setdefault(pair, set()).update(read)
            names = tuple(dict.fromkeys(leaves(statement.reading)))
            for (first, second), carried in found.items():
                local = self._asynchronous.isdisjoint((first, second))
                yield Race(number, first, second, tuple(n for n in names if n in carried), local)

    def _racing_origins(self, reading: Reading) -> Iterator[tuple[str, str, frozenset[str]]]:
        """Yield pairs of origins of which one passes, with the collections that they are read from."""
        match reading:
            case Aggregation(of):
                for origin, passes in self._of(of).items():
                    if passes:
                        yield origin, origin, frozenset(self._carrying(of, origin))
            case Combination(sides):
                for left, right in combinations(sides, 2):
                    # By origins, not by collections: two collections that are filled
                    # from one channel race as that channel does.
                    for a, a_passes in self._beside(left, right).items():
                        for b, b_passes in self._beside(right, left).items():
                            if a_passes or b_passes:
                                yield a, b, frozenset((*self._carrying(left, a), *self._carrying(right, b)))

    def _beside(self, side: Reading, other: Reading) -> Arrivals:
        """Return the arrivals of a side as those of another see them.

        A clock that says when is no danger to what stays; it is to rows of one step, and to another clock.
        """
        arrivals = self._of(side)
        if isinstance(side, Leaf) and side.ticks and not (isinstance(other, Leaf) and other.ticks):
            return dict.fromkeys(arrivals, False)
        return arrivals

    def _carrying(self, side: Reading, origin: str) -> Iterator[str]:
        return (name for name in leaves(side) if origin in self._arrivals[name])

    # -- what is order-sensitive ---------------------------------------------------------------------------------

    def sensitive(self, number: int, races: Iterable[Race]) -> Iterator[SensitiveRead]:
        """Yield what is order-sensitive about a statement."""
        statement = self._flow.statements[number]
        edges = self._edges.get(number, ())
        if statement.impure:
            yield SensitiveRead(number, None, statement.impure, History.FIXED, by_chance=True)
        # Without edges there is no read to blame: the statement itself is order-sensitive.
        if statement.deletes and not statement.harmless and not edges:
            yield SensitiveRead(number, None, f"deletes rows of {statement.target}", History.FIXED)
        for edge in edges:
            for reason in self._reasons(edge, statement, races):
                yield SensitiveRead(number, edge.source, reason, self.history(edge.source))

    def _reasons(self, edge: Edge, statement: Statement, races: Iterable[Race]) -> Iterator[str]:
        # What is FIXED has one content, and even an absence in it never changes.
        if edge.reason and (self._arrivals[edge.source] or statement.deletes):
            yield edge.reason
        # A clock that only says when is a leaf with ``ticks``; this one has its number or its time used.
        if edge.source in self._clocks and Leaf(edge.source) in parts_of(statement.reading):
            yield f"uses the number or the time of {edge.source}"
        for race in races:
            here = race.statement == edge.statement and edge.source in race.edges
            # That an aggregate is taken says enough about the rows that it is taken of.
            if here and not self._is_update(race) and not (edge.reason and race.first == race.second):
                yield str(race)

    def _is_update(self, race: Race) -> bool:
        """Return whether rows of local inputs meet what is updated in place (figure 3.6 of the thesis).

        The point of order is then where it is updated, and there are no messages that could make it another one.
        """
        # The update itself is the point of order then, and is reported where it stands.
        return race.local and any(name in self._flow.cluster_of for name in race.edges)

    @cached_property
    def _edges(self) -> Mapping[int, tuple[Edge, ...]]:
        found: dict[int, list[Edge]] = {}
        for edge in self._flow.edges:
            found.setdefault(edge.statement, []).append(edge)
        return {number: tuple(edges) for number, edges in found.items()}
