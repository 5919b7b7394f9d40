"""Values in ITF: what each kind of value is there, and that itf-py reads all of them wherever they stand."""

from __future__ import annotations

import enum
from base64 import b64encode
from dataclasses import dataclass
from typing import Any

import itf_py
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.report.export.formats.itf_values import itf_value
from clew.simulation.values import to_json
from long_mode import few


class Colour(enum.Enum):
    RED = 1


@dataclass(frozen=True)
class Grant:
    request: int


@dataclass(frozen=True)
class Hidden:
    _secret: int
    tag: str


@dataclass(frozen=True)
class Empty:
    pass


class Machine:
    def __init__(self) -> None:
        self.speed = 3


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (None, "U_OF_UNIT"),
        (True, True),
        (-5, {"#bigint": "-5"}),
        (10**1200, {"#bigint": "1" + "0" * 1200}),
        (-(10**1200) + 1, {"#bigint": "-" + "9" * 1200}),
        ("x", "x"),
        (0.5, {"tag": "Float", "value": "0.5"}),
        (float("inf"), {"tag": "Float", "value": "inf"}),
        (b"ab", {"tag": "Bytes", "value": "YWI="}),
        ([1, "x"], [{"#bigint": "1"}, "x"]),
        ((1,), {"#tup": [{"#bigint": "1"}]}),
        ({2, 1}, {"#set": [{"#bigint": "1"}, {"#bigint": "2"}]}),
        ({"a": ()}, {"#map": [["a", {"#tup": []}]]}),
        (Colour.RED, "Colour.RED"),
        (Grant(3), {"tag": "Grant", "value": {"request": {"#bigint": "3"}}}),
        (Empty(), {"tag": "Empty", "value": {}}),
        (Hidden(1, "t"), {"#tup": ["Hidden", {"#map": [["_secret", {"#bigint": "1"}], ["tag", "t"]]}]}),
        (Machine(), {"tag": "Object", "value": "Machine(speed=3)"}),
    ],
)
def test_each_kind_of_value(value: Any, written: Any) -> None:
    assert itf_value(to_json(value, strict=False)) == written
    itf_py.value_from_json(written)


_ATOMS = st.none() | st.booleans() | st.integers() | st.floats() | st.binary() | st.text() | st.just(Colour.RED)
_HASHABLE = st.recursive(
    _ATOMS | st.builds(Grant, st.integers()),
    lambda inner: st.tuples(inner, inner) | st.frozensets(inner),
    max_leaves=6,
)
_VALUES = st.recursive(_HASHABLE, lambda inner: st.lists(inner) | st.dictionaries(_HASHABLE, inner), max_leaves=12)


def read_back(value: Any) -> Any:
    """Return what a value is when itf-py has read it."""
    match value:
        case None:
            return "U_OF_UNIT"
        case Colour():
            return "Colour.RED"
        case bool() | int() | str():
            return value
        case float():
            return (repr(value),)  # variants are read as named tuples
        case bytes():
            return (b64encode(value).decode(),)
        case Grant(request):
            return (request,)
        case list():
            return list(map(read_back, value))
        case tuple():
            return tuple(map(read_back, value))
        case frozenset():
            return frozenset(map(read_back, value))
        case dict():
            return {read_back(key): read_back(item) for key, item in value.items()}
    raise AssertionError(value)


@given(_VALUES)
@few(15)
def test_values_are_read_wherever_they_stand(value: Any) -> None:
    assert itf_py.value_from_json(itf_value(to_json(value, strict=False))) == read_back(value)
