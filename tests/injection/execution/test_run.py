"""What an execution under faults is: every event, when, and why."""

from __future__ import annotations

from typing import Any

import pytest

from clew.injection.execution.course import Course
from clew.injection.execution.run import InjectedRun
from clew.injection.explaining import describe
from clew.injection.faults import (
    CodeFault,
    MessageCopy,
    MessageLoss,
    MessageName,
    NetworkPartition,
    NodeCrash,
    NodeRestart,
)
from clew.simulation import CodeBlock, Elapse, Send, WaitCondition
from injection.relay import Put, relay

COPY = MessageName("server", "backup", "Copy", 1)


def run(*faults: CodeFault, **fields: Any) -> Course:
    return InjectedRun(relay(**fields), faults).finish()


def told(course: Course) -> list[tuple[str, int]]:
    """What happened, and after how many milliseconds."""
    return [(describe(course, o), o.time // 1000) for o in course.occurrences]


def test_without_faults_everything_arrives_when_it_is_due() -> None:
    course = run()
    assert told(course) == [
        ("send", 0),
        ("Put outside→client", 10),
        ("Put client→server", 20),
        ("Copy server→backup", 30),
        ("Done server→client", 30),
        ("Done backup→server", 40),
    ]
    assert (course.is_over, course.is_vacuous, course.broken) == (True, False, None)


def test_a_lost_message_does_not_arrive() -> None:
    course = run(MessageLoss(COPY))
    assert told(course)[3:] == [("Copy server→backup is lost", 30), ("Done server→client", 30)]
    assert course.struck == {MessageLoss(COPY): 3}


def test_a_message_that_is_duplicated_arrives_a_second_time() -> None:
    course = run(MessageCopy(COPY))
    assert told(course)[3:] == [
        ("Copy server→backup is duplicated", 30),
        ("Copy server→backup", 30),
        ("Done server→client", 30),
        ("Copy server→backup", 40),
        ("Done backup→server", 40),
        ("Done #2 backup→server", 50),
    ]
    assert course.world.nodes["backup"].stored == [7, 7]  # type: ignore[attr-defined]


def test_a_node_that_crashes_gets_nothing_any_more() -> None:
    course = run(MessageLoss(COPY), NodeCrash("server", 1))
    assert told(course)[2:] == [
        ("Put client→server", 20),
        ("stop server", 20),
        ("Copy server→backup is lost", 30),
        ("Done server→client", 30),
    ]
    assert str(course.broken) == "stored_somewhere: 7 is nowhere"


def test_a_node_can_crash_before_its_first_event() -> None:
    course = run(NodeCrash("backup", 0))
    assert told(course)[0] == ("stop backup", 0)
    assert course.broken is None


def test_a_node_that_restarts_has_forgotten_what_it_did_not_store() -> None:
    course = run(NodeRestart("server", 1, 5_000))
    assert told(course)[3:5] == [("stop server", 20), ("start server", 25)]
    assert course.world.nodes["server"].stored == []  # type: ignore[attr-defined]
    assert course.broken is None  # the backup has it


def test_what_a_partition_loses_is_decided_when_it_is_sent() -> None:
    course = run(NetworkPartition(("backup",), 20_000, 21_000))
    assert told(course)[3:] == [("Copy server→backup is lost", 30), ("Done server→client", 30)]
    assert told(run(NetworkPartition(("backup",), 20_001, 30_000))) == told(run())


def test_an_execution_in_which_nothing_was_promised_is_vacuous() -> None:
    course = run(MessageLoss(MessageName("server", "client", "Done", 1)))
    assert (course.is_over, course.is_vacuous, course.broken) == (True, True, None)


def test_an_execution_that_runs_out_of_steps_is_not_over() -> None:
    course = run(steps=3)
    assert (course.is_over, course.broken, len(course.occurrences)) == (False, None, 3)


def test_events_from_outside_wait_for_what_the_scenario_says() -> None:
    has_one = WaitCondition("the backup has one", lambda world: bool(world.nodes["backup"].stored))  # type: ignore[attr-defined]
    noted: list[int] = []
    block = CodeBlock("note", lambda world: noted.append(world.events))
    course = run(before=[Elapse(0.5), Send("client", Put(7)), has_one, block])
    assert told(course)[:2] == [("send", 500), ("Put outside→client", 510)]
    assert noted == [4]  # after the copy has arrived, and before everything else
    assert told(course)[4] == ("codeblock", 530)


def test_events_that_are_drawn_come_at_times_that_no_fault_shifts() -> None:
    def put(random: object, world: object) -> Send:
        return Send("client", Put(3))

    times = [
        [o.time for o in run(*faults, before=(), events=[(1, put)], count=3).occurrences if o.fate == "do"]
        for faults in ((), (MessageLoss(COPY),))
    ]
    assert times == [[250_000, 500_000, 750_000]] * 2


def test_an_invariant_that_breaks_ends_the_execution() -> None:
    course = run(invariants=[lambda nodes: "too many" if nodes["backup"].stored else None])
    assert (str(course.broken), course.is_over) == ("<lambda>: too many", False)
    assert told(course)[-1] == ("Copy server→backup", 30)


@pytest.mark.parametrize(
    ("fault", "began"),
    [
        (MessageLoss(COPY), 20_000),
        (NodeCrash("backup", 1), 30_000),
        (NetworkPartition(("backup",), 15_000, 25_000), 15_000),
    ],
)
def test_when_a_fault_begins(fault: CodeFault, began: int) -> None:
    course = run(fault)
    assert course.is_within(began)
    assert not course.is_within(began - 1)
