"""What is in a Lamport diagram: which arrows there are, what became of them, and which fault is to blame."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from clew import Crash, Delay, Fault, FaultSet, Loss, parse_program, run
from clew.report.diagrams.lamport import Arrow, CrashMark, Diagram, Fate, Sending, diagram_of, lamport_of

EXAMPLES = Path(__file__).parents[3] / "examples"
KAFKA: list[Fault] = [Loss("b", "Z", 1), Loss("c", "Z", 1), Crash("a", 4)]


def arrow(diagram: Diagram, source: str, target: str, sent: int) -> Arrow:
    (found,) = (a for a in diagram.arrows if (a.source, a.target, a.sent) == (source, target, sent))
    return found


def links(diagram: Diagram) -> list[tuple[str, str, int]]:
    return [(a.source, a.target, a.sent) for a in diagram.arrows]


def test_all_that_goes_over_a_link_at_a_time_is_one_arrow() -> None:
    diagram = lamport_of(run(EXAMPLES / "kafka.ded", KAFKA))
    assert arrow(diagram, "Z", "a", 3) == Arrow(
        "Z",
        "a",
        3,
        4,
        ("isr", "leader"),
        ("isr(a, a)", "isr(a, b)", "isr(a, c)", "leader(a, a)"),
        Fate.DELIVERED,
    )
    assert len(links(diagram)) == len(set(links(diagram)))


def test_faults_are_numbered_in_their_order() -> None:
    diagram = lamport_of(run(EXAMPLES / "kafka.ded", KAFKA))
    assert diagram.faults == ("O(b,Z,1)", "O(c,Z,1)", "C(a,4)")
    assert [(a.source, a.fate, a.arrived, a.fault) for a in diagram.arrows if a.fault] == [
        ("b", Fate.LOST, None, 1),
        ("c", Fate.LOST, None, 2),
    ]
    assert diagram.crashes == (CrashMark("a", 4, 3),)
    assert diagram.unseen_faults == ()


def test_arrows_are_in_the_order_of_time_and_of_the_processes() -> None:
    diagram = lamport_of(run(EXAMPLES / "kafka.ded", KAFKA))
    assert diagram.processes == ("a", "b", "c", "C", "Z")
    assert links(diagram)[:6] == [
        ("a", "Z", 1),
        ("b", "Z", 1),
        ("c", "Z", 1),
        ("C", "a", 1),
        ("a", "Z", 2),
        ("b", "Z", 2),
    ]


def test_what_a_crashed_process_would_have_sent_is_not_there() -> None:
    diagram = lamport_of(run(EXAMPLES / "kafka.ded", KAFKA))
    assert [a.sent for a in diagram.arrows if a.source == "a"] == [1, 2, 3, 3]


PROGRAM = parse_program("""
    start("a", "b")@1; start("a", "a")@1; start("a", "nowhere")@1; start("nowhere", "b")@1;
    start(N, P)@next :- start(N, P);
    hello(P, N)@async :- start(N, P);
""")


def test_what_stays_at_home_and_what_goes_to_or_comes_from_nowhere_is_not_there() -> None:
    assert links(lamport_of(run(PROGRAM, nodes=["a", "b"], eot=3))) == [("a", "b", 1), ("a", "b", 2)]


def test_late_messages_say_when_they_arrive_or_that_they_do_not() -> None:
    diagram = lamport_of(run(PROGRAM, [Delay("a", "b", 1, 2), Delay("a", "b", 3, 1)], nodes=["a", "b"], eot=4))
    assert [(a.sent, a.arrived, a.fate, a.fault) for a in diagram.arrows] == [
        (1, 4, Fate.LATE, 1),
        (2, 3, Fate.DELIVERED, None),
        (3, None, Fate.NEVER, 2),
    ]


def test_a_failure_free_run_shows_what_will_be_hit() -> None:
    diagram = lamport_of(run(EXAMPLES / "kafka.ded"), KAFKA)
    assert diagram.faults == ("O(b,Z,1)", "O(c,Z,1)", "C(a,4)")
    assert diagram.crashes == ()
    assert {a.fate for a in diagram.arrows} == {Fate.DELIVERED}
    assert [(a.source, a.target, a.sent, a.fault) for a in diagram.arrows if a.foreseen] == [
        ("b", "Z", 1, 1),
        ("c", "Z", 1, 2),
        ("a", "b", 4, 3),
        ("a", "c", 4, 3),
        ("a", "Z", 4, 3),
        ("a", "b", 5, 3),
        ("a", "c", 5, 3),
        ("a", "C", 5, 3),
        ("a", "Z", 5, 3),
    ]


def test_what_is_not_sent_cannot_be_lost() -> None:
    faults: list[Fault] = [Crash("a", 1), Loss("a", "b", 2)]
    assert links(lamport_of(run(PROGRAM, faults, nodes=["a", "b"], eot=3))) == []
    foreseen = lamport_of(run(PROGRAM, nodes=["a", "b"], eot=3), faults)
    assert [(a.sent, a.fault) for a in foreseen.arrows] == [(1, 2), (2, 2)]
    assert foreseen.unseen_faults == ("O(a,b,2)",)


def test_only_failure_free_runs_foresee() -> None:
    with pytest.raises(ValueError, match=r"failure-free run .* C\(a,1\)"):
        lamport_of(run(PROGRAM, [Crash("a", 1)], nodes=["a", "b"], eot=3), [Crash("b", 1)])


def test_any_system_can_be_drawn() -> None:
    sendings = [
        Sending("put", "put(x=1)", 1, "1", 1, 2),
        Sending("get", "get(x)", 1, "1", 1, 2),
        Sending("put", "put(x=2)", "1", 1, 2, None),
        Sending("put", "put(x=3)", "1", 1, 3, None),
    ]
    diagram = diagram_of([1, "1"], 3, sendings, FaultSet.of([Loss("1", 1, 2)]))
    assert diagram == Diagram(
        ("1", '"1"'),
        3,
        (
            Arrow("1", '"1"', 1, 2, ("get", "put"), ("get(x)", "put(x=1)"), Fate.DELIVERED),
            Arrow('"1"', "1", 2, None, ("put",), ("put(x=2)",), Fate.LOST, 1),
            Arrow('"1"', "1", 3, None, ("put",), ("put(x=3)",), Fate.NEVER),
        ),
        (),
        ('O("1",1,2)',),
    )


SCRIPT = """
import sys
from clew import run, Crash, Loss
from clew.report.diagrams.lamport import lamport_of
from clew.report.diagrams.lamport_svg import diagram_svg
from clew.report.diagrams.lamport_text import diagram_lines
faults = [Loss("b", "Z", 1), Loss("c", "Z", 1), Crash("a", 4)]
for diagram in (lamport_of(run(sys.argv[1], faults)), lamport_of(run(sys.argv[1]), faults)):
    sys.stdout.reconfigure(encoding="utf-8")
    print(diagram, *diagram_lines(diagram), diagram_svg(diagram, title="kafka", standalone=True), sep="\\n")
"""


def test_drawings_do_not_depend_on_the_hash_seed() -> None:
    first, second = (
        subprocess.run(
            [sys.executable, "-c", SCRIPT, str(EXAMPLES / "kafka.ded")],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
            timeout=120,
        ).stdout
        for seed in ("1", "2")
    )
    assert first == second
    assert b"CRASHED" in first
