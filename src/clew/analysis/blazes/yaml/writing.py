"""A dataflow as the text of a YAML file, which ``yaml_file`` reads again as the same dataflow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from clew.analysis.blazes.annotations import ASYNC, Annotation
from clew.analysis.blazes.dataflow import Component, Dataflow, Ordering, Path, Stream
from clew.analysis.blazes.seals import Attributes, Dependency, Lineage

#: Remarks on paths, by the names of the component, the input and the output.
Remarks = Mapping[tuple[str, str, str], Sequence[str]]


def dataflow_yaml(dataflow: Dataflow, heading: str = "", remarks: Remarks | None = None) -> str:
    """Write a dataflow as a file; ``heading`` and ``remarks`` become comments."""
    lines = [*_comment(heading, ""), ""] if heading else []
    for component in dataflow.components:
        lines += [*_component(component, remarks or {}), ""]
    lines += ["streams:", *(f"  - {{ {', '.join(_stream(stream))} }}" for stream in dataflow.streams)]
    return "\n".join(lines) + "\n"


def _comment(text: str, indent: str) -> Iterator[str]:
    """Quote names of a program in a comment, which must not end early because of them."""
    for line in text.split("\n"):
        yield f"{indent}# {''.join(c if c.isprintable() else ascii(c)[1:-1] for c in line)}"


def _component(component: Component, remarks: Remarks) -> Iterator[str]:
    yield f"{component.name}:"
    if component.replicated:
        yield "  Rep: true"
    if component.ordering is not Ordering.NONE:
        yield f"  order: {component.ordering.value}"
    yield "  annotation:"
    for path in component.paths:
        for remark in remarks.get((component.name, path.source, path.target), ()):
            yield from _comment(remark, "    ")
        yield f"    - {{ {', '.join(_path(path))} }}"


def _path(path: Path) -> Iterator[str]:
    yield f"from: {path.source}"
    yield f"to: {path.target}"
    yield from _annotation(path.annotation)
    yield from _lineage(path.lineage)


def _annotation(annotation: Annotation) -> Iterator[str]:
    ordered = annotation.behaviour.ordered
    yield f"label: {annotation.behaviour.name}{'*' if ordered and annotation.gate is None else ''}"
    if ordered and annotation.gate is not None:
        yield f"subscript: {_names(annotation.gate)}"
    if annotation.meets is not None:
        yield f"meets: {_names(annotation.meets)}"


def _lineage(lineage: Lineage) -> Iterator[str]:
    """Write ``lineage`` where one attribute goes to one other, and ``injective`` for all else."""
    first: list[Dependency] = []
    if not lineage.by_name:
        first = list(_once(lineage.dependencies))
        kept = all(d.source == d.target for d in first)
        names = ", ".join("".join(d.source) for d in first)
        yield f"lineage: {f'[{names}]' if kept and first else _mapping(first)}"
    yield from _injective([d for d in lineage.dependencies if d not in first])


def _once(dependencies: Sequence[Dependency]) -> Iterator[Dependency]:
    """Return the dependencies from one attribute to one other, for attributes that determine nothing else."""
    uses = Counter(d.source for d in dependencies)
    return (d for d in dependencies if len(d.source) == len(d.target) == 1 and uses[d.source] == 1)


def _injective(dependencies: Sequence[Dependency]) -> Iterator[str]:
    if dependencies and len(list(_once(dependencies))) == len(dependencies):
        yield f"injective: {_mapping(dependencies)}"
    elif dependencies:
        pairs = (f"{{ from: {_names(d.source)}, to: {_names(d.target)} }}" for d in dependencies)
        yield f"injective: [{', '.join(pairs)}]"


def _mapping(dependencies: Sequence[Dependency]) -> str:
    if not dependencies:
        return "{}"
    pairs = (f"{''.join(d.source)}: {''.join(d.target)}" for d in dependencies)
    return f"{{ {', '.join(pairs)} }}"


def _stream(stream: Stream) -> Iterator[str]:
    if stream.name != str(stream.source or stream.target):
        yield f"name: {stream.name}"
    if stream.source is not None:
        yield f"from: {stream.source}"
    if stream.target is not None:
        yield f"to: {stream.target}"
    if stream.label != ASYNC:
        yield f"label: {stream.label}"
    if stream.replicated:
        yield "Rep: true"
    if stream.attributes is not None:
        yield f"attributes: [{', '.join(stream.attributes)}]"
    if stream.seals:
        keys = [_names(key) for key in stream.seals]
        yield f"seal: {keys[0] if len(keys) == 1 else '[' + ', '.join(keys) + ']'}"
    yield from _injective(stream.dependencies)


def _names(attributes: Attributes) -> str:
    return f"[{', '.join(sorted(attributes))}]"
