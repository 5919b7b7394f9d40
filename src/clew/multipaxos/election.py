"""Who leads: a node that hears of no leader for a while begins a view.

The leader of an open view sends a ``beat`` with each row of ``beat_timer``, and says how far it knows the
log.  A node that has heard neither a beat nor a proposal of the latest view for ``patience`` of its own ticks
begins a later one.  So a leader stays as long as it is heard, whatever its address is, and a node that comes
back does not take over.  If two nodes begin at once, the later view wins, and who began the other one hears of
it and waits again.
"""

from __future__ import annotations

from clew.bloom import bloom, channel, periodic, scratch, table
from clew.multipaxos.log import Log


class Election(Log):
    #: After so many ticks without a leader a node begins a view.
    patience = 4

    beat_timer = periodic(0.5)
    beat = channel("@node", "leader", "view", "horizon")
    waited = table("node", val=["ticks"])
    heard = scratch("node")
    called = table("view")
    me = scratch("node")

    @bloom
    def send_beats(self) -> None:
        self.temp.beating <= (self.leading * self.beat_timer).lefts()
        self.temp.pulse <= (self.temp.beating * self.horizon).pairs(lambda v, h: (v.view, h.instance))
        self.beat <~ (self.temp.pulse * self.others).pairs(
            lambda p, o: (o.address, self.ip_port, p.view, p.instance)
        )
        self.promised <= self.beat.project("view")
        self.ahead_of <= self.beat(lambda b: (b.leader, b.horizon))

    @bloom
    def listen(self) -> None:
        self.heard <= (self.beat * self.latest).pairs(lambda b, v: (self.ip_port,), view="view")
        self.heard <= (self.vote * self.latest).pairs(lambda b, v: (self.ip_port,), view="view")
        self.heard <= self.leading(lambda v: (self.ip_port,))
        # Once for each candidate: one that asks again and again cannot lead, and must not silence the others.
        self.heard <= self.prepare.notin(self.called, view="view")(lambda p: (self.ip_port,))
        self.called <+ self.prepare.project("view")
        self.called <- (self.called * self.latest).pairs(lambda c, v: (c.view,) if c.view < v.view else None)

    @bloom
    def lose_patience(self) -> None:
        patience = self.patience
        self.temp.once <= [(0,)]
        self.me <= self.temp.once(lambda o: (self.ip_port,))
        self.waited <+ self.me.notin(self.waited, node="node")(lambda m: (m.node, 0))
        self.temp.heard_again <= (self.waited * self.heard).lefts()
        self.temp.in_vain <= (self.waited * self.beat_timer).lefts().notin(self.temp.heard_again)
        self.temp.over <= self.temp.in_vain.filter(lambda w: w.ticks + 1 >= patience)
        self.waited <- self.temp.heard_again
        self.waited <+ self.temp.heard_again(lambda w: (w.node, 0))
        self.waited <- self.temp.in_vain
        self.waited <+ self.temp.in_vain(lambda w: (w.node, w.ticks + 1 if w.ticks + 1 < patience else 0))
        self.campaign <+ self.temp.over(lambda w: ("nobody leads",))
