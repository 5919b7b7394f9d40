"""Sealing: a partition of a stream is held back until everything in it is there (thesis, section 4.4).

A producer that has nothing more for a partition says so with a punctuation, which carries a manifest: how many
different rows of the partition came from it.  A consumer waits for the punctuation of every producer of the
partition, a unanimous vote, and until as many rows are there as the manifests say, for a punctuation may overtake
rows.  Then it lets the partition go, in one step.  Nobody else is asked.

A partition is a tuple of the values of the columns that are sealed, a row is the tuple of all its columns.  Rows
are sets, so one that arrives twice counts once; rows of different producers must differ, if need be in a column
that says where they are from.  None of these modules sends anything: how rows and punctuations travel is up to
who uses them.
"""

from __future__ import annotations

from clew.bloom import Bloom, agg, bloom, interface, rows, scratch, table


class Sealer(Bloom):
    """The side of a producer: counts what it produces, and says so when a partition ends.

    ``produced``: rows of a partition, which somebody else sends.  ``ended``: the partition is complete.
    ``too_late``: rows of a partition that had ended before; they are not in the manifest and must not be sent.
    """

    produced = interface.input("partition", "content")
    ended = interface.input("partition")
    punctuation = interface.output("partition", "producer", val=["cnt"])
    too_late = interface.output("partition", "content")

    sent = table("partition", "content")
    closed = table("partition")

    @bloom
    def count(self) -> None:
        self.sent <= self.produced.notin(self.closed, partition="partition")
        # Shown rather than dropped: the producer broke its promise, and its manifest is already on the way.
        self.too_late <= (self.produced * self.closed).lefts(partition="partition")

    @bloom
    def punctuate(self) -> None:
        self.temp.ending <= self.ended.notin(self.closed)
        # The count is of different rows, as the consumer counts: a row that is sent twice arrives as one.
        self.temp.final <= (self.sent * self.temp.ending).lefts(partition="partition")
        counted = self.temp.final.group(["partition"], cnt=agg.count())
        self.punctuation <= counted.map(lambda c: (c.partition, self.ip_port, c.cnt))
        # A partition without rows has a manifest, too: a consumer waits for the vote of every producer.
        self.punctuation <= self.temp.ending.notin(self.sent, partition="partition").map(
            lambda e: (e.partition, self.ip_port, 0)
        )
        self.closed <+ self.temp.ending
        # A closed partition needs only its name: the rows would stay in memory for ever.
        self.sent <- self.temp.final


class SealedPartitions(Bloom):
    """The side of a consumer, but for the vote: a subclass derives in ``ripe`` what all producers have sealed.

    ``complete``: partitions that are all there.  They are let go at once, but for those in ``wait``.
    ``released``: the rows of the partitions that are let go in this step, and ``opened`` these partitions, each
    once.  ``late``: rows of a partition that was let go before; their producer broke its promise.
    """

    row = interface.input("partition", "content")
    punctuation = interface.input("partition", "producer", val=["cnt"])
    wait = interface.input("partition")
    complete = interface.output("partition")
    released = interface.output("partition", "content")
    opened = interface.output("partition")
    late = interface.output("partition", "content")

    held = table("partition", "content")
    votes = table("partition", "producer", val=["cnt"])
    waiting = table("partition")
    gone = table("partition")
    ripe = scratch("partition")

    @bloom
    def hold(self) -> None:
        self.held <= self.row.notin(self.gone, partition="partition")
        self.late <= (self.row * self.gone).lefts(partition="partition")
        self.votes <= self.punctuation.notin(self.gone, partition="partition")

    @bloom
    def compare_with_manifests(self) -> None:
        # What was found to be complete and waits is not counted again in every step.
        self.temp.uncounted <= self.ripe.notin(self.waiting)
        self.temp.manifests <= (self.votes * self.temp.uncounted).lefts(partition="partition")
        self.temp.expected <= self.temp.manifests.group(["partition"], cnt=agg.sum("cnt"))
        # Only what is ripe is counted, so that a step does not go through everything that is held.
        self.temp.due <= (self.held * self.temp.uncounted).lefts(partition="partition")
        self.temp.present <= self.temp.due.group(["partition"], cnt=agg.count())
        self.temp.counted <= (self.temp.expected * self.temp.present).lefts(partition="partition", cnt="cnt")
        # Nothing is expected, so there are no rows to count, and the join above does not find it.
        self.temp.counted <= self.temp.expected.filter(lambda e: e.cnt == 0)
        self.complete <= self.temp.counted.project("partition")
        self.complete <= self.waiting

    @bloom
    def let_go(self) -> None:
        self.temp.full <= self.temp.counted.project("partition")
        self.temp.full <= self.waiting
        self.temp.leaving <= self.temp.full.notin(self.wait)
        self.temp.going <= (self.held * self.temp.leaving).lefts(partition="partition")
        self.temp.counted_out <= (self.votes * self.temp.leaving).lefts(partition="partition")
        self.released <= self.temp.going
        self.opened <= self.temp.leaving
        # What was let go is remembered for good: otherwise a late row would open the partition again.
        self.gone <+ self.temp.leaving
        self.held <- self.temp.going
        self.votes <- self.temp.counted_out
        self.waiting <+ (self.temp.full * self.wait).lefts(partition="partition")
        self.waiting <- self.temp.leaving


