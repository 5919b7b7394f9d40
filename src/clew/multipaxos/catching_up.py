"""A replica that was away gets the decrees that it has missed, from whoever has them.

Who hears that somebody is further (``ahead``) asks for what it misses first.  It gets up to ``helping`` decrees,
and is told how far the other is, so that it goes on asking.  What the other has dropped is in its state: see
``snapshots``.
"""

from __future__ import annotations

from clew.bloom import bloom, channel, scratch
from clew.multipaxos.log import Log


class CatchingUp(Log):
    """``too_far_behind``: who asks for a decree that is no longer here."""

    #: How many decrees are sent at once.
    helping = 32

    want = channel("@node", "sender", "first")
    learn = channel("@node", "instance", "decree")
    too_far_behind = scratch("node")

    @bloom
    def ask_for_decrees(self) -> None:
        self.ahead_of <= self.ahead.payloads()
        self.temp.further <= (self.ahead_of * self.horizon).pairs(
            lambda a, h: (a.sender, h.instance) if a.horizon > h.instance else None
        )
        self.want <~ self.temp.further(lambda f: (f.sender, self.ip_port, f.instance))
        self.chosen <= self.learn.payloads()

    @bloom
    def help_others(self) -> None:
        helping = self.helping
        self.temp.behind <= (self.want * self.horizon).pairs(
            lambda w, h: (w.sender, w.first, h.instance) if w.first < h.instance else None
        )
        self.temp.wanted <= self.temp.behind.flat_map(
            lambda b: [(b.sender, i) for i in range(b.first, min(b.first + helping, b.instance))]
        ).rename("sender", "instance")
        self.learn <~ (self.temp.wanted * self.chosen).pairs(
            lambda w, c: (w.sender, c.instance, c.decree), instance="instance"
        )
        self.ahead <~ self.temp.behind(
            lambda b: (b.sender, self.ip_port, b.instance) if b.first + helping < b.instance else None
        )
        self.too_far_behind <= self.temp.behind.notin(self.chosen, first="instance")(lambda b: (b.sender,))
