"""Read the bytecode of a function before it is called: what it uses from outside, and what it looks into.

A function is called with symbols only if nothing in it goes by unseen: everything that it uses from outside must
be the same in every call.  The collections that it mentions, also in methods and functions that it calls, are
dependencies of its rule.

Bytecode, not source: a lambda has no source of its own, and two on one line cannot be told apart in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from inspect import getattr_static
from types import CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from clew.bloom.ir.bytecode import attributes_at, instructions_of
from clew.bloom.values import is_immutable


class NamesCollection:
    """A handle of a collection, as a function of a rule may use it."""

    def name_to_read(self) -> str:
        raise NotImplementedError


class HasCollections:
    """A module, as a function of a rule may use it: mostly under the name ``self``."""

    def collections_named(self, names: Iterable[str]) -> list[str]:
        raise NotImplementedError

    def keep_attribute(self, name: str) -> None:
        """Refuse other values for the attribute from now on: rules were understood with the one that it has."""
        raise NotImplementedError


# -- what it uses ------------------------------------------------------------------------------------------------

#: Instructions that read a variable from outside of the function.
_OUTER = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF")
#: Instructions that make a function opaque.  Exceptions: a symbol raises others than a value would.  Inner
#: functions: what they use is not looked into here.  Assignments: calling the function must change nothing.
_OPAQUE_INSTRUCTIONS = {
    "PUSH_EXC_INFO": "it handles exceptions",
    "IMPORT_NAME": "it imports",
    "MAKE_FUNCTION": "it contains another function or a comprehension",
    "STORE_GLOBAL": "it changes something outside",
    "STORE_DEREF": "it changes something outside",
    "STORE_ATTR": "it changes something outside",
}


def why_opaque(function: Callable[..., Any]) -> str | None:
    """Return why calling the function with symbols would not show what it does; None if it would."""
    if not isinstance(function, FunctionType):
        # Not its text: that of a partial has addresses, which are others in every process.
        name = getattr(function, "__name__", type(function).__name__)
        return "it is a method" if isinstance(function, MethodType) else f"{name!r} is not written in Python"
    # A mutable default may collect something from call to call.
    if not all(map(is_immutable, _defaults(function))):
        return "a parameter has a default value that can change"
    called = ""
    instructions = instructions_of(function.__code__)
    for place, instruction in enumerate(instructions):
        name = instruction.name
        reason = None
        if instruction.begins_comprehension:
            reason = _OPAQUE_INSTRUCTIONS["MAKE_FUNCTION"]
        elif name in _OUTER:
            reason = _why_outside(function, instruction.value, attributes_at(instructions[place + 1 :]))
        elif name == "LOAD_METHOD":
            called = instruction.value
        # What is called is not looked into: it may answer for symbols otherwise than for values.
        elif name.startswith("CALL"):
            reason = f"it calls .{called}" if called else "it calls another function"
        elif name in _OPAQUE_INSTRUCTIONS:
            reason = _OPAQUE_INSTRUCTIONS[name]
        elif name == "IS_OP" or "_NONE" in name or name.startswith("MATCH_"):
            # A symbol is never None, nor of the class of its value: the answer would be wrong, and go unnoticed.
            reason = "it asks what kind of value something is"
        if reason is not None:
            return reason
    return None


def _why_outside(function: FunctionType, variable: str, attributes: tuple[str, ...]) -> str | None:
    # A variable of a function around it hides a global one of the same name.
    known = _cells(function) if variable in function.__code__.co_freevars else function.__globals__
    if variable not in known:
        return f"it uses {variable}"
    _, value, spelled = _follow(known[variable], variable, attributes)
    if callable(value):
        return f"it uses {spelled}"
    # The address is no constant, but a symbol of its own, see symbolic_address.
    if not (is_immutable(value) or spelled.endswith(".ip_port")):
        return f"it uses {spelled}, which can change"
    return None


def freeze_globals(function: Callable[..., Any]) -> FunctionType:
    """Rebuild a function that was understood, with what it uses from outside as it is now."""
    assert isinstance(function, FunctionType)
    names, known = function.__code__.co_names, function.__globals__
    for variable, attributes in _outer_uses(function.__code__):
        if variable in function.__code__.co_freevars:
            owner, _, spelled = _follow(_cells(function)[variable], variable, attributes)
            if isinstance(owner, HasCollections):
                owner.keep_attribute(spelled.rpartition(".")[2])
    return _rebuild(function, {name: known[name] for name in ("__builtins__", *names) if name in known})


def bind_variables(function: Callable[..., Any]) -> Callable[..., Any]:
    """Rebuild a function with the local variables around it as they are now: in a loop, each rule has its own."""
    return _rebuild(function, function.__globals__) if isinstance(function, FunctionType) else function


def outer_values(function: Callable[..., Any]) -> tuple[Any, ...]:
    """Return the values of the local variables around a function that it uses, and of its parameters."""
    if not isinstance(function, FunctionType):
        return ()
    return (*_cells(function).values(), *_defaults(function))


def _rebuild(function: FunctionType, known: dict[str, Any]) -> FunctionType:
    # New cells with the values of now: those of the function are shared with the code around it.
    cells = tuple(CellType(c.cell_contents) if _is_filled(c) else c for c in function.__closure__ or ())
    made = FunctionType(function.__code__, known, function.__name__, function.__defaults__, cells)
    made.__kwdefaults__ = function.__kwdefaults__
    return made


def _follow(value: Any, variable: str, attributes: tuple[str, ...]) -> tuple[Any, Any, str]:
    """Follow ``variable.a.b`` through modules: return what it is an attribute of, its value, and its name."""
    owner, spelled = None, variable
    for attribute in attributes:
        if not isinstance(value, HasCollections | ModuleType):
            break
        # A property is not called: it may compute something else every time, and so counts as mutable.
        computed = isinstance(getattr_static(type(value), attribute, None), property)
        spelled = f"{spelled}.{attribute}"
        owner, value = value, object() if computed else getattr(value, attribute, None)
    return owner, value, spelled


def _outer_uses(code: CodeType) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the variables from outside that a function uses, each with the attributes that it goes on to."""
    instructions = instructions_of(code)
    for place, instruction in enumerate(instructions):
        if instruction.name in _OUTER:
            yield instruction.value, attributes_at(instructions[place + 1 :])


