"""What a class declares about its dataflow, applied to the dataflow that was extracted from it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NoReturn

from clew.consistency.blazes.dataflow import Dataflow, Stream
from clew.consistency.blazes.seals import Attributes
from clew.consistency.extraction.declared import Declared
from clew.errors import Position, ProgramError

#: The streams that a name in a declaration means: one, or all that come from one interface.
Known = Mapping[str, Sequence[str]]


def with_facts(dataflow: Dataflow, known: Known, declared: Declared) -> Dataflow:
    components = [c.name for c in dataflow.components]
    for name in declared.replicated:
        if name not in components:
            _unknown(f"'{name}' is replicated, and there is no such component", components, declared.position)
    dataflow = replace(
        dataflow,
        components=tuple(
            replace(c, replicated=c.name in declared.replicated) if declared.replicated else c
            for c in dataflow.components
        ),
    )
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


def _streams(
    dataflow: Dataflow, name: str, known: Known, used: Attributes, position: Position | None
) -> list[Stream]:
    """Those that have the attributes; at least one must."""
    if name not in known:
        _unknown(f"there is no stream '{name}'", known, position)
    meant = [s for s in dataflow.streams if s.name in known[name]]
    found = [s for s in meant if used <= frozenset(s.attributes or ())]
    if not found:
        carried = dict.fromkeys(a for s in meant for a in s.attributes or ())
        missing = ", ".join(sorted(used - frozenset(carried)) or sorted(used))
        _unknown(f"the stream '{name}' does not carry {missing}", carried, position)
    return found


def _unknown(message: str, names: Iterable[str], position: Position | None) -> NoReturn:
    raise ProgramError(message, position=position, remedy=f"there are: {', '.join(names) or 'none'}")
