"""Which single faults can change a run, and when."""

from __future__ import annotations

from typing import Any

from clew.injection.bounds import InjectionBounds
from clew.injection.execution.run import InjectedRun
from clew.injection.searching.possible import possible_faults
from injection.relay import relay

NODES = ("client", "server", "backup")


def possible(*, observing: bool = False, **bounds: Any) -> list[str]:
    course = InjectedRun(relay(), observing=observing).finish()
    within = InjectionBounds(NODES, 1_000_000, **{"within": 1_000_000, **bounds})
    return [str(each.fault) for each in possible_faults(course, within)]


def test_every_message_between_nodes_can_be_lost_in_the_order_in_which_they_arrive() -> None:
    assert possible(losses=1) == [
        "O(client,server,Put,1)",
        "O(server,backup,Copy,1)",
        "O(server,client,Done,1)",
        "O(backup,server,Done,1)",
    ]


def test_the_loss_of_a_message_that_changes_nothing_is_left_out() -> None:
    """A hasty server has answered before the backup does."""
    assert possible(losses=1, observing=True) == [
        "O(client,server,Put,1)",
        "O(server,backup,Copy,1)",
        "O(server,client,Done,1)",
    ]


def test_a_node_can_crash_after_each_of_its_events_that_did_something() -> None:
    after = [
        "C(backup,0)",
        "C(client,0)",
        "C(server,0)",
        "C(client,1)",
        "C(server,1)",
        "C(backup,1)",
        "C(client,2)",
    ]
    assert possible(crashes=1) == [*after, "C(server,2)"]
    # What the backup answers changes nothing at the server.
    assert possible(crashes=1, observing=True) == after


def test_a_restart_after_an_idle_event_is_another_one_than_before_it() -> None:
    assert "R(server,2,0.005 s)" in possible(restarts=1, outages=(5_000,), observing=True)


def test_a_partition_strikes_where_its_first_message_is_missing() -> None:
    assert possible(partitions=1, outages=(15_000,)) == [
        "P({client},0.01 s,0.025 s)",
        "P({server},0.01 s,0.025 s)",
        "P({client,server},0.02 s,0.035 s)",
        "P({server},0.02 s,0.035 s)",
        "P({client},0.02 s,0.035 s)",
        "P({client,server},0.03 s,0.045 s)",
        "P({server},0.03 s,0.045 s)",
    ]


def test_what_begins_too_late_is_left_out() -> None:
    assert possible(losses=1, within=10_000) == ["O(client,server,Put,1)"]
    assert possible(crashes=1, within=10_000) == ["C(backup,0)", "C(client,0)", "C(server,0)", "C(client,1)"]
