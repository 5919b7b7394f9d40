"""What a function of rows does, found out by calling it with rows of symbols.

A symbol stands for a column.  Arithmetic with it gives an expression, a comparison whose truth is asked for
splits the call in two, and each way through the function is a ``Path``: under these conditions, these rows.
Everything that a symbol cannot answer for, such as a method of a string or the type of a value, makes the function
*opaque*; so does code in which a wrong answer would go unnoticed (``is``, calls of other functions, ``match``).
"""

from __future__ import annotations

import dis
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from types import CodeType
from typing import Any, NoReturn

#: More ways through a function than this are not worth knowing.
_MOST_PATHS = 64

_NEGATED = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}


# -- what is found out -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Column:
    """Column number ``index`` of row number ``part`` that the function is given."""

    part: int
    index: int


@dataclass(frozen=True)
class Constant:
    value: Any


@dataclass(frozen=True)
class Here:
    """The address of the node."""


@dataclass(frozen=True)
class Operation:
    """``+ - * / // %`` as in Python."""

    op: str
    left: Scalar
    right: Scalar


@dataclass(frozen=True)
class Nested:
    """A tuple in a column."""

    items: tuple[Scalar, ...]


@dataclass(frozen=True)
class Item:
    """Element number ``index`` of a tuple in a column."""

    of: Scalar
    index: int


Scalar = Column | Constant | Here | Operation | Nested | Item


@dataclass(frozen=True)
class Test:
    """``left op right``, with ``== != < <= > >=`` as in Python."""

    op: str
    left: Scalar
    right: Scalar


@dataclass(frozen=True)
class Whole:
    """A row that is the tuple in a column."""

    value: Scalar


RowShape = tuple[Scalar, ...] | Whole


@dataclass(frozen=True)
class Path:
    """Where all tests hold, the function gives these rows.  The tests of two paths never hold together."""

    tests: tuple[Test, ...]
    rows: tuple[RowShape, ...]


class OpaqueError(BaseException):
    """A function that cannot be understood; the message says why.  No ``except Exception`` of its own stops it."""


# -- finding out -------------------------------------------------------------------------------------------------


def paths_of(
    function: Callable[..., Any],
    parts: Sequence[Sequence[str]],
    rows_of: Callable[[Any], tuple[RowShape, ...]],
) -> tuple[Path, ...]:
    """All ways through the function; ``rows_of`` makes rows of what it returns.  Raises ``OpaqueError``."""
    _refuse_what_symbols_cannot_see(function)
    found: list[Path] = []
    pending: list[tuple[bool, ...]] = [()]
    while pending:
        if len(found) + len(pending) > _MOST_PATHS:
            raise OpaqueError(f"there are more than {_MOST_PATHS} ways through it")
        walk = _Walk(pending.pop())
        arguments = [SymbolicRow(walk, part, tuple(columns)) for part, columns in enumerate(parts)]
        try:
            rows = rows_of(function(*arguments))
        except OpaqueError:
            raise
        except Exception as error:
            raise OpaqueError(f"with symbols it raises {type(error).__name__}: {error}") from None
        found.append(Path(tuple(walk.tests), rows))
        pending.extend(walk.not_taken())
    return tuple(found)


class _Walk:
    """One way through the function: ``decided`` says how the first tests come out, the others come out true."""

    def __init__(self, decided: tuple[bool, ...]) -> None:
        self._decided = decided
        self._outcomes: list[bool] = []
        self._known: dict[Test, bool] = {}
        self.tests: list[Test] = []

    def decide(self, test: Test) -> bool:
        if test in self._known:
            return self._known[test]
        number = len(self._outcomes)
        outcome = self._decided[number] if number < len(self._decided) else True
        self._outcomes.append(outcome)
        negated = Test(_NEGATED[test.op], test.left, test.right)
        self._known.update({test: outcome, negated: not outcome})
        self.tests.append(test if outcome else negated)
        return outcome

    def not_taken(self) -> Iterator[tuple[bool, ...]]:
        for number in range(len(self._outcomes) - 1, len(self._decided) - 1, -1):
            yield (*self._outcomes[:number], False)


