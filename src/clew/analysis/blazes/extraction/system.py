"""A Bloom class as an annotated dataflow.

A class that imports modules is a system: every module is a component, and what its own rules only pass on is a
stream between two of them, whatever channels are on the way.  Rules that do more (rename attributes, join, store,
compare) are a component of their own, with the name of the class.  A class that imports nothing is one component.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from clew.analysis.blazes.annotations import RUN, Behaviour
from clew.analysis.blazes.coordinated.applied import said_of, with_coordination
from clew.analysis.blazes.coordinated.recognition import NotCoordinatedError, recognize
from clew.analysis.blazes.coordinated.record import coordination_of
from clew.analysis.blazes.dataflow import Component, Dataflow, End, Stream
from clew.analysis.blazes.extraction.annotating import Annotated, Remark, annotate_paths, paths_of_chance
from clew.analysis.blazes.extraction.declared import declaration_of
from clew.analysis.blazes.extraction.facts import refuse_unknown_inputs, with_facts
from clew.analysis.blazes.extraction.naming import Draft, name_streams
from clew.analysis.blazes.extraction.regions import Region, Regions, regions, whole
from clew.analysis.blazes.imported_modules import find_imports
from clew.analysis.blazes.wiring import check_wiring
from clew.bloom.ir.program import BloomProgram
from clew.bloom.ir.schema import Kind
from clew.bloom.language.module import Module, program_of
from clew.errors import Notice, ProgramError

#: A path by the names of its component and interfaces.
PathName = tuple[str, str, str]


@dataclass(frozen=True)
class Extraction:
    """The dataflow of a class, with the class and its program, so that nobody has to read them again.

    ``remarks``: what there is to say about a path, such as the rules for which order matters.
    ``coordination``: what is held back, in words, where the class wraps another one in coordination.
    """

    module: type[Module]
    program: BloomProgram
    dataflow: Dataflow
    remarks: Mapping[PathName, tuple[Remark, ...]]
    notices: tuple[Notice, ...] = ()
    coordination: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Part:
    """A component to be; ``chance`` is the interface of functions that give what they like, if it has any."""

    name: str
    region: Region
    paths: tuple[Annotated, ...]
    chance: str = ""

    def component(self) -> Component:
        return Component(self.name, tuple(a.path for a in self.paths), position=self.paths[0].path.position)


def extract(
    module: type[Module], files: Mapping[str, str] | None = None, program: BloomProgram | None = None
) -> Extraction:
    """Return the dataflow of a class.  ``files`` says what to call the files of the program.

    ``program``: that of the class, if it was read before.  The dataflow of a class which is coordinated is that of
    the original, with what is sealed or ordered in it.
    """
    program = program or program_of(module)
    record = coordination_of(module)
    if record is None:
        return _extract_rules(module, program, files or {}, [])
    try:
        found = recognize(module, program, record)
        original = extract(found.original, files, found.original_program)
        dataflow = with_coordination(original.dataflow, found)
    except NotCoordinatedError as why:
        text = f"{module.__name__} is not coordinated as it says: {why}"
        remedy = "its own rules are judged instead; make it anew with --synthesize"
        return _extract_rules(module, program, files or {}, [Notice(text, why.position, remedy)])
    return replace(original, module=module, program=program, dataflow=dataflow, coordination=said_of(found))


def _extract_rules(
    module: type[Module], program: BloomProgram, files: Mapping[str, str], before: list[Notice]
) -> Extraction:
    notices = [*before, *program.notices]
    declared = declaration_of(module)
    if find_imports(module):
        found = regions(program, module, files)
        refuse_unknown_inputs(declared, [i for r in (*found.modules.values(), found.rest) for i in r.inputs])
        parts, drafts = _system(program.name, found, frozenset(declared.repeated), notices)
    else:
        region = whole(program, files)
        refuse_unknown_inputs(declared, region.inputs)
        parts, drafts = _single(_part(program.name, region, frozenset(declared.repeated)))
    drafts += [draft for part in parts for draft in _chance(part)]
    parts, drafts = _drop_unconnected(parts, drafts)
    if not parts:
        raise ProgramError(
            f"{program.name} has no path from an input to an output",
            remedy="give it interface.input(...), interface.output(...) and rules from one to the other",
        )
    streams, known = name_streams(
        sorted(drafts, key=lambda d: (d.stream.source is not None, d.stream.target is None))
    )
    components = tuple(_drop_missing_attributes(part.component(), streams) for part in parts)
    dataflow = with_facts(Dataflow(components, tuple(streams)), known, declared)
    check_wiring(dataflow)
    remarks = {(p.name, a.path.source, a.path.target): a.remarks for p in parts for a in p.paths}
    return Extraction(module, program, dataflow, remarks, tuple(notices))


def _part(name: str, region: Region, repeated: frozenset[str]) -> _Part:
    paths = annotate_paths(region, repeated)
    interfaces = {region.interface(c) for c in _interfaces(region)}
    chance = "chance"
    # The name is ours, and an interface of the program may have it.
    while chance in interfaces:
        chance += "_"
    by_chance = paths_of_chance(region, chance)
    return _Part(name, region, (*paths, *by_chance), chance if by_chance else "")


def _single(part: _Part) -> tuple[list[_Part], list[Draft]]:
    drafts = [_at_interface(part, collection, source=True) for collection in part.region.inputs]
    drafts += [_at_interface(part, collection, source=False) for collection in part.region.outputs]
    return [part], drafts


def _chance(part: _Part) -> list[Draft]:
    """Return the stream of what functions give that are none: it differs in every run, before anything happens."""
    if not part.chance:
        return []
    name = f"{part.name}-{part.chance}" if part.region.prefix else part.chance
    return [Draft(Stream(name, None, End(part.name, part.chance), label=RUN), part.paths[-1].path.position)]


def _at_interface(part: _Part, collection: str, *, source: bool) -> Draft:
    """Return a stream that enters or leaves the dataflow at an interface of a component."""
    interface = part.region.interface(collection)
    end = End(part.name, interface)
    name = f"{part.name}-{interface}" if part.region.prefix else interface
    columns = part.region.program.by_name[collection].schema.columns
    stream = Stream(name, None if source else end, end if source else None, attributes=columns)
    return Draft(stream, part.region.flow.by_name[collection].position)


def _system(
    name: str, found: Regions, repeated: frozenset[str], notices: list[Notice]
) -> tuple[list[_Part], list[Draft]]:
    parts = [_part(n, region, repeated) for n, region in found.modules.items()]
    rest = _part(name, found.rest, repeated)
    connections = rest.paths
    ends = {c: End(p.name, p.region.interface(c)) for p in parts for c in _interfaces(p.region)}
    drafts = [d for a in connections if (d := _plain(found.rest, a, ends)) is not None]
    other = tuple(a for a in connections if _plain(found.rest, a, ends) is None)
    if other:
        rest = replace(rest, paths=other)
        drafts += _around(rest, ends)
        parts.append(rest)
    fed = {a.end for a in connections}
    for part in parts[: len(found.modules)]:
        drafts += _open_interfaces(part, found.rest, fed, notices)
    return parts, drafts


def _interfaces(region: Region) -> tuple[str, ...]:
    return (*region.inputs, *region.outputs)


def _plain(rest: Region, found: Annotated, ends: Mapping[str, End]) -> Draft | None:
    """Return the stream that a connection is, if it changes nothing and attributes keep their names."""
    source, target = ends.get(found.begin), ends.get(found.end)
    kept = [d for d in found.path.lineage.dependencies if d.source == d.target]
    renames = len(kept) != len(found.path.lineage.dependencies)
    # Streams have no rules in the thesis: what stores, compares or renames is a component.
    if found.path.annotation.behaviour is not Behaviour.CR or renames or source is target is None:
        return None
    if target is not None and not kept:
        return None
    attributes = tuple(name for d in kept for name in d.target)
    name = _between(rest, found, source, target)
    stream = Stream(name, source, target, attributes=attributes or None)
    return Draft(stream, rest.flow.by_name[found.begin].position)


def _between(rest: Region, found: Annotated, source: End | None, target: End | None) -> str:
    """Return the interface of the whole that a stream begins or ends at, else the first channel on its way."""
    if source is None or target is None:
        return rest.interface(found.begin if source is None else found.end)
    way = rest.flow.reachable_from([found.begin]) & rest.flow.leading_to([found.end])
    # Users know the stream by the channel that they declared for it.
    channels = [c.name for c in rest.program.collections if c.kind is Kind.CHANNEL and c.name in way]
    return rest.interface(channels[0]) if channels else f"{source.component}-{source.interface}"


def _around(part: _Part, ends: Mapping[str, End]) -> list[Draft]:
    """Return the streams to and from the rules that do more than to pass on."""
    drafts = []
    for collection in dict.fromkeys(a.begin for a in part.paths if a.begin != part.chance):
        drafts.append(_attach(_at_interface(part, collection, source=True), source=ends.get(collection)))
    for collection in dict.fromkeys(a.end for a in part.paths):
        drafts.append(_attach(_at_interface(part, collection, source=False), target=ends.get(collection)))
    return drafts


def _attach(draft: Draft, source: End | None = None, target: End | None = None) -> Draft:
    stream = draft.stream
    return replace(draft, stream=replace(stream, source=stream.source or source, target=stream.target or target))


def _open_interfaces(part: _Part, rest: Region, fed: set[str], notices: list[Notice]) -> list[Draft]:
    """Return what enters or leaves a module without streams of the class that imports it.

    Messages, clocks, rows that are always there, and what it stores.
    """
    drafts = []
    for collection in part.region.inputs:
        if collection in fed:
            continue
        # Probably forgotten: said, but not refused, since a module may offer more than the class wants.
        if part.region.program.by_name[collection].kind is Kind.INPUT and collection not in rest.outputs:
            text = f"nothing is connected to the input interface {collection}: its paths are left out"
            notices.append(Notice(text, part.region.flow.by_name[collection].position))
        else:
            drafts.append(_at_interface(part, collection, source=True))
    left = (c for c in part.region.outputs if c not in rest.inputs)
    return [*drafts, *(_at_interface(part, collection, source=False) for collection in left)]


def _drop_unconnected(parts: list[_Part], drafts: list[Draft]) -> tuple[list[_Part], list[Draft]]:
    """Drop paths that no stream leads to or begins at, and streams that lead to no path."""
    while True:
        # To a fixpoint: a path that goes takes streams with it, and these may have fed another path.
        fed = {d.stream.target for d in drafts}
        read = {d.stream.source for d in drafts}
        kept = [replace(p, paths=tuple(a for a in p.paths if _is_used(p, a, fed, read))) for p in parts]
        kept = [part for part in kept if part.paths]
        begins = {End(p.name, a.path.source) for p in kept for a in p.paths}
        stops = {End(p.name, a.path.target) for p in kept for a in p.paths}
        left = [d for d in drafts if d.stream.target in {None, *begins} and d.stream.source in {None, *stops}]
        if (kept, left) == (parts, drafts):
            return parts, drafts
        parts, drafts = kept, left


def _drop_missing_attributes(component: Component, streams: Sequence[Stream]) -> Component:
    """Drop attributes from gates that no stream brings: there is nothing to seal on them."""
    into = [s for s in streams if s.target is not None and s.target.component == component.name]
    known = frozenset(name for stream in into for name in stream.attributes or ())
    paths = []
    for path in component.paths:
        # A gate that names an attribute which no stream has would suggest a seal that nobody can give.
        gate = path.annotation.gate
        kept = gate and (gate & known or None)
        meets = path.annotation.meets and (path.annotation.meets & known or None)
        paths.append(replace(path, annotation=replace(path.annotation, gate=kept, meets=meets)))
    return replace(component, paths=tuple(paths))


def _is_used(part: _Part, found: Annotated, fed: set[End | None], read: set[End | None]) -> bool:
    return End(part.name, found.path.source) in fed and End(part.name, found.path.target) in read
