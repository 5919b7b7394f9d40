"""Why a violation happens: the supports that kept it away in the failure-free run, and the fault that cut each.

A support is a set of messages that got through and nodes that stayed up, which together were enough.  Its
*falsifier* is the disjunction of the faults that would break it (section 3 of the paper).  The faults of a
counterexample cut every support: while one is left, the violation cannot happen.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, assert_never

from clew.engine.execution import Message
from clew.explain.failure_free import FailureFree
from clew.faults import (
    Crash,
    Fault,
    FaultSet,
    MessageFault,
    NodeName,
    Partition,
    Pause,
    Restart,
    SentMessage,
    node_key,
)
from clew.violation import Violation

#: More supports than this are not listed; a redundant protocol has thousands.
MOST_SUPPORTS = 200


class Support(NamedTuple):
    """What was enough: ``messages`` that got through, nodes that were ``up`` until a time.

    ``punctual``: links over which nothing may come late, although what they carry supports nothing itself.

    ``falsifier``: any one of these faults cuts it; those beyond the bounds of the search are in ``out_of_reach``.
    ``cut_by``: the faults of the counterexample that do.
    """

    messages: tuple[Message, ...]
    punctual: tuple[SentMessage, ...]
    up: tuple[tuple[NodeName, int], ...]
    falsifier: tuple[Fault, ...]
    out_of_reach: tuple[Fault, ...]
    cut_by: tuple[Fault, ...]


class Why(NamedTuple):
    """One violation explained.

    ``by_pre``: in the failure-free run it was kept away because ``pre`` did not hold (otherwise: ``post`` did).
    ``more``: there are further supports.  Without any support the failure-free run itself shows the violation.
    """

    violation: Violation
    by_pre: bool
    supports: tuple[Support, ...]
    more: bool


def find_why(failure_free: FailureFree, violation: Violation, faults: FaultSet, most: int | None = None) -> Why:
    """Return each support of the failure-free run, fewest messages first, with the faults that cut it.

    Of more supports than ``most`` some are told; looking for all of them can take a hundred times as long.
    """
    if not failure_free.prevents(violation):
        return Why(violation, False, (), False)
    most = MOST_SUPPORTS if most is None else most
    found = failure_free.minimal_supports(violation, most + 1)  # one more, to know whether there are more
    behind = failure_free.messages_behind(violation)
    supports = [_support(failure_free, needed, faults, behind) for needed in found[:most]]
    supports.sort(key=lambda s: (len(s.messages), [(m.sent, str(m)) for m in s.messages]))
    return Why(violation, not failure_free.pre_held(violation), tuple(supports), len(found) > most)


def _support(
    failure_free: FailureFree,
    needed: Iterable[Fault],
    faults: FaultSet,
    behind: dict[tuple[NodeName, NodeName, int], tuple[Message, ...]],
) -> Support:
    needed = tuple(needed)
    links = dict.fromkeys(f.message for f in needed if f.message is not None)
    ordered = sorted(links, key=_chronological)
    messages = tuple(m for link in ordered for m in behind.get(link, ()))
    # A link with no message in the lineage matters for when it does *not* deliver: what came late would be in the
    # way.
    punctual = tuple(link for link in ordered if link not in behind)
    spec = failure_free.spec
    # Supports are looked for beyond EFF, so that every message that counts is one; these faults cannot happen
    # here.
    within = tuple(f for f in needed if spec.admits(FaultSet.of([f])))
    beyond = tuple(f for f in needed if f not in within)
    return Support(messages, punctual, _up(needed), within, beyond, tuple(f for f in faults if f in needed))


def _up(needed: Iterable[Fault]) -> tuple[tuple[NodeName, int], ...]:
    """Return the nodes that had to stay up longer than to send their last message: somebody saw their crash."""
    last_sent: dict[NodeName, int] = {}
    last_up: dict[NodeName, int] = {}
    for fault in needed:
        match fault:
            case Crash(node, time):
                last_up[node] = max(time, last_up.get(node, 0))
            case Restart(node, _, until) | Pause(node, _, until):
                last_up[node] = max(until - 1, last_up.get(node, 0))
            case Partition():
                pass  # the nodes are up
            case MessageFault(source=source, time=time):
                last_sent[source] = max(time, last_sent.get(source, 0))
            case _:
                assert_never(fault)
    longer = [(node, time) for node, time in last_up.items() if time > last_sent.get(node, 0)]
    return tuple(sorted(longer, key=lambda item: node_key(item[0])))


def _chronological(link: tuple[NodeName, NodeName, int]) -> tuple[object, ...]:
    source, target, time = link
    return time, node_key(source), node_key(target)
