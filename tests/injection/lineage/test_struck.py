"""Searches with restarts end, and what an invariant reads is read by no event."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clew.injection.checking import check_scenario
from clew.injection.execution.run import InjectedRun
from clew.simulation import Context, Node, Scenario, Send, VirtualTime
from command import ROOT


def test_a_fault_that_has_struck_cuts_nothing_that_is_there_in_spite_of_it() -> None:
    replication = f"{ROOT / 'examples/replication/replication.py'}:careful"
    verdict = check_scenario(replication, losses=0, crashes=0, restarts=1, max_runs=100, in_process=True)
    assert verdict.answer.value == "incomplete"
    assert "limit" not in str(verdict)
    assert verdict.runs == 18


class Keeper(Node):
    def on_start(self, ctx: Context) -> None:
        self.kept: tuple[Any, ...] = ()

    def on_message(self, ctx: Context, sender: str, message: Any) -> None:
        self.kept += (message,)


def _look_at_all(nodes: Mapping[str, Any]) -> None:
    for node in nodes.values():
        assert node.kept is not None


def test_what_an_invariant_reads_no_event_rests_on() -> None:
    scenario = Scenario(
        nodes={"a": Keeper, "b": Keeper},
        running=("a", "b"),
        before=[Send("a", 1), Send("b", 2), Send("a", 3)],
        invariants=[_look_at_all],
        time=VirtualTime(until=1),
    )
    flow = InjectedRun(scenario, tracing=True).finish().flow
    assert flow is not None
    assert flow.rests_on[3:] == [(), (), (3,)]
