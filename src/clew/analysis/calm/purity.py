"""Functions of rules that are none: what they return is not decided by the rows that they are given.

A function is *pure* if its code is known to touch nothing but its arguments, values that cannot change, and other
pure functions.  What is allowed is listed here; whatever else it touches (a random number, the time, an iterator
that remembers where it is, a list that others change) is said, with its line.  Functions that are seen through
(``clew.bloom.ir.symbolic``) are pure by construction.

The rows that a function gets cannot change, and what it makes during a call is its own, so that methods of such
values need no list.  Everything else comes in by a name: a global, a variable of the function around it, a default
value, an attribute of ``self``.  These names are followed, through modules, classes and other functions.
"""

from __future__ import annotations

import builtins
import enum
import functools
import operator
import re
import sys
from collections.abc import Iterator
from dataclasses import MISSING, fields, is_dataclass
from inspect import getattr_static
from types import BuiltinFunctionType, CodeType, FunctionType, MethodDescriptorType, MethodType, ModuleType
from typing import Any

from clew.analysis.calm.set_order import shows_order
from clew.bloom.ir.bytecode import Instruction, attributes_at, instructions_of
from clew.bloom.ir.expressions import AnyExpr, Fold, Reduce, RowFunction, Transform, subexpressions
from clew.bloom.ir.function_code import HasCollections, NamesCollection
from clew.bloom.values import is_immutable

_BUILTINS = frozenset(
    (
        "abs",
        "all",
        "any",
        "bin",
        "bool",
        "bytes",
        "chr",
        "complex",
        "dict",
        "divmod",
        "enumerate",
        "filter",
        "float",
        "format",
        "frozenset",
        "getattr",
        "hasattr",
        "hex",
        "int",
        "isinstance",
        "issubclass",
        "len",
        "list",
        "map",
        "max",
        "min",
        "oct",
        "ord",
        "pow",
        "range",
        "repr",
        "reversed",
        "round",
        "set",
        "slice",
        "sorted",
        "str",
        "sum",
        "tuple",
        "type",
        "zip",
    )
)
#: Functions of modules that depend on their arguments only; a module without names is pure as a whole.
_MODULES: dict[str, frozenset[str]] = {
    name: frozenset(functions.split())
    for name, functions in {
        "math": "",
        "cmath": "",
        "operator": "",
        "_operator": "",
        "re": "",
        "json": "dumps loads",
        "json.encoder": "",
        "json.decoder": "",
        "hashlib": "",
        "_hashlib": "",
        "zlib": "",
        "binascii": "",
        "base64": "",
        "struct": "pack unpack calcsize",
        "_struct": "pack unpack calcsize",
        "fractions": "",
        "statistics": "mean fmean geometric_mean harmonic_mean median median_low median_high median_grouped mode"
        " multimode quantiles stdev pstdev variance pvariance",
        "string": "",
        "bisect": "",
        "_bisect": "",
        "copy": "copy deepcopy",
        "dataclasses": "replace asdict astuple",
        "functools": "reduce partial cmp_to_key",
        "_functools": "reduce partial cmp_to_key",
        "collections": "Counter OrderedDict defaultdict deque namedtuple",
        "itertools": "accumulate chain combinations combinations_with_replacement compress dropwhile filterfalse"
        " groupby islice pairwise permutations product repeat starmap takewhile zip_longest",
    }.items()
}
_VALUE_TYPES = (str, bytes, int, float, complex, bool, tuple, frozenset)
_OWN_TYPES = (list, dict, set, range, slice, type, *_VALUE_TYPES)
_GETTERS = (operator.itemgetter, operator.attrgetter, operator.methodcaller, re.Pattern)
#: Functions that make the text of any object.  That of a function, or of an object whose class does not say how it
#: is shown, has an address in it, which is another one in every process.
_SHOWING = frozenset(("ascii", "format", "repr", "str"))
_CELL_LOADS = ("LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF")
_LOADS = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS", *_CELL_LOADS)


def impurity_of(expr: AnyExpr) -> str:
    """Return what functions of a right-hand side touch besides their rows, and where; empty if nothing."""
    for found in subexpressions(expr):
        match found:
            case Transform(_, function) | Fold(_, RowFunction() as function):
                touched = _find_impurity(function.call, seen_through=function.paths is not None)
            case Reduce():
                touched = _find_impurity(found.fold)
            case _:
                touched = None
        if touched is not None:
            return touched
    return ""


class _ImpureError(Exception):
    """Carries what was touched."""


def _find_impurity(function: Any, *, seen_through: bool = False) -> str | None:
    try:
        if seen_through:
            _refuse_live_attributes(function)
        else:
            _Following().use(function, getattr(function, "__name__", type(function).__name__))
    except _ImpureError as found:
        return f"a function touches {found}: what it returns is not decided by its rows"
    return None


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
            if _is_assigned(attribute, vars(value), value.__name__):
                raise _ImpureError(f"{name}, which others change (line {instruction.line})")
            value = getattr(value, attribute, None)


