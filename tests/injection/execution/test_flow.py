"""On which events an event rests: what sent it, and what wrote the attributes that its handler read."""

from __future__ import annotations

from typing import Any

from clew.injection.execution.course import Course
from clew.injection.execution.run import InjectedRun
from clew.simulation import Context, Elapse, Node, Scenario, Send, Start, Stop, VirtualTime
from clew.simulation.pool import Envelope


class Notebook(Node):
    """Does what it is told with its attributes."""

    def on_start(self, ctx: Context) -> None:
        self.a: list[int] = []
        self.b = 0
        self.c = 0

    def on_message(self, ctx: Context, sender: str, message: str) -> None:
        match message:
            case "append a":
                self.a.append(1)
            case "append nothing to a":
                self.a.extend([])
            case "set b":
                self.b = 5
            case "b to c":
                self.c = self.b
            case "store b":
                ctx.durable["b"] = self.b
            case "load b":
                self.b = ctx.durable.get("b", 0)
            case "look":
                pass


class Slots(Node):
    """Of which nothing can be seen: it is made of a class whose objects cannot change theirs."""

    def __init__(self) -> None:
        self.value = 0

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "__class__":
            raise TypeError(name)
        object.__setattr__(self, name, value)

    def on_message(self, ctx: Context, sender: str, message: str) -> None:
        self.value += 1


def traced(*told: str, maker: Any = Notebook, **fields: Any) -> Course:
    given: dict[str, Any] = {
        "nodes": {"n": maker},
        "running": ("n",),
        "before": [Send("n", text) for text in told],
        "time": VirtualTime(latency=0.01, until=1),
    }
    return InjectedRun(Scenario(**{**given, **fields}), tracing=True).finish()


def rests_on(*told: str) -> list[tuple[int, ...]]:
    """Return on which of the deliveries each delivery rests, numbered from 0."""
    course = traced(*told)
    assert course.flow is not None
    return [tuple(each - len(told) for each in rests) for rests in course.flow.rests_on[len(told) :]]


def test_an_event_rests_on_what_wrote_what_it_reads() -> None:
    assert rests_on("set b", "append a", "b to c") == [(), (), (0,)]


def test_the_last_one_that_wrote_it_counts() -> None:
    assert rests_on("append a", "append a", "append a") == [(), (0,), (1,)]


def test_to_say_the_same_again_is_to_write_it_and_to_add_nothing_is_not() -> None:
    assert rests_on("set b", "set b", "b to c") == [(), (), (1,)]
    assert rests_on("append a", "append nothing to a", "append a") == [(), (0,), (0,)]


def test_storage_is_one_attribute() -> None:
    assert rests_on("set b", "store b", "look", "load b", "b to c") == [(), (0,), (), (1,), (3,)]


def test_a_new_life_has_nothing_of_the_old_one_but_storage() -> None:
    told = [Send("n", "set b"), Send("n", "store b"), Elapse(0.5), Stop("n"), Start("n"), Send("n", "load b")]
    course = traced(before=told)
    assert course.flow is not None
    texts = [
        str(o.what.payload) if isinstance(o.what, Envelope) else type(o.what).__name__ for o in course.occurrences
    ]
    assert texts == ["Send", "Send", "set b", "store b", "Stop", "Start", "Send", "load b"]
    assert course.flow.rests_on[7] == (3,)  # on what stored it
    assert course.flow.last == {("n", "ctx.durable"): 3, ("n", "a"): 5, ("n", "b"): 7, ("n", "c"): 5}


def test_a_node_that_cannot_be_seen_into_reads_all_that_it_has() -> None:
    course = traced("x", "x", "x", maker=Slots)
    assert course.flow is not None
    assert course.flow.rests_on[3:] == [(), (3,), (4,)]
