"""What a function of rows does, found out by calling it with rows of symbols.

A symbol stands for a column.  Arithmetic with it gives an expression, a comparison splits the call in two, and
each way through the function is a ``Path``: under these conditions, these rows.  Everything that a symbol cannot
answer for, such as a method of a string or the type of a value, makes the function *opaque*; so does code in which
a wrong answer would go unnoticed (``is``, calls of other functions, ``match``), see ``function_code``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from clew.bloom.ir.function_code import why_opaque

#: More paths through a function than this are not worth knowing: each is a rule of the checked program.
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
    """``left op right``, with ``== != < <= > >=`` as in Python.

    Of two values one is taken to be the smaller, or they are equal: sets in columns are not understood here.
    """

    op: str
    left: Scalar
    right: Scalar


@dataclass(frozen=True)
class Whole:
    """A row that is the tuple in a column; no row, where a function for ``map`` finds None in it."""

    value: Scalar


RowShape = tuple[Scalar, ...] | Whole


@dataclass(frozen=True)
class Path:
    """Where all tests hold, the function gives these rows.  The tests of two paths never hold together."""

    tests: tuple[Test, ...]
    rows: tuple[RowShape, ...]


# A BaseException, because a function with "except Exception" would go on after a question that a symbol cannot
# answer.
class OpaqueError(BaseException):
    """A function that cannot be understood; the message says why.  No ``except Exception`` of its own stops it."""


# -- finding out -------------------------------------------------------------------------------------------------


def paths_of(
    function: Callable[..., Any],
    parts: Sequence[Sequence[str]],
    rows_of: Callable[[Any], tuple[RowShape, ...]],
) -> tuple[Path, ...]:
    """Return all paths through the function; ``rows_of`` makes rows of what it returns.  Raise ``OpaqueError``."""
    # First by its code: some wrong answers, such as that of "is", cannot be noticed while it runs.
    unseen = why_opaque(function)
    if unseen is not None:
        raise OpaqueError(unseen)
    found: list[Path] = []
    # Depth first, by calling the function once for each path: Python functions cannot be forked in the middle.
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
        # An exception may come of the symbols and not of the function, so nothing follows from it.
        except Exception as error:
            raise OpaqueError(f"with symbols it raises {type(error).__name__}: {error}") from None
        found.append(Path(tuple(walk.tests), rows))
        pending.extend(walk.not_taken())
    return tuple(found)


class _Walk:
    """One call of the function: ``decided`` says how the first tests come out, the others come out true."""

    def __init__(self, decided: tuple[bool, ...]) -> None:
        self._decided = decided
        self._outcomes: list[bool] = []
        self._known: dict[Test, bool] = {}
        self.tests: list[Test] = []

    def decide(self, test: Test) -> bool:
        """Answer a test; the same one, or its negation, has the same answer for the rest of the call."""
        if test in self._known:
            return self._known[test]
        number = len(self._outcomes)
        # A loop that runs until a symbol is large enough would otherwise not end: every test is a new one.
        if number == _MOST_PATHS:
            raise OpaqueError(f"there are more than {_MOST_PATHS} tests on one way through it")
        outcome = self._decided[number] if number < len(self._decided) else True
        self._outcomes.append(outcome)
        negated = Test(_NEGATED[test.op], test.left, test.right)
        # Without this, "if x > 3: ... if x > 3: ..." would have paths that no row can take.
        self._known.update({test: outcome, negated: not outcome})
        self.tests.append(test if outcome else negated)
        return outcome

    def not_taken(self) -> Iterator[tuple[bool, ...]]:
        """Yield the decisions that lead to the paths that turn off from this one."""
        # Only tests after the decided ones: those before belong to paths that are pending or found already.
        for number in range(len(self._outcomes) - 1, len(self._decided) - 1, -1):
            yield (*self._outcomes[:number], False)


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
        # A slice of a row is a plain tuple of symbols, and all that can be done with it is known.
        if isinstance(index, slice):
            return tuple(self)[index]
        if isinstance(index, int) and -len(self._columns) <= index < len(self._columns):
            return SymbolicValue(self._walk, Column(self._part, index % len(self._columns)))
        raise OpaqueError(f"rows have no column number {index!r}")

    def __iter__(self) -> Iterator[SymbolicValue]:
        return (self[index] for index in range(len(self._columns)))

    def __len__(self) -> int:
        return len(self._columns)

    def __add__(self, other: Any) -> tuple[Any, ...]:
        return (*self, *_like_row(other))

    def __radd__(self, other: Any) -> tuple[Any, ...]:
        return (*_like_row(other), *self)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, SymbolicRow | tuple) and len(other) == len(self):
            return all(mine == theirs for mine, theirs in zip(self, other, strict=True))
        raise OpaqueError("it compares a whole row")

    def __hash__(self) -> int:
        raise OpaqueError("it looks a row up")

    def __str__(self) -> str:
        raise OpaqueError("it writes a row as text")

    __repr__ = __str__


def _like_row(value: Any) -> SymbolicRow | tuple[Any, ...]:
    if isinstance(value, SymbolicRow | tuple):
        return value
    raise OpaqueError(f"it adds a {type(value).__name__} to a row")


class SymbolicValue:
    """Looks like the value of a column."""

    __slots__ = ("_scalar", "_walk")

    def __init__(self, walk: _Walk | None, scalar: Scalar) -> None:
        self._walk = walk
        self._scalar = scalar

    def _with(self, op: str, left: Any, right: Any) -> SymbolicValue:
        other = right if left is self else left
        return SymbolicValue(self._walk_with(other), Operation(op, operand_of(left), operand_of(right)))

    def _walk_with(self, other: Any) -> _Walk | None:
        """Return the call that a test belongs to; the address of the node belongs to every one."""
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
        # Not from the end: how long the tuple is, nobody knows.
        if isinstance(index, int) and not isinstance(index, bool) and index >= 0:
            return SymbolicValue(self._walk, Item(self._scalar, index))
        raise OpaqueError(f"it takes [{index!r}] of a value")

    def _test(self, op: str, other: Any) -> bool:
        walk = self._walk_with(other)
        if walk is None:
            raise OpaqueError("it asks for the address of the node, which is not known while rules are read")
        right = operand_of(other)
        if op not in ("==", "!=") and any(_is_set(side) for side in (self._scalar, right)):
            # The negation of < is taken to be >=, which is wrong of two sets of which none includes the other.
            raise OpaqueError("it compares sets, of which neither may be the smaller")
        return walk.decide(Test(op, self._scalar, right))

    def __eq__(self, other: object) -> bool:
        return self._test("==", other)

    def __ne__(self, other: object) -> bool:
        return self._test("!=", other)

    def __lt__(self, other: Any) -> bool:
        return self._test("<", other)

    def __le__(self, other: Any) -> bool:
        return self._test("<=", other)

    def __gt__(self, other: Any) -> bool:
        return self._test(">", other)

    def __ge__(self, other: Any) -> bool:
        return self._test(">=", other)

    # Python answers these by itself if they are missing, and the function would go on with a wrong answer.

    def _refuse(self, what: str) -> NoReturn:
        raise OpaqueError(what)

    def __bool__(self) -> bool:
        self._refuse("it asks whether a value is true")

    def __hash__(self) -> int:
        self._refuse("it looks a value up")

    def __iter__(self) -> Iterator[Any]:
        self._refuse("it goes through a value")

    def __len__(self) -> int:
        self._refuse("it asks how long a value is")

    def __contains__(self, item: object) -> bool:
        self._refuse("it looks into a value")

    def __str__(self) -> str:
        self._refuse("it writes a value as text")

    def __format__(self, spec: str) -> str:
        self._refuse("it writes a value as text")

    def __getattr__(self, name: str) -> Any:
        # Python looks for optional methods, such as __index__, by itself, and goes on without them.
        if name.startswith("__"):
            raise AttributeError(name)  # Python's own questions
        self._refuse(f"it uses .{name} of a value")

    __repr__ = __str__


def scalar_of(value: Any) -> Scalar:
    """Return what a column gets."""
    match value:
        case SymbolicValue():
            return value._scalar
        case SymbolicRow():
            return Nested(tuple(scalar_of(item) for item in value))
        case tuple() | list():
            items = tuple(scalar_of(item) for item in value)
            # In one form: a tuple of constants is a constant, so that equal values are equal expressions.
            if all(isinstance(item, Constant) for item in items):
                return Constant(tuple(item.value for item in items if isinstance(item, Constant)))
            return Nested(items)
        case None | bool() | int() | float() | str() | bytes() | frozenset():
            return Constant(value)
    raise OpaqueError(f"it makes a {type(value).__name__}")


def operand_of(value: Any) -> Scalar:
    """Return what is computed or compared with: a list becomes a tuple in a column, but is none before."""
    if _has_list(value):
        raise OpaqueError("it computes with a list")
    return scalar_of(value)


def _has_list(value: Any) -> bool:
    return isinstance(value, list) or (isinstance(value, tuple) and any(_has_list(item) for item in value))


def _is_set(scalar: Scalar) -> bool:
    return isinstance(scalar, Constant) and isinstance(scalar.value, frozenset)


def symbolic_address() -> SymbolicValue:
    """Return a symbol for the address of the node, which nobody knows while rules are read."""
    return SymbolicValue(None, Here())


def row_shape(value: Any) -> RowShape:
    """Return what a function returned, as a row."""
    match value:
        case SymbolicRow() | tuple() | list():
            return tuple(scalar_of(item) for item in value)
        case SymbolicValue():
            return Whole(value._scalar)
    raise OpaqueError(f"it returns a {type(value).__name__} where a row is expected")


def map_shapes(value: Any) -> tuple[RowShape, ...]:
    """Make rows of the result of a function for ``map``."""
    return () if value is None else (row_shape(value),)


def flat_map_shapes(value: Any) -> tuple[RowShape, ...]:
    """Make rows of the result of a function for ``flat_map``."""
    if isinstance(value, SymbolicRow | SymbolicValue):
        raise OpaqueError("it returns a value where rows are expected")
    return tuple(row_shape(row) for row in value)


def filter_shapes(parts: Sequence[Sequence[str]]) -> Callable[[Any], tuple[RowShape, ...]]:
    """Return what makes rows of the result of a filter: all parts of the row that it was given, or none."""
    kept = tuple(Column(part, index) for part, columns in enumerate(parts) for index in range(len(columns)))

    def rows_of(value: Any) -> tuple[RowShape, ...]:
        return (kept,) if value else ()

    return rows_of
