"""Replication as Kafka 0.8 did it: the leader waits for the replicas that are in sync, however few these are.

Three replicas keep the log of one topic, and ``a`` leads.  Each replica reports to the coordinator once a second,
and once a second the coordinator tells the leader who has reported: these are the replicas in sync.  Who has not
is out, so that one slow replica does not stop all writing; who reports again gets what it lacks and is back in.
The leader appends what a client writes, sends it to those in sync, and acknowledges it to the client when all of
them have it.  -> ``Coordinator``, ``Replica``

What a client is promised: a write that was acknowledged is at a replica that is up, whichever node crashes.

*The bug.*  If the reports of both others get lost, the leader is in sync with itself alone.  It acknowledges what
nobody else has, and if it crashes before the others are back, that is lost.  Two lost reports and one crash, at
the right moments: ``clew check examples/replication/replication.py:lossy``

*The fix* (``careful``): with fewer than ``LEAST`` replicas in sync, the leader acknowledges nothing.  Then no two
faults break it: ``clew check examples/replication/replication.py:careful --strategy exhaustive``

``Metrics`` is what real clusters are full of: messages that have nothing to do with what was promised.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from clew.simulation import Context, Elapse, Faults, Node, Scenario, Send, VirtualTime

REPLICAS: tuple[str, ...] = ("a", "b", "c")
LEADER = "a"
#: Seconds between two reports of a replica.
REPORT = 1.0
#: So many replicas, the leader included, have to be in sync for a careful leader.
LEAST = 2


@dataclass(frozen=True)
class Report:
    """From a replica to the coordinator: I am alive."""


@dataclass(frozen=True)
class InSync:
    """From the coordinator to the leader: these replicas count."""

    replicas: tuple[str, ...]


@dataclass(frozen=True)
class Write:
    """From outside to the client, and from it to the leader."""

    value: str

    @property
    def label(self) -> str:
        return f"write {self.value}"


@dataclass(frozen=True)
class Append:
    """From the leader to a replica: the whole log, for it is short."""

    log: tuple[str, ...]


@dataclass(frozen=True)
class Appended:
    log: tuple[str, ...]


@dataclass(frozen=True)
class Acknowledged:
    value: str

    @property
    def label(self) -> str:
        return f"acknowledged {self.value}"


@dataclass(frozen=True)
class Metrics:
    """From everybody to the monitor, now and then."""

    number: int


class Monitored(Node):
    """A node that tells the monitor something ``rate`` times a second, and forgets it."""

    def __init__(self, rate: int = 0) -> None:
        self._rate = rate

    def on_start(self, ctx: Context) -> None:
        self.told = 0
        if self._rate:
            ctx.set_timer("metrics", after=1 / self._rate)

    def tell_metrics(self, ctx: Context) -> None:
        self.told += 1
        ctx.send("monitor", Metrics(self.told))
        ctx.set_timer("metrics", after=1 / self._rate)


class Coordinator(Monitored):
    """Tells the leader once a second who has reported since it said so last."""

    def on_start(self, ctx: Context) -> None:
        super().on_start(ctx)
        self.reported: frozenset[str] = frozenset()
        ctx.set_timer("announce", after=1.5 * REPORT)

    def on_message(self, ctx: Context, sender: str, message: Any) -> None:
        self.reported |= {sender}

    def on_timer(self, ctx: Context, name: str) -> None:
        if name == "metrics":
            self.tell_metrics(ctx)
        else:
            ctx.send(LEADER, InSync(tuple(sorted(self.reported | {LEADER}))))
            self.reported = frozenset()
            ctx.set_timer("announce", after=REPORT)


class Replica(Monitored):
    """``least``: how many replicas have to be in sync before the leader acknowledges anything."""

    def __init__(self, least: int = 1, rate: int = 0) -> None:
        super().__init__(rate)
        self._least = least

    def on_start(self, ctx: Context) -> None:
        super().on_start(ctx)
        self.log: tuple[str, ...] = ()
        self.in_sync: tuple[str, ...] = REPLICAS
        self.has: dict[str, tuple[str, ...]] = {}  # of the leader: the log that each replica has said it has
        self.writers: dict[str, str] = {}  # of the leader: who waits for an acknowledgement
        ctx.set_timer("report", after=REPORT)

    def on_timer(self, ctx: Context, name: str) -> None:
        if name == "metrics":
            self.tell_metrics(ctx)
        else:
            ctx.send("coordinator", Report())
            ctx.set_timer("report", after=REPORT)

    def on_message(self, ctx: Context, sender: str, message: Any) -> None:
        match message:
            case Write(value):
                if value not in self.log:
                    self.log += (value,)
                self.writers[value] = sender
                self._replicate(ctx)
            case InSync(replicas):
                self.in_sync = replicas
                self._replicate(ctx)
            case Append(log):
                # A leader that has restarted knows less than its replicas: nothing is taken back.
                self.log += tuple(value for value in log if value not in self.log)
                ctx.send(sender, Appended(self.log))
            case Appended(log):
                self.has[sender] = log
                self.log += tuple(value for value in log if value not in self.log)
        self._acknowledge(ctx)

    def _replicate(self, ctx: Context) -> None:
        for replica in self.in_sync:
            if replica != LEADER and set(self.log) - set(self.has.get(replica, ())):
                ctx.send(replica, Append(self.log))

    def _acknowledge(self, ctx: Context) -> None:
        """Acknowledge what every replica in sync has."""
        others = [r for r in self.in_sync if r != LEADER]
        if len(self.in_sync) < self._least:
            return
        for value, writer in sorted(self.writers.items()):
            if all(value in self.has.get(replica, ()) for replica in others):
                del self.writers[value]
                ctx.send(writer, Acknowledged(value))


class Client(Monitored):
    """Writes what it is told to, again and again until it is acknowledged."""

    def on_start(self, ctx: Context) -> None:
        super().on_start(ctx)
        self.waiting: tuple[str, ...] = ()
        self.acknowledged: tuple[str, ...] = ()

    def on_message(self, ctx: Context, sender: str, message: Any) -> None:
        match message:
            case Write(value):
                self.waiting += (value,)
                self._write(ctx)
            case Acknowledged(value) if value in self.waiting:
                self.waiting = tuple(w for w in self.waiting if w != value)
                self.acknowledged += (value,)

    def on_timer(self, ctx: Context, name: str) -> None:
        if name == "metrics":
            self.tell_metrics(ctx)
        else:
            self._write(ctx)

    def _write(self, ctx: Context) -> None:
        for value in self.waiting:
            ctx.send(LEADER, Write(value))
        if self.waiting:
            ctx.set_timer("again", after=0.5)


class Monitor(Node):
    """Counts what it hears; nobody is promised anything about it."""

    def on_start(self, ctx: Context) -> None:
        self.heard = 0

    def on_message(self, ctx: Context, sender: str, message: Any) -> None:
        self.heard += 1


def something_was_promised(nodes: Mapping[str, Any]) -> bool:
    """Tell whether the client was acknowledged anything: otherwise a run says nothing."""
    return "client" in nodes and bool(nodes["client"].acknowledged)


def acknowledged_writes_survive(nodes: Mapping[str, Any]) -> str | None:
    """Check that each acknowledged write is at a replica that is up."""
    for value in nodes["client"].acknowledged:
        if not any(value in nodes[name].log for name in REPLICAS if name in nodes):
            return f"{value} was acknowledged and is at no replica that is up"
    return None


def _scenario(least: int, rate: int = 0, **how: Any) -> Scenario:
    nodes: dict[str, Callable[[], Node]] = {
        "client": partial(Client, rate),
        "coordinator": partial(Coordinator, rate),
        **{name: partial(Replica, least, rate) for name in REPLICAS},
        "monitor": Monitor,
    }
    return Scenario(
        nodes=nodes,
        running=tuple(nodes),
        before=[Elapse(2.7), Send("client", Write("w1"))],
        promises=[acknowledged_writes_survive],
        assume=something_was_promised,
        time=VirtualTime(latency=0.01, until=6),
        steps=10_000,
        **how,
    )


#: What the bug takes.
BREAKING: dict[str, Any] = {
    "faults": Faults(losses=3, crashes=1),
    "expect": "counterexample",
    "expect_faults": 3,
}

lossy = _scenario(least=1, **BREAKING)
#: With ten times as many messages that do not matter.
busy = _scenario(least=1, rate=10, **BREAKING)
careful = _scenario(
    least=LEAST,
    faults=Faults(losses=2, crashes=2, restarts=2, total=2, until=3),
    expect="certified",
)
