"""Large values share what they have with those that they grew from, and are what small ones are."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bloom.lattices.test_lattices import METHODS, NAMES, arguments_of, values_of
from clew.bloom.lattices import large
from clew.bloom.lattices.containers import LATTICES, LBag
from clew.bloom.lattices.large import LARGE, LargeSet
from clew.bloom.lattices.scalars import LPSet, LSet
from long_mode import few

_few = few(15, part=50)


@pytest.fixture(autouse=True)
def small_is_large() -> Iterator[None]:
    """Let every set and map with two elements be a large one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(large, "LARGE", 1)
        yield


def made_small(value: Any) -> Any:
    """Return the value as it is held where it is small; arguments of methods may be plain."""
    if not hasattr(value, "elements"):
        return value
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(large, "LARGE", LARGE)
        return type(value).merge_all([type(value).of_row(row) for row in value.elements()])


@pytest.mark.parametrize("name", NAMES)
def test_what_they_grow_to_and_what_is_new_then(name: str) -> None:
    lattice = LATTICES[name]

    @_few
    @given(values_of(name), st.lists(values_of(name), max_size=3))
    def laws(x: Any, merged: list[Any]) -> None:
        grown = x
        for other in merged:
            before, grown = grown, grown.grow(other)
            assert (grown is before) == (before.merge(other) == before)
        assert grown == lattice.merge_all([x, *merged])
        assert hash(grown) == hash(lattice.merge_all([*reversed(merged), x]))
        assert made_small(grown).elements() == grown.elements()
        assert grown.count_elements() == len(grown.elements())
        plus, minus = map(list, grown.elements_since(x, merged))
        assert len(plus) == len(set(plus)) and len(minus) == len(set(minus))
        assert set(plus) == set(grown.elements()) - set(x.elements())
        assert set(minus) == set(x.elements()) - set(grown.elements())

    laws()


@pytest.mark.parametrize(("name", "method"), METHODS)
def test_their_functions_give_the_same(name: str, method: str) -> None:
    @_few
    @given(values_of(name), arguments_of(name, method))
    def law(x: Any, arguments: tuple[Any, ...]) -> None:
        found = getattr(x, method)(*arguments)
        expected = getattr(made_small(x), method)(*map(made_small, arguments))
        assert made_small(found) == made_small(expected)
        assert found.elements() == expected.elements()

    law()


@given(st.lists(st.dictionaries(st.integers(0, 4), st.integers(0, 4), max_size=4), min_size=1))
def test_sums_and_sizes_that_were_asked_for_stay_right(parts: list[dict[int, int]]) -> None:
    bag, numbers = LBag.bottom(), LPSet.bottom()
    for part in parts:
        bag, numbers = bag.merge(LBag.of(part)), numbers.merge(LPSet.of(set(part)))
        assert bag.size().held == (sum(bag.held.values()),)
        assert numbers.sum().held == (sum(numbers.held),)


def test_what_a_value_grew_from_stays_as_it_is() -> None:
    before = LSet.of([1, 2, 3])
    grown = before.merge(LSet.of([4]))
    assert isinstance(before.held, LargeSet)
    assert (before.elements(), grown.elements()) == (((1,), (2,), (3,)), ((1,), (2,), (3,), (4,)))
    assert {grown: "found"}[LSet.of([4, 3, 2, 1])] == "found"


@pytest.mark.parametrize("value", [LSet.of([1, 2, 3]), LBag.of({1: 2, 3: 4})])
def test_copies_are_equal(value: Any) -> None:
    twin = copy.deepcopy(type(value).merge_all([value, value]))
    assert (twin, hash(twin)) == (type(value).merge_all([value]), hash(twin))


@pytest.mark.parametrize("name", ["lset", "lmap[lmax]", "lbag"])
def test_a_row_is_taken_back_as_it_is_spelled(name: str) -> None:
    """A key stays as it came first, and so does what is said of it when it goes."""
    lattice = LATTICES[name]
    first = lattice.of_row((1, 2)) if name != "lset" else lattice.of_row((1,))
    other = lattice.of_row((1.0, 3)) if name != "lset" else lattice.of_row((1.0,))
    grown = first.grow(other)
    told = [list(rows) for rows in grown.elements_since(first, [other])]
    assert repr(told) == ("[[], []]" if name == "lset" else "[[(1, 3)], [(1, 2)]]")
