"""The model that a user names: one of ours, or ``FILE.py:CLASS``, a class of their own."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from clew.errors import Position, UsageError
from clew.files.python_names import is_python, split_name
from clew.files.working_folder import folder_of_user_code
from clew.histories.models.base import Model, SequentialModel
from clew.histories.models.objects import Counter, Lock, Queue, Set
from clew.histories.models.registers import Map, Register
from clew.histories.operations import Operation
from clew.names import nearest_name

#: By the names that the command line takes.
MODELS: dict[str, type[Model]] = {cls.name: cls for cls in (Register, Map, Queue, Lock, Counter, Set)}


class UserModel(Model):
    """A model of a user as ours are: nothing is taken for granted of it but what it says."""

    def __init__(self, given: SequentialModel) -> None:
        self.given = given
        self.name = type(given).__name__
        self.initial = given.initial
        self.functions = tuple(_names(given, "functions"))
        self.reads = frozenset(_names(given, "reads"))
        # Unless it says otherwise, who calls may matter to it.
        self.by_process = bool(getattr(given, "by_process", True))

    def step(self, state: Any, op: Operation) -> list[Any] | None:
        return self.given.step(state, op)


def _names(given: SequentialModel, attribute: str) -> Iterable[str]:
    names = getattr(given, attribute, ())
    if isinstance(names, Iterable) and not isinstance(names, str):
        return names
    raise UsageError(
        f"{attribute} of the model {type(given).__name__} is {type(names).__name__}",
        remedy=f'give the names of operations: {attribute} = ("push", "pop")',
    )


def choose_model(given: object, others: Iterable[str] = ()) -> Model:
    """Return the model that is given by its name, as a class or as an object; ``others``: other known names."""
    if isinstance(given, str):
        if given in MODELS:
            return MODELS[given]()
        if not is_python(given):
            raise _unknown(given, [*MODELS, *others])
        given = _load(given)
    if isinstance(given, type):
        with folder_of_user_code():
            given = given()
    if isinstance(given, Model):
        return given
    # Not by inheritance: a model of a user need not import anything of Clew.
    if not isinstance(given, SequentialModel):
        raise UsageError(
            f"{type(given).__name__} is no model: it needs 'initial' and 'step(state, op)'",
            remedy=f"give one of {', '.join(MODELS)}, or a class with both",
        )
    return UserModel(given)


def refuse_unknown_functions(operations: Iterable[Operation], model: Model, file: str) -> None:
    """Raise for the first operation that the model does not have."""
    for op in operations:
        if model.functions and op.function not in model.functions:
            position = Position(file, op.line, 1) if op.line else None
            raise UsageError(
                f"the model {model.name} has no function {op.function!r}",
                position=position,
                remedy=f"it has {', '.join(model.functions)}; name another with --model",
            )


def _unknown(given: str, known: list[str]) -> UsageError:
    nearest = nearest_name(given, known)
    hint = f"did you mean '{nearest}'? There" if nearest else "there"
    return UsageError(f"unknown model '{given}'", remedy=f"{hint} are {', '.join(known)}, and FILE.py:CLASS")


def _load(where: str) -> object:
    from clew.files.python_module import import_file, require_file  # only what is Python needs the machinery

    file, name = split_name(where)
    require_file(file, "name a Python file that defines a model")
    module = import_file(Path(file), "model")
    found = {
        key: value
        for key, value in vars(module).items()
        if inspect.isclass(value) and value.__module__ == module.__name__ and hasattr(value, "step")
    }
    if not name and len(found) == 1:
        return next(iter(found.values()))
    if name in found:
        return found[name]
    choices = ", ".join(f"{file}:{key}" for key in found) or "none: define a class with 'initial' and 'step'"
    what = f"no model '{name}'" if name else f"{len(found)} models"
    raise UsageError(f"{file}: defines {what}", remedy=f"there are: {choices}" if found else choices)
