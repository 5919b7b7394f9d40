"""How a scenario that is a coroutine function is executed."""

from __future__ import annotations

from dataclasses import dataclass, field
from collections.abc import Mapping, Sequence
from typing import Any

from clew.simulation.injectable import Faults

#: What a scenario is called where it stands beside its hosts.
CLIENT = "client"
#: The time of day at which executions begin: 2001-09-09 01:46:40 UTC, the same for all.
EPOCH = 1_000_000_000.0


@dataclass(frozen=True, kw_only=True)
class Settings:
    """``latency``, ``links``, ``drift``: see ``VirtualTime``.  ``until``: by then the scenario has to return.

    ``loss``, ``duplication``: how likely a packet is lost or arrives twice in random executions.
    ``faults``: what ``clew check`` may do to it.  ``segment``: the most bytes that travel in one piece.
    ``steps``: so many events are an execution at most.  ``step_seconds``: no event takes longer, in real time.
    ``client``: what the scenario itself is called.  ``decoder``: says what packets are called.
    ``unit``: what a fault hits of a stream.
    """

    latency: float | tuple[float, float] = 0.01
    links: Mapping[tuple[str, str], float | tuple[float, float]] = field(default_factory=dict)
    drift: float = 0.0
    until: float = 3600.0
    loss: float = 0.0
    duplication: float = 0.0
    faults: Faults | None = None
    segment: int = 64 * 1024
    steps: int = 100_000
    step_seconds: float = 10.0
    client: str = CLIENT
    decoder: Any = None
    unit: str = "connection"
    lineage: str = "tasks"
    expect: str | None = None
    expect_faults: int | None = None
    hosts: Sequence[str] = ()
