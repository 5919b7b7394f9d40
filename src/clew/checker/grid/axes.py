"""The axes of a grid: which params and bounds vary, and over which values.

A grid is the product of its axes, the first one slowest.  How many settings that may be is bounded: each of them
is a search of its own, and a list of thousands of verdicts answers nobody's question.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from itertools import islice, product
from math import prod
from typing import NamedTuple

from clew.bounds import Bounds
from clew.errors import UsageError
from clew.names import nearest_name, show

#: So many settings a grid may have.
MOST_SETTINGS = 1000

#: The bounds that may be an axis: those that are numbers.
BOUND_AXES = tuple(name for name in Bounds._fields if name != "nodes")

#: The values of one setting, by axis, in their order.
GridSetting = tuple[tuple[str, str | int], ...]


class Axis(NamedTuple):
    """What varies: a param, or else a bound; the values are in the order in which they were given."""

    name: str
    values: tuple[str | int, ...]
    is_param: bool


def make_axes(given: Mapping[str, Iterable[str | int]], params: Collection[str]) -> tuple[Axis, ...]:
    """Return the axes of a program with these params; raise ``UsageError`` for what makes no grid."""
    if not given:
        raise UsageError("the grid has no axis", remedy="name what varies, as in --grid crashes=0..2")
    axes = tuple(_make_axis(name, values, params) for name, values in given.items())
    if prod(len(axis.values) for axis in axes) > MOST_SETTINGS:
        sizes = " times ".join(str(len(axis.values)) for axis in axes)
        raise UsageError(
            f"the grid has {sizes} settings, and at most {MOST_SETTINGS} are checked at once",
            remedy="give fewer values on an axis, or several grids",
        )
    return axes


def _make_axis(name: str, values: Iterable[str | int], params: Collection[str]) -> Axis:
    if name not in params and name not in BOUND_AXES:
        raise _refuse_unknown(name, params)
    if isinstance(values, str):
        raise UsageError(f"the values of '{name}' are the string '{values}'", remedy="give a list of values")
    # One more than can be: a range may be longer than the memory.
    found = tuple(islice(values, MOST_SETTINGS + 1))
    if not found:
        raise UsageError(f"the axis '{name}' has no values", remedy=f"give some, as in --grid {name}=1..3")
    if len(found) > MOST_SETTINGS:
        raise UsageError(
            f"the axis '{name}' has more than {MOST_SETTINGS} values", remedy="give fewer, or several grids"
        )
    for number, value in enumerate(found):
        _check_value(name, value, is_bound=name not in params)
        if value in found[:number]:
            raise UsageError(f"the axis '{name}' has {show(value)} twice", remedy="give each value once")
    return Axis(name, found, name in params)


def _check_value(name: str, value: object, *, is_bound: bool) -> None:
    is_number = isinstance(value, int) and not isinstance(value, bool)
    if not is_number and (is_bound or not isinstance(value, str)):
        shown = show(value) if isinstance(value, str | int) else f"a value of type {type(value).__name__}"
        what = "whole numbers" if is_bound else "numbers or strings"
        raise UsageError(f"the axis '{name}' has {shown}", remedy=f"give {what}, as in --grid {name}=0..2")


def _refuse_unknown(name: str, params: Collection[str]) -> UsageError:
    if name == "nodes":
        return UsageError(
            "'nodes' cannot be an axis",
            remedy="let a param say how many there are, as in param replicas = 3; node(1..replicas, 1..replicas);",
        )
    nearest = nearest_name(name, [*params, *BOUND_AXES])
    declared = f"the params {', '.join(params)}" if params else "params, of which the program declares none,"
    remedy = f"did you mean '{nearest}'?" if nearest else f"axes are {declared} and {', '.join(BOUND_AXES)}"
    return UsageError(f"unknown axis '{name}'", remedy=remedy)


def list_settings(axes: Collection[Axis]) -> list[GridSetting]:
    """Return the settings of a grid in order."""
    names = [axis.name for axis in axes]
    return [tuple(zip(names, values, strict=True)) for values in product(*(axis.values for axis in axes))]


def is_smaller(one: GridSetting, other: GridSetting) -> bool:
    """Tell whether a setting is smaller: no number of it is larger, one is smaller, and its strings are the same.

    Strings are in no order: neither of two settings that differ in one is smaller.
    """
    pairs = [(a, b) for (_, a), (_, b) in zip(one, other, strict=True) if a != b]
    return bool(pairs) and all(isinstance(a, int) and isinstance(b, int) and a < b for a, b in pairs)
