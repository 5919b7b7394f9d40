"""Replicas among faults: a network that loses, repeats and delays, disks that keep what was written, and crashes.

A step is what ``clew.bloom.network.driver`` makes of one: it is written to disk, then told; if it leaves
something for the next step, it is told when that is written.  A crash comes before, between and after these, and
between two messages.  What was not written is gone, and what was not told is never told.  The same seed is the
same execution.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from clew.bloom.runtime.machine import Machine, StepResult
from clew.bloom.runtime.prepared import Prepared, prepare

Row = tuple[Any, ...]


class CrashError(Exception):
    """The node is gone in this moment."""


@cache
def program_of(kind: Any, address: str) -> tuple[Any, Prepared]:
    # Each address has its own: functions of rows that are not seen through ask the object for it.
    program = kind(address).program
    return program, prepare(program)


class Disk:
    """The rows of durable tables by their keys; ``written`` is called with each table that changed."""

    def __init__(self, program: Any, written: Callable[[str, Sequence[Row]], None]) -> None:
        self._keys = {c.name: len(c.schema.keys) for c in program.collections if c.durable}
        self.tables: dict[str, dict[Row, Row]] = {name: {} for name in self._keys}
        self._written = written

    def wipe(self) -> None:
        for kept in self.tables.values():
            kept.clear()

    def write(self, stepped: StepResult) -> None:
        for name, width in self._keys.items():
            if name in stepped.changes:
                kept = self.tables[name]
                for row in stepped.changes[name].removed:
                    kept.pop(row[:width], None)
                for row in stepped.changes[name].added:
                    kept[row[:width]] = row
                self._written(name, stepped.changes[name].added)

    def rows(self, name: str) -> list[Row]:
        return list(self.tables[name].values())


class Replica:
    """``told`` gets what leaves: (channel or output, row)."""

    def __init__(self, cluster: Cluster, address: str, disk: Disk) -> None:
        program, prepared = program_of(cluster.kind, address)
        self.address, self.disk, self._cluster, self._program = address, disk, cluster, program
        self.machine = Machine(program, address, prepared)
        for name in disk.tables:
            self.machine.restore(name, disk.rows(name))
        self.machine.insert("member", [(name,) for name in cluster.addresses])
        self._held: list[tuple[StepResult, list[Row]]] = []

    def step(self, crash_at: int | None) -> None:
        """Take a step; ``crash_at``: 0 before it is written, 1 after that, 2 and more after so many messages."""
        stepped = self.machine.step()
        assert stepped.refused == (), stepped.refused
        answers = [tuple(row) for row in self.machine.rows("response")]
        if crash_at == 0:
            raise CrashError
        self.disk.write(stepped)
        told, self._held = [*self._held, (stepped, answers)], []
        if self.machine.pending:
            self._held = [told.pop()]
        if crash_at == 1:
            raise CrashError
        left = None if crash_at is None else crash_at - 2
        for one, responses in told:
            for channel, row in one.sent:
                if left is not None:
                    if left == 0:
                        raise CrashError
                    left -= 1
                self._send(channel, row)
            for response in responses:
                self._cluster.acknowledge(self.address, response)
        if left is not None:
            raise CrashError

    def _send(self, channel: str, row: Row) -> None:
        target = self._program.destination(channel, row)
        if target == self.address:
            self.machine.insert(channel, [row])
        else:
            self._cluster.send(self.address, target, channel, row)


@dataclass(frozen=True)
class Chances:
    """How often what happens in an execution, relative to each other, and to messages in percent."""

    steps: int = 300
    loss: float = 0.05
    duplication: float = 0.05
    deliver: float = 10.0
    beat: float = 1.2
    retry: float = 0.6
    sweep: float = 0.3
    submit: float = 0.8
    crash: float = 0.15
    restart: float = 0.3
    partition: float = 0.05
    heal: float = 0.1
    jump: float = 0.0
    call: float = 0.0
    #: How often a node that comes back has lost its disk.
    lost_disk: float = 0.0


def draw_chances(seed: int, steps: int = 300) -> Chances:
    """Draw how often what happens: an execution in which everything happens as often as ever finds little."""
    rng = random.Random(f"chances {seed}")

    def draw(*values: float) -> float:
        return rng.choice(values)

    return Chances(
        steps=steps,
        loss=draw(0, 0.05, 0.2),
        duplication=draw(0, 0.05, 0.3),
        deliver=draw(4, 10, 20),
        beat=draw(0.6, 1.2, 2.5),
        retry=draw(0.3, 0.6, 1.5),
        sweep=draw(0, 0.3, 0.8),
        submit=draw(0.4, 0.8, 1.6),
        crash=draw(0, 0.1, 0.4),
        restart=draw(0.8, 3.0),
        partition=draw(0, 0.05, 0.3),
        heal=draw(0.1, 0.3),
        jump=draw(0, 0, 0.1),
        call=draw(0, 0.1, 0.4),
    )


@dataclass
class Told:
    """What the oracle is given: who was acknowledged what and when, and all that was ever written."""

    submitted: dict[tuple[str, int], int] = field(default_factory=dict)
    acknowledged: list[tuple[int, str, int, Any]] = field(default_factory=list)
    chosen: list[tuple[int, str, int, Any]] = field(default_factory=list)
    traces: list[tuple[int, str, int, Any]] = field(default_factory=list)
    votes: list[tuple[int, str, int, Any, Any]] = field(default_factory=list)
    restarts: int = 0
    crashes: int = 0
    photographs: int = 0
    lost_disks: int = 0


class Cluster:
    def __init__(self, kind: Any, seed: int, chances: Chances, addresses: Sequence[str] = ("a", "b", "c")) -> None:
        self.kind, self.addresses, self.chances = kind, tuple(addresses), chances
        self.random = random.Random(seed)
        self.time = 0
        self.told = Told()
        self.disks = {a: Disk(program_of(kind, a)[0], self._note_written(a)) for a in self.addresses}
        self.up: dict[str, Replica] = {}
        self.messages: list[tuple[str, str, str, Row]] = []
        self.cut: frozenset[str] = frozenset()
        self.sent: dict[str, int] = {}
        self.clients = {f"client{k}": 0 for k in range(2)}
        self._ticks = 0
        for address in self.addresses:
            self.start(address)

    # -- what is noted for the oracle ----------------------------------------------------------------------------

    def _note_written(self, address: str) -> Callable[[str, Sequence[Row]], None]:
        def note(table: str, added: Sequence[Row]) -> None:
            if table == "chosen":
                self.told.chosen += [(self.time, address, row[0], row[1]) for row in added]
            elif table == "trace":
                self.told.traces += [(self.time, address, row[0], row[1]) for row in added]
            elif table == "voted":
                self.told.votes += [(self.time, address, row[0], row[1], row[2]) for row in added]

        return note

    def acknowledge(self, address: str, response: Row) -> None:
        client, number, answer = response
        self.told.acknowledged.append((self.time, client, number, answer))

    # -- what happens --------------------------------------------------------------------------------------------

    def start(self, address: str) -> None:
        self.up[address] = Replica(self, address, self.disks[address])
        self._step(address, None)

    def start_without_disk(self, address: str) -> None:
        """Let a node come back that is told that it has lost its disk."""
        self.disks[address].wipe()
        self.told.lost_disks += 1
        self.up[address] = Replica(self, address, self.disks[address])
        self.insert(address, "lost", ("a disk has failed",))

    def crash(self, address: str) -> None:
        del self.up[address]
        self.told.crashes += 1

    def send(self, sender: str, target: str, channel: str, row: Row) -> None:
        self.sent[channel] = self.sent.get(channel, 0) + 1
        if channel == "piece":
            self.told.photographs += 1
        self.messages.append((sender, target, channel, row))

    def fire(self, address: str, timer: str) -> None:
        self._ticks += 1
        self.insert(address, timer, (self._ticks, 0))

    def submit(self, address: str, client: str, number: int) -> None:
        self.told.submitted.setdefault((client, number), self.time)
        self.insert(address, "submit", (client, number, (client, number)))

    def insert(self, address: str, collection: str, row: Row, crash_at: int | None = None) -> None:
        self.up[address].machine.insert(collection, [row])
        self._step(address, crash_at)

    def _step(self, address: str, crash_at: int | None) -> None:
        self.time += 1
        try:
            self.up[address].step(crash_at)
        except CrashError:
            self.crash(address)

    def deliver(self, index: int, crash_at: int | None = None) -> None:
        sender, target, channel, row = self.messages[index]
        self.messages[index] = self.messages[-1]
        self.messages.pop()
        if target in self.up and (sender in self.cut) == (target in self.cut):
            self.insert(target, channel, row, crash_at)

    def advance(self) -> bool:
        """Let somebody do what is left to do, or deliver a message; return whether there was any of it."""
        busy = [a for a in self.up if self.up[a].machine.pending]
        if busy:
            self._step(self.random.choice(busy), None)
        elif self.messages:
            self.deliver(self.random.randrange(len(self.messages)))
        else:
            return False
        return True

    def settle_one(self, address: str) -> None:
        """Let one node do the next thing that is left to do there."""
        assert self.up[address].machine.pending, f"{address} has nothing left to do"
        self._step(address, None)

    def settle(self) -> None:
        """Step until nobody has anything left to do, and nothing is under way."""
        for _ in range(5_000):
            if not self.advance():
                return
        raise AssertionError("it never rests")

    # -- executions ----------------------------------------------------------------------------------------------

    def run_wildly(self) -> None:
        c = self.chances
        timers = ("beat", "retry", "sweep", "jump")
        kinds = ("deliver", *timers, "submit", "crash", "restart", "partition", "heal", "call")
        weights = [getattr(c, kind) for kind in kinds]
        for _ in range(c.steps):
            (what,) = self.random.choices(kinds, weights)
            busy = [a for a in self.up if self.up[a].machine.pending]
            # What is left to do comes soon, as on the network, and yet other things may come before it.
            if busy and self.random.random() < 0.7:
                self._step(self.random.choice(busy), self._crash_point())
                continue
            getattr(self, f"_do_{what}")()

    def run_in_episodes(self) -> None:
        """Let one after another lead, some of the nodes hear each other for a while, and nodes restart between.

        What the others are told is late, and may come when another one leads: that is where votes and promises of
        different views meet, which they seldom do if everything happens at any time.
        """
        steps = 0
        while steps < self.chances.steps:
            group = self.random.sample(self.addresses, len(self.addresses) // 2 + self.random.randrange(1, 3))
            for address in self.addresses:
                if address not in self.up and self.random.random() < 0.8:
                    self.told.restarts += 1
                    self._bring_back(address)
            self._ask_for_something([address for address in group if address in self.up])
            length = self.random.choice((3, 8, 15, 30))
            steps += length
            for _ in range(length):
                self._advance_among(group)
            if self.up and self.random.random() < 0.5:
                self.crash(self.random.choice(sorted(self.up)))
            for timer in ("beat_timer", "retry", "sweep"):
                if self.random.random() < 0.25:
                    self._fire_somewhere(timer)

    def _ask_for_something(self, group: Sequence[str]) -> None:
        if group and self.random.random() < 0.6:
            self.insert(self.random.choice(group), "campaign", ("it wants to",))
        for _ in range(self.random.randrange(3)):
            self._do_submit()

    def _advance_among(self, group: Sequence[str]) -> None:
        busy = [a for a in group if a in self.up and self.up[a].machine.pending]
        if busy and self.random.random() < 0.8:
            self._step(self.random.choice(busy), self._crash_point())
            return
        heard = [k for k, m in enumerate(self.messages) if m[0] in group and m[1] in group]
        if heard:
            index = self.random.choice(heard[-10:])
            if self.random.random() < self.chances.duplication:
                self.messages.append(self.messages[index])
            self.deliver(index, self._crash_point())

    def _crash_point(self) -> int | None:
        return self.random.randrange(5) if self.random.random() < self.chances.crash / 10 else None

    def _do_deliver(self) -> None:
        if not self.messages:
            return
        # Often one of the latest: otherwise what was sent again and again hides what is new, and little is done.
        newest = 6 if self.random.random() < 0.5 else len(self.messages)
        index = self.random.randrange(max(0, len(self.messages) - newest), len(self.messages))
        if self.random.random() < self.chances.duplication:
            self.messages.append(self.messages[index])
        if self.random.random() < self.chances.loss:
            self.messages.pop(index)
        else:
            self.deliver(index, self._crash_point())

    def _fire_somewhere(self, timer: str) -> None:
        if self.up:
            self.fire(self.random.choice(sorted(self.up)), timer)

    def _do_beat(self) -> None:
        self._fire_somewhere("beat_timer")

    def _do_retry(self) -> None:
        self._fire_somewhere("retry")

    def _do_sweep(self) -> None:
        self._fire_somewhere("sweep")

    def _do_submit(self) -> None:
        if not self.up:
            return
        client = self.random.choice(sorted(self.clients))
        answered = {n for _, c, n, _ in self.told.acknowledged if c == client}
        open_numbers = [n for n in range(1, self.clients[client] + 1) if n not in answered]
        # New ones as long as the session allows it, and old ones again, answered or not.
        if len(open_numbers) < 2 and (not open_numbers or self.clients[client] - open_numbers[0] < 2):
            self.clients[client] += 1
            open_numbers.append(self.clients[client])
        numbers = open_numbers if self.random.random() < 0.9 else range(1, self.clients[client] + 1)
        self.submit(self.random.choice(sorted(self.up)), client, self.random.choice(list(numbers)))

    def _do_call(self) -> None:
        """Let a node take it into its head to lead: leaders that are still there are contested, too."""
        if self.up:
            self.insert(self.random.choice(sorted(self.up)), "campaign", ("it wants to",))

    def _do_crash(self) -> None:
        if self.up:
            self.crash(self.random.choice(sorted(self.up)))

    def _do_restart(self) -> None:
        down = [a for a in self.addresses if a not in self.up]
        if down:
            self.told.restarts += 1
            self._bring_back(self.random.choice(down))

    def _bring_back(self, address: str) -> None:
        """Start a node, sometimes without its disk: one at a time, since more than half must have theirs."""
        others_have_theirs = not any(self.disks[a].rows("lost") for a in self.addresses if a != address)
        if self.chances.lost_disk and others_have_theirs and self.random.random() < self.chances.lost_disk:
            self.start_without_disk(address)
        else:
            self.start(address)

    def _do_partition(self) -> None:
        self.cut = frozenset(a for a in self.addresses if self.random.random() < 0.4)

    def _do_heal(self) -> None:
        self.cut = frozenset()

    def _do_jump(self) -> None:
        """Let the clock of a node jump ahead: all its timers are overdue many times over."""
        if self.up:
            address = self.random.choice(sorted(self.up))
            for _ in range(10):
                for timer in ("beat_timer", "retry", "sweep"):
                    if address in self.up:
                        self.fire(address, timer)

    def recover(self, rounds: int = 40) -> None:
        """Let everybody come back, lose nothing any longer, and ask again until all is answered."""
        self.cut = frozenset()
        for address in self.addresses:
            if address not in self.up:
                self.start(address)
        for _ in range(rounds):
            self.settle()
            answered = {(c, n) for _, c, n, _ in self.told.acknowledged}
            missing = [key for key in self.told.submitted if key not in answered]
            if not missing and len({len(self.disks[a].tables["trace"]) for a in self.addresses}) == 1:
                return
            for client, number in missing:
                self.submit(self.random.choice(self.addresses), client, number)
            for timer in ("beat_timer", "retry", "sweep"):
                for address in self.random.sample(self.addresses, len(self.addresses)):
                    self.fire(address, timer)


def run_execution(
    kind: Any,
    seed: int,
    *,
    steps: int = 300,
    addresses: Iterable[str] = ("a", "b", "c"),
    lost_disk: float = 0.0,
) -> Cluster:
    chances = replace(draw_chances(seed, steps), lost_disk=lost_disk)
    cluster = Cluster(kind, seed, chances, tuple(addresses))
    if seed % 2:
        cluster.run_wildly()
    else:
        cluster.run_in_episodes()
    cluster.recover()
    return cluster
