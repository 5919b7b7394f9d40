"""Counting likes at three replicas: a counter that merges, what it promises, and three ways to break that.

A fan sends a like to ``a``, again and again until it is acknowledged.  Each replica counts the likes that it took
itself, and all keep a map from replicas to such counts, in which the larger number wins (a ``lmap`` of ``lmax``,
what others call a G-counter).  They tell each other their maps when they take a like and once a second.  The total
is the sum of the map.  -> ``Counter``, ``Fan``

What is promised: no replica that is up need know it, but together they know as many likes as were acknowledged.

- ``Eager`` acknowledges what nobody else has.  If the messages to both others are lost and ``a`` crashes before it
  says it again, the like is gone: ``clew check examples/bloom/likes.py:eager``
- ``Careful`` acknowledges when another replica has the count.  But what a replica took itself it counts in memory:
  after a restart it begins at one again, and one is no more than what the others have: ``careful``
- ``Durable`` has the likes that it took on disk: ``durable`` holds within the same bounds.

The model checker refuses ``lmap``, ``accum_pair`` and ``reduce``, and its timers know no seconds; here programs
are executed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clew.bloom import Bloom, agg, bloom, channel, interface, lmap, lmax, periodic, scratch, table
from clew.bloom.simulated import bloom_scenario, insert
from clew.simulation import Elapse, Faults, Scenario, VirtualTime

REPLICAS = ("a", "b", "c")


class Counter(Bloom):
    """What all replicas do; when they acknowledge a like is left to others."""

    peers = table("peer")
    like = channel("@replica", "fan", "number")
    thanks = channel("@fan", "number")
    gossip = channel("@peer", "sender", "counts")
    again = periodic(1)

    taken = table("fan", "number")
    unthanked = table("fan", "number", val=["likes"])
    counts = lmap(lmax)
    total = interface.output(val=["likes"])

    @bloom
    def take(self) -> None:
        self.taken <= self.like(lambda e: (e.fan, e.number))
        self.temp.own <= self.taken.group([], likes=agg.count())
        self.counts <= self.temp.own(lambda o: (self.ip_port, o.likes))
        self.unthanked <= (self.like * self.temp.own).pairs(lambda e, o: (e.fan, e.number, o.likes))

    @bloom
    def tell(self) -> None:
        self.temp.known <= self.counts.elements("replica", "likes")
        self.temp.packed <= self.temp.known.group([], counts=agg.accum_pair("replica", "likes"))
        self.temp.now <= self.like(lambda e: ("like",))
        self.temp.now <= self.again(lambda t: ("again",))
        self.gossip <~ (self.peers * self.temp.packed * self.temp.now).pairs(
            lambda p, k, n: (p.peer, self.ip_port, k.counts)
        )

    @bloom
    def merge(self) -> None:
        self.counts <= self.gossip.flat_map(lambda g: g.counts)

    @bloom
    def add_up(self) -> None:
        self.total <= self.temp.known.reduce([(0,)], lambda memo, row: [(memo[0][0] + row.likes,)], ["likes"])


def own_count(gossip: Any) -> list[tuple[str, int]]:
    """Return what a replica says of itself."""
    return [(replica, likes) for replica, likes in gossip.counts if replica == gossip.sender]


class Eager(Counter):
    """Acknowledges at once."""

    @bloom
    def thank(self) -> None:
        self.thanks <~ self.like(lambda e: (e.fan, e.number))


class Careful(Counter):
    """Acknowledges what another replica knows."""

    known_of = channel("@replica", "sender", "likes")
    told = scratch("replica", "likes")
    safe = lmax()

    @bloom
    def confirm(self) -> None:
        self.told <= self.gossip.flat_map(own_count)
        self.known_of <~ self.told(lambda t: (t.replica, self.ip_port, t.likes))
        self.safe <= self.known_of(lambda k: (k.likes,))

    @bloom
    def thank(self) -> None:
        self.temp.owed <= (self.unthanked * self.safe.elements()).pairs(
            lambda u, s: (u.fan, u.number) if u.likes <= s.val else None
        )
        self.thanks <~ self.temp.owed
        self.unthanked <- (self.unthanked * self.temp.owed).lefts(fan="fan", number="number")


class Durable(Careful):
    """Has on disk what it took."""

    taken = table("fan", "number", durable=True)


class Fan(Bloom):
    """Likes, and likes again until it is thanked."""

    press = interface.input("number")
    like = channel("@replica", "fan", "number")
    thanks = channel("@fan", "number")
    patience = periodic(0.4)
    open_likes = table("number")
    thanked = table("number")

    @bloom
    def send(self) -> None:
        self.open_likes <= self.press
        self.like <~ self.press(lambda p: ("a", self.ip_port, p.number))
        self.like <~ (self.open_likes * self.patience).lefts()(lambda o: ("a", self.ip_port, o.number))

    @bloom
    def be_thanked(self) -> None:
        self.thanked <= self.thanks.payloads()
        self.open_likes <- self.thanks.payloads()


def something_was_acknowledged(nodes: Mapping[str, Any]) -> bool:
    return "fan" in nodes and len(nodes["fan"].thanked) > 0


def no_like_is_lost(nodes: Mapping[str, Any]) -> str | None:
    """Check that the replicas that are up know together of all that was acknowledged."""
    known: dict[str, int] = {}
    for name in REPLICAS:
        for replica, likes in nodes[name].counts if name in nodes else ():
            known[replica] = max(likes, known.get(replica, 0))
    thanked = len(nodes["fan"].thanked)
    if sum(known.values()) < thanked:
        return f"{thanked} likes were acknowledged, and the replicas that are up know of {sum(known.values())}"
    return None


def _scenario(kind: type[Counter], faults: Faults) -> Scenario:
    return bloom_scenario(
        {"fan": Fan, **dict.fromkeys(REPLICAS, kind)},
        given={name: {"peers": [(other,) for other in REPLICAS if other != name]} for name in REPLICAS},
        before=[insert("fan", "press", (1,)), Elapse(1.5), insert("fan", "press", (2,))],
        promises=[no_like_is_lost],
        assume=something_was_acknowledged,
        time=VirtualTime(latency=0.01, until=3),
        faults=faults,
    )


eager = _scenario(Eager, Faults(losses=2, crashes=1))
careful = _scenario(Careful, Faults(losses=0, crashes=0, restarts=1, outages=(0.2,)))
durable = _scenario(Durable, Faults(losses=0, crashes=0, restarts=1, outages=(0.2,)))
