"""Systematic exploration of small scenarios: every schedule once, but for the order of unrelated events.

    from clew.exploration import explore

Read ``event`` for which events are related, ``dpor`` for how one execution of each class is found, ``cuts`` for
how no global state is missed all the same, and ``search`` for the whole.  In virtual time things are simpler: see
``timed``.
"""

from __future__ import annotations

from clew.exploration.event import Footprint, commute, footprint, independent
from clew.exploration.plan import DEFAULT_TIMERS, Bounds
from clew.exploration.result import Exploration, ExplorationAnswer, Found
from clew.exploration.search import Progress, Visit, explore
from clew.exploration.timed.bounds import DEFAULT_CLOCKS, DEFAULT_LATENCIES, TimedBounds

__all__ = [
    "DEFAULT_CLOCKS",
    "DEFAULT_LATENCIES",
    "DEFAULT_TIMERS",
    "Bounds",
    "Exploration",
    "ExplorationAnswer",
    "Footprint",
    "Found",
    "Progress",
    "TimedBounds",
    "Visit",
    "commute",
    "explore",
    "footprint",
    "independent",
]