def _refuse_what_symbols_cannot_see(function: Callable[..., Any]) -> None:
    code = getattr(function, "__code__", None)
    if code is None:
        raise OpaqueError(f"{getattr(function, '__name__', function)!r} is not written in Python")
    cells = {
        name: cell.cell_contents
        for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True)
        if _is_filled(cell)
    }
    called = ""
    for instruction in dis.get_instructions(code):
        name = instruction.opname
        if name in ("LOAD_GLOBAL", "LOAD_NAME"):
            _refuse_callable(instruction.argval, function.__globals__)
        elif name in ("LOAD_DEREF", "LOAD_CLASSDEREF") and callable(cells.get(instruction.argval)):
            raise OpaqueError(f"it uses {instruction.argval}")
        elif name == "LOAD_METHOD":
            called = instruction.argval
        elif name.startswith("CALL"):
            raise OpaqueError(f"it calls .{called}" if called else "it calls another function")
        elif name == "MAKE_FUNCTION":
            raise OpaqueError("it contains another function or a comprehension")
        elif name in ("IS_OP", "PUSH_EXC_INFO", "IMPORT_NAME") or "_NONE" in name or name.startswith("MATCH_"):
            raise OpaqueError(_SAID.get(name, "it asks what kind of value something is"))


_SAID = {"PUSH_EXC_INFO": "it handles exceptions", "IMPORT_NAME": "it imports"}


def _refuse_callable(name: str, known: dict[str, Any]) -> None:
    if name in known:
        value = known[name]
        if not callable(value):
            return
    raise OpaqueError(f"it uses {name}")


def _is_filled(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018  # raises where nothing was assigned yet
    except ValueError:
        return False
    return True


def names_of(variable: str, code: CodeType) -> Iterator[str]:
    """The attributes of an outer variable that a function uses, and theirs; if it is passed on, all names."""
    instructions = [i for i in dis.get_instructions(code) if i.opname != "CACHE"]
    for place, instruction in enumerate(instructions):
        if instruction.opname != "LOAD_DEREF" or instruction.argval != variable:
            continue
        chain = list(takewhile(lambda i: i.opname in ("LOAD_ATTR", "LOAD_METHOD"), instructions[place + 1 :]))
        yield from (str(i.argval) for i in chain) if chain else code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from names_of(variable, constant)


# -- symbols -----------------------------------------------------------------------------------------------------


class SymbolicRow:
    """Looks like a row: columns by name and by number."""

    def __init__(self, walk: _Walk, part: int, columns: tuple[str, ...]) -> None:
        self._walk = walk
        self._part = part
        self._columns = columns

    def __getattr__(self, name: str) -> SymbolicValue:
        if name in self._columns:
            return SymbolicValue(self._walk, Column(self._part, self._columns.index(name)))
        raise OpaqueError(f"rows have no column '{name}' (they have {', '.join(self._columns) or 'none'})")

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, str):
            return self.__getattr__(index)
        if isinstance(index, slice):
            return list(self)[index]
        if isinstance(index, int) and -len(self._columns) <= index < len(self._columns):
            return SymbolicValue(self._walk, Column(self._part, index % len(self._columns)))
        raise OpaqueError(f"rows have no column number {index!r}")

    def __iter__(self) -> Iterator[SymbolicValue]:
        return (self[index] for index in range(len(self._columns)))

    def __len__(self) -> int:
        return len(self._columns)

    def __add__(self, other: Any) -> tuple[Any, ...]:
        return (*self, *other)

    def __radd__(self, other: Any) -> tuple[Any, ...]:
        return (*other, *self)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, SymbolicRow | tuple | list) and len(other) == len(self):
            return all(mine == theirs for mine, theirs in zip(self, other, strict=True))
        raise OpaqueError("it compares a whole row")

    def __hash__(self) -> int:
        raise OpaqueError("it looks a row up")


