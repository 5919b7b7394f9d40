"""Executions for the tests of what is exported of them, by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import clew
from clew.report.export.choice import Choice
from clew.report.export.events import Trace
from clew.report.export.of_code import trace_of_run
from clew.report.export.of_model import model_run_of, trace_of_model
from clew.report.export.results import trace_of_result
from clew.simulation import Scenario, Send
from clew.simulation.execution.steps import At, Step
from clew.simulation.execution.trace import Execution, execute
from clew.simulation.timing import VirtualTime
from command import ROOT
from simulated import Go, Player, act, crash, drawn, eager, everything, hostile, turned

KAFKA = (
    str(ROOT / "examples" / "kafka.ded"),
    (clew.Loss("b", "Z", 1), clew.Loss("c", "Z", 1), clew.Crash("a", 4)),
)
LOCK = "examples/lock/lock.py:three_hasty"

RUNS: dict[str, Callable[[], Execution]] = {
    "everything": everything,
    "crash": crash,
    "eager": eager,
    "hostile": hostile,
    "turned": turned,
    "drawn 3": lambda: drawn(3, steps=200),
    "drawn 4": lambda: drawn(4, steps=200),
}

#: Every kind of fault, in a program that knows of restarts.
FAULTY = (
    str(ROOT / "examples" / "2pc-recovery-durable.ded"),
    (
        clew.Delay("C", "a", 1, 1),
        clew.Duplicate("C", "b", 1, 2),
        clew.Restart("a", 4, 6),
        clew.Pause("b", 3, 5),
        clew.Partition(("C",), 5, 7),
        clew.Stop("b", 8),
    ),
)


@cache
def code(name: str) -> Trace:
    return trace_of_run(RUNS[name](), name)


@cache
def model(which: tuple[str, tuple[clew.Fault, ...]]) -> Trace:
    file, faults = which
    return trace_of_model(model_run_of(clew.run(file, faults)), file.rpartition("/")[2])


@cache
def lock() -> Trace:
    """The first violation that is found by trying all schedules of the lock service."""
    found = trace_of_result(clew.explore(str(ROOT / LOCK), in_process=True), Choice())
    return replace(found, title=LOCK)


@cache
def timed() -> Trace:
    """A run with virtual time, in which two things happen in the same microsecond."""
    made = Scenario(
        nodes={"a": Timed, "b": Timed, "c": Timed}, running=("a", "b", "c"), time=VirtualTime(latency=0.5, until=9)
    )
    steps: list[Step] = [
        Send("a", Go()),
        At(500_000),
        act("", 1, "a", "Go"),
        At(1_000_000),
        act("a", 1, "b", "Ping"),
        act("a", 2, "c", "Ping"),
        At(1_500_000),
        act("b", 1, "a", "Pong"),
    ]
    return trace_of_run(execute(made, 0, steps), "timed")


class Timed(Player):
    """Without timers, which have no times here."""

    def on_message(self, ctx, sender, message):  # type: ignore[no-untyped-def]  # as its base has it
        if isinstance(message, Go):
            self._ping(ctx, 1)
        else:
            super().on_message(ctx, sender, message)


TRACES: dict[str, Callable[[], Trace]] = {
    **{name: (lambda name=name: code(name)) for name in RUNS},  # type: ignore[misc]
    "kafka": lambda: model(KAFKA),
    "faulty": lambda: model(FAULTY),
    "lock": lock,
    "timed": timed,
}
