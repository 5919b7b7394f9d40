"""What is to be coordinated and how: between the verdict of the analysis and the program that is made of it."""

from __future__ import annotations

import enum
from dataclasses import dataclass

Columns = tuple[str, ...]


class Service(enum.Enum):
    """Who decides a total order; the value is what the command line calls it."""

    SEQUENCER = "sequencer"  # a node of our own
    ZOOKEEPER = "zookeeper"


@dataclass(frozen=True)
class Consumers:
    """The column of a table of the system that says where the rows of the sealed stream go."""

    table: str
    column: str


@dataclass(frozen=True)
class Source:
    """Where the sealed stream enters the system: its interface there, and the columns of the key by their names
    there.  ``consumers``: None if it could not be found out, and then a table of its own is declared.
    """

    stream: str
    key: Columns
    consumers: Consumers | None = None


@dataclass(frozen=True)
class SealedInput:
    """An input of a component that is held back until its partition by ``key`` is complete.

    ``source``: None if the class is the component, and punctuations are given to it.
    """

    interface: str
    key: Columns
    source: Source | None = None


@dataclass(frozen=True)
class Read:
    """Another input of a component, which sees what the sealed ones store.

    ``key``: its columns that name the partition, in the order of the key of the seal; none if it is about all.
    ``group``: the number of the group of inputs that the partition is of.
    """

    interface: str
    key: Columns = ()
    group: int = 0


@dataclass(frozen=True)
class SealedComponent:
    """A component, or the class (empty), and what is held back.

    ``groups``: the sealed inputs; those of one group have their partitions in common, and a partition is let in
    when it is complete at all of them.  ``one_by_one``: rows replace what is stored, so they are applied one after
    the other.  ``watched``: the collections that show whether the component has settled; None if it always has.
    """

    component: str
    groups: tuple[tuple[SealedInput, ...], ...]
    reads: tuple[Read, ...] = ()
    one_by_one: bool = False
    watched: Columns | None = None

    @property
    def inputs(self) -> tuple[SealedInput, ...]:
        return tuple(one for group in self.groups for one in group)


@dataclass(frozen=True)
class SealPlan:
    """Hold back what enters components.  ``independent``: every partition has one producer."""

    components: tuple[SealedComponent, ...]
    independent: bool = False


@dataclass(frozen=True)
class Ordered:
    """A component, or the class (empty), and those of its inputs that are ordered.

    ``watched``: the collections that show whether it has settled; None if it always has.
    """

    component: str
    interfaces: tuple[str, ...]
    watched: Columns | None = None


@dataclass(frozen=True)
class OrderPlan:
    """One total order for the inputs of all these components."""

    components: tuple[Ordered, ...]
    service: Service = Service.SEQUENCER


Plan = SealPlan | OrderPlan
