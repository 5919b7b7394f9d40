"""What can happen in an execution: things done to the cluster from outside, and deliveries inside it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from clew.simulation.world import World


@dataclass(frozen=True)
class Start:
    """A process comes into being, or back after a ``Stop``: its durable storage is what it was."""

    node: str


@dataclass(frozen=True)
class Stop:
    """A process ends without a word.  What is on its way to it gets lost."""

    node: str


@dataclass(frozen=True)
class Restart:
    """A crash and an immediate recovery: everything but the durable storage is lost."""

    node: str


@dataclass(frozen=True)
class Send:
    """A message from outside.  It can be delivered at any time from now on, in any order with others."""

    node: str
    message: Any


@dataclass(frozen=True)
class Partition:
    """Nothing gets from ``source`` to ``target`` until it heals, nor back unless it is ``one_way``."""

    source: str
    target: str
    one_way: bool = False


@dataclass(frozen=True)
class Heal:
    """The end of a partition; without names, of all."""

    source: str = ""
    target: str = ""


@dataclass(frozen=True)
class WaitQuiescence:
    """Go on when no message is left that could be delivered.

    Timers do not count, but at the end of a scenario in which nothing has been delivered: see ``Scenario``.
    """


@dataclass(frozen=True)
class WaitCondition:
    """Go on when the condition holds, at the end of a scenario: be done; ``name`` stands for it in recordings.

    It only looks at the world.
    """

    name: str
    condition: Callable[[World], bool] = field(compare=False, repr=False)


@dataclass(frozen=True)
class CodeBlock:
    """Do something to the cluster that has no name of its own; ``name`` stands for it in recordings.

    It may do anything that the world can, also ``world.inject`` other events, and is one event all the same.
    """

    name: str
    action: Callable[[World], None] = field(compare=False, repr=False)


#: What is no event of its own: it says until when the next one waits.
Wait = WaitQuiescence | WaitCondition

External = Start | Stop | Restart | Send | Partition | Heal | WaitQuiescence | WaitCondition | CodeBlock
