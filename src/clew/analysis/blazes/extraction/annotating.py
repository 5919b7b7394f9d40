"""The annotation of every path through a part of a program.

A path is W if its input reaches what is stored, and O if an order-sensitive place is charged to its input
(``places``).  Its gate is what the partitions of all these places have in common, and unknown where a seal on an
input would not do:

- the rows that meet there have gone through a channel of this part, which takes a partition apart again;
- the path only reads, and its own rows get into each other's way there (``influences``), while others write:
  a seal on what is written says nothing about them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from clew.analysis.blazes.annotations import Annotation, Behaviour
from clew.analysis.blazes.dataflow import Path
from clew.analysis.blazes.extraction.influences import Influences
from clew.analysis.blazes.extraction.partitions import (
    Partition,
    names,
    partitions,
    partitions_of_absence,
    partitions_of_race,
)
from clew.analysis.blazes.extraction.places import Place, Places
from clew.analysis.blazes.extraction.regions import Region
from clew.analysis.blazes.extraction.unprompted import find_unprompted
from clew.analysis.blazes.seals import Dependency, Gate, Lineage
from clew.analysis.calm.histories import History
from clew.bloom.ir.expressions import Extreme, Group, collections_in, subexpressions
from clew.bloom.ir.program import Op
from clew.errors import Position

_CR = Annotation(Behaviour.CR)


@dataclass(frozen=True)
class Remark:
    """What there is to say about a rule: what is order-sensitive about it, or what it takes for granted."""

    text: str
    position: Position | None


@dataclass(frozen=True)
class Annotated:
    """A path with the collections that it begins and ends at."""

    begin: str
    end: str
    path: Path
    remarks: tuple[Remark, ...]


def annotate_paths(region: Region, repeated: frozenset[str] = frozenset()) -> tuple[Annotated, ...]:
    """Return the paths, in the order of inputs and outputs.  ``repeated``: inputs that ask again."""
    judge = _Judge(region, Places(region, repeated))
    # By output first: which input a place is charged to depends on the output that is looked at.
    by_end = {end: judge.annotate(end) for end in region.outputs}
    return tuple(by_end[end][begin] for begin in region.inputs for end in region.outputs if begin in by_end[end])


def paths_of_chance(region: Region, interface: str) -> tuple[Annotated, ...]:
    """Return paths from an ``interface`` that is none, for functions that give what they like.

    What comes out there differs without any input, so that no seal and no order helps.
    """
    places = Places(region)
    found: dict[str, list[Remark]] = {}
    writes: set[str] = set()
    for statement, reason in places.by_chance:
        reached = region.flow.reachable_from([region.flow.statements[statement].target])
        remark = Remark(reason, region.flow.statements[statement].position)
        for end in region.outputs:
            if end in reached:
                found.setdefault(end, []).append(remark)
                writes |= set() if places.stored.isdisjoint(reached) else {end}
    return tuple(
        Annotated(
            interface,
            end,
            Path(
                interface,
                region.interface(end),
                Annotation(Behaviour.CW if end in writes else Behaviour.CR),
                Lineage(False, ()),
                remarks[0].position,
            ),
            tuple(dict.fromkeys(remarks)),
        )
        for end, remarks in found.items()
    )


class _Judge:
    def __init__(self, region: Region, places: Places) -> None:
        self._region = region
        self._flow = region.flow
        self._places = places

    def annotate(self, end: str) -> dict[str, Annotated]:
        """Return the paths to an output by the inputs that they begin at."""
        charged = self._places.charge(end)
        return {begin: self._annotate_path(begin, end, charged) for begin in charged}

    def _annotate_path(self, begin: str, end: str, charged: dict[str, tuple[Place, ...]]) -> Annotated:
        remarks = tuple(self._remarks(charged[begin]) or dict.fromkeys(self._remark_repetitions(begin, end)))
        written = any(self._places.writes(other) for other in charged if other != begin)
        path = Path(
            self._region.interface(begin),
            self._region.interface(end),
            self._annotation(begin, end, charged, written),
            self._lineage(begin, end),
            remarks[0].position if remarks else self._flow.by_name[begin].position,
        )
        return Annotated(begin, end, path, remarks)

    def _annotation(self, begin: str, end: str, every: dict[str, tuple[Place, ...]], written: bool) -> Annotation:
        writes, charged = self._places.writes(begin), every[begin]
        if not charged:
            held = writes and begin not in self._region.fixed
            return Annotation(Behaviour.CW, meets=self._meets(begin, every) if held else None) if writes else _CR
        if begin in self._region.fixed:
            return Annotation(Behaviour.OW if writes else Behaviour.OR)  # nobody could seal it
        alone = not writes and written and any(self._disturbs_itself(begin, place) for place in charged)
        gates = [frozenset[str]() if alone else self._gate(p, end, begin if writes else None) for p in charged]
        # One seal must complete the partitions of all places; an attribute that only some share is not enough.
        gate: Gate = frozenset.intersection(*gates) or None
        return Annotation(Behaviour.OW if writes else Behaviour.OR, gate)

    def _gate(self, place: Place, end: str, writer: str | None) -> frozenset[str]:
        """Return the attributes by which all operators of a place partition."""
        region = self._region
        # Rows of a sealed partition arrive one by one behind a channel, and nobody seals them there again.
        if place.source in self._places.sent:
            return frozenset()
        interfaces = {name: region.program.by_name[name].schema.columns for name in region.inputs}
        return frozenset.intersection(
            *(names(p, interfaces, writer) for p in self._partitions(place, end, writer))
        )

    def _partitions(self, place: Place, end: str, writer: str | None) -> tuple[Partition, ...]:
        region, rule = self._region, self._region.program.rules[place.statement]
        if place.race is not None and rule.op is not Op.DELETE:  # what is deleted partitions by its key
            histories = self._places.histories.of
            return partitions_of_race(rule, place.race, histories, region.tracing, asks=writer is None)
        there = self._there if self._places.is_unasked(place, end) else frozenset[str]()
        return partitions(rule, place.source, region.program, region.tracing, there)

    @cached_property
    def _there(self) -> frozenset[str]:
        return find_unprompted(
            self._region.program, (i for i in self._region.inputs if i not in self._region.fixed)
        )

    def _meets(self, begin: str, charged: dict[str, tuple[Place, ...]]) -> Gate:
        """Return what rows that are stored name of the partitions at places of other inputs.

        They must be looked up there in what is stored, on the side that takes nothing back, and by columns that
        they have themselves; otherwise it is not known what they would have to wait for.
        """
        reached = self._flow.reachable_from([begin])
        places = dict.fromkeys(p for places in charged.values() for p in places)
        gates = []
        for place in places:
            # Rows that never get to the rule do not meet anything there.
            if not any(e.statement == place.statement and e.source in reached for e in self._flow.edges):
                continue
            gate = None if place.source in reached else self._lookup_gate(begin, place)
            if not gate:
                return None
            gates.append(gate)
        if not gates:
            return frozenset() if places else None  # nothing there that it could be told apart from
        return frozenset.intersection(*gates) or None

    def _lookup_gate(self, begin: str, place: Place) -> Gate:
        region = self._region
        if place.race is not None or place.history is History.EVENT or place.source in self._places.sent:
            return None
        found = partitions_of_absence(region.program.rules[place.statement], place.source, region.tracing)
        if not found:
            return None
        interfaces = {name: region.program.by_name[name].schema.columns for name in region.inputs}
        named = [tuple(origins for origins in p if origins.get(begin)) for p in found]
        return frozenset.intersection(*(names(p, interfaces, None) for p in named)) or None

    def _disturbs_itself(self, begin: str, place: Place) -> bool:
        """Return whether rows of the input that come in one step make something else than one after the other."""
        # Rows that are stored are all there in the end; only rows of one step depend on their company.
        if place.history is not History.EVENT or place.source not in self._places.reach_unstored(begin):
            return False
        histories = self._places.histories.of
        if place.race is not None and any(histories[n] is not History.EVENT for n in place.race.edges):
            return False  # each row looks for what is stored by itself
        found = []
        for expr in subexpressions(self._region.program.rules[place.statement].expr):
            if place.source in collections_in(expr):
                match expr:
                    case Group(source, keys) | Extreme(source, keys):
                        columns = self._region.tracing.of(source).columns
                        fixed = frozenset().union(*(columns[k].get(begin, ()) for k in keys) if columns else ())
                        used = {a for i, a in self._influences.of(source).all if i == begin}
                        found.append(used <= fixed)
        return not (found and all(found))

    @cached_property
    def _influences(self) -> Influences:
        return Influences(self._region.program, self._region.inputs)

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

    def _remarks(self, charged: tuple[Place, ...]) -> list[Remark]:
        """Return what is not monotone about each rule, or else one of the races in it."""
        found = []
        for statement in dict.fromkeys(place.statement for place in charged):
            here = [place for place in charged if place.statement == statement]
            plain = dict.fromkeys(place.reason for place in here if place.race is None)
            races = dict.fromkeys(place.reason for place in here if place.race is not None)
            more = f" (and {len(races) - 1} more)" if len(races) > 1 else ""
            said = list(plain) or [f"{next(iter(races))}{more}"]
            found += [self._remark(statement, text) for text in said]
        return found

    def _remark(self, statement: int, text: str) -> Remark:
        return Remark(text, self._flow.statements[statement].position)

    def _remark_repetitions(self, begin: str, end: str) -> Iterator[Remark]:
        """Yield what a path takes for granted: that its input asks again."""
        needed = self._flow.leading_to([end])
        for place in self._places.excused:
            if place.target in needed and place.source in self._places.reach_unstored(begin):
                yield self._remark(place.statement, f"{place.reason}; {begin} is asked again")
