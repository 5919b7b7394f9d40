"""Recursion within a step that computes new values, and where it is given up.

Rules that only combine values that are there come to an end: there are finitely many rows of them.  Rules that
compute values need not, ``s <= s(lambda r: (r.n + 1,))`` for example, and whether they do can be told from the
values only.  So what they compute in one step is bounded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from clew.bloom.ir.expressions import (
    AnyExpr,
    Join,
    NotIn,
    Project,
    Ref,
    Rename,
    Role,
    Rows,
    Transform,
    subexpressions,
)
from clew.bloom.ir.program import Rule
from clew.bloom.ir.symbolic import Column, Constant, Here
from clew.bloom.runtime.storage import Store
from clew.bloom.values import Row
from clew.errors import ProgramError

#: So many rows, and new values of lattices, may be computed by rules that depend on each other in one step.
#: ``clew check`` computes as many values at most.
MOST_COMPUTED = 300_000
#: And so often may a join find such a row, be it a new one or not.
_MOST_JOINED = 10 * MOST_COMPUTED
#: A join is asked for so many rows at once, as far as can be told from the sizes of its sides.
_JOINED_AT_ONCE = 1_000_000


class EndlessStepError(ProgramError):
    """The rules of a step go on and on: there is no fixpoint, or it is too far away."""


def computes(rule: Rule) -> bool:
    """Tell whether a rule may give values that none of the collections that it reads has."""
    return not all(_gives_known_values(part) for part in subexpressions(rule.expr))


def _gives_known_values(expr: AnyExpr) -> bool:
    match expr:
        case Transform(_, function):
            if function.role is Role.FILTER:
                return True
            rows = [row for path in function.paths or () for row in path.rows]
            plain = all(isinstance(row, tuple) and all(map(_is_plain, row)) for row in rows)
            return function.paths is not None and plain
        # Everything else, such as an aggregate or a lattice, may make values that were not there.
        case Ref() | Rows() | Rename() | Project() | Join() | NotIn():
            return True
    return False


def _is_plain(scalar: object) -> bool:
    return isinstance(scalar, Column | Constant | Here)


def refuse_endless(rules: Sequence[Rule]) -> EndlessStepError:
    """Return the error about a step of these rules, of which one computes, that does not end."""
    rule = next(rule for rule in rules if computes(rule))
    names = ", ".join(f"'{name}'" for name in dict.fromkeys(rule.target for rule in rules))
    return EndlessStepError(
        f"{rule.block}: a step does not end: more than {MOST_COMPUTED:,} rows or values were computed for {names}",
        position=rule.position,
        remedy="bound what is computed with a test, or compute it in the next step, with <+",
    )


def check_product(rules: Sequence[Rule], pairs: int) -> None:
    """Refuse a product of sets, in one of these rules, that has more elements than a step may compute."""
    if pairs > MOST_COMPUTED:
        raise refuse_endless(rules)


class Budget:
    """What rules that depend on each other may still compute in a step; one of ``rules`` computes."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._rules = rules
        self._left = MOST_COMPUTED
        self._joined = 0

    def spend(self, found: int) -> None:
        """Count a round, which has added rows, or elements of lattices, or changed the values of these."""
        self._left -= max(1, found)  # at least one: values of lattices may change for ever without growing
        self._check(0)

    def _check(self, rows: int) -> None:
        if rows <= self._left and self._joined <= _MOST_JOINED:
            return
        raise refuse_endless(self._rules)

    def portion(self, sources: Iterable[Store]) -> int:
        """Return how many rows may be joined with those of other stores at once."""
        return max(1, _JOINED_AT_ONCE // max(1, sum(len(store.rows) for store in sources)))

    def count_joined(self, joined: int, fresh: int) -> None:
        """Count rows that joins have found, and those of them that are new."""
        self._joined += joined
        self._check(fresh)

    def delta(self, derive: Callable[[], Iterable[Row]], sources: Sequence[Store], there: Store) -> Iterable[Row]:
        """Return what a join derives from what is new in its sources; ``there``: the rows of its target.

        A round can square the number of rows, so what is new is joined in portions, and counted.  The rows are
        those of a round as any other: nothing is added to a collection before all are known.
        """
        size = self.portion(sources)
        # Most rounds are small, and pay only for this comparison.
        if all(len(store.delta) <= size for store in sources):
            return derive()
        fresh: dict[Row, None] = {}
        for _ in _in_portions(sources, size):
            found = list(derive())
            fresh.update(dict.fromkeys(row for row in found if row not in there.rows))
            self.count_joined(len(found), len(fresh))
        return fresh


def _in_portions(stores: Sequence[Store], size: int) -> Iterator[None]:
    """Let only some rows of one store be new at a time; the others are in it, as old ones."""
    # They come back at the end: rules of the same round that do not join read the same deltas.
    new = [list(store.delta) for store in stores]
    for store in stores:
        store.delta = ()
    for store, rows in zip(stores, new, strict=True):
        for start in range(0, len(rows), size):
            store.delta = rows[start : start + size]
            yield
        store.delta = ()
    for store, rows in zip(stores, new, strict=True):
        store.delta = rows
