"""The voting phase: the leader proposes decrees for instances of the log, and agents vote (listing 2.5).

When a view opens, the leader proposes what its promises constrain it to: for each instance that some agent
voted for, the vote of the latest view, and nothing where nobody voted.  After these come new decrees, one a
step, each for the next instance; up to ``window`` instances may be under way.  In a view there is one proposal
for an instance.

Agents vote unless they know a later view; the vote is on disk before the leader is told.  What more than half of
them voted for is chosen.  The others are told the view and the instance alone, since they have the decree; who
has not gets it when it catches up (``catching_up``).
"""

from __future__ import annotations

from clew.bloom import agg, bloom, channel, scratch, table
from clew.multipaxos.views import CHOSEN, NOTHING, Views


class Votes(Views):
    """Who knows requests fills ``next_decree`` with at most one row, the decree to propose next."""

    #: How many instances may be under way, from the first that is not chosen.
    window = 8

    voted = table("instance", "view", val=["decree"], durable=True)
    chosen = table("instance", val=["decree"], durable=True)

    next_decree = scratch(val=["decree"])
    recovered = scratch("view", "first", "next")
    opened = table("view")
    leading = scratch("view")
    turn = table("view", val=["instance"])
    may_propose = scratch("view", "instance")
    new_proposal = scratch("view", "instance", "decree")
    proposal = scratch("view", "instance", val=["decree"])
    proposed = table("view", "instance", val=["decree"])

    vote = channel("@agent", "leader", "view", "instance", "decree")
    accept = channel("@leader", "agent", "view", "instance")
    commit = channel("@agent", "view", "instance")
    accepts = table("view", "instance", "agent")
    passed = scratch("view", "instance")
    committed = table("view", "instance")
    announced = table("view", "instance")

    @bloom
    def say_votes(self) -> None:
        self.temp.known <= self.voted(lambda v: (v.instance, v.view, v.decree))
        self.temp.known <= self.chosen(lambda c: (c.instance, CHOSEN, c.decree))
        self.last_vote <= self.temp.known.argmax(["instance"], "view")

    @bloom
    def open_view(self) -> None:
        self.temp.opening <= self.quorum.notin(self.opened)
        self.opened <+ self.temp.opening
        self.temp.reports <= (self.temp.opening * self.vouched).rights(view="view")(
            lambda r: (r.view, r.instance, r.old_view, r.decree)
        )
        self.temp.constraints <= self.temp.reports.argmax(["view", "instance"], "old_view")
        # What is before the horizon is in the log, whatever agents said of it.
        self.proposal <= (self.temp.constraints * self.horizon).pairs(
            lambda r, h: (r.view, r.instance, r.decree) if r.instance >= h.instance else None
        )
        self.temp.told_of <= self.temp.reports.project("view", "instance")
        self.temp.reported <= self.temp.told_of.group(["view"], last=agg.max("instance"))
        self.recovered <= (self.temp.reported * self.horizon).pairs(
            lambda r, h: (r.view, h.instance, r.last + 1 if r.last >= h.instance else h.instance)
        )
        # Of an agent whose promise is not complete, later votes may be known and earlier ones not; enough others
        # have not voted for those, or they would be known.
        self.temp.spanned <= self.recovered.flat_map(
            lambda r: [(r.view, i) for i in range(r.first, r.next)]
        ).rename("view", "instance")
        self.proposal <= self.temp.spanned.notin(self.temp.told_of)(lambda s: (s.view, s.instance, NOTHING))
        self.turn <+ self.recovered.project("view", "next")

    @bloom
    def propose(self) -> None:
        window = self.window
        self.leading <= (self.opened * self.mine).lefts(view="view")
        self.temp.next_turn <= (self.turn * self.leading).lefts(view="view")
        self.may_propose <= (self.temp.next_turn * self.horizon).pairs(
            lambda t, h: (t.view, t.instance) if t.instance < h.instance + window else None
        )
        self.new_proposal <= (self.may_propose * self.next_decree).pairs(
            lambda t, d: (t.view, t.instance, d.decree)
        )
        self.proposal <= self.new_proposal
        self.turn <- self.new_proposal(lambda n: (n.view, n.instance))
        self.turn <+ self.new_proposal(lambda n: (n.view, n.instance + 1))
        self.proposed <+ self.proposal

    @bloom
    def ask_for_votes(self) -> None:
        self.temp.to_vote <= self.proposal
        self.temp.open_votes <= (self.proposed * self.mine).lefts(view="view")
        self.temp.to_vote <= (self.temp.open_votes * self.retry).lefts()
        self.vote <~ (self.temp.to_vote * self.member).pairs(
            lambda p, m: (m.address, self.ip_port, p.view, p.instance, p.decree)
        )

    @bloom
    def cast_vote(self) -> None:
        self.promised <= self.vote.project("view")
        self.temp.in_view <= (self.vote * self.latest).lefts(view="view")
        self.temp.too_early <= (self.temp.in_view * self.unsure).lefts()
        self.temp.valid <= self.temp.in_view.notin(self.temp.too_early)
        self.voted <= self.temp.valid(lambda v: (v.instance, v.view, v.decree))
        self.accept <~ self.temp.valid(lambda v: (v.leader, self.ip_port, v.view, v.instance))
        self.later <~ (self.vote * self.latest).pairs(
            lambda v, n: (v.leader, n.view) if v.view < n.view else None
        )

    @bloom
    def count_votes(self) -> None:
        self.accepts <= self.accept(lambda a: (a.view, a.instance, a.agent))
        self.temp.accept_cnt <= self.accepts.group(["view", "instance"], cnt=agg.count())
        self.passed <= (self.temp.accept_cnt * self.member_cnt).pairs(
            lambda c, m: (c.view, c.instance) if c.cnt * 2 > m.cnt else None
        )
        self.temp.news <= self.passed.notin(self.announced)
        self.announced <+ self.temp.news
        self.commit <~ (self.temp.news * self.others).pairs(lambda n, o: (o.address, n.view, n.instance))

    @bloom
    def learn_chosen(self) -> None:
        self.committed <= self.passed
        self.committed <= self.commit.payloads()
        self.chosen <= (self.committed * self.voted).pairs(
            lambda c, v: (c.instance, v.decree), view="view", instance="instance"
        )

    @bloom
    def forget_votes(self) -> None:
        self.voted <- (self.voted * self.chosen).lefts(instance="instance")
        self.proposed <- (self.proposed * self.chosen).lefts(instance="instance")
        self.committed <- (self.committed * self.chosen).lefts(instance="instance")
        self.accepts <- (self.accepts * self.chosen).lefts(instance="instance")
        self.announced <- (self.announced * self.chosen).lefts(instance="instance")
        self.turn <- (self.turn * self.latest).pairs(lambda t, v: t if t.view < v.view else None)
        self.opened <- (self.opened * self.latest).pairs(lambda t, v: t if t.view < v.view else None)
