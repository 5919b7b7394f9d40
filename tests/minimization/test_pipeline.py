"""The stages one after the other: what each leaves, and that the violation stays the same."""

from __future__ import annotations

from typing import Any

import pytest

from clew.minimization import pipeline
from clew.minimization.minimizing import Minimized, minimize
from clew.simulation import Broken, Context, Node, Restart, Send
from clew.simulation.execution.steps import Size, Step
from minimization.scenarios import (
    Keeper,
    Key,
    Relay,
    act,
    keepers,
    never,
    of_steps,
    tick,
    votes,
)


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """The walks at the end find nothing here, as nothing shorter exists."""
    monkeypatch.setattr(pipeline, "_PATIENCE", 3)


def table(found: Minimized) -> list[tuple[str, int, int]]:
    return [(stage.name, stage.size.deliveries, stage.size.externals) for stage in found.stages]


# -- what the stages leave ---------------------------------------------------------------------------------------


def test_tfb_replaces_messages_whose_contents_depend_on_history() -> None:
    """The votes of terms 4 and 5 need all five terms; those of terms 1 and 2 do as well."""
    scenario, recording = votes(lambda kept: len(kept) == 2)
    found = minimize(recording, scenario)
    assert table(found) == [
        ("recorded", 7, 0),
        ("provenance", 7, 0),
        ("STSSched", 7, 0),
        ("TFB", 4, 0),
        ("contents", 4, 0),
        ("shortening", 4, 0),
    ]
    assert [stage.schedules for stage in found.stages][:2] == [1, 1]
    assert found.recording.steps == (
        tick("a", 1),
        tick("a", 3),
        act("a", 2, "b", "Vote", mark="Vote(term=1)"),
        act("a", 4, "b", "Vote", mark="Vote(term=2)"),
    )
    assert found.pace[0] == (1, 7)
    assert found.pace[-1][1] == 4


def test_every_stage_does_its_part() -> None:
    """c has nothing to do with it; one of two relays is too many, and one of the keys of the other."""
    scenario = keepers(never("b", lambda kept: 3 in kept))
    steps: list[Step] = [
        Send("c", Key(9)),
        act("", 1, "c"),
        Send("a", Relay("b", (1,))),
        Send("a", Relay("b", (2, 3))),
        act("", 2, "a", "Relay"),
        act("a", 2, "b"),
        act("", 3, "a", "Relay"),
        act("a", 4, "b"),
    ]
    found = minimize(of_steps(scenario, steps), scenario)
    assert table(found) == [
        ("recorded", 5, 3),
        ("provenance", 4, 2),
        ("STSSched", 2, 1),
        ("TFB", 2, 1),
        ("contents", 2, 1),
        ("shortening", 2, 1),
    ]
    assert found.recording.steps == (
        Send("a", Relay("b", (3,))),
        act("", 1, "a", "Relay"),
        act("a", 2, "b"),
    )
    assert found.size == Size(2, 1)


# -- the same violation ------------------------------------------------------------------------------------------


class Crashing(Keeper):
    """Raises in one place or in another."""

    def on_message(self, ctx: Context, sender: str, message: Any) -> None:
        super().on_message(ctx, sender, message)
        if len(self.kept) == 3:
            self.three()
        if self.kept[-1:] == [7]:
            self.seven()

    def three(self) -> None:
        raise ValueError("wrong")

    def seven(self) -> None:
        raise ValueError("wrong")


def sent(node: str, *keys: int) -> list[Step]:
    steps: list[Step] = [Send(node, Key(key)) for key in keys]
    return [*steps, *(act("", k + 1, node) for k in range(len(keys)))]


@pytest.mark.parametrize("named", [True, False])
def test_another_invariant_is_another_violation(named: bool) -> None:
    """Key 7 alone would break the other one, with a third of the events."""

    def seven(nodes: Any) -> Broken | None:
        return Broken("seven", "kept", ("b",) if named else ()) if nodes["b"].kept[-1:] == [7] else None

    def many(nodes: Any) -> Broken | None:
        return Broken("many", "kept", ("b",) if named else ()) if len(nodes["b"].kept) == 3 else None

    scenario = keepers(many, seven)
    found = minimize(of_steps(scenario, sent("b", 5, 6, 7)), scenario)
    assert found.recording.broken == Broken("many", "kept", ("b",) if named else ())
    # Two keys, and a tick in place of the third.
    assert found.size == Size(3, 2)


def test_the_same_exception_elsewhere_is_another_violation() -> None:
    scenario = keepers(nodes=dict.fromkeys("ab", Crashing), running="ab")
    found = minimize(of_steps(scenario, sent("b", 5, 6, 7)), scenario)
    assert found.recording.identity == "no uncaught exception at b: ValueError in Crashing.three"
    assert found.size == Size(3, 2)


def test_the_same_at_another_node_is_another_violation() -> None:
    """a would break with one message."""
    wrong_a, wrong_b = never("a", lambda kept: len(kept) == 1), never("b", lambda kept: len(kept) == 2)
    scenario = keepers(wrong_b, wrong_a)
    steps: list[Step] = [tick("d"), Send("a", Relay("b", (1, 2))), act("", 1, "a", "Relay")]
    steps += [act("a", 2, "b"), act("a", 3, "b")]
    found = minimize(of_steps(scenario, steps), scenario)
    assert found.recording.identity == "never at b"
    assert found.recording.steps == tuple(steps[1:])


def test_the_scenarios_own_identity_counts() -> None:
    """What is kept is part of it, so that not even the order may change."""
    scenario = keepers(never("b", lambda kept: len(kept) == 3), identity=lambda broken: broken.what)
    found = minimize(of_steps(scenario, [Restart("a"), *sent("b", 3, 2, 1)]), scenario)
    assert found.recording.identity == "b keeps [3, 2, 1]"
    assert found.size == Size(3, 3)


def test_what_breaks_before_the_first_event() -> None:
    class Fragile(Node):
        def on_start(self, ctx: Context) -> None:
            raise ValueError("no")

    scenario = keepers(nodes={"a": Fragile}, running="a")
    found = minimize(of_steps(scenario, []), scenario)
    assert (found.recording.steps, found.size, found.reason) == ((), Size(0, 0), None)


# -- how long shortening goes on ---------------------------------------------------------------------------------


def test_shortening_that_gains_nothing_costs_no_more_than_what_was_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a short recording it ends with its least patience, of a long one later: it can afford to."""
    monkeypatch.setattr(pipeline, "_PATIENCE", 20)
    monkeypatch.setattr(pipeline, "_LEAST_PATIENCE", 2)
    scenario = keepers(never("b", lambda kept: 7 in kept))
    short = minimize(of_steps(scenario, sent("b", 7)), scenario)
    long = minimize(of_steps(scenario, sent("b", *[1] * 150, 7)), scenario)
    assert short.size == long.size == Size(1, 1)
    assert [found.stages[-1].schedules for found in (short, long)] == [207, 1016]


def test_effort_is_the_same_with_several_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipeline, "_LEAST_PATIENCE", 2)
    scenario = keepers(never("b", lambda kept: 7 in kept and len(kept) > 3))
    recording = of_steps(scenario, sent("b", *range(1, 30)))
    one, two = (minimize(recording, scenario, workers=workers) for workers in (1, 2))
    assert one.recording == two.recording
    assert [stage.schedules for stage in one.stages] == [stage.schedules for stage in two.stages]
