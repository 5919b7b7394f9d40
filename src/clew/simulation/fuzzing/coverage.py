"""What random executions have covered: how much happened, which types of messages, how many states of nodes.

Looking at a state costs more than an event does, so only now and then one is looked at: the state of the node
where the latest event happened, after every ``PERIOD`` events of an execution.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from clew.files.json_document import Item
from clew.simulation.execution.effects import state_of
from clew.simulation.fuzzing.random_run import RandomRun
from clew.simulation.node import Node
from clew.simulation.values import to_json

#: Looking at a state costs more than an event; so seldom, it is a small part of the time.
PERIOD = 64

#: More states are not told apart, so that memory does not grow for ever.
MOST_STATES = 200_000


@dataclass(frozen=True)
class Coverage:
    """``states`` are the different ones among the states of nodes that were looked at.

    What makes "nothing found" worth less is told, too: ``unfinished``, in which ways how many runs came less far
    than the scenario says; ``idle``, in how many nothing was delivered.  ``driven_by_timers``: how many had
    nothing but timers to go on with, and went on for all their steps.
    """

    runs: int
    steps: int
    deliveries: int
    types: tuple[str, ...]
    states: int
    unfinished: tuple[tuple[str, int], ...] = ()
    idle: int = 0
    driven_by_timers: int = 0

    def __str__(self) -> str:
        counts = {"run": self.runs, "step": self.steps}
        told = [f"{count} {what}{'' if count == 1 else 's'}" for what, count in counts.items()]
        return f"{', '.join(told)}, {self.deliveries} {'delivery' if self.deliveries == 1 else 'deliveries'}"

    @property
    def is_hollow(self) -> bool:
        """Tell whether "nothing found" would say nothing: no handler ran but those that start nodes, if any."""
        return not self.deliveries

    @property
    def is_thin(self) -> bool:
        """Tell whether nothing was delivered in more than half of the runs."""
        return 2 * self.idle > self.runs


#: Bounds of what is read from a checkpoint; a state is a digest of eight bytes.
LARGEST_COUNT = 2**63 - 1
LARGEST_STATE = 2**64 - 1

#: What of a tally is a mere number.
_COUNTS = ("runs", "steps", "deliveries", "early", "idle", "driven_by_timers")


class Tally:
    """A coverage that is being counted; states that are ``known`` already are not counted again."""

    def __init__(self, known: set[int] | None = None) -> None:
        self.runs = 0
        self.steps = 0
        self.deliveries = 0
        #: Violations that came too early to count.
        self.early = 0
        self.idle = 0
        self.driven_by_timers = 0
        self.unfinished: Counter[str] = Counter()
        self.states: set[int] = set()
        self._known = set() if known is None else known
        self._types: set[str] = set()

    def sample(self, run: RandomRun) -> None:
        """Look at a state, between the events of a run."""
        node = run.world.nodes.get(run.touched)
        if node is not None and len(self.states) < MOST_STATES:
            state = _digest(node)
            if state not in self._known:
                self.states.add(state)

    def add(self, run: RandomRun) -> None:
        """Count a run that is over."""
        self.runs += 1
        self.steps += run.world.events
        self.deliveries += run.deliveries
        self._types.update(kind.__qualname__ for kind in run.kinds)
        if run.broken is not None:
            return  # where a violation ends a run, nothing is missing
        self.driven_by_timers += run.driven_by_timers
        self.idle += not run.deliveries
        unfinished = run.describe_unfinished()
        if unfinished is not None:
            self.unfinished[unfinished] += 1

    def coverage(self) -> Coverage:
        return Coverage(
            self.runs,
            self.steps,
            self.deliveries,
            tuple(sorted(self._types)),
            len(self.states),
            tuple(sorted(self.unfinished.items())),
            self.idle,
            self.driven_by_timers,
        )

    # -- from another process ------------------------------------------------------------------------------------

    def to_json(self) -> dict[str, Any]:
        lists = {"types": sorted(self._types), "states": sorted(self.states)}
        return {**{name: getattr(self, name) for name in _COUNTS}, "unfinished": dict(self.unfinished), **lists}

    def merge(self, counted: Mapping[str, Any]) -> None:
        for name in _COUNTS:
            setattr(self, name, getattr(self, name) + counted[name])
        self.unfinished.update(counted["unfinished"])
        self._types.update(counted["types"])
        for state in counted["states"]:
            if len(self.states) < MOST_STATES:
                self.states.add(state)

    @staticmethod
    def read(saved: Item, most_runs: int) -> Tally:
        """Return the tally of a checkpoint, which ``to_json`` wrote, of at most so many runs."""
        fields = (*_COUNTS, "unfinished", "types", "states")
        part = dict(zip(fields, saved.members(*fields), strict=True))
        runs = part["runs"].number(0, most_runs)
        tally = Tally()
        for name in _COUNTS:
            # Each run has any number of steps, but is idle only once.
            most = LARGEST_COUNT if name in ("steps", "deliveries") else runs
            setattr(tally, name, part[name].number(0, most))
        if tally.deliveries > tally.steps:
            part["deliveries"].refuse("no more deliveries than steps")
        tally.unfinished = Counter(
            {how: part["unfinished"].member(how).number(1, runs) for how in part["unfinished"].mapping()}
        )
        tally._types = {item.text("the type of a message") for item in part["types"].items()}
        tally.states = {item.number(0, LARGEST_STATE) for item in part["states"].items()}
        if len(tally.states) > MOST_STATES:
            part["states"].refuse(f"at most {MOST_STATES} states")
        return tally


# -- states ------------------------------------------------------------------------------------------------------


def _digest(node: Node) -> int:
    """Return one number for equal states: by the quick way that most states can go, or else by the slow one."""
    try:
        # The C encoder on the attributes as they are; keys that are no strings, or circles, take the slow way.
        text = json.dumps(vars(node), sort_keys=True, default=_encode_unknown)
    except (TypeError, ValueError):
        text = json.dumps(state_of(node), sort_keys=True)
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")


def _encode_unknown(value: Any) -> Any:
    if isinstance(value, set | frozenset):
        return sorted(json.dumps(item, sort_keys=True, default=_encode_unknown) for item in value)
    return to_json(value, strict=False)
