"""A dataflow as data: components with annotated paths, and the streams between them.

What builds one vouches that names are unique and that the ends of streams exist.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field, replace
from functools import cached_property

from clew.analysis.blazes.annotations import ASYNC, Annotation, Label
from clew.analysis.blazes.seals import BY_NAME, Attributes, Dependency, Lineage
from clew.errors import Position


class Ordering(enum.Enum):
    """How the messages to a component are ordered."""

    NONE = "none"
    DYNAMIC = "dynamic"  # one order for all replicas, decided while it runs
    SEQUENCE = "sequence"  # one order for all replicas and all runs


@dataclass(frozen=True)
class Path:
    """A way through a component, from an input interface to an output interface."""

    source: str
    target: str
    annotation: Annotation
    lineage: Lineage = BY_NAME
    position: Position | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Component:
    """``replicated``: there are several instances of it.  ``cycle``: the components that it was collapsed from."""

    name: str
    paths: tuple[Path, ...]
    replicated: bool = False
    ordering: Ordering = Ordering.NONE
    cycle: tuple[str, ...] = ()
    position: Position | None = field(default=None, compare=False)


@dataclass(frozen=True, order=True)
class End:
    """An interface of a component."""

    component: str
    interface: str

    def __str__(self) -> str:
        return f"{self.component}.{self.interface}"


@dataclass(frozen=True)
class Stream:
    """From an output interface to an input interface.

    Without ``source`` it enters the dataflow, with ``label``; without ``target`` it is a sink.  ``seals``: the
    keys that its producers send punctuations on.  ``attributes``: its schema, None if unknown.  ``dependencies``:
    which of its attributes determine each other one-to-one.  ``kept``: of a stream into what was a cycle, the keys
    of seals that hold for what goes round, too; None for any other stream, which keeps all.
    """

    name: str
    source: End | None = None
    target: End | None = None
    label: Label = ASYNC
    seals: tuple[Attributes, ...] = ()
    replicated: bool = False
    attributes: tuple[str, ...] | None = None
    dependencies: tuple[Dependency, ...] = ()
    kept: tuple[Attributes, ...] | None = None
    position: Position | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Dataflow:
    """Components and streams in the order of their text."""

    components: tuple[Component, ...]
    streams: tuple[Stream, ...]

    @property
    def sources(self) -> tuple[Stream, ...]:
        return tuple(s for s in self.streams if s.source is None)

    @property
    def sinks(self) -> tuple[Stream, ...]:
        return tuple(s for s in self.streams if s.target is None)

    @cached_property
    def into(self) -> dict[End, tuple[Stream, ...]]:
        """Return the streams into each input interface that has one."""
        found: dict[End, tuple[Stream, ...]] = {}
        for stream in self.streams:
            if stream.target is not None:
                found[stream.target] = (*found.get(stream.target, ()), stream)
        return found

    @cached_property
    def replicated(self) -> frozenset[str]:
        """Return the components with several instances: they say so, or a replicated stream feeds them."""
        # A stream that is sent to every replica says that there are several.
        fed = {s.target.component for s in self.streams if s.replicated and s.target is not None}
        return frozenset(fed | {c.name for c in self.components if c.replicated})

    def with_seal(self, stream: str, key: Attributes) -> Dataflow:
        """Return the dataflow in which producers seal a stream on one more key."""
        return replace(
            self,
            streams=tuple(
                replace(s, seals=(*s.seals, key)) if s.name == stream and key not in s.seals else s
                for s in self.streams
            ),
        )

    def with_ordering(self, components: frozenset[str], ordering: Ordering) -> Dataflow:
        """Return the dataflow in which the inputs of components are ordered."""
        return replace(
            self,
            components=tuple(
                replace(c, ordering=ordering) if c.name in components else c for c in self.components
            ),
        )
