"""When a component has settled: what the rules say about it beforehand.

A component has *settled* if a step without anything from outside would leave it as it is: nothing is left with
``<+`` or ``<-`` that the step before did not leave as well.  The coordination lets rows in only when it has, so
that their consequences do not mix with those of the rows before.  ``settling`` observes it while the program runs;
here it is found out from the rules

- whether there is anything to wait for: a component whose rules are all ``<=``, and see less in an empty step than
  in the one before, has settled at the end of every step (``settles_at_once``);
- whether it settles at all (``check_settling``): a rule that feeds itself from step to step may go on for ever,
  and then nothing would be let in any more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from clew.bloom.ir.expressions import (
    AnyExpr,
    Elements,
    Extreme,
    Fold,
    Group,
    Join,
    NotIn,
    Project,
    Reduce,
    Ref,
    Rename,
    Role,
    Take,
    Transform,
    WhenTrue,
    collections_in,
    subexpressions,
)
from clew.bloom.ir.program import BloomProgram, Op, Rule
from clew.bloom.ir.schema import Kind
from clew.bloom.ir.symbolic import Nested, Operation, Scalar
from clew.errors import UsageError
from clew.program.graph import components

#: What is left for the next step.
LATER = (Op.NEXT, Op.DELETE)


def pending_targets(rules: Iterable[Rule]) -> tuple[str, ...]:
    """Return the collections that rules leave something for, to be watched."""
    return tuple(dict.fromkeys(rule.target for rule in rules if rule.op in LATER))


def settles_at_once(program: BloomProgram, rules: Sequence[Rule]) -> bool:
    """Return whether an empty step after any other changes nothing."""
    # An aggregate over rows that are gone in the next step gives another value then, without any ``<+``.
    volatile = _volatile(program)
    return not pending_targets(rules) and not any(
        volatile.intersection(collections_in(part)) for rule in rules for part in _not_monotone(rule.expr)
    )


def check_settling(name: str, program: BloomProgram, rules: Sequence[Rule]) -> None:
    """Refuse rules that may go on for ever without anything from outside."""
    driving = pulses(program)
    # What needs a row from outside in every step stops by itself when none comes.
    own = [rule for rule in rules if not _needs(rule.expr, driving)]
    successors: dict[str, set[str]] = {}
    for rule in own:
        for source in collections_in(rule.expr):
            successors.setdefault(source, set()).add(rule.target)
    names = [c.name for c in program.collections]
    # Only a cycle can go on for ever, and only one that takes a step somewhere (``<+`` or ``<-``): within a step,
    # the runtime finds the fixpoint or says that there is none.
    for members in components(names, lambda n: sorted(successors.get(n, ()))):
        inside = [r for r in own if r.target in members and not set(members).isdisjoint(collections_in(r.expr))]
        culprit = next((r for r in inside if r.op in LATER), None)
        if culprit is not None and not _comes_to_rest(program, members, inside):
            raise UsageError(
                f"{name}: {culprit} feeds itself from step to step, so that it may never settle,"
                " and nothing more could be let in",
                position=culprit.position,
                remedy="let it be driven by an input, or only add rows to a table that are made of known values",
            )
    watched = pending_targets(rules)
    # ``Settling`` compares rows from step to step; a lattice has none that it could compare.
    lattice = next((c for c in program.collections if c.kind is Kind.LATTICE and c.name in watched), None)
    if lattice is not None:
        raise UsageError(
            f"{name}: '{lattice.name}' is a lattice that is merged with <+, and nobody sees when it settles",
            position=lattice.position,
            remedy="merge into it with <=",
        )


def pulses(program: BloomProgram) -> frozenset[str]:
    """Return the collections that are empty some steps after the last row came from outside."""
    found = {c.name for c in program.collections if c.kind is Kind.INPUT or c.kind.arrives}
    # What persists is never empty again, so nothing that depends on it alone is a pulse.
    lasting = {c.name for c in program.collections if c.kind.persists}
    by_target: dict[str, list[Rule]] = {}
    for rule in program.rules:
        by_target.setdefault(rule.target, []).append(rule)
    changed = True
    while changed:
        more = {
            target
            for target, rules in by_target.items()
            if target not in lasting and target not in found and all(_needs(r.expr, found) for r in rules)
        }
        found |= more
        changed = bool(more)
    return frozenset(found)


def _needs(expr: AnyExpr, names: Iterable[str]) -> bool:
    """Return whether an expression has no rows if the collections of these names have none."""
    match expr:
        case Ref(collection):
            return collection in names
        case Join(sources, take=Take.OUTER):
            return _needs(sources[0], names)
        case Join(sources):
            return any(_needs(source, names) for source in sources)
        case NotIn(source) | Transform(source) | Group(source) | Extreme(source):
            return _needs(source, names)
        case Rename(source) | Project(source):
            return _needs(source, names)
    return False  # a fold of no rows may be something, and lattices stay


def _volatile(program: BloomProgram) -> frozenset[str]:
    """Return the collections that can lose rows from one step to the next, because inputs do."""
    found = set(pulses(program))
    lasting = {c.name for c in program.collections if c.kind.persists}
    changed = True
    while changed:
        more = {
            rule.target
            for rule in program.rules
            if rule.target not in lasting and not found.isdisjoint(collections_in(rule.expr))
        } - found
        found |= more
        changed = bool(more)
    return frozenset(found)


def _not_monotone(expr: AnyExpr) -> Iterator[AnyExpr]:
    """Yield the parts of an expression that it may have more rows without."""
    for part in subexpressions(expr):
        match part:
            case NotIn(_, absent):
                yield absent
            case Group(source) | Extreme(source) | Reduce(source):
                yield source
            case Join(sources, take=Take.OUTER):
                yield sources[1]
            case Transform(_, function) if function.reads:
                yield part
            case Elements() | WhenTrue() | Fold():
                yield part


# -- rules that feed themselves ----------------------------------------------------------------------------------


def _comes_to_rest(program: BloomProgram, members: Sequence[str], inside: Sequence[Rule]) -> bool:
    # A collection that only keeps or drops its own rows gets no new ones: a finite set runs out of changes.
    if len(members) == 1 and all(_selects(rule.expr, members[0]) for rule in inside):
        return all(rule.op is not Op.NOW for rule in inside)  # it keeps some of its rows, or deletes some
    # A table that only grows, by values that are there already, is bounded by the combinations of these values.
    tables = {c.name for c in program.collections if c.kind is Kind.TABLE}
    return all(
        rule.op in (Op.NOW, Op.NEXT)
        and (rule.op is Op.NOW or rule.target in tables)
        and not any(set(members).intersection(collections_in(part)) for part in _not_monotone(rule.expr))
        and not _makes_values(rule.expr)
        for rule in inside
    ) and not any(rule.op is Op.DELETE and rule.target in members for rule in program.rules)


def _selects(expr: AnyExpr, name: str) -> bool:
    """Return whether the rows of an expression are rows of a collection."""
    match expr:
        case Ref(collection):
            return collection == name
        case NotIn(source) | Extreme(source):
            return _selects(source, name)
        case Transform(source, function):
            return function.role is Role.FILTER and _selects(source, name)
        case Join(sources, take=Take.LEFTS):
            return _selects(sources[0], name)
        case Join(sources, take=Take.RIGHTS):
            return _selects(sources[1], name)
    return False


def _makes_values(expr: AnyExpr) -> bool:
    """Return whether an expression has values that its sources do not have: there may be more and more of them."""
    for part in subexpressions(expr):
        if isinstance(part, Transform) and part.function.role is not Role.FILTER:
            paths = part.function.paths
            shapes = [row for path in paths or () for row in path.rows]
            if paths is None or any(not isinstance(row, tuple) or _is_made(row) for row in shapes):
                return True
        # A count is a new value; fed back, it may grow for ever.
        if isinstance(part, Group | Reduce):
            return True
    return False


def _is_made(row: Iterable[Scalar]) -> bool:
    return any(isinstance(value, Operation | Nested) for value in row)

