"""Schedules in virtual time: what happens, when, and how odd that is.

Messages are named by what they are in other executions, too: the how many-th of their type on their link.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from clew.minimization.searching.search import Plain
from clew.simulation.events import Elapse, Send
from clew.simulation.execution.steps import Act, At, Do, Pause, Size, Step
from clew.simulation.pool import OUTSIDE, Link
from clew.simulation.scenario import Scenario
from clew.simulation.timing import Clock, to_ticks
from clew.simulation.world import External

#: An event from outside, by its number in ``TimedTarget.externals``.
ExternalName = int


class EnvelopeName(NamedTuple):
    """A message: the ``nth`` of its ``kind`` on its link, from 1 on.  A timer: the ``nth`` time it goes off."""

    source: str
    target: str
    kind: str
    timer: bool
    nth: int


class Happening(NamedTuple):
    """Something that happens, or is to: ``time`` is when, ``latency`` how long a message takes till then."""

    name: ExternalName | EnvelopeName
    do: Do
    time: int
    latency: int = 0


class TimedSchedule(NamedTuple):
    """``speeds``: how fast the clock of each node of the scenario runs, in their order."""

    items: tuple[Happening, ...]
    speeds: tuple[float, ...]


@dataclass(frozen=True)
class TimedTarget:
    """What is being minimized: executions of ``scenario`` that end in the violation ``identity``.

    ``externals`` are all events from outside that a schedule may use, ``times`` when they were recorded; none
    comes later than that.  ``waits``: how long the scenario lets pass (``Elapse``) before each, all together: the
    difference lies at least between any two of them.
    """

    scenario: Scenario
    seed: int
    externals: tuple[External, ...]
    times: tuple[int, ...]
    waits: tuple[int, ...]
    identity: str
    #: By link, the least and the most that a message takes; a cache, filled as it is needed.
    windows: dict[Link, tuple[int, int]] = field(default_factory=dict, repr=False, compare=False)

    def pack(self, schedule: TimedSchedule) -> Plain:
        return schedule

    def unpack(self, packed: Plain) -> TimedSchedule:
        assert isinstance(packed, TimedSchedule)
        return packed

    def with_externals(self, externals: tuple[External, ...]) -> TimedTarget:
        return replace(self, externals=externals)

    def is_free(self, node: str) -> bool:
        """Tell whether the clock of a node may run at another speed."""
        assert self.scenario.time is not None
        return bool(self.scenario.time.drift) and node not in self.scenario.time.clocks

    def find_window(self, name: EnvelopeName) -> tuple[int, int]:
        """Return how long a message takes: the least and the most."""
        link = (name.source, name.target)
        if link not in self.windows:
            assert self.scenario.time is not None
            self.windows[link] = Clock(self.scenario.time, 0).window(*link)
        return self.windows[link]


def split_timed(
    scenario: Scenario, seed: int, steps: Iterable[Step], identity: str, speeds: Sequence[float]
) -> tuple[TimedTarget, TimedSchedule]:
    """Return what is minimized, and what of the schedule a recording says: what comes from outside, and when."""
    externals: list[External] = []
    times: list[int] = []
    waits: list[int] = []
    items: list[Happening] = []
    time = waited = 0
    for step in steps:
        if isinstance(step, At):
            time = step.time
        elif isinstance(step, Elapse):
            waited += to_ticks(step.seconds)
        elif not isinstance(step, Act | Pause):
            items.append(Happening(len(externals), Do.DELIVER, time))
            externals.append(step)
            times.append(time)
            waits.append(waited)
    target = TimedTarget(scenario, seed, tuple(externals), tuple(times), tuple(waits), identity)
    return target, TimedSchedule(tuple(items), tuple(speeds))


# -- how small, and how odd --------------------------------------------------------------------------------------


def measure(target: TimedTarget, schedule: TimedSchedule) -> Size:
    """Measure an execution, as every recording is measured."""
    deliveries = externals = 0
    for item in schedule.items:
        if isinstance(item.name, int):
            externals += not isinstance(target.externals[item.name], Send)
        elif item.do is Do.DELIVER:
            deliveries += 1
            externals += item.name.source == OUTSIDE
        else:
            externals += 1
    return Size(deliveries, externals)


class Weight(NamedTuple):
    """What makes one execution better than another: fewer events, then fewer from outside, then simpler times.

    Losses and copies come from outside, too: what is lost without need would only make a reader ask why.
    ``odd``: how many times are not the simplest that there are; ``digits``: how many they have, in seconds.
    """

    events: int
    outside: int
    odd: int
    digits: int


def weigh(target: TimedTarget, schedule: TimedSchedule) -> Weight:
    """Return what an execution is compared by."""
    outside = odd = digits = 0
    for item in schedule.items:
        if isinstance(item.name, int):
            outside += 1
            odd += item.time > 0
            digits += count_digits(item.time)
            continue
        outside += item.do is not Do.DELIVER
        if not item.name.timer and item.latency != target.find_window(item.name)[0]:
            odd += 1
            digits += count_digits(item.latency)
    for node, speed in zip(target.scenario.nodes, schedule.speeds, strict=True):
        if target.is_free(node) and speed != 1.0:
            odd += 1
            digits += len(repr(speed))
    return Weight(len(schedule.items), outside, odd, digits)


def count_digits(ticks: int) -> int:
    """Count the digits behind the point that a time in seconds has."""
    digits = 6
    while digits and ticks % 10 == 0:
        ticks //= 10
        digits -= 1
    return digits


# -- what comes from outside -------------------------------------------------------------------------------------


def find_earliest(target: TimedTarget, number: ExternalName, others: Iterable[Happening]) -> int:
    """Return when an event from outside may come at the earliest, with these others."""
    earliest = target.waits[number]
    for other in others:
        if isinstance(other.name, int) and other.name < number:
            apart = target.waits[number] - target.waits[other.name]
            if apart:
                earliest = max(earliest, other.time + apart)
    return earliest


def keep_apart(target: TimedTarget, items: Sequence[Happening]) -> list[Happening]:
    """Return the items with events from outside as far apart as the scenario lets pass between them."""
    outside = sorted((item for item in items if isinstance(item.name, int)), key=lambda item: item.name)
    kept: list[Happening] = []
    for item in outside:
        assert isinstance(item.name, int)
        earliest = find_earliest(target, item.name, kept)
        kept.append(item._replace(time=min(max(item.time, earliest), target.times[item.name])))
    moved = {item.name: item for item in kept}
    return [moved[item.name] if isinstance(item.name, int) else item for item in items]
