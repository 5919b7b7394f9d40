"""Scenarios for Raft: without a bug, and one for each of the seven bugs.

    clew fuzz examples/raft/raft_bugs.py:raft45 -o raft45.json

A cluster of four nodes, which needs three of them for a majority, is started and told its members; then commands
come in.  How often timers go off is chosen so that each bug shows, but seldom at once.
"""

from __future__ import annotations

from functools import partial
from random import Random
from typing import Any

import raft_invariants as promised
from raft import (
    AppendEntries,
    AppendReply,
    Bootstrap,
    ClientCommand,
    Raft,
    RequestVote,
    TakeOffice,
    Vote,
)

from clew.simulation import Broken, External, Heal, Network, Partition, Restart, Scenario, Send, Start, World
from clew.simulation.scenario import NO_EXCEPTION

MESSAGES = (Bootstrap, ClientCommand, RequestVote, Vote, AppendEntries, AppendReply, TakeOffice)


# -- what comes from outside -------------------------------------------------------------------------------------


def command(random: Random, world: World) -> External:
    """Every command has another value: the number of the event that brings it."""
    return Send(random.choice(list(world.nodes)), ClientCommand(f"c{world.events}"))


def bootstrap(random: Random, world: World) -> External:
    """Once more, because it may have been lost; a node that knows the members ignores it."""
    return Send(random.choice(list(world.nodes)), Bootstrap(frozenset(world.nodes)))


def restart(random: Random, world: World) -> External:
    return Restart(random.choice(list(world.nodes)))


def partition(random: Random, world: World) -> External:
    source, target = random.sample(list(world.nodes), 2)
    return Partition(source, target, one_way=random.random() < 0.5)


def heal(random: Random, world: World) -> External:
    return Heal()


# -- what matters ------------------------------------------------------------------------------------------------


def fingerprint(message: Any) -> str:
    """The contents that steer Raft: not which command it is."""
    match message:
        case Bootstrap(members):
            return f"Bootstrap {','.join(sorted(members))}"
        case RequestVote(term, last_index, last_term):
            return f"RequestVote {term} {last_index}/{last_term}"
        case Vote(term, granted):
            return f"Vote {term} {granted}"
        case AppendEntries(term, prev_index, prev_term, entries, commit_index):
            terms = ",".join([str(entry[0]) for entry in entries])
            return f"AppendEntries {term} {prev_index}/{prev_term} [{terms}] {commit_index}"
        case AppendReply(term, success, index):
            return f"AppendReply {term} {success} {index}"
    return type(message).__qualname__


def which(broken: Broken) -> str:
    """With one bug switched on, the promise that is broken says enough; of an exception, which one it is."""
    return broken.what if broken.invariant == NO_EXCEPTION else broken.invariant


# -- scenarios ---------------------------------------------------------------------------------------------------


def cluster(size: int, *bugs: str, **how: Any) -> Scenario:
    """Nodes a, b, c ... with these bugs; ``how`` is the rest of the scenario."""
    names = tuple("abcdefghi"[:size])
    make = partial(Raft, frozenset(bugs))
    settings: dict[str, Any] = {
        "events": [(1, command)],
        "invariants": promised.ALL,
        "fingerprint": fingerprint,
        "identity": which,
        "messages": MESSAGES,
        **how,
    }
    return Scenario(
        nodes=dict.fromkeys(names, make),
        before=[*map(Start, names), *(Send(name, Bootstrap(frozenset(names))) for name in names)],
        **settings,
    )


#: A leader is seldom disturbed.
STEADY: dict[str, Any] = {"timers": 0.1, "rare": {"election": 0.2}}
#: Elections all the time; few of them are won.
RESTLESS: dict[str, Any] = {"timers": 0.12}

#: What ``clew test`` is to find.
HOLDS: dict[str, Any] = {"expect": "no violation", "expect_runs": 3}


def breaks(seed: int = 0) -> dict[str, Any]:
    """A violation, in one of the runs from this seed on; where the bug is rare, in the first, which is short."""
    return {"expect": "violation", "expect_seed": seed}


correct = cluster(4, **STEADY, count=200, steps=3000, **HOLDS)

correct_lossy = cluster(
    4,
    **STEADY,
    count=250,
    steps=3000,
    events=[(20, command), (1, bootstrap), (1, restart), (1, partition), (1, heal)],
    network=Network.REORDERING,
    loss=0.05,
    duplication=0.05,
    **HOLDS,
)

# A bug that breaks one promise can break others as well: a scenario has the one that its bug is about.
raft45 = cluster(4, "45", **RESTLESS, count=100, steps=3000, invariants=[promised.election_safety], **breaks(38))

raft46 = cluster(4, "46", **RESTLESS, count=100, steps=3000, invariants=[promised.election_safety], **breaks(38))

raft56 = cluster(4, "56", **RESTLESS, count=100, steps=3000, invariants=[promised.election_safety], **breaks(83))

# What breaks is that no handler raises.
raft58a = cluster(4, "58a", **STEADY, count=100, steps=3000, invariants=[], **breaks(69))

raft58b = cluster(4, "58b", **RESTLESS, count=200, steps=3000, invariants=[promised.log_matching], **breaks())

raft42 = cluster(4, "42", **STEADY, count=200, steps=3000, invariants=[promised.leader_completeness], **breaks())

raft66 = cluster(
    4,
    "66",
    **STEADY,
    count=60,
    steps=3000,
    network=Network.REORDERING,
    invariants=[promised.leader_completeness],
    **breaks(),
)

# For shrinking the message that names the members: four of the nine are enough.
raft45_nine = cluster(
    9, "45", **STEADY, count=100, steps=1000, invariants=[promised.election_safety], **breaks(37)
)
