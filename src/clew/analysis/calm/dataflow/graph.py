"""The dataflow of a program: collections, and what each rule reads to derive which of them (figures 3.4 to 3.10).

Bloom and Dedalus programs become the same graph, so that there is one analysis and one picture.  An edge leads
from a collection that a rule reads to the one that it derives, and says what the rule does on the way.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

from clew.errors import Notice, Position
from clew.program.graph import components


class NodeKind(enum.Enum):
    """What a collection is for the analysis; the values are words for people."""

    TABLE = "table"
    LATTICE = "lattice"
    SCRATCH = "scratch"
    CHANNEL = "channel"
    PERIODIC = "periodic"
    INPUT = "input"
    OUTPUT = "output"
    INVARIANT = "invariant"  # a row in it ends its node: it goes nowhere

    @property
    def stored(self) -> bool:
        return self in (NodeKind.TABLE, NodeKind.LATTICE)


@dataclass(frozen=True)
class Node:
    """A collection.

    ``given``: rows come from outside, besides those of rules.  ``observed``: it is looked at from outside, even if
    rules read it, too.
    """

    name: str
    kind: NodeKind
    given: bool = False
    observed: bool = False
    position: Position | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Leaf:
    """The rows of a collection, or what is made of them one by one.

    ``ticks``: it is a clock that only says when; neither its number nor its time is used.
    """

    node: str
    ticks: bool = False


@dataclass(frozen=True)
class Combination:
    """Combinations of rows of every side that are there in the same step."""

    sides: tuple[Reading, ...]


@dataclass(frozen=True)
class SafeCombination:
    """Combinations that no schedule loses, although rows of one step are in them (refinement ``answered``)."""

    sides: tuple[Reading, ...]


@dataclass(frozen=True)
class Aggregation:
    """What is made of several rows of one step at once: a count that is compared, the size of a set."""

    of: Reading


Reading = Leaf | Combination | SafeCombination | Aggregation


@dataclass(frozen=True)
class Statement:
    """A rule: its text, and the block and line that it stands in.  ``reading`` is None if it reads nothing.

    ``passing``: rows are gone after a step, though what the rule reads may still be there.
    ``later``: rows are there from the next step on, so never in the first one.
    ``keeps``: every row of the target is in the target again in the next step.
    ``deletes``: its rows are taken out of the target; ``harmless``: and nobody can tell.
    ``impure``: what one of its functions touches besides its rows, empty if nothing.
    """

    target: str
    text: str
    block: str
    reading: Reading | None
    sends: bool
    position: Position | None = field(default=None, compare=False)
    passing: bool = False
    later: bool = False
    keeps: bool = False
    deletes: bool = False
    harmless: bool = False
    impure: str = ""


@dataclass(frozen=True)
class Edge:
    """Statement number ``statement`` reads ``source`` to derive ``target``.

    ``reason``: what is not monotone about it, empty if nothing is.  ``refined``: what looks so and is not.
    """

    source: str
    target: str
    statement: int
    sends: bool = False
    temporal: bool = False
    reason: str = ""
    refined: str = ""


@dataclass(frozen=True)
class Dataflow:
    """A program as a graph; nodes and statements in the order of the text."""

    name: str
    nodes: tuple[Node, ...]
    statements: tuple[Statement, ...]
    edges: tuple[Edge, ...]
    notices: tuple[Notice, ...] = ()

    @cached_property
    def by_name(self) -> dict[str, Node]:
        return {node.name: node for node in self.nodes}

    @cached_property
    def incoming(self) -> dict[str, tuple[Edge, ...]]:
        return {n.name: tuple(e for e in self.edges if e.target == n.name) for n in self.nodes}

    @cached_property
    def outgoing(self) -> dict[str, tuple[Edge, ...]]:
        return {n.name: tuple(e for e in self.edges if e.source == n.name) for n in self.nodes}

    @cached_property
    def derived(self) -> frozenset[str]:
        """Return the collections that some rule derives, be it from nothing."""
        return frozenset(statement.target for statement in self.statements)

    @cached_property
    def clusters(self) -> tuple[tuple[str, ...], ...]:
        """Temporal clusters: collections on cycles with an edge that is not monotone and one that takes a step."""
        order = {node.name: k for k, node in enumerate(self.nodes)}
        found = components(order, lambda name: [e.target for e in self.outgoing[name]])
        clusters = [tuple(sorted(c, key=order.__getitem__)) for c in found if self._is_cluster(frozenset(c))]
        return tuple(sorted(clusters, key=lambda cluster: order[cluster[0]]))

    def _is_cluster(self, names: frozenset[str]) -> bool:
        inner = [e for e in self.edges if e.source in names and e.target in names]
        # Without a step in it, a cycle that is not monotone cannot be stratified, and is refused elsewhere.
        return any(e.reason for e in inner) and any(e.temporal for e in inner)

    @cached_property
    def cluster_of(self) -> dict[str, tuple[str, ...]]:
        return {name: cluster for cluster in self.clusters for name in cluster}

    def reachable_from(self, start: Iterable[str]) -> frozenset[str]:
        """Return the collections that depend on some of these, and these."""
        return _closure(start, lambda name: (e.target for e in self.outgoing[name]))

    def leading_to(self, end: Iterable[str]) -> frozenset[str]:
        """Return the collections that some of these depend on, and these."""
        return _closure(end, lambda name: (e.source for e in self.incoming[name]))


def _closure(start: Iterable[str], following: Callable[[str], Iterable[str]]) -> frozenset[str]:
    # A list of what is new, not recursion: programs of thousands of rules are analysed, too.
    pending = list(start)
    found = set(pending)
    while pending:
        for name in following(pending.pop()):
            if name not in found:
                found.add(name)
                pending.append(name)
    return frozenset(found)


def leaves(reading: Reading | None) -> Iterator[str]:
    """Yield the collections of a reading, left to right, with repetitions."""
    match reading:
        case Leaf(node):
            yield node
        case Aggregation(of):
            yield from leaves(of)
        case Combination(sides) | SafeCombination(sides):
            for side in sides:
                yield from leaves(side)


def parts_of(reading: Reading | None) -> Iterator[Reading]:
    """Yield the reading and all in it, from the outside in."""
    if reading is None:
        return
    yield reading
    match reading:
        case Aggregation(of):
            yield from parts_of(of)
        case Combination(sides) | SafeCombination(sides):
            for side in sides:
                yield from parts_of(side)
