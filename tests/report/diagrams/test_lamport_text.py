"""Lamport diagrams for the terminal: whole small ones to the letter, and what must hold for all."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew import Crash, Delay, Fault, Loss, run
from clew.report.diagrams.lamport import Arrow, CrashMark, Diagram, Fate, lamport_of
from clew.report.diagrams.lamport_text import diagram_lines
from diagrams import NAMES, diagrams

EXAMPLES = Path(__file__).parents[3] / "examples"
SIMPLE, RETRY = EXAMPLES / "simple-deliv.ded", EXAMPLES / "retry-deliv.ded"
KAFKA: list[Fault] = [Loss("b", "Z", 1), Loss("c", "Z", 1), Crash("a", 4)]


def picture(text: str) -> list[str]:
    """The lines between the first and the last, without the common indentation."""
    lines = text.split("\n")[1:-1]
    return [line.removeprefix(" " * 4) for line in lines]


def columns(line: str) -> int:
    wide = {"W": 2, "F": 2}
    return sum(wide.get(unicodedata.east_asian_width(c), 1) for c in line if unicodedata.category(c)[0] != "M")


def test_one_loss() -> None:
    assert diagram_lines(lamport_of(run(SIMPLE, [Loss("a", "b", 1)]))) == picture("""
       a         b         c
    1  │         │         │
       ●── log ──┼─────────►
       ●╌╌ log ╌╌✗         │  LOST O(a,b,1)
    2  │         │         │
    3  │         │         │
    4  │         │         │
    """)


def test_one_loss_in_ascii() -> None:
    assert diagram_lines(lamport_of(run(SIMPLE, [Loss("a", "c", 1)])), ascii_only=True) == picture("""
       a         b         c
    1  |         |         |
       o-- log -->         |
       o.. log ..+.........X  LOST O(a,c,1)
    2  |         |         |
    3  |         |         |
    4  |         |         |
    """)


def test_a_loss_and_a_crash() -> None:
    assert diagram_lines(lamport_of(run(RETRY, [Loss("a", "b", 1), Crash("a", 2)]))) == picture("""
          a         b         c
    1     │         │         │
          ●── log ──┼─────────►
          ●╌╌ log ╌╌✗         │     LOST O(a,b,1)
    2  CRASHED      │         │     C(a,2)
    3     ┊         │         │
    4     ┊         │         │
    """)


def test_a_loss_and_a_crash_in_ascii() -> None:
    diagram = lamport_of(run(RETRY, [Loss("a", "b", 1), Crash("a", 2)]))
    assert diagram_lines(diagram, ascii_only=True) == picture("""
          a         b         c
    1     |         |         |
          o-- log --+--------->
          o.. log ..X         |     LOST O(a,b,1)
    2  CRASHED      |         |     C(a,2)
    3     .         |         |
    4     .         |         |
    """)


def test_the_failure_free_run_beside_it() -> None:
    assert diagram_lines(lamport_of(run(RETRY), [Loss("a", "b", 1), Crash("a", 2)])) == picture("""
       a         b         c
    1  │         │         │
       ●── log ──►─────────►  to be hit by O(a,b,1)
    2  │         │         │
       ●── log ──►─────────►  to be hit by C(a,2)
    ⋮  │         │         │  the same at time 3
    4  │         │         │
    """)


def test_steps_that_repeat_are_summed_up() -> None:
    assert diagram_lines(lamport_of(run(RETRY, eot=12))) == picture("""
        a         b         c
     1  │         │         │
        ●── log ──►─────────►
     ⋮  │         │         │  the same at times 2 to 11
    12  │         │         │
    """)
    assert diagram_lines(lamport_of(run(SIMPLE, eot=12)))[3:] == picture("""
     2  │         │         │
     ⋮  │         │         │  nothing is sent at times 2 to 11
    12  │         │         │
    """)


def test_late_messages_say_when_they_arrive() -> None:
    delays = [Delay("a", "b", 1, 1), Delay("a", "c", 3, 1)]
    assert diagram_lines(lamport_of(run(RETRY, delays))) == picture("""
       a         b         c
    1  │         │         │
       ●── log ──►─────────►  LATE, arrives at 3: D(a,b,1,1)
    2  │         │         │
       ●── log ──►─────────►
    3  │         │         │
       ●── log ──►─────────►  LATE, not there at the end: D(a,c,3,1)
    4  │         │         │
    """)


def test_faults_that_hit_nothing_are_told() -> None:
    lines = diagram_lines(lamport_of(run(SIMPLE, [Loss("b", "c", 2)])))
    assert lines[-1] == "O(b,c,2): no such message here"


def test_kafka_fits_on_a_screen() -> None:
    lines = diagram_lines(lamport_of(run(EXAMPLES / "kafka.ded", KAFKA)))
    assert len(lines) == 28
    assert max(map(len, lines)) <= 100
    assert sum("LOST" in line for line in lines) == 2


@pytest.mark.parametrize("name", sorted(p.stem for p in EXAMPLES.glob("*.ded")))
def test_every_example_fits(name: str) -> None:
    for line in diagram_lines(lamport_of(run(EXAMPLES / f"{name}.ded"))):
        assert len(line) <= 100


def _ring(size: int, senders: int) -> Diagram:
    processes = tuple(f"n{k}" for k in range(size))
    arrows = tuple(
        Arrow(processes[k], processes[k + 1], 1, 2, ("m",), ("m()",), Fate.DELIVERED) for k in range(senders)
    )
    return Diagram(processes, 2, arrows)


def test_in_a_crowd_the_idle_are_left_out() -> None:
    assert diagram_lines(_ring(60, 2)) == picture("""
       n0      n1      n2
    1   │       │       │
        ●── m ──►       │
        │       ●── m ──►
    2   │       │       │
    left out for lack of room: 57 of 60 processes, untouched by any message or fault
    """)


def test_in_a_crowd_of_busy_ones_some_messages_are_written_out() -> None:
    lines = diagram_lines(_ring(60, 59), width=60)
    assert lines[0].split() == ["n0", "n1", "n2", "n3", "n4", "n5", "n6", "n7", "n8", "n9"]
    assert sum(line.count("►") for line in lines) == 9
    assert [line.split("   ")[-1] for line in lines if "→" in line] == [f"n{k} → n{k + 1} m" for k in range(9, 59)]
    assert lines[-2:] == [
        "without a column for lack of room: 50 of 60 processes; their",
        "messages are written out",
    ]


def test_in_a_crowd_those_that_faults_touch_come_first() -> None:
    ring = _ring(60, 59)
    lost = ring.arrows[57]._replace(arrived=None, fate=Fate.LOST, fault=1)
    lines = diagram_lines(ring._replace(arrows=(*ring.arrows[:57], lost), faults=("O(n57,n58,1)",)), width=60)
    assert lines[0].split() == ["n0", "n1", "n2", "n3", "n4", "n5", "n6", "n57", "n58"]
    assert [line for line in lines if "LOST" in line] == [
        "    │   │   │   │   │   │   │   ●╌╌╌✗   m; LOST O(n57,n58,1)"
    ]


def test_in_a_crowd_names_stand_in_several_rows() -> None:
    assert diagram_lines(Diagram(tuple(f"node{k}" for k in range(8)), 1, ()), width=50) == picture("""
       node0  node2   node4   node6
        │ node1 │ node3 │ node5 │ node7
    1   │   │   │   │   │   │   │   │
    """)


def test_long_names_lose_their_middle() -> None:
    lines = diagram_lines(Diagram(("node" * 50 + "1", "node" * 50 + "2"), 2, ()))
    assert lines[0].split() == ["nodenodenodenod…denode1", "nodenodenodenod…denode2"]


def test_control_characters_do_not_reach_the_terminal() -> None:
    diagram = Diagram(("a\x1b[31m", "b"), 2, (Arrow("b", "a\x1b[31m", 1, 2, ("x\ny",), (), Fate.DELIVERED),))
    text = "\n".join(diagram_lines(diagram))
    assert "\x1b" not in text
    assert "a?[31m" in text
    assert " x?y " in text


def test_a_narrow_terminal_is_refused() -> None:
    with pytest.raises(ValueError, match="40 columns, not 39"):
        diagram_lines(_ring(2, 1), width=39)


@given(diagrams(NAMES), st.integers(40, 130), st.booleans())
def test_no_line_is_wider_than_the_terminal(diagram: Diagram, width: int, ascii_only: bool) -> None:
    lines = diagram_lines(diagram, width=width, ascii_only=ascii_only)
    for line in lines:
        assert columns(line) <= width
        assert line == line.rstrip()
        assert line.isprintable()
        assert line.isascii() or not ascii_only


@given(diagrams(st.integers(0, 99).map("n{}".format), most=40, busiest=60), st.integers(60, 120))
def test_every_arrow_and_every_crash_is_shown(diagram: Diagram, width: int) -> None:
    lines = diagram_lines(diagram, width=width)
    text = "\n".join(lines)
    written_out = sum(1 for line in lines for word in line.split() if word == "→")
    narrow = sum(line.count("✗") for line in lines if "CRASHED" in line)
    assert text.count("CRASHED") == len(diagram.crashes)
    assert text.count("►") + text.count("◄") + text.count("✗") - narrow + written_out == len(diagram.arrows)
    for arrow in diagram.arrows:
        if arrow.fault is not None:
            assert diagram.faults[arrow.fault - 1] in text
    lost = [a for a in diagram.arrows if a.fate is Fate.LOST]
    assert ("LOST" in text) == bool(lost)


@given(diagrams(st.sampled_from("abcdef")))
def test_lost_arrows_end_in_a_cross(diagram: Diagram) -> None:
    """With room for all of them, crosses are lost messages and heads are those that go on."""
    calm = diagram._replace(crashes=())
    text = "\n".join(diagram_lines(calm))
    assert text.count("✗") == sum(a.fate is Fate.LOST for a in diagram.arrows)
    assert text.count("►") + text.count("◄") == sum(a.fate is not Fate.LOST for a in diagram.arrows)


def test_a_crash_at_the_first_time() -> None:
    diagram = _ring(3, 0)._replace(crashes=(CrashMark("n1", 1, 1),), faults=("C(n1,1)",))
    assert diagram_lines(diagram) == picture("""
         n0       n1       n2
    1     │     CRASHED     │     C(n1,1)
    2     │        ┊        │
    """)
