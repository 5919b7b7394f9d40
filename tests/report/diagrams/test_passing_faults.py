"""Restarts, pauses, partitions and duplicates in Lamport diagrams: whole small ones to the letter.

And for any program: every fault of a run is named in its diagram, whatever kinds are mixed.
"""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from clew import Execution, parse_program, run
from clew.engine.ground import GroundProgram
from clew.faults import Crash, Delay, Duplicate, Fault, Loss, Partition, Pause, Restart, Stop
from clew.program.checks import check_program
from clew.report.diagrams.lamport import Band, Diagram, Fate, Halt, HaltKind, lamport_of
from clew.report.diagrams.lamport_svg import diagram_svg, legend_items
from clew.report.diagrams.lamport_text import diagram_lines
from generators import fault_sets, lasting_programs, mixed_specs

PINGS = parse_program("""
    durable peer;
    peer("a", "b")@1; peer("a", "c")@1; peer(X, Y)@next :- peer(X, Y);
    ping(Y, X)@async :- peer(X, Y);
    pong(X, Y)@async :- ping(Y, X);
""")
ALL: list[Fault] = [Duplicate("a", "b", 1, 2), Restart("c", 3, 4), Pause("a", 2, 3), Partition(("b",), 3, 5)]
RESTART, PAUSE, PARTITION = Restart("b", 2, 4), Pause("b", 2, 4), Partition(("b",), 2, 4)


def pings(*faults: Fault) -> Execution:
    return run(PINGS, faults, nodes=["a", "b", "c"], eot=5)


def drawn(*faults: Fault, ascii_only: bool = False) -> list[str]:
    return diagram_lines(lamport_of(pings(*faults)), ascii_only=ascii_only)


def picture(text: str) -> list[str]:
    return [line.removeprefix(" " * 4) for line in text.split("\n")[1:-1]]


def fates(*faults: Fault) -> list[tuple[str, str, int, int | None, Fate, tuple[int, ...]]]:
    """The arrows that faults hit."""
    arrows = lamport_of(pings(*faults)).arrows
    return [(a.source, a.target, a.sent, a.arrived, a.fate, a.blamed) for a in arrows if a.blamed]


# -- text -------------------------------------------------------------------------------------------------------


def test_a_node_that_restarts() -> None:
    """What arrives while it is down is lost to the restart."""
    assert drawn(RESTART) == picture("""
         a          b          c
    1    │          │          │
         ●── ping ──┼──────────►
         ●╌╌ ping ╌╌✗          │    LOST R(b,2,4)
    2    │        DOWN         │    R(b,2,4)
         ●── ping ──┼──────────►
         ●╌╌ ping ╌╌✗          │    LOST R(b,2,4)
         ◄──────────┼── pong ──●
    3    │          ┊          │
         ●── ping ──►──────────►
         ◄──────────┼── pong ──●
    4    │          │          │    b restarts
         ●── ping ──►──────────►
         ◄── pong ──●          │
         ◄──────────┼── pong ──●
    5    │          │          │
    """)


def test_a_node_that_restarts_in_ascii() -> None:
    assert drawn(RESTART, ascii_only=True) == picture("""
         a          b          c
    1    |          |          |
         o-- ping --+---------->
         o.. ping ..X          |    LOST R(b,2,4)
    2    |        DOWN         |    R(b,2,4)
         o-- ping --+---------->
         o.. ping ..X          |    LOST R(b,2,4)
         <----------+-- pong --o
    3    |          .          |
         o-- ping -->---------->
         <----------+-- pong --o
    4    |          |          |    b restarts
         o-- ping -->---------->
         <-- pong --o          |
         <----------+-- pong --o
    5    |          |          |
    """)


def test_a_node_that_stops_and_one_that_crashes() -> None:
    """To one that has crashed messages still arrive, and to the other they are lost."""
    assert drawn(Stop("b", 3), Crash("c", 4)) == picture("""
          a          b          c
    1     │          │          │
          ●── ping ──►──────────►
    2     │          │          │
          ●── ping ──┼──────────►
          ●╌╌ ping ╌╌✗          │     LOST S(b,3)
          ◄── pong ──●          │
          ◄──────────┼── pong ──●
    3     │       STOPPED       │     S(b,3)
          ●── ping ──┼──────────►
          ●╌╌ ping ╌╌✗          │     LOST S(b,3)
          ◄──────────┼── pong ──●
    4     │          ┊       CRASHED  C(c,4)
          ●── ping ──┼──────────►
          ●╌╌ ping ╌╌✗          ┊     LOST S(b,3)
    5     │          ┊          ┊
    """)


