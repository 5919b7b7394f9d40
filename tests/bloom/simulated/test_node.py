"""What an event does to a simulated node that runs Bloom: what is kept, lost, sent, and left for later."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from bloom.simulated_programs import Acknowledging, Countdown, Echo, Hearing, Log, Ticking, Together, at, rows
from clew.bloom import Bloom, bloom, channel, imported, table
from clew.bloom.simulated import BloomNode, bloom_node, bloom_scenario, insert
from clew.bloom.simulated.messages import NextStep, message_type
from clew.errors import ClewError
from clew.simulation import Restart, Send, Start, Stop, VirtualTime, World
from clew.simulation.execution.effects import state_of
from clew.simulation.pool import Envelope
from clew.simulation.timing import Clock


def world_of(seed: int = 0, *, time: VirtualTime | None = None, **nodes: Any) -> World:
    """Make a world in which these nodes are up; nothing has happened to them but their first step."""
    clock = None if time is None else Clock(time, seed)
    return World(nodes, fifo=True, seed=seed, running=tuple(nodes), recording=True, clock=clock)


def deliver(world: World, kind: str, target: str) -> Envelope:
    """Deliver the oldest message of a type to a node."""
    found = min((e for e in world.pool.messages if (e.kind, e.target) == (kind, target)), key=lambda e: e.nth)
    world.deliver(found)
    return found


def under_way(world: World) -> list[tuple[str, str, str]]:
    return sorted((e.source, e.target, e.kind) for e in world.pool if not e.timer)


# -- messages ----------------------------------------------------------------------------------------------------


def test_a_row_from_outside_is_a_step_and_what_it_sends_are_messages() -> None:
    world = world_of(a=bloom_node(Log, {"peer": [("b",)]}), b=bloom_node(Log))
    world.inject(insert("a", "tell", ("x",)))
    assert under_way(world) == [("", "a", "tell")]
    assert rows(at(world, "a").log) == []
    deliver(world, "tell", "a")
    assert rows(at(world, "a").log) == [("x",)]
    assert under_way(world) == [("a", "b", "said")]
    (sent,) = world.pool.messages
    assert (sent.payload.row, sent.payload.label) == (("b", "x"), "said(b, x)")
    deliver(world, "said", "b")
    assert rows(at(world, "b").log) == [("x",)]
    assert under_way(world) == []


def test_what_is_seen_is_the_state_after_the_latest_step() -> None:
    world = world_of(a=bloom_node(Log))
    for what in ("x", "y"):
        world.inject(insert("a", "tell", (what,)))
        deliver(world, "tell", "a")
    node: Any = world.nodes["a"]
    assert (rows(node.latest), rows(node.log)) == ([("y",)], [("x",), ("y",)])
    assert [row.what for row in node.log] == ["x", "y"]
    assert node.log.row("x").what == "x"
    assert node.log.row("z") is None
    assert node["log"] is node.log
    with pytest.raises(AttributeError, match=r"no collection .said. that"):
        _ = node.said


def test_a_row_that_comes_twice_changes_nothing_the_second_time() -> None:
    world = world_of(a=bloom_node(Acknowledging), b=bloom_node(Hearing))
    for _ in range(2):
        world.inject(insert("a", "put", ("a", "b", "x")))
    assert len(world.pool.messages) == 2
    deliver(world, "put", "a")
    deliver(world, "NextStep", "a")
    before = state_of(world.nodes["a"])
    deliver(world, "put", "a")
    assert under_way(world) == [("a", "b", "done")] * 2
    assert state_of(world.nodes["a"])["stored"] == before["stored"] == {"$tuple": [{"$tuple": ["x"]}]}


def test_what_no_node_knows_is_the_mistake_of_the_scenario() -> None:
    for event, says in [
        (insert("a", "tel", ("x",)), "rows are given to 'tel', which is no collection of Log"),
        (Send("a", "tell"), "a str is sent to a, which runs Log"),
    ]:
        world = world_of(a=bloom_node(Log))
        world.inject(event)
        with pytest.raises(ClewError, match=says):
            world.deliver(world.pool.messages[0])


class Stranger(Bloom):
    """Sends what others do not know, or what does not fit."""

    peer = table("address")
    unknown = channel("@to", "what")
    said = channel("@to", "what", "more")

    @bloom
    def speak(self) -> None:
        self.unknown <~ self.peer(lambda p: (p.address, "?"))
        self.said <~ self.peer(lambda p: (p.address, "x", "y"))


def test_what_others_send_wrongly_is_dropped_with_a_remark() -> None:
    world = world_of(a=bloom_node(Stranger, {"peer": [("b",)]}), b=bloom_node(Log))
    deliver(world, "unknown", "b")
    deliver(world, "said", "b")
    assert world.history is not None
    assert [event.remarks for event in world.history] == [
        ("dropped: Log has no channel for unknown(row=('b', '?'))",),
        (
            "refused: said (from outside): a row with 3 columns where 2 are expected: ('b', 'x', 'y')",
        ),
    ]
    assert rows(at(world, "b").log) == []
    assert world.failure is None


def test_an_address_that_is_no_node_is_refused() -> None:
    world = world_of(a=bloom_node(Log, {"peer": [("q",)]}))
    world.inject(insert("a", "tell", ("x",)))
    with pytest.raises(ClewError, match="a sends to the unknown node 'q'"):
        deliver(world, "tell", "a")


# -- what is left for the next step ------------------------------------------------------------------------------


def test_pending_work_is_done_in_steps_of_its_own_and_others_may_come_between() -> None:
    world = world_of(a=bloom_node(Countdown), b=bloom_node(Log))
    world.inject(insert("a", "begin", (3,)))
    world.inject(insert("a", "begin", (7,)))
    deliver(world, "begin", "a")
    node: Any = world.nodes["a"]
    assert rows(node.left) == [(3,)]
    assert under_way(world) == [("", "a", "begin"), ("a", "a", "NextStep")]
    deliver(world, "NextStep", "a")
    assert rows(node.left) == [(2,)]
    # A row that arrives takes what is left along; the message that was to go on finds the rest.
    deliver(world, "begin", "a")
    assert rows(node.left) == [(1,), (7,)]
    deliver(world, "NextStep", "a")
    assert rows(node.left) == [(0,), (6,)]
    assert under_way(world) == [("a", "a", "NextStep"), ("a", "b", "done")]
    while any(e.kind == "NextStep" for e in world.pool.messages):
        deliver(world, "NextStep", "a")
    assert rows(node.seen) == [(number,) for number in range(8)]
    assert under_way(world) == [("a", "b", "done")] * 2


def test_it_goes_on_at_the_same_instant_unless_the_link_to_itself_takes_time() -> None:
    ended = {}
    for seconds, links in ((0.0, {}), (0.25, {("a", "a"): 0.25})):
        world = world_of(time=VirtualTime(latency=1, links=links), a=bloom_node(Countdown), b=bloom_node(Log))
        world.inject(insert("a", "begin", (3,)))
        while world.pool.messages and world.pool.messages[0].target == "a":
            world.deliver(world.pool.messages[0])
        ended[seconds] = world.ticks
    assert ended == {0.0: 1_000_000, 0.25: 1_750_000}


def test_a_node_that_talks_to_itself_needs_no_network() -> None:
    world = world_of(a=bloom_node(Echo))
    world.inject(insert("a", "begin", ("x",)))
    deliver(world, "begin", "a")
    while world.pool.messages:
        assert under_way(world) == [("a", "a", "NextStep")]
        deliver(world, "NextStep", "a")
    assert rows(at(world, "a").heard) == [("channel", "x"), ("loopback", "x")]
    assert world.history is not None
    assert [event.remarks for event in world.history if event.remarks] == [("again x",)]


# -- restarts ----------------------------------------------------------------------------------------------------


def test_a_message_that_rests_on_the_next_step_leaves_when_that_is_on_disk() -> None:
    world = world_of(a=bloom_node(Acknowledging), b=bloom_node(Hearing))
    world.inject(insert("a", "put", ("a", "b", "x")))
    deliver(world, "put", "a")
    assert under_way(world) == [("a", "a", "NextStep")], "what it acknowledges is not on disk yet"
    deliver(world, "NextStep", "a")
    assert under_way(world) == [("a", "b", "done")]
    storage = world.storage_of("a")
    assert storage is not None
    assert dict(storage) == {"stored": (("x",),)}


def test_a_restart_between_two_steps_loses_the_row_and_its_acknowledgement() -> None:
    world = world_of(a=bloom_node(Acknowledging), b=bloom_node(Hearing))
    world.inject(insert("a", "put", ("a", "b", "x")))
    deliver(world, "put", "a")
    world.inject(Restart("a"))
    assert under_way(world) == []
    assert (rows(at(world, "a").stored), rows(at(world, "a").forgotten)) == ([], [])


def test_a_restart_keeps_durable_tables_and_nothing_else() -> None:
    world = world_of(a=bloom_node(Acknowledging), b=bloom_node(Hearing))
    world.inject(insert("a", "put", ("a", "b", "x")))
    deliver(world, "put", "a")
    deliver(world, "NextStep", "a")
    world.inject(Stop("a"))
    world.inject(Start("a"))
    assert (rows(at(world, "a").stored), rows(at(world, "a").forgotten)) == ([("x",)], [])


class Dropping(Bloom):
    """A durable table from which rows go."""

    put = channel("@to", "what")
    drop = channel("@to", "what")
    kept = table("what", durable=True)

    @bloom
    def change(self) -> None:
        self.kept <= self.put.payloads()
        self.kept <- self.drop.payloads()


def test_a_durable_row_that_was_deleted_does_not_come_back() -> None:
    world = world_of(a=bloom_node(Dropping))
    for event in (insert("a", "put", ("a", "x")), insert("a", "put", ("a", "y")), insert("a", "drop", ("a", "x"))):
        world.inject(event)
        world.deliver(world.pool.messages[0])
    deliver(world, "NextStep", "a")
    assert rows(at(world, "a").kept) == [("y",)]
    world.inject(Restart("a"))
    assert rows(at(world, "a").kept) == [("y",)]


def test_what_a_node_is_given_it_is_given_in_each_of_its_lives() -> None:
    world = world_of(a=bloom_node(Log, {"peer": [("a",), ("b",)]}), b=bloom_node(Log))
    world.inject(Restart("a"))
    assert rows(at(world, "a").peer) == [("a",), ("b",)]


# -- timers ------------------------------------------------------------------------------------------------------


def test_timers_go_off_by_the_clock_of_their_node_and_number_their_rows() -> None:
    time = VirtualTime(latency=0.01, clocks={"a": 2.0})
    world = world_of(time=time, a=bloom_node(Ticking))
    pool: Any = world.pool
    for _ in range(5):
        world.deliver(pool.first())
    assert rows(at(world, "a").ticks) == [
        ("quick", 1, 0.5),
        ("quick", 2, 1.0),
        ("quick", 3, 1.5),
        ("quick", 4, 2.0),
        ("slow", 1, 2.0),
    ]
    assert world.ticks == 1_000_000, "its clock is twice too fast"


def test_timers_are_always_set_and_begin_anew_with_each_life() -> None:
    world = world_of(a=bloom_node(Ticking))
    for _ in range(3):
        assert sorted(e.kind for e in world.pool.timers) == ["quick", "slow"]
        world.deliver(next(e for e in world.pool.timers if e.kind == "quick"))
    assert [row.number for row in at(world, "a").ticks] == [1, 2, 3]
    world.inject(Restart("a"))
    world.deliver(next(e for e in world.pool.timers if e.kind == "quick"))
    assert [row.number for row in at(world, "a").ticks] == [1]


# -- batches -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("batches", "kept"), [(False, [({"x"},), ({"y"},)]), (True, [({"x", "y"},)])], ids=["alone", "together"]
)
def test_rows_come_alone_or_together(batches: bool, kept: list[Any]) -> None:
    world = world_of(a=bloom_node(Together, batches=batches))
    for text in ("x", "y"):
        world.inject(insert("a", "word", ("a", text)))
    for _ in range(2):
        deliver(world, "word", "a")
    if batches:
        assert rows(at(world, "a").batches) == []
        assert under_way(world) == [("a", "a", "NextStep")]
        deliver(world, "NextStep", "a")
    assert rows(at(world, "a").batches) == kept
    assert under_way(world) == []


def test_the_same_row_twice_in_one_step_is_one_row() -> None:
    world = world_of(a=bloom_node(Together, batches=True))
    for _ in range(2):
        world.inject(insert("a", "word", ("a", "x")))
        deliver(world, "word", "a")
    deliver(world, "NextStep", "a")
    assert rows(at(world, "a").batches) == [({"x"},)]


# -- states ------------------------------------------------------------------------------------------------------


def test_nodes_with_equal_rows_are_equal_however_they_came_to_them() -> None:
    states = []
    for order in ("xyz", "zyx", "yxzx"):
        world = world_of(a=bloom_node(Hearing))
        for what in order:
            world.inject(insert("a", "done", ("a", what)))
            deliver(world, "done", "a")
            while world.pool.messages:
                deliver(world, "NextStep", "a")
        states.append(state_of(world.nodes["a"]))
    assert states[0]["heard"] == {"$tuple": [{"$tuple": [what]} for what in "xyz"]}
    assert states[0] == states[1] == states[2]


def test_what_waits_for_the_next_step_is_part_of_the_state() -> None:
    worlds = [world_of(a=bloom_node(Acknowledging), b=bloom_node(Hearing)) for _ in range(2)]
    for world, what in zip(worlds, "xy", strict=True):
        world.inject(insert("a", "put", ("a", "b", what)))
        deliver(world, "put", "a")
    first, second = (state_of(world.nodes["a"]) for world in worlds)
    assert [name for name in first if first[name] != second[name]] == ["(held back)", "(next step)", "forgotten"]


def test_a_copy_stays_as_it_was() -> None:
    world = world_of(a=bloom_node(Log))
    world.inject(insert("a", "tell", ("x",)))
    before = copy.deepcopy(world.nodes["a"])
    deliver(world, "tell", "a")
    assert isinstance(before, BloomNode)
    assert (rows(before["log"]), rows(at(world, "a").log)) == ([], [("x",)])
    assert state_of(copy.deepcopy(world.nodes["a"])) == state_of(world.nodes["a"])


class Outer(Bloom):
    inner = imported(Log)


def test_collections_of_imported_modules_have_their_names() -> None:
    world = world_of(a=bloom_node(Outer))
    world.inject(insert("a", "inner.tell", ("x",)))
    deliver(world, "inner.tell", "a")
    node: Any = world.nodes["a"]
    assert rows(node.inner.log) == rows(node["inner.log"]) == [("x",)]


def test_a_collection_with_the_name_of_a_handler_is_refused() -> None:
    made = type("Odd", (Bloom,), {"on_start": table("x")})
    with pytest.raises(ClewError, match="the collection 'on_start' has the name of a handler"):
        world_of(a=bloom_node(made))


# -- messages have names -----------------------------------------------------------------------------------------


def test_each_collection_has_one_type_of_messages() -> None:
    assert message_type("said") is message_type("said")
    assert message_type("said") is not message_type("done")
    assert (message_type("said").__qualname__, NextStep.__qualname__) == ("said", "NextStep")
    assert message_type("said")(("a",)) != message_type("done")(("a",))


def test_a_scenario_runs_all_its_nodes() -> None:
    scenario = bloom_scenario({"a": Log, "b": Log}, before=[insert("a", "tell", ("x",))])
    assert tuple(scenario.running) == ("a", "b")
    assert [kind.__qualname__ for kind in scenario.messages] == ["peer", "tell", "said", "log", "latest"]
