"""Losses that amount to something simple: a node or a group that is cut off for a while, a link that is dead.

A statement is about messages by the time at which they are *sent*, and says that none of them arrives: none of all
that the run sends over the network, from nodes that run.  It sums up two losses at least; that other faults lose
some of the messages is no reason not to say it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from clew.engine.execution import Message
from clew.faults import FaultSet, Loss, NodeName, SentMessage, node_key
from clew.names import show
from clew.report.diagrams.hits import Hits

#: From whom to whom.
_Link = tuple[NodeName, NodeName]


class LossSummary(NamedTuple):
    """What these losses amount to, in words; ``first`` and ``last``: the times of which it speaks."""

    words: str
    first: int
    last: int
    losses: tuple[Loss, ...]


def summary_lines(faults: FaultSet, messages: Iterable[Message]) -> list[str]:
    """Return a line for each statement, which says how many of the faults it sums up if these are not all."""
    return [
        f"{'' if len(found.losses) == len(faults) else f'{len(found.losses)} of these '}together: {found.words}"
        for found in summarize_losses(faults, messages)
    ]


def summarize_losses(faults: FaultSet, messages: Iterable[Message]) -> tuple[LossSummary, ...]:
    """Return statements that are true of the run: first what sums up most losses, then what sums up others."""
    traffic = _Traffic(faults, messages)
    open_losses = set(traffic.hit)
    found: list[LossSummary] = []
    # Greedy, and not a smallest cover: what sums up most is said first.
    candidates = sorted(_statements(traffic), key=lambda t: (-len(t.losses), t.last - t.first, t.first))
    while True:
        best = max(candidates, key=lambda t: len(open_losses.intersection(t.losses)), default=None)
        # One loss is as short by itself.
        if best is None or len(open_losses.intersection(best.losses)) < 2:
            return tuple(found)
        found.append(best)
        open_losses.difference_update(best.losses)


class _Traffic:
    """By time, the links over which the run sends, and those of them that lose it."""

    def __init__(self, faults: FaultSet, messages: Iterable[Message]) -> None:
        hits = Hits(faults)
        self.sent: dict[int, set[_Link]] = {}
        for m in messages:
            # What a crashed node would have sent is no evidence: that it does not arrive is due to the crash.
            if m.source != m.target and hits.silence(m.source, m.sent) is None:
                self.sent.setdefault(m.sent, set()).add((m.source, m.target))
        self._gone = {
            time: {(source, target) for source, target in links if _is_lost((source, target, time), hits)}
            for time, links in self.sent.items()
        }
        self.hit = [loss for loss in faults.losses if (loss.source, loss.target) in self.sent.get(loss.time, ())]
        self.lost: dict[int, set[_Link]] = {}
        for loss in self.hit:
            self.lost.setdefault(loss.time, set()).add((loss.source, loss.target))

    def arriving(self, time: int) -> set[_Link]:
        return self.sent.get(time, set()) - self._gone.get(time, set())

    def nodes(self) -> list[NodeName]:
        """Return the nodes with losses, in order."""
        return sorted({node for loss in self.hit for node in (loss.source, loss.target)}, key=node_key)

    def spans(self, concerns: Callable[[_Link], bool]) -> Iterator[tuple[int, int, tuple[Loss, ...]]]:
        """Return spans of times in which all is lost that it concerns, as long as they can be, and the losses."""
        losses = [loss for loss in self.hit if concerns((loss.source, loss.target))]
        together: list[Loss] = []
        for loss in losses:  # in the order of time
            since = together[-1].time if together else loss.time
            if any(concerns(link) for time in range(since, loss.time + 1) for link in self.arriving(time)):
                yield from _span(together)
                together = []
            if not any(map(concerns, self.arriving(loss.time))):
                together.append(loss)
        yield from _span(together)


def _is_lost(message: SentMessage, hits: Hits) -> bool:
    """Tell whether nothing of it arrives, neither when it should nor a second time."""
    again = hits.blame_again(message)
    return hits.blame(message).lost and (again is None or again.lost)


def _span(losses: Sequence[Loss]) -> Iterator[tuple[int, int, tuple[Loss, ...]]]:
    if len(losses) >= 2:
        yield losses[0].time, losses[-1].time, tuple(losses)


# -- statements --------------------------------------------------------------------------------------------------


def _statements(traffic: _Traffic) -> Iterator[LossSummary]:
    """Return all that is true; of those that sum up the same, the simplest comes first."""
    nodes = traffic.nodes()
    for node in nodes:
        yield from _cut_off(traffic, node)
    yield from _splits(traffic)
    for node in nodes:
        yield from _one_way(traffic, node)
    for one, other in combinations(nodes, 2):
        yield from _between(traffic, one, other)


def _cut_off(traffic: _Traffic, node: NodeName) -> Iterator[LossSummary]:
    for first, last, losses in traffic.spans(lambda link: node in link):
        # Cut off means in both directions; in one direction there is a weaker statement (``_one_way``).
        if {loss.source == node for loss in losses} == {True, False}:
            yield LossSummary(f"{show(node)} is cut off {_at(first, last)}", first, last, losses)


def _one_way(traffic: _Traffic, node: NodeName) -> Iterator[LossSummary]:
    for first, last, losses in traffic.spans(lambda link: link[1] == node):
        if len({loss.source for loss in losses}) > 1:
            yield LossSummary(f"nothing sent to {show(node)} {_at(first, last)} arrives", first, last, losses)
    for first, last, losses in traffic.spans(lambda link: link[0] == node):
        if len({loss.target for loss in losses}) > 1:
            yield LossSummary(f"nothing sent by {show(node)} {_at(first, last)} arrives", first, last, losses)


def _between(traffic: _Traffic, one: NodeName, other: NodeName) -> Iterator[LossSummary]:
    for first, last, losses in traffic.spans(lambda link: set(link) == {one, other}):
        if len({loss.source for loss in losses}) == 2:
            words = f"nothing sent between {show(one)} and {show(other)} {_at(first, last)} arrives"
            yield LossSummary(words, first, last, losses)
    yield from _over(traffic, one, other)
    yield from _over(traffic, other, one)


def _over(traffic: _Traffic, source: NodeName, target: NodeName) -> Iterator[LossSummary]:
    for first, last, losses in traffic.spans(lambda link: link == (source, target)):
        words = f"nothing sent from {show(source)} to {show(target)} {_at(first, last)} arrives"
        yield LossSummary(words, first, last, losses)


def _splits(traffic: _Traffic) -> Iterator[LossSummary]:
    """Return spans in which all who send or are sent something are of two groups that do not hear each other."""
    times = sorted(traffic.lost)
    for place, first in enumerate(times):
        for last in times[place:]:
            span = range(first, last + 1)
            groups = _groups(
                {link for time in span for link in traffic.sent.get(time, ())},
                {link for time in span for link in traffic.arriving(time)},
            )
            # A group of one node is simply cut off, which has been said.
            if len(groups) == 2 and min(map(len, groups)) >= 2:
                yield from _cut_off_group(traffic, groups[0], _join_nodes(groups[1]), span)
            # Of three groups and more each that has several nodes is cut off from all others.
            for group in groups if len(groups) > 2 else ():
                if len(group) >= 2:
                    yield from _cut_off_group(traffic, group, "the others", span)


def _cut_off_group(
    traffic: _Traffic, group: Sequence[NodeName], others: str, span: range
) -> Iterator[LossSummary]:
    losses = [x for x in traffic.hit if x.time in span and (x.source in group) != (x.target in group)]
    both_ways = {loss.source in group for loss in losses} == {True, False}
    if both_ways and (losses[0].time, losses[-1].time) == (span[0], span[-1]):
        words = f"{_join_nodes(group)} are cut off from {others} {_at(span[0], span[-1])}"
        yield LossSummary(words, span[0], span[-1], tuple(losses))


def _groups(sent: set[_Link], arriving: set[_Link]) -> list[list[NodeName]]:
    """Return the nodes that are connected, in either direction, in order."""
    group = {node: {node} for link in sent for node in link}
    for source, target in arriving:
        if group[source] is not group[target]:
            group[source] |= group[target]
            group.update(dict.fromkeys(group[target], group[source]))
    distinct = {id(members): sorted(members, key=node_key) for members in group.values()}
    return sorted(distinct.values(), key=lambda members: node_key(members[0]))


def _at(first: int, last: int) -> str:
    if first == last:
        return f"at time {first}"
    return f"at times {first} {'and' if last == first + 1 else 'to'} {last}"


def _join_nodes(nodes: Sequence[NodeName]) -> str:
    return f"{', '.join(map(show, nodes[:-1]))} and {show(nodes[-1])}"
