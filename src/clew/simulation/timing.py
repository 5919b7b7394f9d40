"""Virtual time: how long messages take, how fast clocks run, and when an execution is over.

A scenario without it leaves open when a message arrives and when a timer goes off: in any order, as DEMi has it.
With it every message and timer has a time at which it is due, and what is due first happens first.  A timer never
goes off early by the clock of its node; so leases, heartbeats and time-outs mean what they say.

Times are whole microseconds inside, and seconds for people: sums of fractions would depend on their order.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import TypeGuard

from clew.errors import UsageError
from clew.simulation.pool import Envelope

#: Seconds, always the same, or the least and the most.
Latency = float | tuple[float, float]

#: Microseconds in a second.
_TICKS = 1_000_000
#: Among those who have looked at a clock: whoever did so in a copy of a node, as an invariant does.
A_COPY = "\0a copy"
#: Longer than any execution: what takes longer than that is a slip, such as milliseconds for seconds.
_MOST_SECONDS = 1e9


@dataclass(frozen=True, kw_only=True)
class VirtualTime:
    """``latency``: how long a message takes, in seconds; one number, or the least and the most of what is drawn.

    ``links``: the same for single links, as in {("a", "b"): 0.2}.  A message to oneself takes no time unless its
    link is named.  ``drift``: by how much clocks may be too fast or too slow, 0.01 for one in a hundred;
    ``clocks``: the speeds of single clocks, 1.0 for one that is right.  An execution ends after ``until`` seconds.
    What is drawn is drawn from the seed of the execution, for each message and each clock by itself.
    """

    latency: Latency = 0.01
    links: Mapping[tuple[str, str], Latency] = field(default_factory=dict)
    drift: float = 0.0
    clocks: Mapping[str, float] = field(default_factory=dict)
    until: float = 60.0

    def __post_init__(self) -> None:
        for name, latency in (("latency", self.latency), *((f"links[{k}]", v) for k, v in self.links.items())):
            _check_latency(name, latency)
        if not (is_number(self.drift) and 0 <= self.drift < 1):
            raise UsageError(f"drift is {self.drift!r}", remedy="give a number from 0 to less than 1: 0.01 is 1 %")
        for node, speed in self.clocks.items():
            if not (is_number(speed) and 0 < speed <= 1000):
                raise UsageError(
                    f"the clock of '{node}' has the speed {speed!r}", remedy="1.0 is right, 1.01 is 1 % too fast"
                )
        if not (is_number(self.until) and 0 < self.until <= _MOST_SECONDS):
            raise UsageError(f"until is {self.until!r}", remedy="give seconds of virtual time, more than 0")

    def latency_between(self, source: str, target: str) -> Latency:
        """Return how long messages from one to the other take."""
        return self.links.get((source, target), 0.0 if source == target else self.latency)

    def has_speed(self, node: str, speed: float) -> bool:
        """Tell whether the clock of a node may run at this speed."""
        if node in self.clocks:
            return speed == self.clocks[node]
        # The bounds themselves are sums of fractions, and so is what is drawn between them.
        return abs(speed - 1.0) <= self.drift + 1e-12

    def with_clocks(self, speeds: Mapping[str, float]) -> VirtualTime:
        """Return the same with all these clocks at given speeds."""
        return replace(self, clocks={**self.clocks, **speeds})

    def refuse_unknown_nodes(self, names: Mapping[str, object]) -> None:
        """Refuse links and clocks of nodes that the scenario does not have."""
        named = [*self.clocks, *(node for link in self.links for node in link if node)]
        for node in named:
            if node not in names:
                raise UsageError(
                    f"the virtual time names the unknown node '{node}'", remedy=f"the nodes are {', '.join(names)}"
                )


class Clock:
    """The virtual time of one execution: what is drawn depends on the seed and on what it is drawn for.

    ``readers``: the nodes that have looked at their clocks, "" for code of the scenario that has looked at the
    time of the world, and ``A_COPY``.  Where nobody does, what happens depends on the order of events alone.
    """

    #: Whether it leaves open when messages arrive.
    is_patient = False

    def __init__(self, timing: VirtualTime, seed: int) -> None:
        self.until = to_ticks(timing.until)
        self.readers: set[str] = set()
        self._timing = timing
        self._seed = seed
        self._speeds: dict[str, float] = {}
        self._windows: dict[tuple[str, str], tuple[int, int]] = {}

    def post(self, envelope: Envelope, now: int) -> None:
        """Decide when a message that is sent now arrives."""
        envelope.due = now + self.draw_latency(envelope.source, envelope.target, envelope.nth)

    def draw_latency(self, source: str, target: str, nth: int) -> int:
        """Return how long the ``nth`` thing that a node sent takes."""
        given = self._timing.latency_between(source, target)
        if not isinstance(given, tuple):
            return self.window(source, target)[0]
        least, most = given
        # By name, not from a stream: what a message takes must not depend on what unrelated nodes did before.
        return to_ticks(least + (most - least) * _drawn(f"{self._seed}/{source}/{target}/{nth}"))

    def window(self, source: str, target: str) -> tuple[int, int]:
        """Return how long a message from one to the other takes: the least and the most."""
        found = self._windows.get((source, target))
        if found is None:
            given = self._timing.latency_between(source, target)
            least, most = given if isinstance(given, tuple) else (given, given)
            found = self._windows[source, target] = to_ticks(least), to_ticks(most)
        return found

    def speed(self, node: str) -> float:
        """Return how fast the clock of a node runs: in each execution the same from its beginning to its end."""
        if node not in self._speeds:
            drift = self._timing.drift
            drawn = 1.0 if not drift else 1.0 - drift + 2 * drift * _drawn(f"{self._seed}/clock/{node}")
            self._speeds[node] = self._timing.clocks.get(node, drawn)
        return self._speeds[node]

    def read(self, node: str, time: int) -> float:
        """Return what the clock of a node says at a time, in seconds, to whoever looks at it."""
        self.readers.add(node)
        return time * self.speed(node) / _TICKS

    def lapse(self, node: str, seconds: float) -> int:
        """Return how long it takes until so many seconds have passed by the clock of a node: never less."""
        return math.ceil(seconds * _TICKS / self.speed(node))


class PatientClock(Clock):
    """Leaves open when a message arrives: at any time from its ``earliest`` until it is ``due``.

    For executions whose schedule says when things happen, and for those in which all orders are tried.
    """

    is_patient = True

    def post(self, envelope: Envelope, now: int) -> None:
        least, most = self.window(envelope.source, envelope.target)
        envelope.earliest, envelope.due = now + least, now + most


def to_ticks(seconds: float) -> int:
    """Return seconds as virtual time is counted."""
    return round(seconds * _TICKS)


def to_seconds(ticks: int) -> float:
    return ticks / _TICKS


def show_time(ticks: int) -> str:
    """Write a time for people: as many digits as it has, but no more than microseconds."""
    return f"{ticks / _TICKS:.6f}".rstrip("0").rstrip(".") + " s"


def check_seconds(what: str, seconds: object) -> float:
    """Return a number of seconds; refuse everything else."""
    if not is_number(seconds) or not 0 <= seconds <= _MOST_SECONDS:
        raise UsageError(f"{what} is {seconds!r}", remedy="give seconds, a number that is at least 0")
    return float(seconds)


def _check_latency(name: str, latency: object) -> None:
    parts = latency if isinstance(latency, tuple) else (latency, latency)
    if len(parts) != 2 or not all(is_number(p) and 0 <= p <= _MOST_SECONDS for p in parts) or parts[0] > parts[1]:
        raise UsageError(
            f"{name} is {latency!r}", remedy="give seconds, as in 0.01, or the least and the most, (0.005, 0.02)"
        )


def is_number(value: object) -> TypeGuard[float]:
    """Tell whether it is a number that can be counted with; True is not."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _drawn(what: str) -> float:
    """Return a number from 0 to less than 1 that depends on nothing but the text."""
    # Not a checksum: those of texts that differ in the last character are near each other.
    digest = blake2b(what.encode("utf-8", "surrogatepass"), digest_size=7).digest()
    return int.from_bytes(digest, "big") / 2**56
