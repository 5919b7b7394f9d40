"""Cycles collapse to one node with the worst annotation of their members (section 4.4 of the thesis).

A cycle runs through interfaces, not merely through components: where a component has no path from an input back
to the output that feeds it, nothing goes round.  What enters a cycle in the middle of a component passes both that
path and the cycle, so it takes the worse annotation of the two.

A seal does not hold for what goes round.  What enters a cycle comes back to where it entered, so a partition is
complete there only when nothing of it is under way on the cycle any more; and of the streams on the cycle, none
can be punctuated before the others are.  So punctuations on the cycle do not follow from those on what enters:
every stream of the cycle has to say itself that it is sealed on that key.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from clew.analysis.blazes.annotations import Annotation
from clew.analysis.blazes.dataflow import Component, Dataflow, End, Ordering, Path, Stream
from clew.analysis.blazes.seals import BY_NAME, Attributes, Dependency, Gate, Lineage
from clew.program.graph import components as strongly_connected


@dataclass(frozen=True)
class _Port:
    """An interface; one name may be an input and an output of a component."""

    end: End
    output: bool


@dataclass(frozen=True)
class _Cycle:
    """``name`` is that of the component that takes its place."""

    name: str
    ports: frozenset[_Port]
    components: tuple[Component, ...]

    def has(self, end: End | None, *, output: bool) -> bool:
        return end is not None and _Port(end, output) in self.ports

    def holds(self, stream: Stream) -> bool:
        return self.has(stream.source, output=True) and self.has(stream.target, output=False)

    @property
    def inner(self) -> list[Path]:
        return [
            path
            for component in self.components
            for path in component.paths
            if self.has(End(component.name, path.source), output=False)
            and self.has(End(component.name, path.target), output=True)
        ]


def collapse(dataflow: Dataflow) -> Dataflow:
    """Return the dataflow without cycles."""
    # A stream that makes a component replicated may soon lead elsewhere.
    marked = tuple(replace(c, replicated=c.name in dataflow.replicated) for c in dataflow.components)
    dataflow = replace(dataflow, components=marked)
    for cycle in _cycles(dataflow):
        dataflow = _collapse_cycle(dataflow, cycle)
    return dataflow


def worst(annotations: Sequence[Annotation]) -> Annotation:
    """Return the worst behaviour; its gate is known only if all members for which order matters agree on it."""
    behaviour = max((a.behaviour for a in annotations), key=lambda b: b.value)
    # Seals on one gate do not complete the partitions of another, so that no seal is known to suffice for both.
    gates: dict[Gate, None] = dict.fromkeys(a.gate for a in annotations if a.behaviour.ordered)
    return Annotation(behaviour, next(iter(gates)) if len(gates) == 1 else None)


def _cycles(dataflow: Dataflow) -> list[_Cycle]:
    after: dict[_Port, list[_Port]] = {}
    for component in dataflow.components:
        for path in component.paths:
            end = _Port(End(component.name, path.target), True)
            after.setdefault(_Port(End(component.name, path.source), False), []).append(end)
            after.setdefault(end, [])
    for stream in dataflow.streams:
        if stream.source is not None and stream.target is not None:
            after.setdefault(_Port(stream.source, True), []).append(_Port(stream.target, False))
    # Over interfaces, not components: two paths of one component that do not share an interface make no cycle.
    groups = strongly_connected(list(after), lambda port: after.get(port, ()))
    found: dict[str, _Cycle] = {}
    for group in groups:
        if len(group) > 1:
            cycle = _cycle(dataflow, group, found)
            found[cycle.name] = cycle
    return list(found.values())


def _cycle(dataflow: Dataflow, ports: Sequence[_Port], taken: Iterable[str]) -> _Cycle:
    names = {port.end.component for port in ports}
    members = tuple(c for c in dataflow.components if c.name in names)
    title = f"cycle of {', '.join(c.name for c in members)}"
    # One component may be on two cycles, and each needs a name of its own.
    same = sum(name == title or name.startswith(f"{title} (") for name in taken)
    return _Cycle(f"{title} ({same + 1})" if same else title, frozenset(ports), members)


def _collapse_cycle(dataflow: Dataflow, cycle: _Cycle) -> Dataflow:
    """Make a component of a cycle; its interfaces are named by the interfaces that they were."""
    inner = cycle.inner
    node = Component(
        cycle.name,
        tuple(dict.fromkeys(_paths(dataflow, cycle, inner))),
        replicated=any(c.name in dataflow.replicated for c in cycle.components),
        ordering=_ordering(cycle.components),
        cycle=tuple(c.name for c in cycle.components),
        position=cycle.components[0].position,
    )
    kept = (_without(component, cycle) for component in dataflow.components)
    components = (*(c for c in kept if c.paths), node)
    used = {End(c.name, p.source) for c in components for p in c.paths}
    promised = _common_seals(dataflow, cycle)
    streams = [s for stream in dataflow.streams for s in _streams(stream, cycle, used, promised)]
    return Dataflow(components, tuple(streams))


def _paths(dataflow: Dataflow, cycle: _Cycle, inner: Sequence[Path]) -> Iterator[Path]:
    exits = list(dict.fromkeys(str(s.source) for s in dataflow.streams if _leaves(s, cycle, dataflow)))
    for component in cycle.components:
        for path in component.paths:
            begin = End(component.name, path.source)
            if cycle.has(End(component.name, path.target), output=True):
                # What enters by a path that is not on the cycle passes that path first, so it counts as well.
                met = inner if cycle.has(begin, output=False) else [*inner, path]
                annotation, lineage = worst([p.annotation for p in met]), _common_lineage(met)
                yield from (Path(str(begin), target, annotation, lineage, path.position) for target in exits)


def _leaves(stream: Stream, cycle: _Cycle, dataflow: Dataflow) -> bool:
    """Tell whether the stream is seen outside: its end is not on the cycle, or a path leaves the cycle there."""
    if not cycle.has(stream.source, output=True):
        return False
    return not cycle.holds(stream) or any(_path_leaves(c, p, stream.target, cycle) for c, p in _all(dataflow))


def _all(dataflow: Dataflow) -> Iterator[tuple[Component, Path]]:
    return ((c, p) for c in dataflow.components for p in c.paths)


def _path_leaves(component: Component, path: Path, begin: End | None, cycle: _Cycle) -> bool:
    return End(component.name, path.source) == begin and not cycle.has(
        End(component.name, path.target), output=True
    )


def _without(component: Component, cycle: _Cycle) -> Component:
    paths = tuple(p for p in component.paths if not cycle.has(End(component.name, p.target), output=True))
    return replace(component, paths=paths)


def _common_seals(dataflow: Dataflow, cycle: _Cycle) -> tuple[Attributes, ...]:
    """Return the keys that all streams of a cycle are declared to be sealed on."""
    declared = [stream.seals for stream in dataflow.streams if cycle.holds(stream)]
    return tuple(key for key in declared[0] if all(key in seals for seals in declared))


def _streams(stream: Stream, cycle: _Cycle, used: set[End], kept: tuple[Attributes, ...]) -> Iterator[Stream]:
    """Return the stream at the node where the cycle was; twice, if a component beside it reads it, too."""
    target = stream.target
    if cycle.has(stream.source, output=True):
        stream = replace(stream, source=End(cycle.name, str(stream.source)))
    if target is None or target in used:
        yield stream
    inside = target is not None and End(cycle.name, str(target)) in used
    from_cycle = stream.source is not None and stream.source.component == cycle.name
    if inside and not from_cycle:
        yield replace(stream, target=End(cycle.name, str(target)), kept=kept)


def _ordering(components: Iterable[Component]) -> Ordering:
    """Return the ordering of the least ordered member."""
    # An order at one member says nothing about what the others do to what goes round.
    strength = list(Ordering)
    return min((c.ordering for c in components), key=strength.index)


def _common_lineage(paths: Sequence[Path]) -> Lineage:
    """Return the attributes that keep their names on every path; what is renamed on a cycle is not followed."""
    if all(path.lineage == BY_NAME for path in paths):
        return BY_NAME
    stated = [set(p.lineage.dependencies) for p in paths if not p.lineage.by_name]
    common = set.intersection(*stated) if stated else set()
    renamed = frozenset().union(*(p.lineage.defined for p in paths if p.lineage.by_name))
    kept = [d for d in common if d.source == d.target and not d.target & renamed]
    return Lineage(False, tuple(sorted(kept, key=_names)))


def _names(dependency: Dependency) -> list[str]:
    return sorted(dependency.source)