def test_a_node_that_pauses() -> None:
    """What arrives waits, and arrives when it goes on."""
    assert drawn(PAUSE) == picture("""
          a          b          c
    1     │          │          │
          ●── ping ──►──────────►     LATE, arrives at 4: Z(b,2,4)
    2     │       PAUSED        │     Z(b,2,4)
          ●── ping ──►──────────►     LATE, arrives at 4: Z(b,2,4)
          ◄──────────┼── pong ──●
    3     │          ║          │
          ●── ping ──►──────────►
          ◄──────────┼── pong ──●
    4     │          │          │     b goes on
          ●── ping ──►──────────►
          ◄── pong ──●          │
          ◄──────────┼── pong ──●
    5     │          │          │
    """)


def test_a_node_that_pauses_in_ascii() -> None:
    assert drawn(PAUSE, ascii_only=True) == picture("""
          a          b          c
    1     |          |          |
          o-- ping -->---------->     LATE, arrives at 4: Z(b,2,4)
    2     |       PAUSED        |     Z(b,2,4)
          o-- ping -->---------->     LATE, arrives at 4: Z(b,2,4)
          <----------+-- pong --o
    3     |          =          |
          o-- ping -->---------->
          <----------+-- pong --o
    4     |          |          |     b goes on
          o-- ping -->---------->
          <-- pong --o          |
          <----------+-- pong --o
    5     |          |          |
    """)


def test_a_partition() -> None:
    assert drawn(PARTITION) == picture("""
        a          b          c
    1   │          │          │
        ●── ping ──►──────────►
    2 ▒ │          │          │  b CUT OFF P({b},2,4)
      ▒ ●── ping ──┼──────────►
      ▒ ●╌╌ ping ╌╌✗          │  LOST P({b},2,4)
      ▒ ✗╌╌ pong ╌╌●          │  LOST P({b},2,4)
      ▒ ◄──────────┼── pong ──●
    3 ▒ │          │          │
      ▒ ●── ping ──┼──────────►
      ▒ ●╌╌ ping ╌╌✗          │  LOST P({b},2,4)
      ▒ ◄──────────┼── pong ──●
    4   │          │          │  b no longer cut off
        ●── ping ──►──────────►
        ◄──────────┼── pong ──●
    5   │          │          │
    """)


def test_a_partition_in_ascii() -> None:
    assert drawn(PARTITION, ascii_only=True) == picture("""
        a          b          c
    1   |          |          |
        o-- ping -->---------->
    2 # |          |          |  b CUT OFF P({b},2,4)
      # o-- ping --+---------->
      # o.. ping ..X          |  LOST P({b},2,4)
      # X.. pong ..o          |  LOST P({b},2,4)
      # <----------+-- pong --o
    3 # |          |          |
      # o-- ping --+---------->
      # o.. ping ..X          |  LOST P({b},2,4)
      # <----------+-- pong --o
    4   |          |          |  b no longer cut off
        o-- ping -->---------->
        <----------+-- pong --o
    5   |          |          |
    """)


def test_a_message_that_arrives_twice() -> None:
    assert drawn(Duplicate("a", "b", 1, 2)) == picture("""
       a          b          c
    1  │          │          │
       ●── ping ──►──────────►
       ●── ping ──►          │  AGAIN, arrives at 4: U(a,b,1,2)
    2  │          │          │
       ●── ping ──►──────────►
       ◄── pong ──●          │
       ◄──────────┼── pong ──●
    ⋮  │          │          │  the same at times 3 and 4
    5  │          │          │
    """)


