"""How a scenario that is a coroutine function is executed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar

from clew.errors import UsageError
from clew.names import nearest_name
from clew.simulation.injectable import Faults
from clew.simulation.scenario import DEFAULT_EXPECT_RUNS, Invariant

F = TypeVar("F", bound=Callable[..., Any])

#: The attribute of a function that has settings of its own.
SETTINGS = "clew_aio_settings"
#: The attribute of what stands for a scenario, such as a test: the coroutine function itself.
FUNCTION = "clew_scenario_function"
#: What a scenario is called where it stands beside its hosts.
CLIENT = "client"
#: The time of day at which executions begin: 2001-09-09 01:46:40 UTC, the same for all.
EPOCH = 1_000_000_000.0
#: How long a host has been up when its program begins: to many libraries a monotonic time near 0 means "never".
UPTIME = 1000.0


UNITS = ("connection", "request", "segment")
LINEAGES = ("tasks", "hosts")
DISKS = ("kept", "torn")
LOST = ("silent", "reset")


@dataclass(frozen=True, kw_only=True)
class Settings:
    """``latency``, ``links``, ``drift``: see ``VirtualTime``.  ``until``: by then the scenario has to return.

    ``loss``, ``duplication``: how likely a packet is lost or arrives twice in random executions. ``faults``:
    what ``clew check`` may do to it. ``segment``: the most bytes that travel in one piece. ``steps``: so many
    events are an execution at most. ``step_seconds``: no event takes longer, in real time. ``client``: what the
    scenario itself is called. ``decoder``: says what packets are called. ``unit``: what a fault hits of a
    stream: a "connection", a "request" (and its answer), or a "segment". ``lost``: what the two sides of a
    connection notice of a loss: nothing ("silent": it is sent again, unless that is lost, too), or, with
    "reset", that the connection is refused or reset. ``lineage``: what events of a host rest on: its "tasks"
    and the state that they share, or, with "hosts", everything before at the same host. ``disk``: whether what
    was written and not synced is "kept" by a crash, or "torn". ``invariants``: functions that look at what
    hosts expose, after each event, as those of ``clew.Scenario``. ``hosts``: the names of the hosts, if they
    are known; else it is executed once to find out. ``expect``, ``expect_faults``, ``expect_runs``,
    ``expect_seed``: what ``clew test`` has to find."""

    latency: float | tuple[float, float] = 0.01
    links: Mapping[tuple[str, str], float | tuple[float, float]] = field(default_factory=dict)
    drift: float = 0.0
    until: float = 3600.0
    loss: float = 0.0
    duplication: float = 0.0
    faults: Faults | None = None
    segment: int = 64 * 1024
    steps: int = 100_000
    step_seconds: float = 10.0
    client: str = CLIENT
    decoder: Any = None
    unit: str = "request"
    lineage: str = "tasks"
    disk: str = "kept"
    lost: str = "silent"
    invariants: Sequence[Invariant] = ()
    expect: str | None = None
    expect_faults: int | None = None
    hosts: Sequence[str] = ()
    expect_runs: int = DEFAULT_EXPECT_RUNS
    expect_seed: int = 0

    def __post_init__(self) -> None:
        for name, known in (("unit", UNITS), ("lineage", LINEAGES), ("disk", DISKS), ("lost", LOST)):
            value = getattr(self, name)
            if value not in known:
                raise UsageError(f"{name} is {value!r}", remedy=f"give one of {', '.join(map(repr, known))}")
        if not isinstance(self.segment, int) or self.segment < 1:
            raise UsageError(f"segment is {self.segment!r}", remedy="give a number of bytes, at least 1")


def scenario(**options: Any) -> Callable[[F], F]:
    """Give a scenario settings: those of ``Settings``, and of ``Faults`` what ``clew check`` may do to it.

    @clew.aio.scenario(losses=2, crashes=1, until=60)
    async def scenario(world): ...
    """
    settings = read_settings(options)

    def decorate(function: F) -> F:
        setattr(function, SETTINGS, settings)
        return function

    return decorate


def read_settings(options: Mapping[str, Any]) -> Settings:
    """Return settings of options, with the faults among them; ``faults`` alone is how many in all."""
    known = {each.name for each in fields(Settings)}
    of_faults = {"faults_until": "until", "faults": "total"} | {
        each.name: each.name for each in fields(Faults) if each.name not in ("until", "total")
    }
    for name in options:
        if name not in known and name not in of_faults:
            nearest = nearest_name(name, [*known, *of_faults])
            remedy = (
                f"did you mean {nearest}?" if nearest else f"there are {', '.join(sorted({*known, *of_faults}))}"
            )
            raise UsageError(f"'{name}' is no setting of a scenario", remedy=remedy)
    chosen = {of_faults[name]: value for name, value in options.items() if name in of_faults}
    if isinstance(given := chosen.get("total"), Faults):
        return Settings(
            **{name: value for name, value in options.items() if name in known and name != "faults"}, faults=given
        )
    others = {name: value for name, value in options.items() if name in known and name not in of_faults}
    return Settings(**others, faults=Faults(**chosen) if chosen else None)
