"""What a round trip says: who answered was asked, what was acknowledged has arrived, and all answers are all."""

from __future__ import annotations

from typing import Any

import pytest

from analysis.calm.analysis import labels, of_class, reasons
from clew.analysis.calm.refinements.provenance import UNKNOWN, Provenance, trace_provenance
from clew.analysis.calm.trying.orders import try_orders
from clew.analysis.calm.trying.workloads import workload
from clew.bloom import Bloom, agg, bloom, channel, interface, periodic, scratch, table
from clew.bloom.ir.symbolic import Column, Constant, Here
from clew.bloom.language.module import program_of


class Round(Bloom):
    """Everyone is asked, and votes; when all have, the votes are counted."""

    members = table("peer")
    begin = interface.input("number")
    asked = channel("@peer", "caller", "number")
    vote = channel("@caller", "peer", "number", "vote")
    votes = table("number", "peer", val=["vote"])
    present = table("number", "peer")
    member_cnt = scratch(val=["cnt"])
    present_cnt = scratch("number", val=["cnt"])
    full = scratch("number", val=["cnt"])
    cast = scratch("number", "peer", val=["vote"])
    passed = interface.output("number")
    total = interface.output("number", val=["total"])

    @bloom
    def ask(self) -> None:
        self.asked <~ (self.begin * self.members).pairs(lambda b, m: (m.peer, self.ip_port, b.number))

    @bloom
    def answer(self) -> None:
        self.vote <~ self.asked(lambda c: (c.caller, c.peer, c.number, 1))

    @bloom
    def collect(self) -> None:
        self.votes <= self.vote(lambda v: (v.number, v.peer, v.vote))

    @bloom
    def note(self) -> None:
        self.present <= self.votes(lambda v: (v.number, v.peer))

    @bloom
    def count(self) -> None:
        self.member_cnt <= self.members.group([], agg.count())
        self.present_cnt <= self.present.group(["number"], agg.count())

    @bloom
    def complete(self) -> None:
        self.full <= (self.present_cnt * self.member_cnt).lefts(cnt="cnt")
        self.passed <= self.full(lambda f: (f.number,))

    @bloom
    def add_up(self) -> None:
        self.cast <= (self.votes * self.full).lefts(number="number")
        self.total <= self.cast.group(["number"], agg.sum("vote"))


def test_stems() -> None:
    program = program_of(Round)
    peer, here = Column(0, 0), Here()
    assert trace_provenance(program, "members", "members") == (Provenance((peer,), here),)
    assert trace_provenance(program, "asked", "members") == (Provenance((peer, here, UNKNOWN), peer),)
    assert trace_provenance(program, "present", "members") == (Provenance((UNKNOWN, peer), here),)
    # Of a channel, the node is the column that says where it goes.
    answer = Provenance((Column(0, 2), peer, Constant(1)), Column(0, 1))
    assert trace_provenance(program, "votes", "asked") == (answer,)
    assert trace_provenance(program, "members", "present") == ()


def test_all_answers_are_all() -> None:
    analysis = of_class(Round)
    assert labels(analysis) == {"passed": "A", "total": "A"}
    nodes = dict.fromkeys("abc", Round)
    inputs: dict[str, Any] = {name: {"members": [("a",), ("b",), ("c",)]} for name in "abc"}
    inputs["a"]["begin"] = [(1,), (2,)]
    assert try_orders(workload(nodes, inputs), ["passed", "total"], orders=50).pair is None


# -- who is counted ----------------------------------------------------------------------------------------------


class Volunteers(Round):
    """Who is no member may answer, too."""

    volunteer = channel("@caller", "peer", "number")

    @bloom
    def volunteers(self) -> None:
        self.votes <= self.volunteer(lambda v: (v.number, v.peer, 1))


class Leaving(Round):
    left = interface.input("peer")

    @bloom
    def leave(self) -> None:
        self.members <- self.left


class Forwarded(Round):
    """The answers are counted by another node, with members of its own."""

    @bloom
    def answer(self) -> None:
        self.vote <~ self.asked(lambda c: (c.peer, c.caller, c.number, 1))


class SeveralEach(Round):
    """An answer for each of something else, too."""

    chapters = table("chapter")

    @bloom
    def answer(self) -> None:
        self.vote <~ (self.asked * self.chapters).pairs(lambda c, ch: (c.caller, ch.chapter, c.number, 1))


@pytest.mark.parametrize("program", [Volunteers, Leaving, Forwarded, SeveralEach])
def test_counts_that_may_exceed(program: Any) -> None:
    analysis = of_class(program)
    assert labels(analysis)["passed"] == "D"
    assert "count over present" in reasons(analysis, "passed")


