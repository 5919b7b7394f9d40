"""Programs that were once called consistent and are not.

Each is small and about one rule of the analysis; those of a group are siblings, found by varying the first.
"""

from __future__ import annotations

import itertools
import random
import time
import uuid
from typing import Any

from clew.bloom import Bloom, agg, bloom, channel, interface, lmax, lset, periodic, rows, scratch, table

# -- rows of one step that must meet -----------------------------------------------------------------------------


class Closure(Bloom):
    """Links that arrive one by one give fewer paths than together: v of one is compared with u of another."""

    link = channel("@dst", "u", "v")
    path = interface.output("u", "v")
    step = scratch("u", "v")

    @bloom
    def rules(self) -> None:
        self.step <= self.link.payloads()
        self.step <= (self.link * self.step).pairs(lambda a, b: (a.u, b.v), v="u")
        self.path <= self.step


class ClosureStored(Closure):
    """The same over a table is consistent."""

    known = table("u", "v")

    @bloom
    def rules(self) -> None:
        self.known <= self.link.payloads()
        self.step <= self.known
        self.step <= (self.known * self.step).pairs(lambda a, b: (a.u, b.v), v="u")
        self.path <= self.step


class Arriving(Bloom):
    first = channel("@dst", "id", "val")
    second = channel("@dst", "id", "val")
    given = interface.input("id", "val")
    kept = table("id", "val")
    copy = scratch("dst", "id", "val")
    out = interface.output("x", "y")


class EqualAddress(Arriving):
    """All rows at a node have the same address."""

    @bloom
    def rules(self) -> None:
        self.copy <= self.first
        self.out <= (self.first * self.copy).pairs(lambda a, b: (a.id, b.id), dst="dst")


class EqualInOneKey(Arriving):
    """The number alone does not identify a message that has two keys."""

    @bloom
    def rules(self) -> None:
        self.copy <= self.first
        self.out <= (self.first * self.copy).pairs(lambda a, b: (a.val, b.val), id="id")


class OtherColumn(Arriving):
    @bloom
    def rules(self) -> None:
        self.copy <= self.first
        self.out <= (self.first * self.copy).pairs(lambda a, b: (a.id, b.val), id="val", val="id")


class LaterCopy(Arriving):
    """The copy is there in the next step: it meets the message only if that is sent again."""

    @bloom
    def rules(self) -> None:
        self.copy <+ self.first
        self.out <= (self.first * self.copy).pairs(lambda a, b: (a.id, b.val), id="id", val="val")


class SeveralCopies(Arriving):
    """A row of the copy may be made of a message of the other channel."""

    @bloom
    def rules(self) -> None:
        self.copy <= self.first
        self.copy <= self.second
        self.out <= (self.first * self.copy).pairs(lambda a, b: (a.id, b.val), id="id", val="val")


class MeetsItself(Arriving):
    """Every key is compared with itself: each message meets itself, and nothing else, whatever the order."""

    @bloom
    def rules(self) -> None:
        self.copy <= self.first
        self.out <= (self.first * self.copy).pairs(lambda a, b: (a.id, b.val), id="id", val="val")


class Quorum(Bloom):
    """Two votes make the quorum, and the vote that is passed on must come after it: nothing is compared at all."""

    vote = channel("@dst", "voter")
    votes = lset()
    out = interface.output("dst", "voter")

    @bloom
    def rules(self) -> None:
        self.votes <= self.vote.project("voter")
        self.out <= self.votes.size().gt_eq(2).when_true(self.vote)


class RepeatedUntilAnswered(Bloom):
    """The second message finds what the first one left, if there is a second one before the answer."""

    wanted = interface.input("dst", "id")
    open = table("dst", "id")
    msg = channel("@dst", "src", "id")
    ack = channel("@src", "id")
    known = scratch("dst", "src", "id")
    timer = periodic(1)
    out = interface.output("id")

    @bloom
    def rules(self) -> None:
        self.open <= self.wanted
        self.msg <~ self.wanted(lambda w: (w.dst, self.ip_port, w.id))
        self.msg <~ (self.open * self.timer).pairs(lambda w, t: (w.dst, self.ip_port, w.id))
        self.ack <~ self.msg(lambda m: (m.src, m.id))
        self.open <- (self.open * self.ack).lefts(id="id")
        self.known <+ self.msg
        self.out <= (self.msg * self.known).lefts(dst="dst", src="src", id="id")(lambda m: (m.id,))


