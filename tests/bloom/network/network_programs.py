"""The programs that the tests of the network run, and waiting for what happens in them."""

from __future__ import annotations

import time
from collections.abc import Callable

from clew.bloom import Bloom, bloom, channel, interface, loopback, periodic, table


class Echo(Bloom):
    """Sends what it is asked to, and gets it back."""

    ask = interface.input("dst", "what")
    answer = interface.output("what")
    ping = channel("@dst", "src", "what")
    pong = channel("@dst", "what")
    seen = table("what")

    @bloom
    def rules(self) -> None:
        self.ping <~ self.ask(lambda a: (a.dst, self.ip_port, a.what))
        self.pong <~ self.ping(lambda p: (p.src, p.what))
        self.answer <= self.pong(lambda p: (p.what,))
        self.seen <= self.ping(lambda p: (p.what,))


class Sink(Bloom):
    """Answers as ``Echo`` does, and keeps nothing."""

    ping = channel("@dst", "src", "what")
    pong = channel("@dst", "what")

    @bloom
    def rules(self) -> None:
        self.pong <~ self.ping(lambda p: (p.src, p.what))


class SecretSink(Sink):
    """For holders of the secret of the tests."""

    def __init__(self, *, data: str | None = None) -> None:
        super().__init__(data=data, secret="a secret of the tests")


class Store(Bloom):
    """A durable key-value store that acknowledges a put in the step that leaves it for the next."""

    put = channel("@dst", "src", "reqid", val=["key", "value"])
    acknowledged = channel("@dst", "reqid")
    kept = table("key", val=["value"], durable=True)

    @bloom
    def rules(self) -> None:
        self.kept <+ self.put(lambda p: (p.key, p.value))
        self.kept <- (self.put * self.kept).rights(key="key")
        self.acknowledged <~ self.put(lambda p: (p.src, p.reqid))


class Client(Bloom):
    """Puts into a store."""

    wish = interface.input("store", "reqid", val=["key", "value"])
    done = interface.output("reqid")
    put = channel("@dst", "src", "reqid", val=["key", "value"])
    acknowledged = channel("@dst", "reqid")

    @bloom
    def rules(self) -> None:
        self.put <~ self.wish(lambda w: (w.store, self.ip_port, w.reqid, w.key, w.value))
        self.done <= self.acknowledged(lambda a: (a.reqid,))


class Clock(Bloom):
    """Remembers when its timer fired."""

    timer = periodic(0.02)
    fired = table("number", val=["time"])

    @bloom
    def rules(self) -> None:
        self.fired <= self.timer


class Doubler(Bloom):
    """Answers questions without a network."""

    question = interface.input("ident", val=["number"])
    result = interface.output("ident", val=["number"])
    again = loopback("ident", val=["number"])
    log = table("ident")

    @bloom
    def rules(self) -> None:
        self.again <~ self.question(lambda q: (q.ident, q.number * 2))
        self.result <= self.again
        self.log <+ self.question(lambda q: (q.ident,))


def until(holds: Callable[[], object], seconds: float = 10) -> None:
    """Waits for another thread."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.001)