def _cells(function: FunctionType) -> dict[str, Any]:
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    return {name: cell.cell_contents for name, cell in cells if _is_filled(cell)}


def _is_filled(cell: CellType) -> bool:
    try:
        cell.cell_contents  # noqa: B018  # raises where nothing was assigned yet
    except ValueError:
        return False
    return True


def _defaults(function: FunctionType) -> tuple[Any, ...]:
    return (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values())


# -- what it looks into ------------------------------------------------------------------------------------------


def collections_read(function: Callable[..., Any]) -> tuple[str, ...]:
    """Return the collections that a function, or something that it calls, mentions: it may look into them."""
    return tuple(sorted(set(_read_by(function, []))))


def _read_by(function: Any, seen: list[Any]) -> Iterator[str]:
    if any(function is known for known in seen):  # by identity: what a closure holds need not be hashable
        return
    seen.append(function)
    match function:
        # What partial(...) was given may be a module or a handle, just as a variable of a closure.
        case partial():
            yield from _read_by(function.func, seen)
            for given in (*function.args, *function.keywords.values()):
                yield from _read_through(given, _all_names(function.func), seen)
        case MethodType():
            yield from _read_through(function.__self__, _names_of_first(function.__func__), seen)
        case FunctionType():
            for variable, value in _cells(function).items():
                yield from _read_through(value, _names_of(variable, function), seen)
            for value in _defaults(function):
                yield from _read_through(value, _all_names(function), seen)


def _read_through(value: Any, names: frozenset[str], seen: list[Any]) -> Iterator[str]:
    if isinstance(value, HasCollections):
        # Only those with names that the function uses: self is in almost every closure.
        yield from value.collections_named(names)
    elif isinstance(value, NamesCollection):
        yield value.name_to_read()
    else:
        yield from _read_by(value, seen)


def names_behind(owner: type, names: Iterable[str]) -> frozenset[str]:
    """Return the names, and those that methods and properties with such names use of ``self``."""
    found = set(names)
    waiting = list(found)
    while waiting:
        for method in _definitions(owner, waiting.pop()):
            fresh = _names_of_first(method) - found
            found |= fresh
            waiting += fresh
    return frozenset(found)


def _definitions(owner: type, name: str) -> Iterator[Any]:
    """Yield what a class calls by a name: a method or the function of a property, and those that it overrides."""
    for kind in owner.__mro__:
        if name in vars(kind):
            member = vars(kind)[name]
            method = member.fget if isinstance(member, property) else member
            yield method
            # One that keeps ``self`` to itself calls none that it overrides.
            if not isinstance(method, FunctionType) or not _passes_on(method.__code__.co_varnames[:1], method):
                return


def _names_of_first(method: Any) -> frozenset[str]:
    """Return what a method uses of ``self``; methods that every module has use no collections by name."""
    if not isinstance(method, FunctionType) or method.__module__.startswith("clew.bloom."):
        return frozenset()
    first = method.__code__.co_varnames[:1]
    return _names_of(first[0], method) if first else frozenset()


def _names_of(variable: str, function: FunctionType) -> frozenset[str]:
    """Return the attributes of a variable that a function uses, and theirs; if it is passed on, all names."""
    if _passes_on((variable,), function):
        return _all_names(function)
    return frozenset(name for chain in _chains(variable, function.__code__) for name in chain)


def _passes_on(variables: tuple[str, ...], function: FunctionType) -> bool:
    """Return whether a function uses a variable without an attribute; ``super()`` does that to the first."""
    chains = (chain for variable in variables for chain in _chains(variable, function.__code__))
    return "super" in _names_in(function.__code__) or not all(chains)


def _chains(variable: str, code: CodeType) -> Iterator[tuple[str, ...]]:
    """Yield, for each use of a variable, the attributes that follow; none, where it is passed on."""
    instructions = instructions_of(code)
    for place, instruction in enumerate(instructions):
        if instruction.name.startswith(("LOAD_DEREF", "LOAD_FAST")) and instruction.value == variable:
            yield attributes_at(instructions[place + 1 :])
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _chains(variable, constant)


def _all_names(function: Any) -> frozenset[str]:
    """Return all names in a function and in the functions that it knows."""
    seen: list[FunctionType] = []
    waiting = [function]
    found: set[str] = set()
    while waiting:
        here = waiting.pop()
        here = here.__func__ if isinstance(here, MethodType) else here
        if isinstance(here, FunctionType) and here not in seen:
            seen.append(here)
            names = _names_in(here.__code__)
            found |= names
            # Functions that it calls by name may be given the module, and look into it.
            waiting += [here.__globals__.get(name) for name in sorted(names)]
            waiting += [*_cells(here).values(), *_defaults(here)]
    return frozenset(found)


def _names_in(code: CodeType) -> set[str]:
    inner = [_names_in(constant) for constant in code.co_consts if isinstance(constant, CodeType)]
    return set(code.co_names).union(*inner)
