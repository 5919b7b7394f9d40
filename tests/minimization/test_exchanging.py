"""Events from outside that take the place of others."""

from __future__ import annotations

import pickle
from typing import Any
from unittest import mock

import pytest

from clew.budgets.deadline import Deadline
from clew.minimization import exchanging
from clew.minimization.exchanging import (
    Exchange,
    apply_exchange,
    describe_delivery,
    exchange_externals,
    find_spare,
)
from clew.minimization.search import Search
from clew.minimization.searching.search import SequentialSearch
from clew.minimization.trial import Match, Schedule, Target, attempt, measure
from clew.simulation import Broken, CodeBlock, External, Heal, Restart, Scenario, Send, Start, Stop
from clew.simulation.execution.steps import Size, Step
from minimization.scenarios import Key, Relay, act, aimed, keepers, never, nothing, tick


def aimed_without(scenario: Scenario, steps: list[Step], *spare: int) -> tuple[Target, Schedule]:
    """The violation of all steps, without those events from outside that are spare, and their deliveries."""
    target, schedule = aimed(scenario, steps)
    left = [item for item in schedule if (item if isinstance(item, int) else item.origin) not in spare]
    taken = attempt(target, left, Match.TYPE)
    assert taken is not None
    return target, taken


def exchanged(target: Target, schedule: Schedule, most: int = 100) -> Schedule:
    search: Search = SequentialSearch(target, Deadline(None), lambda executed, found: None)
    return exchange_externals(search, target, schedule, most)


def sends(*keys: int) -> list[Step]:
    sent: list[Step] = [Send("b", Key(key)) for key in keys]
    return [*sent, *(act("", nth, "b") for nth in range(1, len(keys) + 1))]


# -- one exchange ------------------------------------------------------------------------------------------------


def test_a_message_arrives_where_the_other_one_did() -> None:
    steps: list[Step] = [Send("a", Key(1)), Send("b", Key(2)), Heal(), act("", 1, "a"), act("", 2, "b")]
    target, schedule = aimed(keepers(never("b", bool)), steps)
    items = apply_exchange(schedule[:1] + schedule[2:4], Exchange(0, 1, describe_delivery(target, 1)))
    assert [item if isinstance(item, int) else str(item.act) for item in items] == [
        1,
        2,
        "deliver Key from outside to b",
    ]


def test_in_the_place_of_another_event_a_message_arrives_at_once() -> None:
    target, schedule = aimed(keepers(never("b", bool)), [Send("b", Key(2)), Heal(), Heal(), act("", 1, "b")])
    items = apply_exchange(schedule[1:3], Exchange(1, 0, describe_delivery(target, 0)))
    assert [item if isinstance(item, int) else str(item.act) for item in items] == [
        0,
        "deliver Key from outside to b",
        2,
    ]
    assert attempt(target, items, Match.CAUSE) == (0, mock.ANY)


def test_another_event_takes_the_delivery_away() -> None:
    target, schedule = aimed(keepers(never("b", bool)), [Send("b", Key(2)), Heal(), act("", 1, "b")])
    assert apply_exchange(schedule[:1] + schedule[2:], Exchange(0, 1, describe_delivery(target, 1))) == [1]


# -- what is spare -----------------------------------------------------------------------------------------------


def test_spare_events_are_different_and_unlike_ones_come_first() -> None:
    block = CodeBlock("poke", nothing)
    sent = [Send("b", Key(key)) for key in (1, 2, 2, 3)]
    externals: tuple[External, ...] = (Restart("a"), Restart("a"), block, block, *sent, Send("a", Key(1)))
    target = Target(keepers(code=[block]), 0, externals, "")
    assert find_spare(target, [4]) == [0, 2, 5, 8, 1, 3, 6, 7]
    assert find_spare(target, range(9)) == []
    with mock.patch.object(exchanging, "_MOST", 3):
        assert find_spare(target, []) == [0, 2, 4]


# -- until none helps --------------------------------------------------------------------------------------------


def test_one_large_message_takes_the_place_of_several() -> None:
    """1 + 2 + 3 are as much as 6 alone, which was recorded too late to be kept."""
    scenario = keepers(never("b", lambda kept: sum(kept) >= 6))
    target, schedule = aimed_without(scenario, sends(1, 2, 3, 6), 3)
    assert measure(target, schedule) == Size(3, 3)
    found = exchanged(target, schedule)
    assert target.steps(found) == (Send("b", Key(6)), act("", 1, "b"))
    assert exchanged(target, schedule, 0) == schedule


def test_a_restart_takes_the_place_of_a_stop_and_a_start() -> None:
    def recovered(nodes: Any) -> Broken | None:
        return Broken("once", "twice", ("b",)) if "b" in nodes and nodes["b"].lives == 2 else None

    target, schedule = aimed(keepers(recovered), [Stop("b"), Start("b")])
    more = Target(target.scenario, 0, (*target.externals, Restart("b")), target.identity)
    assert more.steps(exchanged(more, schedule)) == (Restart("b"),)


def test_a_message_comes_directly_instead_of_being_passed_on() -> None:
    """a passes key 5 on to b; another message from outside has it for b, where nothing from outside is left."""
    scenario = keepers(never("b", lambda kept: kept[:2] == [0, 5]))
    steps: list[Step] = [Send("a", Relay("b", (5,))), act("", 1, "a", "Relay"), tick("b"), act("a", 2, "b")]
    target, schedule = aimed(scenario, steps)
    more = Target(target.scenario, 0, (*target.externals, Send("b", Key(5))), target.identity)
    assert more.steps(exchanged(more, schedule)) == (tick("b"), Send("b", Key(5)), act("", 1, "b"))


def test_what_is_no_shorter_stays() -> None:
    scenario = keepers(never("b", lambda kept: len(kept) == 2))
    target, schedule = aimed_without(scenario, sends(1, 2, 3), 2)
    assert exchanged(target, schedule) == schedule


def test_another_process_makes_the_same_candidates() -> None:
    target, schedule = aimed(keepers(never("b", bool)), [Send("b", Key(2)), Heal(), act("", 1, "b")])
    family = exchanging._Exchanges(schedule, [Exchange(1, 0, describe_delivery(target, 0)), Exchange(0, 1, None)])
    copied = pickle.loads(pickle.dumps(family))
    assert len(copied) == 2
    assert [copied.at(place) for place in (0, 1)] == [family.at(place) for place in (0, 1)]


@pytest.mark.parametrize("kind", [Stop("b"), Heal()])
def test_events_that_are_no_messages_have_no_delivery(kind: Any) -> None:
    assert describe_delivery(Target(keepers(), 0, (kind,), ""), 0) is None
