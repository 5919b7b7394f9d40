"""What is said of why each fault of a counterexample is needed."""

from __future__ import annotations

import sys
from pathlib import Path

from clew.faults import FaultsOf
from clew.injection.bounds import InjectionBounds
from clew.injection.explaining import Difference, Explanation, Link, Undone, explain
from clew.injection.faults import CodeFault, MessageLoss, MessageName, NetworkPartition, NodeCrash, NodeRestart
from clew.injection.searching.system import CodeSystem
from clew.simulation import Scenario
from clew.simulation.loading import load_scenario
from command import ROOT
from injection.relay import relay

COPY = MessageLoss(MessageName("server", "backup", "Copy", 1))


def explained(scenario: Scenario, *faults: CodeFault) -> Explanation:
    bounds = InjectionBounds(tuple(scenario.nodes), 10_000_000, 10_000_000)
    return explain(CodeSystem(scenario, bounds), FaultsOf.of(faults))


def test_each_fault_cut_a_chain_that_would_have_kept_the_promise() -> None:
    crash = NodeCrash("server", 1)
    found = explained(relay(), COPY, crash)
    assert found.undone == (
        Undone(
            COPY,
            chain=(Link("Copy server→backup", "backup", 30_000),),
            kept_by=("backup",),
            reads=(("backup", "stored"),),
        ),
        # Nothing leads from its crash to what it had: it would only have had to stay up.
        Undone(crash, chain=(), kept_by=("server",), reads=(("server", "stored"),)),
    )
    assert found.difference == Difference(4, 20_000, "stop server", "Copy server→backup arrives")
    # All but the answer of the backup: the put, the copy that is lost, the stop, and that the client heard of it.
    assert found.relevant == frozenset(range(6))


def test_a_restart_and_a_partition_are_explained_likewise() -> None:
    partition = NetworkPartition(("backup",), 20_000, 25_000)
    restart = NodeRestart("server", 1, 100_000)
    without_restart, without_partition = sorted(
        explained(relay(), partition, restart).undone, key=lambda undone: str(undone.fault), reverse=True
    )
    assert (without_restart.fault, without_restart.kept_by) == (restart, ("server",))
    assert [link.what for link in without_partition.chain] == ["Copy server→backup"]


def test_where_nothing_is_promised_without_a_fault_it_is_said_what_is_missing() -> None:
    sys.path.insert(0, str(ROOT))
    lossy = load_scenario(f"{Path('examples/replication/replication.py')}:lossy").scenario
    lost = [MessageLoss(MessageName(name, "coordinator", "Report", 2)) for name in ("b", "c")]
    first, _, _ = explained(lossy, *lost, NodeCrash("a", 5)).undone
    assert [link.what for link in first.chain] == [
        "Report #2 b→coordinator",
        "timer announce at coordinator",
        "InSync #2 coordinator→a",
        "Write client→a",
    ]
    assert (first.is_vacuous, first.missing) == (True, "Acknowledged a→client")


def test_without_a_fault_something_else_may_break() -> None:
    def one_copy(nodes: object) -> str | None:
        stored = nodes["server"].stored + nodes["backup"].stored  # type: ignore[index]
        return "twice" if len(stored) > 1 else None

    scenario = relay(promises=[lambda nodes: None if nodes["backup"].stored else "no copy", one_copy])
    (undone,) = explained(scenario, COPY).undone
    assert undone.breaks == "one_copy: twice"
