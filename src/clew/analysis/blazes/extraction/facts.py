"""What a class declares about its dataflow, applied to the dataflow that was extracted from it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NoReturn

from clew.analysis.blazes.annotations import INST, RUN
from clew.analysis.blazes.dataflow import Dataflow, Stream
from clew.analysis.blazes.extraction.declared import Declared
from clew.analysis.blazes.seals import Attributes
from clew.errors import Position, ProgramError

#: The streams that a name in a declaration means: one, or all that come from one interface.
Known = Mapping[str, Sequence[str]]


def refuse_unknown_inputs(declared: Declared, inputs: Sequence[str]) -> None:
    """Refuse to take an input for repeated that there is not."""
    for name in declared.repeated:
        if name not in inputs:
            _unknown(f"'{name}' is repeated, and there is no such input", inputs, declared.position)


def with_facts(dataflow: Dataflow, known: Known, declared: Declared) -> Dataflow:
    """Return the dataflow with what the class declares about it."""
    components = [c.name for c in dataflow.components]
    for name in declared.replicated:
        if name not in components:
            _unknown(f"'{name}' is replicated, and there is no such component", components, declared.position)
    dataflow = replace(
        dataflow,
        components=tuple(
            # Only what is declared: nothing in the rules says how many instances will run.
            replace(c, replicated=c.name in declared.replicated) if declared.replicated else c
            for c in dataflow.components
        ),
    )
    dataflow = replace(dataflow, streams=tuple(_between_replicas(s, dataflow) for s in dataflow.streams))
    for name, key in declared.seals.items():
        for stream in _streams(dataflow, name, known, key, declared.position):
            dataflow = dataflow.with_seal(stream.name, key)
    for name, dependencies in declared.injective.items():
        used = frozenset().union(*(d.source | d.target for d in dependencies))
        changed = {s.name for s in _streams(dataflow, name, known, used, declared.position)}
        dataflow = replace(
            dataflow,
            streams=tuple(
                replace(s, dependencies=dependencies) if s.name in changed else s for s in dataflow.streams
            ),
        )
    return dataflow


def _between_replicas(stream: Stream, dataflow: Dataflow) -> Stream:
    """Return the stream; what differs between runs from the beginning differs between replicas as well."""
    replicated = stream.target is not None and stream.target.component in dataflow.replicated
    return replace(stream, label=INST) if stream.label == RUN and replicated else stream


def _streams(
    dataflow: Dataflow, name: str, known: Known, used: Attributes, position: Position | None
) -> list[Stream]:
    """Return the streams that have the attributes; at least one must."""
    if name not in known:
        _unknown(f"there is no stream '{name}'", known, position)
    meant = [s for s in dataflow.streams if s.name in known[name]]
    # One name may mean several streams from one interface, and some of them carry fewer attributes.
    found = [s for s in meant if used <= frozenset(s.attributes or ())]
    if not found:
        carried = dict.fromkeys(a for s in meant for a in s.attributes or ())
        missing = ", ".join(sorted(used - frozenset(carried)) or sorted(used))
        _unknown(f"the stream '{name}' does not carry {missing}", carried, position)
    return found


def _unknown(message: str, names: Iterable[str], position: Position | None) -> NoReturn:
    raise ProgramError(message, position=position, remedy=f"there are: {', '.join(names) or 'none'}")
