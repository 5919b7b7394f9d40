"""The verdict on a dataflow for the terminal: what can go wrong at each sink, why, and what helps.

For a dataflow that was extracted from a program also the annotations, and the rules behind them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from clew.analysis.blazes.annotations import Label, LabelKind
from clew.analysis.blazes.blame import Blame, Cause
from clew.analysis.blazes.dataflow import Component, Ordering, Path
from clew.analysis.blazes.derivation import SourceLabel, Step, upstream
from clew.analysis.blazes.inference import Rule
from clew.analysis.blazes.remedies import Remedy
from clew.analysis.blazes.verdict import SinkVerdict, Verdict
from clew.report.blazes.tree import derivation_trees

if TYPE_CHECKING:  # a dataflow that was written as YAML needs no extraction
    from clew.analysis.blazes.extraction.annotating import Remark
    from clew.analysis.blazes.extraction.system import Extraction
    from clew.analysis.blazes.yaml.writing import Remarks

#: What a label means to whoever reads the stream.
MEANINGS = {
    LabelKind.ASYNC: "the contents are the same in every run and at every replica; only their order can differ",
    LabelKind.RUN: "the contents can differ from run to run: what is replayed need not be what was sent before",
    LabelKind.INST: "replicas can show different contents in the same run, until they have seen the same messages",
    LabelKind.SPLIT: "replicas can disagree for ever: what they store diverges",
}


def blazes_text(verdict: Verdict, file: str) -> str:
    """Return the verdict on the dataflow of a file."""
    return (
        "\n".join([_headline(verdict, file), *(line for s in verdict.sinks for line in _sink(verdict, s))]) + "\n"
    )


def sink_text(verdict: Verdict, sink: SinkVerdict) -> str:
    """Return the verdict on one sink alone."""
    return "\n".join(_sink(verdict, sink)).lstrip("\n") + "\n"


def _headline(verdict: Verdict, file: str) -> str:
    bad = [sink.stream.name for sink in verdict.sinks if sink.label.bad]
    if not bad:
        return f"CONSISTENT: {file} needs no coordination beyond what it has."
    return f"INCONSISTENT: {file}: the contents of {', '.join(bad)} can differ."


def _sink(verdict: Verdict, sink: SinkVerdict) -> Iterator[str]:
    yield ""
    yield f"{sink.stream.name}: {sink.label}"
    yield f"  meaning: {meaning(sink.label)}"
    for number, blame in enumerate(sink.blame):
        yield f"  {'because' if number == 0 else '    and'}: {blame_text(blame)}"
    # No component made it worse, so it came from outside like this.
    if sink.label.bad and not sink.blame:
        named = [n.stream.name for n in upstream(sink.derivation) if isinstance(n, SourceLabel) and n.label.bad]
        yield f"  because: a source is {sink.label} already: {', '.join(sorted(named))}"
    yield from _remedies(sink)
    yield "  derivation:"
    for tree in derivation_trees(verdict.labelled, sink.stream):
        yield ""
        yield from (f"    {line}".rstrip() for line in tree)


def meaning(label: Label) -> str:
    return MEANINGS[label.kind]


def blame_text(blame: Blame) -> str:
    """Say which component makes a label worse, and how."""
    causes = "; ".join(dict.fromkeys(_cause(cause) for cause in blame.causes))
    return f"{', '.join(blame.components)} makes it {blame.label}: {causes}"


def _cause(cause: Cause) -> str:
    step = cause.step
    path = f"{step.path.source} → {step.path.target} is {step.path.annotation}"
    match step.inferred.rule:
        case Rule.DIVERGENT_WRITE:
            return f"{path} and stores {_stream(step)}, which differs between replicas"
        case Rule.UNORDERED_WRITE | Rule.UNORDERED_READ if not cause.racing:
            return f"{path} and {_stream(step)} comes in any order"
        case Rule.UNCOMPLETED if not cause.racing:
            return f"{path} and {_stream(step)} is sealed on another key"
    racing = ", ".join(_stream(other) for other in cause.racing)
    return f"{path} and reads what {racing} may still change"


def _stream(step: Step) -> str:
    return f"{step.stream.name} ({step.label})"


def _remedies(sink: SinkVerdict) -> Iterator[str]:
    if not sink.remedies:
        yield "  remedy: none is known" if sink.label.bad else "  remedy: nothing to do"
    for number, remedy in enumerate(sink.remedies):
        yield f"  {'remedy' if number == 0 else '    or'}: {remedy_text(remedy)}; then it is {remedy.after}"


def remedy_text(remedy: Remedy) -> str:
    """Say what to do."""
    if remedy.seals:
        condition = ", if it has this attribute" if remedy.supposed else ""
        return " and ".join(f"seal {s.stream} on {', '.join(sorted(s.key))}" for s in remedy.seals) + condition
    inputs = f"the inputs of {' and of '.join(remedy.ordered)}"
    if remedy.ordering is Ordering.DYNAMIC:
        return f"order {inputs}, the same for all replicas"
    return f"order {inputs}, the same in every run"


def extraction_text(extraction: Extraction) -> str:
    """List the annotations, and the rules behind them."""
    lines = [line for component in extraction.dataflow.components for line in _component(extraction, component)]
    coordination = ["", "coordination:", *(f"  {line}" for line in extraction.coordination)]
    shown = coordination if extraction.coordination else []
    return "\n".join([*shown, "", "extracted annotations:", *lines]) + "\n"


def remarks(extraction: Extraction) -> Remarks:
    """Return what there is to say about each path, for comments in a YAML file."""
    return {name: [_remark(r) for r in said] for name, said in extraction.remarks.items()}


def _component(extraction: Extraction, component: Component) -> Iterator[str]:
    for path in component.paths:
        yield f"  {component.name}: {_path(path)}"
        for remark in extraction.remarks[component.name, path.source, path.target]:
            yield f"    {_remark(remark)}"


def _path(path: Path) -> str:
    return f"{path.source} → {path.target} is {path.annotation}"


def _remark(remark: Remark) -> str:
    place = f" ({remark.position.file}:{remark.position.line})" if remark.position else ""
    return f"{remark.text}{place}"
