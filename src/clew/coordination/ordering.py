"""A total order of the rows of several streams, decided while the system runs (thesis, section 4.4).

Every row goes to an ordering service, which gives it a number, and comes back to all replicas.  They let the rows
go in the order of the numbers, without gaps and one in a step, so that the steps of all replicas are the same.

``OrderedDelivery`` is the side of a replica, whatever the service is; ``SequencedDelivery`` uses a ``Sequencer``,
a node that counts; ``clew.coordination.zookeeper`` connects replicas to ZooKeeper.  Messages may be lost and
repeated.  The sequencer keeps the order in memory: if it ends, the order does not go on.

Rows are told apart by their contents: a row that several replicas submit, or one of them twice, has one number.
What is to happen twice needs a column that makes a difference, such as the number of a request.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from clew.bloom import Bloom, agg, bloom, channel, imported, interface, periodic, rows, scratch, table

#: Of what a replica has not heard, so many rows are sent again at a time.
CATCH_UP = 500
#: Seconds until what seems lost is asked for again.
PATIENCE = 0.2


class OrderedDelivery(Bloom):
    """``propose``: rows for the service, which finds them in ``proposed``.

    ``decided``: rows with their numbers, from 0 on, in any order and more than once.  ``released``: the rows in
    order, one in a step, and none in a step in which ``wait`` has a row: a component has not settled.
    """

    propose = interface.input("stream", "content")
    proposed = interface.output("stream", "content")
    decided = interface.input("number", val=["stream", "content"])
    wait = interface.input("why")
    released = interface.output("number", val=["stream", "content"])

    arrived = table("number", val=["stream", "content"])
    last = table(val=["number"])
    begun = table("number")
    turn = scratch("number")

    @bloom
    def pass_on(self) -> None:
        self.proposed <= self.propose

    @bloom
    def take_turns(self) -> None:
        # Number 0 until it was released; then one more than the last.  A table that starts with a row would need a
        # writer outside of the rules.
        self.turn <= rows([(0,)]).notin(self.begun)
        self.turn <= self.last(lambda one: (one.number + 1,))
        # What was released before comes again when the service repeats it, and must not be kept a second time.
        self.arrived <= (self.decided * self.turn).pairs(
            lambda d, t: (d.number, d.stream, d.content) if d.number >= t.number else None
        )
        self.temp.stopped <= self.wait(lambda w: (1,)).rename("flag")
        self.temp.open <= rows([(1,)]).rename("flag").notin(self.temp.stopped)
        self.temp.first <= (self.arrived * self.turn).lefts(number="number")
        self.temp.going <= (self.temp.first * self.temp.open).lefts()
        self.released <= self.temp.going

    @bloom
    def go_on(self) -> None:
        self.begun <+ self.temp.going(lambda g: (0,))
        self.last <+ self.temp.going.project("number")
        self.last <- (self.last * self.temp.going).lefts()
        self.arrived <- self.temp.going


class OrderMessages(Bloom):
    """Between replicas and the sequencer."""

    submit_msg = channel("@sequencer", "stream", "content")
    order_msg = channel("@replica", "number", val=["stream", "content"])
    missing_msg = channel("@sequencer", "replica", "number")


class SequencedDelivery(OrderedDelivery, OrderMessages):
    """``sequencer`` has one row: its address."""

    sequencer = table("node")
    unordered = table("stream", "content")
    timer = periodic(PATIENCE)

    @bloom
    def submit(self) -> None:
        self.submit_msg <~ (self.propose * self.sequencer).pairs(lambda p, s: (s.node, p.stream, p.content))
        # Kept until it comes back with a number: a message to the sequencer may be lost.
        self.unordered <= self.propose
        self.unordered <- (self.unordered * self.order_msg).lefts(stream="stream", content="content")

    @bloom
    def receive(self) -> None:
        self.decided <= self.order_msg(lambda o: (o.number, o.stream, o.content))

    @bloom
    def repeat(self) -> None:
        self.temp.asking <= (self.timer * self.sequencer).rights()
        self.submit_msg <~ (self.temp.asking * self.unordered).pairs(lambda s, u: (s.node, u.stream, u.content))
        # Asks for the next number, whether something is missing or not: a
        # replica cannot know what it has not heard of.
        self.missing_msg <~ (self.temp.asking * self.turn).pairs(lambda s, t: (s.node, self.ip_port, t.number))


class Sequencing(OrderMessages):
    """Gives numbers, and keeps what it gave them to for who has missed it."""

    replicas = table("replica")
    log = table("stream", "content", val=["number"])
    used = table(val=["number"])
    started = table("number")
    first_free = scratch("number")
    numbered = scratch("stream", "content", val=["number"])

    @bloom
    def find_next(self) -> None:
        self.first_free <= rows([(0,)]).notin(self.started)
        self.first_free <= self.used(lambda one: (one.number + 1,))

    @bloom
    def give_numbers(self) -> None:
        self.temp.fresh <= self.submit_msg.payloads().notin(self.log, stream="stream", content="content")
        # Rows that arrive in one step are numbered in any order, as long as there is one: nobody has seen another.
        self.temp.ranked <= self.temp.fresh.reduce([], _append_ranked, ["rank", "stream", "content"])
        self.numbered <= (self.temp.ranked * self.first_free).pairs(
            lambda r, f: (r.stream, r.content, f.number + r.rank)
        )

    @bloom
    def remember(self) -> None:
        self.log <+ self.numbered
        self.started <+ self.numbered(lambda n: (0,))
        self.used <+ self.numbered.group([], agg.max("number"))
        self.used <- (self.used * self.numbered).lefts()

    @bloom
    def tell(self) -> None:
        self.order_msg <~ (self.numbered * self.replicas).pairs(
            lambda n, r: (r.replica, n.number, n.stream, n.content)
        )

    @bloom
    def tell_again(self) -> None:
        # Who has missed nothing costs nothing: the log is gone through only for others.
        self.temp.behind <= (self.missing_msg * self.used).pairs(
            lambda m, u: (m.replica, m.number) if m.number <= u.number else None
        ).rename("replica", "number")
        self.order_msg <~ (self.temp.behind * self.log).pairs(
            lambda b, e: (b.replica, e.number, e.stream, e.content)
            if e.number >= b.number and e.number < b.number + CATCH_UP
            else None
        )


class StepwiseSequencing(Sequencing):
    """The same, but one row in a step, the smallest first: slower, and simple enough to be checked."""

    queue = table("item")

    @bloom
    def give_numbers(self) -> None:
        self.temp.fresh <= self.submit_msg.payloads().notin(self.log, stream="stream", content="content")
        self.queue <= self.temp.fresh(lambda f: ((f.stream, f.content),))
        self.temp.first <= self.queue.argmin([], "item")
        self.queue <- self.temp.first
        self.numbered <= (self.temp.first * self.first_free).pairs(
            lambda q, f: (q.item[0], q.item[1], f.number)
        )


def _append_ranked(found: list[tuple[Any, ...]], row: Any) -> list[tuple[Any, ...]]:
    found.append((len(found), row.stream, row.content))
    return found


class Sequencer(Bloom):
    """The embedded ordering service: a node of its own, for the ``replicas`` at these addresses.

    Replicas reach it under the name ``order``, as they import ``SequencedDelivery``.
    """

    order = imported(Sequencing)

    def __init__(self, address: str | None = None, replicas: Iterable[str] = ()) -> None:
        super().__init__(address)
        self.order.replicas.insert(*((replica,) for replica in replicas))