class IndependentSeals(SealedPartitions):
    """Each partition has one producer, so that nobody need vote."""

    @bloom
    def one_is_enough(self) -> None:
        self.ripe <= self.votes.project("partition")


class VotedSeals(SealedPartitions):
    """A partition has the producers that ``producers`` names, and waits for all of them.

    All producers of a partition must be known before the first of its punctuations arrives.  One of which none
    is known waits.
    """

    producers = table("partition", "producer")

    @bloom
    def vote(self) -> None:
        # A partition that was let go has no votes any more, and is not looked at again.
        self.temp.begun <= (self.producers * self.votes).lefts(partition="partition")
        self.temp.silent <= self.temp.begun.notin(self.votes, partition="partition", producer="producer")
        self.ripe <= self.temp.begun.project("partition").notin(self.temp.silent, partition="partition")


class OneByOne(Bloom):
    """The rows of a partition that was let go, one in a step, in the order of their contents.

    For components that replace what they store: all at once, the rows of a partition would be in conflict.
    ``wait``: nothing is let go in a step in which it has a row.  ``opened``: the partitions that nothing is left
    of. ``working``: partitions that something was left of at the end of the last step.
    """

    row = interface.input("partition", "content")
    complete = interface.input("partition")
    wait = interface.input("why")
    released = interface.output("partition", "content")
    opened = interface.output("partition")
    working = interface.output("partition")

    queue = table("partition", "content")
    unfinished = table("partition")

    @bloom
    def take_turns(self) -> None:
        self.queue <= self.row
        self.temp.stopped <= self.wait(lambda w: (1,)).rename("flag")
        self.temp.open <= rows([(1,)]).rename("flag").notin(self.temp.stopped)
        # By contents, which are the same everywhere; an order of arrival would be another one at each replica.
        self.temp.next_one <= (self.queue.argmin(["partition"], "content") * self.temp.open).lefts()
        self.released <= self.temp.next_one
        self.queue <- self.temp.next_one

    @bloom
    def finish(self) -> None:
        self.unfinished <+ self.complete
        self.temp.finished <= self.unfinished.notin(self.queue, partition="partition")
        self.opened <= self.temp.finished
        self.unfinished <- self.temp.finished
        self.working <= self.unfinished


