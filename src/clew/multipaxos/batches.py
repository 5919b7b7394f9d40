"""The decree to propose next: requests that wait, as many as fit, each in one proposal of a view."""

from __future__ import annotations

from typing import Any

from clew.bloom import agg, bloom, channel, scratch, table
from clew.multipaxos.sessions import Sessions, weigh


class Queues(Sessions):
    """``waiting`` is what this node would propose, if it leads; otherwise it is passed on to who does."""

    forward = channel("@leader", "sender", "client", "number", "operation")
    at_work = table("client", "number", "view")
    waiting = scratch("client", "number", "operation")

    @bloom
    def pass_on(self) -> None:
        # What has arrived and, now and then, what is still there: a leader may have gone with it.
        self.temp.due <= self.new_request
        self.temp.due <= (self.queue * self.retry).lefts()
        self.temp.elsewhere <= self.latest.notin(self.mine).filter(
            lambda v: v.view[1] != self.ip_port and v.view[1] != ""
        )
        self.forward <~ (self.temp.due * self.temp.elsewhere).pairs(
            lambda q, v: (v.view[1], self.ip_port, q.client, q.number, q.operation)
        )
        self.submit <= self.forward(lambda f: (f.client, f.number, f.operation))

    @bloom
    def line_up(self) -> None:
        self.waiting <= self.queue.notin(self.at_work, client="client", number="number")
        self.temp.proposed_now <= self.new_proposal.flat_map(
            lambda n: [(client, number, n.view) for client, number, _ in n.decree]
        ).rename("client", "number", "view")
        self.at_work <+ self.temp.proposed_now
        self.at_work <- (self.at_work * self.done).lefts(client="client", number="number")
        self.at_work <- (self.at_work * self.latest).pairs(lambda w, v: w if w.view < v.view else None)


class SingleRequests(Queues):
    """One request a decree."""

    @bloom
    def form_decree(self) -> None:
        self.temp.first_number <= self.waiting.argmin([], "number").argmin([], "client")
        self.next_decree <= self.temp.first_number(lambda w: (((w.client, w.number, w.operation),),))


class Batches(Queues):
    """All that wait, up to a number and a size; of each client in the order of its numbers."""

    #: How many requests a decree has at most, and how much they may weigh together.
    most_requests = 256
    heaviest = 400_000

    @bloom
    def form_decree(self) -> None:
        most, heaviest = self.most_requests, self.heaviest
        self.temp.ready <= (self.waiting * self.may_propose).lefts()
        self.temp.packed <= self.temp.ready(lambda w: ((w.client, w.number, w.operation),)).group(
            [], requests=agg.accum(0)
        )
        self.next_decree <= self.temp.packed(lambda p: (first_requests(p.requests, most, heaviest),))


def first_requests(requests: frozenset[Any], most: int, heaviest: int) -> tuple[Any, ...]:
    """Return what fits into a decree, smaller numbers first: nobody's later requests pass his earlier ones."""
    chosen: list[Any] = []
    weight = 0
    for request in sorted(requests, key=lambda r: (r[1], repr(r[0]))):
        weight += weigh(request)
        if chosen and (len(chosen) == most or weight > heaviest):
            break
        chosen.append(request)
    return tuple(chosen)
