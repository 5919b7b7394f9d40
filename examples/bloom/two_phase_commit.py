"""Two-phase commit: all peers do it, or none (thesis, listings 2.1 and 2.2).

The coordinator asks its peers to prepare a transaction and counts their votes.  If all vote "yes" it commits, at
the first "no" it aborts; every peer is told.  ``transaction`` is the state at the coordinator: one row for each
transaction, replaced when it is decided and never after that.

``TimeoutCoordinator`` does not wait forever: with every row of ``ticker`` it counts one more for each transaction
that is still being prepared, and aborts at more than ten.

``Peer`` votes "no" on what is in ``refused``.  It can neither commit nor abort on its own after a "yes"; that a
coordinator that is gone blocks it is the known weakness of this protocol.
"""

from __future__ import annotations

from clew.bloom import Bloom, agg, bloom, channel, interface, periodic, scratch, table

PATIENCE = 10


class CommitMessages(Bloom):
    prepare_msg = channel("@peer", "coordinator", "txn")
    vote_msg = channel("@coordinator", "peer", "txn", val=["vote"])
    state_msg = channel("@peer", "coordinator", "txn", val=["state"])


class Coordinator(CommitMessages):
    peers = table("peer")
    begin = interface.input("txn")
    decided = interface.output("txn", val=["state"])
    transaction = table("txn", val=["state"])
    votes = table("txn", "peer", val=["vote"])
    peer_cnt = scratch(val=["cnt"])
    yes_cnt = scratch("txn", val=["cnt"])
    started = scratch("txn")
    preparing = scratch("txn")
    to_commit = scratch("txn")
    to_abort = scratch("txn")
    outcome = scratch("txn", val=["state"])

    @bloom
    def start_preparing(self) -> None:
        self.started <= self.begin.notin(self.transaction, txn="txn")
        self.transaction <+ self.started(lambda t: (t.txn, "prepare"))
        self.prepare_msg <~ (self.started * self.peers).pairs(lambda t, p: (p.peer, self.ip_port, t.txn))

    @bloom
    def count(self) -> None:
        self.votes <= self.vote_msg(lambda v: (v.txn, v.peer, v.vote))
        self.peer_cnt <= self.peers.group([], agg.count())
        self.yes_cnt <= self.votes.filter(lambda v: v.vote == "yes").group(["txn"], agg.count())
        self.preparing <= self.transaction(lambda t: (t.txn,) if t.state == "prepare" else None)

    @bloom
    def decide(self) -> None:
        self.temp.unanimous <= (self.yes_cnt * self.peer_cnt).lefts(cnt="cnt")
        self.to_commit <= (self.preparing * self.temp.unanimous).lefts(txn="txn")
        self.temp.against <= self.votes.filter(lambda v: v.vote == "no")
        self.to_abort <= (self.preparing * self.temp.against).lefts(txn="txn")

    @bloom
    def change_state(self) -> None:
        # A timeout may come in the step of the last "yes": then the transaction commits.
        self.outcome <= self.to_commit(lambda t: (t.txn, "commit"))
        self.outcome <= self.to_abort.notin(self.to_commit)(lambda t: (t.txn, "abort"))
        self.transaction <- (self.transaction * self.outcome).lefts(txn="txn")
        self.transaction <+ self.outcome
        self.decided <= self.outcome

    @bloom
    def tell(self) -> None:
        self.state_msg <~ (self.peers * self.outcome).pairs(
            lambda p, t: (p.peer, self.ip_port, t.txn, t.state)
        )


class TimeoutCoordinator(Coordinator):
    """Also says again, with every tick, what peers may have missed."""

    ticker = periodic(1)
    tick_cnt = table("txn", val=["cnt"])

    @bloom
    def start_counter(self) -> None:
        self.tick_cnt <+ self.started(lambda t: (t.txn, 0))

    @bloom
    def increment(self) -> None:
        self.temp.counted <= (self.tick_cnt * self.ticker).lefts()
        self.tick_cnt <- self.temp.counted
        self.tick_cnt <+ (self.temp.counted * self.preparing).lefts(txn="txn")(lambda t: (t.txn, t.cnt + 1))

    @bloom
    def give_up(self) -> None:
        self.temp.too_late <= self.tick_cnt.filter(lambda t: t.cnt > PATIENCE)
        self.to_abort <= (self.preparing * self.temp.too_late).lefts(txn="txn")

    @bloom
    def remind(self) -> None:
        self.temp.reminded <= (self.transaction * self.ticker).lefts()
        self.prepare_msg <~ (self.temp.reminded * self.peers).pairs(
            lambda t, p: (p.peer, self.ip_port, t.txn) if t.state == "prepare" else None
        )
        self.state_msg <~ (self.temp.reminded * self.peers).pairs(
            lambda t, p: (p.peer, self.ip_port, t.txn, t.state) if t.state != "prepare" else None
        )


class Peer(CommitMessages):
    refused = table("txn")
    outcome = table("txn", val=["state"])

    @bloom
    def vote(self) -> None:
        self.vote_msg <~ self.prepare_msg.notin(self.refused, txn="txn")(
            lambda p: (p.coordinator, p.peer, p.txn, "yes")
        )
        self.vote_msg <~ (self.prepare_msg * self.refused).lefts(txn="txn")(
            lambda p: (p.coordinator, p.peer, p.txn, "no")
        )

    @bloom
    def learn(self) -> None:
        self.outcome <= self.state_msg(lambda s: (s.txn, s.state))
