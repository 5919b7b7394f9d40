"""What an exploration does not cover, though it came to its end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clew.exploration.event import Event, Rank
from clew.exploration.system import System
from clew.simulation.events import CodeBlock, External, Restart, Start
from clew.simulation.steps import describe


class Coverage:
    """``is_all``: there was nothing left to explore.  ``waiting``: schedules that end in a wait."""

    def __init__(self, system: System) -> None:
        self.is_all = False
        self.waiting = 0
        self._system = system
        self._cut_short = False
        self._handled = False
        self._items = 0

    def note(self, execution: Sequence[Event], *, cut_short: bool = False) -> None:
        """Take an execution into account."""
        self._cut_short = self._cut_short or cut_short
        self._handled = self._handled or any(map(_is_handled, execution))
        self._items = max(self._items, sum(event.key.rank is Rank.OUTSIDE for event in execution))

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
        if self.undone:
            gate = self._system.plan[self._items].gate
            wait = (
                f"'{describe(gate)}' never ends, so what follows never happens" if gate else "what never happens"
            )
            yield f"{wait}: {', '.join(map(describe, self.undone))}"
        elif self.is_all and not self._cut_short and not self._handled:
            yield "no handler runs: no message arrives, no timer goes off, no node starts"


def _is_handled(event: Event) -> bool:
    """Whether an event executes code of the user."""
    return event.key.rank in (Rank.DELIVER, Rank.TIMER) or isinstance(event.step, Start | Restart | CodeBlock)
