"""The code of a function, instruction by instruction: what it loads from outside, and what it changes."""

from __future__ import annotations

import builtins
import enum
from collections.abc import Iterable, Sequence
from inspect import getattr_static
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any, Protocol

from clew.bloom.ir.bytecode import Instruction, attributes_at, instructions_of
from clew.bloom.ir.function_code import HasCollections
from clew.bloom.purity.assignments import is_assigned, is_stored, stores_attribute
from clew.bloom.purity.known import MODULES, SHOWING, ImpureError, is_listed, refuse_hidden
from clew.bloom.purity.set_order import shows_order

_CELL_LOADS = ("LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF")
_LOADS = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS", *_CELL_LOADS)


class ValueJudge(Protocol):
    """Decides about values that code uses (``clew.bloom.purity.values``)."""

    def use(self, value: Any, name: str) -> None: ...

    def note_found(self, owner: Any, name: str) -> None:
        """Note that a name is looked up in globals, a module or a class."""

    def note_showing(self, line: int) -> None: ...


class FunctionCode:
    """The code of one function, with the functions and comprehensions in it."""

    def __init__(self, judge: ValueJudge, function: FunctionType, owner: Any, own: bool) -> None:
        self._judge = judge
        self._function = function
        self._owner = owner
        self._own = own
        cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        self._cells = dict(cells)

    def follow(self, code: CodeType, inner: frozenset[str], first: tuple[str, ...]) -> None:
        """Follow code.

        ``inner``: variables that belong to the call, for the functions in it.  ``first``: the name of the owner.
        """
        # First: the order of a set is shown by code that touches nothing but its arguments.
        shown = shows_order(code)
        if shown is not None:
            raise ImpureError(f"the order of a set (line {shown})")
        instructions = instructions_of(code)
        line = code.co_firstlineno
        for place, instruction in enumerate(instructions):
            line = instruction.line or line
            try:
                self._refuse_shown_function(instructions, place, line)
                self._instruction(instruction, instructions[place + 1 :], inner, first)
            except ImpureError as found:
                raise found if " (line " in str(found) else ImpureError(f"{found} (line {line})") from None
        for constant in code.co_consts:
            if isinstance(constant, str):
                # ``getattr`` and ``operator.methodcaller`` take the names of attributes as text; so may others.
                refuse_hidden(f"the attribute '{constant}' (line {code.co_firstlineno})", constant)
            if isinstance(constant, CodeType):
                # A function in it has the owner under the same name, or a parameter of its own hides that.
                around = tuple(name for name in first if name in constant.co_freevars)
                self.follow(constant, inner | set(code.co_cellvars), around)

    def _instruction(
        self,
        instruction: Instruction,
        after: Sequence[Instruction],
        inner: frozenset[str],
        first: tuple[str, ...],
    ) -> None:
        name, variable = instruction.name, instruction.value
        # The owner is in a cell if functions in the code use it.
        if name.startswith(("LOAD_FAST", *_CELL_LOADS)) and variable in first:
            self._through(self._owner, variable, attributes_at(after))
        elif name in _LOADS and variable not in inner:
            self._load(name, variable, attributes_at(after))
        elif name in ("STORE_GLOBAL", "DELETE_GLOBAL"):
            raise ImpureError(f"the global '{variable}', which it changes")
        elif name in ("STORE_DEREF", "DELETE_DEREF") and variable in self._cells:
            raise ImpureError(f"the variable '{variable}' around it, which it changes")
        # An object that is made during the call may be changed: nobody else has it.
        elif name in ("STORE_ATTR", "DELETE_ATTR") and not self._own:
            raise ImpureError(f"the attribute '{variable}', which it changes")
        elif name == "IMPORT_NAME" and variable not in MODULES:
            raise ImpureError(f"the module {variable}")
        elif name == "IMPORT_FROM" and not any(not n or variable in n for n in MODULES.values()):
            raise ImpureError(str(variable))
        elif name in ("LOAD_ATTR", "LOAD_METHOD"):
            refuse_hidden(f"the attribute '{variable}'", str(variable))
        elif name.startswith(("YIELD", "SEND")) or name in ("GET_AWAITABLE", "GET_AITER"):
            return

    def _refuse_shown_function(self, instructions: Sequence[Instruction], place: int, line: int) -> None:
        """Refuse what makes text of a function, ``repr(f)`` or ``f"{f}"``, and note what makes any text."""
        one, beside = instructions[place], instructions[place - 1]
        if one.name == "BINARY_OP" and one.operator in ("%", "%="):
            # Of numbers, a remainder; a function beside it can only be shown, also in a tuple of what is shown.
            shown: Sequence[Instruction] = [beside]
            if beside.name == "BUILD_TUPLE":
                shown = instructions[place - 1 - beside.value : place - 1]
            if all(each.name.startswith("LOAD_") for each in shown):
                self._refuse_functions(shown)
            if any(each.name == "LOAD_CONST" and "%" in str(each.value) for each in instructions):
                self._judge.note_showing(line)
            return
        if one.name.startswith("LOAD_") and one.value in SHOWING:
            called = place + 2 < len(instructions) and instructions[place + 2].name.startswith("CALL")
            beside = instructions[place + 1] if called else one
        elif not one.name.startswith(("FORMAT_", "CONVERT_VALUE")):
            return
        self._judge.note_showing(line)
        self._refuse_functions([beside])

    def _refuse_functions(self, shown: Iterable[Instruction]) -> None:
        for one in shown:
            value = self._function.__globals__.get(one.value) if one.name == "LOAD_GLOBAL" else None
            if isinstance(value, FunctionType):
                raise ImpureError(f"the address of {one.value} in a text")

    def _load(self, opname: str, variable: str, attributes: tuple[str, ...]) -> None:
        if opname in _CELL_LOADS:
            if variable not in self._cells:
                return  # a variable of the call that functions in it use
            try:
                value = self._cells[variable].cell_contents
            except ValueError:
                raise ImpureError(f"the variable '{variable}', which has no value yet") from None
        elif variable in self._function.__globals__:
            value = self._function.__globals__[variable]
            if is_assigned(variable, self._function.__globals__, self._function.__module__):
                raise ImpureError(f"the global '{variable}', which others change")
            self._judge.note_found(self._function.__globals__, variable)
        elif hasattr(builtins, variable):
            value = getattr(builtins, variable)
        else:
            return  # there is no such name: it fails in every step
        self._through(value, variable, attributes)

    def _through(self, value: Any, name: str, attributes: tuple[str, ...]) -> None:
        """Go through modules, classes and ``self`` to what is used of them."""
        for attribute in attributes:
            if isinstance(value, HasCollections):
                # The address of a node is the same in all its runs, and part of what a rule may depend on.
                if attribute in ("ip_port", "temp"):
                    return
                self._refuse_changing(value, attribute)
            elif not isinstance(value, ModuleType | type):
                break
            elif isinstance(value, ModuleType) and is_listed(value.__name__, attribute):
                return
            name = f"{name}.{attribute}"
            owner, missing = value, object()
            computed = getattr_static(type(owner), attribute, None) if isinstance(owner, HasCollections) else None
            if isinstance(computed, property):
                # Not asked for its value: that is the user's code, and may look into a node that is being made.
                value = MethodType(computed.fget, owner) if computed.fget else missing
                break
            if isinstance(owner, type) and type(owner).__module__ not in ("builtins", "abc", "enum"):
                raise ImpureError(f"{name}, for which the class of a class answers")
            if isinstance(owner, ModuleType | type):
                self._judge.note_found(owner, attribute)
            static = isinstance(owner, type) and not issubclass(owner, enum.Enum)
            if static and is_stored(attribute, owner):
                raise ImpureError(f"{name}, which others change")
            value = getattr_static(owner, attribute, missing) if static else getattr(owner, attribute, missing)
            if isinstance(owner, ModuleType) and is_assigned(attribute, vars(owner), owner.__name__):
                raise ImpureError(f"{name}, which others change")
            # It fails in every step at every node, which is no race.
            if value is missing:
                return
            value = value.__func__ if isinstance(value, staticmethod | classmethod) else value
        if isinstance(value, ModuleType | HasCollections):
            raise ImpureError(f"{name} as a whole")
        if isinstance(value, property):
            value = value.fget
        self._judge.use(value, name)

    def _refuse_changing(self, owner: HasCollections, attribute: str) -> None:
        """Refuse an attribute of a module unless only ``__init__`` gives it a value."""
        for kind in type(owner).__mro__:
            for name, member in vars(kind).items():
                stores = isinstance(member, FunctionType) and stores_attribute(member.__code__, attribute)
                if stores and name != "__init__" and not kind.__module__.startswith("clew.bloom."):
                    raise ImpureError(f"self.{attribute}, which {name} changes")
