"""What a restart, a pause, a stop, a partition and a second arrival do to one small program, row by row."""

from __future__ import annotations

import clew
from clew.engine.execution import Execution
from clew.engine.ground import GroundProgram
from clew.faults import Crash, Duplicate, FailureSpec, Fault, FaultSet, Partition, Pause, Pick, Restart, Stop
from clew.program.checks import check_program

#: ``s`` tells ``n`` a number at every time; ``n`` keeps what it heard on disk and in memory, and answers.
_PROGRAM = """
durable disk;
peer(s, n)@1;
clock(s, 1)@1;
setting(n, 7)@1;
late(n, 9)@3;
peer(X, Y)@next :- peer(X, Y);
clock(X, T + 1)@next :- clock(X, T);
tell(Y, X, T)@async :- peer(X, Y), clock(X, T);
disk(X, T)@next :- tell(X, Y, T);
disk(X, T)@next :- disk(X, T);
memory(X, T)@next :- tell(X, Y, T);
memory(X, T)@next :- memory(X, T);
memory(X, T)@next :- setting(X, T);
memory(X, T)@next :- late(X, T);
echo(Y, T)@async :- tell(X, Y, T);
absent(X, Y) :- peer(X, Y), down(X, Y);
pre(X, T) :- disk(X, T);
post(X, T) :- disk(X, T);
"""


def run(*faults: Fault, eot: int = 7) -> Execution:
    spec = FailureSpec(("n", "s"), eot, eot, 1, 1, duplicates=2, restarts=2, pauses=2, partitions=1, stops=1)
    return GroundProgram(check_program(clew.parse_program(_PROGRAM)).program, spec).run(FaultSet.of(faults))


def numbers(execution: Execution, relation: str) -> list[list[object]]:
    """The second columns of a relation at the node n, time by time."""
    return [[row[1] for row in rows if row[0] == "n"] for rows in execution.tables[relation]]


def test_without_faults() -> None:
    undisturbed = run()
    assert numbers(undisturbed, "disk") == [[], [], [1], [1, 2], [1, 2, 3], [1, 2, 3, 4], [1, 2, 3, 4, 5]]
    assert numbers(undisturbed, "memory")[-1] == [1, 2, 3, 4, 5, 7, 9]


def test_a_restart_keeps_what_is_durable_and_nothing_else() -> None:
    restarted = run(Restart("n", 4, 6))
    # What was told at 2 had been written by the step at 3; what arrives at 4 and 5 is lost.
    assert numbers(restarted, "disk") == [[], [], [1], [1, 2], [1, 2], [1, 2], [1, 2, 5]]
    # Configuration is given again when the node starts, what came from outside is not.
    assert numbers(restarted, "memory") == [[], [7], [1, 7], [], [], [], [5, 7]]
    assert numbers(restarted, "setting") == [[7], [], [], [], [], [7], []]
    assert [m.arrived for m in restarted.messages if m.relation == "tell"] == [2, 3, None, None, 6, 7]
    # It answers what it takes in: nothing from 4 to 5.
    assert [m.sent for m in restarted.messages if m.relation == "echo"] == [2, 3, 6]
    assert [bool(rows) for rows in restarted.tables["absent"]] == [False] * 3 + [True, True, False, False]


def test_a_node_can_be_down_from_the_beginning() -> None:
    late = run(Restart("n", 1, 3))
    assert numbers(late, "setting") == [[], [], [7], [], [], [], []]
    assert numbers(late, "disk") == [[], [], [], [2], [2, 3], [2, 3, 4], [2, 3, 4, 5]]


def test_what_comes_from_outside_to_a_node_that_is_down_is_lost() -> None:
    assert numbers(run(Restart("n", 3, 4)), "late") == [[]] * 7
    assert numbers(run(Pause("n", 3, 5)), "late") == [[], [], [], [], [9], [], []]


