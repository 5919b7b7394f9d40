"""The availability revision: several NameNodes of a partition, which agree on the order of changes by Multipaxos.

One rule interposes: what is ``tentative`` becomes a request for a decree.  It takes effect at each NameNode when
it is read back from the local log, in order, so all of them have the same tree, and any can take over at any time.

Clients are served by the one that leads.  A read must see all that was acknowledged before it was asked for, by
whomever.  So the leader asks the others, after the read has come, whether they know of a later view than its own;
if more than half say no, nothing was decided without it until then.  And it waits until it has applied all that it
had proposed when the read came.  Nothing of that touches a disk.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from clew.bloom import agg, bloom, channel, imported, lmax, scratch, table
from clew.boomfs.messages import READS
from clew.boomfs.namenode.node import NameNodeBase
from clew.boomfs.namenode.order import Changes
from clew.multipaxos import Multipaxos

#: Commands that any NameNode answers, of what it knows itself.
_LOCAL = frozenset({"cluster", "status", "lost"})
#: A read for which nobody vouches in so many seconds is forgotten: its client asks again.
_PATIENCE = 2.0


class ChangeLog(Multipaxos):
    """The log of one partition."""

    #: A session asks for one thing at a time; what is late of it must still be known.
    remembered = 4


class ReplicatedOrder(Changes):
    """``leads``: this NameNode believes to lead, in this view."""

    paxos = imported(ChangeLog)

    submitted = table("session", "number")
    leads = scratch("view")
    fellow = scratch("addr")
    confirm = channel("@namenode", "leader", "view", "round")
    confirmed = channel("@namenode", "fellow", "view", "round")
    round_now = lmax()
    arriving = scratch("client", "session", "number", "command", "path", "arg")
    held = table(
        *("client", "session", "number", "command", "path", "arg", "view", "round", "until", "since")
    )
    vouched = table("view", "round", "fellow")
    sure = scratch("view", "round")
    ready_reads = scratch("client", "session", "number", "command", "path", "arg")

    @bloom
    def log_first(self) -> None:
        self.temp.led <= (self.tentative * self.leads).lefts()
        # Once: it is in the log's queue from then on, with the time that it has got.
        self.temp.new_to_log <= self.temp.led.notin(self.submitted, session="session", number="number")
        self.submitted <+ self.temp.new_to_log.project("session", "number")
        self.submitted <- (self.submitted * self.answered).pairs(
            lambda s, a: (s.session, s.number) if s.number <= a.number else None, session="session"
        )
        self.paxos.submit <= (self.temp.new_to_log * self.clock).pairs(
            lambda t, c: (t.session, t.number, (t.command, t.path, t.arg, c.now))
        )

    @bloom
    def read_back(self) -> None:
        self.decree <= (self.paxos.entry * self.due).pairs(lambda e, d: (d.seq, e.client, e.number, *e.operation))

    @bloom
    def know_the_leader(self) -> None:
        self.leads <= self.paxos.leading(lambda v: (v.view,))
        self.fellow <= self.paxos.member(lambda m: None if m.address == self.ip_port else (m.address,))
        # Who asks another one is told whom to ask.
        self.temp.followers <= (self.asked * self.paxos.leader).pairs(
            lambda a, p: (
                (a.client, a.session, a.number, p.address)
                if p.address != self.ip_port and a.command not in _LOCAL
                else None
            )
        ).rename("client", "session", "number", "leader")
        self.elsewhere <~ self.temp.followers

    # -- reads ---------------------------------------------------------------------------------------------------

    @bloom
    def hold_reads(self) -> None:
        self.reading <= self.asked.filter(lambda a: a.command in _LOCAL)
        self.arriving <= self.asked.filter(lambda a: a.command in READS and a.command not in _LOCAL)
        self.round_now <= [(0,)]
        # All that arrive in a step are one round.
        self.temp.rounds <= (self.arriving * self.leads * self.round_now.elements("round")).pairs(
            lambda a, v, r: (v.view, r.round + 1)
        ).rename("view", "round")
        self.round_now <+ self.temp.rounds(lambda r: (r.round,))
        self.confirm <~ (self.temp.rounds * self.fellow).pairs(
            lambda r, f: (f.addr, self.ip_port, r.view, r.round)
        )
        self.temp.proposed_to <= (self.temp.rounds * self.paxos.turn).pairs(
            lambda r, t: (r.view, r.round, t.instance), view="view"
        ).rename("view", "round", "until")
        self.held <+ (self.arriving * self.temp.proposed_to * self.clock).pairs(
            lambda a, r, c: (
                a.client, a.session, a.number, a.command, a.path, a.arg, r.view, r.round, r.until, c.now
            )
        )

    @bloom
    def vouch(self) -> None:
        self.confirmed <~ (self.confirm * self.paxos.latest).pairs(
            lambda c, v: (c.leader, self.ip_port, c.view, c.round), view="view"
        )
        self.vouched <= self.confirmed(lambda c: (c.view, c.round, c.fellow))

    @bloom
    def let_readers_in(self) -> None:
        self.temp.counts_of_rounds <= self.vouched.group(["view", "round"], cnt=agg.count())
        # With itself, more than half.
        self.sure <= (self.temp.counts_of_rounds * self.paxos.member_cnt).pairs(
            lambda c, m: (c.view, c.round) if (c.cnt + 1) * 2 > m.cnt else None
        )
        self.temp.vouched_for <= (self.held * self.sure).lefts(view="view", round="round")
        self.temp.answerable <= (self.temp.vouched_for * self.paxos.here).pairs(
            lambda h, p: (
                (h.client, h.session, h.number, h.command, h.path, h.arg, h.view, h.round, h.until, h.since)
                if p.instance >= h.until
                else None
            )
        ).rename("client", "session", "number", "command", "path", "arg", "view", "round", "until", "since")
        self.reading <= self.temp.answerable.project("client", "session", "number", "command", "path", "arg")
        self.held <- self.temp.answerable
        self.held <- (self.held * self.times).pairs(
            lambda h, t: (
                (h.client, h.session, h.number, h.command, h.path, h.arg, h.view, h.round, h.until, h.since)
                if h.since < t.val - _PATIENCE
                else None
            )
        )
        self.vouched <- (self.vouched * self.times).lefts().notin(self.held, view="view", round="round")

    # -- replicas that were away ---------------------------------------------------------------------------------

    @bloom
    def keep_state(self) -> None:
        """Say what is replicated: all of it, and nothing that DataNodes tell."""
        self.paxos.state <= (self.file * self.paxos.photograph).lefts()(
            lambda f: (("file", f.fileid, f.parentid, f.name, f.is_dir, f.time),)
        )
        self.paxos.state <= (self.fchunk * self.paxos.photograph).lefts()(
            lambda c: (("fchunk", c.chunk, c.fileid, c.time),)
        )
        self.paxos.state <= (self.sealed * self.paxos.photograph).lefts()(
            lambda s: (("sealed", s.chunk, s.length, s.time),)
        )
        self.paxos.state <= (self.answered * self.paxos.photograph).lefts()(
            lambda a: (("answered", a.session, a.number, a.ok, a.result, a.time),)
        )
        self.paxos.state <= (self.last * self.paxos.photograph).lefts()(lambda s: (("last", s.seq),))
        for name in ("file", "fchunk", "sealed", "answered", "last"):
            replicated = getattr(self, name)
            replicated <- (replicated * self.paxos.installing).lefts()
            replicated <+ self.paxos.install(lambda i, name=name: i.part[1:] if i.part[0] == name else None)


class ReplicatedNameNode(NameNodeBase, ReplicatedOrder):
    """A NameNode of several of its partition.  ``cluster`` names them all; without it, there is but this one."""

    def __init__(
        self,
        address: str | None = None,
        *,
        partition: int = 0,
        cluster: Sequence[Sequence[str]] = (),
        **options: Any,
    ) -> None:
        super().__init__(address, partition=partition, cluster=cluster, **options)
        group = cluster[partition] if cluster else [self.ip_port]
        self.paxos.member.insert(*((addr,) for addr in group))

    @bloom
    def look_after_replicas(self) -> None:
        self.check <= (self.times * self.leads).lefts()(lambda t: (t.val,))
