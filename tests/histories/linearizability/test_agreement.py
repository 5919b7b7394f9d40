"""The search and the shortcuts against brute force, on random histories of every model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest

from clew.histories import Operation, Outcome
from clew.histories.linearizability.checking import Checked, check_part, divide
from clew.histories.linearizability.search import Budget
from clew.histories.linearizability.windows import Window
from clew.histories.models.choosing import MODELS
from histories.brute_force import OBJECTS, is_linearizable
from histories.drawn_histories import draw_history

#: Of each of the eight kinds; in the long mode together more than 100,000.
FEW, MANY = 300, 13_000
KINDS = [*((model, False) for model in MODELS), ("register", True), ("queue", True)]


def check(operations: Sequence[Operation], model: str, *, shortcuts: bool) -> list[Checked]:
    return [check_part(part, Budget(), shortcuts=shortcuts) for part in divide(operations, MODELS[model]())]


@pytest.mark.parametrize(("model", "unique"), KINDS)
def test_the_answer_is_that_of_brute_force(model: str, unique: bool, thorough: bool) -> None:
    answers = set()
    for seed in range(MANY if thorough else FEW):
        operations = draw_history(model, seed, 8 if thorough else 6, unique=unique)
        expected = is_linearizable(operations, OBJECTS[model])
        answers.add(expected)
        for shortcuts in (True, False):
            checked = check(operations, model, shortcuts=shortcuts)
            assert all(part.is_linearizable for part in checked) is expected, (seed, shortcuts)
            for part in checked:
                if part.order is not None:
                    assert_order(part.order, part, model)
                if part.window is not None:
                    assert_window(part.window, part, model)
    assert answers == {True, False}


def of_model(operations: Iterable[Operation], checked: Checked, model: str) -> list[Operation]:
    """Return operations as they were before a map was divided into registers."""
    if model != "map":
        return list(operations)
    (key,) = checked.part.key
    back: dict[str, tuple[str, Callable[[Any], Any]]] = {
        "read": ("get", lambda argument: key),
        "write": ("put", lambda argument: (key, argument)),
        "cas": ("cas", lambda argument: (key, *argument)),
    }
    return [
        op._replace(function=back[op.function][0], argument=back[op.function][1](op.argument)) for op in operations
    ]


def assert_order(order: Sequence[Operation], checked: Checked, model: str) -> None:
    """The order has all that was answered, once, is that of time, and is one that an object allows."""
    answered = [op for op in checked.part.operations if op.outcome is Outcome.OK]
    assert {op for op in order if op.outcome is Outcome.OK} == set(answered)
    assert len(order) == len(set(order))
    for place, later in enumerate(order):
        assert not any(op.end is not None and op.end < later.start for op in order[place + 1 :])
    cell: dict[object, object] = {}
    perform = OBJECTS[model]
    assert all(perform(cell, op, op.outcome is Outcome.OK) for op in of_model(order, checked, model))


def assert_window(window: Window, checked: Checked, model: str) -> None:
    """All before the culprit's answer can be explained; what contradicts itself does so to brute force, too."""
    assert window.culprit in window.operations
    operations = of_model(checked.part.operations, checked, model)
    if window.states is None:
        assert not is_linearizable(of_model(window.operations, checked, model), OBJECTS[model])
        return
    assert window.is_irreducible
    assert window.culprit.end is not None
    before = [
        op if op.end is not None and op.end < window.culprit.end else unknown(op)
        for op in operations
        if op.start < window.culprit.end
    ]
    assert is_linearizable(before, OBJECTS[model])


def unknown(op: Operation) -> Operation:
    return op._replace(outcome=Outcome.UNKNOWN, end=None, result=None)
