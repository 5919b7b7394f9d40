"""What breaks in the global states and events of an exploration: one schedule for each violation, a short one."""

from __future__ import annotations

from clew.exploration.driver import Driver
from clew.exploration.event import Event, steps_of
from clew.exploration.repetition import NotRepeatableError
from clew.exploration.result import Found
from clew.exploration.system import System


class Findings:
    """``states`` counts the different global states that invariants looked at."""

    def __init__(self, system: System) -> None:
        self.states = 0
        self._system = system
        self._checked: dict[tuple[tuple[str, ...], tuple[int, ...]], str | None] = {}
        self._shortest: dict[str, tuple[Event, ...]] = {}
        #: Other nodes are put into this world for invariants to look at.
        self._view = system.world()

    def __len__(self) -> int:
        return len(self._shortest)

    def at_first(self) -> None:
        """A node that is up from the beginning may have raised before the first event."""
        if self._view.failure is not None:
            self._keep(self._identity(), ())

    def event(self, event: Event, execution: list[Event]) -> None:
        """A handler raised in it?  Only the first such event counts, not what follows from it."""
        if event.failure is None:
            return
        past = tuple(e for e in execution if event.is_after(e))
        if all(e is event or e.failure is None for e in past):
            self._view.failure = event.failure
            self._keep(self._identity(), past)

    def state(self, up: tuple[str, ...], local: tuple[int, ...]) -> str | None:
        """The identity of what is broken in the global state of these local histories, if anything is."""
        if (up, local) not in self._checked:
            self.states += 1
            self._view.failure = None
            self._view.nodes = self._system.nodes(up, local)
            self._checked[up, local] = self._identity()
        return self._checked[up, local]

    def _identity(self) -> str | None:
        scenario = self._system.scenario
        broken = scenario.look(self._view)
        return None if broken is None else scenario.same(broken, self._view)

    def _keep(self, identity: str | None, events: tuple[Event, ...]) -> None:
        if identity is not None and self.is_shorter(identity, len(events)):
            self._shortest[identity] = events

    def keep(self, identity: str, events: tuple[Event, ...]) -> None:
        """A schedule after which this is broken."""
        self._shortest[identity] = events

    def is_shorter(self, identity: str, size: int) -> bool:
        """Whether a schedule of this many events is shorter than what is known."""
        return identity not in self._shortest or size < len(self._shortest[identity])

    def found(self, *, interrupted: bool) -> tuple[Found, ...]:
        """Return the violations, each shown by an execution, the shortest first.

        Nothing else breaks on the way to the first: the schedule to that would be shorter.
        """
        if interrupted:
            self._look_on_the_way()
        return tuple(self._shown(identity, events) for identity, events in self._ordered())

    def _ordered(self) -> list[tuple[str, tuple[Event, ...]]]:
        return sorted(self._shortest.items(), key=lambda item: (len(item[1]), item[0]))

    def _look_on_the_way(self) -> None:
        """Look at the states before the first violation, if they were not yet: cuts come the largest first."""
        for _, events in self._ordered()[:1]:
            for size in range(len(events)):
                world = Driver(self._system, list(events[:size]), size).world
                broken = self._system.scenario.look(world)
                if broken is not None:
                    self._keep(self._system.scenario.same(broken, world), events[:size])
                    return

    def _shown(self, identity: str, events: tuple[Event, ...]) -> Found:
        scenario = self._system.scenario
        world = Driver(self._system, list(events), len(events)).world
        broken = scenario.look(world)
        if broken is None or scenario.same(broken, world) != identity:
            raise NotRepeatableError(f"a violation ({identity}) is gone when the same schedule is executed again")
        return Found(broken, identity, steps_of(events), world.failure.trace if world.failure else None)
