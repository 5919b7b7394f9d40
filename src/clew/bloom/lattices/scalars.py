"""Lattices that are one value or a set; ``containers`` has the others and the table of all.

A lattice is a value that only grows.  ``merge`` is associative, commutative and idempotent, so it does not matter
in which order, or how often, something arrives: x <= y means that merging x into y changes nothing.  A *monotone*
function never goes back when its value grows; a *morphism* can be applied to the parts of a merge one by one.
Values never change and can be compared, hashed and sent: ``merge_all(map(of_row, value.elements()))`` is the value
again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self

from clew.bloom.lattices.large import add_to_set, hold_set
from clew.bloom.values import BadValueError, Row, freeze, sort_key

#: What a parameter of a method accepts besides the name of a lattice: a plain value; the lattice of the method.
PLAIN, SAME = "a value", "the same lattice"


class Method(NamedTuple):
    """A function of a lattice.  ``result``: the lattice that it gives.  Monotone: it never goes back.

    Morphism: it can be applied to the parts of a merge one by one.  ``takes``: for each parameter the lattice that
    it may be, PLAIN or SAME; both promises hold for each lattice among them, too.
    """

    result: str
    monotone: bool = True
    morphism: bool = False
    takes: tuple[str, ...] = ()


@dataclass(frozen=True, repr=False)
class Lattice:
    """A value of a lattice; the classes derived from it are the lattices.

    ``columns`` are those of ``elements()``, which only gains rows when the value grows if ``rows_only_grow``.
    """

    held: Any
    # Asked for by values.py, which cannot import this module.
    is_lattice_value: ClassVar[bool] = True
    name: ClassVar[str]
    columns: ClassVar[tuple[str, ...]] = ("val",)
    methods: ClassVar[dict[str, Method]]
    rows_only_grow: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Choose how to hold the value: one that is small is held as it is given."""
        # Here, too, where nothing is chosen: a dataclass calls what is there when it is made.

    @classmethod
    def bottom(cls) -> Self:
        """Return the least value: merging it changes nothing."""
        raise NotImplementedError

    @classmethod
    def of(cls, value: Any) -> Self:
        """Return the lattice value that a plain value stands for."""
        raise NotImplementedError

    @classmethod
    def of_row(cls, row: Row) -> Self:
        """Return what a row of a collection adds: its only column, which may hold a lattice value already."""
        if len(row) != 1:
            raise BadValueError(f"a {cls.name} is made of rows with one column, not of {row!r}")
        return row[0] if isinstance(row[0], cls) else cls.of(row[0])

    def merge(self, other: Self) -> Self:
        """Return the least upper bound of both."""
        return self.merge_all((self, self._require_same(other)))

    @classmethod
    def merge_all(cls, values: Iterable[Self]) -> Self:
        """Merge all of them in one pass; bottom, if there is none."""
        raise NotImplementedError

    def grow(self, other: Self) -> Self:
        """Merge, and return this very value if that changes nothing: so it need not be compared to know that."""
        merged = self.merge(other)
        return self if merged == self else merged

    def elements(self) -> tuple[Row, ...]:
        """Return the value as rows, in canonical order."""
        raise NotImplementedError

    def count_elements(self) -> int:
        """Return how many rows that are."""
        return len(self.elements())

    def elements_since(self, before: Self, merged: Sequence[Self]) -> tuple[Iterable[Row], Iterable[Row]]:
        """Return the rows that are new beside an earlier value, and those that are gone.

        ``merged``: what was merged into that one since then, so that nobody has to look at all of them.
        """
        old, new = set(before.elements()), set(self.elements())
        return new - old, old - new

    # A merge of a lmax and a lmin would be computed without an error, and mean nothing.
    def _require_same(self, other: Any) -> Self:
        if type(other) is not type(self):
            what = other.name if isinstance(other, Lattice) else type(other).__name__
            raise BadValueError(f"a {self.name} cannot be combined with a {what}")
        same: Self = other
        return same

    def __repr__(self) -> str:
        return f"{self.name}.bottom()" if self == self.bottom() else f"{self.name}.of({self._spell()})"

    def _spell(self) -> str:
        return repr(self.held)


# -- one value ---------------------------------------------------------------------------------------------------


