"""What takes nothing back in the end is monotone: rows that show once, repetitions, and what is done with."""

from __future__ import annotations

from typing import Any

import pytest

from analysis.calm.analysis import labels, of_class, reasons
from clew.analysis.calm.trying.orders import try_orders
from clew.analysis.calm.trying.workloads import workload
from clew.bloom import Bloom, bloom, channel, interface, periodic, scratch, table

# -- the first time ----------------------------------------------------------------------------------------------


class FirstTime(Bloom):
    heard = channel("@node", "number", "text")
    known = table("node", "number", "text")
    fresh = scratch("node", "number", "text")
    shown = interface.output("node", "number", "text")

    @bloom
    def let_through(self) -> None:
        self.fresh <= self.heard.notin(self.known)

    @bloom
    def remember(self) -> None:
        self.known <+ self.fresh

    @bloom
    def show(self) -> None:
        self.shown <= self.fresh


class ByNumber(FirstTime):
    """Another text with the same number is held back."""

    @bloom
    def let_through(self) -> None:
        self.fresh <= self.heard.notin(self.known, node="node", number="number")


class Forgetful(FirstTime):
    forget = channel("@node", "number", "text")

    @bloom
    def forgetting(self) -> None:
        self.known <- self.forget


class ToldByOthers(FirstTime):
    """What others know is held back, though it was never shown here."""

    told = channel("@node", "number", "text")

    @bloom
    def learning(self) -> None:
        self.known <+ self.told


class Misremembering(FirstTime):
    @bloom
    def remember(self) -> None:
        self.known <+ self.fresh(lambda f: (f.node, f.number + 1, f.text))


def test_a_row_that_is_let_through_once() -> None:
    analysis = of_class(FirstTime)
    assert labels(analysis) == {"shown": "A"}
    assert [e.refined for e in analysis.flow.edges if e.refined] == ["the first time, notin known"]


@pytest.mark.parametrize("program", [ByNumber, Forgetful, ToldByOthers, Misremembering])
def test_a_row_that_may_never_show(program: Any) -> None:
    analysis = of_class(program)
    assert labels(analysis)["shown"] == "D"
    assert "notin known" in reasons(analysis, "shown")


# -- repeats, and what is done with ------------------------------------------------------------------------------


class Sending(Bloom):
    given = interface.input("dst", "text")
    data = channel("@dst", "src", "text")
    answer = channel("@src", "text")
    buffer = table("dst", "text")
    timer = periodic(1)
    done = scratch("dst", "text")
    settled = interface.output("dst", "text")
    heard = table("text")

    @bloom
    def begin(self) -> None:
        self.buffer <= self.given
        self.data <~ self.given(lambda g: (g.dst, self.ip_port, g.text))

    @bloom
    def again(self) -> None:
        self.data <~ (self.buffer * self.timer).pairs(lambda b, t: (b.dst, self.ip_port, b.text))

    @bloom
    def hear(self) -> None:
        self.heard <= self.data(lambda d: (d.text,))
        self.answer <~ self.data(lambda d: (d.src, d.text))

    @bloom
    def finish(self) -> None:
        self.done <= (self.buffer * self.answer).lefts(text="text")
        self.settled <= self.done
        self.buffer <- self.done


class InOneRule(Sending):
    @bloom
    def finish(self) -> None:
        self.buffer <- (self.buffer * self.answer).lefts(text="text")
        self.settled <= self.answer(lambda a: (a.src, a.text))


class OnlyLater(Sending):
    """What is done with before the timer fires is never sent."""

    @bloom
    def begin(self) -> None:
        self.buffer <= self.given


class OtherRepeats(Sending):
    @bloom
    def again(self) -> None:
        self.data <~ (self.buffer * self.timer).pairs(lambda b, t: (b.dst, b.text, b.text))


class RepeatsWithTheTime(Sending):
    @bloom
    def again(self) -> None:
        self.data <~ (self.buffer * self.timer).pairs(lambda b, t: (b.dst, self.ip_port, t.key))


class AlsoShown(Sending):
    asked = interface.input("text")
    waiting = interface.output("text")

    @bloom
    def show(self) -> None:
        self.waiting <= (self.buffer * self.asked).lefts(text="text")(lambda b: (b.text,))


class AlsoDropped(Sending):
    """Who drops it first decides whether it is ever done."""

    drop = channel("@node", "text")

    @bloom
    def dropping(self) -> None:
        self.buffer <- (self.buffer * self.drop).lefts(text="text")


class DoneInSeveralWays(Sending):
    @bloom
    def more(self) -> None:
        self.done <= self.answer(lambda a: ("nobody", a.text))


class DoneForEver(Sending):
    """A row that comes again is done with at once, and not because of an answer."""

    kept = table("dst", "text")

    @bloom
    def finish(self) -> None:
        self.kept <= (self.buffer * self.answer).lefts(text="text")
        self.settled <= self.kept
        self.buffer <- self.kept


@pytest.mark.parametrize("program", [Sending, InOneRule])
def test_a_buffer_for_repetitions(program: Any) -> None:
    analysis = of_class(program)
    assert labels(analysis) == {"settled": "A", "heard": "A"}
    assert all(e.refined.startswith("deletes what is done with by ") for e in analysis.flow.edges if e.refined)


@pytest.mark.parametrize(
    ("program", "output"),
    [
        (OnlyLater, "heard"),
        (OtherRepeats, "heard"),
        (RepeatsWithTheTime, "heard"),
        (AlsoShown, "waiting"),
        (AlsoDropped, "settled"),
        (DoneInSeveralWays, "settled"),
        (DoneForEver, "heard"),
    ],
)
def test_a_buffer_that_counts(program: Any, output: str) -> None:
    assert labels(of_class(program))[output] == "D"


class LeftOver(Bloom):
    """Nobody else reads what is left: that is the output."""

    given = channel("@node", "text")
    answer = channel("@node", "text")
    buffer = table("text")

    @bloom
    def rules(self) -> None:
        self.buffer <= self.given(lambda g: (g.text,))
        self.buffer <- (self.buffer * self.answer).lefts(text="text")


def test_what_is_left_over_depends_on_the_order() -> None:
    assert labels(of_class(LeftOver)) == {"buffer": "D"}
    given = workload({"a": LeftOver}, {"a": {"given": [("a", "x")]}}, later={"a": {3: {"answer": [("a", "x")]}}})
    assert try_orders(given, ["buffer"]).pair is not None


# -- labels and behaviour ----------------------------------------------------------------------------------------

_TEXTS = {"a": {"given": [("b", "x"), ("b", "y")]}, "b": {"given": [("a", "x")]}}


@pytest.mark.parametrize("program", [Sending, InOneRule])
def test_a_buffer_for_repetitions_changes_nothing_in_the_end(program: Any) -> None:
    given = workload({"a": program, "b": program}, _TEXTS)
    assert try_orders(given, ["settled", "heard", "buffer"], orders=50).pair is None


def test_a_row_that_is_let_through_once_is_shown_in_all_orders() -> None:
    rows = [("a", 1, "x"), ("a", 1, "y"), ("a", 1, "x"), ("a", 2, "x")]
    given = workload({"a": FirstTime}, {"a": {"heard": rows}})
    assert try_orders(given, ["shown"], orders=50).pair is None
    other = workload({"a": ByNumber}, {"a": {"heard": rows[:1]}}, later={"a": {3: {"heard": rows[1:2]}}})
    assert try_orders(other, ["shown"]).pair is not None
