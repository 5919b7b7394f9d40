"""Why a violation happens: the supports that kept it away in the failure-free run, and the fault that cut each.

A support is a set of messages that got through and nodes that stayed up, which together were enough.  Its
*falsifier* is the disjunction of the faults that would break it (section 3 of the paper).  The faults of a
counterexample cut every support: while one is left, the violation cannot happen.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, assert_never

from clew.engine.execution import Message
from clew.explain.failure_free import FailureFree
from clew.faults import (
    Crash,
    Delay,
    Duplicate,
    Fault,
    FaultSet,
    GivenRow,
    Loss,
    MessageFault,
    NodeName,
    Partition,
    Pause,
    Restart,
    SentMessage,
    Span,
    Stop,
    node_key,
)
from clew.violation import Violation

#: More supports than this are not listed; a redundant protocol has thousands.
MOST_SUPPORTS = 200


class Running(NamedTuple):
    """``node`` is not down at any of these ``times``, or, if ``paused``, not paused; ``cut``: it is after all.

    ``throughout``: only that it is so at all of these times in a row would do harm.
    """

    node: NodeName
    times: tuple[int, ...]
    paused: bool
    cut: bool
    throughout: bool = False


class Support(NamedTuple):
    """What was enough: ``messages`` that got through, nodes that were ``up`` until a time.

    ``punctual``: links over which nothing may come late, although what they carry supports nothing itself.
    ``once``: links over which nothing may come twice.  ``running``: nodes that had to run at times at which they
    neither send nor receive one of the messages.

    ``falsifier``: any one of these faults cuts it; those beyond the bounds of the search are in ``out_of_reach``.
    ``cut_by``: the faults of the counterexample that do.
    """

    messages: tuple[Message, ...]
    punctual: tuple[SentMessage, ...]
    up: tuple[tuple[NodeName, int], ...]
    falsifier: tuple[Fault, ...]
    out_of_reach: tuple[Fault, ...]
    cut_by: tuple[Fault, ...]
    once: tuple[SentMessage, ...] = ()
    running: tuple[Running, ...] = ()


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
    # Supports that ask for the same, and differ in which faults would break them, are one to a reader.
    different: dict[Support, Support] = {}
    for support in supports:
        different.setdefault(support._replace(falsifier=(), out_of_reach=()), support)
    supports = list(different.values())
    supports.sort(key=lambda s: (len(s.messages), [(m.sent, str(m)) for m in s.messages]))
    return Why(violation, not failure_free.pre_held(violation), tuple(supports), len(found) > most)


def _support(
    failure_free: FailureFree,
    needed: Iterable[Fault],
    faults: FaultSet,
    behind: dict[tuple[NodeName, NodeName, int], tuple[Message, ...]],
) -> Support:
    needed = tuple(needed)
    by_link = _FaultsOfLinks(needed)
    messages = tuple(m for link in by_link.arriving for m in behind.get(link, ()))
    # A link with no message in the lineage matters for when it does *not* deliver: what came late would be in the
    # way.
    punctual = tuple(link for link in by_link.arriving if link not in behind)
    spec = failure_free.spec
    # Supports are looked for beyond EFF, so that every message that counts is one; these faults cannot happen
    # here.
    within = tuple(f for f in needed if spec.admits(FaultSet.of([f])))
    beyond = tuple(f for f in needed if f not in within)
    cut_by = tuple(f for f in faults if f in needed)
    # Whoever sends or receives a message of the support runs at that time.
    busy = {place for m in messages for place in ((m.source, m.sent), (m.target, m.sent + 1))}
    running = tuple(_running(needed, cut_by, busy))
    return Support(messages, punctual, _up(needed), within, beyond, cut_by, by_link.once, running)


class _FaultsOfLinks:
    """The links that faults of a support are about, in order: what must arrive in time, and what only once."""

    def __init__(self, needed: Iterable[Fault]) -> None:
        arriving: set[SentMessage] = set()
        once: set[SentMessage] = set()
        for fault in needed:
            match fault:
                case Loss() | Delay():
                    arriving.add(fault.message)
                case Duplicate():
                    once.add(fault.message)
                case Crash() | Restart() | Pause() | Partition() | Stop() | GivenRow():
                    pass  # of no single message; what a partition loses, a loss does as well
                case _:
                    assert_never(fault)
        self.arriving = tuple(sorted(arriving, key=_chronological))
        self.once = tuple(sorted(once, key=_chronological))


def _up(needed: Iterable[Fault]) -> tuple[tuple[NodeName, int], ...]:
    """Return the nodes that had to stay up longer than their last message tells: somebody saw, or they had to run.

    That a node has not crashed is told by what it sends; that it has not stopped, also by what it receives.
    """
    last_sent: dict[NodeName, int] = {}
    last_busy: dict[NodeName, int] = {}
    last_up: dict[NodeName, int] = {}
    last_run: dict[NodeName, int] = {}
    for fault in needed:
        match fault:
            case Crash(node, time):
                last_up[node] = max(time, last_up.get(node, 0))
            case Stop(node, time):
                last_run[node] = max(time, last_run.get(node, 0))
            case Restart() | Pause():
                pass  # see ``_running``
            case Partition() | GivenRow():
                pass  # the nodes are up
            case MessageFault(source=source, target=target, time=time):
                last_sent[source] = max(time, last_sent.get(source, 0))
                last_busy[source] = max(time, last_busy.get(source, 0))
                last_busy[target] = max(time + 1, last_busy.get(target, 0))
            case _:
                assert_never(fault)
    longer = {node: time for node, time in last_up.items() if time > last_sent.get(node, 0)}
    for node, time in last_run.items():
        if time > last_busy.get(node, 0):
            longer[node] = max(time, longer.get(node, 0))
    return tuple(sorted(longer.items(), key=lambda item: node_key(item[0])))


def _running(
    needed: Iterable[Fault], cut_by: Sequence[Fault], busy: set[tuple[NodeName, int]]
) -> Iterator[Running]:
    """Yield when nodes had to run, beside the times at which they are ``busy`` with messages."""
    spans: dict[tuple[NodeName, bool], list[Span]] = {}
    happened: set[tuple[NodeName, bool]] = set()
    for fault in needed:
        match fault:
            case Restart() | Pause():
                which = fault.node, fault.name == Pause.name
                spans.setdefault(which, []).append(fault.span)
                if fault in cut_by:
                    happened.add(which)
            case Crash() | Stop() | Partition() | MessageFault() | GivenRow():
                pass
            case _:
                assert_never(fault)
    for (node, paused), found in sorted(spans.items(), key=lambda item: (node_key(item[0][0]), item[0][1])):
        cut = (node, paused) in happened
        smallest = [span for span in found if not any(_is_inside(other, span) for other in found)]
        times = {span.first for span in smallest if span.end == span.first + 1}
        if alone := tuple(sorted(time for time in times if (node, time) not in busy)):
            yield Running(node, alone, paused, cut)
        for span in smallest:
            assert span.end is not None, "it runs again"
            if span.first not in times:
                yield Running(node, tuple(range(span.first, span.end)), paused, cut, throughout=True)


def _is_inside(inner: Span, outer: Span) -> bool:
    assert inner.end is not None and outer.end is not None, "they run again"
    return inner != outer and outer.first <= inner.first and inner.end <= outer.end


def _chronological(link: tuple[NodeName, NodeName, int]) -> tuple[object, ...]:
    source, target, time = link
    return time, node_key(source), node_key(target)
