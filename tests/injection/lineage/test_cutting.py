"""Which faults would have kept what helped from happening."""

from __future__ import annotations

from typing import Any

from clew.injection.bounds import InjectionBounds
from clew.injection.execution.run import InjectedRun
from clew.injection.faults import CodeFault, NodeRestart
from clew.injection.lineage.cutting import Cutter, groups_of
from clew.injection.lineage.ways import Way, trace_events
from injection.relay import relay

NODES = ("client", "server", "backup")


def cuts(attribute: str, *faults: CodeFault, **bounds: Any) -> list[str]:
    """Return what would cut that the backup has something in an attribute, in the run under some faults."""
    course = InjectedRun(relay(), faults, tracing=True).finish()
    way = Way(("backup",), frozenset({("backup", attribute)}))
    events = trace_events(course, way.read)
    within = InjectionBounds(NODES, 1_000_000, **{"within": 1_000_000, **bounds})
    return [str(fault) for fault in Cutter(course, within, events).cut(way, events)]


def test_the_messages_on_the_way_can_be_lost_or_disturbed() -> None:
    assert cuts("stored", losses=1) == ["O(client,server,Put,1)", "O(server,backup,Copy,1)"]
    assert cuts("stored", duplicates=1) == ["U(client,server,Put,1)", "U(server,backup,Copy,1)"]


def test_nodes_can_stop_before_their_part_is_done_and_witnesses_at_any_time() -> None:
    assert cuts("stored", crashes=1) == ["C(client,0)", "C(server,0)", "C(backup,0)", "C(backup,1)"]
    assert cuts("stored", restarts=1, outages=(5_000,)) == [
        "R(client,0,0.005 s)",
        "R(server,0,0.005 s)",
        "R(backup,0,0.005 s)",
        "R(backup,1,0.005 s)",
    ]


def test_partitions_begin_with_a_message_that_they_lose() -> None:
    found = cuts("stored", partitions=1, outages=(5_000,))
    assert found == [
        "P({client},0.01 s,0.015 s)",
        "P({server},0.01 s,0.015 s)",
        "P({server},0.02 s,0.025 s)",
        "P({client,server},0.02 s,0.025 s)",
    ]


def test_what_begins_too_late_is_left_out() -> None:
    assert cuts("stored", losses=1, within=15_000) == ["O(client,server,Put,1)"]
    assert cuts("stored", crashes=1, within=15_000) == ["C(client,0)", "C(server,0)", "C(backup,0)"]


def test_what_has_happened_cuts_nothing_of_the_run_in_which_it_has() -> None:
    """Or the run would say nothing about the runs after it, and the search would make it again and again."""
    restart = NodeRestart("server", 0, 5_000)
    assert "R(server,0,0.005 s)" in cuts("stored", restarts=1, outages=(5_000,))
    assert cuts("stored", restart, restarts=2, outages=(5_000,)) == [
        "R(client,0,0.005 s)",
        "R(server,1,0.005 s)",
        "R(backup,0,0.005 s)",
        "R(backup,1,0.005 s)",
    ]


def test_each_way_to_divide_the_nodes_is_there_once() -> None:
    assert list(groups_of(("a", "b", "c"))) == [("a",), ("b",), ("a", "b")]
