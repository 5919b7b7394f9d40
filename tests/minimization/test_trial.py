"""Trying a schedule: what it means, what is skipped, and what is written down of it."""

from __future__ import annotations

from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.errors import UsageError
from clew.minimization.trial import (
    Match,
    Target,
    attempt,
    complete_recorded,
    length_of,
    measure,
    rewrite,
    split_steps,
)
from clew.simulation import Context, Network, Node, Restart, Send, WaitQuiescence
from clew.simulation.execution.steps import Do, Size, Step
from clew.simulation.execution.trace import execute
from minimization.scenarios import Failing, Keeper, Key, Relay, act, aimed, failures, keepers, never, tick


@given(failures)
@settings(max_examples=25)
def test_a_schedule_that_was_written_down_is_the_same_execution_again(failure: Failing) -> None:
    scenario, recording = failure
    target, schedule = aimed(scenario, recording.steps, recording.seed)
    assert target.steps(schedule) == tuple(s for s in recording.steps if not isinstance(s, WaitQuiescence))
    assert attempt(target, schedule, Match.FINGERPRINT) == schedule
    assert attempt(target, schedule, Match.TYPE) == schedule


@given(failures, st.data())
@settings(max_examples=25)
def test_what_was_taken_of_any_part_can_be_executed_exactly(failure: Failing, data: st.DataObject) -> None:
    scenario, recording = failure
    target, schedule = aimed(scenario, recording.steps, recording.seed)
    out = data.draw(st.sets(st.integers(0, len(schedule) - 1), max_size=4))
    part = [item for k, item in enumerate(schedule) if k not in out]
    for match in Match:
        taken = attempt(target, part, match)
        if taken is not None:
            assert len(taken) <= len(part)
            execution = execute(target.scenario, target.seed, target.steps(taken))
            assert execution.identity == target.identity
            assert len(execution.moments) == len(taken)
            assert rewrite(target, taken, match) == taken


def test_of_messages_alike_the_recorded_one_is_meant_and_not_the_oldest() -> None:
    """Two of one type from the same event, the second first; and two from outside, the second first."""
    scenario = keepers(never("b", lambda kept: kept == [2, 1, 4, 3]))
    steps: list[Step] = [
        Send("a", Relay("b", (1, 2))),
        act("", 1, "a", "Relay"),
        act("a", 3, "b"),
        act("a", 2, "b"),
        Send("b", Key(3)),
        Send("b", Key(4)),
        act("", 3, "b"),
        act("", 2, "b"),
    ]
    target, schedule = aimed(scenario, steps)
    assert target.steps(schedule) == tuple(steps)
    for match in Match:
        assert attempt(target, schedule, match) == schedule


def test_when_what_was_sent_changes_its_number_the_same_one_of_its_sender_is_meant() -> None:
    scenario = keepers(never("b", lambda kept: kept[-1:] == [2]))
    steps: list[Step] = [
        Send("a", Relay("c", (7, 7, 7))),
        Send("a", Relay("b", (1, 2))),
        act("", 1, "a", "Relay"),
        act("", 2, "a", "Relay"),
        act("a", 6, "b"),
    ]
    target, schedule = aimed(scenario, steps)
    taken = attempt(target, [item for k, item in enumerate(schedule) if k not in (0, 2)], Match.TYPE)
    assert taken is not None
    assert [step for step in target.steps(taken) if not isinstance(step, Send)] == [
        act("", 1, "a", "Relay"),
        act("a", 3, "b"),
    ]


def test_fingerprint_and_type() -> None:
    """By fingerprint a message of another content is absent; by type it is meant all the same."""
    scenario = keepers(never("b", lambda kept: len(kept) == 1), fingerprint=repr)
    steps: list[Step] = [Send("a", Relay("b", (5,))), act("", 1, "a", "Relay", mark="Relay(to='b', keys=(5,))")]
    target, schedule = aimed(scenario, [*steps, act("a", 2, "b", mark="Key(key=5)")])
    other = Target(target.scenario, 0, (Send("a", Relay("b", (6,))),), target.identity)
    assert attempt(other, schedule, Match.FINGERPRINT) is None
    taken = attempt(other, schedule, Match.TYPE)
    assert taken is not None
    assert other.steps(taken)[-1] == act("a", 2, "b", mark="Key(key=6)")


