"""A cluster into which faults are injected: what its nodes send has names, and some of it does not arrive."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from clew.injection.execution.flow import Flow, NotedStorage
from clew.injection.faults import (
    CodeFault,
    MessageCopy,
    MessageLoss,
    MessageName,
    NetworkPartition,
    NodeCrash,
    NodeRestart,
)
from clew.simulation.pool import OUTSIDE, Envelope
from clew.simulation.process import Durable, Process
from clew.simulation.scenario import Scenario
from clew.simulation.timing import Clock
from clew.simulation.world import World


class InjectedWorld(World):
    """``cut``: what a partition has lost, by envelope.  ``flow``: where it is noted what events read and write."""

    def __init__(
        self, scenario: Scenario, seed: int, faults: Iterable[CodeFault], *, recording: bool, flow: Flow | None
    ) -> None:
        self.flow = flow
        # Before the world is made: nodes that are up from the beginning send when they start.
        self._counts: dict[tuple[str, str, type], int] = {}
        self._ranks: dict[Envelope, int] = {}
        self._sent_at: dict[Envelope, int] = {}
        self._hit: dict[MessageName, MessageLoss | MessageCopy] = {}
        self._partitions: list[NetworkPartition] = []
        self._copying = False
        #: How many messages and timers were made so far.
        self.made = 0
        self.cut: dict[Envelope, NetworkPartition] = {}
        for fault in faults:
            match fault:
                case MessageLoss(message) | MessageCopy(message):
                    self._hit[message] = fault
                case NetworkPartition():
                    self._partitions.append(fault)
                case NodeCrash() | NodeRestart():
                    pass  # of nodes: whoever drives the world sees to these
        super().__init__(
            scenario.nodes,
            fifo=scenario.is_fifo,
            seed=seed,
            running=tuple(scenario.running),
            recording=recording,
            clock=None if scenario.time is None else Clock(scenario.time, seed),
        )

    def _make_process(self, name: str) -> Process:
        process = super()._make_process(name)
        if self.flow is not None:
            self.flow.begin_life(process.node, name)
        return process

    def _stop(self, name: str) -> None:
        if self.flow is not None and name in self.nodes:
            self.flow.end_life(self.nodes[name])
        super()._stop(name)

    def _make_storage(self, name: str) -> Durable:
        return super()._make_storage(name) if self.flow is None else NotedStorage(name, self.flow.read)

    def _envelope(self, source: str, target: str, payload: Any, timer: bool, time: float) -> Envelope:
        self.made += 1
        envelope = super()._envelope(source, target, payload, timer, time)
        # What is from outside is given, what a node sends itself does not leave it, and a copy has no name.
        if timer or source in (target, OUTSIDE) or self._copying:
            return envelope
        key = (source, target, type(payload))
        # Counted whether it gets anywhere or not: a name must not depend on who was down.
        self._ranks[envelope] = self._counts[key] = self._counts.get(key, 0) + 1
        self._sent_at[envelope] = self.ticks
        for partition in self._partitions:
            if partition.parts_at(source, target, self.ticks):
                self.cut[envelope] = partition
                break
        return envelope

    def name_of(self, envelope: Envelope) -> MessageName | None:
        """Return the name of a message that faults can hit; None for timers, copies, and what has no link."""
        nth = self._ranks.get(envelope)
        return None if nth is None else MessageName(envelope.source, envelope.target, envelope.kind, nth)

    def sent_at(self, envelope: Envelope) -> int:
        """Return when a message that has a name was sent."""
        return self._sent_at[envelope]

    def fault_of(self, envelope: Envelope) -> CodeFault | None:
        """Return what happens to a message instead of its arrival, if anything does."""
        if envelope in self.cut:
            return self.cut[envelope]
        # Most runs have no faults of messages, and then nothing needs a name.
        if self._hit and (name := self.name_of(envelope)) is not None:
            return self._hit.get(name)
        return None

    def copy(self, envelope: Envelope) -> None:
        """Make the second copy of a message that is to arrive twice; from now on it is one like others."""
        self._copying = True
        self.duplicate(envelope)
        self._copying = False
        if (name := self.name_of(envelope)) is not None:
            del self._hit[name]
