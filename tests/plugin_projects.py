"""Small projects whose tests use the plugin: scenarios that take milliseconds, and a run of pytest on them."""

from __future__ import annotations

import pytest

import clew.pytest_plugin.checking
import clew.pytest_plugin.reporting  # noqa: F401  # before pytest runs inside pytest, which forgets what it imports

#: ``a`` tells ``b`` three times; how many arrive is what the scenarios differ in.
TOLD = """
from functools import partial
from clew.simulation import Elapse, Node, Scenario, VirtualTime

NEEDED = 1

class Teller(Node):
    def __init__(self, times=3):
        self._times = times
    def on_start(self, ctx):
        self.heard = 0
        if ctx.me == "a":
            for _ in range(self._times):
                ctx.send("b", "news")
    def on_message(self, ctx, sender, message):
        self.heard += 1

def told(nodes, needed=None):
    needed = NEEDED if needed is None else needed
    heard = nodes["b"].heard if "b" in nodes else needed
    return None if heard >= needed else f"b heard {heard} of {needed}"

def make(times=3, until=1.0, **more):
    nodes = {"a": partial(Teller, times), "b": partial(Teller, times)}
    time = VirtualTime(latency=0.1, until=until)
    return Scenario(nodes=nodes, running=("a", "b"), promises=[told], time=time, **more)

timed = make()
silent = make(times=0)
unpromised = make(assume=lambda nodes: False)
long = make(steps=2)

def quiet(nodes):
    return "b heard the third" if "b" in nodes and nodes["b"].heard > 2 else None

def untimed(times, **more):
    nodes = {"a": partial(Teller, times), "b": partial(Teller, times)}
    return Scenario(nodes=nodes, running=("a", "b"), expect_runs=5, **more)

few = untimed(2, invariants=[quiet])
many = untimed(3, invariants=[quiet])
none = untimed(0, invariants=[quiet])
"""

#: What keeps the promise of ``timed`` from being kept: b needs to hear all three.
BROKEN = TOLD.replace("NEEDED = 1", "NEEDED = 3")


def run_plugin(pytester: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    """Run pytest on the project, in this process: its code is forked by Clew all the same."""
    return pytester.runpytest_inprocess("-p", "no:cacheprovider", "-p", "no:randomly", *arguments)


def stored(pytester: pytest.Pytester) -> list[str]:
    """Return the names of what is stored, without what makes them differ from all others."""
    folder = pytester.path / ".clew"
    return sorted(f"{f.stem[:-33]}{f.suffix}" for f in folder.glob("*.*") if f.stem != ".gitignore")
