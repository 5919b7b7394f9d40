"""Programs for the tests of simulated nodes, each with one thing to be seen."""

from __future__ import annotations

from typing import Any

from clew.bloom import Bloom, agg, bloom, channel, interface, lmap, lmax, loopback, periodic, scratch, stdio, table
from clew.simulation import World


class Log(Bloom):
    """Keeps what it is told, and tells its peers; ``latest`` is what it was told in the latest step."""

    peer = table("address")
    tell = interface.input("what")
    said = channel("@to", "what")
    log = table("what")
    latest = interface.output("what")

    @bloom
    def keep(self) -> None:
        self.latest <= self.tell
        self.latest <= self.said.payloads()
        self.log <= self.latest
        self.said <~ (self.tell * self.peer).pairs(lambda t, p: (p.address, t.what))


class Countdown(Bloom):
    """Counts down one by one, a step each, and says so at the end."""

    begin = interface.input("number")
    left = scratch("number")
    done = channel("@to", "number")
    seen = table("number")

    @bloom
    def count(self) -> None:
        self.left <= self.begin
        self.left <+ self.left(lambda r: (r.number - 1,) if r.number else None)
        self.seen <= self.left
        self.done <~ self.left(lambda r: ("b", r.number) if r.number == 0 else None)


class Acknowledging(Bloom):
    """Acknowledges at once what is on disk a step later."""

    put = channel("@server", "client", "what")
    done = channel("@client", "what")
    stored = table("what", durable=True)
    forgotten = table("what")

    @bloom
    def take(self) -> None:
        self.stored <+ self.put(lambda p: (p.what,))
        self.forgotten <= self.put(lambda p: (p.what,))
        self.done <~ self.put(lambda p: (p.client, p.what))


class Hearing(Bloom):
    """Keeps what was acknowledged, and counts how often, with what the model checker refuses."""

    done = channel("@client", "what")
    heard = table("what")
    times = lmap(lmax)
    together = table(val=["all"])

    @bloom
    def hear(self) -> None:
        self.heard <= self.done.payloads()
        self.times <= self.done(lambda d: (d.what, 1))
        self.temp.now <= self.heard.group([], agg.accum("what"))
        self.together <+ self.temp.now.notin(self.together)
        self.together <- self.together.notin(self.temp.now)


class Ticking(Bloom):
    """Has two timers, and keeps their rows."""

    quick = periodic(0.5)
    slow = periodic(2)
    ticks = table("timer", "number", "time")

    @bloom
    def keep(self) -> None:
        self.ticks <= self.quick(lambda t: ("quick", t.key, t.val))
        self.ticks <= self.slow(lambda t: ("slow", t.key, t.val))


class Together(Bloom):
    """Keeps which rows came in one step."""

    word = channel("@to", "text")
    batches = table("all")

    @bloom
    def keep(self) -> None:
        self.temp.all_words <= self.word.group([], agg.accum("text"))
        self.batches <= self.temp.all_words


class Echo(Bloom):
    """Talks to itself, over a channel and a loopback, and prints."""

    begin = interface.input("what")
    mine = channel("@to", "what")
    again = loopback("what")
    heard = table("how", "what")
    out = stdio()

    @bloom
    def talk(self) -> None:
        self.mine <~ self.begin(lambda b: (self.ip_port, b.what))
        self.again <~ self.mine.payloads()
        self.heard <= self.mine(lambda m: ("channel", m.what))
        self.heard <= self.again(lambda a: ("loopback", a.what))
        self.out <~ self.again(lambda a: (f"again {a.what}",))


def at(world: World, name: str) -> Any:
    """Return a node that is up: its collections are attributes that no class declares."""
    return world.nodes[name]


def rows(collection: Any) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in collection]
