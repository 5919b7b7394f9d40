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
class Read:
    """Another input of a component, which sees what the sealed one stores.

    ``key``: its columns that name the partition, in the order of the key of the seal; none if it is about all.
    """

    interface: str
    key: Columns = ()


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
class SealPlan:
    """Hold back what enters a component at an interface until its partition by ``key`` is complete.

    ``component``: the name that the module is imported under; empty if the class is the component.
    ``one_by_one``: rows replace what is stored, so they are applied one after the other.  ``independent``: every
    partition has one producer.
    """

    component: str
    interface: str
    key: Columns
    reads: tuple[Read, ...] = ()
    one_by_one: bool = False
    independent: bool = False
    source: Source | None = None


@dataclass(frozen=True)
class Ordered:
    """A component, or the class (empty), and those of its inputs that are ordered."""

    component: str
    interfaces: tuple[str, ...]


@dataclass(frozen=True)
class OrderPlan:
    """One total order for the inputs of all these components."""

    components: tuple[Ordered, ...]
    service: Service = Service.SEQUENCER


Plan = SealPlan | OrderPlan
