"""The annotation of every path through a part of a program.

A path is W if its input reaches what is stored.  It is O if a place that is not monotone is charged to its input:

- what rows of the input pass before they are stored, and what they meet on the way if that comes from a place that
  is not monotone (a request that is joined with a count, or with a table that is updated in place);
- what decides what is stored;
- what is read from the stored rows without waiting for another input.  Where an output only appears when another
  input asks for it, the place is charged to that input: clicks that are only stored and a request that counts
  them are CW and OR (section 4.5 of the thesis).

A join of a request with rows that are only added is monotone, so the path is C, as in the thesis; but a request
finds the rows that are there.  Such paths have a remark.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from clew.bloom.program import Op
from clew.consistency.blazes.annotations import Annotation, Behaviour
from clew.consistency.blazes.dataflow import Path
from clew.consistency.blazes.seals import Dependency, Gate, Lineage
from clew.consistency.extraction.partitions import names, partitions
from clew.consistency.extraction.regions import Region
from clew.consistency.graph import Edge, NodeKind, leaves
from clew.errors import Position
from clew.program.graph import components


@dataclass(frozen=True)
class Remark:
    """What there is to say about a rule: what is not monotone about it, or what it takes for granted."""

    text: str
    position: Position | None


@dataclass(frozen=True)
class Annotated:
    """A path with the collections that it begins and ends at."""

    begin: str
    end: str
    path: Path
    remarks: tuple[Remark, ...]


def annotated_paths(region: Region) -> tuple[Annotated, ...]:
    """The paths, in the order of inputs and outputs."""
    judge = _Judge(region)
    return tuple(
        judge.annotated(begin, end)
        for begin in region.inputs
        for end in region.outputs
        if begin != end and end in region.flow.reached([begin])
    )


class _Judge:
    def __init__(self, region: Region) -> None:
        self._region = region
        self._flow = region.flow

    def annotated(self, begin: str, end: str) -> Annotated:
        charged = tuple(dict.fromkeys(self._charged(begin, end)))
        writes = not self._stored.isdisjoint(self._flow.reached([begin]))
        said = (self._remark(edge, edge.reason) for edge in charged)
        remarks = tuple(dict.fromkeys(said if charged else self._found_so_far(begin, end)))
        path = Path(
            self._region.interface(begin),
            self._region.interface(end),
            self._annotation(begin, charged, writes),
            self._lineage(begin, end),
            remarks[0].position if remarks else self._flow.by_name[begin].position,
        )
        return Annotated(begin, end, path, remarks)

    def _annotation(self, begin: str, charged: tuple[Edge, ...], writes: bool) -> Annotation:
        if not charged:
            return Annotation(Behaviour.CW if writes else Behaviour.CR)
        gates = [self._gate(edge, begin if writes else None) for edge in charged]
        common = frozenset.intersection(*gates)
        gate: Gate = common or None
        return Annotation(Behaviour.OW if writes else Behaviour.OR, gate)

    def _gate(self, edge: Edge, writer: str | None) -> frozenset[str]:
        """The attributes by which all operators of a place partition."""
        region = self._region
        interfaces = {name: region.program.by_name[name].schema.columns for name in region.inputs}
        rule = region.program.rules[edge.statement]
        found = partitions(rule, edge.source, region.program, region.tracing)
        return frozenset.intersection(*(names(p, interfaces, writer) for p in found))

    def _lineage(self, begin: str, end: str) -> Lineage:
        columns = zip(
            self._region.program.by_name[end].schema.columns,
            self._region.tracing.collection(end).columns,
            strict=True,
        )
        return Lineage(
            False,
            tuple(
                Dependency(frozenset({attribute}), frozenset({column}))
                for column, origins in columns
                for attribute in sorted(origins[begin])
            ),
        )

    def _remark(self, edge: Edge, text: str) -> Remark:
        return Remark(text, self._flow.statements[edge.statement].position)

    def _found_so_far(self, begin: str, end: str) -> Iterator[Remark]:
        """Joins of what passes with what other inputs may still add to."""
        needed = self._flow.reaching([end])
        added = self._flow.reached(i for i in self._region.inputs if i != begin) & self._stored
        for edge in self._flow.edges:
            if edge.source in self._passing(begin) and edge.target in needed:
                for other in dict.fromkeys(leaves(self._flow.statements[edge.statement].reading)):
                    if other != edge.source and not added.isdisjoint(self._flow.reaching([other])):
                        yield self._remark(edge, f"finds what is in {other} so far; taken to be asked again")

    # -- what is charged to an input -----------------------------------------------------------------------------

    def _charged(self, begin: str, end: str) -> Iterator[Edge]:
        needed = self._flow.reaching([end])
        passing = self._passing(begin)
        reached = self._flow.reached([begin])
        unasked = self._unasked_to(end)
        after_store = self._unasked_from(self._stored & reached)
        for edge in self._flow.edges:
            if edge.target not in needed:
                continue
            if edge.source in passing:
                if edge in self._ordered:
                    yield edge
                yield from self._met(edge)
            if edge not in self._ordered or edge.source not in reached:
                continue
            decides = not self._stored.isdisjoint(self._flow.reached([edge.target]) & needed)
            read = edge.source in after_store and edge.target in unasked and not self._asked(edge)
            if decides or read:
                yield edge

    def _met(self, edge: Edge) -> Iterator[Edge]:
        """What is not monotone about the other collections that a rule reads."""
        others = [e for e in self._flow.edges if e.statement == edge.statement and e.source != edge.source]
        before = self._flow.reaching(e.source for e in others)
        yield from (e for e in self._ordered if e in others or e.target in before)

    def _passing(self, begin: str) -> frozenset[str]:
        """The collections that rows reach before they are stored."""
        edges = [e for e in self._flow.edges if e.source not in self._stored]
        return _along(edges, [begin]) - self._stored

    def _unasked_from(self, begins: Iterable[str]) -> frozenset[str]:
        return _along([e for e in self._flow.edges if not self._asked(e)], begins)

    def _unasked_to(self, end: str) -> frozenset[str]:
        return _along([e for e in self._flow.edges if not self._asked(e)], [end], back=True)

    def _asked(self, edge: Edge) -> bool:
        """Whether the rule waits for something that passes, besides the collection that the edge comes from."""
        sides = {*leaves(self._flow.statements[edge.statement].reading), *self._clocks(edge.statement)}
        return any(name in self._driven for name in sides if name != edge.source)

    def _clocks(self, statement: int) -> Iterator[str]:
        """Clocks that say when; a reading leaves them out, because nothing is missed for them."""
        read = (e.source for e in self._flow.edges if e.statement == statement and not e.reason)
        return (name for name in read if self._flow.by_name[name].kind is NodeKind.PERIODIC)

    @cached_property
    def _ordered(self) -> tuple[Edge, ...]:
        """The places that are not monotone.  What no input reaches is always the same, and has no order."""
        known = self._flow.reached(self._region.inputs)
        rules = self._region.program.rules
        return tuple(
            e for e in self._flow.edges if e.reason and (e.source in known or rules[e.statement].op is Op.DELETE)
        )

    @cached_property
    def _stored(self) -> frozenset[str]:
        """Tables and lattices, and what goes round from step to step."""
        tables = {node.name for node in self._flow.nodes if node.kind.stored}
        order = [node.name for node in self._flow.nodes]
        for cycle in components(order, lambda name: [e.target for e in self._flow.outgoing[name]]):
            inner = [e for e in self._flow.edges if e.source in cycle and e.target in cycle]
            if any(e.temporal or e.sends for e in inner):
                tables.update(cycle)
        return frozenset(tables)

    @cached_property
    def _driven(self) -> frozenset[str]:
        """The collections that have rows only in steps in which an input has some."""
        found = {node.name for node in self._flow.nodes} - self._stored
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
    """The collections that edges lead to, and those that they begin at."""
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
