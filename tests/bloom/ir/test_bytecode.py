"""Bytecode reads the same on every Python: the vocabulary of 3.11, whichever version compiled it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from clew.bloom.ir.bytecode import attributes_at, instructions_of


def _named(function: Callable[..., Any], *names: str) -> list[tuple[str, Any]]:
    return [(one.name, one.value) for one in instructions_of(function.__code__) if one.name in names]


def _passes_two(first: Any, second: Any) -> Any:
    return print(first, second)


def _stores_and_loads(first: Any, second: Any) -> Any:
    here = first
    there, here = second, here
    for one in second:
        here = one
    return here, there


def _returns_a_constant(first: Any) -> Any:
    if first:
        return 1
    return None


def _loops(first: Any) -> Any:
    found = []
    for outer in first:
        for inner in outer:
            found.append([x for x in inner if x])
    while first:
        found += first or [1]
    return sorted((found, [y * 2 for y in first], {z: z + 1 for z in first}), key=first if found else None)


def test_two_variables_at_once_are_two_instructions() -> None:
    assert _named(_passes_two, "LOAD_FAST") == [("LOAD_FAST", "first"), ("LOAD_FAST", "second")]
    assert all(isinstance(value, str) for _, value in _named(_stores_and_loads, "LOAD_FAST", "STORE_FAST"))
    assert ("LOAD_FAST", "second") in _named(_stores_and_loads, "LOAD_FAST")


def test_a_constant_is_loaded_and_returned() -> None:
    names = [one.name for one in instructions_of(_returns_a_constant.__code__)]
    assert names.count("RETURN_VALUE") == 2
    assert [value for _, value in _named(_returns_a_constant, "LOAD_CONST")] == [1, None]


def test_methods_are_told_from_attributes() -> None:
    function = lambda r: (r.a.b.upper(), r.c)  # noqa: E731
    attributes = _named(function, "LOAD_ATTR", "LOAD_METHOD")
    assert attributes == [("LOAD_ATTR", "a"), ("LOAD_ATTR", "b"), ("LOAD_METHOD", "upper"), ("LOAD_ATTR", "c")]
    code = instructions_of(function.__code__)
    place = [one.name for one in code].index("LOAD_FAST")
    assert attributes_at(code[place + 1 :]) == ("a", "b", "upper")


def test_named_arguments_are_part_of_the_call() -> None:
    assert [name for name, _ in _named(lambda r: max(r, key=len), "CALL", "CALL_KW")] == ["CALL_KW"]
    assert [name for name, _ in _named(lambda r: max(max(r), key=len), "CALL", "CALL_KW")] == ["CALL", "CALL_KW"]


@pytest.mark.parametrize("function", [lambda r: (*r, 1), lambda r: +r, lambda r: (yield r)])
def test_what_calls_nothing_is_not_called_a_call(function: Callable[..., Any]) -> None:
    assert not [one for one in instructions_of(function.__code__) if one.name.startswith("CALL")]


def test_a_cell_for_an_inner_function_is_not_a_use_of_the_variable() -> None:
    assert _named(lambda r: lambda: r, "LOAD_FAST", "LOAD_CLOSURE") == [("LOAD_CLOSURE", "r")]


def test_what_belongs_to_a_comprehension_is_marked() -> None:
    code = instructions_of((lambda r, s: (r.a, [x + s for x in r.b if x], r.c)).__code__)
    marked = {one.value for one in code if one.in_comprehension and one.name.startswith("LOAD_FAST")}
    assert marked in (set(), {"x", "s"})  # another function in 3.11
    attributes = {one.value: one.in_comprehension for one in code if one.name == "LOAD_ATTR"}
    assert attributes == {"a": False, "b": False, "c": False}


@pytest.mark.parametrize("function", [_passes_two, _stores_and_loads, _returns_a_constant, _loops])
def test_the_stack_holds_nothing_but_what_is_returned(function: Callable[..., Any]) -> None:
    """Also after loops and comprehensions, at whose ends iterators are taken away."""
    returns = [one for one in instructions_of(function.__code__) if one.name == "RETURN_VALUE"]
    assert returns
    assert {one.height for one in returns} == {1}
