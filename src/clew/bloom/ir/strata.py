"""The order in which the rules of a step are evaluated.

Only ``<=`` rules count: what the others derive is seen in a later step.  A use is *strict* if more rows there can
mean fewer rows here: then everything there must be known first.  Collections that depend on each other are
evaluated together, to a fixpoint; a strict use among them has no meaning and is refused.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from clew.bloom.ir.expressions import (
    AnyExpr,
    Apply,
    Elements,
    Extreme,
    Fold,
    Group,
    Join,
    LatticeRef,
    NotIn,
    Reduce,
    Ref,
    RowFunction,
    Take,
    Transform,
    children,
)
from clew.bloom.ir.program import Op, Rule
from clew.bloom.lattices.containers import LATTICES
from clew.errors import ProgramError
from clew.program.graph import components


@dataclass(frozen=True)
class Stratum:
    """Collections that depend on each other, or a single one.  ``rules`` are numbers, those that derive them."""

    collections: tuple[str, ...]
    rules: tuple[int, ...]
    recursive: bool


def uses(expr: AnyExpr, *, strict: bool = False) -> Iterator[tuple[str, bool]]:
    """Yield the collections that an expression reads, and whether strictly; one may occur several times."""
    match expr:
        case Ref(collection) | LatticeRef(collection):
            yield collection, strict
        case Transform(_, function) | Fold(_, RowFunction() as function):
            # Nobody knows what it does with the rows: it may look for one that is not there.
            yield from ((name, True) for name in function.reads)
        case Reduce():
            yield from ((name, True) for name in expr.reads)
    for child in children(expr):
        yield from uses(child, strict=strict or _is_strict(expr, child))


def _is_strict(expr: AnyExpr, child: AnyExpr) -> bool:
    """Tell whether more rows of a part of an expression can mean fewer rows of the expression."""
    match expr:
        case Group() | Extreme() | Reduce():
            return True
        case NotIn(_, absent):
            return child is absent  # by identity: a.notin(a) reads the same collection on both sides
        case Join(sources, _, Take.OUTER):
            return child is sources[1]
        case Apply(source, method):
            # A function that can go back needs the final value, as an aggregate needs all rows.
            return not LATTICES[source.lattice].methods[method].monotone
        case Elements(source):
            return not LATTICES[source.lattice].rows_only_grow
    return False


def stratify(rules: Sequence[Rule], collections: Iterable[str]) -> tuple[Stratum, ...]:
    """Return strata in an order in which each only needs those before it; refuse rules that have none."""
    # Every collection, also one that no rule derives: it is a stratum without rules, which strata after it may
    # read.
    sources: dict[str, list[str]] = {name: [] for name in collections}
    deriving: dict[str, list[int]] = {name: [] for name in sources}
    for number, rule in enumerate(rules):
        # The others are derived after the fixpoint, so that they depend on all strata and nothing depends on
        # them.
        if rule.op is Op.NOW:
            deriving[rule.target].append(number)
            sources[rule.target].extend(name for name, _ in uses(rule.expr))
    strata = []
    for component in components(sources, lambda name: sources[name]):
        members = frozenset(component)
        numbers = sorted(number for name in component for number in deriving[name])
        # A component with one member is recursive only if it reads itself.
        recursive = any(source in members for name in component for source in sources[name])
        if recursive:
            for number in numbers:
                _refuse_strict(rules[number], members, sources)
        strata.append(Stratum(component, tuple(numbers), recursive))
    return tuple(strata)


def _refuse_strict(rule: Rule, members: frozenset[str], sources: Mapping[str, Sequence[str]]) -> None:
    for name, strict in uses(rule.expr):
        if strict and name in members:
            cycle = " <= ".join([rule.target, *shortest_path(name, rule.target, members, sources)])
            raise ProgramError(
                f"{rule.block}: '{rule.target}' needs all rows of '{name}', and these depend on"
                f" '{rule.target}' in the same step ({cycle})",
                position=rule.position,
                remedy="break the cycle: derive one of these collections in the next step, with <+",
            )


def shortest_path(
    start: str, end: str, members: frozenset[str], sources: Mapping[str, Sequence[str]]
) -> list[str]:
    """Return a shortest path from a collection to one that it depends on, within a stratum."""
    came_from: dict[str, str | None] = {start: None}
    waiting = deque([start])
    # It ends: both are in one component, so there is a path.
    while end not in came_from:
        name = waiting.popleft()
        for source in sources[name]:
            if source in members and source not in came_from:
                came_from[source] = name
                waiting.append(source)
    way: list[str] = []
    step: str | None = end
    while step is not None:
        way.append(step)
        step = came_from[step]
    return way[::-1]