def test_what_is_absent_is_skipped_and_what_comes_after_the_violation_is_left_out() -> None:
    scenario = keepers(never("b", lambda kept: 2 in kept))
    steps: list[Step] = [
        Send("b", Key(1)), act("", 1, "b"), Send("b", Key(2)), act("", 2, "b"),
    ]  # fmt: skip
    target, schedule = aimed(scenario, steps)
    taken = attempt(target, [*schedule[1:], schedule[0], schedule[0]], Match.TYPE)
    assert taken is not None
    assert [item for item in taken if isinstance(item, int)] == [1]
    assert target.steps(taken)[1:] == (act("", 1, "b"),)


def test_a_violation_before_the_first_event() -> None:
    class Fragile(Node):
        def on_start(self, ctx: Context) -> None:
            raise ValueError("no")

    target, schedule = aimed(keepers(nodes={"a": Fragile}, running="a"), [])
    assert schedule == ()
    assert attempt(target, (), Match.TYPE) == ()


def test_a_recording_that_does_not_fit() -> None:
    scenario = keepers(never("b", lambda kept: 1 in kept))
    externals, schedule = split_steps([Send("b", Key(1)), act("", 2, "b")])
    assert complete_recorded(Target(scenario, 0, externals, "never at b"), schedule) is None
    externals, schedule = split_steps([Send("b", Key(1)), act("", 1, "b")])
    assert complete_recorded(Target(scenario, 0, externals, "never at a"), schedule) is None
    assert complete_recorded(Target(scenario, 0, externals, "never at b"), schedule) is not None


def test_code_that_does_not_do_the_same_twice_is_refused() -> None:
    numbers = count()

    class Fickle(Keeper):
        def on_message(self, ctx: Context, sender: str, message: object) -> None:
            ctx.send("b" if next(numbers) % 4 else "c", Key(1))

    scenario = keepers(
        never("b", lambda kept: 1 in kept), nodes={"a": Fickle, "b": Keeper, "c": Keeper}, running="abc"
    )
    next(numbers)
    target, schedule = aimed(scenario, [Send("a", Key(1)), act("", 1, "a"), act("a", 2, "b")])
    with pytest.raises(UsageError) as refusal:
        attempt(target, schedule, Match.TYPE)
    assert refusal.value.message == (
        "the same schedule twice is not the same execution, from this step on: deliver Key from a to b"
    )


def test_sizes() -> None:
    scenario = keepers(never("b", lambda kept: kept == [1, 1, 0]))
    steps: list[Step] = [
        Restart("a"),
        Send("b", Key(1)),
        act("", 1, "b", do=Do.DUPLICATE),
        Send("b", Key(2)),
        act("", 3, "b", do=Do.LOSE),
        act("", 1, "b"),
        act("", 2, "b"),
        tick("b"),
    ]
    target, schedule = aimed(scenario, steps)
    # Outside: the restart, the copy, the loss, and two messages, counted where they are delivered.
    assert measure(target, schedule) == Size(deliveries=3, externals=5)
    assert length_of(schedule) == 8


@pytest.mark.parametrize("network", Network)
def test_over_fifo_only_the_first_of_a_pair_is_meant(network: Network) -> None:
    scenario = keepers(never("b", lambda kept: len(kept) == 1), network=network, fingerprint=repr)
    steps: list[Step] = [
        Send("a", Relay("b", (1, 2))),
        act("", 1, "a", "Relay", mark="Relay(to='b', keys=(1, 2))"),
        act("a", 2, "b", mark="Key(key=1)"),
    ]
    target, schedule = aimed(scenario, steps)
    wanted = schedule[2]
    assert not isinstance(wanted, int)
    second = wanted._replace(act=wanted.act._replace(fingerprint="Key(key=2)"))
    taken = attempt(target, (*schedule[:2], second), Match.FINGERPRINT)
    assert (taken is None) == (network is Network.FIFO)
