"""What the functions of a rule touch besides their rows, in words."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from types import FunctionType, ModuleType
from typing import Any

from clew.bloom.ir.bytecode import attributes_at, instructions_of
from clew.bloom.ir.expressions import AnyExpr, Fold, Reduce, RowFunction, Transform, subexpressions
from clew.bloom.purity.assignments import is_assigned
from clew.bloom.purity.known import ImpureError
from clew.bloom.purity.values import Following, FoundIn


def impurity_of(expr: AnyExpr) -> str:
    """Return what functions of a right-hand side touch besides their rows, and where; empty if nothing."""
    return next(filter(None, map(impurity_of_function, subexpressions(expr))), "")


def impurity_of_function(expr: AnyExpr) -> str:
    """Return what the function that an expression calls itself touches besides its rows; empty if nothing."""
    match expr:
        case Transform(_, function) | Fold(_, RowFunction() as function):
            return _find_impurity(function.call, seen_through=function.paths is not None)
        case Reduce():
            return _find_impurity(expr.fold)
    return ""


def find_names_used(function: Any) -> Sequence[FoundIn]:
    """Return the names that a pure function looks up, and where: their values may be others some day."""
    following = Following()
    with suppress(ImpureError):
        following.use(function, "")
    return following.found_in


def _find_impurity(function: Any, *, seen_through: bool = False) -> str:
    try:
        if seen_through:
            _refuse_live_attributes(function)
        else:
            Following().use(function, getattr(function, "__name__", type(function).__name__))
    except ImpureError as found:
        return f"a function touches {found}: what it returns is not decided by its rows"
    return ""


def _refuse_live_attributes(function: FunctionType) -> None:
    """Refuse attributes of modules that change: of a function that is seen through, only variables are kept."""
    # Seen-through code was evaluated on symbols when the rule was read, with the globals of that moment.
    instructions = instructions_of(function.__code__)
    for place, instruction in enumerate(instructions):
        value = function.__globals__.get(instruction.value) if instruction.name == "LOAD_GLOBAL" else None
        for attribute in attributes_at(instructions[place + 1 :]):
            if not isinstance(value, ModuleType):
                break
            name = f"{value.__name__}.{attribute}"
            if is_assigned(attribute, vars(value), value.__name__):
                raise ImpureError(f"{name}, which others change (line {instruction.line})")
            value = getattr(value, attribute, None)
