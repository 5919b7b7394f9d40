"""The prepare phase: who leads, and what the agents promised (thesis, listings 2.3 and 2.4).

Time is divided into views.  A view is a number and the node that began it, so no two nodes begin the same; which
of two is later is decided by the number, and the node is looked at only if both have the same.  An agent that
hears of a view never votes in an earlier one, also after a restart: ``promised`` is on disk before anybody is
told.

A candidate may lead if it knows all that the agents know to be chosen: they promise nothing to one that does not,
and tell it how far they are (``ahead``).  So a promise says only how the agent voted *after* that.  It is several
messages: one for each instance, and one that says how many there are.  An answer that was given twice may arrive
mixed: until the view is open its votes do not change, other than to become certain.
"""

from __future__ import annotations

from typing import Any

from clew.bloom import Bloom, agg, bloom, channel, interface, periodic, scratch, table

#: Before all views: nobody leads it, and nobody votes in it.
NO_VIEW = (0, "")
#: Later than all views: the one of a vote for what is known to be chosen.
CHOSEN = (2**31 - 1, "")
#: What is proposed where nobody voted: a decree without requests.
NOTHING: tuple[Any, ...] = ()


class Views(Bloom):
    """Who knows the log fills ``horizon``, the first instance not known to be chosen, and ``last_vote``."""

    member = table("address")
    campaign = interface.input("why")
    retry = periodic(0.5)

    promised = table("view", durable=True)
    begun = table("view")
    known_view = scratch("view")
    latest = scratch("view")
    mine = scratch("view")
    others = scratch("address")

    #: While a row is in it, this node neither promises nor votes; ``barred``: nor begins a view.
    unsure = scratch("why")
    barred = scratch("why")
    horizon = scratch("instance")
    last_vote = scratch("instance", "view", "decree")

    prepare = channel("@agent", "leader", "view", "first")
    later = channel("@leader", "view")
    ahead = channel("@node", "sender", "horizon")
    promise = channel("@leader", "agent", "view", "first", "last")
    vouch = channel("@leader", "agent", "view", "instance", "old_view", "decree")

    new_view = scratch("view")
    granted = scratch("leader", "view", "first")
    told_votes = scratch("leader", "view", "first", "instance", "old_view", "decree")
    promises = table("agent", "view", "first", "last")
    vouched = table("agent", "view", "instance", "old_view", "decree")
    complete = scratch("view", "agent")
    member_cnt = scratch(val=["cnt"])
    promise_cnt = scratch("view", val=["cnt"])
    quorum = scratch("view")

    @bloom
    def know_views(self) -> None:
        self.others <= self.member.filter(lambda m: m.address != self.ip_port)
        self.promised <= self.prepare.project("view")
        self.promised <= self.later.project("view")
        self.known_view <= [(NO_VIEW,)]
        self.known_view <= self.promised
        self.latest <= self.known_view.argmax([], "view")
        # Not a view of an earlier life: what was proposed in it is forgotten, and would be proposed differently.
        self.mine <= (self.begun * self.latest).rights(view="view")
        self.promised <- (self.promised * self.latest).pairs(lambda p, v: (p.view,) if p.view < v.view else None)
        self.begun <- (self.begun * self.latest).pairs(lambda b, v: (b.view,) if b.view < v.view else None)

    @bloom
    def begin_view(self) -> None:
        self.temp.not_allowed <= (self.campaign * self.barred).lefts()
        self.temp.next_view <= (self.campaign.notin(self.temp.not_allowed) * self.latest).pairs(
            lambda c, v: ((v.view[0] + 1, self.ip_port),)
        )
        self.promised <+ self.temp.next_view
        self.begun <+ self.temp.next_view
        self.new_view <+ self.temp.next_view

    @bloom
    def ask_for_promises(self) -> None:
        self.temp.to_prepare <= self.new_view
        self.temp.pending <= self.mine.notin(self.quorum)
        self.temp.to_prepare <= (self.temp.pending * self.retry).lefts()
        self.temp.call <= (self.temp.to_prepare * self.horizon).pairs(lambda v, h: (v.view, h.instance))
        self.prepare <~ (self.temp.call * self.member).pairs(
            lambda c, m: (m.address, self.ip_port, c.view, c.instance)
        )

    @bloom
    def answer_candidates(self) -> None:
        self.temp.asked_now <= (self.prepare * self.latest).lefts(view="view")
        self.temp.asked_too_early <= (self.temp.asked_now * self.unsure).lefts()
        self.temp.asked <= self.temp.asked_now.notin(self.temp.asked_too_early)
        self.granted <= (self.temp.asked * self.horizon).pairs(
            lambda p, h: (p.leader, p.view, p.first) if p.first >= h.instance else None
        )
        self.ahead <~ (self.temp.asked * self.horizon).pairs(
            lambda p, h: (p.leader, self.ip_port, h.instance) if p.first < h.instance else None
        )
        self.later <~ (self.prepare * self.latest).pairs(
            lambda p, v: (p.leader, v.view) if p.view < v.view else None
        )

    @bloom
    def give_promise(self) -> None:
        # The instance before the first one, so that there is a last one if nobody voted for anything.
        self.told_votes <= self.granted(lambda g: (g.leader, g.view, g.first, g.first - 1, NO_VIEW, NOTHING))
        self.told_votes <= (self.granted * self.last_vote).pairs(
            lambda g, v: (
                (g.leader, g.view, g.first, v.instance, v.view, v.decree) if v.instance >= g.first else None
            )
        )
        self.temp.told <= self.told_votes.project("leader", "view", "first", "instance")
        self.temp.reach <= self.temp.told.group(["leader", "view", "first"], last=agg.max("instance"))
        self.promise <~ self.temp.reach(lambda r: (r.leader, self.ip_port, r.view, r.first, r.last))
        self.temp.between <= self.temp.reach.flat_map(
            lambda r: [(r.leader, r.view, r.first, i) for i in range(r.first, r.last)]
        ).rename("leader", "view", "first", "instance")
        self.temp.gaps <= self.temp.between.notin(self.temp.told)
        self.vouch <~ self.told_votes(
            lambda t: (t.leader, self.ip_port, t.view, t.instance, t.old_view, t.decree)
        )
        self.vouch <~ self.temp.gaps(lambda t: (t.leader, self.ip_port, t.view, t.instance, NO_VIEW, NOTHING))

    @bloom
    def count_promises(self) -> None:
        self.promises <= self.promise.payloads()
        self.vouched <= self.vouch.payloads()
        self.temp.expected <= self.promises.flat_map(
            lambda p: [(p.view, p.agent, p.first, p.last, i) for i in range(p.first - 1, p.last + 1)]
        ).rename("view", "agent", "first", "last", "instance")
        self.temp.missing <= self.temp.expected.notin(
            self.vouched, view="view", agent="agent", instance="instance"
        )
        self.complete <= self.promises.notin(
            self.temp.missing, view="view", agent="agent", first="first", last="last"
        )(lambda p: (p.view, p.agent))
        self.member_cnt <= self.member.group([], agg.count())
        self.promise_cnt <= self.complete.group(["view"], agg.count())
        self.temp.most <= (self.promise_cnt * self.member_cnt).pairs(
            lambda p, m: (p.view,) if p.cnt * 2 > m.cnt else None
        )
        self.quorum <= (self.temp.most * self.mine).rights(view="view")

    @bloom
    def forget_promises(self) -> None:
        self.promises <- (self.promises * self.latest).pairs(lambda p, v: p if p.view < v.view else None)
        self.vouched <- (self.vouched * self.latest).pairs(lambda p, v: p if p.view < v.view else None)
