"""What is done to a cluster from outside, as plain data.

Two more events, ``WaitCondition`` and ``CodeBlock``, hold functions of the world and are beside it in ``world``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


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
class Elapse:
    """Go on when so many seconds of virtual time have passed; only where the scenario has virtual time."""

    seconds: float
