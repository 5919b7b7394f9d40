"""A node that has lost its disk: it does not know what it has promised and voted, and must not deny it.

Whoever starts it says so with a row in ``lost``; an empty disk alone may be that of a new node.  Until it has
``rejoined``, it neither promises nor votes, also after further restarts.  It

1. asks the others for the latest view that they know.  When more than half have answered, it knows of all that it
   has ever opened itself, and will begin none of these again.  The questions carry a number that is new, so that
   an answer to an earlier life is not taken for one.
2. gets the log, like others that were away.
3. begins a view.  It cannot count itself, so more than half promise without it: what may have been chosen with one
   of its lost votes was voted for by one of these, too, and nobody votes in earlier views any longer.
4. takes over all votes that these have told it, in the step in which the view opens, and is a node like others.

More than half of the nodes must still have their disks: what the others have lost nobody knows.
"""

from __future__ import annotations

from clew.bloom import agg, bloom, channel, scratch, table
from clew.multipaxos.election import Election
from clew.multipaxos.views import NO_VIEW


class Rejoining(Election):
    lost = table("why", durable=True)

    inquiry = channel("@node", "sender", "nonce")
    advice = channel("@node", "sender", "nonce", "view")
    inquiries = table("nonce")
    advised = table("sender")
    informed = scratch("cnt")
    rejoining = scratch("view")

    @bloom
    def hold_back(self) -> None:
        self.unsure <= self.lost
        self.temp.ready <= (self.lost * self.informed).lefts()
        self.barred <= self.lost.notin(self.temp.ready)

    @bloom
    def inquire(self) -> None:
        self.temp.new_nonce <= (self.lost * self.beat_timer).pairs(lambda _, t: ((t.key, t.val),)).rename("nonce")
        self.inquiries <= self.temp.new_nonce
        self.inquiry <~ (self.temp.new_nonce * self.others).pairs(lambda n, o: (o.address, self.ip_port, n.nonce))
        self.temp.asked_in_vain <= (self.inquiry * self.unsure).lefts()
        self.temp.to_advise <= self.inquiry.notin(self.temp.asked_in_vain)
        self.advice <~ (self.temp.to_advise * self.latest).pairs(
            lambda i, v: (i.sender, self.ip_port, i.nonce, v.view)
        )

    @bloom
    def take_advice(self) -> None:
        self.temp.own <= (self.advice * self.inquiries).lefts(nonce="nonce")
        self.promised <= self.temp.own.project("view")
        self.advised <= self.temp.own.project("sender")
        self.temp.advisers <= self.advised.group([], cnt=agg.count())
        self.informed <= (self.temp.advisers * self.member_cnt).pairs(
            lambda a, m: (a.cnt,) if a.cnt * 2 > m.cnt else None
        )

    @bloom
    def begin_to_rejoin(self) -> None:
        # Not before it has the log: candidates that have not are refused, and nobody would lead until then.
        self.temp.level <= (self.beat * self.horizon).pairs(
            lambda b, h: (b.view,) if b.horizon <= h.instance else None
        ).rename("view")
        self.temp.not_mine <= self.temp.level.notin(self.mine)
        self.temp.ready_to_lead <= (self.temp.not_mine * self.lost * self.informed).pairs(lambda v, w, i: (w.why,))
        self.campaign <+ self.temp.ready_to_lead

    @bloom
    def rejoin(self) -> None:
        self.temp.open_now <= self.quorum.notin(self.opened)
        self.rejoining <= (self.temp.open_now * self.lost).lefts()
        self.voted <= (self.rejoining * self.vouched).rights(view="view")(
            lambda r: (r.instance, r.old_view, r.decree) if r.old_view != NO_VIEW else None
        )
        self.lost <- (self.lost * self.rejoining).lefts()
        self.inquiries <- (self.inquiries * self.rejoining).lefts()
        self.advised <- (self.advised * self.rejoining).lefts()
