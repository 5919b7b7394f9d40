"""What a replay compares beside attributes and messages: whatever a recording says has to be so again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from clew.simulation import Broken, Context, External, Node, Scenario, Send, WaitCondition, World
from clew.simulation.fuzzing.fuzz import record
from clew.simulation.recordings.replaying import Replayed, ReplayOutcome, replay


class Switch:
    """Off while something is recorded, on while it is replayed."""

    on = False


class Switched(Node):
    """Does something that cannot be seen in its attributes, but for when it is told not to."""

    def __init__(self, act: Callable[[Context], object], at_start: bool) -> None:
        self._act, self._at_start = act, at_start

    def on_start(self, ctx: Context) -> None:
        ctx.set_timer("tick")
        if self._at_start and Switch.on:
            self._act(ctx)

    def on_message(self, ctx: Context, sender: str, message: Any) -> None:
        if not self._at_start and Switch.on:
            self._act(ctx)


def replayed_on(scenario: Scenario, monkeypatch: pytest.MonkeyPatch) -> Replayed:
    recording = record(scenario, 0)
    assert replay(recording, scenario).outcome is ReplayOutcome.SAME
    monkeypatch.setattr(Switch, "on", True)
    return replay(recording, scenario)


@pytest.mark.parametrize(
    ("act", "says"),
    [
        (lambda ctx: ctx.durable.update(x=1), "not the same: the storage"),
        (lambda ctx: ctx.cancel_timer("tick"), "not the same: the timers"),
        (lambda ctx: ctx.set_timer("tock"), "something is sent, not the same: the timers"),
        (lambda ctx: ctx.random.random(), "not the same: the random numbers"),
        (lambda ctx: ctx.log("x"), "something is logged"),
    ],
    ids=["store", "cancel", "set", "draw", "log"],
)
@pytest.mark.parametrize("at_start", [False, True], ids=["in an event", "before the first event"])
def test_what_a_handler_does_beside_its_attributes(
    act: Callable[[Context], object], says: str, at_start: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Nothing else happens at b, so that nothing else could show what it did when it started.
    scenario = Scenario(
        nodes={"a": lambda: Switched(act, at_start=False), "b": lambda: Switched(act, at_start)},
        running=["a", "b"],
        before=[Send("a" if at_start else "b", 1)],
        timers=0,
        steps=2,
    )
    replayed = replayed_on(scenario, monkeypatch)
    if at_start:  # of all nodes: a has set a timer, too
        says = says.replace("something is sent", "something else is sent")
        for part in ("the storage", "the timers", "the random numbers"):
            says = says.replace(part, f"{part} of b")
    where = "the beginning" if at_start else "event 2 at b (deliver int from outside to b)"
    assert (replayed.outcome, str(replayed.difference)) == (ReplayOutcome.DIFFERENT, f"{where}: {says}")


def waiting(condition: Callable[[World], bool], **more: Any) -> Scenario:
    before: list[External] = [Send("a", 1), Send("a", 2), WaitCondition("so far", condition), Send("a", 3)]
    return Scenario(nodes={"a": Node}, running=["a"], before=before, **more)


NEVER = "at no time before the next event from outside"


@pytest.mark.parametrize(
    ("before", "now", "held", "holds"),
    [
        (3, 2, "after 1 more", "at once"),
        (3, 4, "after 1 more", NEVER),  # the next event from outside is the fourth
        (9, 4, NEVER, "after 2 more"),
        (2, 9, "at once", NEVER),
    ],
)
def test_when_a_condition_held(
    before: int, now: int, held: str, holds: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    scenario = waiting(lambda world: world.events >= (now if Switch.on else before))
    assert str(replayed_on(scenario, monkeypatch).difference) == (
        f"after event 2 (wait for so far): when it was recorded, it held {held}; now {holds}"
    )


def test_an_event_that_differs_is_the_reason_for_a_condition_that_differs(monkeypatch: pytest.MonkeyPatch) -> None:
    class Other(Node):
        def on_message(self, ctx: Context, sender: str, message: Any) -> None:
            self.on = Switch.on

    scenario = replace(
        waiting(lambda world: world.events >= 4 or getattr(world.nodes["a"], "on", False)), nodes={"a": Other}
    )
    difference = replayed_on(scenario, monkeypatch).difference
    assert str(difference) == "event 3 at a (deliver int from outside to a): the state differs in on"


def test_what_the_invariant_says(monkeypatch: pytest.MonkeyPatch) -> None:
    def odd(nodes: Mapping[str, Any]) -> Broken:
        return Broken("odd", "now and then" if Switch.on else "always", ("a",))

    difference = replayed_on(Scenario(nodes={"a": Node}, running=["a"], invariants=[odd]), monkeypatch).difference
    assert str(difference) == (
        "the beginning: what is wrong after it was 'always' at a, and is 'now and then' at a"
    )


def test_the_fingerprint_of_a_message(monkeypatch: pytest.MonkeyPatch) -> None:
    scenario = Scenario(
        nodes={"a": Node}, running=["a"], before=[Send("a", 1)], fingerprint=lambda message: f"int {Switch.on}"
    )
    difference = replayed_on(scenario, monkeypatch).difference
    assert str(difference) == (
        "event 2 at a (deliver int from outside to a): "
        "the fingerprint of the message was 'int False' and is 'int True'"
    )
