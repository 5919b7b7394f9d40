"""Translate recursion within a step.

A node derives and merges until nothing changes.  In the IR, the parts of a lattice are rows, and most recursion
through lattices is recursion of rows there.  Not so ``lmax`` and ``lmin`` with ``plus`` and ``minus``: a node only
keeps the best number and stops when it gets no better, while rows would go on with ever worse ones.  But all that
such rules do is to add constants.  So the value of each lattice on a cycle can be said without a cycle: the best
of all that is merged into one of them from elsewhere, plus what the best path from there to here adds.

A path around that improves a number never ends, at a node either, and is refused; so is a set that gets pairs of
its own elements.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from clew.bloom.ir.expressions import AnyExpr, Apply, LatticeRef, children
from clew.bloom.ir.program import BloomProgram, Op, Rule
from clew.bloom.ir.strata import Stratum, shortest_path, stratify
from clew.errors import ProgramError
from clew.program import ir
from clew.program.graph import components
from clew.program.ir import CRASH

#: For each lattice, by the lattices of its cycle, what is added on the best path from there.
Offsets = dict[str, dict[str, int]]


@dataclass(frozen=True)
class _Shift:
    """A rule that merges ``source``, plus some constants, into another lattice, or the same."""

    rule: Rule
    source: str
    added: tuple[object, ...]
    subtracted: tuple[object, ...]

    @property
    def target(self) -> str:
        return self.rule.target

    def by(self) -> int:
        """Return what is added; refuse what is not a whole number."""
        return sum(map(self._number, self.added)) - sum(map(self._number, self.subtracted))

    def _number(self, value: object) -> int:
        try:
            # The number must be one of the engine, since the sums are computed there.
            number = ir.as_value(value)
        except ValueError:
            number = None
        if isinstance(number, int):
            return number
        raise ProgramError(
            f"{self.rule.block}: '{self.target}' depends on itself plus {value!r}, and that cannot be checked",
            position=self.rule.position,
            remedy=f"add whole numbers from {ir.SMALLEST_NUMBER} to {ir.LARGEST_NUMBER}",
        )


@dataclass(frozen=True)
class Recursion:
    """What depends on itself within a step.

    ``offsets`` is about the lattices that get their numbers from each other; the rules of ``replaced`` are those
    by which they do.
    """

    strata: tuple[Stratum, ...]
    offsets: Offsets
    replaced: tuple[Rule, ...]

    def cycle_of(self, rule: Rule) -> frozenset[str]:
        """Return the collections that the target of a rule depends on and that depend on it, within the step."""
        # Only these see what they derive in the same step.
        if rule.op is Op.NOW:
            for stratum in self.strata:
                if stratum.recursive and rule.target in stratum.collections:
                    return frozenset(stratum.collections)
        return frozenset()


def find_recursion(program: BloomProgram) -> Recursion:
    """Find what depends on itself; refuse, in the words of the program, what has no meaning or no end."""
    names = [collection.name for collection in program.collections]
    strata = stratify(program.rules, names)
    outcomes = stratify(program.outcomes, [*names, CRASH])
    rules = (*program.rules, *program.outcomes)
    _refuse_pairs_of_pairs(program, [rule for rule in rules if rule.op is Op.NOW])
    offsets: Offsets = {}
    replaced: list[Rule] = []
    for lattice in ("lmax", "lmin"):
        lattices = [c.name for c in program.collections if c.lattice == lattice]
        shifts = [s for rule in rules if (s := _shift(rule, lattices))]
        sources: dict[str, list[str]] = {name: [] for name in lattices}
        for shift in shifts:
            sources[shift.target].append(shift.source)
        for cycle in components(sources, lambda name: sources[name]):  # noqa: B023  # used at once
            inner = [s for s in shifts if s.source in cycle and s.target in cycle]
            if inner:
                offsets |= _best_offsets(cycle, inner, lattice, sources)
                replaced += [shift.rule for shift in inner]
    return Recursion((*strata, *outcomes), offsets, tuple(replaced))


def _shift(rule: Rule, lattices: Sequence[str]) -> _Shift | None:
    """Return what a rule adds if it merges one lattice into another, perhaps with ``plus`` and ``minus``."""
    if rule.op is not Op.NOW or rule.target not in lattices:
        return None
    expr = rule.expr
    constants: dict[str, list[object]] = {"plus": [], "minus": []}
    while isinstance(expr, Apply) and expr.method in constants:
        constants[expr.method] += expr.arguments
        expr = expr.source
    if not isinstance(expr, LatticeRef):
        return None
    return _Shift(rule, expr.collection, tuple(constants["plus"]), tuple(constants["minus"]))


def _best_offsets(
    cycle: Sequence[str], shifts: Sequence[_Shift], lattice: str, sources: Mapping[str, Sequence[str]]
) -> Offsets:
    """Compute the largest sums, or of ``lmin`` the smallest, by Floyd and Warshall's algorithm."""
    sign = 1 if lattice == "lmax" else -1
    # What is merged into a lattice itself is there without any addition.
    best: dict[tuple[str, str], int] = {(name, name): 0 for name in cycle}
    for shift in shifts:
        ends, by = (shift.source, shift.target), sign * shift.by()
        best[ends] = max(best.get(ends, by), by)
    for middle in cycle:
        for start in cycle:
            for end in cycle:
                if (start, middle) in best and (middle, end) in best:
                    through = best[start, middle] + best[middle, end]
                    best[start, end] = max(best.get((start, end), through), through)
    # The rule that adds most is the one to name: it is on the cycle that never ends, and most likely the cause.
    for shift in sorted(shifts, key=lambda s: -sign * s.by()):
        if best[shift.source, shift.source] > 0 and best[shift.target, shift.target] > 0:
            what = "gets larger and larger" if lattice == "lmax" else "gets smaller and smaller"
            raise _endless(shift.rule, shift.source, frozenset(cycle), sources, what)
    return {end: {start: sign * best[start, end] for start in cycle} for end in cycle}


def _refuse_pairs_of_pairs(program: BloomProgram, rules: Sequence[Rule]) -> None:
    sources: dict[str, list[str]] = {c.name: [] for c in program.collections if c.lattice == "lset"}
    merging = [rule for rule in rules if rule.target in sources]
    for rule in merging:
        sources[rule.target] += [name for name, _ in _sets_included(rule.expr)]
    for cycle in components(sources, lambda name: sources[name]):
        for rule in merging:
            for name, paired in _sets_included(rule.expr):
                if paired and name in cycle and rule.target in cycle:
                    raise _endless(rule, name, frozenset(cycle), sources, "gets pairs of its own elements")


def _sets_included(expr: AnyExpr, *, paired: bool = False) -> Iterator[tuple[str, bool]]:
    """Yield the sets whose elements are all in the value of an expression, and whether as parts of pairs."""
    match expr:
        case LatticeRef(collection):
            yield collection, paired
        case Apply(_, ("union" | "product") as method):
            for child in children(expr):
                yield from _sets_included(child, paired=paired or method == "product")


def _endless(
    rule: Rule, source: str, cycle: frozenset[str], sources: Mapping[str, Sequence[str]], what: str
) -> ProgramError:
    around = " <= ".join([rule.target, *shortest_path(source, rule.target, cycle, sources)])
    return ProgramError(
        f"{rule.block}: '{rule.target}' depends on itself ({around}) and {what} within one step, without end",
        position=rule.position,
        remedy="derive one of these lattices in the next step, with <+",
    )
