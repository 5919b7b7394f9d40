"""What functions of rules look up in globals, modules and classes, and whether somebody has changed it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from clew.bloom.ir.expressions import RowFunction, subexpressions
from clew.bloom.ir.program import Rule
from clew.bloom.purity.impurity import find_names_used
from clew.bloom.purity.values import FoundIn
from clew.bloom.runtime.lasting import function_of


class Surroundings:
    """What functions use of modules and classes, which somebody may change from elsewhere at any time.

    The code around these names does not do that, so that mostly it never happens: to look costs less than to call
    such functions for all rows in every step.
    """

    def __init__(self, names: Iterable[FoundIn]) -> None:
        self._names = tuple(names)
        self._values = self._look_up()

    def have_changed(self) -> bool:
        """Tell whether some value is another one than when this was last asked."""
        if not self._names:
            return False
        before, self._values = self._values, self._look_up()
        # By identity: a class of the user's own may say what equality means.
        return any(one is not other for one, other in zip(before, self._values, strict=True))

    def _look_up(self) -> Sequence[object]:
        return [place.get(name) for place, name in self._names]


def find_names_used_by(rules: Iterable[Rule]) -> tuple[FoundIn, ...]:
    """Return the names that functions look up when they are called; what is seen through was looked up before."""
    found: dict[tuple[int, str], FoundIn] = {}
    for rule in rules:
        for part in subexpressions(rule.expr):
            function = function_of(part)
            if isinstance(function, RowFunction):
                function = None if function.paths is not None else function.call
            if function is not None:
                found |= {(id(each.names), each.name): each for each in find_names_used(function)}
    return tuple(found.values())
