"""Bags and maps, and the table of all lattices (see ``scalars`` for what a lattice is)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Self

from clew.bloom.lattices.large import hold_map, put_in_map
from clew.bloom.lattices.scalars import PLAIN, SAME, Lattice, LBool, LMax, LMin, LPSet, LSet, Method
from clew.bloom.values import BadValueError, Row, find_spelling, freeze, sort_key

__all__ = [
    "LATTICES",
    "PLAIN",
    "SAME",
    "LBag",
    "LBool",
    "LMap",
    "LMax",
    "LMin",
    "LPSet",
    "LSet",
    "Lattice",
    "Method",
]


class _Entries(Lattice):
    """A lattice with entries; ``held`` is a map that nobody changes."""

    #: A number or value that grows replaces the row of its key.
    rows_only_grow = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "held", hold_map(self.held))

    def __hash__(self) -> int:
        # Dictionaries have no hash; and not the order of the items, which depends on what was merged first.
        return hash((self.name, frozenset(self.held.items())))

    @classmethod
    def bottom(cls) -> Self:
        return cls({})

    def merge(self, other: Self) -> Self:
        return self.grow(other)

    def grow(self, other: Self) -> Self:
        changed: dict[Any, Any] = {}
        for key, value in self._require_same(other).held.items():
            old = self.held.get(key)
            new = value if old is None else self._join(old, value)
            if new is not old:
                changed[key] = new
        if not changed:
            return self
        # Also if this one is empty: the other may be what a program merges into it again and again.
        return type(self)(put_in_map(self.held, changed)) if self.held else other

    @staticmethod
    def _join(old: Any, new: Any) -> Any:
        """Merge the values of a key; return the very one that was there if that changes nothing."""
        raise NotImplementedError

    def elements(self) -> tuple[Row, ...]:
        return tuple((key, self.held[key]) for key in sorted(self.held, key=sort_key))

    def count_elements(self) -> int:
        return len(self.held)

    def elements_since(self, before: Self, merged: Sequence[Self]) -> tuple[Iterable[Row], Iterable[Row]]:
        touched = dict.fromkeys(key for one in merged for key in one.held)
        # As they are spelled here: what is gone must be what was there.
        keys = [find_spelling(self.held, key) for key in touched]
        old, new = ({(key, v.held[key]): None for key in keys if key in v.held} for v in (before, self))
        return [row for row in new if row not in old], [row for row in old if row not in new]

    def _spell(self) -> str:
        keys = sorted(self.held, key=sort_key)
        return f"{{{', '.join(f'{key!r}: {self.held[key]!r}' for key in keys)}}}"


class LBag(_Entries):
    """A set in which elements occur several times; merging takes the larger number of each."""

    name = "lbag"
    #: The number of elements, once somebody has asked for it.
    _size: ClassVar[int | None] = None
    columns = ("val", "times")
    methods: ClassVar[dict[str, Method]] = {
        "size": Method("lmax"),
        "contains": Method("lbool", morphism=True, takes=(PLAIN,)),
        "multiplicity": Method("lmax", morphism=True, takes=(PLAIN,)),
        "intersect": Method("lbag", morphism=True, takes=(SAME,)),
        "union": Method("lbag", morphism=True, takes=(SAME,)),
        "plus": Method("lbag", morphism=True, takes=(SAME,)),
        "element_set": Method("lset", morphism=True),
    }

    @classmethod
    def of(cls, value: Any) -> Self:
        """Make a bag of a dictionary of numbers, a list of elements, or an element."""
        if isinstance(value, cls):
            return value
        if isinstance(value, Mapping):
            return cls.merge_all(cls.of_row(entry) for entry in value.items())
        counted: dict[Any, int] = {}
        for element in value if isinstance(value, list | set | frozenset) else [value]:
            kept = freeze(element)
            counted[kept] = counted.get(kept, 0) + 1
        return cls(counted)

    @classmethod
    def of_row(cls, row: Row) -> Self:
        """Make a bag of an element, or of an element and how often it occurs."""
        if len(row) == 1 and isinstance(row[0], cls):
            return row[0]
        element, times = row if len(row) == 2 else (row[0], 1)
        if len(row) not in (1, 2) or isinstance(times, bool) or not isinstance(times, int) or times < 0:
            raise BadValueError(f"a lbag is made of rows (element) or (element, number of times), not of {row!r}")
        return cls({freeze(element): times} if times else {})

    @classmethod
    def merge_all(cls, values: Iterable[Self]) -> Self:
        merged: dict[Any, int] = {}
        for value in values:
            for element, times in value.held.items():
                # The larger number and not the sum: merging must be idempotent, as messages may arrive twice.
                merged[element] = max(times, merged.get(element, 0))
        return cls(merged)

    @staticmethod
    def _join(old: Any, new: Any) -> Any:
        return max(old, new)

    def grow(self, other: Self) -> Self:
        grown = super().grow(other)
        # Known of this one, it is known of the larger one without going through all of it.
        if grown is not self and grown is not other and self._size is not None:
            more = sum(grown.held[element] - self.held.get(element, 0) for element in other.held)
            object.__setattr__(grown, "_size", self._size + more)
        return grown

    def size(self) -> LMax:
        if self._size is None:
            object.__setattr__(self, "_size", sum(self.held.values()))
        return LMax.of(self._size)

    def contains(self, element: Any) -> LBool:
        return LBool(freeze(element) in self.held)

    def multiplicity(self, element: Any) -> LMax:
        return LMax.of(self.held.get(freeze(element), 0))

    def intersect(self, other: Self) -> Self:
        both = {element: min(times, other.held.get(element, 0)) for element, times in self.held.items()}
        return type(self)({element: times for element, times in both.items() if times})

    def union(self, other: Self) -> Self:
        return self.merge(other)

    def plus(self, other: Self) -> Self:
        """Add up how often each element occurs."""
        every = dict.fromkeys([*self.held, *other.held])
        return type(self)({e: self.held.get(e, 0) + other.held.get(e, 0) for e in every})

    def element_set(self) -> LSet:
        return LSet(frozenset(self.held))


class LMap(_Entries):
    """A lattice for each key; there is one class for each lattice of the values, see ``lattice_of_maps``.

    A key with a bottom value is the same as no such key.  A row is a key and a row of its value.
    """

    inner: ClassVar[type[Lattice]]

    @classmethod
    def of(cls, value: Any) -> Self:
        """Make a map of a dictionary or a pair (key, value)."""
        if isinstance(value, cls):
            return value
        if isinstance(value, Mapping):
            return cls._with({freeze(key): cls.inner.of(held) for key, held in value.items()})
        return cls.of_row(value if isinstance(value, tuple) else (value,))

    @classmethod
    def of_row(cls, row: Row) -> Self:
        if len(row) == 1 and isinstance(row[0], cls):
            return row[0]
        if len(row) < 2:
            raise BadValueError(f"a {cls.name} is made of rows (key, value), not of {row!r}")
        return cls._with({freeze(row[0]): cls.inner.of_row(row[1:])})

    @classmethod
    def _with(cls, entries: dict[Any, Lattice]) -> Self:
        # Without this, two maps that mean the same would not be equal, and a fixpoint would never be seen.
        bottom = cls.inner.bottom()
        return cls({key: value for key, value in entries.items() if value != bottom})

    @classmethod
    def merge_all(cls, values: Iterable[Self]) -> Self:
        merged: dict[Any, Any] = {}
        for value in values:
            for key, held in value.held.items():
                merged[key] = merged[key].merge(held) if key in merged else held
        return cls(merged)

    def elements(self) -> tuple[Row, ...]:
        return tuple((key, *row) for key in sorted(self.held, key=sort_key) for row in self.held[key].elements())

    @staticmethod
    def _join(old: Any, new: Any) -> Any:
        return old.grow(new)

    def count_elements(self) -> int:
        return sum(value.count_elements() for value in self.held.values())

    def elements_since(self, before: Self, merged: Sequence[Self]) -> tuple[Iterable[Row], Iterable[Row]]:
        parts: dict[Any, list[Any]] = {}
        for one in merged:
            for key, value in one.held.items():
                parts.setdefault(key, []).append(value)
        plus: list[Row] = []
        minus: list[Row] = []
        for key, values in parts.items():
            spelled = find_spelling(self.held, key)
            fresh, gone = self.held[key].elements_since(before.held.get(key, self.inner.bottom()), values)
            plus += [(spelled, *row) for row in fresh]
            minus += [(spelled, *row) for row in gone]
        return plus, minus

    def at(self, key: Any) -> Any:
        return self.held.get(freeze(key), self.inner.bottom())

    def has_key(self, key: Any) -> LBool:
        return LBool(freeze(key) in self.held)

    def key_set(self) -> LSet:
        return LSet(frozenset(self.held))

    def size(self) -> LMax:
        return LMax.of(len(self.held))

    def intersect(self, other: Self) -> Self:
        """Keep the keys of both, each with the merge of the two values."""
        keys = (key for key in self.held if key in other.held)
        return type(self)({key: self.held[key].merge(other.held[key]) for key in keys})

    def only(self, keys: LSet) -> Self:
        """Keep the entries whose keys are in a set."""
        return type(self)({key: value for key, value in self.held.items() if key in keys.held})


def lattice_of_maps(inner: type[Lattice]) -> type[LMap]:
    """Make ``lmap[...]``, the maps whose values are of a lattice; ``each_f`` applies ``f`` to every value."""
    name = f"lmap[{inner.name}]"
    methods = {
        "at": Method(inner.name, morphism=True, takes=(PLAIN,)),
        "has_key": Method("lbool", morphism=True, takes=(PLAIN,)),
        "key_set": Method("lset", morphism=True),
        "size": Method("lmax"),
        "intersect": Method(name, morphism=True, takes=(SAME,)),
        "only": Method(name, morphism=True, takes=("lset",)),
    }
    contents: dict[str, Any] = {
        "__module__": __name__,
        "name": name,
        "inner": inner,
        # A map of maps has two columns of keys, and the inner one has the name already.
        "columns": ("key_2" if "key" in inner.columns else "key", *inner.columns),
        "methods": methods,
        "rows_only_grow": inner.rows_only_grow,
    }
    for method, promised in inner.methods.items():
        takes = tuple(inner.name if kind == SAME else kind for kind in promised.takes)
        methods[f"each_{method}"] = promised._replace(result=f"lmap[{promised.result}]", takes=takes)
        # Generated, so that a map has all functions of its values, with the promises of the originals.
        contents[f"each_{method}"] = _each(method, f"lmap[{promised.result}]")
    return type("LMap", (LMap,), contents)


def _each(method: str, result: str) -> Callable[..., Lattice]:
    def apply(value: LMap, *arguments: Any) -> Lattice:
        # Looked up when it runs: the table is complete only after all classes are made.
        made: type[LMap] = LATTICES[result]
        return made._with({key: getattr(held, method)(*arguments) for key, held in value.held.items()})

    return apply


def _all_lattices() -> Iterator[type[Lattice]]:
    """Yield all lattices: a table needs an end, and maps of maps are as deep as it goes."""
    simple = (LMax, LMin, LBool, LSet, LPSet, LBag)
    yield from simple
    for inner in simple:
        maps = lattice_of_maps(inner)
        yield maps
        yield lattice_of_maps(maps)


#: By name, as expressions refer to them: an expression is data, and is compared and printed.
LATTICES: dict[str, type[Any]] = {lattice.name: lattice for lattice in _all_lattices()}
