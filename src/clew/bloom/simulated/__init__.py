"""Bloom programs as executions: on the simulation's world, with real timers and all that a program can say.

    from clew.bloom.simulated import bloom_scenario, insert

``scenarios`` is what a scenario file is written with.  ``node`` says what an event does to a program,
``bloom_run`` what a program is while it runs, ``programs`` how each life of a node gets one.  ``contents`` is what
invariants see of it, ``messages`` what travels, and ``contributions`` is for lineage: from which collections the
effects of a step came.
"""

from __future__ import annotations

from clew.bloom.simulated.messages import insert, message_type
from clew.bloom.simulated.node import BloomNode
from clew.bloom.simulated.scenarios import bloom_node, bloom_scenario, no_row_is_refused, row_messages

__all__ = [
    "BloomNode",
    "bloom_node",
    "bloom_scenario",
    "insert",
    "message_type",
    "no_row_is_refused",
    "row_messages",
]
