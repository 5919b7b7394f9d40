"""Small Bloom programs, one for each rule by which annotations are extracted."""

from __future__ import annotations

import random

from clew.analysis.blazes.extraction import annotated
from clew.bloom import Bloom, agg, bloom, channel, imported, interface, lset, periodic, rows, scratch, table


class _Through(Bloom):
    given = interface.input("a", "b")
    out = interface.output("a", "b")


class _Stored(_Through):
    log = table("a", "b")

    @bloom
    def store(self) -> None:
        self.log <= self.given


class _Other(Bloom):
    other = interface.input("a", "b")


class _Ask(Bloom):
    ask = interface.input("a")


class Filtered(_Through):
    @bloom
    def rules(self) -> None:
        self.out <= self.given.filter(lambda g: g.a > 3)


class Logged(_Stored):
    @bloom
    def rules(self) -> None:
        self.out <= self.log


class Counted(_Stored):
    @bloom
    def rules(self) -> None:
        self.out <= self.log.group(["a"], agg.count())


class CountedOnce(_Through):
    """Of the rows of one step: how many arrive together is a matter of order, too."""

    @bloom
    def rules(self) -> None:
        self.out <= self.given.group(["a"], agg.count())


class CountedInAll(_Stored):
    @bloom
    def rules(self) -> None:
        self.out <= self.log.group([], agg.count())(lambda c: (0, c[0]))


class CountedRenamed(_Stored):
    @bloom
    def rules(self) -> None:
        self.temp.swapped <= self.log(lambda x: (x.b, x.a)).rename("first", "second")
        self.out <= self.temp.swapped.group(["second"], agg.count())


class CountedComputed(_Stored):
    @bloom
    def rules(self) -> None:
        self.out <= self.log(lambda x: (x.a + 1, x.b)).rename("next", "b").group(["next"], agg.count())


class CountedByAnOpaqueFunction(_Stored):
    @bloom
    def rules(self) -> None:
        self.out <= self.log(lambda x: (str(x.a), x.b)).rename("text", "b").group(["text"], agg.count())


class CountedFromTwo(_Stored, _Other):
    @bloom
    def more(self) -> None:
        self.log <= self.other

    @bloom
    def rules(self) -> None:
        self.out <= self.log.group(["a"], agg.count())


class CountedFromTwoThatDiffer(_Stored, _Other):
    """What is ``a`` in the log is ``b`` of the other input, and each has both names: neither names a group."""

    @bloom
    def more(self) -> None:
        self.log <= self.other(lambda o: (o.b, 0))

    @bloom
    def rules(self) -> None:
        self.out <= self.log.group(["a"], agg.count())


class CountedFromTwoNames(_Stored):
    """Here the other input has names of its own, so that both names of a group are clear."""

    other = interface.input("x", "y")

    @bloom
    def more(self) -> None:
        self.log <= self.other

    @bloom
    def rules(self) -> None:
        self.out <= self.log.group(["a"], agg.count())


class CountedTwice(_Stored):
    """By (a, b), and then by a: only what both have in common is a partition of both."""

    counts = scratch("a", "b", "n")

    @bloom
    def rules(self) -> None:
        self.counts <= self.log.group(["a", "b"], agg.count())
        self.out <= self.counts.group(["a"], agg.sum("n"))


class Threshold(_Stored):
    @bloom
    def rules(self) -> None:
        self.temp.many <= self.log.group(["a"], n=agg.count()).filter(lambda c: c.n > 3)
        self.out <= self.temp.many(lambda c: (c.a, 0))


class Newest(_Stored):
    @bloom
    def rules(self) -> None:
        self.out <= self.log.argmax(["a"], "b")


class Without(_Through, _Other):
    stopped = table("a", "b")

    @bloom
    def rules(self) -> None:
        self.stopped <= self.other
        self.out <= self.given.notin(self.stopped, b="b")


