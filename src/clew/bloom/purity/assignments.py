"""Who assigns to a global or to an attribute: what is assigned to while a program runs is not what it was."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import CodeType, FunctionType
from typing import Any

from clew.bloom.ir.bytecode import instructions_of


def is_assigned(variable: str, known: dict[str, Any], module: str | None) -> bool:
    """Return whether some function of a module assigns to the global."""
    return any(_assigns(code, variable) for code in _codes(known, module))


def is_stored(attribute: str, kind: type) -> bool:
    """Return whether some function beside a class assigns to an attribute of this name, of whatever it is."""
    module = sys.modules.get(kind.__module__)
    beside = _codes(vars(module), module.__name__) if module is not None else ()
    own = (method.__code__ for member in vars(kind).values() for method in methods_of(member))
    return any(stores_attribute(code, attribute) for code in (*beside, *own))


def _codes(known: dict[str, Any], module: str | None) -> Iterator[CodeType]:
    for value in list(known.values()):
        # Classes that were imported are left to their own module: their functions assign to the globals there.
        members = vars(value).values() if isinstance(value, type) and value.__module__ == module else (value,)
        for member in members:
            if isinstance(member, FunctionType) and member.__globals__ is known:
                yield member.__code__


def _assigns(code: CodeType, variable: str) -> bool:
    here = any(i.name in ("STORE_GLOBAL", "DELETE_GLOBAL") and i.value == variable for i in instructions_of(code))
    return here or any(_assigns(c, variable) for c in code.co_consts if isinstance(c, CodeType))


def stores_attribute(code: CodeType, attribute: str) -> bool:
    """Return whether code, or a function in it, assigns to an attribute of this name."""
    here = any(i.name in ("STORE_ATTR", "DELETE_ATTR") and i.value == attribute for i in instructions_of(code))
    return here or any(stores_attribute(c, attribute) for c in code.co_consts if isinstance(c, CodeType))


def methods_of(member: Any) -> list[FunctionType]:
    """Return the functions that are called for an attribute of a class."""
    if isinstance(member, property):
        found = [member.fget, member.fset, member.fdel]
    else:
        found = [member.__func__ if isinstance(member, staticmethod | classmethod) else member]
    return [function for function in found if isinstance(function, FunctionType)]
