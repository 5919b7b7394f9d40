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

from clew.bloom import Bloom, agg, bloom, interface, scratch, table


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
        self.too_late <= (self.produced * self.closed).lefts(partition="partition")

    @bloom
    def punctuate(self) -> None:
        self.temp.ending <= self.ended.notin(self.closed)
        self.temp.final <= (self.sent * self.temp.ending).lefts(partition="partition")
        counted = self.temp.final.group(["partition"], cnt=agg.count())
        self.punctuation <= counted.map(lambda c: (c.partition, self.ip_port, c.cnt))
        self.punctuation <= self.temp.ending.notin(self.sent, partition="partition").map(
            lambda e: (e.partition, self.ip_port, 0)
        )
        self.closed <+ self.temp.ending
        self.sent <- self.temp.final


class SealedPartitions(Bloom):
    """The side of a consumer, but for the vote: a subclass derives in ``ripe`` what all producers have sealed.

    ``released``: the rows of the partitions that are let go in this step, and ``opened`` these partitions, each
    once.  ``late``: rows of a partition that was let go before; their producer broke its promise.
    """

    row = interface.input("partition", "content")
    punctuation = interface.input("partition", "producer", val=["cnt"])
    released = interface.output("partition", "content")
    opened = interface.output("partition")
    late = interface.output("partition", "content")

    held = table("partition", "content")
    votes = table("partition", "producer", val=["cnt"])
    gone = table("partition")
    ripe = scratch("partition")

    @bloom
    def hold(self) -> None:
        self.held <= self.row.notin(self.gone, partition="partition")
        self.late <= (self.row * self.gone).lefts(partition="partition")
        self.votes <= self.punctuation.notin(self.gone, partition="partition")

    @bloom
    def compare_with_manifests(self) -> None:
        self.temp.manifests <= (self.votes * self.ripe).lefts(partition="partition")
        self.temp.expected <= self.temp.manifests.group(["partition"], cnt=agg.sum("cnt"))
        # Only what is ripe is counted, so that a step does not go through everything that is held.
        self.temp.due <= (self.held * self.ripe).lefts(partition="partition")
        self.temp.present <= self.temp.due.group(["partition"], cnt=agg.count())
        self.temp.complete <= (self.temp.expected * self.temp.present).lefts(partition="partition", cnt="cnt")
        self.temp.complete <= self.temp.expected.filter(lambda e: e.cnt == 0)

    @bloom
    def let_go(self) -> None:
        self.temp.going <= (self.held * self.temp.complete).lefts(partition="partition")
        self.temp.counted_out <= (self.votes * self.temp.complete).lefts(partition="partition")
        self.released <= self.temp.going
        self.opened <= self.temp.complete.project("partition")
        self.gone <+ self.temp.complete.project("partition")
        self.held <- self.temp.going
        self.votes <- self.temp.counted_out


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
    ``opened``: the partitions that nothing is left of.
    """

    row = interface.input("partition", "content")
    complete = interface.input("partition")
    released = interface.output("partition", "content")
    opened = interface.output("partition")

    queue = table("partition", "content")
    unfinished = table("partition")

    @bloom
    def take_turns(self) -> None:
        self.queue <= self.row
        self.temp.next_one <= self.queue.argmin(["partition"], "content")
        self.released <= self.temp.next_one
        self.queue <- self.temp.next_one

    @bloom
    def finish(self) -> None:
        self.unfinished <= self.complete
        self.temp.finished <= self.unfinished.notin(self.queue, partition="partition")
        self.opened <= self.temp.finished
        self.unfinished <- self.temp.finished


class ReadsOfPartition(Bloom):
    """Requests that name a partition: each waits until the partition was let go, and its rows have arrived."""

    read = interface.input("partition", "content")
    opened = interface.input("partition")
    due = interface.output("partition", "content")

    waiting = table("partition", "content")
    open_now = table("partition")

    @bloom
    def wait(self) -> None:
        self.waiting <= self.read
        # One step after the rows of the partition: what these change with <+ is there as well, then.
        self.open_now <+ self.opened
        self.due <= (self.waiting * self.open_now).lefts(partition="partition")
        self.waiting <- (self.waiting * self.open_now).lefts(partition="partition")


class ReadsOfAll(Bloom):
    """Requests about all partitions: each is made when it arrives, and again for every partition that is let go.

    So it is answered, bit by bit, from partitions that are complete.
    """

    read = interface.input("content")
    opened = interface.input("partition")
    due = interface.output("content")

    asked = table("content")
    opened_before = scratch("partition")

    @bloom
    def repeat(self) -> None:
        self.asked <= self.read
        self.opened_before <+ self.opened
        self.due <= self.read
        self.due <= (self.asked * self.opened_before).lefts()