class WithoutFixed(_Through):
    stopped = table("a")

    @bloom
    def rules(self) -> None:
        self.out <= self.given.notin(self.stopped, a="a")


class Completed(_Through, _Other):
    @bloom
    def rules(self) -> None:
        self.out <= (self.given * self.other).outer(lambda g, o: (g.a, o.b), a="a")


class AskedBefore(_Stored, _Ask):
    """The request selects, and what it selects is counted."""

    @bloom
    def rules(self) -> None:
        self.out <= (self.ask * self.log).rights(a="a").group(["a"], agg.count())


class AskedAfter(_Stored, _Ask):
    """All is counted, and the request selects."""

    @bloom
    def rules(self) -> None:
        self.temp.counts <= self.log.group(["a"], n=agg.count())
        self.out <= (self.ask * self.temp.counts).rights(a="a")


class AskedAndStored(_Stored, _Ask):
    answers = table("a", "n")

    @bloom
    def rules(self) -> None:
        self.answers <= (self.ask * self.log).rights(a="a").group(["a"], agg.count())
        self.out <= self.answers


class AskedByAClock(_Stored):
    clock = periodic(1)

    @bloom
    def rules(self) -> None:
        self.temp.counts <= self.log.group(["a"], n=agg.count())
        self.out <= (self.temp.counts * self.clock).lefts()


class Overwritten(_Through, _Ask):
    state = table("a", val=["b"])

    @bloom
    def rules(self) -> None:
        self.state <+ self.given
        self.state <- (self.state * self.given).lefts(a="a")
        self.out <= (self.ask * self.state).rights(a="a")


class Flushed(Overwritten):
    flush = interface.input("now")

    @bloom
    def clean(self) -> None:
        self.state <- (self.state * self.flush).lefts()


class Remembered(_Through):
    """What goes round from step to step is state."""

    kept = scratch("a", "b")

    @bloom
    def rules(self) -> None:
        self.kept <= self.given
        self.kept <+ self.kept
        self.out <= self.kept


class InALattice(_Through):
    seen = lset()

    @bloom
    def rules(self) -> None:
        self.seen <= self.given(lambda g: (g.a,))
        self.out <= self.seen.elements()(lambda e: (e[0], 0))


class EqualByTest(_Through):
    """The join is a test in a function: ``b`` of the request is ``a``."""

    ask = interface.input("b")

    @bloom
    def rules(self) -> None:
        self.temp.pairs <= (self.given * self.ask).pairs(lambda g, q: (g.a, g.b) if g.a == q.b else None)
        self.out <= self.temp.pairs.rename("a", "n").group(["a"], agg.count())


class SelfJoined(_Stored):
    @bloom
    def rules(self) -> None:
        self.temp.copy <= self.log
        self.out <= (self.log * self.temp.copy).pairs(lambda x, y: (x.a, y.b), a="a")


class TwoWays(_Through):
    """Rows come by two rules, which agree on ``b`` only."""

    @bloom
    def rules(self) -> None:
        self.out <= self.given
        self.out <= self.given(lambda g: (0, g.b))


class MetInOneStep(_Through, _Other):
    """Rows of two inputs meet only if they come together."""

    @bloom
    def rules(self) -> None:
        self.out <= (self.given * self.other).pairs(lambda g, o: (g.a, o.b), a="a")


class MetInOneStepByTwo(_Through, _Other):
    @bloom
    def rules(self) -> None:
        self.out <= (self.given * self.other).lefts(a="a", b="b")


class MetByThree(_Through, _Other):
    """No column is compared among all three, so that no partition of them could be let go together."""

    third = interface.input("b", "c")

    @bloom
    def rules(self) -> None:
        self.temp.two <= (self.given * self.other).pairs(lambda g, o: (g.a, o.b), a="a")
        self.out <= (self.temp.two.rename("a", "b") * self.third).lefts(b="b")


