"""A node whose invariant is broken ends: whoever runs it is told, and nobody else hears of its last step."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from bloom.network.network_programs import until
from clew.bloom import Bloom, InvariantError, bloom, channel, interface, table

# mypy: disable-error-code="comparison-overlap, operator"


class Ledger(Bloom):
    """Books an amount in the step after it was asked for, and acknowledges it at once."""

    wish = channel("@server", "client", "amount")
    booked = table("client", "amount", durable=True)
    done = channel("@client", "amount")

    @bloom
    def book(self) -> None:
        self.booked <+ self.wish(lambda w: (w.client, w.amount))
        self.done <~ self.wish(lambda w: (w.client, w.amount))

    @bloom
    def invariants(self) -> None:
        self.die <= self.booked(lambda b: (b.amount,) if b.amount < 0 else None)


class Buyer(Bloom):
    buy = interface.input("server", "amount")
    wish = channel("@server", "client", "amount")
    done = channel("@client", "amount")
    heard = table("amount")

    @bloom
    def rules(self) -> None:
        self.wish <~ self.buy(lambda b: (b.server, self.ip_port, b.amount))
        self.heard <= self.done.payloads()


def test_nothing_of_the_last_step_is_written_or_told(tmp_path: Path) -> None:
    with Buyer() as buyer:
        ledger = Ledger(data=tmp_path)
        ledger.start()
        buyer.insert_and_wait(
            buyer.buy, (ledger.ip_port, 3), buyer.heard, where=lambda h: h.amount == 3, timeout=30
        )
        buyer.buy.insert((ledger.ip_port, -1))
        until(lambda: not ledger.running)
        with pytest.raises(InvariantError, match=r"Ledger\.invariants: die\(amount=-1\)"):
            ledger.stop()
        assert (buyer.ip_port, -1) in ledger.booked, "it can be looked at"
        with Ledger(data=tmp_path) as again:
            assert list(again.booked) == [(buyer.ip_port, 3)]
            # Its answer comes after whatever the one that ended would have sent.
            buyer.insert_and_wait(
                buyer.buy, (again.ip_port, 4), buyer.heard, where=lambda h: h.amount == 4, timeout=30
            )
        assert sorted(h.amount for h in buyer.heard) == [3, 4]


class Doubtful(Bloom):
    question = interface.input("x")
    answer = interface.output("x")

    @bloom
    def rules(self) -> None:
        self.answer <= self.question.filter(lambda q: q.x > 0)
        self.die <= self.question.filter(lambda q: q.x < 0)


def test_run_raises_and_so_does_the_next_one() -> None:
    node = Doubtful()
    node.question.insert((-1,))
    for _ in range(2):
        with pytest.raises(InvariantError, match=r"die\(x=-1\)"):
            node.run()


def test_who_waits_for_an_answer_is_told() -> None:
    node = Doubtful()
    node.start()
    with pytest.raises(InvariantError, match=r"die\(x=-1\)"):
        node.insert_and_wait(node.question, (-1,), node.answer, timeout=30)
    with pytest.raises(InvariantError):
        node.stop()


def test_callbacks_of_the_last_step_are_not_called() -> None:
    heard: list[Any] = []

    async def play() -> None:
        node = Doubtful()
        node.on(node.question, heard.extend)
        node.question.insert((1,))
        with pytest.raises(InvariantError):
            await node.run_async(lambda: node.question.insert((-1,)))

    asyncio.run(play())
    assert heard == []
