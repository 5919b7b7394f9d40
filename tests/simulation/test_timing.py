"""Virtual time: what is due first happens first, no timer goes off early, and everything can be replayed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import clew
from clew.errors import UsageError
from clew.simulation import (
    Broken,
    CodeBlock,
    Context,
    Elapse,
    Heal,
    Network,
    Node,
    Partition,
    Restart,
    Scenario,
    Send,
    VirtualTime,
    World,
)
from clew.simulation.execution.steps import Act, At, Do, Step
from clew.simulation.execution.trace import AbsentError, execute
from clew.simulation.fuzzing.random_run import random_run
from clew.simulation.timing import Clock, show_time, to_ticks
from clew.simulation.world import External


@dataclass(frozen=True)
class Note:
    text: str


class Diary(Node):
    """Writes down what happens and when, by its own clock; an order such as "b:0.5" is a timer, then a message."""

    def on_start(self, ctx: Context) -> None:
        self.seen: list[tuple[str, float]] = []
        self.due: dict[str, float] = {}

    def on_message(self, ctx: Context, sender: str, message: Note) -> None:
        self.seen.append((message.text, ctx.now))
        for order in filter(None, message.text.split()):
            target, _, seconds = order.partition(":")
            if seconds:
                self.due[target] = ctx.now + float(seconds)
                ctx.set_timer(target, after=float(seconds))

    def on_timer(self, ctx: Context, name: str) -> None:
        assert ctx.now >= self.due[name], "no timer goes off early"
        self.seen.append((f"timer {name}", ctx.now))
        ctx.send(name, Note("hello"))


def scenario(time: VirtualTime | None, *before: External, names: str = "ab", **options: Any) -> Scenario:
    return Scenario(
        nodes=dict.fromkeys(names, Diary), running=tuple(names), before=before, time=time, steps=300, **options
    )


def seen(made: Scenario, seed: int = 0) -> dict[str, list[tuple[str, float]]]:
    run = random_run(made, seed)
    assert run.broken is None
    return {name: node.seen for name, node in run.world.nodes.items()}  # type: ignore[attr-defined]  # a Diary


def test_messages_take_their_time_and_timers_theirs() -> None:
    made = scenario(VirtualTime(latency=0.1, links={("a", "b"): 0.5}), Send("a", Note("b:2")))
    assert seen(made) == {"a": [("b:2", 0.1), ("timer b", 2.1)], "b": [("hello", 2.6)]}


def test_a_timer_that_is_set_again_begins_anew() -> None:
    made = scenario(
        VirtualTime(latency=0), Send("a", Note("b:2")), Elapse(1.5), Send("a", Note("b:2")), Elapse(1), Heal()
    )
    assert seen(made)["a"] == [("b:2", 0.0), ("b:2", 1.5), ("timer b", 3.5)]


def test_seconds_pass_for_whoever_waits_outside() -> None:
    made = scenario(VirtualTime(latency=0.25), Elapse(1), Send("a", Note("x")), Elapse(0.1), Send("a", Note("y")))
    assert seen(made)["a"] == [("x", 1.25), ("y", pytest.approx(1.35))]


def test_clocks_run_at_their_own_speed() -> None:
    made = scenario(VirtualTime(latency=1, clocks={"a": 2.0, "b": 0.5}), Send("a", Note("b:4")))
    # a's clock is twice as fast: its 4 seconds are 2, and it all happens at 1, 3 and 4.
    assert seen(made) == {"a": [("b:4", 2.0), ("timer b", 6.0)], "b": [("hello", 2.0)]}


def test_over_fifo_nothing_overtakes() -> None:
    class Burst(Node):
        def on_start(self, ctx: Context) -> None:
            for number in range(20):
                ctx.send("b", Note(str(number)))

    def arrive(network: Network) -> list[str]:
        nodes = {"b": Diary, "a": Burst}
        made = Scenario(nodes=nodes, running=("b", "a"), network=network, time=VirtualTime(latency=(0, 1)))
        return [text for text, _ in seen_by_b(made)]

    def seen_by_b(made: Scenario) -> list[tuple[str, float]]:
        node = random_run(made, 3).world.nodes["b"]
        assert isinstance(node, Diary)
        return node.seen

    in_order = [str(number) for number in range(20)]
    assert arrive(Network.FIFO) == in_order
    assert arrive(Network.REORDERING) != in_order and sorted(arrive(Network.REORDERING)) == sorted(in_order)


def test_what_a_partition_holds_up_arrives_when_it_heals() -> None:
    made = scenario(
        VirtualTime(latency=0.1),
        Partition("a", "b"),
        Send("a", Note("b:0.5")),
        Elapse(3),
        Heal(),
        Elapse(1),
    )
    assert seen(made)["b"] == [("hello", 3.0)]


def test_an_execution_ends_with_its_time() -> None:
    class Ticking(Node):
        def on_start(self, ctx: Context) -> None:
            self.ticks = 0
            ctx.set_timer("tick", after=1)

        def on_timer(self, ctx: Context, name: str) -> None:
            self.ticks += 1
            ctx.set_timer("tick", after=1)

    made = Scenario(nodes={"a": Ticking}, running=("a",), time=VirtualTime(until=10))
    found = clew.fuzz(made, runs=3, in_process=True)
    assert (found.answer.value, found.reason) == ("no violation", None)
    world = random_run(made, 0).world
    assert world.nodes["a"].ticks == 10  # type: ignore[attr-defined]
    assert world.time == to_ticks(10)


@given(st.integers(0, 2**32), st.floats(0, 5), st.floats(0, 5), st.floats(0, 0.9))
def test_what_is_drawn_is_within_its_bounds(seed: int, least: float, more: float, drift: float) -> None:
    clock = Clock(VirtualTime(latency=(least, least + more), drift=drift), seed)
    taken = [clock.draw_latency("a", "b", nth) for nth in range(5)]
    assert all(to_ticks(least) <= ticks <= to_ticks(least + more) for ticks in taken)
    assert taken == [
        Clock(VirtualTime(latency=(least, least + more)), seed).draw_latency("a", "b", n) for n in range(5)
    ]
    assert 1 - drift <= clock.speed("a") <= 1 + drift
    # Never less than asked for, by its own clock, and no more than the smallest time there is.
    lapse = clock.lapse("a", least)
    assert least <= lapse * clock.speed("a") / 1_000_000 + 1e-9
    assert lapse * clock.speed("a") / 1_000_000 <= least + 2e-6


@given(st.integers(0, 1000), st.lists(st.sampled_from(["b:0.5", "b:0.1 a:0.2", "a:1"]), min_size=1, max_size=4))
def test_time_never_goes_back_and_a_replay_has_the_same(seed: int, orders: list[str]) -> None:
    time = VirtualTime(latency=(0.01, 0.4), drift=0.1, until=5)
    before = [event for order in orders for event in (Send("a", Note(order)), Elapse(0.3))]
    made = scenario(time, *before, Restart("b"), loss=0.2, duplication=0.2, network=Network.REORDERING)
    run = random_run(made, seed, recording=True)
    assert run.world.history is not None
    times = [happened.time for happened in run.world.history]
    assert times == sorted(times, key=lambda t: -1 if t is None else t) and None not in times
    again = execute(made, seed, run.steps)
    assert [m.happened.time for m in again.moments] == times


def _act(source: str, nth: int, target: str, kind: str = "Note", *, timer: bool = False) -> Act:
    return Act(Do.DELIVER, source, nth, target, timer, kind, kind)


ORDER = Send("a", Note("b:5"))
ARRIVES, GOES_OFF = _act("", 1, "a"), _act("a", 1, "a", "b", timer=True)


@pytest.mark.parametrize(
    ("steps", "says"),
    [
        ([ORDER, ARRIVES], "step 2 cannot be taken: deliver Note from outside to a, and that comes at 1 s at the"),
        (
            [ORDER, At(2_000_001), ARRIVES],
            "step 2 cannot be taken: at 2.000001 s, and the Note from outside to a is due at 2 s",
        ),
        (
            [ORDER, At(1_500_000), ARRIVES, At(6_400_000), GOES_OFF],
            "step 3 .* that comes at 6.5 s at the earliest",
        ),
        ([ORDER, At(1_500_000), ARRIVES, At(6_500_001), GOES_OFF], "the timer b at a is due at 6.5 s"),
        ([ORDER, At(60_000_001), ARRIVES], "an execution ends after 60 s"),
    ],
)
def test_whatever_a_schedule_says_it_keeps_to_the_bounds(steps: list[Step], says: str) -> None:
    with pytest.raises(AbsentError, match=says):
        execute(scenario(VirtualTime(latency=(1, 2))), 0, steps)


@pytest.mark.parametrize("arrives", [1_000_000, 1_234_567, 2_000_000])
def test_a_message_may_take_any_time_within_its_bounds(arrives: int) -> None:
    steps: list[Step] = [ORDER, At(arrives), ARRIVES, At(arrives + 5_000_000), GOES_OFF]
    made = execute(scenario(VirtualTime(latency=(1, 2))), 0, steps)
    assert [moment.happened.time for moment in made.moments] == [0, arrives, arrives + 5_000_000]


def test_in_any_order_there_are_no_times() -> None:
    with pytest.raises(AbsentError, match="the scenario has no virtual time"):
        execute(scenario(None), 0, [ORDER, At(1), ARRIVES])


def test_a_code_block_takes_no_time_and_lets_no_timer_go_off_early() -> None:
    def deliver(kind: str, world: World) -> None:
        world.deliver(next(e for e in world.pool if e.kind == kind))

    made = scenario(VirtualTime(latency=1), ORDER, CodeBlock("hurry", partial(deliver, "Note")), Elapse(2), Heal())
    assert seen(made)["a"] == [("b:5", 0.0), ("timer b", 5.0)]
    early = scenario(VirtualTime(latency=1), ORDER, Elapse(2), CodeBlock("early", partial(deliver, "b")))
    with pytest.raises(UsageError, match="lets the timer 'b' of a go off at 2 s, and it is set for 6 s"):
        seen(early)


def one_message(nodes: Mapping[str, Any]) -> Broken | None:
    return Broken("quiet", "a message") if nodes["b"].seen else None


def test_the_violation_is_recorded_replayed_and_told_with_times() -> None:
    made = scenario(VirtualTime(latency=0.5), Send("a", Note("b:2")), Elapse(1), invariants=[one_message])
    found = clew.fuzz(made, runs=1, in_process=True)
    assert found.recording is not None and found.execution is not None
    replayed = clew.replay(found.recording, made, in_process=True)
    assert replayed.outcome.value == "same"
    minimized = clew.minimize(found.recording, made, in_process=True)
    assert minimized.answer.value == "minimized"
    assert minimized.size.deliveries == 3  # the note to a, its timer, and what a then sends b
    assert clew.explore(made, in_process=True).found[0].identity == found.recording.identity


def _sets_timer(node: str, world: World) -> None:
    world.processes[node].set_timer("t")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (partial(VirtualTime, latency=-1), "latency is -1"),
        (partial(VirtualTime, latency=(2, 1)), r"latency is \(2, 1\)"),
        (partial(VirtualTime, latency=True), "latency is True"),
        (lambda: VirtualTime(links={("a", "b"): "x"}), r"links\[\('a', 'b'\)\] is 'x'"),  # type: ignore[dict-item]  # refused
        (partial(VirtualTime, drift=1), "drift is 1"),
        (partial(VirtualTime, clocks={"a": 0}), "the clock of 'a' has the speed 0"),
        (partial(VirtualTime, until=float("inf")), "until is inf"),
        (lambda: scenario(VirtualTime(clocks={"z": 1.0})), "the virtual time names the unknown node 'z'"),
        (lambda: scenario(None, Elapse(1)), r"Elapse\(seconds=1\) waits for virtual time"),
        (lambda: seen(scenario(VirtualTime(), Send("a", Note("b:-1")))), "'after' of the timer 'b' is -1.0"),
        (
            lambda: seen(scenario(VirtualTime(), CodeBlock("sets", partial(_sets_timer, "a")))),
            "the timer 't' has no time, and the scenario has virtual time",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(make: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        make()


def test_times_are_shown_with_the_digits_they_have() -> None:
    assert [show_time(t) for t in (0, 1, 250_000, 3_000_000)] == ["0 s", "0.000001 s", "0.25 s", "3 s"]


def test_in_any_order_seconds_mean_nothing() -> None:
    made = scenario(None, Send("a", Note("")), timers=1.0)
    assert [now for _, now in seen(made)["a"]] == [1]
