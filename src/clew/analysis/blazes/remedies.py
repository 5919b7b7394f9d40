"""What to do about a sink: seals and orders, each tried out on the dataflow before it is recommended.

Sealing is local and comes first where a stream has a key for it; an order needs a service that everybody asks.  An
order that is decided while the system runs keeps replicas together, but not runs (table 4.1 of the thesis).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, islice, product

from clew.analysis.blazes.annotations import RUN, Label
from clew.analysis.blazes.blame import find_blame
from clew.analysis.blazes.dataflow import Dataflow, Ordering, Stream
from clew.analysis.blazes.derivation import (
    Derivation,
    Labelled,
    Reconciled,
    SourceLabel,
    derive,
    sink_label,
    upstream,
)
from clew.analysis.blazes.seals import Attributes, Dependency

#: At most so many streams are sealed together.
MOST_SEALS = 3
#: How much work may go into the search for seals: trials times the size of the dataflow.
_EFFORT = 200_000
#: How often a set of ordered components is extended by those to blame; after that by all for which order matters.
_MOST_ATTEMPTS = 12
#: More than so many equally good remedies tell nobody anything.
_MOST_ALTERNATIVES = 6


@dataclass(frozen=True)
class SealOn:
    stream: str
    key: Attributes


@dataclass(frozen=True)
class Remedy:
    """Seals, or an ordering of the inputs of components, and the label that the sink has ``after``.

    ``supposed``: the attributes of a stream to be sealed are not stated, so it may not have them.
    """

    after: Label
    seals: tuple[SealOn, ...] = ()
    ordering: Ordering = Ordering.NONE
    ordered: tuple[str, ...] = ()
    supposed: bool = False


def find_remedies(dataflow: Dataflow, sink: str) -> tuple[Remedy, ...]:
    """Return what makes the sink better, the cheapest first; nothing for a sink that needs nothing."""
    label = _label(derive(dataflow), sink)
    if not label.bad:
        return ()
    # Every remedy is tried on the dataflow: a seal that looks right may be lost on the way, or not be enough.
    seals = list(_sealings(dataflow, sink))
    stated = [r for r in seals if not r.supposed][:_MOST_ALTERNATIVES]
    supposed = [r for r in seals if r.supposed][:_MOST_ALTERNATIVES]
    # An order that is decided while the system runs differs from run to run, so that it cannot help against Run.
    orders = [] if label == RUN else list(_order(dataflow, sink, Ordering.DYNAMIC))
    orders += _order(dataflow, sink, Ordering.SEQUENCE)
    return (*stated, *orders, *([] if stated else supposed))


def apply_remedy(dataflow: Dataflow, remedy: Remedy) -> Dataflow:
    """Return the dataflow with the remedy in place."""
    for one in remedy.seals:
        dataflow = dataflow.with_seal(one.stream, one.key)
    return dataflow.with_ordering(frozenset(remedy.ordered), remedy.ordering) if remedy.ordered else dataflow


def _label(labelled: Labelled, sink: str) -> Label:
    return sink_label(labelled.label(_sink(labelled, sink)))


def _sink(labelled: Labelled, name: str) -> Stream:
    return next(stream for stream in labelled.dataflow.sinks if stream.name == name)


def _sealings(dataflow: Dataflow, sink: str) -> Iterator[Remedy]:
    """Yield the smallest sets of seals that suffice."""
    size = len(dataflow.streams) + sum(len(c.paths) for c in dataflow.components)
    # The number of keys is exponential in the streams: a dataflow from a file may be of any size.
    trials = islice(_trials(dataflow, sink), _EFFORT // size)
    fewest = MOST_SEALS
    for seals, supposed in trials:
        # The smallest sets only: each seal is a promise that producers have to keep.
        if len(seals) > fewest:
            return
        after = _label(derive(apply_remedy(dataflow, Remedy(RUN, seals))), sink)
        if not after.bad:
            fewest = len(seals)
            yield Remedy(after, seals, supposed=supposed)


def _trials(dataflow: Dataflow, sink: str) -> Iterator[tuple[tuple[SealOn, ...], bool]]:
    labelled = derive(dataflow)
    # Sealing a stream that does not lead to the sink cannot change its label.
    reached = {
        node.stream.name
        for node in upstream(labelled.derivation(_sink(labelled, sink)))
        if isinstance(node, SourceLabel)
    }
    sources = [stream for stream in dataflow.sources if stream.name in reached]
    names = _names(dataflow)
    for size in range(1, min(MOST_SEALS, len(sources)) + 1):
        for streams in combinations(sources, size):
            supposed = any(stream.attributes is None for stream in streams)
            for keys in product(*(_keys(stream, dataflow, names) for stream in streams)):
                yield tuple(SealOn(s.name, key) for s, key in zip(streams, keys, strict=True)), supposed


def _keys(stream: Stream, dataflow: Dataflow, names: list[str]) -> list[Attributes]:
    """Return keys to try: single attributes, which are compatible with most, and sides of dependencies."""
    attributes = names if stream.attributes is None else list(stream.attributes)
    # Any part of a gate will do (``completes``), and a smaller key is a weaker promise.
    single = [frozenset({name}) for name in attributes]
    sides = (side for d in _dependencies(dataflow) for side in (d.source, d.target))
    return [*single, *dict.fromkeys(side for side in sides if len(side) > 1 and side <= set(attributes))]


def _names(dataflow: Dataflow) -> list[str]:
    """Return the attributes that matter anywhere: those of gates, and those that determine others."""
    gates = [p.annotation.gate or frozenset() for c in dataflow.components for p in c.paths]
    sides = [side for d in _dependencies(dataflow) for side in (d.source, d.target)]
    return sorted(frozenset().union(*gates, *sides))


def _dependencies(dataflow: Dataflow) -> list[Dependency]:
    on_paths = [d for c in dataflow.components for p in c.paths for d in p.lineage.dependencies]
    return [*on_paths, *(d for stream in dataflow.streams for d in stream.dependencies)]


def _order(dataflow: Dataflow, sink: str, ordering: Ordering) -> Iterator[Remedy]:
    """Order the inputs of those to blame; then others may be to blame, for what they are sent is better now."""
    before = _label(derive(dataflow), sink)
    ordered: dict[str, None] = {}
    # Step by step, so that no more is ordered than must be: an order costs a round trip for every row.
    for attempt in range(_MOST_ATTEMPTS + 1):
        labelled = derive(dataflow.with_ordering(frozenset(ordered), ordering))
        derivation = labelled.derivation(_sink(labelled, sink))
        found = _to_order(derivation) if attempt < _MOST_ATTEMPTS else _sensitive(derivation)
        new = [name for name in found if name not in ordered]
        if not new:
            break
        ordered.update(dict.fromkeys(new))
    after = _label(derive(dataflow.with_ordering(frozenset(ordered), ordering)), sink)
    # An improvement is worth telling, even if it is not all: Split becomes Run, and replicas agree.
    if ordered and after.severity < before.severity:
        yield Remedy(after, ordering=ordering, ordered=tuple(ordered))


def _to_order(derivation: Derivation) -> list[str]:
    """Return the components to blame for what an order would prevent."""
    return [
        name
        for blame in find_blame(derivation)
        if any(cause.by_order for cause in blame.causes)
        for name in blame.components
    ]


def _sensitive(derivation: Derivation) -> list[str]:
    """Return all components on the way for which order matters."""
    return [
        name
        for node in upstream(derivation)
        if isinstance(node, Reconciled) and any(step.path.annotation.behaviour.ordered for step in node.steps)
        for name in node.component.cycle or (node.component.name,)
    ]