class _Extreme(Lattice):
    """The largest or smallest of what was merged; ``held`` is empty or contains it."""

    #: A larger maximum replaces the row of the smaller one.
    rows_only_grow = False

    @classmethod
    def bottom(cls) -> Self:
        return cls(())

    @classmethod
    def of(cls, value: Any) -> Self:
        return value if isinstance(value, cls) else cls((freeze(value),))

    def elements(self) -> tuple[Row, ...]:
        # No row for bottom: nothing was merged yet, and no number stands for that.
        return (self.held,) if self.held else ()

    def plus(self, number: Any) -> Self:
        return self.of(self.held[0] + number) if self.held else self

    def minus(self, number: Any) -> Self:
        return self.of(self.held[0] - number) if self.held else self

    # By sort_key, as everywhere: values of different types may meet in one lattice, and must not raise then.

    def gt(self, value: Any) -> LBool:
        return LBool(any(sort_key(held) > sort_key(value) for held in self.held))

    def gt_eq(self, value: Any) -> LBool:
        return LBool(any(sort_key(held) >= sort_key(value) for held in self.held))

    def lt(self, value: Any) -> LBool:
        return LBool(any(sort_key(held) < sort_key(value) for held in self.held))

    def lt_eq(self, value: Any) -> LBool:
        return LBool(any(sort_key(held) <= sort_key(value) for held in self.held))

    def _spell(self) -> str:
        return repr(self.held[0])


def _number_methods(name: str, rising: tuple[str, str], falling: tuple[str, str]) -> dict[str, Method]:
    """Return the methods of lmax or lmin.

    Comparisons that become true and stay so are morphisms; those that can become false are not monotone.
    """
    # Adding a number keeps the order, so it may be done before or after merging.
    shifts = {shift: Method(name, morphism=True, takes=(PLAIN,)) for shift in ("plus", "minus")}
    tests = {test: Method("lbool", morphism=True, takes=(PLAIN,)) for test in rising}
    return shifts | tests | {test: Method("lbool", monotone=False, takes=(PLAIN,)) for test in falling}


class LMax(_Extreme):
    """The largest value so far."""

    name = "lmax"
    methods = _number_methods("lmax", ("gt", "gt_eq"), ("lt", "lt_eq"))

    @classmethod
    def merge_all(cls, values: Iterable[Self]) -> Self:
        return max((v for v in values if v.held), key=lambda v: sort_key(v.held), default=cls.bottom())


class LMin(_Extreme):
    """The smallest value so far."""

    name = "lmin"
    methods = _number_methods("lmin", ("lt", "lt_eq"), ("gt", "gt_eq"))

    @classmethod
    def merge_all(cls, values: Iterable[Self]) -> Self:
        return min((v for v in values if v.held), key=lambda v: sort_key(v.held), default=cls.bottom())


class LBool(Lattice):
    """False, and once true always true.  ``when_true`` of rules waits for it."""

    name = "lbool"
    methods: ClassVar[dict[str, Method]] = {
        "both": Method("lbool", morphism=True, takes=(SAME,)),
        "either": Method("lbool", morphism=True, takes=(SAME,)),
        "negated": Method("lbool", monotone=False),
    }

    @classmethod
    def bottom(cls) -> Self:
        return cls(False)

    @classmethod
    def of(cls, value: Any) -> Self:
        if isinstance(value, cls):
            return value
        # Not truth in general: lbool.of([]) is more likely a mistake than a false.
        if not isinstance(value, bool):
            raise BadValueError(f"a lbool is True or False, not {value!r}")
        return cls(value)

    @classmethod
    def merge_all(cls, values: Iterable[Self]) -> Self:
        return cls(any(v.held for v in values))

    def elements(self) -> tuple[Row, ...]:
        # A row when it is true, and none before: so its rows only grow.
        return ((True,),) if self.held else ()

    def both(self, other: LBool) -> LBool:
        return LBool(self.held and other.held)

    def either(self, other: LBool) -> LBool:
        return LBool(self.held or other.held)

    def negated(self) -> LBool:
        return LBool(not self.held)


# -- sets --------------------------------------------------------------------------------------------------------

_SET_METHODS = {
    # Monotone, but no morphism: the sizes of two parts of a merge say nothing about what they have in common.
    "size": Method("lmax"),
    "contains": Method("lbool", morphism=True, takes=(PLAIN,)),
}