class ReadsOfPartition(Bloom):
    """Requests that name a partition: each waits until the partition was let go, and its rows have arrived.

    ``ready``: requests that could be made; all of them are, except in a step in which ``wait`` has a row.
    """

    read = interface.input("partition", "content")
    opened = interface.input("partition")
    wait = interface.input("why")
    ready = interface.output("content")
    due = interface.output("partition", "content")

    waiting = table("partition", "content")
    open_now = table("partition")

    @bloom
    def hold(self) -> None:
        self.waiting <= self.read
        # One step after the rows of the partition, which are in the component then.
        self.open_now <+ self.opened

    @bloom
    def let_go(self) -> None:
        self.temp.complete <= (self.waiting * self.open_now).lefts(partition="partition")
        self.temp.stopped <= self.wait(lambda w: (1,)).rename("flag")
        self.temp.open <= rows([(1,)]).rename("flag").notin(self.temp.stopped)
        self.ready <= self.temp.complete.project("content")
        self.due <= (self.temp.complete * self.temp.open).lefts()
        self.waiting <- (self.temp.complete * self.temp.open).lefts()


class ReadsOfAll(Bloom):
    """Requests about all partitions: each is made when it arrives, and again for every partition that is let go.

    So it is answered, bit by bit, from partitions that are complete.  ``ready`` and ``wait``: as for those that
    name a partition.
    """

    read = interface.input("content")
    opened = interface.input("partition")
    wait = interface.input("why")
    ready = interface.output("content")
    due = interface.output("content")

    asked = table("content")
    to_ask = table("content")
    opened_before = scratch("partition")

    @bloom
    def repeat(self) -> None:
        self.asked <= self.read
        self.opened_before <+ self.opened
        self.to_ask <= self.read
        self.to_ask <= (self.asked * self.opened_before).lefts()

    @bloom
    def let_go(self) -> None:
        self.temp.stopped <= self.wait(lambda w: (1,)).rename("flag")
        self.temp.open <= rows([(1,)]).rename("flag").notin(self.temp.stopped)
        self.ready <= self.to_ask
        self.due <= (self.to_ask * self.temp.open).lefts()
        self.to_ask <- (self.to_ask * self.temp.open).lefts()


class Admission(Bloom):
    """Who may enter a component that needs several steps: complete partitions, or requests, or nobody.

    ``busy``: the component has not settled.  ``complete``: partitions of a stream that could be let go.
    ``ready``: requests that could be made.  ``entered``: partitions that were let go in this step; when the
    component has settled after that, they are ``settled``.

    ``full``: partitions that have to wait in this step.  ``closed``: requests have to wait, if it has a row.
    Where both could enter, they do so by turns, so that neither waits for ever.
    """

    busy = interface.input("why")
    complete = interface.input("stream", "partition")
    ready = interface.input("content")
    entered = interface.input("stream", "partition")
    full = interface.output("stream", "partition")
    closed = interface.output("why")
    settled = interface.output("stream", "partition")

    inside = table("stream", "partition")
    turn_of_requests = table("flag")

    @bloom
    def keep_out(self) -> None:
        self.temp.moving <= self.busy(lambda b: (1,)).rename("flag")
        self.temp.asking <= self.ready(lambda r: (1,)).rename("flag")
        self.temp.sealing <= self.complete(lambda c: (1,)).rename("flag")
        # Partitions wait only if it is the turn of requests, and there are some.
        self.temp.first <= (self.temp.asking * self.turn_of_requests).lefts(flag="flag")
        self.full <= (self.complete * self.temp.moving).lefts()
        self.full <= (self.complete * self.temp.first).lefts()
        self.closed <= self.temp.moving(lambda m: ("it moves",))
        self.closed <= self.temp.sealing.notin(self.turn_of_requests)(lambda s: ("partitions enter",))

    @bloom
    def take_turns(self) -> None:
        self.turn_of_requests <+ self.entered(lambda e: (1,))
        # Requests that could be made were made, unless the component moves.
        self.temp.quiet <= self.turn_of_requests.notin(self.temp.moving)
        self.turn_of_requests <- (self.temp.quiet * self.temp.asking).lefts(flag="flag")

    @bloom
    def open(self) -> None:
        self.inside <+ self.entered
        self.temp.still <= rows([(1,)]).rename("flag").notin(self.temp.moving)
        self.settled <= (self.inside * self.temp.still).lefts()
        self.inside <- (self.inside * self.temp.still).lefts()
