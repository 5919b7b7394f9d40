"""Code that hides, remembers, draws or disturbs: never a false certificate, and always a remedy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import random
from typing import Any

import pytest

from clew import CodeVerdict, check_scenario
from clew.errors import UsageError
from clew.search.verdict import Answer
from clew.simulation import CodeBlock, Context, Elapse, Faults, Node, Restart, Scenario, Send, Start, VirtualTime
from injection.hostile import HIDING, Erratic, Ping, Plain, Sharing, b_got_it, ping


def exhaust(scenario: Scenario, **options: Any) -> CodeVerdict:
    return check_scenario(scenario, strategy="exhaustive", in_process=True, **options)


def faults_of(verdict: CodeVerdict) -> str:
    assert verdict.counterexample is not None
    return str(verdict.counterexample.faults)


# -- state that is hard to see -----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", HIDING, ids=lambda kind: kind.__name__)
def test_the_loss_of_what_changes_hidden_state_is_tried(kind: Callable[[], Node]) -> None:
    scenario = ping(kind, promises=[b_got_it])
    assert faults_of(exhaust(scenario)) == "O(a,b,Ping,1)"


@pytest.mark.parametrize("kind", [k for k in HIDING if k.__name__ not in ("Drawing", "Counting", "Closed")])
def test_lineage_follows_what_is_in_slots_fields_and_properties(kind: Callable[[], Node]) -> None:
    verdict = check_scenario(ping(kind, promises=[b_got_it]), in_process=True)
    assert faults_of(verdict) == "O(a,b,Ping,1)"


def test_promises_without_a_name_of_their_own_are_all_followed() -> None:
    promises = [lambda nodes: b_got_it(nodes), lambda nodes: None]
    verdict = check_scenario(ping(HIDING[0], promises=promises), in_process=True)
    assert faults_of(verdict) == "O(a,b,Ping,1)"


# -- executions that depend on others ----------------------------------------------------------------------------


def test_what_is_left_in_a_class_makes_a_certificate_none() -> None:
    verdict = exhaust(ping(Sharing, promises=[lambda nodes: None if 2 in Sharing.seen else "not seen"]))
    assert verdict.answer is Answer.INCOMPLETE
    assert verdict.reason is not None
    assert verdict.reason.startswith(
        "executions have changed Sharing.seen, so that one can depend on those before"
    )


@pytest.mark.parametrize("strategy", ["lineage", "exhaustive", "random"])
def test_nodes_that_draw_from_elsewhere_are_refused(strategy: str) -> None:
    with pytest.raises(UsageError, match="execution: at the end, the attribute got of a differs") as refused:
        check_scenario(ping(Erratic), strategy=strategy, in_process=True)
    assert refused.value.remedy is not None and "from their context" in refused.value.remedy


def test_makers_of_events_that_draw_from_elsewhere_are_refused() -> None:
    scenario = ping(before=(), events=[(1, lambda source, world: Send("a", Ping(round(random() * 1e9))))], count=2)
    with pytest.raises(UsageError, match=r"Ping from outside to a, with another content"):
        exhaust(scenario)


def test_an_execution_that_differs_before_its_last_fault_is_found_out() -> None:
    calls: list[int] = []

    class Late(Plain):
        def keep(self, number: int, ctx: Context) -> None:
            calls.append(number)
            # The same in the first executions, which are compared, and another in those with faults.
            ctx.set_timer("t", after=0.5 if len(calls) <= 6 else 0.2)

    with pytest.raises(UsageError, match=r"up to event \d, the faults are the same, and what happens is not"):
        exhaust(ping(Late, faults=Faults(crashes=1)))


# -- promises that do more than look -----------------------------------------------------------------------------


def _append(nodes: Any) -> None:
    if "b" in nodes:
        nodes["b"].got.append(0)


@pytest.mark.parametrize(
    "scenario", [ping(promises=[_append]), ping(invariants=[_append])], ids=["promise", "invariant"]
)
def test_what_changes_nodes_instead_of_looking_is_refused(scenario: Scenario) -> None:
    with pytest.raises(UsageError, match="_append changes the attribute got of b"):
        exhaust(scenario)


def test_a_promise_that_is_kept_only_once_is_refused() -> None:
    def pop(nodes: Any) -> str | None:
        return None if nodes["b"].got and nodes["b"].got.pop() else "gone"

    with pytest.raises(UsageError, match="the promise pop was kept, and is not when it is asked again"):
        check_scenario(ping(promises=[pop]), in_process=True)


# -- certificates that would say nothing -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "faults", [Faults(losses=0), Faults(losses=1, until=0), Faults(partitions=1, until=0)], ids=str
)
def test_where_no_fault_can_strike_nothing_is_certified(faults: Faults) -> None:
    verdict = exhaust(ping(faults=faults))
    assert verdict.answer is Answer.INCOMPLETE
    assert verdict.reason == "nothing was tried: no fault within the bounds strikes the execution without faults"


def test_a_kind_of_fault_that_cannot_strike_is_named() -> None:
    verdict = exhaust(ping(faults=Faults(losses=1, crashes=1, until=0)))
    assert (verdict.answer, verdict.cautions) == (
        Answer.CERTIFIED,
        ("no loss within the bounds strikes the execution without faults",),
    )


def test_events_from_outside_that_never_happen_are_counted() -> None:
    verdict = exhaust(ping(before=[Send("a", Ping(1)), Elapse(5), Send("a", Ping(3)), Send("b", Ping(3))]))
    assert verdict.cautions == (
        "without faults 2 events from outside did not happen: what they wait for did not come in time",
    )


def test_a_certificate_says_at_which_moments_faults_came() -> None:
    faults = Faults(crashes=1, restarts=1, partitions=1, total=1)
    assert str(exhaust(ping(faults=faults))).splitlines()[2] == (
        "  tried: crashes and restarts before the first event of a node and right after each; "
        "partitions that begin when a message is sent across them"
    )


def test_lineage_says_so_where_nothing_is_promised_at_all() -> None:
    verdict = check_scenario(ping(assume=lambda nodes: False), in_process=True)
    assert verdict.reason is not None and verdict.reason.startswith("also without faults nothing is promised")


def test_outages_shorter_than_time_is_counted_are_refused() -> None:
    with pytest.raises(UsageError, match="one of the outages is 1e-07"):
        exhaust(ping(), restarts=1, outages=(1e-7,))


# -- when faults can come ----------------------------------------------------------------------------------------


class Worker(Node):
    """``a`` is told by a code block, or by its own start, to write to ``b`` half a second later."""

    def on_start(self, ctx: Context) -> None:
        self.last = 0
        if ctx.me == "a" and ctx.durable.get("lives", 0):
            self.go(ctx)
        ctx.durable["lives"] = 1

    def go(self, ctx: Context) -> None:
        ctx.send("b", Ping(1))
        ctx.set_timer("t", after=0.5)

    def on_timer(self, ctx: Context, name: str) -> None:
        ctx.send("b", Ping(2))

    def on_message(self, ctx: Context, sender: str, message: Any) -> None:
        self.last = message.number


def half_done(nodes: Any) -> str | None:
    return "b has the first and not the second" if "b" in nodes and nodes["b"].last == 1 else None


GO = CodeBlock("go", lambda world: _go(world))


def _go(world: Any) -> None:
    if "a" in world.processes:
        world.nodes["a"].go(world.processes["a"])


@pytest.mark.parametrize("event", [GO, Restart("a")], ids=["code block", "restart"])
def test_a_node_can_crash_after_what_the_scenario_did_to_it(event: Any) -> None:
    scenario = ping(Worker, before=[Elapse(0.1), event], promises=[half_done], faults=Faults(crashes=1))
    assert faults_of(exhaust(scenario)) == "C(a,1)"
    assert faults_of(check_scenario(scenario, in_process=True)) == "C(a,1)"


def test_a_node_that_crashed_is_not_started_again_by_the_scenario() -> None:
    scenario = ping(
        before=[Send("a", Ping(1)), Elapse(0.1), Restart("a"), Start("b")],
        promises=[lambda nodes: None if len(nodes) == 2 else "one is down"],
        faults=Faults(crashes=1),
    )
    assert faults_of(exhaust(scenario)) == "C(a,0)"


def test_a_code_block_that_starts_a_crashed_node_is_refused() -> None:
    up = CodeBlock("up", lambda world: world.inject(Start("a")))
    with pytest.raises(UsageError, match="a code block starts 'a', which a fault has stopped") as refused:
        exhaust(ping(before=[Send("a", Ping(1)), Elapse(0.1), up], faults=Faults(crashes=1)))
    assert refused.value.remedy is not None and "Start(node='a')" in refused.value.remedy


def _named_alike() -> tuple[type[Any], type[Any]]:
    def make() -> type[Any]:
        @dataclass(frozen=True)
        class Same:
            number: int

        return Same

    return make(), make()


def test_messages_of_two_types_of_one_name_are_counted_together() -> None:
    one, other = _named_alike()

    class Twice(Plain):
        def on_message(self, ctx: Context, sender: str, message: Any) -> None:
            self.got.append(message.number)
            if ctx.me == "a":
                ctx.send("b", one(1))
                ctx.send("b", other(2))

    scenario = ping(Twice, promises=[lambda nodes: None if nodes["b"].got else "b got neither"])
    assert exhaust(scenario).answer is Answer.CERTIFIED
    name = "_named_alike.<locals>.make.<locals>.Same"
    assert faults_of(exhaust(scenario, losses=2)) == f"O(a,b,{name},1) O(a,b,{name},2)"


def test_invariants_are_looked_at_after_every_event_whatever_fuzz_does() -> None:
    class Passing(Plain):
        def keep(self, number: int, ctx: Context) -> None:
            self.got = [] if self.got else [number]
            ctx.set_timer("t", after=0.01)

        def on_timer(self, ctx: Context, name: str) -> None:
            self.got = []

    never = [lambda nodes: "b has one" if nodes["b"].got else None]
    verdict = exhaust(ping(Passing, invariants=never, check_every=50, time=VirtualTime(latency=0.01, until=1)))
    assert faults_of(verdict) == "no fault"