class ThresholdOfOneStep(_Through):
    """Growing, and still a matter of what comes together."""

    @bloom
    def rules(self) -> None:
        self.temp.many <= self.given.group(["a"], n=agg.count()).filter(lambda c: c.n > 1)
        self.out <= self.temp.many(lambda c: (c.a, 0))


class AskedOnce(_Stored, _Ask):
    """A join with rows that are only added: who asks too early finds nothing."""

    @bloom
    def rules(self) -> None:
        self.out <= (self.ask * self.log).rights(a="a")


class AskedAgain(AskedOnce):
    blazes = annotated(repeated=["ask"])


class AskedAgainWithAnother(_Stored, _Ask):
    """That one of two asks again does not help the other, which must come in the same step."""

    other = interface.input("a")
    blazes = annotated(repeated=["ask"])

    @bloom
    def rules(self) -> None:
        self.temp.both <= (self.ask * self.other).lefts(a="a")
        self.out <= (self.temp.both.rename("a") * self.log).rights(a="a")


class MeetsItself(_Stored):
    """What is stored of an input meets what comes later, of every ``a``: a seal on ``b`` lets both in at once."""

    @bloom
    def rules(self) -> None:
        self.out <= (self.given * self.log).pairs(lambda x, y: (x.a, y.a), b="b")


class Closure(_Through):
    """Links that meet paths: no column of a link is compared with the same column of another."""

    path = table("a", "b")

    @bloom
    def rules(self) -> None:
        self.path <= self.given
        self.path <= (self.given * self.path).pairs(lambda x, y: (x.a, y.b), b="a")
        self.out <= self.path


class CountsWhoAsks(_Stored):
    """How many ask in one step is counted, too: a seal on what is stored says nothing about that."""

    ask = interface.input("a", "name")

    @bloom
    def rules(self) -> None:
        self.temp.asked <= (self.ask * self.log).pairs(lambda q, x: (q.a, q.name, x.b), a="a")
        self.out <= self.temp.asked.rename("a", "name", "b").group(["a"], agg.count())


class CountsAcrossWhoAsks(_Stored, _Ask):
    """Requests for several ``a`` in one step are counted together."""

    @bloom
    def rules(self) -> None:
        self.out <= (self.ask * self.log).rights(a="a").group(["b"], agg.count())(lambda c: (c.b, c[1]))


class AsksAndWritesDown(_Stored, _Ask):
    """The input that asks is stored somewhere, so that it is no mere read: what it reads must be complete, too."""

    asked = table("a")

    @bloom
    def rules(self) -> None:
        self.asked <= self.ask
        self.temp.counts <= self.log.group(["a"], n=agg.count())
        self.out <= (self.ask * self.temp.counts).rights(a="a")


class CountedBehindAChannel(_Through):
    """A partition that is let go at the input is taken apart again by the channel."""

    peers = table("peer")
    msg = channel("@peer", "a", "b")
    log = table("a", "b")

    @bloom
    def rules(self) -> None:
        self.msg <~ (self.given * self.peers).pairs(lambda g, p: (p.peer, g.a, g.b))
        self.log <= self.msg(lambda m: (m.a, m.b))
        self.out <= self.log.group(["a"], agg.count())


class TwoCounts(_Through, _Other):
    """A count of rows that are sealed does not complete another count of rows that are not."""

    blazes = annotated(seals={"given": ["a"]})

    @bloom
    def rules(self) -> None:
        self.out <= self.given.group(["a"], agg.count())
        self.out <= self.other.group(["a"], agg.count())


class CountedByReplicas(_Through):
    blazes = annotated(replicated=["CountedByReplicas"])

    @bloom
    def rules(self) -> None:
        self.out <= self.given.group(["a"], agg.count())


class Drawn(_Through):
    """A function that is none: the same row gives something else in every run."""

    @bloom
    def rules(self) -> None:
        self.out <= self.given(lambda g: (g.a, random.random()))


class DrawnByReplicas(Drawn):
    blazes = annotated(replicated=["DrawnByReplicas"])


