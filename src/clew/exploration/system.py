"""What all executions of an exploration share: the scenario, its bounds, and what is known of histories.

What an event does depends on nothing but the events before it at its node and the message that is delivered.  So
whatever was seen once is known for every execution with the same local history: its footprint, and the state of
the node after it.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Hashable, Iterable
from typing import Any

from clew.budgets.whereabouts import ProcessEnd, tell_event
from clew.errors import UsageError
from clew.exploration.event import Event, Footprint, Key, steps_of
from clew.exploration.plan import Bounds, find_final_waits, plan_events
from clew.exploration.repetition import NotRepeatableError, Repetition, effect_of_beginning
from clew.exploration.result import Found
from clew.simulation.events import WaitQuiescence
from clew.simulation.execution.steps import Act, Step
from clew.simulation.pool import OUTSIDE, Link
from clew.simulation.recordings.recording import PROCESS_GOES_ON
from clew.simulation.scenario import Broken, Network, Scenario
from clew.simulation.world import World


class EndsProcessError(Exception):
    """Raised instead of performing the event that is known to end the process."""

    def __init__(self, found: Found) -> None:
        super().__init__(found.identity)
        self.found = found


class System:
    """``performed`` counts the events that were executed, those that were executed again included.

    ``drew``: the nodes that took random numbers from their context.
    """

    def __init__(self, scenario: Scenario, bounds: Bounds, seed: int, ends_with: ProcessEnd | None = None) -> None:
        self._random_state = random.getstate()
        self.scenario = scenario
        self.bounds = bounds
        self.seed = seed
        self.plan = plan_events(scenario)
        self.at_last = find_final_waits(scenario)
        self.fifo = scenario.network is Network.FIFO
        self.names = tuple(scenario.nodes)
        self.links = [(a, b) for a in (OUTSIDE, *self.names) for b in self.names]
        refuse_idle("losses", bounds.losses, "loss", scenario.loss)
        refuse_idle("duplicates", bounds.duplicates, "duplication", scenario.duplication)
        self.counts_messages = any(isinstance(item.gate, WaitQuiescence) for item in self.plan)
        self.keeps_states = bool(scenario.invariants)
        self.footprints: dict[int, Footprint] = {}
        self.states: dict[int, Any] = {}
        self.performed = 0
        # The process that ended counted in this way, too: its number finds the same event again.
        self._begun = 0  # like it, but never set back
        self._ends_with = ends_with
        self.drew: set[str] = set()
        self.repetition = Repetition()
        self._numbers: dict[Hashable, int] = {}
        self._begin()
        # A chain for each link only where something can be lost or duplicated: clocks are as long as there are
        # chains.
        places: list[str | Link] = [*self.names, OUTSIDE]
        if bounds.losses or bounds.duplicates:
            places += self.links
        self._chains = {place: index for index, place in enumerate(places)}

    def begin_event(self, before: list[Event], gate: Step | None, step: Step | None) -> None:
        """Count an event that is about to be performed after others; if it ends the process, it is not."""
        self.performed += 1
        self._begun += 1
        end = self._ends_with
        if end is not None and end.performed == self._begun:
            node = step.target if isinstance(step, Act) else getattr(step, "node", "")
            broken = Broken(PROCESS_GOES_ON, str(end), (node,) if node else ())
            steps = (*steps_of(before), *(each for each in (gate, step) if each is not None))
            raise EndsProcessError(Found(broken, f"{PROCESS_GOES_ON}: {end}", steps))
        tell_event(self._begun)

    def _begin(self) -> None:
        """Look at what there is before the first event."""
        world = self.world()
        self.running = tuple(world.nodes)
        #: How many messages are on each link.
        self.counted: dict[Link, int] = {}
        for envelope in world.pool:
            if not envelope.timer:
                link = (envelope.source, envelope.target)
                self.counted[link] = self.counted.get(link, 0) + 1
        for name in self.running:
            self.keep_state(self.at_start(name), name, world)
        self.note_draws(world, self.running)
        # Twice at once: where the beginning differs, nothing after it can be compared.
        for each in (world, self.world()):
            self.compare_beginning(each)

    def compare_beginning(self, world: World) -> None:
        """Hold what the nodes did that are up from the beginning against what they did before."""
        self.repetition.compare(self.number("beginning"), effect_of_beginning(world), "the beginning")

    @property
    def chains(self) -> int:
        return len(self._chains)

    def chain(self, place: str | Link) -> int:
        """Return the chain of a node, of what comes from outside, or of losses and duplicates on a link."""
        return self._chains[place]

    def world(self) -> World:
        return self.scenario.world(self.seed)

    def number(self, history: Hashable) -> int:
        """Return a number for a history, the same whenever it is seen again; never 0."""
        # Numbers for histories, for these are nested: comparing them as tuples would take as long as they are
        # deep.
        return self._numbers.setdefault(history, len(self._numbers) + 1)

    def local(self, key: Key, before: int, creator: int, era: int) -> int:
        """Number a local history: an event after another at its node, with a message of known origin."""
        return self.number((key, before, creator, era))

    def at_start(self, node: str) -> int:
        """Return the history of a node that is up from the beginning, or that has none."""
        return self.number(("beginning", node))

    def after_code(self, whole: int, node: str) -> int:
        """Return the history of a node after arbitrary code, which may have changed it."""
        return self.number(("code", whole, node))

    def keep_footprint(self, local: int, footprint: Footprint, step: object) -> None:
        """Remember what the event did; after the same local history it must always do the same."""
        if self.footprints.setdefault(local, footprint) != footprint:
            raise NotRepeatableError(f"an event had other effects when it was executed again: {step}")

    def keep_state(self, local: int, node: str, world: World) -> None:
        """Remember the node as it is after this history."""
        if not self.keeps_states or local in self.states or node not in world.nodes:
            return
        try:
            # A node may keep its context, and that the world, which is no part of its state.
            self.states[local] = copy.deepcopy(world.nodes[node], {id(world): world})
        except Exception as error:
            raise UsageError(
                f"the state of the node '{node}' cannot be copied: {type(error).__name__}: {error}",
                remedy="keep in nodes only what copy.deepcopy can copy",
            ) from error

    def note_draws(self, world: World, names: Iterable[str]) -> None:
        """Remember which of these nodes have drawn random numbers."""
        self.drew.update(name for name in names if name in world.processes and world.processes[name].drew)

    @property
    def drew_globally(self) -> bool:
        """Tell whether something drew from the module ``random`` since the beginning; Clew itself never does."""
        return random.getstate() != self._random_state

    def nodes(self, up: tuple[str, ...], local: tuple[int, ...]) -> dict[str, Any]:
        """Return the nodes that are up, as they were after these histories (one for each node of the scenario)."""
        return {name: self.states[local[self._chains[name]]] for name in up}


def refuse_idle(bound: str, number: int, name: str, chance: float) -> None:
    """Refuse to explore what the scenario says never happens: nobody should believe that it was explored."""
    if number and not chance:
        raise UsageError(
            f"{bound} is {number}, but in the scenario {name} is 0",
            remedy=f"give the scenario a {name} larger than 0, or leave {bound} out",
        )