# -- what is there later -----------------------------------------------------------------------------------------


class LaterFlag(Arriving):
    flag = table("on")

    @bloom
    def rules(self) -> None:
        self.flag <+ rows([(1,)])
        self.out <= (self.first * self.flag).pairs(lambda a, f: (a.id, f.on))


class LaterScratch(Arriving):
    flag = scratch("on")

    @bloom
    def rules(self) -> None:
        self.flag <+ rows([(1,)])
        self.out <= (self.first * self.flag).pairs(lambda a, f: (a.id, f.on))


class LaterLattice(Arriving):
    flag = lmax()

    @bloom
    def rules(self) -> None:
        self.flag <+ rows([(1,)]).project(0)
        self.out <= self.flag.gt_eq(1).when_true(self.first.project("id", "val"))


class LaterAbsent(Arriving):
    """What is absent in the first step only: its rows are let through if they come then."""

    flag = table("id", "val")

    @bloom
    def rules(self) -> None:
        self.flag <+ rows([(1, 1)])
        self.out <= self.first.project("id", "val").notin(self.flag)


class MeetsGivenTable(Arriving):
    """The table is filled from an input, which may come after the message."""

    @bloom
    def rules(self) -> None:
        self.kept <= self.given
        self.out <= (self.first * self.kept).pairs(lambda a, k: (a.id, k.val), id="id")


class FlagAtOnce(Arriving):
    flag = table("on")

    @bloom
    def rules(self) -> None:
        self.flag <= rows([(1,)])
        self.out <= (self.first * self.flag).pairs(lambda a, f: (a.id, f.on))


# -- tables without tables ---------------------------------------------------------------------------------------


class KeptScratch(Arriving):
    """``p <+ p`` is storage."""

    p = scratch("id", "val")
    q = scratch("id", "val")

    @bloom
    def rules(self) -> None:
        self.p <= self.first.project("id", "val")
        self.p <+ self.p
        self.q <= self.second.project("id", "val")
        self.q <+ self.q
        self.out <= (self.p * self.q).pairs(lambda a, b: (a.id, b.val), id="id")


class KeptInPart(KeptScratch):
    @bloom
    def rules(self) -> None:
        self.p <= self.first.project("id", "val")
        self.p <+ self.p.filter(lambda r: r.val > 1)
        self.q <= self.second.project("id", "val")
        self.q <+ self.q
        self.out <= (self.p * self.q).pairs(lambda a, b: (a.id, b.val), id="id")


# -- clocks ------------------------------------------------------------------------------------------------------


class TwoClocks(Arriving):
    """They may never tick in the same step."""

    one = periodic(1)
    other = periodic(2)

    @bloom
    def rules(self) -> None:
        self.kept <= self.first.project("id", "val")
        self.out <= (self.kept * self.one * self.other).pairs(lambda k, a, b: (k.id, k.val))


class ClockThenStored(Arriving):
    """What a clock let through is there for a step, and what it meets may come after its last tick."""

    one = periodic(1)
    let = scratch("id", "val")
    other = table("id", "val")

    @bloom
    def rules(self) -> None:
        self.kept <= self.first.project("id", "val")
        self.other <= self.second.project("id", "val")
        self.let <= (self.kept * self.one).lefts()
        self.out <= (self.let * self.other).pairs(lambda k, o: (k.id, o.val), id="id")


# -- functions that are none -------------------------------------------------------------------------------------

_COUNTER = itertools.count()
_SEEN: list[Any] = []


