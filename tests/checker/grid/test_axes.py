"""The axes of a grid: what may vary, how many settings that is, and which of them are smaller."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.checker.grid.axes import (
    BOUND_AXES,
    MOST_SETTINGS,
    Axis,
    GridSetting,
    is_smaller,
    list_settings,
    make_axes,
)
from clew.errors import UsageError
from clew.faults import FailureSpec

PARAMS = ["replicas", "leader"]


def test_the_settings_are_the_product_with_the_first_axis_slowest() -> None:
    axes = make_axes({"replicas": range(3, 5), "leader": ["b", "a"], "eff": iter([0])}, PARAMS)
    assert axes == (Axis("replicas", (3, 4), True), Axis("leader", ("b", "a"), True), Axis("eff", (0,), False))
    assert list_settings(axes) == [
        (("replicas", 3), ("leader", "b"), ("eff", 0)),
        (("replicas", 3), ("leader", "a"), ("eff", 0)),
        (("replicas", 4), ("leader", "b"), ("eff", 0)),
        (("replicas", 4), ("leader", "a"), ("eff", 0)),
    ]


def test_every_bound_but_the_nodes_may_be_an_axis() -> None:
    assert FailureSpec.__match_args__ == ("nodes", *BOUND_AXES)


REFUSED: list[tuple[dict[str, Iterable[object]], str, str]] = [
    ({}, "the grid has no axis", "--grid crashes=0..2"),
    ({"replica": [1]}, "unknown axis 'replica'", "did you mean 'replicas'?"),
    ({"zzz": [1]}, "unknown axis 'zzz'", "axes are the params replicas, leader and eot, eff"),
    ({"nodes": [1]}, "'nodes' cannot be an axis", "let a param say how many there are"),
    ({"eot": []}, "the axis 'eot' has no values", "--grid eot=1..3"),
    ({"eot": "345"}, "the values of 'eot' are the string '345'", "a list"),
    ({"eot": [3, 4, 3]}, "the axis 'eot' has 3 twice", "once"),
    ({"eot": ["x"]}, "the axis 'eot' has x", "whole numbers"),
    ({"eot": [True]}, "the axis 'eot' has True", "whole numbers"),
    ({"leader": [None]}, "the axis 'leader' has a value of type NoneType", "numbers or strings"),
    ({"eot": count(1)}, f"the axis 'eot' has more than {MOST_SETTINGS} values", "several grids"),
    ({"eot": range(40), "eff": range(30)}, "the grid has 40 times 30 settings, and at most 1000", "fewer values"),
]


@pytest.mark.parametrize(("axes", "message", "remedy"), REFUSED, ids=[r[1] for r in REFUSED])
def test_what_makes_no_grid_is_refused(axes: dict[str, Iterable[object]], message: str, remedy: str) -> None:
    with pytest.raises(UsageError) as caught:
        make_axes(axes, PARAMS)  # type: ignore[arg-type]  # that is what is tested
    assert message in caught.value.message
    assert remedy in (caught.value.remedy or "")


def test_without_params_the_remedy_says_so() -> None:
    with pytest.raises(UsageError) as caught:
        make_axes({"zzz": [1]}, [])
    assert "params, of which the program declares none, and eot, eff" in (caught.value.remedy or "")


VALUES = st.tuples(st.integers(0, 2), st.sampled_from("ab"), st.integers(0, 2))


@given(VALUES, VALUES)
def test_smaller_is_by_numbers_and_among_the_same_strings(
    one: tuple[int, str, int], other: tuple[int, str, int]
) -> None:
    names = ("x", "who", "y")
    smaller = one[1] == other[1] and one[0] <= other[0] and one[2] <= other[2] and one != other
    settings: list[GridSetting] = [tuple(zip(names, values, strict=True)) for values in (one, other)]
    assert is_smaller(settings[0], settings[1]) == smaller


def test_no_setting_is_smaller_than_itself() -> None:
    for values in product(range(3), repeat=2):
        setting = tuple(zip("xy", values, strict=True))
        assert not is_smaller(setting, setting)
