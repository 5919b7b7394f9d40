"""What an exploration comes to: the violations it found, and what it does not cover though it came to its end.

Of each violation one schedule is kept, the shortest seen.  Whatever keeps "nothing found" from being a certificate
is a *gap*: executions that were cut short, random draws, waits that never end, scenarios in which no handler
runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from clew.exploration.driver import Driver
from clew.exploration.event import Event, Rank, steps_of
from clew.exploration.plan import Item
from clew.exploration.repetition import NotRepeatableError
from clew.exploration.result import Found
from clew.exploration.system import System
from clew.simulation.events import Restart, Start
from clew.simulation.execution.steps import describe
from clew.simulation.scenario import Scenario
from clew.simulation.user_code import ask
from clew.simulation.world import CodeBlock, External, WaitCondition, World


class Findings:
    """``states`` counts the different global states that invariants looked at."""

    def __init__(self, system: System) -> None:
        self.states = 0
        self._system = system
        self._checked: dict[tuple[tuple[str, ...], tuple[int, ...]], str | None] = {}
        self._shortest: dict[str, tuple[Event, ...]] = {}
        #: Holds the nodes of one global state after another, for invariants to look at.
        self._view = system.world()

    def __len__(self) -> int:
        return len(self._shortest)

    def at_first(self) -> None:
        """Keep the exception of a node that is up from the beginning and raised before the first event."""
        if self._view.failure is not None:
            self._keep(self._identity(), ())

    def event(self, event: Event, execution: list[Event]) -> None:
        """Keep an event in which a handler raised, unless one raised before it."""
        if event.failure is None:
            return
        past = tuple(e for e in execution if event.is_after(e))
        # What is raised after an exception may follow from it.
        if all(e is event or e.failure is None for e in past):
            self._view.failure = event.failure
            self._keep(self._identity(), past)

    def state(self, up: tuple[str, ...], local: tuple[int, ...]) -> str | None:
        """Return the identity of what is broken in the global state of these local histories, if anything is."""
        # By histories and not by states: those need not be compared, or even be comparable.
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
        """Keep a schedule after which this is broken."""
        self._shortest[identity] = events

    def is_shorter(self, identity: str, size: int) -> bool:
        """Tell whether a schedule of this many events is shorter than what is known."""
        return identity not in self._shortest or size < len(self._shortest[identity])

    def collect(self, *, interrupted: bool) -> tuple[Found, ...]:
        """Return the violations, each shown by an execution, the shortest first.

        Nothing else breaks on the way to the first: the schedule to that would be shorter.
        """
        if interrupted:
            self._look_on_the_way()
        return tuple(self._confirm(identity, events) for identity, events in self._sort_by_length())

    def _sort_by_length(self) -> list[tuple[str, tuple[Event, ...]]]:
        return sorted(self._shortest.items(), key=lambda item: (len(item[1]), item[0]))

    def _look_on_the_way(self) -> None:
        """Look at the states before the first violation, if they were not yet: cuts come the largest first."""
        for _, events in self._sort_by_length()[:1]:
            for size in range(len(events)):
                world = Driver(self._system, list(events[:size]), size).world
                broken = self._system.scenario.look(world)
                if broken is not None:
                    self._keep(self._system.scenario.same(broken, world), events[:size])
                    return

    def _confirm(self, identity: str, events: tuple[Event, ...]) -> Found:
        scenario = self._system.scenario
        world = Driver(self._system, list(events), len(events)).world
        broken = scenario.look(world)
        if broken is None or scenario.same(broken, world) != identity:
            raise NotRepeatableError(f"a violation ({identity}) is gone when the same schedule is executed again")
        return Found(broken, identity, steps_of(events), world.failure.trace if world.failure else None)


#: How often a condition is asked in one state; a coin would give one answer that often in 1 of 128 cases.
#: Asking is cheap, and each answer decides about a whole phase.
_ASKED = 8


class Covered(Protocol):
    """What is asked of whatever is explored, in any order or in virtual time."""

    scenario: Scenario
    seed: int
    names: tuple[str, ...]
    drew: set[str]
    plan: tuple[Item, ...]
    at_last: tuple[WaitCondition, ...]

    @property
    def drew_globally(self) -> bool: ...


class Coverage:
    """``is_all``: there was nothing left to explore.  ``waiting``: schedules that end in a wait."""

    def __init__(self, system: Covered) -> None:
        self.is_all = False
        self.waiting = 0
        self._system = system
        self._cut_short = False
        self._handled = False
        self._items = 0
        self._unmet = list(system.at_last)

    def note(self, execution: Sequence[Event], *, cut_short: bool = False) -> None:
        """Take an execution into account."""
        items = sum(event.key.rank is Rank.OUTSIDE for event in execution)
        self.reach(items, handled=any(map(_executes_user_code, execution)), cut_short=cut_short)

    def reach(self, items: int, *, handled: bool, cut_short: bool = False) -> None:
        """Take into account how many events from outside there were, and whether code of the user ran."""
        self._items = max(self._items, items)
        self._handled = self._handled or handled
        self._cut_short = self._cut_short or cut_short

    @property
    def asks_at_last(self) -> bool:
        """Tell whether a condition that is awaited at the end is not known to hold anywhere yet."""
        return bool(self._unmet)

    def ask_at_last(self, world: World) -> None:
        """Ask what is awaited at the end, in a state after all events from outside."""
        self._unmet = [wait for wait in self._unmet if not holds(wait, world)]

    @property
    def is_complete(self) -> bool:
        """Tell whether all that is to happen happened somewhere, and no execution was cut short."""
        return self.is_all and not self._cut_short and not self.undone

    @property
    def drew(self) -> tuple[str, ...]:
        return tuple(name for name in self._system.names if name in self._system.drew)

    @property
    def undone(self) -> tuple[External, ...]:
        """Return the events from outside that no execution came to."""
        if not self.is_all:
            return ()
        return tuple(item.event for item in self._system.plan[self._items :] if item.event is not None)

    def gaps(self) -> Iterator[str]:
        """Yield in words what keeps this from being a certificate."""
        if self._cut_short:
            yield f"executions were cut short at {self._system.scenario.steps} steps"
        if self.drew:
            who = f"{', '.join(self.drew)} {'draws' if len(self.drew) == 1 else 'draw'}"
            yield f"{who} random numbers, and only those of seed {self._system.seed} are tried"
        if self._system.drew_globally:
            yield "something draws from the module random, and only what it drew this time is tried"
        if self._system.scenario.promises and self._system.scenario.time is None:
            # States are looked at in any order, and not as the ends of executions.
            yield "what the scenario promises at the end is not looked at without virtual time"
        if self.is_complete:
            for condition in self._unmet:
                yield f"'{describe(condition)}' at the end never ends: it holds in no state after all events"
        if self.undone:
            gate = self._system.plan[self._items].gate
            wait = (
                f"'{describe(gate)}' never ends, so what follows never happens" if gate else "what never happens"
            )
            yield f"{wait}: {', '.join(map(describe, self.undone))}"
        elif self.is_complete and not self._handled:
            yield "no handler runs: no message arrives, no timer goes off, no node starts"


def holds(wait: WaitCondition, world: World) -> bool:
    """Ask whether a condition holds, several times: it must say the same of the same state."""
    what = f"the condition '{wait.name}'"
    remedy = "it must cope with every state of the world"
    answers = {bool(ask(what, wait.condition, world, remedy=remedy)) for _ in range(_ASKED)}
    if len(answers) > 1:
        raise NotRepeatableError(f"{what} holds and does not hold in the same state")
    return answers.pop()


def _executes_user_code(event: Event) -> bool:
    """Tell whether an event runs a handler or a code block; partitions, for one, run neither."""
    return event.key.rank in (Rank.DELIVER, Rank.TIMER) or isinstance(event.step, Start | Restart | CodeBlock)
