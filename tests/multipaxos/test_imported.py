"""Multipaxos under a name in another program, as ``docs/multipaxos.md`` shows it."""

from __future__ import annotations

from clew.bloom import Bloom, bloom, imported, interface, scratch, table
from clew.multipaxos import Multipaxos
from random_network import RandomNetwork

NAMES = ("a", "b", "c")


class Accounts(Bloom):
    """Deposits are decrees, and take effect when they are read back from the log."""

    deposit = interface.input("client", "number", val=["account", "amount"])
    receipt = interface.output("client", "number", val=["balance"])

    paxos = imported(Multipaxos)
    balance = table("account", val=["amount"], durable=True)
    after = scratch("account", "amount", "client", "number")

    @bloom
    def log_first(self) -> None:
        self.paxos.submit <= self.deposit(lambda d: (d.client, d.number, (d.account, d.amount)))

    @bloom
    def apply(self) -> None:
        self.temp.known <= (self.paxos.entry * self.balance).pairs(
            lambda e, b: (b.account, b.amount + e.operation[1], e.client, e.number)
            if b.account == e.operation[0]
            else None
        )
        self.after <= self.temp.known
        self.after <= self.paxos.entry.notin(self.temp.known, client="client", number="number")(
            lambda e: (e.operation[0], e.operation[1], e.client, e.number)
        )
        self.balance <- (self.balance * self.after).lefts(account="account")
        self.balance <+ self.after.project("account", "amount")
        self.paxos.answer <= self.after(lambda a: (a.client, a.number, a.amount))
        self.receipt <= self.paxos.response

    @bloom
    def keep_state(self) -> None:
        self.paxos.state <= (self.balance * self.paxos.photograph).lefts()(lambda b: ((b.account, b.amount),))
        self.balance <- (self.balance * self.paxos.installing).lefts()
        self.balance <+ self.paxos.install(lambda i: i.part)


def let_time_pass(network: RandomNetwork, ticks: int) -> None:
    for _ in range(ticks):
        for name in network.nodes:
            for timer in ("paxos.beat_timer", "paxos.retry", "paxos.sweep"):
                network.fire(name, timer)
        network.run(10)


def test_a_program_that_imports_it_is_the_same_at_all_replicas() -> None:
    network = RandomNetwork({name: Accounts(name) for name in NAMES}, 1)
    for node in network.nodes.values():
        node.paxos.member.insert(*((name,) for name in NAMES))
    let_time_pass(network, 8)
    network.nodes["a"].deposit.insert(("ann", 1, "x", 10), ("ann", 2, "y", 5))
    network.nodes["b"].deposit.insert(("bob", 1, "x", 7))
    let_time_pass(network, 6)
    for node in network.nodes.values():
        assert sorted(node.balance) == [("x", 17), ("y", 5)]
    assert network.refused == []


def test_a_repeated_request_is_answered_again_and_not_done_again() -> None:
    network = RandomNetwork({name: Accounts(name) for name in NAMES}, 2)
    for node in network.nodes.values():
        node.paxos.member.insert(*((name,) for name in NAMES))
    let_time_pass(network, 8)
    network.nodes["a"].deposit.insert(("ann", 1, "x", 10))
    let_time_pass(network, 6)
    for name in NAMES:
        network.nodes[name].deposit.insert(("ann", 1, "x", 10))
        network.nodes[name].tick()
        assert list(network.nodes[name].receipt) == [("ann", 1, 10)]
    let_time_pass(network, 6)
    for node in network.nodes.values():
        assert list(node.balance) == [("x", 10)]
