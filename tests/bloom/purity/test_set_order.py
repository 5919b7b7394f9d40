"""Whether a function shows the order of a set, which no two processes have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from analysis.calm.analysis import labels, of_class, reasons
from clew.bloom import Bloom, bloom, interface
from clew.bloom.purity.set_order import shows_order


def _stored(r: Any) -> Any:
    found = set()
    for x in r.xs:
        found.add(x)
    return (r.a, sorted(found))


def _asked(r: Any) -> Any:
    found = set(r.a)
    found.update(r.b)
    if r.x in found:
        return None
    return (len(found),)


def _stored_and_joined(r: Any) -> Any:
    found = set(r.x)
    return ",".join(found)


def _gone_through(r: Any) -> Any:
    found = set()
    for x in r.xs:
        found.add(x)
    shown = []
    for x in found:
        shown.append(x)  # that is what is tested
    return tuple(shown)


def _taken_apart(r: Any) -> Any:
    first, *_ = {r.x, r.y}
    return first


def _stored_and_gone_through_at_once(r: Any) -> Any:
    """3.13 stores one variable and loads the other by one instruction."""
    found = {r.x, "b"}
    other = r.x
    for x in found:
        return (other, x)
    return None


def _below_what_sorts(r: Any) -> Any:
    """The stack is as high after a comprehension as before it, also where that is part of the function."""
    return sorted(zip([x for x in r.a], [y for y in r.b], {r.x, "b"}, strict=False))  # noqa: C416


def _used_in_a_comprehension(r: Any) -> Any:
    found = {r.x}
    return (r.x, [y for y in r.a if y in found])


def _two_at_once(r: Any) -> Any:
    found, other = {r.x}, {r.y}
    return (len(found), sorted(other))


def _after_loops(r: Any) -> Any:
    for x in r.a:
        for y in r.b:
            if x == y:
                return None
    return (r.x, sorted({r.x, r.y}))


@pytest.mark.parametrize(
    "function",
    [
        lambda r: (r.x, tuple(sorted({r.x, 3}))),
        lambda r: (",".join(sorted(set(r.y))),),
        lambda r: (len({r.x, r.y}),),
        lambda r: r.x in {1, 2, 3},
        lambda r: (r.x, frozenset([r.x, r.y])),
        lambda r: (min({r.x} | set(r.y)),),
        lambda r: [(r.x, frozenset())],
        lambda r: (r.x, len(set(r.a).intersection(r.b))),
        lambda r: (r.x,) if {r.x} <= {1, 2} else None,
        lambda r: (frozenset(r.x) | {r.y},),
        lambda r: (tuple(sorted(frozenset(r.x) - frozenset([r.y]))),),
        lambda r: (r.x, {r.x, 1} == {1}),
        lambda r: ",".join(r.x),
        lambda r: [(a, 1) for a in r.x],
        _stored,
        _asked,
        _two_at_once,
        _after_loops,
    ],
)
def test_what_does_not_depend_on_it(function: Callable[[Any], Any]) -> None:
    assert shows_order(function.__code__) is None


@pytest.mark.parametrize(
    "function",
    [
        lambda r: str({r.x, "b"}),
        lambda r: list({r.x, "b"})[0],  # noqa: RUF015  # that is what is tested
        lambda r: {r.x, "b"}.pop(),
        lambda r: str(frozenset([r.x])),
        lambda r: ",".join({r.x, "b"}),
        lambda r: list({r.x, "b"}),
        lambda r: tuple(set(r.x)),
        lambda r: f"{ {r.x, 'b'} }",
        lambda r: sorted({r.x, r.y}, key=len),
        lambda r: max({r.x, r.y}, key=len),
        lambda r: next(iter({r.x})),
        lambda r: list(set(r.a) | set(r.b)),
        lambda r: tuple({a for a in r.x}),  # noqa: C416
        lambda r: tuple(set(r.a).union(r.b)),
        lambda r: (str((frozenset(r.x),)),),
        lambda r: [*{r.x}],
        lambda r: list(map(str, {r.x, r.y})),
        lambda r: str({r.x} if r.y else {r.z}),
        lambda r: list(set(r.x) or r.y),
        lambda r: sum({r.x, 0.1}),
        _stored_and_joined,
        _gone_through,
        _taken_apart,
        _stored_and_gone_through_at_once,
        _below_what_sorts,
        _used_in_a_comprehension,
    ],
)
def test_what_does(function: Callable[[Any], Any]) -> None:
    assert shows_order(function.__code__) is not None


class Joined(Bloom):
    given = interface.input("a", "b")
    out = interface.output("text")

    @bloom
    def join(self) -> None:
        self.out <= self.given(lambda g: (",".join({g.a, g.b}),))


def test_calm_says_so() -> None:
    analysis = of_class(Joined)
    assert labels(analysis) == {"out": "D"}
    (reason,) = reasons(analysis, "out")
    assert reason.startswith("a function touches the order of a set (line ")
