"""Deterministic simulation of Python nodes: what a scenario is written with.

    from clew.simulation import Node, Scenario, Send, Start

Read ``node`` for what a process is, ``scenario`` for a test configuration, ``world`` for what an event does, and
``random_run`` for a schedule.  The schedule is separate from all of these: a world is driven from outside, one
event at a time.
"""

from __future__ import annotations

from clew.simulation.events import Elapse, Heal, Partition, Restart, Send, Start, Stop, WaitQuiescence
from clew.simulation.injectable import Faults
from clew.simulation.node import Context, Node
from clew.simulation.scenario import Broken, Kept, Network, Scenario
from clew.simulation.timing import VirtualTime
from clew.simulation.world import CodeBlock, External, WaitCondition, World

__all__ = [
    "Broken",
    "CodeBlock",
    "Context",
    "Elapse",
    "External",
    "Faults",
    "Heal",
    "Kept",
    "Network",
    "Node",
    "Partition",
    "Restart",
    "Scenario",
    "Send",
    "Start",
    "Stop",
    "VirtualTime",
    "WaitCondition",
    "WaitQuiescence",
    "World",
]