class DrawnAndKept(_Through):
    chance = table("a", "b")
    blazes = annotated(replicated=["DrawnAndKept"])

    @bloom
    def rules(self) -> None:
        self.chance <= self.given(lambda g: (g.a, random.random()))
        self.out <= self.chance


class SentConstants(Bloom):
    """No input at all, and still the order of messages shows."""

    peers = table("peer")
    hello = channel("@peer", "sender")
    out = interface.output("cnt")

    @bloom
    def rules(self) -> None:
        self.hello <~ self.peers(lambda p: (p.peer, self.ip_port))
        self.out <= self.hello.group([], agg.count())


class DisorderlyCart(Bloom):
    """Listing 3.9 of the thesis."""

    action = interface.input("session", "reqid", val=["item", "cnt"])
    checkout = interface.input("session", "reqid")
    response = interface.output("session", val=["items"])
    log = table("session", "reqid", val=["item", "cnt"])

    @bloom
    def rules(self) -> None:
        self.log <= self.action
        self.temp.checked_out <= (self.checkout * self.log).rights(session="session")
        self.temp.sums <= self.temp.checked_out.group(["session", "item"], num=agg.sum("cnt"))
        self.response <= self.temp.sums.group(["session"], agg.accum_pair("item", "num"))


# -- systems -----------------------------------------------------------------------------------------------------


class Renaming(Bloom):
    rows = interface.input("x", "y")
    counts = interface.output("a", "b")
    store = imported(Counted)
    blazes = annotated(seals={"rows": ["x"]})

    @bloom
    def connect(self) -> None:
        self.store.given <= self.rows
        self.counts <= self.store.out


class Fan(Bloom):
    rows = interface.input("a", "b")
    one = interface.output("a", "b")
    two = interface.output("a", "b")
    first = imported(Counted)
    second = imported(CountedInAll)
    blazes = annotated(seals={"rows": ["a"]})

    @bloom
    def connect(self) -> None:
        self.first.given <= self.rows
        self.second.given <= self.rows
        self.one <= self.first.out
        self.two <= self.second.out


class HalfConnected(Bloom):
    requests = interface.input("a")
    counts = interface.output("a", "b")
    store = imported(AskedAfter)

    @bloom
    def connect(self) -> None:
        self.store.ask <= self.requests
        self.counts <= self.store.out


class AskedAllTheTime(Bloom):
    rows = interface.input("a", "b")
    counts = interface.output("a", "b")
    store = imported(AskedAfter)

    @bloom
    def connect(self) -> None:
        self.store.given <= self.rows
        self.store.ask <= rows([(1,)])
        self.counts <= self.store.out


class _Log(Bloom):
    given = interface.input("a", "b")
    log = table("a", "b")

    @bloom
    def store(self) -> None:
        self.log <= self.given


class Backend(Bloom):
    rows = interface.input("a", "b")
    store = imported(_Log)

    @bloom
    def connect(self) -> None:
        self.store.given <= self.rows


class Injective(Counted):
    """``b`` and ``a`` determine each other, so a seal on ``b`` completes a group by ``a``."""

    blazes = annotated(seals={"given": ["b"]}, injective={"given": {"b": "a"}})


# -- refused -----------------------------------------------------------------------------------------------------


class Empty(_Through):
    """Has interfaces, and no rules."""


class _System(Bloom):
    rows = interface.input("a", "b")
    counts = interface.output("a", "b")
    store = imported(Counted)

    @bloom
    def connect(self) -> None:
        self.store.given <= self.rows
        self.counts <= self.store.out


class BadReplica(_System):
    blazes = annotated(replicated=["stores"])


class BadSeal(_System):
    blazes = annotated(seals={"clicks": ["a"]})


class BadKey(_System):
    blazes = annotated(seals={"rows": ["z"]})


class BadRepetition(_System):
    blazes = annotated(repeated=["rows", "store.asked"])


class BadDeclaration(_System):
    blazes = "store"
