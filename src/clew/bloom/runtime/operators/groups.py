"""``Group`` and ``Extreme`` of rows that last: each group has a state that a new or a removed row changes.

Numbers are summed up as they come only where the order does not matter: a sum with a float among its numbers is
computed from all rows of the group, in canonical order, as is everything that may raise.  So a group has the same
aggregates, and is rejected with the same words, as if it were computed anew.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from clew.bloom.ir.expressions import Aggregate
from clew.bloom.runtime.calls import Report, picker
from clew.bloom.runtime.operators.differences import Difference
from clew.bloom.runtime.operators.rows import make_grouping
from clew.bloom.runtime.storage import Store
from clew.bloom.values import BadValueError, Row, freeze_row, sort_key

# -- aggregates --------------------------------------------------------------------------------------------------


class _InexactError(Exception):
    """An aggregate that has to be computed from all rows of its group."""


class _Tally(Protocol):
    """What an aggregate needs to know of the rows of its group, with only the columns of the aggregate."""

    def add(self, row: Row) -> None: ...

    def remove(self, row: Row) -> None: ...

    def result(self) -> Any: ...


class _Size:
    """``count`` of rows."""

    def __init__(self) -> None:
        self._size = 0

    def add(self, row: Row) -> None:
        self._size += 1

    def remove(self, row: Row) -> None:
        self._size -= 1

    def result(self) -> int:
        return self._size


class _Values:
    """``count`` of values, ``accum`` and ``accum_pair``: each different value, and how often it is there."""

    def __init__(self, result_of: Callable[[Iterable[Row]], Any]) -> None:
        self._times: dict[Row, int] = {}
        self._result_of = result_of

    def add(self, row: Row) -> None:
        self._times[row] = self._times.get(row, 0) + 1

    def remove(self, row: Row) -> None:
        times = self._times[row] - 1
        if times:
            self._times[row] = times
        else:
            del self._times[row]

    def result(self) -> Any:
        return self._result_of(self._times)


class _Sum:
    """``sum``, and ``avg`` if it is ``shared``, of whole numbers."""

    def __init__(self, *, shared: bool) -> None:
        self._total = self._size = self._others = 0
        self._shared = shared

    def add(self, row: Row) -> None:
        self._count(row[0], 1)

    def remove(self, row: Row) -> None:
        self._count(row[0], -1)

    def _count(self, value: Any, sign: int) -> None:
        self._size += sign
        if isinstance(value, int):
            self._total += sign * value
        else:
            self._others += sign

    def result(self) -> Any:
        if self._others:
            raise _InexactError
        return self._total / self._size if self._shared else self._total


class _Truths:
    """``bool_and`` and ``bool_or``: how many values are true, and how many are not."""

    def __init__(self, *, every: bool) -> None:
        self._counts = [0, 0]
        self._every = every

    def add(self, row: Row) -> None:
        self._counts[bool(row[0])] += 1

    def remove(self, row: Row) -> None:
        self._counts[bool(row[0])] -= 1

    def result(self) -> bool:
        false, true = self._counts
        return not false if self._every else bool(true)


class _Ranks:
    """Things by their rank, and the ranks in order: what is smallest or largest is known after any removal.

    A list and no heap, which finds the next smallest only by sorting; inserting into 100,000 takes 15 µs.
    """

    def __init__(self) -> None:
        self.order: list[Any] = []
        self.there: dict[Any, dict[Any, int]] = {}

    def add(self, rank: Any, thing: Any) -> None:
        found = self.there.get(rank)
        if found is None:
            insort(self.order, rank)
            found = self.there[rank] = {}
        found[thing] = found.get(thing, 0) + 1

    def remove(self, rank: Any, thing: Any) -> None:
        found = self.there[rank]
        found[thing] -= 1
        if not found[thing]:
            del found[thing]
        if not found:
            del self.there[rank]
            del self.order[bisect_left(self.order, rank)]

    def best(self, *, largest: bool) -> Any:
        """Return the smallest or largest rank, or None."""
        return self.order[-1 if largest else 0] if self.order else None


class _Best:
    """``min``, ``max`` and ``choose``."""

    def __init__(self, *, largest: bool) -> None:
        self._ranks = _Ranks()
        self._largest = largest

    def add(self, row: Row) -> None:
        self._ranks.add(sort_key(row[0]), row[0])

    def remove(self, row: Row) -> None:
        self._ranks.remove(sort_key(row[0]), row[0])

    def result(self) -> Any:
        return next(iter(self._ranks.there[self._ranks.best(largest=self._largest)]))


def _make_tally(aggregate: Aggregate) -> _Tally:
    match aggregate.function:
        case "count":
            return _Values(len) if aggregate.over else _Size()  # type: ignore[arg-type]  # it gets a dictionary
        case "accum":
            return _Values(lambda values: frozenset(value for (value,) in values))
        case "accum_pair":
            return _Values(frozenset)
        case "sum" | "avg":
            return _Sum(shared=aggregate.function == "avg")
        case "bool_and" | "bool_or":
            return _Truths(every=aggregate.function == "bool_and")
        case "min" | "max" | "choose":
            return _Best(largest=aggregate.function == "max")
    raise AssertionError(f"unknown aggregate {aggregate.function}")


# -- operators ---------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Group:
    """``rows``: none or one, what it gives now; ``failure``: why it gives none."""

    tallies: Sequence[_Tally]
    size: int = 0
    rows: list[Row] = field(default_factory=list)
    failure: str | None = None


class KeptGroups:
    """``Group`` of the rows of a store."""

    def __init__(
        self, store: Store, keys: Sequence[int], aggregates: Sequence[Aggregate], report: Report, retract: Report
    ) -> None:
        self._store = store
        self._columns = tuple(keys)
        self._key = picker(list(keys))
        self._aggregates = [(aggregate, picker(list(aggregate.over))) for aggregate in aggregates]
        self._failures: list[str] = []
        self._all_rows = make_grouping(keys, aggregates, lambda message, _=None: self._failures.append(message))
        self._report, self._retract = report, retract
        self._groups: dict[Row, _Group] = {}

    def full(self) -> Iterable[Row]:
        self._groups = {}
        for row in self._store.rows:
            self._count(row, added=True)
        found: list[Row] = []
        for key, group in self._groups.items():
            self._compute(key, group)
            found += group.rows
        return found

    def delta(self) -> Iterable[Row]:
        return ()

    def changes(self) -> Difference:
        touched = {self._count(row, added=True): None for row in self._store.added}
        touched |= {self._count(row, added=False): None for row in self._store.removed}
        plus: list[Row] = []
        minus: list[Row] = []
        for key in touched:
            group = self._groups[key]
            minus += group.rows
            if group.failure is not None:
                self._retract(group.failure)
            if group.size:
                self._compute(key, group)
                plus += group.rows
            else:
                del self._groups[key]
        return Difference(plus, minus)

    def _count(self, row: Row, *, added: bool) -> Row:
        """Count a row in its group, or no longer, and return the key of the group."""
        key = self._key(row)
        group = self._groups.get(key)
        if group is None:
            group = self._groups[key] = _Group([_make_tally(aggregate) for aggregate, _ in self._aggregates])
        group.size += 1 if added else -1
        for tally, (_, pick) in zip(group.tallies, self._aggregates, strict=True):
            (tally.add if added else tally.remove)(pick(row))
        return key

    def _compute(self, key: Row, group: _Group) -> None:
        group.failure = None
        try:
            group.rows = [(*key, *freeze_row([tally.result() for tally in group.tallies]))]
        except (_InexactError, ArithmeticError, BadValueError):
            # In the words of whoever computes groups anew, which depend on the order of the rows.
            group.rows = self._all_rows(self._members(key))
            if not group.rows:
                group.failure = self._failures.pop()
                self._report(group.failure)

    def _members(self, key: Row) -> Iterable[Row]:
        # Most groups never ask, so that the index is made when one does.
        value = key[0] if len(self._columns) == 1 else key
        return self._store.index(self._columns)[value]


class KeptExtremes:
    """``Extreme`` of the rows of a store."""

    def __init__(self, store: Store, keys: Sequence[int], column: int, *, largest: bool) -> None:
        self._store = store
        self._key = picker(list(keys))
        self._column = column
        self._largest = largest
        self._groups: dict[Row, _Ranks] = {}

    def full(self) -> Iterable[Row]:
        self._groups = {}
        for row in self._store.rows:
            self._groups.setdefault(self._key(row), _Ranks()).add(self._rank(row), row)
        return [row for ranks in self._groups.values() for row in ranks.there[self._best(ranks)]]

    def delta(self) -> Iterable[Row]:
        return ()

    def changes(self) -> Difference:
        touched: dict[Row, tuple[list[Row], list[Row]]] = {}
        for number, rows in enumerate((self._store.added, self._store.removed)):
            for row in rows:
                touched.setdefault(self._key(row), ([], []))[number].append(row)
        plus: list[Row] = []
        minus: list[Row] = []
        for key, (added, removed) in touched.items():
            found = self._change_group(key, added, removed)
            plus += found.plus
            minus += found.minus
        return Difference(plus, minus)

    def _change_group(self, key: Row, added: list[Row], removed: list[Row]) -> Difference:
        ranks = self._groups.setdefault(key, _Ranks())
        before = self._best(ranks)
        for row in removed:
            ranks.remove(self._rank(row), row)
        for row in added:
            ranks.add(self._rank(row), row)
        best = self._best(ranks)
        if best is None:
            del self._groups[key]
        gone = [row for row in removed if self._rank(row) == before]
        # Rows that were best and still are cost nothing, however many they are.
        if best == before:
            return Difference([row for row in added if self._rank(row) == best], gone)
        fresh = set(added)
        return Difference(
            list(ranks.there.get(best, ())), [*gone, *(r for r in ranks.there.get(before, ()) if r not in fresh)]
        )

    def _rank(self, row: Row) -> Any:
        return sort_key(row[self._column])

    def _best(self, ranks: _Ranks) -> Any:
        return ranks.best(largest=self._largest)