def test_a_message_that_arrives_twice_in_ascii() -> None:
    assert drawn(Duplicate("a", "b", 1, 2), ascii_only=True) == picture("""
       a          b          c
    1  |          |          |
       o-- ping -->---------->
       o-- ping -->          |  AGAIN, arrives at 4: U(a,b,1,2)
    2  |          |          |
       o-- ping -->---------->
       <-- pong --o          |
       <----------+-- pong --o
    :  |          |          |  the same at times 3 and 4
    5  |          |          |
    """)


def test_all_kinds_together() -> None:
    assert drawn(*ALL) == picture("""
           a          b          c
    1      │          │          │
           ●── ping ──►──────────►
           ●── ping ──►          │     AGAIN, arrives at 4: U(a,b,1,2)
    2   PAUSED        │          │     Z(a,2,3)
           ◄── pong ──●          │
           ◄──────────┼── pong ──●
    3 ▒    │          │        DOWN    R(c,3,4); a goes on; b CUT OFF P({b},3,5)
      ▒    ●── ping ──┼──────────►
      ▒    ●╌╌ ping ╌╌✗          ┊     LOST P({b},3,5)
    4 ▒    │          │          │     c restarts
      ▒    ●── ping ──┼──────────►
      ▒    ●╌╌ ping ╌╌✗          │     LOST P({b},3,5)
      ▒    ✗╌╌ pong ╌╌●          │     LOST P({b},3,5)
      ▒    ◄──────────┼── pong ──●
    5      │          │          │     b no longer cut off
    """)


def test_a_second_arrival_that_finds_its_receiver_down_is_lost() -> None:
    assert drawn(Duplicate("a", "b", 1, 2), Restart("b", 4, 5))[2:4] == picture("""
         ●── ping ──►──────────►
         ●╌╌ ping ╌╌✗          │    LOST U(a,b,1,2) R(b,4,5)
    """)


def test_the_failure_free_run_beside_it_shows_what_will_be_hit() -> None:
    faults: list[Fault] = [
        Duplicate("a", "b", 1, 2),
        Restart("b", 4, 5),
        Pause("a", 2, 3),
        Partition(("c",), 3, 4),
    ]
    lines = diagram_lines(lamport_of(pings(), faults))
    assert [line[26:].strip() for line in lines if "hit" in line] == [
        "to be hit by U(a,b,1,2)",
        "to be hit by Z(a,2,3)",
        "to be hit by R(b,4,5) P({c},3,4)",
        "to be hit by P({c},3,4)",
        "to be hit by R(b,4,5)",
    ]
    assert not any(word in "\n".join(lines) for word in ("DOWN", "PAUSED", "CUT OFF", "AGAIN"))


def test_steps_in_which_a_node_goes_down_or_comes_back_are_not_summed_up() -> None:
    diagram = lamport_of(run(PINGS, [Restart("b", 4, 8)], nodes=["a", "b", "c"], eot=14))
    lines = diagram_lines(diagram)
    assert [line.split()[0] for line in lines[1:] if line[:2].strip()] == [*"1234⋮78⋮", "14"]
    assert [line[33:] for line in lines if re.match(r" [48] ", line)] == ["R(b,4,8)", "b restarts"]


def test_in_narrow_columns_the_margin_names_the_node() -> None:
    halts = tuple(Halt(f"n{k}", HaltKind.DOWN, k, k + 1, k) for k in range(1, 7))
    crowd = Diagram(
        tuple(h.process for h in halts), 7, (), (), tuple(f"R({h.process})" for h in halts), halts=halts
    )
    lines = diagram_lines(crowd, width=44)
    assert lines[1] == "1   ┊   │   │   │   │   │   n1 DOWN R(n1)"


# -- what is in the picture --------------------------------------------------------------------------------------


def test_spans_and_bands_have_the_numbers_of_their_faults() -> None:
    diagram = lamport_of(pings(Loss("a", "b", 1), RESTART, Pause("a", 3, 5), Partition(("c",), 1, 3)))
    assert diagram.halts == (Halt("b", HaltKind.DOWN, 2, 4, 2), Halt("a", HaltKind.PAUSED, 3, 5, 3))
    assert diagram.bands == (Band(("c",), 1, 3, 4),)
    assert diagram.unseen_faults == ()


