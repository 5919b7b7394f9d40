"""The smallest execution known for each bug: what the minimizer is measured against.

They are written down here and executed whenever they are needed, so that their sizes are never a mere claim.
Those of Raft were made by hand, those of Spark found by a breadth-first search over all schedules with the same
events from outside; ``python -m benchmarks.best_known`` searches for smaller ones.

An execution is written as events between commas:

    start a b            processes that start
    restart a            a crash with recovery
    Bootstrap >a >b      messages from outside, each sent and delivered at once
    election a           a timer
    Vote b>a c>a         deliveries from one node to another, the oldest of that kind
    Vote b>a#2           the second oldest (in a network that reorders)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from clew.simulation.events import Restart, Send, Start
from clew.simulation.execution.steps import Size
from clew.simulation.loading import LoadedScenario
from clew.simulation.pool import Envelope
from clew.simulation.world import External, World

#: Makes the messages from outside, by kind, from the types that a scenario's file defines.
Messages = Callable[[Mapping[str, type]], Mapping[str, Any]]

BY_HAND = "by hand"
BREADTH_FIRST = "by breadth-first search"
BY_DESIGN = "by design"


@dataclass(frozen=True)
class Smallest:
    """``how`` it was found."""

    schedule: str
    messages: Messages
    how: str


def size_of(smallest: Smallest, loaded: LoadedScenario) -> Size:
    """Execute it: its size, if the violation comes with the last delivery and not before."""
    scenario = loaded.scenario
    world = scenario.world()
    deliveries = externals = 0
    for event, happens in _events(smallest, loaded, world):
        if scenario.look(world) is not None:
            raise ValueError(f"{loaded.name}: the invariant breaks already before '{event}'")
        if isinstance(happens, Envelope):
            world.deliver(happens)
            deliveries += 1
            externals += not happens.source
        else:
            world.inject(happens)
            externals += 1
    if scenario.look(world) is None:
        raise ValueError(f"{loaded.name}: no invariant breaks")
    return Size(deliveries, externals)


def _events(smallest: Smallest, loaded: LoadedScenario, world: World) -> Iterator[tuple[str, Envelope | External]]:
    """What is delivered, or happens from outside, one after the other."""
    messages = smallest.messages(loaded.types)
    for event in map(str.strip, smallest.schedule.split(",")):
        kind, *places = _words(event)
        for place in places:
            if kind in ("start", "restart"):
                yield event, Start(place) if kind == "start" else Restart(place)
                continue
            envelope = _meant(kind, place, messages, world)
            if envelope is None:
                raise ValueError(f"{loaded.name}: nothing like '{kind} {place}' is on its way")
            yield event, envelope


def _words(event: str) -> list[str]:
    """The kind, which may be of several words, and the places."""
    words = event.split()
    first = next((k for k, word in enumerate(words) if ">" in word), len(words) - 1)
    if words[0] in ("start", "restart"):
        first = 1
    return [" ".join(words[:first]), *words[first:]]


def _meant(kind: str, place: str, messages: Mapping[str, Any], world: World) -> Envelope | None:
    if ">" not in place:
        return world.pool.timer(place, kind)
    link, _, rank = place.partition("#")
    source, target = link.split(">")
    if not source:
        world.inject(Send(target, messages[kind]))
    alike = [e for e in world.pool.ready(source, target) if e.kind == kind]
    number = int(rank or 1) - 1
    return alike[number] if number < len(alike) else None


def _raft(members: str) -> Messages:
    return lambda types: {
        "Bootstrap": types["Bootstrap"](frozenset(members)),
        "ClientCommand": types["ClientCommand"]("x"),
    }


def _spark(*jobs: tuple[Mapping[str, Any], ...]) -> Messages:
    """A driver with these jobs, each of tasks."""

    def make(types: Mapping[str, type]) -> Mapping[str, Any]:
        tasks = tuple(tuple(types["Task"](**task) for task in job) for job in jobs)
        return {"SubmitDriver": types["SubmitDriver"]("pi", tasks)}

    return make


_THREE = "start a b c, Bootstrap >a >b >c, "
_A_LEADS = "election a, RequestVote a>b, Vote b>a, "
_B_LEADS = "election b, RequestVote b>c, Vote c>b"
_DRIVER = (
    "RegisterWorker worker1>master, SubmitDriver >master, RegisteredWorker master>worker1, "
    "LaunchDriver master>worker1, StartDriver worker1>driver1, "
)

#: By the name of the scenario.  In all but the first a cluster of fewer than four nodes is enough.
SMALLEST = {
    "raft45": Smallest(
        "start a b c d, Bootstrap >a >b >c >d, election a, retry a, RequestVote a>c a>c, Vote c>a c>a, "
        "election b, retry b, RequestVote b>d b>d, Vote d>b d>b",
        _raft("abcd"),
        BY_HAND,
    ),
    "raft46": Smallest(
        _THREE + "election a, RequestVote a>b, election a, Vote b>a, " + _B_LEADS, _raft("abc"), BY_HAND
    ),
    "raft56": Smallest(  # c starts late: of the first term it must not hear
        "start a b, Bootstrap >a >b, election a, RequestVote a>b, start c, Bootstrap >c, election b, election a, "
        "election c, RequestVote a>c b>c c>a c>b, Vote c>a c>b",
        _raft("abc"),
        BY_HAND,
    ),
    "raft58a": Smallest(
        "start a, Bootstrap >a, election a, ClientCommand >a, TakeOffice a>a", _raft("a"), BY_HAND
    ),
    "raft58b": Smallest(
        _THREE + _A_LEADS + "AppendEntries a>b, " + _B_LEADS + ", AppendEntries b>c, retry b, AppendEntries b>c",
        _raft("abc"),
        BY_HAND,
    ),
    "raft42": Smallest(
        _THREE + _A_LEADS + "ClientCommand >a, AppendEntries a>b, AppendReply b>a, " + _B_LEADS,
        _raft("abc"),
        BY_HAND,
    ),
    "raft66": Smallest(
        _THREE
        + _A_LEADS
        + "ClientCommand >a, AppendEntries a>b#2, AppendReply b>a, AppendEntries a>b, "
        + _B_LEADS,
        _raft("abc"),
        BY_HAND,
    ),
    "spark2294": Smallest(
        _DRIVER + "DriverStarted driver1>worker1, RegisterApplication driver1>master, "
        "LaunchExecutor master>worker1, RegisterExecutor worker1>driver1, LaunchTask driver1>worker1, "
        "StatusUpdate worker1>driver1, core 0 worker1, StatusUpdate worker1>driver1",
        _spark(({},), ({"cached": 0}, {"file_at": "worker1"}, {})),
        BREADTH_FIRST,
    ),
    "spark3150": Smallest(
        _DRIVER + "restart driver1, DriverStarted driver1>worker1, DriverExited driver1>worker1, "
        "DriverStateChanged worker1>master, restart master, MasterChanged master>worker1, "
        "WorkerState worker1>master",
        _spark(({},)),
        BREADTH_FIRST,
    ),
    "spark9256": Smallest(
        _DRIVER + "RegisterApplication driver1>master, register driver1, RegisterApplication driver1>master",
        _spark(({},)),
        BREADTH_FIRST,
    ),
    # The small systems of ``systems``, whose docstrings say why nothing is smaller.
    "early": Smallest(
        "Order >shop, Reserve shop>warehouse, Reserved warehouse>shop",
        lambda types: {"Order": types["Order"](1, (types["Line"]("p", ()), types["Line"]("p", ())))},
        BY_DESIGN,
    ),
    "doubling": Smallest(
        "Deposit >account, restart account", lambda types: {"Deposit": types["Deposit"](60)}, BY_DESIGN
    ),
    "even": Smallest(
        "start n1 n2, Members >n1 >n2, Write >n1, Copy n1>n2, Copied n2>n1",
        lambda types: {"Members": types["Members"](("n1", "n2", "n3", "n4")), "Write": types["Write"](1)},
        BY_DESIGN,
    ),
}
