"""What keeps "nothing found" in virtual time from being a certificate."""

from __future__ import annotations

from collections.abc import Iterator

from clew.exploration.findings import Coverage
from clew.exploration.timed.run import Choice, TimedRun
from clew.exploration.timed.system import TimedSystem
from clew.simulation.events import Restart, Start
from clew.simulation.execution.steps import Do
from clew.simulation.world import CodeBlock


class TimedCoverage(Coverage):
    """What there is in any order, too; and promises, and clocks."""

    def __init__(self, system: TimedSystem) -> None:
        super().__init__(system)
        self._timed = system
        self._promised = False
        self._glanced: set[str] = set()

    def note(self, run: TimedRun, choice: Choice) -> None:  # type: ignore[override]
        """Take an event into account that has just happened."""
        event = None if choice.do is not None or not run.item else self._timed.plan[run.item - 1].event
        handled = choice.do is Do.DELIVER or isinstance(event, Start | Restart | CodeBlock)
        self.reach(run.item, handled=handled)
        self._timed.drew.update(name for name, process in run.world.processes.items() if process.drew)

    def note_place(self, run: TimedRun) -> None:
        """Take a situation into account that was looked at, and where the next event from outside may be due."""
        self._glanced |= run.clock.glanced
        self.reach(run.item, handled=False)
        if run.is_done and self.asks_at_last:
            self.ask_at_last(run.world)

    def note_end(self, run: TimedRun) -> None:
        """Take an end into account: was anything promised?"""
        self._glanced |= run.clock.glanced
        self.waiting += not run.is_done
        if run.is_done and not self._promised:
            self._promised = self._timed.scenario.promises_anything(run.world)

    def gaps(self) -> Iterator[str]:
        """Yield in words what keeps this from being a certificate."""
        yield from super().gaps()
        if self._timed.scenario.promises and self.is_complete and not self._promised:
            yield "nothing is promised at the end of any execution: what the scenario assumes holds at none"
        if self._glanced:
            whose = ", ".join(name for name in self._timed.names if name in self._glanced)
            yield f"who looks on reads clocks that no handler has read ({whose}), and one speed of them is tried"
