"""A dataflow from a YAML file; ``docs/blazes.md`` describes the format.

Components stand at the top level, as in section 4.5 of the thesis, next to the list ``streams``.  Everything is
checked where it stands: what is misspelt must not silently change a verdict.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path as FilePath

from clew.analysis.blazes.annotations import (
    ASYNC,
    BEHAVIOURS,
    SOURCE_LABELS,
    Annotation,
    Behaviour,
    Label,
    LabelKind,
    is_name,
)
from clew.analysis.blazes.dataflow import Component, Dataflow, End, Ordering, Path, Stream
from clew.analysis.blazes.seals import Attributes, Dependency, Gate, Lineage
from clew.analysis.blazes.wiring import check_wiring
from clew.analysis.blazes.yaml.nodes import Value, parse_yaml, read_yaml
from clew.errors import ProgramError, UsageError, is_quotable

_STREAMS = "streams"
_COMPONENT = ("annotation", "Rep", "order", "variant")
_PATH = ("from", "to", "label", "subscript", "meets", "lineage", "injective")
_STREAM = ("name", "from", "to", "label", "seal", "Rep", "attributes", "injective")
_ORDERINGS = (Ordering.DYNAMIC.value, Ordering.SEQUENCE.value)
#: Alternative paths of a component, of which one is chosen, have names in capitals.
_VARIANT = re.compile(r"[A-Z][A-Z0-9_]*")

_PATH_REMEDY = "write it as { from: input, to: output, label: OW, subscript: [attribute] }"
_STREAM_REMEDY = "write it as { from: Component.output, to: Component.input }; docs/blazes.md has all fields"
_DEPENDENCY_REMEDY = "write { attribute: other } or a list of { from: [attribute], to: [other] }"


def load_dataflow(path: str | FilePath, variants: Mapping[str, str] | None = None) -> Dataflow:
    """Return the dataflow of a file; ``variants`` overrule those that it chooses, by component."""
    try:
        return _dataflow(read_yaml(path), variants or {})
    except ProgramError as error:
        if error.position is None or is_quotable(str(path), (".yaml", ".yml")):
            raise
        raise UsageError(
            f"{path}: describes no dataflow, and its name does not end in .yaml or .yml",
            remedy=f"name a dataflow; to see what is wrong in line {error.position.line}, rename it",
        ) from None


def parse_dataflow(text: str, file: str = "<text>", variants: Mapping[str, str] | None = None) -> Dataflow:
    """Return the dataflow of a text."""
    return _dataflow(parse_yaml(text, file), variants or {})


def _dataflow(document: Value, variants: Mapping[str, str]) -> Dataflow:
    remedy = "describe components by their names, and the list 'streams'; docs/blazes.md has an example"
    entries = document.mapping("a mapping of components and streams", remedy)
    if _STREAMS not in entries:
        document.refuse("the dataflow has no streams", "add 'streams:', a list of { from: ..., to: ... }")
    components = []
    for name, (key, value) in entries.items():
        if name != _STREAMS:
            key.name("the name of a component")
            components.append(_component(name, key, value, variants.get(name)))
    for name in variants:
        if name not in entries or name == _STREAMS:
            raise UsageError(
                f"there is no component '{name}' to choose a variant of",
                remedy=f"the components are {', '.join(c.name for c in components)}",
            )
    streams = entries[_STREAMS][1]
    if not streams.is_list:
        streams.expect("a list of streams", "begin every stream with - in a line of its own")
    values = streams.items()
    dataflow = Dataflow(tuple(components), tuple(_stream(value) for value in values))
    check_wiring(dataflow)
    return dataflow


def _component(name: str, key: Value, value: Value, variant: str | None) -> Component:
    entries = value.mapping(f"the description of component '{name}'", "begin it with 'annotation:'")
    variants = {n: v for n, (_, v) in entries.items() if _VARIANT.fullmatch(n)}
    known = [*_COMPONENT, *variants]
    fields = value.fields(f"component '{name}'", known, "begin it with 'annotation:'")
    annotated = fields["annotation"].items() if "annotation" in fields else []
    chosen = _choose_variant(name, key, fields, variants, variant)
    paths = tuple(_path(item) for item in [*annotated, *chosen])
    if not paths:
        key.refuse(f"component '{name}' has no paths", f"add 'annotation:' and in it a path: {_PATH_REMEDY}")
    # Variants that are not chosen are checked as well.
    for other in variants.values():
        for item in other.items():
            _path(item)
    return Component(
        name,
        paths,
        replicated=_rep(fields),
        ordering=Ordering(fields["order"].one_of("an ordering", _ORDERINGS))
        if "order" in fields
        else Ordering.NONE,
        position=key.position,
    )


def _choose_variant(
    name: str, key: Value, fields: Mapping[str, Value], variants: Mapping[str, Value], variant: str | None
) -> list[Value]:
    remedy = (
        f"choose one of {', '.join(variants)}" if variants else "give it variants: paths under names in capitals"
    )
    # The command line overrules the file: trying out a variant must not need an editor.
    if variant is None and "variant" in fields:
        variant = fields["variant"].name("the name of a variant")
        # A wrong name in the file has a line to point to; one on the command line has not.
        if variant not in variants:
            fields["variant"].refuse(f"component '{name}' has no variant '{variant}'", remedy)
    if variant is None:
        if variants:
            remedy += f": add 'variant: {next(iter(variants))}', or give --variant {name}={next(iter(variants))}"
            key.refuse(f"component '{name}' has variants, and none is chosen", remedy)
        return []
    if variant not in variants:
        raise UsageError(f"component '{name}' has no variant '{variant}'", remedy=remedy)
    return variants[variant].items()


def _rep(fields: Mapping[str, Value]) -> bool:
    return "Rep" in fields and fields["Rep"].truth("true or false")


def _path(value: Value) -> Path:
    fields = _fields(value, "a path", _PATH, ("from", "to", "label"), _PATH_REMEDY)
    written = fields["label"].one_of("a label", (*BEHAVIOURS, "OR*", "OW*"))
    behaviour = BEHAVIOURS[written.removesuffix("*")]
    gate: Gate = None
    if "subscript" in fields:
        subscript = fields["subscript"]
        if not behaviour.ordered or written.endswith("*"):
            subscript.refuse(
                f"{written} has no subscript", "only OR and OW have one: the attributes that partition"
            )
        gate = frozenset(_names(subscript))
    return Path(
        fields["from"].name("the name of an input interface"),
        fields["to"].name("the name of an output interface"),
        Annotation(behaviour, gate, _meets(fields, behaviour)),
        _lineage(fields),
        value.position,
    )


def _meets(fields: Mapping[str, Value], behaviour: Behaviour) -> Gate:
    if "meets" not in fields:
        return None
    if behaviour is not Behaviour.CW:
        fields["meets"].refuse(
            "only CW has 'meets'", "it names the partitions that rows wait for before they are stored"
        )
    return frozenset(_names(fields["meets"])) if fields["meets"].items() else frozenset()


def _lineage(fields: Mapping[str, Value]) -> Lineage:
    injective = _dependencies(fields["injective"]) if "injective" in fields else ()
    if "lineage" not in fields:
        return Lineage(True, injective)
    stated = fields["lineage"]
    if stated.is_mapping:
        return Lineage(False, (*_dependencies(stated), *injective))
    kept = tuple(Dependency(frozenset({n}), frozenset({n})) for n in _names(stated))
    return Lineage(False, (*kept, *injective))


def _dependencies(value: Value) -> tuple[Dependency, ...]:
    if value.is_list:
        return tuple(_dependency(item) for item in value.items())
    entries = value.mapping("attributes that determine others", _DEPENDENCY_REMEDY)
    return tuple(
        Dependency(frozenset({key.name("an attribute")}), frozenset({target.name("an attribute")}))
        for key, target in entries.values()
    )


def _dependency(value: Value) -> Dependency:
    fields = _fields(value, "a dependency", ("from", "to"), ("from", "to"), _DEPENDENCY_REMEDY)
    return Dependency(frozenset(_names(fields["from"])), frozenset(_names(fields["to"])))


def _names(value: Value) -> tuple[str, ...]:
    """Read one attribute, or a list of them."""
    items = value.items()
    if not items:
        value.expect("at least one attribute", "name an attribute, or leave the field away")
    names = [item.name("an attribute") for item in items]
    for k, name in enumerate(names):
        if name in names[:k]:
            items[k].refuse(f"the attribute '{name}' is listed twice", "list it once")
    return tuple(names)


def _stream(value: Value) -> Stream:
    fields = _fields(value, "a stream", _STREAM, (), _STREAM_REMEDY)
    source = _end(fields["from"]) if "from" in fields else None
    target = _end(fields["to"]) if "to" in fields else None
    if source is None and target is None:
        value.refuse("a stream has neither 'from' nor 'to'", _STREAM_REMEDY)
    name = fields["name"].name("the name of a stream") if "name" in fields else str(source or target)
    stream = Stream(
        name,
        source,
        target,
        label=_source_label(fields, source),
        seals=tuple(_seals(fields["seal"])) if "seal" in fields else (),
        replicated=_rep(fields),
        attributes=_names(fields["attributes"]) if "attributes" in fields else None,
        dependencies=_dependencies(fields["injective"]) if "injective" in fields else (),
        position=value.position,
    )
    _check_attributes(stream, fields)
    return stream


def _source_label(fields: Mapping[str, Value], source: End | None) -> Label:
    if "label" not in fields:
        return ASYNC
    value = fields["label"]
    if source is not None:
        value.refuse("only a stream that enters the dataflow can be given a label", "leave 'label' or 'from' away")
    label = Label(LabelKind(value.one_of("a label", SOURCE_LABELS)))
    if "seal" in fields and label.bad:
        value.refuse(f"a stream that is {label} cannot be sealed", "leave 'label' or 'seal' away")
    return label


def _seals(value: Value) -> Iterator[Attributes]:
    """Read one key, or a list of keys that are lists."""
    items = value.items()
    several = value.is_list and bool(items) and all(item.is_list for item in items)
    for key in items if several else [value]:
        yield frozenset(_names(key))


def _check_attributes(stream: Stream, fields: Mapping[str, Value]) -> None:
    if stream.attributes is None:
        return
    sides = [d.source | d.target for d in stream.dependencies]
    for field, used in (("seal", stream.seals), ("injective", sides)):
        for name in sorted(frozenset().union(*used) - set(stream.attributes)):
            fields[field].refuse(
                f"the stream '{stream.name}' has no attribute '{name}'",
                f"its attributes are {', '.join(stream.attributes)}",
            )


def _end(value: Value) -> End:
    remedy = "write Component.interface"
    component, _, interface = value.text("an interface of a component", remedy).partition(".")
    if not (is_name(component) and is_name(interface)):
        value.expect("an interface of a component", remedy)
    return End(component, interface)


def _fields(
    value: Value, what: str, names: tuple[str, ...], needed: tuple[str, ...], remedy: str
) -> dict[str, Value]:
    fields = value.fields(what, names, remedy)
    for name in needed:
        if name not in fields:
            value.refuse(f"{what} has no field '{name}'", remedy)
    return fields
