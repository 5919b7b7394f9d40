"""A simulated run on the terminal: exactly what is shown, and that nothing breaks the terminal or its width."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass

import pytest

from clew.report.simulated.page import run_page
from clew.report.simulated.text import run_text
from clew.report.text.plain import columns
from clew.simulation import CodeBlock, Context, Heal, Node, Send, Start, Stop, World
from clew.simulation.execution.steps import Step
from clew.simulation.execution.trace import Execution, execute
from clew.simulation.fuzzing.random_run import random_run
from clew.simulation.loading import load_scenario
from command import ROOT
from simulated import Echo, Ping, act, crash, drawn, eager, everything, hostile, scenario, turned

SHOWN = """\
everything: 8 deliveries in 21 events; 1 message is still under way.

       a               b               c
 1   START             ┊               ┊
 2     │             START             ┊
 4     ▼ Go            │               ┊
       ●╌╌╌╌ Ping ╌╌╌╌╌┼╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌✗     LOST: c is down
 5     ↻ Note          │               ┊
 6     ✗╌╌ partition ╌╌┼╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌✗
 7     │               │             START
 8     ●──── Ping ─────►               │     sent at 4
 9     ◷ again         │               │
11     ●╌╌╌╌ Ping ╌╌╌╌╌✗               │     LOST, sent at 9
12     │               │               │     all partitions heal
13     ●──── Ping ─────┼───────────────►     sent at 9
14     ✗╌╌ partition ╌╌●               │
15     ○──── heals ────○               │
16     │               │               │     code block nothing
17     │               │            RESTART
18     ◄──── Pong ─────●               │     sent at 8
19     ●──── Ping ─────►               │     sent at 9
20     │             STOP              │
21     ◄───────────────┼──── Pong ─────●     sent at 13; VIOLATED
▼ a message from outside   ◷ a timer   ↻ a message to itself   ┊ not up

 1. start a
      begins with lives=1, pings=[], pongs={}
 2. start b
      begins with lives=1, pings=[], pongs={}
 3. outside sends a: Go()
      arrives at 4
 4. a <- outside: Go()
      sets timer again, goes off at 9
      sends Note() to a at 5
      sends Ping(hops=1) to b at 8, c (down)
 5. a <- a: Note()
 6. partition, nothing gets from a to c nor back
 7. start c
      begins with lives=1, pings=[], pongs={}
 8. b <- a: Ping(hops=1)
      pings: [] -> [1]
      says: pinged by a
      sends Pong(text='x') to a at 18
 9. a, timer again
      sends Ping(hops=2) to b lost at 11, c at 13
10. duplicated on the way from a to b: Ping(hops=2)
      the copy arrives at 19
11. lost on the way from a to b: Ping(hops=2)
12. all partitions heal
13. c <- a: Ping(hops=2)
      pings: [] -> [2]
      says: pinged by a
      sends Pong(text='xx') to a at 21
14. partition, nothing gets from b to a
15. the partition of b and a heals
16. code block nothing
17. restart c
      lives: 1 -> 2
      pings: [2] -> []
18. a <- b: Pong(text='x')
      pongs: {} -> {'b': 'x'}
19. b <- a: Ping(hops=2)
      pings: [1] -> [1, 2]
      says: pinged by a
      sends Pong(text='xx'), not delivered to a
20. stop b
21. a <- c: Pong(text='xx')
      pongs: {'b': 'x'} -> {'b': 'x', 'c': 'xx'}

VIOLATED: one pong at a: a has pongs from b and c
"""


def test_one_of_everything() -> None:
    assert run_text("everything", everything()) == SHOWN


def test_what_was_sent_before_the_first_event() -> None:
    assert (
        run_text("eager", eager())
        == """\
eager: 2 deliveries in 2 events.

   a          b
1  ◄── Ping ──●  sent at the beginning
2  ●── Pong ──►  sent at 1

1. a <- b: Ping(hops=1)
     pings: [] -> [1]
     says: pinged by b
     sends Pong(text='x') to b at 2
2. b <- a: Pong(text='x')
     pongs: {} -> {'a': 'x'}