class SymbolicValue:
    """Looks like the value of a column."""

    __slots__ = ("_scalar", "_walk")

    def __init__(self, walk: _Walk | None, scalar: Scalar) -> None:
        self._walk = walk
        self._scalar = scalar

    def _with(self, op: str, left: Any, right: Any) -> SymbolicValue:
        other = right if left is self else left
        return SymbolicValue(self._walk_with(other), Operation(op, scalar_of(left), scalar_of(right)))

    def _walk_with(self, other: Any) -> _Walk | None:
        """The address of the node belongs to every walk."""
        return self._walk or (other._walk if isinstance(other, SymbolicValue) else None)

    def __add__(self, other: Any) -> SymbolicValue:
        return self._with("+", self, other)

    def __radd__(self, other: Any) -> SymbolicValue:
        return self._with("+", other, self)

    def __sub__(self, other: Any) -> SymbolicValue:
        return self._with("-", self, other)

    def __rsub__(self, other: Any) -> SymbolicValue:
        return self._with("-", other, self)

    def __mul__(self, other: Any) -> SymbolicValue:
        return self._with("*", self, other)

    def __rmul__(self, other: Any) -> SymbolicValue:
        return self._with("*", other, self)

    def __truediv__(self, other: Any) -> SymbolicValue:
        return self._with("/", self, other)

    def __rtruediv__(self, other: Any) -> SymbolicValue:
        return self._with("/", other, self)

    def __floordiv__(self, other: Any) -> SymbolicValue:
        return self._with("//", self, other)

    def __rfloordiv__(self, other: Any) -> SymbolicValue:
        return self._with("//", other, self)

    def __mod__(self, other: Any) -> SymbolicValue:
        return self._with("%", self, other)

    def __rmod__(self, other: Any) -> SymbolicValue:
        return self._with("%", other, self)

    def __getitem__(self, index: Any) -> SymbolicValue:
        if isinstance(index, int) and not isinstance(index, bool) and index >= 0:
            return SymbolicValue(self._walk, Item(self._scalar, index))
        raise OpaqueError(f"it takes [{index!r}] of a value")

    def _test(self, op: str, other: Any) -> SymbolicTruth:
        walk = self._walk_with(other)
        if walk is None:
            raise OpaqueError("it asks for the address of the node, which is not known while rules are read")
        return SymbolicTruth(walk, Test(op, self._scalar, scalar_of(other)))

    def __eq__(self, other: object) -> SymbolicTruth:  # type: ignore[override]
        return self._test("==", other)

    def __ne__(self, other: object) -> SymbolicTruth:  # type: ignore[override]
        return self._test("!=", other)

    def __lt__(self, other: Any) -> SymbolicTruth:
        return self._test("<", other)

    def __le__(self, other: Any) -> SymbolicTruth:
        return self._test("<=", other)

    def __gt__(self, other: Any) -> SymbolicTruth:
        return self._test(">", other)

    def __ge__(self, other: Any) -> SymbolicTruth:
        return self._test(">=", other)

    def _no(self, what: str) -> NoReturn:
        raise OpaqueError(what)

    def __bool__(self) -> bool:
        self._no("it asks whether a value is true")

    def __hash__(self) -> int:
        self._no("it looks a value up")

    def __iter__(self) -> Iterator[Any]:
        self._no("it goes through a value")

    def __len__(self) -> int:
        self._no("it asks how long a value is")

    def __contains__(self, item: object) -> bool:
        self._no("it looks into a value")

    def __str__(self) -> str:
        self._no("it writes a value as text")

    def __format__(self, spec: str) -> str:
        self._no("it writes a value as text")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)  # Python's own questions
        self._no(f"it uses .{name} of a value")

    __repr__ = __str__


class SymbolicTruth:
    """The outcome of a comparison; to ask for it decides it."""

    __slots__ = ("_test", "_walk")

    def __init__(self, walk: _Walk, test: Test) -> None:
        self._walk = walk
        self._test = test

    def __bool__(self) -> bool:
        return self._walk.decide(self._test)


def scalar_of(value: Any) -> Scalar:
    """What a column gets."""
    match value:
        case SymbolicValue():
            return value._scalar
        case SymbolicTruth():
            return Constant(bool(value))
        case SymbolicRow():
            return Nested(tuple(scalar_of(item) for item in value))
        case tuple() | list():
            items = tuple(scalar_of(item) for item in value)
            if all(isinstance(item, Constant) for item in items):
                return Constant(tuple(item.value for item in items if isinstance(item, Constant)))
            return Nested(items)
        case None | bool() | int() | float() | str() | bytes() | frozenset():
            return Constant(value)
    raise OpaqueError(f"it makes a {type(value).__name__}")


def here() -> SymbolicValue:
    """The address of the node, while rules are read and nobody knows it."""
    return SymbolicValue(None, Here())


def row_shape(value: Any) -> RowShape:
    """What a function returned, as a row."""
    match value:
        case SymbolicRow() | tuple() | list():
            return tuple(scalar_of(item) for item in value)
        case SymbolicValue():
            return Whole(value._scalar)
    raise OpaqueError(f"it returns a {type(value).__name__} where a row is expected")


def mapped(value: Any) -> tuple[RowShape, ...]:
    return () if value is None else (row_shape(value),)


def flat_mapped(value: Any) -> tuple[RowShape, ...]:
    if isinstance(value, SymbolicRow | SymbolicValue):
        raise OpaqueError("it returns a value where rows are expected")
    return tuple(row_shape(row) for row in value)


def filtered(parts: Sequence[Sequence[str]]) -> Callable[[Any], tuple[RowShape, ...]]:
    """A filter keeps the row that it is given, which is that of all parts."""
    kept = tuple(Column(part, index) for part, columns in enumerate(parts) for index in range(len(columns)))

    def rows_of(value: Any) -> tuple[RowShape, ...]:
        return (kept,) if value else ()

    return rows_of
