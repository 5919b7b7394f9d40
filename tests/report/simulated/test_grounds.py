"""What a violation rests on: it comes last in every picture, below the latest events at the nodes read."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

import pytest

from clew.report.diagrams.lamport import Diagram
from clew.report.diagrams.lamport_events_text import event_lines
from clew.report.diagrams.lamport_svg import diagram_svg
from clew.report.simulated.diagram import run_diagram
from clew.report.simulated.page import run_page
from clew.report.simulated.run import story_of
from clew.report.simulated.text import run_text
from clew.simulation import Broken, CodeBlock, Context, Node, Scenario, Send, Start, World
from clew.simulation.execution.steps import Act, Do, Step
from clew.simulation.execution.trace import Execution, execute
from simulated import crash, drawn, everything


@dataclass(frozen=True)
class Put:
    value: int


class Register(Node):
    """Keeps a value; tells somebody who is down."""

    def __init__(self) -> None:
        self.value = 0

    def on_message(self, ctx: Context, sender: str, message: Put) -> None:
        self.value = message.value
        if message.value > 9:
            ctx.send("down", message)


def put(node: str, nth: int, value: int) -> list[Step]:
    return [Send(node, Put(value)), Act(Do.DELIVER, "", nth, node, False, "Put", "Put")]


def total(most: int, *named: str) -> Any:
    """The sum is at most so much; ``named``: the nodes to blame."""

    def invariant(nodes: Any) -> Broken | None:
        if sum(node.value for node in nodes.values()) > most:
            return Broken("total", "too much", named)
        return None

    return invariant


def run(invariant: Any, *steps: list[Step]) -> Execution:
    made = Scenario(nodes=dict.fromkeys(["a", "b", "c", "down"], Register), running="abc", invariants=[invariant])
    return execute(made, 0, [step for part in steps for step in part])


#: Events 2 and 4 at a, 6 at b, 8 at c.
PUTS = [put("a", 1, 1), put("a", 2, 2), put("b", 3, 3), put("c", 4, 4)]


def picture(execution: Execution, most: int | None = None) -> Diagram:
    return run_diagram(story_of(execution, most=most))


def times(diagram: Diagram) -> dict[int, int]:
    found = {mark.event: mark.time for mark in diagram.marks}
    return found | {a.event: a.arrived for a in diagram.arrows if a.event is not None and a.arrived is not None}


@pytest.mark.parametrize(
    ("named", "rests_on"),
    [
        ((), [("a", 2, 4), ("b", 1, 6)]),
        (("b", "c"), [("b", 1, 6)]),
        (("c", "a"), [("a", 2, 4)]),
        (("c",), []),
        (("a",), [("a", 2, 4)]),
        (("nobody", "\x1b<b>"), []),
    ],
)
def test_the_nodes_that_were_read(named: tuple[str, ...], rests_on: list[tuple[str, int, int]]) -> None:
    diagram = picture(run(total(8, *named), *PUTS))
    assert times(diagram) == {2: 1, 4: 2, 6: 1, 8: 3}, (
        "c has nothing to do with a and b, and comes last all the same"
    )
    assert [tuple(ground) for ground in diagram.grounds] == rests_on
    assert diagram.last == 3
    assert diagram_svg(diagram, title="x").count('class="ground"') == len(rests_on)


def test_a_run_that_holds_rests_on_nothing() -> None:
    execution = run(total(100), *PUTS)
    assert picture(execution).grounds == () and times(picture(execution))[8] == 1
    page = run_page("run", execution)
    assert 'class="ground"' not in page and "The invariant also read" not in page
    assert "seen at" not in run_text("run", execution)


def test_an_exception_rests_on_its_own_event() -> None:
    assert picture(crash()).grounds == ()
    assert "seen at" not in run_text("crash", crash())


def test_a_code_block_is_the_latest_event_of_the_nodes_that_it_changes() -> None:
    def change(world: World) -> None:
        world.nodes["a"].value = 5  # type: ignore[attr-defined]

    diagram = picture(run(total(11), *PUTS[:3], [CodeBlock("change", change)], PUTS[3]))
    assert [(ground.process, ground.event) for ground in diagram.grounds] == [("a", 7), ("b", 6)]


def test_text_and_page_name_them() -> None:
    execution = run(total(8), *PUTS)
    text = run_text("run", execution)
    assert "VIOLATED: total: too much\n  seen at a after 4, b after 6, c after 8\n" in text
    page = run_page("run", execution)
    told = " ".join(
        re.sub("<[^>]*>", " ", page.partition('id="e8"')[2].partition("</li>\n      </ol>")[0]).split()
    )
    assert "The invariant also read what these left 4 a ← outside: Put 6 b ← outside: Put" in told
    assert 'id="e8" data-event="8" data-depends="4 6 7"' in page, "so that these do not fade"
    assert "what the invariant read besides" in page


def test_what_is_left_out_is_above_all() -> None:
    diagram = picture(run(total(8), *PUTS), most=2)
    assert times(diagram) == {8: 2}
    assert [(ground.time, ground.event) for ground in diagram.grounds] == [(1, 4), (1, 6)]
    diagram_svg(diagram, title="x")


@pytest.mark.parametrize("ascii_only", [False, True])
def test_the_verdict_is_on_the_last_line_also_if_something_is_sent_in_vain(ascii_only: bool) -> None:
    execution = run(total(8), *PUTS[:2], put("b", 3, 10))
    lines = [line for line in event_lines(picture(execution), ascii_only=ascii_only) if "outside" not in line]
    assert lines[-1].endswith("LOST: down is down; VIOLATED")
    assert sum("VIOLATED" in line for line in lines) == 1


@pytest.mark.parametrize("execution", [everything(), *(drawn(seed) for seed in range(12))])
@pytest.mark.parametrize("named", [(), ("a",), ("b", "c")])
def test_whatever_happens_the_violation_comes_last(execution: Execution, named: tuple[str, ...]) -> None:
    broken = replace(execution, broken=Broken("x", "y", named))
    story, diagram = story_of(broken), picture(broken)
    at = times(diagram)
    if story.broken in at:
        assert all(time < at[story.broken] for number, time in at.items() if number != story.broken)
        assert all(ground.time < at[story.broken] for ground in diagram.grounds)
    latest = {m.happened.node: m.happened.number + 1 for m in execution.moments if m.happened.node}
    wanted = {node: n for node, n in latest.items() if node in (named or latest) and n != story.broken}
    assert {ground.process: ground.event for ground in diagram.grounds} == wanted
    assert all(at[ground.event] == ground.time for ground in diagram.grounds)


def test_a_start_can_be_what_breaks() -> None:
    def two(nodes: Any) -> str | None:
        return "two are up" if len(nodes) == 2 else None

    made = Scenario(nodes=dict.fromkeys("ab", Register), invariants=[two])
    diagram = picture(execute(made, 0, [Start("a"), Start("b")]))
    assert times(diagram) == {1: 1, 2: 2} and [ground.event for ground in diagram.grounds] == [1]
