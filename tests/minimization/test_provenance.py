"""The causal past: what a violation rests on stays, and everything else goes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hypothesis import given, settings

from clew.minimization.causal_order import causal_past
from clew.minimization.trial import Match, attempt
from clew.simulation import Broken, CodeBlock, Heal, Network, Partition, Restart, Scenario, Send, Start, Stop
from clew.simulation.execution.steps import Do, Step
from minimization.scenarios import Failing, Key, Relay, act, aimed, failures, keepers, never, nothing, tick


def past(scenario: Scenario, steps: list[Step]) -> tuple[Step, ...]:
    """The causal past, after seeing that it is enough."""
    target, schedule = aimed(scenario, steps)
    found = causal_past(target, schedule)
    assert attempt(target, found, Match.FINGERPRINT) is not None
    return target.steps(found)


def test_what_other_nodes_did_is_gone_and_what_the_network_did_stays() -> None:
    needed: list[Step] = [
        Send("a", Relay("b", (1, 2))),
        act("", 1, "a", "Relay"),
        act("a", 2, "b", do=Do.DUPLICATE),
        act("a", 3, "b", do=Do.LOSE),
        act("a", 2, "b"),
        act("a", 4, "b"),
    ]
    steps: list[Step] = [
        needed[0],
        Send("c", Key(9)),
        Send("c", Key(8)),
        act("", 2, "c"),
        Partition("c", "d"),
        Restart("d"),
        needed[1],
        needed[2],
        needed[3],
        tick("d", 2),
        Heal(),
        Stop("c"),
        needed[4],
        tick("a"),
        needed[5],
    ]
    assert past(keepers(never("b", lambda kept: kept == [1, 1])), steps) == tuple(needed)


def test_what_happened_to_the_node_itself_stays() -> None:
    """Its stop, start, restart and timer, and a message from outside; not what came after that elsewhere."""
    steps: list[Step] = [
        Send("b", Key(5)),
        act("", 1, "b"),
        Stop("b"),
        Start("b"),
        Restart("b"),
        tick("b", 3),
        Send("b", Key(1)),
        act("", 2, "b"),
    ]
    scenario = keepers(never("b", lambda kept: kept == [0, 1]))
    assert past(scenario, [Restart("a"), *steps]) == tuple(steps)


def test_a_chain_of_messages() -> None:
    """From c to a to b; what a did after it had sent is gone."""
    steps: list[Step] = [
        Send("c", Relay("a", (1,))),
        act("", 1, "c", "Relay"),
        act("c", 2, "a"),
        Send("a", Relay("b", (3,))),
        act("", 2, "a", "Relay"),
        tick("a"),
        act("a", 2, "b"),
    ]
    expected = tuple(step for step in steps if step != tick("a"))
    assert past(keepers(never("b", lambda kept: kept == [3]), network=Network.FIFO), steps) == expected


def test_code_blocks_stay() -> None:
    block = CodeBlock("nothing", nothing)
    steps: list[Step] = [block, tick("a"), tick("b")]
    assert past(keepers(never("b", lambda kept: kept == [0])), steps) == (block, tick("b"))


def test_a_violation_that_names_no_node_is_about_all_also_those_that_are_down() -> None:
    def alone(nodes: Mapping[str, Any]) -> Broken | None:
        return Broken("alone", "c is alone") if list(nodes) == ["c"] else None

    steps: list[Step] = [Stop("a"), Partition("a", "c"), tick("c"), Stop("d"), Stop("b")]
    scenario = keepers(alone)
    assert past(scenario, steps) == tuple(step for step in steps if not isinstance(step, Partition))


def test_an_exception() -> None:
    steps: list[Step] = [
        Send("c", Key(1)),
        act("", 1, "c"),
        Send("b", "no key"),
        act("", 2, "b", "str"),
    ]
    assert past(keepers(), steps) == (steps[2], steps[3])


@given(failures)
@settings(max_examples=25)
def test_the_causal_past_is_enough(failure: Failing) -> None:
    """Where nothing else can break on the way: nodes that are left behind may be in a state that is wrong, too."""
    scenario, recording = failure
    assert recording.broken is not None
    target, schedule = aimed(scenario, recording.steps, recording.seed)

    def only(nodes: Mapping[str, Any]) -> Broken | None:
        found = [invariant(nodes) for invariant in scenario.invariants]
        return recording.broken if recording.broken in found else None

    target = replace(target, scenario=replace(target.scenario, invariants=[only]))
    found = causal_past(target, schedule)
    assert attempt(target, found, Match.FINGERPRINT) is not None