"""
    )


def test_an_exception_ends_with_its_trace() -> None:
    told = run_text("crash", crash())
    assert (
        "\nVIOLATED: no uncaught exception at a: AssertionError: three times x (in Player.on_message)\n\nTraceback"
        in told
    )
    assert told.endswith("\nAssertionError: three times x\n")


def test_no_event_no_diagram() -> None:
    assert run_text("empty", execute(scenario(), 0, [])) == "empty: 0 deliveries in 0 events.\n"


def test_events_without_any_node_and_in_vain() -> None:
    assert (
        run_text("heal", execute(scenario(), 0, [Heal()]))
        == """\
heal: 0 deliveries in 1 event.


1  all partitions heal

1. all partitions heal
"""
    )
    assert (
        run_text("vain", execute(scenario(), 0, [Start("a"), Send("b", Ping(1)), Stop("c"), Start("a")]))
        == """\
vain: 0 deliveries in 4 events.

     a           b           c
1  START         ┊           ┊
3    │           ┊         STOP
4  START         ┊           ┊
┊ not up

1. start a
     begins with lives=1, pings=[], pongs={}
2. outside sends b: Ping(hops=1)
     does not arrive: (down)
3. stop c, which is not up
4. start a, which is up already
"""
    )


def test_what_a_code_block_did() -> None:
    def shake(world: World) -> None:
        vars(world.nodes["a"])["lives"] = 9
        world.deliver(next(iter(world.pool.ready("", "a"))))
        world.lose(next(iter(world.pool.ready("", "b"))))
        world.inject(Stop("b"))

    steps: list[Step] = [Send("a", Ping(1)), Send("b", Ping(1)), CodeBlock("shake", shake), Send("a", Ping(2))]
    execution = execute(scenario(nodes=dict.fromkeys("ab", Echo), running=("a", "b")), 0, steps)
    # What the block delivered or lost is not under way any more; what its delivery sent is.
    text = run_text("shaken", execution)
    assert text.startswith("shaken: 0 deliveries in 4 events; 2 messages are still under way.\n")
    assert text.split("\n\n", 2)[2] == (
        "1. outside sends a: Ping(hops=1)\n"
        "     goes no further (taken by the code block at 3)\n"
        "2. outside sends b: Ping(hops=1)\n"
        "     goes no further (taken by the code block at 3)\n"
        "3. code block shake, which stops b\n"
        "     a.lives: 1 -> 9\n"
        "     a.pings: [] -> [1]\n"
        "     b.lives is gone\n"
        "     b.pings is gone\n"
        "     b.pongs is gone\n"
        "     says: pinged by a\n"
        "     sends Pong(text='x'), not delivered to a\n"
        "4. outside sends a: Ping(hops=2)\n"
        "     does not arrive: still under way\n"
    )
    page = run_page("shaken", execution)
    assert '<th scope="col">all nodes</th>' in page and "taken by the code block at" in page


def test_the_nodes_that_a_code_block_starts_and_stops_are_drawn() -> None:
    assert (
        run_text("turned", turned())
        == """\
turned: 1 delivery in 3 events.

      a             b             c
1  RESTART        STOP          START   code block turn, which restarts a, stops b, starts c
3     ▼ Note        ┊             │
▼ a message from outside   ┊ not up

1. code block turn, which restarts a, stops b, starts c
     a.lives: 1 -> 2
     b.lives is gone
     b.pings is gone
     b.pongs is gone
     c.lives: new, 1
     c.pings: new, []
     c.pongs: new, {}
2. outside sends a: Note()
     arrives at 3
3. a <- outside: Note()
"""
    )


def test_the_nodes_stand_in_the_order_that_is_asked_for() -> None:
    by_name, asked = (run_text("x", everything(), nodes=nodes).split("\n")[2].split() for nodes in ((), "cba"))
    assert (by_name, asked) == (["a", "b", "c"], ["c", "b", "a"])


def test_of_a_long_run_the_end_is_told() -> None:
    told = run_text("everything", everything(), most=4)
    assert (
        told
        == """\
everything: 8 deliveries in 21 events; 1 message is still under way; the first 17 events are left
out.

      a          b          c
18    ◄── Pong ──●          │    sent at 8
19    ●── Ping ──►          │    sent at 9
20    │        STOP         │
21    ◄──────────┼── Pong ──●    sent at 13; VIOLATED
┊ not up