class _Following:
    """Follows all names that a function uses; raises ``_ImpureError`` at the first that is not pure."""

    def __init__(self) -> None:
        # Compared by identity: two values may be equal and do different things.
        self._seen: list[Any] = []
        self._addressed = ""
        self._showing = 0

    def note_addressed(self, name: str) -> None:
        """Note a class whose objects show their address as text; refuse it together with what makes text."""
        self._addressed = self._addressed or name
        self._refuse_address()

    def note_showing(self, line: int) -> None:
        """Note that a line makes text of something; refuse that together with a class that shows addresses."""
        self._showing = self._showing or line
        self._refuse_address()

    def _refuse_address(self) -> None:
        # Which object is shown is not followed.  Classes without a text of their own are rare in functions of
        # rows, so that hardly any function is refused that keeps the two apart.
        if self._addressed and self._showing:
            raise _ImpureError(f"the address of {self._addressed} in a text (line {self._showing})")

    # -- values --------------------------------------------------------------------------------------------------

    def use(self, value: Any, name: str) -> None:
        """Allow a value from outside, or refuse it."""
        if _is_plain(value) or isinstance(value, NamesCollection) or any(value is known for known in self._seen):
            return
        self._seen.append(value)
        # By what the value is, from the harmless to the unknown: whatever no case knows is refused.
        match value:
            case _ if isinstance(value, _VALUE_TYPES) and not isinstance(value, enum.Enum):
                # It cannot change, but a class of its own says what is done with it.
                # A tuple cannot change, and what is in it may.
                for one in value if isinstance(value, tuple | frozenset) else ():
                    self.use(one, name)
                self.use(type(value), type(value).__name__)
            case FunctionType():
                # Python's own functions are not followed: they end in C, and most touch something.
                if _is_of_library(value) and not _is_listed(value.__module__, value.__name__):
                    raise _ImpureError(name)
                self._function(value)
            case MethodType():
                self._method(value, name)
            case functools.partial():
                self.use(value.func, name)
                for given in (*value.args, *value.keywords.values()):
                    self.use(given, f"{name}, which is given something that can change")
            case type():
                self._class(value, name)
            case _ if isinstance(value, BuiltinFunctionType | MethodDescriptorType):
                self._builtin(value, name)
            case _ if type(value).__name__ == "_lru_cache_wrapper":
                self.use(value.__wrapped__, name)
            case enum.Enum():
                self.use(value.value, f"{name}.value")
            case operator.attrgetter() | operator.methodcaller():
                _refuse_hidden(name, *(n for n in value.__reduce__()[1] if isinstance(n, str)))
            case _ if isinstance(value, _GETTERS):
                return
            case _ if is_dataclass(value) and getattr(type(value), "__dataclass_params__").frozen:  # noqa: B009
                self.use(type(value), type(value).__name__)
                for field in fields(value):
                    self.use(getattr(value, field.name), f"{name}.{field.name}")
            case _:
                raise _ImpureError(f"{name}, which can change")

    def _method(self, method: MethodType, name: str) -> None:
        owner = method.__self__
        if isinstance(owner, HasCollections):
            self._function(method.__func__, owner)  # type: ignore[arg-type]  # of a class in Python
        else:
            self.use(owner, name)
            self.use(method.__func__, name)

    def _builtin(self, value: Any, name: str) -> None:
        owner = getattr(value, "__self__", None)
        if isinstance(value, MethodDescriptorType):
            # ``str.upper`` is a function of its argument; ``list.append`` changes it.
            allowed = value.__objclass__ in _VALUE_TYPES
        elif owner is not None and not isinstance(owner, ModuleType):
            allowed = is_immutable(owner) or (isinstance(owner, type) and owner in _OWN_TYPES)
        elif value.__module__ == "builtins":
            allowed = value.__name__ in _BUILTINS
        else:
            allowed = _is_listed(value.__module__ or "", value.__name__)
        if not allowed:
            raise _ImpureError(name)

    def _class(self, kind: type, name: str) -> None:
        # Exceptions are allowed: raising one ends the step at every node in the same way.
        if kind.__module__ == "builtins":
            if kind.__name__ not in _BUILTINS and not issubclass(kind, BaseException):
                raise _ImpureError(name)
            return
        if _is_listed(kind.__module__, kind.__name__) or issubclass(kind, enum.Enum):
            return
        if _is_of_library(kind):
            raise _ImpureError(name)
        # A metaclass answers for attributes that are nowhere in the class, in code that no name leads to.
        if type(kind).__module__ not in ("builtins", "abc", "enum"):
            raise _ImpureError(f"{name}, whose class has a class of its own")
        if kind.__repr__ is object.__repr__:
            self.note_addressed(name)
        for factory in (f.default_factory for f in (fields(kind) if is_dataclass(kind) else ())):
            if factory is not MISSING:
                self.use(factory, f"{name}, a field of which begins with a function's result")
        for base in kind.__mro__[:-1]:
            # Its fields are descriptors in C, which no name leads into.
            named_tuple = issubclass(base, tuple) and "_fields" in vars(base)
            for attribute, value in vars(base).items() if not _is_of_library(base) else ():
                methods = _methods(value)
                for method in methods:
                    # Methods that dataclasses and named tuples get have no file to point to, and do nothing else.
                    if not _is_generated(method):
                        self._function(method, own=True)
                if methods or attribute.startswith("__") or named_tuple:
                    continue
                if _is_stored(attribute, base):
                    raise _ImpureError(f"{name}.{attribute}, which others change")
                if not isinstance(value, _DESCRIPTORS):
                    self.use(value, f"{name}.{attribute}")

    # -- code ----------------------------------------------------------------------------------------------------

    def _function(self, function: FunctionType, owner: Any = None, *, own: bool = False) -> None:
        """Follow the code of a function.

        ``owner``: what the first parameter is.  ``own``: that is an object that was made during the call.
        """
        if _is_listed(function.__module__ or "", function.__name__):
            return
        for value in (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()):
            self.use(value, "a default value")
        first = function.__code__.co_varnames[:1] if owner is not None else ()
        _Code(self, function, owner, own).follow(function.__code__, frozenset(), first)


