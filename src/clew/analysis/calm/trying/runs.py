"""One run of a workload in one order of events, and what came of it.

Time goes in rounds.  In the *prompt* order every node steps in every round and a message is there in the round
after the one that sent it.  Every other order is that one with some events late: a message, a row that is given,
a step of a node, a timer, the end.  So an order is a table of what is late by how much, and a shorter table is a
simpler order.  Rows that are late come together with others, or after them, and leave empty steps where they
were.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from clew.analysis.calm.trying.workloads import Workload
from clew.bloom.ir.schema import Kind
from clew.bloom.runtime.machine import StepResult
from clew.bloom.runtime.node import Node
from clew.bloom.values import Row, sort_rows
from clew.errors import UsageError

#: More rounds than that, and a run is given up.
MOST_ROUNDS = 2000
#: A program that never rests (a clock) has ended when for so many rounds nothing came, and nothing new was seen.
QUIET_ROUNDS = 12


@dataclass(frozen=True)
class Message:
    """``sender`` is empty if it comes from outside.  ``number``: the same row may be sent again."""

    sender: str
    channel: str
    row: Row
    number: int


@dataclass(frozen=True)
class Step:
    """Step ``number`` of a node."""

    node: str
    number: int


@dataclass(frozen=True)
class Firing:
    """A timer goes off for the time ``number``."""

    node: str
    timer: str
    number: int


@dataclass(frozen=True)
class Given:
    """A row from outside comes to a node; ``number``: the same row may be given again."""

    node: str
    collection: str
    row: Row
    number: int


@dataclass(frozen=True)
class End:
    """The last step of a node; it is late if empty steps follow."""

    node: str


Event = Message | Step | Firing | Given | End


class EndlessError(UsageError):
    """A run that does not come to an end."""


#: By how many rounds (of timers, rows that are given, and the end: steps of the node) events are late.
Order = Mapping[Event, int]


@dataclass(frozen=True)
class Delivery:
    """What a node got in one of its steps: a row of a channel or of a timer."""

    node: str
    step: int
    channel: str
    row: Row


@dataclass(frozen=True)
class Shown:
    """What a node showed of a collection, in order.

    Of what is stored, the rows at the end; of a channel, all that the node sent; of others, all there ever were.
    """

    node: str
    collection: str
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Run:
    """``refused``: rows that nodes rejected, with the reason, for instance two values for one key.

    ``by_step``: for each of ``shown`` that is no channel, its rows in every step of the node.
    """

    shown: tuple[Shown, ...]
    by_step: tuple[tuple[tuple[Row, ...], ...], ...]
    deliveries: tuple[Delivery, ...]
    refused: tuple[str, ...]
    rounds: int


def run(
    workload: Workload, late: Callable[[Event], int], watched: Iterable[str], *, most_rounds: int = MOST_ROUNDS
) -> Run:
    """Perform the run in which events are late by what ``late`` says, once for each, in a fixed order."""
    return _Simulation(workload, late, tuple(watched)).run(most_rounds)


class _Running:
    """A node in a run."""

    def __init__(self, address: str, node: Node, late: Callable[[Event], int], ticks: int) -> None:
        self.address = address
        self.node = node
        self.steps = 0
        # Delays are asked for in a fixed order, so that one seed gives one run, also after events were left out.
        self.next_round = 1 + late(Step(address, 1))
        self.timers = [c.name for c in node.program.collections if c.kind is Kind.PERIODIC]
        self.firings: list[tuple[int, str, Row]] = []
        self.fired = ticks
        for timer in self.timers:
            due = 0
            for number in range(1, ticks + 1):
                due += 1 + late(Firing(address, timer, number))
                self.firings.append((due, timer, (number, number)))

    def fire_all(self) -> None:
        """Fire all timers in the next step; a clock goes on."""
        # The numbers go on where the drawn ones ended: a program may compare them.
        self.fired += 1
        self.firings = [(self.steps + 1, timer, (self.fired, self.fired)) for timer in self.timers]


class _Simulation:
    def __init__(self, workload: Workload, late: Callable[[Event], int], watched: tuple[str, ...]) -> None:
        self._late = late
        self._watched = watched
        self._ticks = workload.ticks
        self._nodes = {
            address: _Running(address, make(address), late, workload.ticks)
            for address, make in workload.nodes.items()
        }
        # Rows by the node and the step that they are given in; several may
        # share one, and then they come as a batch.
        self._inputs: dict[tuple[str, int], list[tuple[str, Row]]] = {}
        self._under_way: list[tuple[int, str, Message]] = []
        self._sent: dict[tuple[str, str, Row], int] = {}
        self._seen: dict[tuple[str, str], dict[Row, None]] = {}
        self._by_step: dict[tuple[str, str], list[tuple[Row, ...]]] = {}
        self._given: dict[tuple[str, str, Row], int] = {}
        self._deliveries: list[Delivery] = []
        self._refused: dict[str, None] = {}
        self._round = 1
        self._news = 1
        for given in workload.inputs:
            self._give(given.node, given.collection, given.row, given.step)

    def _give(self, address: str, collection: str, row: Row, step: int) -> None:
        if address not in self._nodes:
            known = ", ".join(self._nodes)
            raise UsageError(f"rows are given to {address!r}, which is no node", remedy=f"there are {known}")
        found = self._nodes[address].node.program.by_name.get(collection)
        if found is not None and found.kind is Kind.CHANNEL:
            self._send("", address, collection, row, step - 1)
            return
        # What is given to a table is there from the beginning (docs/calm.md: what is taken as fixed).
        if found is not None and not found.kind.persists:
            number = self._given.get((address, collection, row), 0) + 1
            self._given[address, collection, row] = number
            step += self._late(Given(address, collection, row, number))
        self._inputs.setdefault((address, step), []).append((collection, row))

    # -- rounds --------------------------------------------------------------------------------------------------

    def run(self, most: int) -> Run:
        left = self._ticks if any(node.timers for node in self._nodes.values()) else 0
        self._settle(most)
        for _ in range(left):
            for node in self._nodes.values():
                node.fire_all()
            self._settle(most)
        self._step_on()
        self._settle(most)
        shown = tuple(self._collect_shown())
        by_step = tuple(tuple(self._by_step.get((one.node, one.collection), ())) for one in shown)
        return Run(shown, by_step, tuple(self._deliveries), tuple(self._refused), self._round)

    def _step_on(self) -> None:
        """Take empty steps after the end."""
        left = {address: self._late(End(address)) for address in self._nodes}
        while any(left.values()):
            for address, running in self._nodes.items():
                if left[address]:
                    left[address] -= 1
                    self._step(running)
            self._round += 1

    def _settle(self, most: int) -> None:
        """Take rounds until there is nothing left to happen."""
        self._news = self._round
        while not self._is_quiet() and self._round <= most:
            for node in self._nodes.values():
                if node.next_round <= self._round:
                    self._step(node)
            self._round += 1
        if self._round <= most:
            return
        raise EndlessError(
            f"a run is not over after {most} rounds",
            remedy="a program that sends for ever has no end to compare; check the rows that are given",
        )

    def _is_quiet(self) -> bool:
        if self._under_way or self._inputs or any(node.firings for node in self._nodes.values()):
            return False
        rests = not any(node.node.machine.pending for node in self._nodes.values())
        return rests or self._round - self._news > QUIET_ROUNDS

    def _step(self, running: _Running) -> None:
        running.steps += 1
        machine = running.node.machine
        for collection, row in self._inputs.pop((running.address, running.steps), ()):
            self._news = self._round
            machine.insert(collection, [row])
        for channel, row in (*self._arriving(running.address), *_due(running)):
            self._news = self._round
            self._deliveries.append(Delivery(running.address, running.steps, channel, row))
            machine.deliver(channel, row)
        self._take(running, running.node.tick())
        running.next_round = self._round + 1 + self._late(Step(running.address, running.steps + 1))

    def _arriving(self, address: str) -> list[tuple[str, Row]]:
        arrived = [m for due, to, m in self._under_way if to == address and due <= self._round]
        self._under_way = [u for u in self._under_way if u[1] != address or u[0] > self._round]
        return [(message.channel, message.row) for message in arrived]

    def _take(self, running: _Running, stepped: StepResult) -> None:
        self._refused.update(dict.fromkeys(f"{running.address}: {refused}" for refused in stepped.refused))
        for channel, row in stepped.sent:
            self._see(running.address, channel, [row])
            to = running.node.program.destination(channel, row)
            if to in self._nodes and channel in self._nodes[to].node.program.by_name:
                self._send(running.address, to, channel, row, self._round)
        for name in self._watched:
            found = running.node.program.by_name.get(name)
            if found is not None and found.kind is not Kind.CHANNEL:
                rows = tuple(tuple(row) for row in running.node.machine.rows(name))
                self._by_step.setdefault((running.address, name), []).append(tuple(sort_rows(rows)))
                self._see(running.address, name, rows)

    def _send(self, sender: str, to: str, channel: str, row: Row, now: int) -> None:
        number = self._sent.get((sender, channel, row), 0) + 1
        self._sent[sender, channel, row] = number
        message = Message(sender, channel, row, number)
        self._under_way.append((now + 1 + self._late(message), to, message))

    # -- what is shown -------------------------------------------------------------------------------------------

    def _see(self, address: str, collection: str, rows: Iterable[Any]) -> None:
        seen = self._seen.setdefault((address, collection), {})
        before = len(seen)
        seen.update(dict.fromkeys(tuple(row) for row in rows))
        if len(seen) > before and collection in self._watched:
            self._news = self._round

    def _collect_shown(self) -> Iterable[Shown]:
        for address, running in self._nodes.items():
            for name in self._watched:
                found = running.node.program.by_name.get(name)
                if found is None:
                    continue
                if found.kind.persists:
                    rows = [tuple(row) for row in running.node.machine.rows(name)]
                else:
                    rows = list(self._seen.get((address, name), ()))
                yield Shown(address, name, tuple(sort_rows(rows)))


def _due(running: _Running) -> list[tuple[str, Row]]:
    due = [(timer, row) for step, timer, row in running.firings if step <= running.steps]
    running.firings = [f for f in running.firings if f[0] > running.steps]
    return due