class LSet(Lattice):
    """A set that elements are added to."""

    name = "lset"
    methods: ClassVar[dict[str, Method]] = _SET_METHODS | {
        # A morphism in each argument: intersection and product distribute over union.
        "intersect": Method("lset", morphism=True, takes=(SAME,)),
        "union": Method("lset", morphism=True, takes=(SAME,)),
        "product": Method("lset", morphism=True, takes=(SAME,)),
        # Not monotone in its argument: a larger set takes more away.
        "without": Method("lset", monotone=False, takes=(SAME,)),
    }

    @classmethod
    def bottom(cls) -> Self:
        return cls(frozenset())

    @classmethod
    def of(cls, value: Any) -> Self:
        """Make a set of a list or set of elements; anything else is an element."""
        if isinstance(value, cls):
            return value
        elements = value if isinstance(value, list | set | frozenset) else [value]
        return cls(frozenset(cls._element(element) for element in elements))

    @classmethod
    def of_row(cls, row: Row) -> Self:
        """Make a set of one element: the only column, also if it is a set, or else the row."""
        value = row[0] if len(row) == 1 else row
        return value if isinstance(value, cls) else cls(frozenset([cls._element(value)]))

    @classmethod
    def _element(cls, value: Any) -> Any:
        return freeze(value)

    def __post_init__(self) -> None:
        object.__setattr__(self, "held", hold_set(self.held))

    @classmethod
    def merge_all(cls, values: Iterable[Self]) -> Self:
        return cls(frozenset().union(*(v.held for v in values)))

    def merge(self, other: Self) -> Self:
        return self.grow(other)

    def grow(self, other: Self) -> Self:
        fresh = [element for element in self._require_same(other).held if element not in self.held]
        if not fresh:
            return self
        # Also if this one is empty: the other may be what a program merges into it again and again.
        return type(self)(add_to_set(self.held, fresh)) if self.held else other

    def elements(self) -> tuple[Row, ...]:
        return tuple((element,) for element in sorted(self.held, key=sort_key))

    def count_elements(self) -> int:
        return len(self.held)

    def elements_since(self, before: Self, merged: Sequence[Self]) -> tuple[Iterable[Row], Iterable[Row]]:
        found = dict.fromkeys(element for one in merged for element in one.held)
        return [(element,) for element in found if element not in before.held], ()

    def size(self) -> LMax:
        return LMax.of(len(self.held))

    def contains(self, element: Any) -> LBool:
        return LBool(freeze(element) in self.held)

    def intersect(self, other: Self) -> Self:
        return type(self)(self.held & other.held)

    def union(self, other: Self) -> Self:
        return self.grow(other)

    def product(self, other: Self) -> LSet:
        """Return all pairs of an element here and one there."""
        return LSet(frozenset((a, b) for a in self.held for b in other.held))

    def without(self, other: Self) -> Self:
        return type(self)(self.held - other.held)

    def _spell(self) -> str:
        return repr([element for (element,) in self.elements()])


class LPSet(LSet):
    """A set of natural numbers: its sum only grows, as that of a lset with negative numbers would not."""

    name = "lpset"
    #: The sum, once somebody has asked for it.
    _total: ClassVar[int | None] = None
    methods: ClassVar[dict[str, Method]] = _SET_METHODS | {
        "intersect": Method("lpset", morphism=True, takes=(SAME,)),
        "union": Method("lpset", morphism=True, takes=(SAME,)),
        "sum": Method("lmax"),
    }

    @classmethod
    def _element(cls, value: Any) -> Any:
        # With negative numbers the sum could fall when the set grows.
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise BadValueError(f"a lpset holds integers from 0 on, not {value!r}")
        return freeze(value)

    def grow(self, other: Self) -> Self:
        grown = super().grow(other)
        # Known of this one, it is known of the larger one without going through all of it.
        if grown is not self and grown is not other and self._total is not None:
            fresh = (element for element in other.held if element not in self.held)
            object.__setattr__(grown, "_total", self._total + sum(fresh))
        return grown

    def sum(self) -> LMax:
        if self._total is None:
            object.__setattr__(self, "_total", sum(self.held))
        return LMax.of(self._total)
