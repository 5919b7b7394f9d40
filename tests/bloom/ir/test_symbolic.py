"""What is found out about functions of rows, and what is not believed."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.bloom.ir.function_code import HasCollections
from clew.bloom.ir.symbolic import (
    Column,
    Constant,
    Item,
    Nested,
    OpaqueError,
    Operation,
    Path,
    RowShape,
    Scalar,
    Whole,
    filter_shapes,
    flat_map_shapes,
    map_shapes,
    paths_of,
    symbolic_address,
)
from clew.bloom.ir.symbolic import Test as Asked

PARTS = [("a", "b"), ("c",)]
A, B, C = Column(0, 0), Column(0, 1), Column(1, 0)
LIMIT = 3
NAMES = ("x", "y")
MEMBERS = [1, 2]
SOME = frozenset([1])
MORE = ("x",)
CALLS = 0


class Helper:
    """Would give a wrong answer about a symbol, and nobody would notice."""

    def kind(self, value: Any) -> str:
        return "number" if isinstance(value, int) else "other"


HELPER = Helper()


class Addressed(HasCollections):
    """As rules see a node."""

    ip_port = symbolic_address()


def understood(function: Callable[..., Any]) -> tuple[Path, ...]:
    return paths_of(function, PARTS, map_shapes)


def test_columns_and_constants() -> None:
    assert understood(lambda r, s: (r.a, s.c, "x", 1, None)) == (
        Path((), ((A, C, Constant("x"), Constant(1), Constant(None)),)),
    )


def test_columns_by_number_and_whole_rows() -> None:
    assert understood(lambda r, s: (r[0], r["b"], s[-1])) == (Path((), ((A, B, C),)),)
    assert understood(lambda r, s: r) == (Path((), ((A, B),)),)
    assert understood(lambda r, s: [*r, *s]) == (Path((), ((A, B, C),)),)
    assert understood(lambda r, s: r + s) == (Path((), ((A, B, C),)),)
    assert understood(lambda r, s: [*s[:1], r.a]) == (Path((), ((C, A),)),)


def test_a_column_that_is_the_row() -> None:
    assert understood(lambda r, s: s.c) == (Path((), (Whole(C),)),)
    assert understood(lambda r, s: (s.c[1], (r.a, 2))) == (Path((), ((Item(C, 1), Nested((A, Constant(2)))),)),)


def test_arithmetic() -> None:
    assert understood(lambda r, s: (r.a + 1, 2 * r.b, r.a - s.c, r.a // 2, r.a % 2, r.a / 2)) == (
        Path(
            (),
            (
                (
                    Operation("+", A, Constant(1)),
                    Operation("*", Constant(2), B),
                    Operation("-", A, C),
                    Operation("//", A, Constant(2)),
                    Operation("%", A, Constant(2)),
                    Operation("/", A, Constant(2)),
                ),
            ),
        ),
    )


def test_conditions_are_ways_through_the_function() -> None:
    assert understood(lambda r, s: (r.a,) if r.a > LIMIT and s.c == "x" else None) == (
        Path((Asked(">", A, Constant(3)), Asked("==", C, Constant("x"))), ((A,),)),
        Path((Asked("<=", A, Constant(3)),), ()),
        Path((Asked(">", A, Constant(3)), Asked("!=", C, Constant("x"))), ()),
    )


def test_a_question_is_asked_once() -> None:
    """Also when it is asked the other way round."""
    assert understood(lambda r, s: (1,) if r.a == 1 and not (r.a != 1) else None) == (  # noqa: SIM202
        Path((Asked("==", A, Constant(1)),), ((Constant(1),),)),
        Path((Asked("!=", A, Constant(1)),), ()),
    )


def test_membership_in_a_tuple() -> None:
    assert understood(lambda r, s: (r.a,) if r.a in NAMES else None) == (
        Path((Asked("==", A, Constant("x")),), ((A,),)),
        Path((Asked("!=", A, Constant("x")), Asked("==", A, Constant("y"))), ((A,),)),
        Path((Asked("!=", A, Constant("x")), Asked("!=", A, Constant("y"))), ()),
    )


def test_filters_keep_the_row() -> None:
    assert paths_of(lambda r, s: r.a == s.c, PARTS, filter_shapes(PARTS)) == (
        Path((Asked("==", A, C),), ((A, B, C),)),
        Path((Asked("!=", A, C),), ()),
    )


def test_many_rows_of_one() -> None:
    assert paths_of(lambda r, s: [(r.a,), (r.b,)], PARTS, flat_map_shapes) == (Path((), ((A,), (B,))),)


def test_the_address_of_the_node() -> None:
    node = Addressed()
    found = understood(lambda r, s: (r.a,) if node.ip_port != r.b else None)
    assert [str(path.tests[0].op) for path in found] == ["!=", "=="]


def has_an_exception(r: Any, s: Any) -> Any:
    try:
        return (r.a.x,)
    except Exception:
        return (1,)


def matches(r: Any, s: Any) -> Any:
    match r.a:
        case int():
            return (1,)


def counts_calls(r: Any, s: Any) -> Any:
    global CALLS
    CALLS += 1
    return (r.a,)


def goes_round(r: Any, s: Any) -> Any:
    left = r.a
    while left > 0:
        left = left - 1
    return (left,)


OPAQUE: list[tuple[Callable[..., Any], str]] = [
    (lambda r, s: (len(r.a),), "it uses len"),
    (lambda r, s: (r.a,) if isinstance(r.a, int) else None, "it uses isinstance"),
    (lambda r, s: (math.sqrt(r.a),), "it uses math|it calls"),
    (lambda r, s: (r.a.upper(),), r"it calls \.upper"),
    (lambda r, s: (r.a.real,), r"it uses \.real of a value"),
    (lambda r, s: (HELPER.kind(r.a),), "it uses HELPER, which can change"),
    (lambda r, s: (r.a,) if r.a is None else None, "it asks what kind of value"),
    (lambda r, s: (r.a,) if r.a else None, "it asks whether a value is true"),
    (lambda r, s: (f"{r.a}",), "it writes a value as text"),
    (lambda r, s: ({"x": 1}[r.a],), "it looks a value up"),
    (lambda r, s: (r.a in s.c,), "it looks into a value"),
    (lambda r, s: tuple(x for x in r), "it uses tuple"),
    (lambda r, s: [x + 1 for x in r.a], "another function or a comprehension"),
    (lambda r, s: (r.d,), "rows have no column 'd'"),
    (lambda r, s: (r[7],), "rows have no column number 7"),
    (lambda r, s: 3, "it returns a int where a row is expected"),
    (lambda r, s: ({"a": 1},), "it makes a dict"),
    (lambda r, s: (1 / 0,), "with symbols it raises ZeroDivisionError"),
    (has_an_exception, "it handles exceptions"),
    (matches, "it uses int"),
    (sorted, "^'sorted' is not written in Python$"),
    (partial(counts_calls), "^'partial' is not written in Python$"),
    (lambda r, s: (r.a[-1],), r"it takes \[-1\]"),
    (lambda r, s: (f"{r}",), "it writes a row as text"),
    (lambda r, s: (r.a,) if r.a == [1, 2] else None, "it computes with a list"),
    (lambda r, s: (r.a * [2],), "it computes with a list"),
    (lambda r, s: (r.a,) if r == [1, 2] else None, "it compares a whole row"),
    (lambda r, s: r + MORE[0], "it adds a str to a row"),
    (lambda r, s: (r.a,) if r.a < SOME else None, "it compares sets"),
    (lambda r, s: (r.a,) if r.a in MEMBERS else None, "it uses MEMBERS, which can change"),
    (lambda r, s, given=MEMBERS: (r.a,), "a default value that can change"),
    (counts_calls, "it changes something outside"),
    (goes_round, "more than 64 tests"),
    (HELPER.kind, "it is a method"),
]


def test_the_outcome_of_a_comparison_is_a_value() -> None:
    """Each was once answered without a question to the walk, and always with the same answer."""
    equal, other = Asked("==", A, Constant(1)), Asked("!=", A, Constant(1))
    text = understood(lambda r, s: (f"{r.a == 1}",))
    assert text == (Path((equal,), ((Constant("True"),),)), Path((other,), ((Constant("False"),),)))
    assert understood(lambda r, s: (r.b,) if (r.a == 1) == True else None) == (  # noqa: E712
        Path((equal,), ((B,),)),
        Path((other,), ()),
    )
    assert understood(lambda r, s: (r.b,) if (r.a == 1) in {True} else None) == (
        Path((equal,), ((B,),)),
        Path((other,), ()),
    )
    assert understood(lambda r, s: (r.b,) if (r.a == 1) != (r.b == 2) else None) == (
        Path((equal, Asked("==", B, Constant(2))), ()),
        Path((other, Asked("==", B, Constant(2))), ((B,),)),
        Path((other, Asked("!=", B, Constant(2))), ()),
        Path((equal, Asked("!=", B, Constant(2))), ((B,),)),
    )


def test_a_slice_of_a_row_is_a_tuple() -> None:
    assert understood(lambda r, s: (r.b,) if r[:1] == (1,) else None) == (
        Path((Asked("==", A, Constant(1)),), ((B,),)),
        Path((Asked("!=", A, Constant(1)),), ()),
    )


@pytest.mark.parametrize(("function", "says"), OPAQUE)
def test_what_cannot_be_seen_through(function: Callable[..., Any], says: str) -> None:
    with pytest.raises(OpaqueError, match=says):
        understood(function)


def test_too_many_ways() -> None:
    def many(r: Any, s: Any) -> Any:
        found = 0
        if r.a > 1:
            found += 1
        if r.a > 2:
            found += 1
        if r.a > 3:
            found += 1
        if r.a > 4:
            found += 1
        if r.a > 5:
            found += 1
        if r.a > 6:
            found += 1
        if r.a > 7:
            found += 1
        return (found,)

    with pytest.raises(OpaqueError, match="more than 64 ways"):
        understood(many)


# -- the law: on every row exactly one path holds, and it says what the function does ----------------------------


def evaluated(scalar: Scalar, rows: tuple[tuple[Any, ...], ...]) -> Any:
    match scalar:
        case Column(part, index):
            return rows[part][index]
        case Constant(value):
            return value
        case Operation("+", left, right):
            return evaluated(left, rows) + evaluated(right, rows)
        case Operation("-", left, right):
            return evaluated(left, rows) - evaluated(right, rows)
        case Operation("*", left, right):
            return evaluated(left, rows) * evaluated(right, rows)
        case Nested(items):
            return tuple(evaluated(item, rows) for item in items)
    raise AssertionError(scalar)


COMPARED: dict[str, Callable[[Any, Any], bool]] = {
    "==": lambda x, y: bool(x == y),
    "!=": lambda x, y: bool(x != y),
    "<": lambda x, y: bool(x < y),
    "<=": lambda x, y: bool(x <= y),
    ">": lambda x, y: bool(x > y),
    ">=": lambda x, y: bool(x >= y),
}


def result_of(paths: tuple[Path, ...], rows: tuple[tuple[Any, ...], ...]) -> list[list[Any]]:
    def holds(path: Path) -> bool:
        return all(COMPARED[t.op](evaluated(t.left, rows), evaluated(t.right, rows)) for t in path.tests)

    def row(shape: RowShape) -> list[Any]:
        assert not isinstance(shape, Whole)
        return [evaluated(scalar, rows) for scalar in shape]

    chosen = [path for path in paths if holds(path)]
    assert len(chosen) == 1
    return [row(shape) for shape in chosen[0].rows]


class Row(tuple[Any, ...]):
    @property
    def a(self) -> Any:
        return self[0]

    @property
    def b(self) -> Any:
        return self[1]

    @property
    def c(self) -> Any:
        return self[0]


FUNCTIONS: list[Callable[..., Any]] = [
    lambda r, s: (r.a + s.c, r.b) if r.a < s.c else (r.b, r.a),
    lambda r, s: None if r.a == r.b or (r.b > 2 and s.c != r.a) else (r.a, (r.b, s.c)),
    lambda r, s: (r.a * 2 - s.c,) if 0 <= r.a < r.b <= 4 else (1,),
    lambda r, s: (r.a,) if r.a in (1, 2, s.c) else None,
    lambda r, s: ((r.a if r.a > r.b else r.b) if s.c > 1 else 0, 1),
]


@pytest.mark.parametrize("function", FUNCTIONS)
@given(row=st.tuples(st.integers(-3, 5), st.integers(-3, 5), st.integers(-3, 5)))
def test_paths_do_what_the_function_does(function: Callable[..., Any], row: tuple[int, int, int]) -> None:
    left, right = Row(row[:2]), Row(row[2:])
    said = function(left, right)
    expected = [] if said is None else [list(said)]
    assert result_of(understood(function), (left, right)) == expected
