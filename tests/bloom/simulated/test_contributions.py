"""From which collections the effects of a step came."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from clew.bloom import Bloom, agg, bloom, channel, lset, scratch, table
from clew.bloom.ir.program import Op
from clew.bloom.simulated import bloom_scenario, insert
from clew.bloom.simulated.contributions import Contributions, Effect
from clew.injection.execution.course import Course
from clew.injection.execution.run import InjectedRun
from clew.injection.lineage.ways import trace_events
from clew.simulation import VirtualTime
from clew.simulation.pool import Envelope


class Rules(Bloom):
    """Every way in which a row can come from others."""

    given = channel("@to", "x")
    a = table("x")
    b = table("x")
    absent = table("x")
    unused = table("x")
    middle = scratch("x")
    kept = table("x")
    counted = table(val=["n"])
    grown = lset()
    later = table("x")
    out = channel("@to", "x")

    @bloom
    def derive(self) -> None:
        self.middle <= (self.given * self.a).rights(x="x")
        self.kept <= self.middle.notin(self.absent)
        self.counted <= self.b.group([], n=agg.count())
        self.grown <= self.kept
        self.later <+ self.grown.elements("x")
        self.later <- self.b
        self.out <~ (self.unused * self.middle).pairs(lambda u, m: ("q", m.x))
        self.out <~ (self.kept * self.b).pairs(lambda k, b: ("q", k.x), x="x")


@pytest.mark.parametrize(
    ("effects", "empty", "found"),
    [
        ([("kept", Op.NOW)], [], {"a", "absent"}),
        ([("kept", Op.NOW)], ["absent"], {"a", "absent"}),
        ([("kept", Op.NOW)], ["middle"], set()),
        ([("middle", Op.NOW)], ["given"], set()),
        ([("counted", Op.NOW)], [], {"b"}),
        ([("grown", Op.NOW)], [], {"kept"}),
        ([("later", Op.NEXT)], [], {"grown"}),
        ([("later", Op.DELETE)], [], {"b"}),
        ([("out", Op.SEND)], [], {"unused", "a", "kept", "b"}),
        ([("out", Op.SEND)], ["unused"], {"kept", "b"}),
        ([("out", Op.SEND)], ["b"], {"unused", "a"}),
        ([], [], set()),
    ],
)
def test_rules_are_followed_back_as_far_as_they_can_have_derived_something(
    effects: Iterable[Effect], empty: list[str], found: set[str]
) -> None:
    contributions = Contributions(Rules("q").program)
    assert contributions.find(effects, lambda name: name not in empty) == found


class Two(Bloom):
    """Keeps two things that have nothing to do with each other, and tells one of them."""

    left = channel("@to", "x")
    right = channel("@to", "x")
    lefts = table("x")
    rights = table("x")
    ask = channel("@to", "who")
    answer = channel("@to", "x")
    answers = table("x")

    @bloom
    def keep(self) -> None:
        self.lefts <= self.left.payloads()
        self.rights <= self.right.payloads()
        self.answer <~ (self.ask * self.lefts).pairs(lambda a, e: (a.who, e.x))
        self.answers <= self.answer.payloads()


def _traced() -> Course:
    scenario = bloom_scenario(
        {"a": Two, "b": Two},
        before=[
            insert("a", "left", ("a", 1)),
            insert("a", "right", ("a", 2)),
            insert("a", "left", ("a", 3)),
            insert("a", "ask", ("a", "b")),
            insert("a", "right", ("a", 4)),
        ],
        time=VirtualTime(until=5),
    )
    return InjectedRun(scenario, tracing=True).finish()


def _messages(course: Course, events: Iterable[int]) -> list[str]:
    whats = [course.occurrences[number].what for number in sorted(events)]
    return [f"{what.kind} {what.payload.row[1]}" for what in whats if isinstance(what, Envelope)]


def test_lineage_sees_collections_and_not_only_nodes() -> None:
    course = _traced()
    assert _messages(course, trace_events(course, [("b", "answers")])) == [
        "left 1",
        "left 3",
        "ask b",
        "answer 1",
        "answer 3",
    ]
    assert _messages(course, trace_events(course, [("a", "rights")])) == ["right 2", "right 4"]