class _Code:
    """The code of one function, with the functions and comprehensions in it."""

    def __init__(self, following: _Following, function: FunctionType, owner: Any, own: bool) -> None:
        self._following = following
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
            raise _ImpureError(f"the order of a set (line {shown})")
        instructions = instructions_of(code)
        line = code.co_firstlineno
        for place, instruction in enumerate(instructions):
            line = instruction.line or line
            try:
                self._refuse_shown_function(instructions, place, line)
                self._instruction(instruction, instructions[place + 1 :], inner, first)
            except _ImpureError as found:
                raise found if " (line " in str(found) else _ImpureError(f"{found} (line {line})") from None
        for constant in code.co_consts:
            if isinstance(constant, str):
                # ``getattr`` and ``operator.methodcaller`` take the names of attributes as text; so may others.
                _refuse_hidden(f"the attribute '{constant}' (line {code.co_firstlineno})", constant)
            if isinstance(constant, CodeType):
                # A function in it has the owner under the same name, or a parameter of its own hides that.
                around = tuple(name for name in first if name in constant.co_freevars)
                self.follow(constant, inner | set(code.co_cellvars), around)

    def _instruction(
        self,
        instruction: Instruction,
        after: list[Instruction],
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
            raise _ImpureError(f"the global '{variable}', which it changes")
        elif name in ("STORE_DEREF", "DELETE_DEREF") and variable in self._cells:
            raise _ImpureError(f"the variable '{variable}' around it, which it changes")
        # An object that is made during the call may be changed: nobody else has it.
        elif name in ("STORE_ATTR", "DELETE_ATTR") and not self._own:
            raise _ImpureError(f"the attribute '{variable}', which it changes")
        elif name == "IMPORT_NAME" and variable not in _MODULES:
            raise _ImpureError(f"the module {variable}")
        elif name == "IMPORT_FROM" and not any(not n or variable in n for n in _MODULES.values()):
            raise _ImpureError(str(variable))
        elif name in ("LOAD_ATTR", "LOAD_METHOD"):
            _refuse_hidden(f"the attribute '{variable}'", str(variable))
        elif name.startswith(("YIELD", "SEND")) or name in ("GET_AWAITABLE", "GET_AITER"):
            return

    def _refuse_shown_function(self, instructions: list[Instruction], place: int, line: int) -> None:
        """Refuse what makes text of a function, ``repr(f)`` or ``f"{f}"``, and note what makes any text."""
        one, beside = instructions[place], instructions[place - 1]
        if one.name.startswith("LOAD_") and one.value in _SHOWING:
            called = place + 2 < len(instructions) and instructions[place + 2].name.startswith("CALL")
            beside = instructions[place + 1] if called else one
        elif not one.name.startswith(("FORMAT_", "CONVERT_VALUE")):
            return
        self._following.note_showing(line)
        value = self._function.__globals__.get(beside.value) if beside.name == "LOAD_GLOBAL" else None
        if isinstance(value, FunctionType):
            raise _ImpureError(f"the address of {beside.value} in a text")

    def _load(self, opname: str, variable: str, attributes: tuple[str, ...]) -> None:
        if opname in _CELL_LOADS:
            if variable not in self._cells:
                return  # a variable of the call that functions in it use
            try:
                value = self._cells[variable].cell_contents
            except ValueError:
                raise _ImpureError(f"the variable '{variable}', which has no value yet") from None
        elif variable in self._function.__globals__:
            value = self._function.__globals__[variable]
            if _is_assigned(variable, self._function.__globals__, self._function.__module__):
                raise _ImpureError(f"the global '{variable}', which others change")
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
            elif isinstance(value, ModuleType) and _is_listed(value.__name__, attribute):
                return
            name = f"{name}.{attribute}"
            owner, missing = value, object()
            if isinstance(owner, type) and type(owner).__module__ not in ("builtins", "abc", "enum"):
                raise _ImpureError(f"{name}, for which the class of a class answers")
            static = isinstance(owner, type) and not issubclass(owner, enum.Enum)
            if static and _is_stored(attribute, owner):
                raise _ImpureError(f"{name}, which others change")
            value = getattr_static(owner, attribute, missing) if static else getattr(owner, attribute, missing)
            if isinstance(owner, ModuleType) and _is_assigned(attribute, vars(owner), owner.__name__):
                raise _ImpureError(f"{name}, which others change")
            # It fails in every step at every node, which is no race.
            if value is missing:
                return
            value = value.__func__ if isinstance(value, staticmethod | classmethod) else value
        if isinstance(value, ModuleType | HasCollections):
            raise _ImpureError(f"{name} as a whole")
        if isinstance(value, property):
            value = value.fget
        self._following.use(value, name)

    def _refuse_changing(self, owner: HasCollections, attribute: str) -> None:
        """Refuse an attribute of a module unless only ``__init__`` gives it a value."""
        for kind in type(owner).__mro__:
            for name, member in vars(kind).items():
                stores = isinstance(member, FunctionType) and _stores(member.__code__, attribute)
                if stores and name != "__init__" and not kind.__module__.startswith("clew.bloom."):
                    raise _ImpureError(f"self.{attribute}, which {name} changes")


def _is_plain(value: Any) -> bool:
    """Return whether it cannot change, and all that can be done with it is what Python does."""
    if type(value) in (tuple, frozenset):
        return all(map(_is_plain, value))
    return is_immutable(value) and (
        value is None or type(value) in _VALUE_TYPES or type(value).__module__.startswith("clew.bloom.")
    )


def _refuse_hidden(said: str, *names: str) -> None:
    """Refuse attributes that tell what no operator does: hashes, addresses, classes that others may change."""
    for name in names:
        if name.startswith("__") and name.endswith("__") and name not in _TOLD:
            raise _ImpureError(said)


#: Special attributes that have the same value in every process.
_TOLD = frozenset(
    f"__{name}__" for name in ("name", "qualname", "doc", "len", "getitem", "contains", "init", "new")
)
_DESCRIPTORS = (property, staticmethod, classmethod)


def _methods(member: Any) -> list[FunctionType]:
    """Return the functions that are called for an attribute of a class."""
    if isinstance(member, property):
        found = [member.fget, member.fset, member.fdel]
    else:
        found = [member.__func__ if isinstance(member, staticmethod | classmethod) else member]
    return [function for function in found if isinstance(function, FunctionType)]


def _is_of_library(value: FunctionType | type) -> bool:
    """Return whether it is of Python itself: what is not listed there is not looked into."""
    return (value.__module__ or "").partition(".")[0] in sys.stdlib_module_names | {"builtins"}


def _is_generated(method: FunctionType) -> bool:
    """Return whether ``dataclasses`` or ``NamedTuple`` made a method: these compare, show and set columns."""
    known = method.__globals__.get("__name__")
    return method.__code__.co_filename == "<string>" or known in ("dataclasses", "reprlib", "collections")


def _is_listed(module: str, name: str) -> bool:
    names = _MODULES.get(module)
    return names is not None and (not names or name in names)


def _is_assigned(variable: str, known: dict[str, Any], module: str | None) -> bool:
    """Return whether some function of a module assigns to the global."""
    return any(_assigns(code, variable) for code in _codes(known, module))


def _is_stored(attribute: str, kind: type) -> bool:
    """Return whether some function beside a class assigns to an attribute of this name, of whatever it is."""
    module = sys.modules.get(kind.__module__)
    beside = _codes(vars(module), module.__name__) if module is not None else ()
    own = (method.__code__ for member in vars(kind).values() for method in _methods(member))
    return any(_stores(code, attribute) for code in (*beside, *own))


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


def _stores(code: CodeType, attribute: str) -> bool:
    here = any(i.name in ("STORE_ATTR", "DELETE_ATTR") and i.value == attribute for i in instructions_of(code))
    return here or any(_stores(c, attribute) for c in code.co_consts if isinstance(c, CodeType))
