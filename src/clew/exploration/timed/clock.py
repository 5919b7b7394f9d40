"""A clock that is told what messages and clocks do: each choice is one of a few, and they are counted.

An execution is followed again with the choices that it was made with.  Beyond these the first possibility is taken
each time, and noted together with how many there were, so that whoever explores can come back for the others.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from clew.exploration.timed.bounds import TimedBounds
from clew.simulation.pool import Envelope
from clew.simulation.timing import Clock, VirtualTime


class Pick(NamedTuple):
    """One of several possibilities was taken: for the clock of a ``node``, or for a message ("")."""

    node: str
    place: int


class ChoosingClock(Clock):
    """``picks`` were made since ``begin``, each out of so many as ``counts`` says.

    ``is_watched``: invariants, promises or conditions are asked now.  What these ask for is not chosen:
    ``glanced`` are the nodes whose clocks they looked at before any handler did.
    """

    def __init__(self, timing: VirtualTime, seed: int, bounds: TimedBounds) -> None:
        super().__init__(timing, seed)
        self.picks: list[Pick] = []
        self.counts: list[int] = []
        self.is_watched = False
        self.glanced: set[str] = set()
        self._bounds = bounds
        self._given: tuple[Pick, ...] = ()

    def begin(self, picks: Iterable[Pick]) -> None:
        """Make these choices in what happens next."""
        self._given = tuple(picks)
        self.picks.clear()
        self.counts.clear()

    @property
    def is_as_given(self) -> bool:
        """Tell whether the choices that were given were asked for in this order, as far as they were."""
        return all(made == given for made, given in zip(self.picks, self._given, strict=False))

    def post(self, envelope: Envelope, now: int) -> None:
        latencies = self._bounds.latencies[envelope.source, envelope.target]
        envelope.due = now + latencies[self._choose("", len(latencies))]

    def speed(self, node: str) -> float:
        # When it is first asked for: what nobody asks for makes no difference, and need not be chosen.
        if node not in self._speeds:
            speeds = self._bounds.speeds[node]
            # An invariant is not asked again when an execution is followed again, and would choose nothing then.
            if self.is_watched and len(speeds) > 1:
                self.glanced.add(node)
                return speeds[0]
            self._speeds[node] = speeds[self._choose(node, len(speeds))]
        return self._speeds[node]

    def read_speeds(self) -> tuple[tuple[str, float], ...]:
        """Return how fast the clocks run that were asked for."""
        return tuple(sorted(self._speeds.items()))

    def _choose(self, node: str, number: int) -> int:
        if number == 1:
            return 0
        done = len(self.picks)
        place = self._given[done].place if done < len(self._given) else 0
        if place >= number:
            place = 0  # it is about something else than before: noticed by ``is_as_given``
        self.picks.append(Pick(node, place))
        self.counts.append(number)
        return place
