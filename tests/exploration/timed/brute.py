"""The reference for virtual time: every execution that random runs could make of a finite choice, one by one.

It knows nothing of situations, and nothing is left out.  The executions are those of ``RandomRun``, which draws:
here each draw takes the next of all possibilities, for the latency of a message, the speed of a clock, what comes
first of that which is due at one time, and what the network does with a message.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field, fields

from clew.simulation.events import Elapse
from clew.simulation.execution.steps import Do
from clew.simulation.fuzzing.random_run import RandomRun
from clew.simulation.pool import OUTSIDE, Envelope, TimedPool
from clew.simulation.scenario import Scenario
from clew.simulation.timing import Clock, to_ticks
from clew.simulation.world import CodeBlock, External, Wait, WaitCondition, World
from exploration.brute import TooManyError


@dataclass(frozen=True)
class Grid:
    """How many latencies and speeds are tried, and how often a link may lose or duplicate a message."""

    latencies: int = 2
    clocks: int = 2
    losses: int = 0
    duplicates: int = 0


@dataclass
class Reached:
    """What all executions together come to."""

    executions: int = 0
    states: set[Hashable] = field(default_factory=set)
    ends: set[Hashable] = field(default_factory=set)
    violations: set[str] = field(default_factory=set)


class Tape:
    """The choices of one execution: those that are given, then the first possibility of each."""

    def __init__(self, given: list[int]) -> None:
        self.made = given
        self.counts: list[int] = []

    def choose(self, number: int) -> int:
        place = len(self.counts)
        self.counts.append(number)
        if place == len(self.made):
            self.made.append(0)
        return self.made[place]

    def next(self) -> list[int] | None:
        """Return the choices of the next execution, as in counting; None after the last."""
        for place in reversed(range(len(self.counts))):
            if self.made[place] + 1 < self.counts[place]:
                return [*self.made[:place], self.made[place] + 1]
        return None


class TapedClock(Clock):
    def __init__(self, scenario: Scenario, grid: Grid, tape: Tape) -> None:
        assert scenario.time is not None
        super().__init__(scenario.time, 0)
        self._time = scenario.time
        self._grid = grid
        self._tape = tape
        self.chosen: dict[str, float] = {}

    def draw_latency(self, source: str, target: str, nth: int) -> int:
        given = self._time.latency_between(source, target)
        if not isinstance(given, tuple):
            return to_ticks(given)
        least, most = map(to_ticks, given)
        number = self._grid.latencies
        values = sorted({least + (most - least) * k // (number - 1) for k in range(number)})
        return values[self._tape.choose(len(values))]

    def speed(self, node: str) -> float:
        if node in self._time.clocks:
            return self._time.clocks[node]
        if node not in self.chosen:
            number, drift = self._grid.clocks, self._time.drift
            values = sorted({1 - drift + 2 * drift * k / (number - 1) for k in range(number)})
            self.chosen[node] = values[self._tape.choose(len(values))]
        return self.chosen[node]


class TapedScenario(Scenario):
    """A scenario whose worlds have a clock that takes what comes next on a tape."""

    def world(self, seed: int = 0, *, recording: bool = False, clock: Clock | None = None) -> World:
        return super().world(seed, recording=recording, clock=TapedClock(self, *_tapes[id(self)]))


#: Of scenarios that are being executed, what their worlds are made with.
_tapes: dict[int, tuple[Grid, Tape]] = {}


class TapedRun(RandomRun):
    """A random run whose draws come from a tape."""

    def __init__(self, scenario: TapedScenario, grid: Grid, tape: Tape) -> None:
        self._tape, self._grid = tape, grid
        self._used: dict[tuple[Do, str, str], int] = {}
        _tapes[id(scenario)] = grid, tape
        super().__init__(scenario, 0)

    def _next_due(self, pool: TimedPool) -> bool:
        assert self.world.clock is not None
        together = pool.list_due(self.world.ticks)
        place = 0
        # What is due beyond the end of the time never happens, in whatever order.
        if together and together[0].due <= self.world.clock.until:
            place = self._tape.choose(len(together))
        self._draw = lambda: (place + 0.5) / len(together)
        return super()._next_due(pool)

    def _fate(self, envelope: Envelope) -> Do:
        fates = [Do.DELIVER]
        if envelope.source != envelope.target:
            for fate, most in ((Do.LOSE, self._grid.losses), (Do.DUPLICATE, self._grid.duplicates)):
                if self._used.get((fate, envelope.source, envelope.target), 0) < most:
                    fates.append(fate)
        fate = fates[self._tape.choose(len(fates))]
        if fate is not Do.DELIVER:
            key = (fate, envelope.source, envelope.target)
            self._used[key] = self._used.get(key, 0) + 1
        return fate

    def situation(self) -> Hashable:
        """Return all that decides what can follow."""
        world, clock = self.world, self.world.clock
        assert isinstance(clock, TapedClock)
        left: list[External] = [*([self._waiting] if self._waiting else []), *self._before, *self._after]
        while left and isinstance(left[-1], Wait):
            left.pop()
        since = (self._since if self._waiting else world.ticks) if left and isinstance(left[0], Elapse) else 0
        looks = any(isinstance(event, CodeBlock | WaitCondition) for event in left)
        nodes = tuple((name, tuple(sorted(vars(node).items()))) for name, node in world.nodes.items())
        stored = tuple((name, repr(dict(kept))) for name, kept in sorted(world._durable.items()) if kept)
        used = frozenset(self._used.items())
        chosen, lives = frozenset(clock.chosen.items()), frozenset(world._lives.items())
        numbers = (world.events, frozenset(world._sent.items())) if looks else ()
        on_its_way = _network(world, self._scenario.is_fifo, looks)
        return world.ticks, nodes, stored, used, chosen, lives, len(left), since, on_its_way, numbers


def _network(world: World, fifo: bool, looks: bool) -> Hashable:
    pool = world.pool
    assert isinstance(pool, TimedPool)
    lines: dict[tuple[str, str], list[Hashable]] = {}
    for envelope in sorted(pool, key=lambda e: e.nth):
        due = envelope.due if envelope.timer else max(envelope.due, world.ticks)
        numbers = (envelope.nth, envelope.cause) if looks else ()
        link = ("timer", envelope.target) if envelope.timer else (envelope.source, envelope.target)
        lines.setdefault(link, []).append((due, repr(envelope.payload), numbers))
    ordered = {
        link: tuple(line) if fifo and link[0] not in (OUTSIDE, "timer") else tuple(sorted(map(repr, line)))
        for link, line in lines.items()
    }
    latest = frozenset((link, time) for link, time in pool._latest.items() if time > world.ticks)
    return frozenset(ordered.items()), tuple(pool.held), latest


def reach(scenario: Scenario, grid: Grid, most: int) -> Reached:
    """Make every execution; ``most`` is a limit on their number."""
    taped = TapedScenario(**{field.name: getattr(scenario, field.name) for field in fields(scenario)})
    reached = Reached()
    given: list[int] | None = []
    while given is not None:
        tape = Tape(given)
        _make(TapedRun(taped, grid, tape), reached)
        reached.executions += 1
        if reached.executions > most:
            raise TooManyError
        given = tape.next()
    return reached


def _make(run: TapedRun, reached: Reached) -> None:
    """Make one execution, and note what it comes to."""
    while run.broken is None:
        situation, events = run.situation(), run.world.events
        reached.states.add(situation)
        if not run.go_on(1) and run.world.events == events:
            reached.ends.add(situation)
            if run.broken is not None:  # a promise
                reached.violations.add(run._scenario.same(run.broken, run.world))
            return
    identity = run._scenario.same(run.broken, run.world)
    reached.states.add((run.situation(), identity))
    reached.violations.add(identity)