def test_a_node_that_pauses_keeps_all_and_takes_in_what_has_come_when_it_goes_on() -> None:
    paused = run(Pause("n", 3, 5))
    assert numbers(paused, "tell") == [[], ["s"], [], [], ["s"] * 3, ["s"], ["s"]]
    assert numbers(paused, "disk") == [[], [], [1], [1], [1], [1, 2, 3, 4], [1, 2, 3, 4, 5]]
    assert numbers(paused, "memory") == [
        [],
        [7],
        [1, 7],
        [1, 7],
        [1, 7],
        [1, 2, 3, 4, 7, 9],
        [1, 2, 3, 4, 5, 7, 9],
    ]
    assert [m.arrived for m in paused.messages if m.relation == "tell"] == [2, 5, 5, 5, 6, 7]
    assert [(m.sent, m.row[1]) for m in paused.messages if m.relation == "echo"] == [
        (2, 1),
        (5, 2),
        (5, 3),
        (5, 4),
        (6, 5),
    ]
    assert not any(paused.tables["absent"])  # nobody sees a pause


def test_a_pause_that_ends_in_a_restart_loses_what_waited() -> None:
    both = run(Pause("n", 3, 4), Restart("n", 4, 5))
    assert numbers(both, "disk") == [[], [], [1], [1], [1], [1, 4], [1, 4, 5]]
    assert numbers(both, "memory") == [[], [7], [1, 7], [], [], [4, 7], [4, 5, 7]]
    assert [m.arrived for m in both.messages if m.relation == "tell"] == [2, None, None, 5, 6, 7]


def test_a_restart_that_ends_in_a_pause_has_its_configuration_when_it_goes_on() -> None:
    both = run(Restart("n", 2, 3), Pause("n", 3, 4))
    assert numbers(both, "setting") == [[7], [], [7], [7], [], [], []]
    assert numbers(both, "memory") == [[], [], [], [], [2, 3, 7, 9], [2, 3, 4, 7, 9], [2, 3, 4, 5, 7, 9]]


def test_two_restarts_of_one_node() -> None:
    twice = run(Restart("n", 2, 3), Restart("n", 4, 5))
    # What arrives at 3 is written by the step at 3 and is there at 4, when the node goes down again.
    assert numbers(twice, "disk") == [[], [], [], [2], [2], [2, 4], [2, 4, 5]]
    assert numbers(twice, "setting") == [[7], [], [7], [], [7], [], []]


def test_a_partition_loses_what_passes_between_its_sides_and_nothing_else() -> None:
    parted = run(Partition(("n",), 2, 4))
    assert [m.arrived for m in parted.messages if m.relation == "tell"] == [2, None, None, 5, 6, 7]
    assert numbers(parted, "disk")[-1] == [1, 4, 5]
    assert numbers(parted, "late")[2] == [9]  # what comes from outside is no message


def test_a_second_arrival_is_one_more_row_at_its_time() -> None:
    repeated = run(Duplicate("s", "n", 1, 3))
    assert next((m.arrived, m.again) for m in repeated.messages if m.relation == "tell") == (2, 5)
    assert [[row[2] for row in rows] for rows in repeated.tables["tell"]] == [
        [],
        [1],
        [2],
        [3],
        [1, 4],
        [5],
        [6],
    ]


def test_a_second_arrival_waits_or_is_lost_like_the_first() -> None:
    assert run(Duplicate("s", "n", 1, 1), Pause("n", 3, 5)).messages[0].again == 5
    assert run(Duplicate("s", "n", 1, 1), Restart("n", 3, 5)).messages[0].again is None


def test_down_is_seen_of_a_crash_for_good() -> None:
    crashed = run(Crash("n", 3))
    assert [bool(rows) for rows in crashed.tables["absent"]] == [False] * 2 + [True] * 5


def test_a_node_that_stops_keeps_what_its_last_step_concluded_and_does_nothing_more() -> None:
    stopped = run(Stop("n", 4))
    assert numbers(stopped, "disk") == [[], [], [1], [1, 2], [1, 2], [1, 2], [1, 2]]
    # In memory as on disk.  What it had for one step only, it has no more: that was no conclusion for the next.
    assert numbers(stopped, "memory") == [[], [7], [1, 7], *[[1, 2, 7, 9]] * 4]
    assert numbers(stopped, "tell") == [[], ["s"], ["s"], [], [], [], []]
    assert [m.arrived for m in stopped.messages if m.relation == "tell"] == [2, 3, None, None, None, None]
    assert [m.sent for m in stopped.messages if m.relation == "echo"] == [2, 3]
    assert [bool(rows) for rows in stopped.tables["absent"]] == [False] * 3 + [True] * 4


