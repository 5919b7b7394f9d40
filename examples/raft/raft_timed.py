"""Raft in virtual time: which few faults do its bugs need?

In any order (``raft_bugs.py``) an election can begin at any moment, and most of what happens is elections.  Here
timers have durations, as in a real cluster: a leader sends heartbeats, and who has not heard of one for its
election timeout stands for election.  Each node has a timeout of its own, so that elections do not collide.  Now
nothing goes wrong unless something *fails*, and ``clew check`` looks for the fewest failures that break a promise:

    clew check examples/raft/raft_timed.py:timed58b

What is promised are the invariants of ``raft_invariants.py``, at any time; and in the end, if a command was
applied anywhere, that all who are up have applied the same.

The node is that of ``raft.py``; only how long its timers take is said here, and that an election timer begins anew
when the leader is heard from, or a vote was given away.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import raft_invariants as promised
from raft import FOLLOWER, LEADER, NOTHING, AppendEntries, ClientCommand, Raft, RequestVote

from clew.simulation import Broken, Context, Elapse, Faults, Scenario, Send, VirtualTime

#: Seconds between two heartbeats of a leader, and until a candidate asks again.
HEARTBEAT = 0.1
#: Seconds without a leader after which a node stands for election.
PATIENCE = {"a": 0.25, "b": 0.4, "c": 0.55}


class TimedRaft(Raft):
    """Raft whose timers have durations; ``patience``: its election timeout."""

    def __init__(self, patience: float, bugs: frozenset[str] = frozenset()) -> None:
        super().__init__(bugs)
        self._patience = patience
        self._stands_at = 0.0

    def on_start(self, ctx: Context) -> None:
        # Who is in the cluster is on disk from the beginning: nobody has to be told.
        ctx.durable["members"] = frozenset(PATIENCE)
        super().on_start(ctx)

    def on_message(self, ctx: Context, sender: str, message: Any) -> None:
        super().on_message(ctx, sender, message)
        if self.role == FOLLOWER and self._is_lead(sender, message):
            self.arm(ctx, "election")

    def _is_lead(self, sender: str, message: Any) -> bool:
        """Tell whether there is somebody to wait for: the leader, or a candidate that has this node's vote."""
        match message:
            case AppendEntries(term=term):
                return term == self.term
            case RequestVote(term=term):
                return term == self.term and sender == self.vote
        return False

    def _follow(self, ctx: Context) -> None:
        waits, stands_at = self.role != LEADER, self._stands_at
        super()._follow(ctx)
        if waits:
            # To hear of a later term is no reason to wait longer: one that cannot win would hold up who can.
            self._stands_at = stands_at
            ctx.set_timer("election", after=round(stands_at - ctx.now, 6))

    def arm(self, ctx: Context, name: str) -> None:
        if name == "election":
            self._stands_at = ctx.now + self._patience
        ctx.set_timer(name, after=self._patience if name == "election" else HEARTBEAT)


def something_was_applied(nodes: Mapping[str, Raft]) -> bool:
    """Tell whether a command, and not only the empty entry of a leader, was applied by somebody who is up."""
    return any(value != NOTHING for node in nodes.values() for _, value in node.applied)


def all_have_applied_the_same(nodes: Mapping[str, Raft]) -> Broken | None:
    """Check that whoever is up has applied what the others have."""
    # Where there is nobody it is true: so lineage knows that it speaks of all of them.
    longest = max(nodes, key=lambda name: len(nodes[name].applied), default="")
    for name, node in nodes.items():
        if node.applied != nodes[longest].applied:
            here, there = len(node.applied) - 1, len(nodes[longest].applied) - 1
            what = f"{name} has applied {here} entries, and {longest} {there}"
            return Broken("all have applied the same", what, (name, longest))
    return None


#: Looks at the nodes that are up.
Invariant = Callable[[Mapping[str, Raft]], Broken | None]


def _cluster(*bugs: str, **how: Any) -> Scenario:
    """Three nodes that elect ``a``, and two commands, the second before the first is committed."""
    return Scenario(
        nodes={name: partial(TimedRaft, patience, frozenset(bugs)) for name, patience in PATIENCE.items()},
        running=tuple(PATIENCE),
        before=[
            Elapse(0.4),
            Send("a", ClientCommand("x")),
            Elapse(0.015),
            Send("a", ClientCommand("y")),
        ],
        promises=[all_have_applied_the_same],
        assume=something_was_applied,
        time=VirtualTime(latency=0.01, until=2.5),
        **how,
    )


#: What networks do to clusters of three: they cut them in two, now and then.
FAULTS = Faults(partitions=2, until=0.5, outages=(0.5,))


def _breaks(bug: str, invariant: Invariant, faults: int) -> Scenario:
    """With one bug, which breaks one promise; it may break others as well."""
    return _cluster(bug, faults=FAULTS, invariants=[invariant], expect="counterexample", expect_faults=faults)


correct = _cluster(faults=FAULTS, invariants=promised.ALL, expect="certified")
#: A leader that is cut off commits what nobody else has.
timed42 = _breaks("42", promised.leader_completeness, 1)
#: Two candidates of one term get the vote of the same node.
timed56 = _breaks("56", promised.election_safety, 2)
#: Who comes back takes over the log of the new leader from its second entry on.
timed58b = _breaks("58b", promised.state_machine_safety, 1)
