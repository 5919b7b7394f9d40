"""A cluster into which faults are injected: what its nodes send has names, and some of it does not arrive.

**Nodes that a fault has stopped** are down whatever the scenario says: it may start and restart them, and that
takes effect when the fault is over, which a crash never is.  A node that the scenario stops meanwhile stays down.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from clew.errors import UsageError
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
from clew.simulation.events import Restart, Start, Stop
from clew.simulation.pool import OUTSIDE, Envelope
from clew.simulation.process import Durable, Process
from clew.simulation.scenario import Scenario
from clew.simulation.timing import Clock
from clew.simulation.world import External, World


class _SteadyClock(Clock):
    """A clock that does not count copies: what a message takes must not depend on whether others arrive twice.

    A copy takes as long as what it is a copy of.
    """

    def __init__(self, scenario: Scenario, seed: int) -> None:
        assert scenario.time is not None, "a check has virtual time"
        super().__init__(scenario.time, seed)
        self._copies: dict[str, list[int]] = {}  # by node: which of the things that it sent are copies
        self._original: Envelope | None = None

    def post(self, envelope: Envelope, now: int) -> None:
        if self._copies or self._original is not None:
            drawn_for = self._original or envelope
            if self._original is not None:
                self._copies.setdefault(envelope.source, []).append(envelope.nth)
            before = sum(number < drawn_for.nth for number in self._copies.get(envelope.source, ()))
            nth = drawn_for.nth - before
        else:
            nth = envelope.nth  # hardly ever is anything copied
        envelope.due = now + self.draw_latency(envelope.source, envelope.target, nth)

    def begin_copy(self, original: Envelope) -> None:
        """Take what is posted next for a copy."""
        self._original = original

    def end_copy(self) -> None:
        self._original = None


class InjectedWorld(World):
    """``cut``: what a partition has lost, by envelope.  ``flow``: where it is noted what events read and write.

    ``halted``: the nodes that a fault keeps down, and whether they are to be up once that is over.
    """

    def __init__(
        self, scenario: Scenario, seed: int, faults: Iterable[CodeFault], *, recording: bool, flow: Flow | None
    ) -> None:
        self.flow = flow
        # Before the world is made: nodes that are up from the beginning send when they start.
        self._counts: dict[tuple[str, str, str], int] = {}
        self._ranks: dict[Envelope, int] = {}
        self._units: dict[Envelope, MessageName] = {}
        #: The names that stand for more than one message, such as all of a connection, and when the first was
        #: sent.
        self.units: dict[MessageName, int] = {}
        self._sent_at: dict[Envelope, int] = {}
        self._hit: dict[MessageName, MessageLoss | MessageCopy] = {}
        self._partitions: list[NetworkPartition] = []
        self._copying = False
        self._steady = _SteadyClock(scenario, seed)
        self.halted: dict[str, bool] = {}
        #: How many messages and timers were made so far.
        self.put_on_way = 0
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
            clock=self._steady,
        )

    def halt(self, node: str) -> None:
        """Stop a node, as a fault does."""
        self.inject(Stop(node))
        self.halted[node] = True

    def end_halt(self, node: str) -> bool:
        """Let a fault be over that has stopped a node; tell whether the node is to start now."""
        return self.halted.pop(node)

    def is_held(self, event: External) -> bool:
        """Tell whether an event has to wait for the end of the fault that has stopped its node; if so, note it."""
        # A stop takes effect at once, also on a node that is down: it says what is to be when the fault is over.
        if not isinstance(event, Start | Restart) or event.node not in self.halted:
            return False
        self.halted[event.node] = True
        return True

    def inject(self, event: External) -> None:
        if isinstance(event, Stop) and event.node in self.halted:
            self.halted[event.node] = False
        elif self._blocks and self.is_held(event) and isinstance(event, Start | Restart):
            # Whoever replays the execution has the code block, but not the fault.
            raise UsageError(
                f"a code block starts '{event.node}', which a fault has stopped",
                remedy=f"list {event!r} among the events of the scenario: those wait until the fault is over",
            )
        super().inject(event)

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
        self.put_on_way += 1
        envelope = super()._envelope(source, target, payload, timer, time)
        # What is from outside is given, what a node sends itself does not leave it, and a copy has no name.
        if timer or source in (target, OUTSIDE) or self._copying:
            return envelope
        unit = getattr(payload, "__fault_unit__", None)
        if unit is not None:
            self._units[envelope] = name = MessageName(*unit)
            self.units.setdefault(name, self.ticks)
        else:
            # By the name of the type, as faults have it: there may be two types of one name.
            key = (source, target, envelope.kind)
            # Counted whether it gets anywhere or not: a name must not depend on who was down.
            self._ranks[envelope] = self._counts[key] = self._counts.get(key, 0) + 1
        self._sent_at[envelope] = self.ticks
        for partition in self._partitions:
            if partition.parts_at(source, target, self.ticks):
                self.cut[envelope] = partition
                break
        return envelope

    @property
    def sent(self) -> Mapping[Envelope, int]:
        """Return when each message that has a name was sent, whether it got anywhere or not."""
        return self._sent_at

    def name_of(self, envelope: Envelope) -> MessageName | None:
        """Return the name of a message that faults can hit; None for timers, copies, and what has no link."""
        if self._units and (unit := self._units.get(envelope)) is not None:
            return unit
        nth = self._ranks.get(envelope)
        return None if nth is None else MessageName(envelope.source, envelope.target, envelope.kind, nth)

    def sent_at(self, envelope: Envelope) -> int:
        """Return when a message that has a name was sent; of several with one name, the first."""
        if self._units and (unit := self._units.get(envelope)) is not None:
            return self.units[unit]
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
        self._steady.begin_copy(envelope)
        self.duplicate(envelope)
        self._steady.end_copy()
        self._copying = False
        if (name := self.name_of(envelope)) is not None:
            del self._hit[name]
