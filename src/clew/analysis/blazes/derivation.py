"""The label of every stream of a dataflow, with the tree of inferences that it follows from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from clew.analysis.blazes.annotations import ASYNC, Label, seal_label
from clew.analysis.blazes.cycles import collapse
from clew.analysis.blazes.dataflow import Component, Dataflow, End, Path, Stream
from clew.analysis.blazes.inference import Inferred, infer
from clew.analysis.blazes.reconciliation import Arriving, reconcile
from clew.analysis.blazes.seals import SealKey, seal_key
from clew.program.graph import components as strongly_connected


@dataclass(frozen=True)
class SourceLabel:
    """A stream that enters the dataflow has the label and the seals that it was given."""

    stream: Stream
    label: Label


@dataclass(frozen=True)
class Step:
    """A stream into a component, along one path."""

    stream: Stream
    premise: Derivation
    path: Path
    inferred: Inferred

    @property
    def label(self) -> Label:
        """Return the label of the stream, which may say more than what its producer gives it."""
        return stream_label(self.stream, self.premise.label)

    @property
    def arriving(self) -> tuple[Arriving, ...]:
        """Return the labels that the path gives, with what they are reconciled by."""
        path = self.path
        return tuple(Arriving(la, path.annotation, path.lineage, self.label) for la in self.inferred.labels)


@dataclass(frozen=True)
class Reconciled:
    """The label of an output of a component."""

    component: Component
    output: str
    replicated: bool
    steps: tuple[Step, ...]
    label: Label

    @property
    def end(self) -> End:
        return End(self.component.name, self.output)

    @property
    def arriving(self) -> tuple[Arriving, ...]:
        return tuple(a for step in self.steps for a in step.arriving)


Derivation = SourceLabel | Reconciled


@dataclass(frozen=True)
class Labelled:
    """An acyclic dataflow with the derivations of its outputs, producers first."""

    dataflow: Dataflow
    outputs: tuple[Reconciled, ...]

    @cached_property
    def _by_end(self) -> dict[End, Reconciled]:
        return {output.end: output for output in self.outputs}

    def derivation(self, stream: Stream) -> Derivation:
        return _derivation(stream, self._by_end)

    def label(self, stream: Stream) -> Label:
        return stream_label(stream, self.derivation(stream).label)


def derive(dataflow: Dataflow) -> Labelled:
    """Return the labels of a dataflow; cycles are collapsed first."""
    acyclic = collapse(dataflow)
    found: dict[End, Reconciled] = {}
    by_name = {c.name: c for c in acyclic.components}
    # Acyclic, so one pass in this order gives every label its premises.
    for end in _producers_first(acyclic):
        component = by_name[end.component]
        steps = tuple(_steps(acyclic, component, end.interface, found))
        arriving = [a for step in steps for a in step.arriving]
        replicated = component.name in acyclic.replicated
        label = reconcile(arriving, replicated, component.ordering)
        found[end] = Reconciled(component, end.interface, replicated, steps, label)
    return Labelled(acyclic, tuple(found.values()))


def labels_of_all(dataflow: Dataflow) -> dict[str, Label]:
    """Return the label of every stream by its name; inside a cycle, what leaves the cycle there would have.

    Collapsing drops the streams inside a cycle, and outputs that nothing outside reads.  So every stream is given
    a sink of its own at the place where it begins.
    """
    longest = max((len(s.name) for s in dataflow.streams), default=0)
    sinks = {
        s.name: replace(s, name=str(number).rjust(longest + 1), target=None)  # longer than any, so it is not taken
        for number, s in enumerate(dataflow.streams)
        if s.source is not None
    }
    labelled = derive(replace(dataflow, streams=(*dataflow.streams, *sinks.values())))
    found = {s.name: labelled.label(s) for s in labelled.dataflow.sinks}
    return {
        s.name: found[sinks[s.name].name] if s.name in sinks else stream_label(s, s.label)
        for s in dataflow.streams
    }


def upstream(derivation: Derivation) -> Iterator[Derivation]:
    """Yield the derivation and all that it follows from, each once, nearest first."""
    seen: set[End | str] = set()
    waiting = [derivation]
    for node in waiting:  # grows while it is walked
        name = node.stream.name if isinstance(node, SourceLabel) else node.end
        if name in seen:
            continue
        seen.add(name)
        yield node
        if isinstance(node, Reconciled):
            waiting.extend(step.premise for step in node.steps)


def stream_label(stream: Stream, produced: Label) -> Label:
    """Return what a stream makes of the label of its producer: it adds seals, and may lack names of a key.

    A seal says that a partition is complete, not that its contents are the same everywhere: it repairs nothing.
    """
    # A seal over contents that differ is still a seal over contents that differ.
    if produced.bad:
        return produced
    kept = produced.keys
    # A consumer cannot tell partitions apart by an attribute that it is not sent.
    if stream.attributes is not None:
        within = (key.within(frozenset(stream.attributes)) for key in kept)
        kept = tuple(key for key in within if key is not None)
    keys: tuple[SealKey, ...] = (*kept, *(seal_key(key) for key in stream.seals))
    if stream.kept is not None:
        keys = tuple(key for key in keys if key.key in stream.kept)
    return seal_label(key.with_dependencies(stream.dependencies) for key in keys)


def sink_label(label: Label) -> Label:
    """Return the label of a stream for those outside: nobody there is known to wait for punctuations."""
    return label if label.bad else ASYNC


def _derivation(stream: Stream, outputs: dict[End, Reconciled]) -> Derivation:
    if stream.source is None:
        return SourceLabel(stream, stream_label(stream, stream.label))
    return outputs[stream.source]


def _steps(
    dataflow: Dataflow, component: Component, output: str, outputs: dict[End, Reconciled]
) -> Iterator[Step]:
    for path in component.paths:
        if path.target != output:
            continue
        for stream in dataflow.into.get(End(component.name, path.source), ()):
            premise = _derivation(stream, outputs)
            label = stream_label(stream, premise.label)
            yield Step(stream, premise, path, infer(label, path.annotation, component.ordering))


def _producers_first(dataflow: Dataflow) -> list[End]:
    """Return the outputs, in an order in which labels can be derived."""
    needs: dict[End, list[End]] = {}
    for component in dataflow.components:
        for path in component.paths:
            into = dataflow.into.get(End(component.name, path.source), ())
            end = End(component.name, path.target)
            needs.setdefault(end, []).extend(s.source for s in into if s.source is not None)
    return [end for (end,) in strongly_connected(needs, lambda end: needs[end])]
