"""Models by their names, and those of users."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from clew.errors import UsageError
from clew.histories import MODEL_NAMES, Operation, check_history
from clew.histories.models.choosing import choose_model
from histories.made import history, op

STACK = """
class Stack:
    initial = ()
    functions = ("push", "pop")

    def step(self, state, op):
        if op.function == "push":
            return [(*state, op.argument)]
        return [state[:-1]] if state and state[-1] == op.result else None
"""


def test_the_names() -> None:
    assert (
        *("register", "map", "queue", "lock", "counter", "set"),
        *("serializable", "session-serializable", "strict-serializable"),
    ) == MODEL_NAMES


def test_a_model_of_a_user(tmp_path: Path) -> None:
    (tmp_path / "stack.py").write_text(STACK, encoding="utf-8")
    stack = str(tmp_path / "stack.py")
    pushes = [op(0, "push", 1, at=(0, 1)), op(0, "push", 2, at=(2, 3))]
    for value, answer in ((2, "holds"), (1, "violated")):
        found = check_history(history(*pushes, op(0, "pop", None, value, at=(4, 5))), f"{stack}:Stack")
        assert (found.answer.value, found.model) == (answer, "Stack")
    assert choose_model(stack).functions == ("push", "pop")
    with pytest.raises(UsageError, match="defines no model 'Heap'"):
        choose_model(f"{stack}:Heap")
    (tmp_path / "none.py").write_text("x = 1\n", encoding="utf-8")
    with pytest.raises(UsageError, match="defines 0 models"):
        choose_model(str(tmp_path / "none.py"))


class Made:
    initial: Any = 0

    def __init__(self, answer: Any, reads: tuple[str, ...] = ()) -> None:
        self.answer = answer
        self.reads = reads

    def step(self, state: Any, op: Operation) -> Any:
        return self.answer


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ("regster", "unknown model 'regster'"),
        (3, "int is no model: it needs 'initial' and 'step"),
        (Made((1, 2)), "step of the model Made returned tuple for go"),
        (Made([[]]), "a state of the model Made is a list, which cannot be hashed"),
        (Made([1], ("go",)), "the model Made calls go a read, and it changes 0"),
    ],
)
def test_models_that_are_none(model: object, message: str) -> None:
    with pytest.raises(UsageError) as refused:
        check_history(history(op(0, "go", at=(0, 1))), model)
    assert refused.value.message.startswith(message)


def test_a_misspelt_name_is_told() -> None:
    with pytest.raises(UsageError) as refused:
        choose_model("serialisable", MODEL_NAMES)
    assert (refused.value.remedy or "").startswith("did you mean 'serializable'? There are register, map")


def test_several_states_may_follow() -> None:
    class Coin:
        initial = "none"

        def step(self, state: Any, op: Operation) -> list[str] | None:
            if op.function == "throw":
                return ["heads", "tails"]
            return [state] if state == op.result else None

    throw, look = op(0, "throw", at=(0, 1)), op(0, "look", None, "tails", at=(2, 3))
    assert check_history(history(throw, look), Coin).answer.value == "holds"
    other = op(0, "look", None, "heads", at=(4, 5))
    found = check_history(history(throw, look, other), Coin())
    assert found.answer.value == "violated"


@pytest.mark.parametrize(
    ("model", "operation", "message"),
    [
        ("map", op(0, "put", 1, at=(0, 1)), "put takes [key, value], not 1"),
        ("map", op(0, "cas", 1, at=(0, 1)), "cas takes [key, expected, new], not 1"),
        ("counter", op(0, "add", "a", at=(0, 1)), "add takes a number, not a"),
        ("set", op(0, "contains", 1, 3, at=(0, 1)), "contains takes an element and returns true or false, not 3"),
        ("set", op(0, "read", None, 3, at=(0, 1)), "read takes nothing and returns the elements, not 3"),
    ],
)
def test_arguments(model: str, operation: Operation, message: str) -> None:
    with pytest.raises(UsageError) as refused:
        check_history(history(operation), model)
    assert refused.value.message == message


def test_a_history_that_says_nothing_proves_nothing() -> None:
    for model, function in (("register", "write"), ("queue", "enqueue"), ("counter", "add")):
        found = check_history(history(op(0, function, 1, at=(0, 1))), model)
        assert (found.exit_code, found.reason) == (3, "no answer says anything that could be wrong")
    found = check_history(history(op(0, "read", at=(0, None))))
    assert (found.exit_code, found.reason) == (3, "no operation was answered, so nothing is known")
