"""What may happen to the rows of a sealed stream on their way: a manifest is a count."""

from __future__ import annotations

from typing import Any

import pytest

from clew.analysis.blazes.extraction.declared import annotated
from clew.bloom import Bloom, agg, bloom, channel, imported, interface, table
from clew.coordination import synthesized
from clew.errors import UsageError
from random_network import RandomNetwork


class Counter(Bloom):
    put = interface.input("key", "value")
    get = interface.input("reqid", "key")
    out = interface.output("reqid", "count")
    log = table("key", "value")

    @bloom
    def count(self) -> None:
        self.log <= self.put
        self.temp.counted <= self.log.group(["key"], n=agg.count())
        self.out <= (self.get * self.temp.counted).pairs(lambda g, c: (g.reqid, c.n), key="key")


class Served(Bloom):
    """Sends what is put to all servers, of which each counts it."""

    puts = interface.input("key", "value")
    gets = interface.input("reqid", "key")
    outs = interface.output("reqid", "count")
    servers = table("server")
    put_msg = channel("@server", "key", "value")
    counter = imported(Counter)
    blazes = annotated(replicated=["counter"], seals={"puts": ["key"]})

    @bloom
    def send(self) -> None:
        self.put_msg <~ (self.puts * self.servers).pairs(lambda p, s: (s.server, p.key, p.value))

    @bloom
    def receive(self) -> None:
        self.counter.put <= self.put_msg.payloads()
        self.counter.get <= self.gets
        self.outs <= self.counter.out


class Filtered(Served):
    @bloom
    def receive(self) -> None:
        self.counter.put <= self.put_msg.payloads().filter(lambda p: p.value > 1)
        self.counter.get <= self.gets
        self.outs <= self.counter.out


class Shortened(Served):
    @bloom
    def send(self) -> None:
        self.put_msg <~ (self.puts * self.servers).pairs(lambda p, s: (s.server, p.key, 1))


class Sharded(Served):
    homes = table("server", "key")

    @bloom
    def send(self) -> None:
        self.put_msg <~ (self.puts * self.homes).pairs(lambda p, h: (h.server, p.key, p.value), key="key")


class InTwoWays(Served):
    @bloom
    def receive(self) -> None:
        super().receive()
        self.counter.put <= self.puts


@pytest.mark.parametrize(
    ("cls", "why"),
    [
        (Filtered, "counter.put <= ... (Filtered.receive) may merge rows, or leave some out"),
        (Shortened, "put_msg <~ ... (Shortened.send) may merge rows, or leave some out"),
        (Sharded, "put_msg <~ ... (Sharded.send) may merge rows, or leave some out"),
        (InTwoWays, "'counter.put' does not get them in one way only"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_rows_that_do_not_arrive_as_they_were_counted(cls: Any, why: str) -> None:
    with pytest.raises(UsageError) as refusal:
        synthesized(cls, "seal")
    assert refusal.value.message == f"{cls.__name__}: the rows of puts do not arrive as they were counted: {why}"
    assert refusal.value.position is not None


@pytest.mark.parametrize("seed", range(5))
def test_rows_that_do(seed: int) -> None:
    made: Any = synthesized(Served, "seal", independent=True)
    nodes: dict[str, Any] = {address: made(address) for address in ("client", "s1", "s2")}
    nodes["client"].servers.insert(("s1",), ("s2",))
    nodes["client"].puts.insert((1, 7), (1, 8), (2, 7))
    nodes["client"].puts_ended.insert((1,))
    cluster = RandomNetwork(nodes, seed)
    cluster.settle()
    for address in ("s1", "s2"):
        assert sorted(map(tuple, nodes[address].counter.log)) == [(1, 7), (1, 8)]
