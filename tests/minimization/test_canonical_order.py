"""The order in which a minimized execution is told."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hypothesis import given, settings

from clew.minimization.causal_order import canonicalize
from clew.minimization.trial import Match, attempt
from clew.simulation import Heal, Network, Partition, Scenario, Send, Start
from clew.simulation.execution.steps import Do, Step
from minimization.scenarios import Failing, Key, Relay, act, aimed, failures, keepers, never, tick


def told(scenario: Scenario, steps: list[Step]) -> list[Step]:
    """The events in their new order, after seeing that they still do it; their numbers are the new ones."""
    target, schedule = aimed(scenario, steps)
    items = canonicalize(target, schedule)
    assert sorted(map(repr, items)) == sorted(map(repr, schedule))
    taken = attempt(target, items, Match.FINGERPRINT)
    assert taken is not None and len(taken) == len(schedule)
    return list(target.steps(taken))


def test_starts_first_and_every_chain_to_its_end() -> None:
    """Two chains of messages, told in turns, that end at b and at d."""

    def both(nodes: Mapping[str, Any]) -> str | None:
        kept = [getattr(nodes.get(name), "kept", []) for name in "bd"]
        return "both" if kept == [[1], [2]] else None

    steps: list[Step] = [
        Start("d"),
        Start("c"),
        Send("c", Relay("d", (2,))),
        Start("a"),
        Send("a", Relay("b", (1,))),
        Start("b"),
        act("", 1, "c", "Relay"),
        act("", 2, "a", "Relay"),
        act("c", 2, "d"),
        act("a", 2, "b"),
    ]
    assert told(keepers(both, running=""), steps) == [
        Start("a"),
        Start("b"),
        Start("c"),
        Start("d"),
        Send("a", Relay("b", (1,))),
        act("", 1, "a", "Relay"),
        Send("c", Relay("d", (2,))),
        act("", 2, "c", "Relay"),
        act("c", 2, "d"),
        act("a", 2, "b"),
    ]


def test_a_message_from_outside_is_told_once_also_if_it_arrives_twice() -> None:
    steps: list[Step] = [
        Send("b", Key(1)),
        tick("b"),
        act("", 1, "b", do=Do.DUPLICATE),
        act("", 1, "b"),
        act("", 2, "b"),
    ]
    assert told(keepers(never("b", lambda kept: kept == [0, 1, 1])), steps) == [
        tick("b"),
        Send("b", Key(1)),
        act("", 1, "b", do=Do.DUPLICATE),
        act("", 1, "b"),
        act("", 2, "b"),
    ]


def test_what_changes_who_hears_whom_stays_where_it_is() -> None:
    steps: list[Step] = [
        tick("b"),
        Partition("a", "b"),
        tick("a"),
        Heal(),
        Send("b", Key(1)),
        act("", 1, "b"),
    ]
    scenario = keepers(never("b", lambda kept: kept == [0, 1]), network=Network.FIFO)
    assert told(scenario, steps) == steps


@given(failures)
@settings(max_examples=25)
def test_nothing_is_told_twice_and_only_messages_that_never_arrive_are_not_told(failure: Failing) -> None:
    target, schedule = aimed(failure.scenario, failure.recording.steps, failure.recording.seed)
    items = canonicalize(target, schedule)
    assert len(set(items)) == len(items)
    untold = target.steps(set(schedule) - set(items))
    assert all(isinstance(step, Send) for step in untold)
    assert set(items) <= set(schedule)
