"""Agreement of ``clew.multipaxos``, checked: within bounds, no losses, restarts and partitions break it.

The rules are those of the library, ``Views`` and ``Votes``: views, promises, proposals, votes, and what is chosen.
What is left out is what goes into a decree and what becomes of it: each of two candidates has one to propose, and
proposes it for two instances of the log, both under way at once.  ``clew check`` says of

- ``Durable``: certified, with a restart, a partition, and losses at any time.
- ``SentOnce``: certified as well, with a restart and losses.  Timers of a checked program go off in every step,
  and what one node sends to another in one step is lost together; so an agent of ``Durable`` that hears of the
  second instance hears of the first one, too.  Here nothing is repeated, and there are gaps in what agents tell.
- ``Volatile``: refuted.  It has its tables in memory: a node that has voted restarts, promises the second
  candidate that it has not, and both have an instance chosen.  Two faults do that.  ``paxos.py`` is like that.
- ``Log``: certified, with the log in sequence and catching up as well, a restart and losses.
"""

from __future__ import annotations

from typing import Any

from clew.bloom import EVERY, bloom, checked, outcome, scratch, table
from clew.multipaxos.catching_up import CatchingUp
from clew.multipaxos.votes import Votes

NODES = ["a", "b", "c"]
#: How many instances of the log there are.
INSTANCES = 2
GIVEN: dict[Any, dict[Any, Any]] = {
    EVERY: {"member": [("a",), ("b",), ("c",)]},
    "a": {1: {"campaign": [("to begin",)], "own_decree": [("x",)]}},
    "b": {1: {"own_decree": [("y",)]}, 4: {"campaign": [("a is not heard",)]}},
}
#: The second candidate begins when votes for both instances are under way.
GIVEN_LATER = GIVEN | {"b": {1: {"own_decree": [("y",)]}, 6: {"campaign": [("a is not heard",)]}}}


class Durable(Votes):
    """Two candidates, two instances."""

    window = INSTANCES

    own_decree = table("decree", durable=True)
    candidate = scratch("instance")
    never = scratch("instance", "one", "other")
    setting = checked(
        nodes=NODES, eot=10, eff=8, crashes=0, restarts=1, partitions=1, given=GIVEN, expect="certified"
    )

    @bloom
    def propose_own(self) -> None:
        self.next_decree <= self.own_decree

    @bloom
    def know_horizon(self) -> None:
        self.candidate <= [(1,)]
        self.candidate <= self.chosen(lambda c: (c.instance + 1,) if c.instance < INSTANCES else None)
        self.temp.gap <= self.candidate.notin(self.chosen, instance="instance")
        self.horizon <= self.temp.gap.argmin([], "instance")

    @outcome
    def agreement(self) -> None:
        self.never <= (self.everywhere.chosen * self.everywhere.chosen).pairs(
            lambda c, d: (c.instance, c.decree, d.decree) if c.decree != d.decree else None, instance="instance"
        )
        # Nor does anybody vote for two decrees in a view: a node would refuse the second row.
        self.never <= (self.everywhere.voted * self.everywhere.voted).pairs(
            lambda v, w: (v.instance, v.decree, w.decree) if v.decree != w.decree else None,
            instance="instance",
            view="view",
        )


class Volatile(Durable):
    """Has nothing on disk."""

    promised = table("view")
    voted = table("instance", "view", val=["decree"])
    chosen = table("instance", val=["decree"])
    setting = checked(
        nodes=NODES,
        eot=10,
        eff=8,
        crashes=0,
        restarts=1,
        partitions=1,
        given=GIVEN,
        expect="counterexample",
        faults=2,
    )


class SentOnce(Durable):
    """Repeats nothing, so that what is sent in one step may be lost and what is sent in the next one not."""

    setting = checked(
        nodes=NODES, eot=12, eff=9, crashes=0, restarts=1, given=GIVEN_LATER, expect="certified"
    )

    @bloom
    def ask_for_promises(self) -> None:
        self.temp.call <= (self.new_view * self.horizon).pairs(lambda v, h: (v.view, h.instance))
        self.prepare <~ (self.temp.call * self.member).pairs(
            lambda c, m: (m.address, self.ip_port, c.view, c.instance)
        )

    @bloom
    def ask_for_votes(self) -> None:
        self.vote <~ (self.proposal * self.member).pairs(
            lambda p, m: (m.address, self.ip_port, p.view, p.instance, p.decree)
        )


class Log(CatchingUp):
    """Reads what is chosen in sequence, and asks others for what it has missed."""

    window = INSTANCES
    own_decree = table("decree", durable=True)
    candidate = scratch("instance")
    never = scratch("instance", "one", "other")
    setting = checked(nodes=NODES, eot=10, eff=8, crashes=0, restarts=1, given=GIVEN, expect="certified")

    @bloom
    def propose_own(self) -> None:
        self.next_decree <= self.own_decree(lambda o: (((o.decree, 1, o.decree),),))

    @bloom
    def know_horizon(self) -> None:
        self.candidate <= self.here.project("instance")
        self.candidate <= self.chosen(lambda c: (c.instance + 1,))
        self.temp.gap <= self.candidate.notin(self.chosen, instance="instance")
        self.temp.open <= (self.temp.gap * self.here).pairs(
            lambda g, h: (g.instance,) if h.instance <= g.instance <= INSTANCES else None
        )
        self.horizon <= self.temp.open.argmin([], "instance")

    @outcome
    def agreement(self) -> None:
        self.never <= (self.everywhere.chosen * self.everywhere.chosen).pairs(
            lambda c, d: (c.instance, c.decree, d.decree) if c.decree != d.decree else None, instance="instance"
        )
