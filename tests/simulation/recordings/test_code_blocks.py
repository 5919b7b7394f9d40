"""Code blocks: one event, whatever they do, and all that they did is recorded and compared."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from clew.errors import UsageError
from clew.simulation import (
    CodeBlock,
    Context,
    External,
    Node,
    Partition,
    Restart,
    Scenario,
    Send,
    Start,
    Stop,
    WaitCondition,
    WaitQuiescence,
    World,
)
from clew.simulation.execution.trace import execute
from clew.simulation.fuzzing.fuzz import record
from clew.simulation.recordings.replaying import ReplayOutcome, replay
from clew.simulation.world import Happened


class Keeper(Node):
    """Keeps what it gets; a pair is a message for another one."""

    def on_start(self, ctx: Context) -> None:
        self.got: list[tuple[str, Any]] = []

    def on_message(self, ctx: Context, sender: str, message: Any) -> None:
        self.got.append((sender, message))
        ctx.log(f"got {message}")
        if isinstance(message, tuple):
            ctx.send(*message)


def world(makers: dict[str, Callable[[], Node]] | None = None, **more: Any) -> World:
    return World(makers or dict.fromkeys("abc", Keeper), fifo=True, **{"running": ("a", "b"), **more})


def deliver_all(made: World) -> None:
    while made.pool.messages:
        made.deliver(made.pool.messages[0])


def history(made: World) -> list[Happened]:
    assert made.history is not None
    return made.history


def test_a_code_block_is_one_event_whatever_it_does() -> None:
    def action(world: World) -> None:
        world.inject(Send("a", ("b", "x")))
        world.deliver(world.pool.messages[0])
        world.inject(Start("c"))
        world.inject(CodeBlock("inner", lambda world: world.inject(Send("c", 1))))

    made = world(recording=True)
    made.inject(CodeBlock("many", action))
    assert made.events == 1
    (happened,) = history(made)
    assert (happened.number, happened.node, happened.fate, happened.depends) == (0, "", "do", ())
    assert [(e.source, e.nth, e.target, e.cause) for e in happened.sent] == [
        ("", 1, "a", 0),
        ("a", 1, "b", 0),
        ("", 2, "c", 0),
    ]
    assert happened.remarks == ("got ('b', 'x')",)
    assert [(e.source, e.nth) for e in happened.gone] == [("", 1)]
    deliver_all(made)
    assert [(h.number, h.node, h.depends) for h in history(made)[1:]] == [(1, "b", (0,)), (2, "c", (0,))]


def test_a_code_block_rests_on_what_it_delivers_and_on_whom_it_restarts() -> None:
    def action(world: World) -> None:
        world.deliver(next(iter(world.pool.ready("", "a"))))
        world.inject(Restart("b"))
        world.lose(next(iter(world.pool.ready("", "c"))))

    made = world(running=("a", "b", "c"), recording=True)
    for name in "abc":
        made.inject(Send(name, 1))  # 0, 1, 2
    made.deliver(next(iter(made.pool.ready("", "b"))))  # 3
    made.inject(CodeBlock("three", action))  # 4
    assert history(made)[4].depends == (0, 2, 3)
    assert [(e.source, e.nth) for e in history(made)[4].gone] == [("", 1), ("", 3)]
    made.inject(Send("b", 2))
    deliver_all(made)
    assert history(made)[6].depends == (4, 5)


def test_what_goes_to_a_node_that_a_code_block_stops_is_gone() -> None:
    made = world(recording=True)
    made.inject(Send("a", 1))
    made.inject(CodeBlock("stop", lambda world: world.inject(Stop("a"))))
    assert [(e.source, e.nth, e.target) for e in history(made)[1].gone] == [("", 1, "a")]
    assert (made.pool.messages, sorted(made.nodes)) == ([], ["b"])


def test_what_a_code_block_sends_is_isolated() -> None:
    shared = [1]

    def action(world: World) -> None:
        world.send("b", "a", shared, 0)
        shared.append(2)

    made = world()
    made.inject(CodeBlock("send", action))
    deliver_all(made)
    node = made.nodes["a"]
    assert isinstance(node, Keeper) and node.got == [("b", [1])]


@pytest.mark.parametrize("event", [WaitQuiescence(), WaitCondition("c", lambda world: True), "stop a", None])
def test_what_is_no_event_cannot_be_injected(event: Any) -> None:
    def action(world: World) -> None:
        world.inject(event)

    for given in (event, CodeBlock("block", action)):
        with pytest.raises(UsageError) as caught:
            world().inject(given)
        assert caught.value.message == f"{event!r} cannot be done to a cluster"
        assert caught.value.remedy == "inject events; list what waits in the scenario's before or after"


# -- several failures at once ------------------------------------------------------------------------------------


class Broken(Node):
    """Cannot start."""

    def on_start(self, ctx: Context) -> None:
        raise ValueError(ctx.me)


def failures(made: World) -> list[tuple[str, str, str]]:
    assert made.failure is not None
    return [(one.node, one.error, one.place) for one in made.failure.all]


BOTH = [("a", "ValueError: a", "Broken.on_start"), ("b", "ValueError: b", "Broken.on_start")]


def test_all_nodes_that_cannot_start_are_reported() -> None:
    made = world({"a": Broken, "b": Broken, "c": Keeper}, running=("a", "b", "c"))
    assert failures(made) == BOTH


def test_all_handlers_that_raise_in_a_code_block_are_reported() -> None:
    def action(world: World) -> None:
        world.inject(Start("a"))
        world.inject(Start("b"))

    made = world({"a": Broken, "b": Broken}, running=())
    made.inject(CodeBlock("start", action))
    assert failures(made) == BOTH


def test_what_a_handler_raises_comes_before_what_the_code_block_raises_after_it() -> None:
    def action(world: World) -> None:
        world.inject(Start("a"))
        raise OSError("not prepared for that")

    made = world({"a": Broken}, running=())
    made.inject(CodeBlock("start", action))
    assert (failures(made), made.events) == (BOTH[:1], 1)


# -- what is recorded of them ------------------------------------------------------------------------------------


@dataclass
class Box:
    """A message that can be changed."""

    items: list[int] = field(default_factory=list)


class Everything(Node):
    """Has a timer, something stored, and random numbers."""

    def on_start(self, ctx: Context) -> None:
        self.count = 0
        ctx.set_timer("tick")
        ctx.durable["kept"] = 1


#: What a code block does, and what a replay says if it did not do so when it was recorded.
OPERATIONS: dict[str, tuple[Callable[[World], Any], str]] = {
    "attribute": (lambda w: vars(w.nodes["a"]).update(count=7), "the state differs in a.count"),
    "new attribute": (lambda w: vars(w.nodes["a"]).update(more=7), "the state differs in a.more"),
    "send": (lambda w: w.inject(Send("a", 1)), "something is sent, not the same: the messages under way"),
    "send from a node": (
        lambda w: w.processes["a"].send("b", 1),
        "something is sent, not the same: the messages under way",
    ),
    "send to a node that is down": (lambda w: w.inject(Send("down", 1)), "something is sent"),
    "start": (
        lambda w: w.inject(Start("down")),
        "the state differs in down.count, something is sent, not the same: the nodes that are up, "
        "the storage of down, the timers of down",
    ),
    "stop": (
        lambda w: w.inject(Stop("a")),
        "the state differs in a.count, not the same: the messages under way, the nodes that are up, "
        "the timers of a",
    ),
    "restart": (
        lambda w: w.inject(Restart("b")),
        "something is sent, not the same: the timers of b",
    ),
    "partition": (lambda w: w.inject(Partition("a", "b")), "not the same: the partitions"),
    "hold": (lambda w: w.pool.hold(("a", "b")), "not the same: the partitions"),
    "store": (lambda w: w.processes["a"].durable.update(kept=2), "not the same: the storage of a"),
    "set a timer": (
        lambda w: w.processes["a"].set_timer("tock"),
        "something is sent, not the same: the timers of a",
    ),
    "cancel a timer": (lambda w: w.processes["a"].cancel_timer("tick"), "not the same: the timers of a"),
    "draw": (lambda w: w.processes["a"].random.random(), "not the same: the random numbers of a"),
    "log": (lambda w: w.remark("here"), "something is logged"),
    "deliver": (
        lambda w: w.deliver(w.pool.messages[0]),
        "not the same: the messages under way",
    ),
    "lose": (lambda w: w.lose(w.pool.messages[0]), "not the same: the messages under way"),
    "duplicate": (
        lambda w: w.duplicate(w.pool.messages[0]),
        "something is sent, not the same: the messages under way",
    ),
    "change a message": (
        lambda w: w.pool.messages[0].payload.items.append(1),
        "not the same: the messages under way",
    ),
}


class Capricious:
    """A scenario whose code block does something, or nothing, as it is told from elsewhere."""

    def __init__(self, operation: Callable[[World], Any]) -> None:
        self.does = False
        self._operation = operation
        before: list[External] = [Send("a", Box()), CodeBlock("capricious", self._act)]
        nodes = dict.fromkeys(("a", "b", "down"), Everything)
        self.scenario = Scenario(nodes=nodes, running=["a", "b"], before=before, timers=0, steps=2)

    def _act(self, world: World) -> None:
        if self.does:
            self._operation(world)


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("does", [False, True], ids=["not when recorded", "when recorded"])
def test_a_code_block_that_does_something_else_is_a_difference(name: str, does: bool) -> None:
    operation, says = OPERATIONS[name]
    capricious = Capricious(operation)
    scenario = capricious.scenario
    capricious.does = does
    recording = record(scenario, 0, in_process=True)
    assert replay(recording, scenario, in_process=True).outcome is ReplayOutcome.SAME
    capricious.does = not does
    replayed = replay(recording, scenario, in_process=True)
    if does:
        says = says.replace("something is", "nothing is")
    assert (replayed.outcome, str(replayed.difference)) == (
        ReplayOutcome.DIFFERENT,
        f"event 2 (code block capricious): {says}",
    )


def test_a_code_block_that_never_does_the_same_is_not_recorded() -> None:
    calls = []

    def action(world: World) -> None:
        calls.append(1)
        vars(world.nodes["a"])["count"] = len(calls)

    scenario = Scenario(nodes={"a": Everything}, running=["a"], before=[CodeBlock("count", action)])
    with pytest.raises(UsageError) as caught:
        record(scenario, 0)
    assert caught.value.message.startswith(
        "the same execution twice is not the same: event 1 (code block count): the state differs in a.count\n"
        "  likely cause: it differs from one execution to the next"
    )


def test_the_states_that_a_code_block_changed() -> None:
    def action(world: World) -> None:
        vars(world.nodes["a"])["count"] = 5
        world.inject(Stop("b"))

    scenario = Scenario(nodes={"a": Everything, "b": Everything}, running=["a", "b"])
    (moment,) = execute(scenario, 0, [CodeBlock("change", action)]).moments
    assert (moment.before, moment.after) == ({"a.count": 0, "b.count": 0}, {"a.count": 5})


# -- names -------------------------------------------------------------------------------------------------------


def add(number: int) -> Callable[[World], None]:
    def action(world: World) -> None:
        vars(world.nodes["a"])["count"] += number

    return action


def named_twice(one: int, other: int) -> Scenario:
    blocks = [CodeBlock("add", add(one)), CodeBlock("add", add(other))]
    return Scenario(nodes={"a": Everything}, running=["a"], before=blocks)


def test_one_name_for_blocks_that_do_not_do_the_same_is_refused() -> None:
    with pytest.raises(UsageError) as caught:
        record(named_twice(1, 2), 0)
    assert (
        caught.value.message == "several functions of the scenario are called 'add', and they do not do the same"
    )
    assert caught.value.remedy == "give each a name of its own: in a recording there is nothing but the name"


def test_one_name_for_blocks_that_do_the_same_is_good() -> None:
    scenario = named_twice(1, 1)
    assert replay(record(scenario, 0), scenario).outcome is ReplayOutcome.SAME
