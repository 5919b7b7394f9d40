"""A failure detector: who has not been heard from for a while is suspected.

With every row of ``beat_timer`` a node sends a beat to all ``peers`` and counts, for each of them, how many of its
own timers went off since it last heard something.  At more than ``PATIENCE`` the other is ``suspected``, until its
next beat.  A slow node is suspected like a dead one: the detector is complete (who stopped is suspected in the
end, for good) but only eventually accurate (if beats come often enough from some time on, no one that lives is).

``LeaderElection`` names as leader the smallest address that is not suspected.  All agree once the suspicions do.
``peers`` contains the node itself there, which never suspects itself.
"""

from __future__ import annotations

from clew.bloom import Bloom, agg, bloom, channel, interface, periodic, scratch, table

PATIENCE = 3


class Heartbeat(Bloom):
    peers = table("peer")
    beat = channel("@dst", "src")
    beat_timer = periodic(1)
    silence = table("peer", val=["ticks"])
    suspected = interface.output("peer")

    @bloom
    def send_beats(self) -> None:
        self.beat <~ (self.peers * self.beat_timer).pairs(lambda p, t: (p.peer, self.ip_port))

    @bloom
    def begin(self) -> None:
        self.silence <+ self.peers.notin(self.silence, peer="peer")(lambda p: (p.peer, 0))

    @bloom
    def listen(self) -> None:
        self.temp.heard <= (self.silence * self.beat).lefts(peer="src")
        self.temp.quiet <= (self.silence * self.beat_timer).lefts().notin(self.beat, peer="src")
        self.silence <- self.temp.heard
        self.silence <+ self.temp.heard(lambda s: (s.peer, 0))
        self.silence <- self.temp.quiet
        self.silence <+ self.temp.quiet(lambda s: (s.peer, s.ticks + 1))

    @bloom
    def suspect(self) -> None:
        self.suspected <= self.silence(
            lambda s: (s.peer,) if s.ticks > PATIENCE and s.peer != self.ip_port else None
        )


class LeaderElection(Heartbeat):
    silent = scratch("peer")
    leader = interface.output(val=["peer"])

    @bloom
    def suspect(self) -> None:
        self.silent <= self.silence(
            lambda s: (s.peer,) if s.ticks > PATIENCE and s.peer != self.ip_port else None
        )
        self.suspected <= self.silent

    @bloom
    def elect(self) -> None:
        self.leader <= self.peers.notin(self.silent).group([], agg.min("peer"))
