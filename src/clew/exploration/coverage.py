"""What an exploration does not cover, though it came to its end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clew.exploration.event import Event, Rank
from clew.exploration.repetition import NotRepeatableError
from clew.exploration.system import System
from clew.simulation.events import Restart, Start
from clew.simulation.execution.steps import describe
from clew.simulation.user_code import ask
from clew.simulation.world import CodeBlock, External, WaitCondition, World

#: How often a condition is asked in one state; a coin says the same so often in one of 128 cases.
_ASKED = 8


class Coverage:
    """``is_all``: there was nothing left to explore.  ``waiting``: schedules that end in a wait."""

    def __init__(self, system: System) -> None:
        self.is_all = False
        self.waiting = 0
        self._system = system
        self._cut_short = False
        self._handled = False
        self._items = 0
        self._unmet = list(system.at_last)

    def note(self, execution: Sequence[Event], *, cut_short: bool = False) -> None:
        """Take an execution into account."""
        self._cut_short = self._cut_short or cut_short
        self._handled = self._handled or any(map(_is_handled, execution))
        self._items = max(self._items, sum(event.key.rank is Rank.OUTSIDE for event in execution))

    @property
    def asks_at_last(self) -> bool:
        """Whether a condition that is awaited at the end is not known to hold anywhere yet."""
        return bool(self._unmet)

    def ask_at_last(self, world: World) -> None:
        """Ask what is awaited at the end, in a state after all events from outside."""
        self._unmet = [wait for wait in self._unmet if not holds(wait, world)]

    @property
    def drew(self) -> tuple[str, ...]:
        return tuple(name for name in self._system.names if name in self._system.drew)

    @property
    def undone(self) -> tuple[External, ...]:
        """The events from outside that no execution came to."""
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
        if self.is_all and not self._cut_short and not self.undone:
            for condition in self._unmet:
                yield f"'{describe(condition)}' at the end never ends: it holds in no state after all events"
        if self.undone:
            gate = self._system.plan[self._items].gate
            wait = (
                f"'{describe(gate)}' never ends, so what follows never happens" if gate else "what never happens"
            )
            yield f"{wait}: {', '.join(map(describe, self.undone))}"
        elif self.is_all and not self._cut_short and not self._handled:
            yield "no handler runs: no message arrives, no timer goes off, no node starts"


def holds(wait: WaitCondition, world: World) -> bool:
    """Ask whether a condition holds, several times: it must say the same of the same state."""
    what = f"the condition '{wait.name}'"
    remedy = "it must cope with every state of the world"
    answers = {bool(ask(what, wait.condition, world, remedy=remedy)) for _ in range(_ASKED)}
    if len(answers) > 1:
        raise NotRepeatableError(f"{what} holds and does not hold in the same state")
    return answers.pop()


def _is_handled(event: Event) -> bool:
    """Whether an event executes code of the user."""
    return event.key.rank in (Rank.DELIVER, Rank.TIMER) or isinstance(event.step, Start | Restart | CodeBlock)
