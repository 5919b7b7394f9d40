"""When a component has settled, observed step by step; and which components may never settle."""

from __future__ import annotations

from typing import Any

import pytest

from clew.bloom import Bloom, agg, bloom, channel, imported, interface, lmax, periodic, scratch, table
from clew.bloom.language.module import program_of
from clew.coordination import Settling, pending_changes
from clew.coordination.components import ClassProgram
from clew.coordination.planning import order_component
from clew.coordination.quiescence import settles_at_once
from clew.errors import UsageError


class _Store(Bloom):
    put = interface.input("key", "value")
    get = interface.input("key")
    out = interface.output("key", "value")
    state = table("key", val=["value"])
    log = table("key", "value")
    first = scratch("key", "value")
    second = scratch("key", "value")


class Steps(_Store):
    """Three steps after it was put, a row is in the log."""

    settling = imported(Settling)

    @bloom
    def pass_on(self) -> None:
        self.first <+ self.put
        self.second <+ self.first
        self.log <+ self.second

    @bloom
    def watch(self) -> None:
        for change in pending_changes(self, ["first", "second", "log"]):
            self.settling.moving <= change


def test_it_is_busy_until_nothing_is_left_for_the_next_step() -> None:
    node: Any = Steps("n")
    busy = []
    for given in ([], [(1, 7)], [], [], [], [], [(1, 7)], [], [], [], []):
        node.put.insert(*given)
        node.tick()
        busy.append(len(node.settling.busy) > 0)
    # The second time, the row is in the log already.
    assert busy == [False, True, True, True, True, False, True, True, True, False, False]


def test_who_waits_is_woken_up() -> None:
    """A node takes no step when nothing is pending, so something is until it has settled."""
    node: Any = Steps("n")
    node.settling.admitted.insert(("rows",))
    steps = 0
    while node.machine.pending:
        node.tick()
        steps += 1
    assert (steps, len(node.settling.busy)) == (3, 0)


class Storage(_Store):
    """A scratch that copies itself is storage, and rests."""

    @bloom
    def keep(self) -> None:
        self.first <+ self.put
        self.first <+ self.first
        self.out <= self.first


class Kept(Storage):
    settling = imported(Settling)

    @bloom
    def watch(self) -> None:
        for change in pending_changes(self, ["first"]):
            self.settling.moving <= change


def test_rows_that_are_left_again_and_again_are_at_rest() -> None:
    node: Any = Kept("n")
    node.put.insert((1, 7))
    busy = []
    for _ in range(5):
        node.tick()
        busy.append(len(node.settling.busy) > 0)
    assert busy == [True, True, False, False, False]


# -- beforehand --------------------------------------------------------------------------------------------------


class Query(_Store):
    @bloom
    def rules(self) -> None:
        self.log <= self.put
        self.temp.counted <= self.log.group(["key"], n=agg.count())
        self.out <= (self.get * self.temp.counted).rights(key="key")


class Blocking(_Store):
    """Without a put, more is shown than with it."""

    @bloom
    def rules(self) -> None:
        self.log <= self.put
        self.out <= self.log.notin(self.put, key="key")


class CountsPuts(_Store):
    @bloom
    def rules(self) -> None:
        self.out <= self.put.group(["key"], n=agg.count())


@pytest.mark.parametrize(
    ("cls", "expected"), [(Query, True), (Blocking, False), (CountsPuts, False), (Steps, False)]
)
def test_what_has_settled_after_every_step(cls: Any, expected: bool) -> None:
    program = program_of(cls)
    assert settles_at_once(program, program.rules) is expected


class Replaces(_Store):
    @bloom
    def rules(self) -> None:
        self.state <+ self.put
        self.state <- (self.state * self.put).lefts(key="key")
        self.out <= (self.get * self.state).rights(key="key")


class Closure(_Store):
    """The transitive closure, a step at a time: there are only so many pairs."""

    @bloom
    def rules(self) -> None:
        self.log <= self.put
        self.log <+ (self.log * self.put).pairs(lambda a, b: (a.key, b.value), value="key")
        self.log <+ (self.log * self.log).pairs(lambda a, b: (a.key, b.value), value="key")
        self.out <= self.log.group(["key"], n=agg.count())


class Queue(_Store):
    """The smallest goes first, one in a step."""

    @bloom
    def rules(self) -> None:
        self.log <= self.put
        self.first <+ self.log.argmin([], "value")
        self.log <- self.log.argmin([], "value")
        self.out <= self.first


@pytest.mark.parametrize("cls", [Replaces, Closure, Queue, Storage])
def test_what_settles(cls: Any) -> None:
    assert order_component(ClassProgram.read(cls), "", ("put", "get")).watched is not None


class Oscillates(_Store):
    @bloom
    def rules(self) -> None:
        self.first <+ self.log.notin(self.first)
        self.log <= self.put
        self.out <= self.first


class CountsSteps(_Store):
    @bloom
    def rules(self) -> None:
        self.state <= self.put
        self.log <+ self.log(lambda r: (r.key, r.value + 1))
        self.log <= self.state
        self.out <= self.log


class Swaps(_Store):
    @bloom
    def rules(self) -> None:
        self.first <+ self.put
        self.first <+ self.first(lambda r: (r.value, r.key))
        self.out <= self.first


class InALattice(_Store):
    most = lmax()

    @bloom
    def rules(self) -> None:
        self.most <+ self.put(lambda p: (p.value,))
        self.out <= self.put


class ByTheClock(_Store):
    timer = periodic(1)

    @bloom
    def rules(self) -> None:
        self.log <= self.put
        self.out <= (self.timer * self.log).rights()


class ThroughTheNetwork(_Store):
    again = channel("@node", "key", "value")

    @bloom
    def rules(self) -> None:
        self.again <~ self.put(lambda p: (self.ip_port, p.key, p.value))
        self.log <= self.again.payloads()
        self.out <= (self.get * self.log).rights(key="key")


class Unseen(_Store):
    @bloom
    def rules(self) -> None:
        self.out <= self.put(lambda p: (p.key, str(p.value)))


@pytest.mark.parametrize(
    ("cls", "reason"),
    [
        (Oscillates, "first <+ ... (Oscillates.rules) feeds itself from step to step, so that it may never"),
        (CountsSteps, "log <+ ... (CountsSteps.rules) feeds itself from step to step"),
        (Swaps, "first <+ ... (Swaps.rules) feeds itself from step to step"),
        (InALattice, "'most' is a lattice that is merged with <+"),
        (ByTheClock, "out <= ... (ByTheClock.rules) reads 'timer', which comes at any time and is not ordered"),
        (ThroughTheNetwork, "log <= ... (ThroughTheNetwork.rules) reads 'again', which comes at any time"),
        (Unseen, "out <= ... (Unseen.rules) has a function that is not seen through"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_what_cannot_be_ordered(cls: Any, reason: str) -> None:
    with pytest.raises(UsageError) as refusal:
        order_component(ClassProgram.read(cls), "", ("put", "get"))
    assert refusal.value.message.startswith(f"{cls.__name__}: {reason}")
    assert refusal.value.position is not None