def test_a_node_that_crashes_goes_on_in_silence() -> None:
    crashed = run(Crash("n", 4))
    assert numbers(crashed, "disk") == numbers(run(), "disk")
    assert numbers(crashed, "memory") == numbers(run(), "memory")
    assert [m.arrived for m in crashed.messages if m.relation == "echo"] == [3, 4, None, None, None]


def test_a_node_that_stops_at_once_has_its_configuration_and_nothing_from_outside() -> None:
    never_ran = run(Stop("n", 1))
    assert numbers(never_ran, "setting") == [[7]] * 7
    assert numbers(never_ran, "memory") == numbers(never_ran, "late") == [[]] * 7
    assert numbers(run(Stop("n", 3)), "late") == [[]] * 7


def test_what_waits_for_a_node_that_stops_is_lost() -> None:
    both = run(Pause("n", 3, 5), Stop("n", 5))
    assert numbers(both, "disk") == [[], [], *[[1]] * 5]
    assert [m.arrived for m in both.messages if m.relation == "tell"] == [2, None, None, None, None, None]
    assert run(Duplicate("s", "n", 1, 2), Stop("n", 4)).messages[0].again is None


def test_a_node_that_stops_when_it_restarts_has_its_disk_and_its_configuration() -> None:
    both = run(Restart("n", 3, 5), Stop("n", 5))
    assert numbers(both, "disk") == [[], [], *[[1]] * 5]
    assert numbers(both, "memory") == [[], [7], *[[]] * 5]
    assert numbers(both, "setting") == [[7], [], [], [], [7], [7], [7]]


def test_assertions_conclude_from_what_a_stopped_node_keeps() -> None:
    text = _PROGRAM.replace("pre(X, T) :- disk(X, T);", "kept(X, T) :- disk(X, T); pre(X, T) :- kept(X, T);")
    spec = FailureSpec(("n", "s"), 7, stops=1)
    stopped = GroundProgram(check_program(clew.parse_program(text)).program, spec).run(FaultSet.of([Stop("n", 4)]))
    assert numbers(stopped, "kept") == numbers(stopped, "disk")
    # What the node itself would conclude within a step is not there: it runs no rule any more.
    assert numbers(run(Stop("n", 4)), "setting")[3:] == [[]] * 4


def test_a_stop_is_seen_as_a_crash() -> None:
    text = "peer(s, n); peer(X, Y)@next :- peer(X, Y); seen(X, Y, T) :- peer(X, Y), crash(X, Y, T);"
    program = check_program(clew.parse_program(text)).program
    ground = GroundProgram(program, FailureSpec(("n", "s"), 3, stops=1), expect_outcomes=False)
    assert ground.run(FaultSet.of([Stop("n", 2)])).tables["seen"] == ((("s", "n", 2),),) * 3
    assert ground.run(FaultSet.of([Stop("s", 1)])).tables["seen"] == ((),) * 3


def test_what_is_picked_for_a_time_of_a_pause_is_not_picked_after_it() -> None:
    program = clew.parse_program("""
        option(n, x)@1;
        option(n, y)@1;
        option(N, O)@next :- option(N, O);
        taken(N, O)@next :- option(N, O), choose((N), (O));
        pre(N, O) :- taken(N, O);
        post(N, O) :- option(N, O);
    """)
    spec = FailureSpec(("n",), 5, 5, 0, 0, pauses=1)
    faults = FaultSet.of([Pause("n", 2, 3), Pick("taken", ("n", "x"), 2), Pick("taken", ("n", "y"), 3)])
    execution = GroundProgram(check_program(program).program, spec).run(faults)
    assert numbers(execution, "taken") == [[], ["x"], ["x"], ["y"], ["x"]]