18. a <- b: Pong(text='x')
      pongs: {} -> {'b': 'x'}
19. b <- a: Ping(hops=2)
      pings: [1] -> [1, 2]
      says: pinged by a
      sends Pong(text='xx'), not delivered to a
20. stop b
21. a <- c: Pong(text='xx')
      pongs: {'b': 'x'} -> {'b': 'x', 'c': 'xx'}

VIOLATED: one pong at a: a has pongs from b and c
"""
    )


@pytest.mark.parametrize("width", [40, 72, 100])
@pytest.mark.parametrize("execution", [everything(), eager(), hostile(), *(drawn(seed) for seed in range(6))])
def test_it_fits_and_every_event_is_told_once(execution: Execution, width: int) -> None:
    lines = run_text("run", execution, width=width).split("\n")
    assert [line for line in lines if columns(line) > width] == []
    numbers = [found[1] for line in lines if (found := re.match(r" ?(\d+)\. ", line))]
    assert numbers == [str(k + 1) for k in range(len(execution.moments))]


def test_a_raft_run_fits_and_its_page_is_small() -> None:
    raft = load_scenario(str(ROOT / "examples" / "raft" / "raft_bugs.py") + ":raft45").scenario
    execution = execute(raft, 0, random_run(raft, 0, recording=True).steps[:600])
    told = run_text("raft45", execution, nodes=tuple(raft.nodes))
    assert max(map(columns, told.split("\n"))) <= 100
    # By its fingerprint, which has the term.
    assert re.search(r"─ Vote \d+ (True|False) ─", told)
    assert len(run_page("raft45", execution, nodes=tuple(raft.nodes))) < 4_000_000


@pytest.mark.parametrize("ascii_only", [False, True])
def test_nothing_drives_the_terminal(ascii_only: bool) -> None:
    told = run_text("\x1b[2Jname", hostile(), ascii_only=ascii_only)
    assert all(char == "\n" or char.isprintable() for char in told)
    assert not ascii_only or told.isascii()


def test_in_ascii_the_picture_is_the_same() -> None:
    told = run_text("everything", everything(), ascii_only=True)
    assert told.isascii()
    assert " 4     v Go            |               ." in told.split("\n")
    assert told.partition("\n\n 1. ")[2] == SHOWN.partition("\n\n 1. ")[2]


def test_long_values_are_shown_around_what_changed() -> None:
    steps = [Start("a"), *(step for k in range(1, 41) for step in (Send("a", Ping(k)), act("", k, "a", "Ping")))]
    told = run_text("long", execute(scenario(nodes=dict.fromkeys("abc", Echo)), 0, steps), width=60)
    assert told.endswith("""\
81. a <- outside: Ping(hops=40)
      pings: …, 34, 35, 36, 37, 38, 39]
        -> …, 34, 35, 36, 37, 38, 39, 40]
      says: pinged by a
      sends
        Pong(text='xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'
        ), not delivered to a
""")


def test_a_message_is_shown_as_it_was_sent() -> None:
    """The receiver gets an object of its own, and may change it."""
    steps: list[Step] = [Start("a"), Start("b"), Send("a", Basket(["x"]))]
    steps += [act("", 1, "a", "Basket"), act("a", 1, "b", "Basket")]
    told = run_text("basket", execute(scenario(nodes=dict.fromkeys("ab", Greedy)), 0, steps))
    assert told.endswith("""\
3. outside sends a: Basket(items=['x'])
     arrives at 4
4. a <- outside: Basket(items=['x'])
     sends Basket(items=[]) to b at 5
5. b <- a: Basket(items=[])
""")


@dataclass
class Basket:
    items: list[str]


class Greedy(Node):
    def on_message(self, ctx: Context, sender: str, message: Basket) -> None:
        message.items.clear()
        if ctx.me == "a":
            ctx.send("b", message)
        message.items.append("stone")


def test_it_does_not_depend_on_the_hash_seed() -> None:
    code = (
        "from simulated import drawn\nfrom clew.report.simulated.text import run_text\n"
        "from clew.report.simulated.page import run_page\nprint(run_text('x', drawn(3)), run_page('x', drawn(4)))"
    )
    told = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT / "tests")},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(told) == 1