def _numbered(row: Any) -> Any:
    return row.id, next(_COUNTER)


def _remembered(row: Any) -> Any:
    _SEEN.append(row.id)
    return row.id, len(_SEEN)


def _twice(row: Any) -> Any:
    return row.id, max(row.val, row.val)


class Drawn(Arriving):
    @bloom
    def rules(self) -> None:
        self.out <= self.first(lambda r: (r.id, random.random()))


class Numbered(Arriving):
    @bloom
    def rules(self) -> None:
        self.out <= self.first(lambda r: _numbered(r))


class Timed(Arriving):
    @bloom
    def rules(self) -> None:
        self.out <= self.first(lambda r: (r.id, time.time()))


class Named(Arriving):
    @bloom
    def rules(self) -> None:
        self.out <= self.first(lambda r: (r.id, uuid.uuid4().hex))


class Remembered(Arriving):
    @bloom
    def rules(self) -> None:
        self.out <= self.first(_remembered)


class Sometimes(Arriving):
    @bloom
    def rules(self) -> None:
        self.out <= self.first.filter(lambda r: random.random() < 0.5).project("id", "val")


class Folded(Arriving):
    numbers = table("id", "val")

    @bloom
    def rules(self) -> None:
        self.out <= self.numbers.reduce([], lambda memo, r: [*memo, (r.id, next(_COUNTER))], ["x", "y"])


class ByDefault(Arriving):
    @bloom
    def rules(self) -> None:
        self.out <= self.first(lambda r, n=_COUNTER: (r.id, next(n)))


class Opaque(Arriving):
    """Not seen through, and pure: a notice, and no more."""

    @bloom
    def rules(self) -> None:
        self.out <= self.first(_twice)
        self.out <= self.first(lambda r: (str(r.id).upper(), tuple(sorted([r.val, r.id]))))


# -- inputs ------------------------------------------------------------------------------------------------------


class Local(Bloom):
    i0 = interface.input("x", "y")
    i1 = interface.input("x", "y")
    kept = table("x", "y")
    out = interface.output("x", "y")


class CountsAStep(Local):
    """How many rows a step gets is a matter of batching."""

    @bloom
    def rules(self) -> None:
        self.out <= self.i0.group(["x"], n=agg.count()).filter(lambda r: r.n > 1)


class JoinsAStep(Local):
    @bloom
    def rules(self) -> None:
        self.out <= (self.i0 * self.i1).lefts(x="x")


class JoinsWhatIsKept(Local):
    @bloom
    def rules(self) -> None:
        self.kept <= self.i1
        self.out <= (self.i0 * self.kept).lefts(x="x")


class KeepsWhatComes(Local):
    """A row stays only while it is given again: an empty step takes it away."""

    @bloom
    def rules(self) -> None:
        self.kept <= self.i1
        self.kept <- self.kept.notin(self.i0)


class SentFromSteps(Local):
    """What a node sends because of its steps differs as they do."""

    chan = channel("@dst", "x", "y")

    @bloom
    def rules(self) -> None:
        self.chan <~ (self.i0 * self.i1).lefts(x="x")(lambda r: (self.ip_port, r.x, r.y))
        self.kept <= self.chan.payloads()


class WrittenDownAndSent(Local):
    """Messages with rows that are written down come from no source, and race with inputs all the same."""

    chan = channel("@dst", "x", "y")

    @bloom
    def rules(self) -> None:
        self.chan <~ rows([(1, 1)]).rename("x", "y")(lambda r: (self.ip_port, r.x, r.y))
        self.kept <= (self.chan * self.i0).lefts(x="x").project("x", "y")


class LastEmptyStep(Local):
    """Of two rows that come by themselves, one is gone when the other is there, one empty step later."""

    held = table("x", "y")
    gone = scratch("x", "y")

    @bloom
    def rules(self) -> None:
        self.held <+ rows([(1, 1)])
        self.gone <+ rows([(1, 1)]).rename("x", "y").notin(self.held)
        self.out <= self.held.notin(self.gone)
