"""Executions and the model checker speak of the same programs: what one says of a broadcast, the other does, too.

In a model every message takes one step, and a timer goes off in each; with virtual time in which a step lasts a
second, an execution can do no more and no less.  The rows of a run under losses are then the same, and so is how
many faults it takes to break a promise.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import pytest

import clew
from clew.bloom import EVERY
from clew.bloom.simulated import bloom_scenario, insert
from clew.files.python_module import import_file
from clew.injection.checking import check_scenario
from clew.injection.execution.run import InjectedRun
from clew.injection.faults import CodeFault, MessageLoss, MessageName, NodeCrash
from clew.simulation import Faults, Scenario, VirtualTime
from command import ROOT

broadcast = import_file(ROOT / "examples/bloom/broadcast.py")
NODES = broadcast.NODES


def delivered_to_all(nodes: Mapping[str, Any]) -> str | None:
    """Check what the outcome of these programs says: what one correct node has, all have that are up."""
    for name, node in nodes.items():
        for row in node.log:
            lacking = [other for other in nodes if row not in nodes[other].log]
            if lacking:
                return f"{name} has {row.payload}, {', '.join(lacking)} have not"
    return None


def scenario_of(name: str, **more: Any) -> Scenario:
    return bloom_scenario(
        dict.fromkeys(NODES, getattr(broadcast, name)),
        given={EVERY: {"members": [(node,) for node in NODES]}},
        before=[insert("a", "bcast", ("data",))],
        promises=[delivered_to_all],
        # A step of the model; what comes from outside is there in the first.
        time=VirtualTime(latency=1, links={("", "a"): 0}, until=more.pop("until", 8)),
        **more,
    )


def _lost(losses: tuple[tuple[str, str], ...]) -> list[CodeFault]:
    return [MessageLoss(MessageName(source, target, "data_chan", 1)) for source, target in losses]


@pytest.mark.parametrize("losses", [c for n in range(3) for c in combinations([("a", "b"), ("a", "c")], n)])
def test_the_same_losses_leave_the_same_rows(losses: tuple[tuple[str, str], ...]) -> None:
    course = InjectedRun(scenario_of("Simple"), _lost(losses)).finish()
    nodes: dict[str, Any] = dict(course.world.nodes)
    found = {(name, row.payload) for name, node in nodes.items() for row in node.log}
    checked = clew.run(broadcast.Simple, [clew.Loss(source, target, 1) for source, target in losses])
    assert found == set(checked.rows("log", 4))
    assert (course.broken is None) == (not checked.violations)


@pytest.mark.parametrize(
    ("name", "crashes", "fewest"),
    [("Simple", 0, 1), ("Retry", 1, 2), ("Redundant", 1, None), ("Acknowledged", 1, None)],
)
def test_they_agree_on_what_breaks_a_broadcast(name: str, crashes: int, fewest: int | None) -> None:
    program = getattr(broadcast, name)
    checked = clew.check(program)
    within = Faults(losses=1 if fewest is None else 2, crashes=crashes, until=2 if fewest is None else None)
    executed = check_scenario(
        scenario_of(name, until=6, faults=within),
        in_process=True,
        strategy="lineage" if fewest is not None else "exhaustive",
    )
    if fewest is None:
        assert checked.answer is clew.Answer.CERTIFIED
        assert executed.answer.value == "certified"
    else:
        assert checked.answer is clew.Answer.COUNTEREXAMPLE
        assert len(checked.counterexamples[0].faults) == fewest
        assert executed.counterexample is not None
        assert len(executed.counterexample.faults) == fewest
        kinds = {type(fault) for fault in executed.counterexample.faults}
        assert kinds == ({MessageLoss, NodeCrash} if crashes else {MessageLoss})