def test_messages_blame_what_hits_them() -> None:
    assert fates(Delay("a", "b", 1, 1), Restart("b", 3, 4)) == [
        ("a", "b", 1, None, Fate.LOST, (1, 2)),
        ("a", "b", 2, None, Fate.LOST, (2,)),
    ]
    assert fates(Delay("a", "b", 1, 1), Stop("b", 3))[0] == ("a", "b", 1, None, Fate.LOST, (1, 2))
    assert fates(Delay("a", "b", 1, 1), Pause("b", 3, 5))[0] == ("a", "b", 1, 5, Fate.LATE, (1, 2))
    assert fates(Pause("b", 2, 3), Pause("b", 3, 4))[0] == ("a", "b", 1, 4, Fate.LATE, (1, 2))
    assert fates(Pause("b", 2, 3), Restart("b", 3, 4))[0] == ("a", "b", 1, None, Fate.LOST, (2, 1))
    assert fates(Duplicate("a", "b", 1, 2), Partition(("b",), 1, 2)) == [("a", "b", 1, None, Fate.LOST, (2, 1))]
    assert fates(Crash("c", 2), Duplicate("a", "c", 1, 1)) == [("a", "c", 1, 3, Fate.AGAIN, (2,))]


# -- SVG ---------------------------------------------------------------------------------------------------------


def test_the_drawing_of_a_stop() -> None:
    diagram = lamport_of(pings(Stop("b", 3), Crash("c", 4)))
    svg = diagram_svg(diagram, title="both", standalone=True)
    assert "<title>b stops at time 3: S(b,3)</title>" in svg
    assert ">STOPPED</text>" in svg and ">CRASHED</text>" in svg
    assert [item.text for item in legend_items(diagram)] == ["delivered", "lost", "crashed", "stopped"]


def test_the_drawing_of_all_kinds() -> None:
    diagram = lamport_of(pings(*ALL))
    svg = diagram_svg(diagram, title="all", standalone=True)
    assert "<title>c is down from time 3 on and restarts at 4: R(c,3,4)</title>" in svg
    assert "<title>a is paused from time 2 on and goes on at 3: Z(a,2,3)</title>" in svg
    assert "<title>b cut off from the others at times 3 to 4: P({b},3,5)</title>" in svg
    assert "arrived again 4; because of U(a,b,1,2)</title>" in svg
    assert "arrived 3; because of Z(a,2,3)" not in svg, "what comes at 3 finds it running"
    for kind in ("dead", "frozen", "band", "island", "arrow again", "badge paused"):
        assert f'class="{kind}"' in svg, kind
    assert [item.text for item in legend_items(diagram)] == [
        "delivered",
        "lost",
        "arrives again",
        "down, restarts",
        "paused",
        "a group is cut off",
    ]


def test_a_lifeline_has_a_piece_for_every_state() -> None:
    svg = diagram_svg(lamport_of(pings(Pause("b", 2, 3), Restart("b", 3, 4), Crash("b", 4))), title="one")
    ways = dict(re.findall(r'<path class="(life|dead|frozen)" d="([^"]*)"/>', svg))
    assert [ways[kind].count("M284") for kind in ("life", "frozen", "dead")] == [1, 1, 2]


# -- any program --------------------------------------------------------------------------------------------------


@given(st.data())
def test_every_fault_is_named_in_any_diagram(data: st.DataObject) -> None:
    program = data.draw(lasting_programs())
    spec = data.draw(mixed_specs(program))
    faults = data.draw(fault_sets(spec))
    ground = GroundProgram(check_program(program).program, spec)
    happened = ground.run(faults)
    diagram = lamport_of(happened)
    text = "".join("\n".join(diagram_lines(diagram)).split())  # remarks are wrapped
    svg = diagram_svg(diagram, title="any", standalone=True)
    for fault in faults:
        assert str(fault) in text
        assert str(fault) in svg
    seen = {(a.sent, a.source, a.target, a.arrived) for a in diagram.arrows}
    for m in happened.messages:
        if m.arrived is not None and m.source != m.target:
            assert (m.sent, m.source, m.target, m.arrived) in seen
            assert m.again is None or (m.sent, m.source, m.target, m.again) in seen
    lamport_of(ground.run(type(faults)()), faults)
