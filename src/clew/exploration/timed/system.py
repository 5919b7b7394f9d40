"""What all executions of an exploration in virtual time share: scenario, bounds, and the events counted."""

from __future__ import annotations

import random
from collections.abc import Iterable

from clew.budgets.whereabouts import ProcessEnd, tell_event
from clew.exploration.plan import find_final_waits, plan_events
from clew.exploration.system import refuse_idle
from clew.exploration.timed.bounds import TimedBounds
from clew.exploration.timed.clock import ChoosingClock, Pick
from clew.simulation.scenario import Scenario
from clew.simulation.world import CodeBlock, WaitCondition, World


class TimedSystem:
    """``performed`` counts the events that were executed, those that were executed again included.

    ``drew``: the nodes that took random numbers from their context.
    """

    def __init__(
        self, scenario: Scenario, bounds: TimedBounds, seed: int, ends_with: ProcessEnd | None = None
    ) -> None:
        assert scenario.time is not None
        refuse_idle("losses", bounds.losses, "loss", scenario.loss)
        refuse_idle("duplicates", bounds.duplicates, "duplication", scenario.duplication)
        self._random_state = random.getstate()
        self.scenario = scenario
        self.timing = scenario.time
        self.bounds = bounds
        self.seed = seed
        self.plan = plan_events(scenario)
        self.at_last = find_final_waits(scenario)
        self.names = tuple(scenario.nodes)
        self.performed = 0
        self.drew: set[str] = set()
        self._ends_with = ends_with
        self._begun = 0  # like ``performed``, but never set back

    def world(self, picks: Iterable[Pick] = ()) -> World:
        """Make the cluster, with these choices for what it does before the first event."""
        clock = ChoosingClock(self.timing, self.seed, self.bounds)
        clock.begin(picks)
        return self.scenario.world(self.seed, clock=clock)

    def begin_event(self) -> bool:
        """Count an event that is about to be performed; False if it is the one that ends the process."""
        self.performed += 1
        self._begun += 1
        if self._ends_with is not None and self._ends_with.performed == self._begun:
            return False
        tell_event(self._begun)
        return True

    @property
    def end(self) -> str:
        """Return how the process ends at the event that is not to be performed."""
        return str(self._ends_with)

    def shows_everything(self, item: int) -> bool:
        """Tell whether code of the scenario may look at all of the world after so many events from outside.

        Conditions and code blocks can: also at numbers of events and messages, which no handler sees.
        """
        # Invariants and promises cannot: they get the nodes, and nothing else.
        return bool(self.at_last) or any(
            isinstance(each.event, CodeBlock) or isinstance(each.gate, WaitCondition) for each in self.plan[item:]
        )

    @property
    def drew_globally(self) -> bool:
        """Tell whether something drew from the module ``random`` since the beginning; Clew itself never does."""
        return random.getstate() != self._random_state
