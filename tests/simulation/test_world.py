"""What one event does to a cluster."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from clew.errors import UsageError
from clew.simulation import (
    CodeBlock,
    Context,
    Heal,
    Node,
    Partition,
    Restart,
    Send,
    Start,
    Stop,
    World,
)
from clew.simulation.world import Happened


class Keeper(Node):
    """Keeps what it gets; a pair is a message for another one."""

    def on_start(self, ctx: Context) -> None:
        self.got: list[tuple[str, Any]] = []
        self.times: list[float] = []
        ctx.durable["lives"] = ctx.durable.get("lives", 0) + 1
        self.lives = ctx.durable["lives"]

    def on_message(self, ctx: Context, sender: str, message: Any) -> None:
        self.got.append((sender, message))
        self.times.append(ctx.now)
        ctx.log(f"got {message}")
        if isinstance(message, tuple):
            ctx.send(*message)

    def on_timer(self, ctx: Context, name: str) -> None:
        self.got.append(("timer", name))


def world(
    makers: Mapping[str, Callable[[], Node]] | None = None, *, running: tuple[str, ...] = ("a", "b"), **more: Any
) -> World:
    return World(makers or dict.fromkeys("abc", Keeper), fifo=True, running=running, **more)


def deliver_all(made: World) -> None:
    while made.pool.messages:
        made.deliver(made.pool.messages[0])


def history(made: World) -> list[Happened]:
    assert made.history is not None
    return made.history


def test_nodes_that_run_from_the_beginning_need_no_event() -> None:
    made = world()
    assert (sorted(made.nodes), made.events) == (["a", "b"], 0)


class Greeter(Keeper):
    """Greets all others when it starts."""

    def on_start(self, ctx: Context) -> None:
        super().on_start(ctx)
        for name in "ab":
            if name != ctx.me:
                ctx.send(name, f"from {ctx.me}")


def test_nodes_that_run_from_the_beginning_are_all_there_before_one_speaks() -> None:
    made = world(dict.fromkeys("ab", Greeter))
    deliver_all(made)
    assert {name: node.got for name, node in made.nodes.items() if isinstance(node, Keeper)} == {
        "a": [("b", "from b")],
        "b": [("a", "from a")],
    }


def test_only_durable_storage_survives_a_restart() -> None:
    made = world()
    made.inject(Send("a", 1))
    deliver_all(made)
    before = made.nodes["a"]
    made.inject(Restart("a"))
    after = made.nodes["a"]
    assert isinstance(after, Keeper) and after is not before
    assert (after.got, after.lives) == ([], 2)
    made.inject(Stop("a"))
    made.inject(Stop("a"))
    assert "a" not in made.nodes
    made.inject(Start("a"))
    made.inject(Start("a"))
    restarted = made.nodes["a"]
    assert isinstance(restarted, Keeper) and restarted.lives == 3


def test_durable_values_are_copied_both_ways() -> None:
    made = world()
    durable = made.processes["a"].durable
    value = [1]
    durable["x"] = value
    value.append(2)
    durable["x"].append(3)
    assert durable["x"] == [1]
    assert (sorted(durable), len(durable)) == (["lives", "x"], 2)
    del durable["x"]
    assert "x" not in durable


def test_a_message_is_isolated_when_it_is_sent() -> None:
    made = world()
    message = [1]
    made.inject(Send("a", message))
    message.append(2)
    deliver_all(made)
    node = made.nodes["a"]
    assert isinstance(node, Keeper) and node.got == [("", [1])]


def test_what_is_sent_to_a_node_that_is_down_is_lost() -> None:
    made = world(recording=True)
    made.inject(Send("a", ("c", "x")))
    deliver_all(made)
    assert [(e.target, e.payload) for e in history(made)[-1].lost] == [("c", "x")]
    made.inject(Start("c"))
    assert made.pool.messages == []


def test_what_is_on_its_way_to_a_node_that_stops_is_lost() -> None:
    made = world()
    made.inject(Send("a", 1))
    made.inject(Restart("a"))
    assert made.pool.messages == []


def test_logical_time_is_greater_than_that_of_every_cause() -> None:
    made = world()
    made.inject(Send("a", 0))
    made.inject(Send("a", ("b", "x")))
    deliver_all(made)
    a, b = made.nodes["a"], made.nodes["b"]
    assert isinstance(a, Keeper) and isinstance(b, Keeper)
    assert [a.times[:2], b.times[:1]] == [[1, 2], [3]]


def test_events_know_what_they_depend_on() -> None:
    made = world(recording=True)
    made.inject(Send("a", ("b", "x")))  # 0
    made.inject(Send("b", "y"))  # 1
    made.deliver(next(e for e in made.pool.messages if e.target == "b"))  # 2
    made.deliver(made.pool.messages[0])  # 3, at a, sends to b
    made.deliver(next(iter(made.pool.ready("a", "b"))))  # 4
    assert [(h.node, h.depends) for h in history(made)] == [
        ("", ()),
        ("", ()),
        ("b", (1,)),
        ("a", (0,)),
        ("b", (2, 3)),
    ]
    assert history(made)[4].remarks == ("got x",)


def test_losing_and_duplicating() -> None:
    made = world(recording=True)
    made.inject(Send("a", 1))
    made.duplicate(made.pool.messages[0])
    assert [e.nth for e in made.pool.ready("", "a")] == [1, 2]
    made.lose(made.pool.messages[0])
    assert [e.nth for e in made.pool.ready("", "a")] == [2]
    assert [h.fate for h in history(made)] == ["do", "duplicate", "lose"]


def test_partitions_hold_both_ways_or_one() -> None:
    made = world()
    made.inject(Partition("a", "b", one_way=True))
    assert (made.pool.is_held("a", "b"), made.pool.is_held("b", "a")) == (True, False)
    made.inject(Partition("a", "b"))
    assert made.pool.is_held("b", "a")
    made.inject(Heal("b", "a"))
    assert not (made.pool.is_held("a", "b") or made.pool.is_held("b", "a"))


def test_what_a_node_draws_is_its_own() -> None:
    drawn = [
        [world(seed=seed).processes[name].random.random() for seed, name in pairs]
        for pairs in ([(0, "a"), (0, "b"), (1, "a")], [(0, "a"), (0, "b"), (1, "a")])
    ]
    assert drawn[0] == drawn[1]
    assert len(set(drawn[0])) == 3


# -- mistakes ----------------------------------------------------------------------------------------------------


class Bad(Node):
    """Does what it is told, which is a mistake."""

    def on_message(self, ctx: Context, sender: str, message: Any) -> None:
        match message:
            case "raise":
                raise KeyError(object())
            case "exit":
                raise SystemExit(0)
            case "object":
                ctx.send("a", object())
            case "lambda":
                ctx.durable["f"] = lambda: None
            case "nobody":
                ctx.send("nobody", 1)


def told(message: str) -> World:
    made = world({"a": Bad}, running=("a",))
    made.inject(Send("a", message))
    deliver_all(made)
    return made


@pytest.mark.parametrize(
    ("message", "error"), [("raise", "KeyError: <object object at 0x...>"), ("exit", "SystemExit: 0")]
)
def test_an_exception_of_a_handler_is_a_finding(message: str, error: str) -> None:
    failure = told(message).failure
    assert failure is not None
    assert (failure.node, failure.error, failure.place) == ("a", error, "Bad.on_message")
    assert "in on_message" in failure.trace


@pytest.mark.parametrize(
    ("message", "says"),
    [
        ("object", "at a, in Bad.on_message: a object cannot be sent"),
        ("lambda", "at a, in Bad.on_message: a function cannot be sent"),
        ("nobody", "at a, in Bad.on_message: a sends to the unknown node 'nobody'"),
    ],
)
def test_what_a_scenario_must_not_do(message: str, says: str) -> None:
    with pytest.raises(UsageError) as caught:
        told(message)
    assert caught.value.message == says and caught.value.remedy
    assert caught.value.position is not None and caught.value.position.file == __file__


def explode(world: World) -> None:
    raise OSError("no")


@pytest.mark.parametrize(
    ("event", "says"),
    [
        (Start("d"), "unknown node 'd'"),
        (Send("d", 1), "the scenario sends to the unknown node 'd'"),
        (Partition("a", "d"), "unknown node 'd'"),
        (Heal("d", "a"), "unknown node 'd'"),
        (CodeBlock("boom", explode), "the code block 'boom' raised OSError: no"),
    ],
    ids=str,
)
def test_events_that_make_no_sense(event: Any, says: str) -> None:
    with pytest.raises(UsageError) as caught:
        world().inject(event)
    assert caught.value.message == says and caught.value.remedy


def test_a_node_that_cannot_be_made() -> None:
    class Needy(Node):
        def __init__(self, name: str) -> None:
            self.name = name

    with pytest.raises(UsageError, match="making the node 'a' raised TypeError"):
        world({"a": Needy}, running=("a",))  # type: ignore[dict-item]


# -- time --------------------------------------------------------------------------------------------------------


class Clock(Node):
    """Keeps all times of all its lives."""

    def on_start(self, ctx: Context) -> None:
        self._note(ctx)
        ctx.set_timer()

    def on_message(self, ctx: Context, sender: str, message: Any) -> None:
        self._note(ctx)

    def on_timer(self, ctx: Context, name: str) -> None:
        self._note(ctx)

    def _note(self, ctx: Context) -> None:
        ctx.durable["times"] = [*ctx.durable.get("times", []), ctx.now]


def test_time_goes_on_from_one_life_to_the_next() -> None:
    made = world({"a": Clock}, running=("a",))
    made.inject(Send("a", 1))
    made.deliver(made.pool.timers[0])
    made.deliver(made.pool.messages[0])
    made.inject(Restart("a"))
    made.deliver(made.pool.timers[0])
    made.inject(Stop("a"))
    made.inject(Start("a"))
    made.inject(CodeBlock("again", lambda world: world.inject(Restart("a"))))
    made.deliver(made.pool.timers[0])
    assert made.processes["a"].durable["times"] == [0, 1, 2, 3, 4, 5, 6, 7]


def test_the_numbers_of_what_a_node_sends_go_on_from_one_life_to_the_next() -> None:
    made = world({"a": Clock}, running=("a",))
    numbers = []
    for _ in range(3):
        numbers.append(made.pool.timers[0].nth)
        made.inject(Restart("a"))
    assert numbers == [1, 2, 3]


@pytest.mark.parametrize("name", [1, None, ("a",)])
def test_timers_are_named_by_strings(name: Any) -> None:
    with pytest.raises(UsageError) as caught:
        world().processes["a"].set_timer(name)
    assert (caught.value.message, caught.value.remedy) == (
        f"the name of a timer is {name!r}",
        "name timers by strings",
    )