def test_a_volunteer_can_prevent_the_end() -> None:
    """The label is right: if the answer of the member is the later one, there is one too many."""
    inputs: dict[str, Any] = {"members": [("a",)], "begin": [(1,)]}
    given = workload({"a": Volunteers}, {"a": inputs}, later={"a": {8: {"volunteer": [("a", "z", 1)]}}})
    pair = try_orders(given, ["passed"]).pair
    assert pair is not None
    assert (pair.difference.only_first, pair.difference.only_second) == (((1,),), ())


# -- what is final -----------------------------------------------------------------------------------------------


class BeforeTheEnd(Round):
    @bloom
    def add_up(self) -> None:
        self.total <= self.votes.group(["number"], agg.sum("vote"))


class OverAllNumbers(Round):
    """The sum of several numbers, of which some are complete."""

    @bloom
    def add_up(self) -> None:
        self.cast <= (self.votes * self.full).lefts(number="number")
        self.total <= self.cast.group([], agg.max("number"), agg.sum("vote"))


class SeveralVotes(Round):
    """Who has voted may vote again, on another thing."""

    votes = table("number", "peer", val=["vote"])
    more = table("number", "peer", "vote")

    @bloom
    def add_up(self) -> None:
        self.more <= self.vote(lambda v: (v.number, v.peer, v.vote))
        self.cast <= (self.more * self.full).lefts(number="number")
        self.total <= self.cast.group(["number"], agg.sum("vote"))


class Withdrawn(Round):
    withdraw = channel("@node", "number", "peer", "vote")

    @bloom
    def withdrawing(self) -> None:
        self.votes <- self.withdraw(lambda w: (w.number, w.peer, w.vote))


@pytest.mark.parametrize("program", [BeforeTheEnd, OverAllNumbers, SeveralVotes, Withdrawn])
def test_sums_that_are_not_final(program: Any) -> None:
    assert labels(of_class(program))["total"] == "D"


# -- what has arrived --------------------------------------------------------------------------------------------


class Resending(Bloom):
    wanted = interface.input("dst", "text")
    log = table("dst", "text")
    owed = scratch("dst", "text")
    data = channel("@dst", "src", "text")
    ack = channel("@src", "dst", "text")
    acked = table("dst", "text")
    heard = table("text")
    timer = periodic(1)

    @bloom
    def send(self) -> None:
        self.log <= self.wanted
        self.owed <= self.log.notin(self.acked)
        self.data <~ (self.owed * self.timer).pairs(lambda o, t: (o.dst, self.ip_port, o.text))

    @bloom
    def hear(self) -> None:
        self.heard <= self.data(lambda d: (d.text,))

    @bloom
    def acknowledge(self) -> None:
        self.ack <~ self.data(lambda d: (d.src, d.dst, d.text))

    @bloom
    def keep(self) -> None:
        self.acked <= self.ack(lambda a: (a.dst, a.text))


class ForOthers(Resending):
    """Acknowledges what the sender said to somebody else."""

    @bloom
    def acknowledge(self) -> None:
        self.ack <~ self.data(lambda d: (d.src, d.src, d.text))


class ToOthers(Resending):
    """The acknowledgement goes to a node that has sent nothing."""

    @bloom
    def acknowledge(self) -> None:
        self.ack <~ self.data(lambda d: (d.dst, d.dst, d.text))


class FromElsewhere(Resending):
    cancel = channel("@node", "dst", "text")

    @bloom
    def cancelling(self) -> None:
        self.acked <= self.cancel(lambda c: (c.dst, c.text))


class AnyText(Resending):
    @bloom
    def send(self) -> None:
        self.log <= self.wanted
        self.owed <= self.log.notin(self.acked, dst="dst")
        self.data <~ (self.owed * self.timer).pairs(lambda o, t: (o.dst, self.ip_port, o.text))


class OwedIsShown(Resending):
    shown = interface.output("dst", "text")

    @bloom
    def show(self) -> None:
        self.shown <= self.owed


def test_what_is_acknowledged_has_arrived() -> None:
    analysis = of_class(Resending)
    assert labels(analysis) == {"heard": "A"}
    assert [e.refined for e in analysis.flow.edges if e.refined] == ["until it has arrived, notin acked"]
    given = workload(dict.fromkeys("ab", Resending), {"a": {"wanted": [("b", "x"), ("b", "y")]}})
    assert try_orders(given, ["heard", "acked"], orders=50).pair is None


@pytest.mark.parametrize("program", [ForOthers, ToOthers, FromElsewhere, AnyText, OwedIsShown])
def test_what_may_not_have_arrived(program: Any) -> None:
    analysis = of_class(program)
    assert not analysis.consistent
    assert "notin acked" in reasons(analysis, analysis.outputs[-1].name)
