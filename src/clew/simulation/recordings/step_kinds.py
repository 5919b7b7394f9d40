"""The kinds of steps of a recording: the fields that each has, and the step that they make with a scenario."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from clew.errors import UsageError
from clew.files.json_document import Item
from clew.simulation.events import Elapse, Heal, Partition, Restart, Send, Start, Stop, WaitQuiescence
from clew.simulation.execution.steps import Act, Do, Ended, Step
from clew.simulation.loading import LoadedScenario
from clew.simulation.pool import OUTSIDE
from clew.simulation.recordings.recording import QUIESCENCE
from clew.simulation.timing import check_seconds
from clew.simulation.values import from_json

#: Beyond any number of messages in a document: one with as many steps is larger than any that is read.
MOST_SENT = 10**9


class KnownNames:
    """What the steps of a recording can refer to."""

    def __init__(self, loaded: LoadedScenario) -> None:
        self.nodes = tuple(loaded.scenario.nodes)
        self.types = loaded.types
        self.conditions = loaded.scenario.conditions_by_name()
        self.code = loaded.scenario.blocks_by_name()

    def node(self, item: Item) -> str:
        if item.value not in self.nodes:
            item.refuse(f"the name of a node: {', '.join(self.nodes)}")
        return str(item.value)


Parts = Mapping[str, Item]


def _send(parts: Parts, known: KnownNames) -> Step:
    return Send(known.node(parts["send"]), from_json(parts["message"], known.types))


def _partition(parts: Parts, known: KnownNames) -> Step:
    source, target = (known.node(node) for node in parts["partition"].parts("node", "node"))
    if "one_way" in parts and parts["one_way"].value is not True:
        parts["one_way"].refuse("true, or no such field")
    return Partition(source, target, "one_way" in parts)


def _heal(parts: Parts, known: KnownNames) -> Step:
    if parts["heal"].value == []:
        return Heal()
    source, target = (known.node(node) for node in parts["heal"].parts("node", "node"))
    return Heal(source, target)


def _wait(parts: Parts, known: KnownNames) -> Step:
    parts["wait"].one_of([QUIESCENCE])
    return WaitQuiescence()


def _wait_for(parts: Parts, known: KnownNames) -> Step:
    return known.conditions[parts["wait_for"].one_of(known.conditions)]


def _elapse(parts: Parts, known: KnownNames) -> Step:
    return Elapse(read_seconds(parts["elapse"]))


def read_seconds(item: Item) -> float:
    """Return seconds of virtual time."""
    try:
        return check_seconds("a time", item.value)
    except UsageError:
        item.refuse("seconds, a number that is at least 0")


def _end(parts: Parts, known: KnownNames) -> Step:
    if parts["end"].value is not True:
        parts["end"].refuse("true")
    return Ended()


def _code(parts: Parts, known: KnownNames) -> Step:
    return known.code[parts["code"].one_of(known.code)]


def _timer(parts: Parts, known: KnownNames) -> Step:
    node, nth = parts["timer"].parts("node", "number")
    name, at = parts["name"].text("the name of a timer"), known.node(node)
    return Act(Do.DELIVER, at, nth.number(1, MOST_SENT), at, True, name, name)


def _message(do: Do) -> Callable[[Parts, KnownNames], Step]:
    def make(parts: Parts, known: KnownNames) -> Step:
        source, nth = parts[do.value].parts("node", "number")
        sender = OUTSIDE if source.value == OUTSIDE else known.node(source)
        kind = parts["message"].text("the type of a message")
        mark = parts["fingerprint"].text() if "fingerprint" in parts else kind
        return Act(do, sender, nth.number(1, MOST_SENT), known.node(parts["to"]), False, kind, mark)

    return make


class StepKind(NamedTuple):
    """A kind of step: the fields it needs and those it may have besides its own, and the step that they make."""

    make: Callable[[Parts, KnownNames], Step]
    needed: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    waits: bool = False


#: The kinds of steps by the field that tells them apart.
STEP_KINDS = {
    "start": StepKind(lambda parts, known: Start(known.node(parts["start"]))),
    "stop": StepKind(lambda parts, known: Stop(known.node(parts["stop"]))),
    "restart": StepKind(lambda parts, known: Restart(known.node(parts["restart"]))),
    "send": StepKind(_send, ("message",)),
    "partition": StepKind(_partition, (), ("one_way",)),
    "heal": StepKind(_heal),
    "wait": StepKind(_wait, waits=True),
    "wait_for": StepKind(_wait_for, (), ("held_after",), waits=True),
    "elapse": StepKind(_elapse, waits=True),
    "code": StepKind(_code),
    "end": StepKind(_end, waits=True),
    "timer": StepKind(_timer, ("name",)),
    **{do.value: StepKind(_message(do), ("to", "message"), ("fingerprint",)) for do in Do},
}
