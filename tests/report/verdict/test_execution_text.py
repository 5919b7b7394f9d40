"""The rows of one run: what became of messages that faults hit."""

from __future__ import annotations

from clew import parse_program, run
from clew.faults import Crash, Duplicate, Fault, Partition, Pause, Restart
from clew.report.verdict.text import execution_text

PINGS = parse_program("""
    durable peer;
    peer("a", "b")@1;  peer("a", "c")@1;
    ping(Y, X)@async :- peer(X, Y);
""")


def astray(*faults: Fault) -> list[str]:
    text = execution_text(run(PINGS, faults, nodes=["a", "b", "c"], eot=5))
    return [line.strip() for line in text.splitlines() if line.startswith("  [")]


def test_what_is_lost_late_or_there_twice_is_said() -> None:
    assert astray() == []
    assert astray(Duplicate("a", "b", 1, 2)) == ["[arrives again at 4: ping(b, a) from a to b]"]
    assert astray(Pause("b", 2, 4)) == ["[arrives at 4: ping(b, a) from a to b]"]
    assert astray(Restart("b", 2, 4)) == ["[lost: ping(b, a) from a to b]"]
    assert astray(Partition(("c",), 1, 2)) == ["[lost: ping(c, a) from a to c]"]


def test_a_second_arrival_is_said_beside_what_became_of_the_first() -> None:
    assert astray(Duplicate("a", "b", 1, 2), Restart("b", 2, 3)) == [
        "[lost: ping(b, a) from a to b]",
        "[arrives again at 4: ping(b, a) from a to b]",
    ]


def test_what_is_never_sent_is_not_lost() -> None:
    assert astray(Crash("a", 1)) == []
    assert astray(Pause("a", 1, 2)) == []
