"""What a rule of Bloom reads, and how: its expression is followed from the collections outwards, by columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from clew.analysis.calm.refinements.complete_sets import Known, is_sealed
from clew.analysis.calm.refinements.monotone_columns import (
    OF_AGGREGATE,
    Changing,
    Column,
    Direction,
    Reads,
    RuleAnalysis,
    Trusted,
    find_misuse,
    shift_column,
)
from clew.bloom.ir.expressions import (
    AnyExpr,
    Apply,
    Elements,
    Expr,
    Extreme,
    Fold,
    Group,
    Join,
    LatticeRef,
    NotIn,
    Project,
    Reduce,
    Ref,
    Rename,
    RowFunction,
    Take,
    Transform,
    Value,
    WhenTrue,
    children,
    collections_in,
)
from clew.bloom.ir.program import Op, Rule
from clew.bloom.ir.symbolic import Column as ColumnOf
from clew.bloom.ir.symbolic import Constant, Item, Nested, Operation, Scalar, Test, Whole
from clew.bloom.lattices.containers import LATTICES

NOTHING_KNOWN = Known()
_TRUE = Constant(True)
_FALSE = Constant(False)
#: Comparisons of truth values, as comparisons in which True is larger.
_TRUTHS = {("==", True): ">=", ("!=", False): ">", ("==", False): "<=", ("!=", True): "<"}


def analyse_rule(rule: Rule, trusted: Trusted, known: Known = NOTHING_KNOWN) -> RuleAnalysis:
    """Analyse a rule, with some collections trusted to carry changing columns to rules that only compare them.

    ``known``: what other rules say about the collections that this one reads.
    """
    reader = _Reader(trusted, known)
    columns = reader.columns(rule.expr)
    # Which rows are gone depends on when the deletion sees its own, however monotone the expression is.
    if rule.op is Op.DELETE:
        for name in collections_in(rule.expr):
            reader.refuse([name], "deletes by")
    # A changing column that is stored or sent leaves its old values behind: then it was used.
    if rule.op is not Op.NOW or rule.target not in trusted:
        reader.use(columns)
        columns = ()
    return reader.result(rule, columns)


class _Reader:
    def __init__(self, trusted: Trusted, known: Known) -> None:
        self._trusted = trusted
        self._known = known
        self._reasons: dict[str, str] = {}
        #: What is not monotone if a changing column is used: the collections, and why.
        self._pending: list[tuple[tuple[str, ...], str]] = []
        self._used: dict[int | str, None] = {}

    def result(self, rule: Rule, columns: tuple[Column, ...]) -> RuleAnalysis:
        refined: dict[str, str] = {}
        for number, (names, reason) in enumerate(self._pending):
            # Whether a value is used is known only when the whole rule was
            # read: a count may be compared far outside.
            if number in self._used:
                self.refuse(names, reason)
            else:
                refined.update({name: f"{reason} {name}" for name in names})
        reads = tuple(
            Reads(name, self._reasons.get(name, ""), "" if name in self._reasons else refined.get(name, ""))
            for name in collections_in(rule.expr)
        )
        return RuleAnalysis(reads, frozenset(o for o in self._used if isinstance(o, str)), columns)

    def refuse(self, names: Iterable[str], reason: str) -> None:
        """Note that these collections are not read in a monotone way."""
        for name in names:
            self._reasons.setdefault(name, f"{reason} {name}")

    def use(self, columns: Iterable[Column]) -> None:
        """Note that the value of these columns is used: where it changes, that counts."""
        for column in columns:
            if column is not None:
                self._used.update(dict.fromkeys(column.owners))

    def _changing(self, expr: AnyExpr, reason: str, direction: Direction, *, number: bool = False) -> Changing:
        # Numbers stand for aggregates of this rule, names for trusted collections: both may own a column.
        self._pending.append((collections_in(expr), reason))
        return Changing(direction, (len(self._pending) - 1,), number)

    # -- expressions ---------------------------------------------------------------------------------------------

    def columns(self, expr: AnyExpr) -> tuple[Column, ...]:
        """Return how the columns change, as many as there are known to be."""
        known = len(getattr(expr, "columns", ()))
        found = self._columns(expr)
        # A lattice, or code that is not seen through, says nothing about columns: none of them is taken to change.
        return found if len(found) == known else (None,) * known

    def _columns(self, expr: AnyExpr) -> tuple[Column, ...]:
        """Return the same, or nothing where no column changes."""
        match expr:
            case Ref(collection):
                return self._trusted.get(collection, ())
            case Rename(source):
                return self.columns(source)
            case Project(source, kept):
                found = self.columns(source)
                return tuple(found[k] for k in kept)
            case Transform(source, function):
                return self._through(function, self.columns(source))
            case Join():
                return self._join(expr)
            case NotIn():
                return self._notin(expr)
            case Group():
                return self._group(expr)
            case WhenTrue(condition, rows):
                self.columns(condition)
                return self.columns(rows)
            case Elements(source):
                self.columns(source)
                return self._elements(expr)
            case Fold() | Apply() | LatticeRef() | Value():
                self._lattice(expr)
            case Extreme(source, _, _, largest):
                self.use(self.columns(source))
                self.refuse(collections_in(source), f"{'argmax' if largest else 'argmin'} over")
            case Reduce(source):
                self.use(self.columns(source))
                self.refuse(collections_in(source), "reduce over")
                self.refuse(expr.reads, "a function looks into")
        return ()

    def _join(self, join: Join) -> tuple[Column, ...]:
        sides = [self.columns(source) for source in join.sources]
        for match in join.matches:
            left, right = sides[match.left_source][match.left], sides[match.right_source][match.right]
            ends = [(join.sources[match.left_source], match.left), (join.sources[match.right_source], match.right)]
            # A count that has become equal to one that it cannot exceed stays so, unless that one changes.
            self.use(
                (
                    None if self._is_at_most(*ends[0], *ends[1]) else left,
                    None if self._is_at_most(*ends[1], *ends[0]) else right,
                )
            )
        # A row without a partner is shown with None, and taken back when the partner comes.
        if join.take is Take.OUTER:
            self.refuse(collections_in(join.sources[1]), "outer join with")
        if join.take is Take.LEFTS:
            return sides[0]
        if join.take is Take.RIGHTS:
            return sides[1]
        return tuple(column for side in sides for column in side)

    def _is_at_most(self, small: Expr, column: int, large: Expr, other: int) -> bool:
        match small, large:
            case Ref(first), Ref(second):
                return any(
                    (b.small.collection, b.small.column) == (first, column)
                    and (b.large.collection, b.large.column) == (second, other)
                    for b in self._known.bounded
                )
        return False

    def _notin(self, expr: NotIn) -> tuple[Column, ...]:
        source, absent = self.columns(expr.source), self.columns(expr.absent)
        for left, right in expr.matches:
            self.use((*source[left : left + 1], *absent[right : right + 1]))
        # Only the absent side is not monotone; what is looked up there may grow as it likes.
        self.refuse(collections_in(expr.absent), "notin")
        return source

    def _group(self, group: Group) -> tuple[Column, ...]:
        # Which rows there are also counts: a column that changes makes another row.
        self.use(self.columns(group.source))
        made: list[Column] = [None] * len(group.keys)
        # All rows of such a group appear at once, so there is never a smaller aggregate than the last.
        if is_sealed(group, self._known.sealed):
            return (*made, *(None for _ in group.aggregates))
        for aggregate in group.aggregates:
            direction = OF_AGGREGATE.get(aggregate.function, Direction.ANY)
            reason, number = f"{aggregate.function} over", aggregate.function == "count"
            made.append(self._changing(group.source, reason, direction, number=number))
        return tuple(made)

    def _elements(self, expr: Elements) -> tuple[Column, ...]:
        lattice = expr.source.lattice
        # The elements of a set only grow in number; the value of a maximum is another row each time.
        if LATTICES[lattice].rows_only_grow:
            return ()
        direction = {"lmax": Direction.UP, "lmin": Direction.DOWN}.get(lattice, Direction.ANY)
        value = self._changing(expr, f"the value of the {lattice} of", direction)
        return (*(None,) * (len(expr.columns) - 1), value)

    def _lattice(self, expr: AnyExpr) -> None:
        """Analyse a lattice expression: merging is monotone, and functions of lattices say what they are."""
        if isinstance(expr, Apply) and not LATTICES[expr.source.lattice].methods[expr.method].monotone:
            self.refuse(collections_in(expr), f"{expr.method} of")
        if isinstance(expr, Fold):
            columns = self.columns(expr.source)
            if expr.function is not None:
                columns = self._through(expr.function, columns)
            # A maximum forgets the smaller values that a growing column had before; any other lattice keeps them.
            kept = {"lmax": Direction.UP, "lmin": Direction.DOWN}.get(expr.lattice)
            self.use(c for c in columns if c is not None and c.direction is not kept)
            return
        for child in children(expr):
            self._lattice(child)

    # -- functions of rows ---------------------------------------------------------------------------------------

    def _through(self, function: RowFunction, columns: tuple[Column, ...]) -> tuple[Column, ...]:
        if function.reads:
            self.refuse(function.reads, "a function looks into")
        # Code that is not seen through may do anything with its columns, and return anything.
        if function.paths is None:
            self.use(columns)
            return ()
        view = _View(function.parts, columns)
        results: list[tuple[Column, ...]] = []
        for path in function.paths:
            for row in path.rows:
                if isinstance(row, Whole):
                    self.use([view.column(row.value)])
                else:
                    results.append(tuple(view.column(scalar) for scalar in row))
            # A path that returns no row tests something, and nothing comes of it.
            if path.rows:
                for test in path.tests:
                    op = _as_order(test)
                    # Only a constant tells what kind of values a column holds.
                    plain = any(isinstance(s, Constant) for s in (test.left, test.right))
                    wrong = find_misuse(op, view.column(test.left), view.column(test.right), plain=plain)
                    self._used.update(dict.fromkeys(wrong))
        return self._merge(results)

    def _merge(self, results: Sequence[tuple[Column, ...]]) -> tuple[Column, ...]:
        """Return the columns of rows that a function makes in several ways: what differs is taken to be used."""
        if not results:
            return ()
        first = results[0]
        # A function that makes rows in two ways chooses between them, and that choice may depend on the value.
        for other in results[1:]:
            if other != first:
                self.use((*first, *other))
                first = ()
        return first


class _View:
    """Columns as a function sees them: in parts."""

    def __init__(self, parts: Sequence[Sequence[str]], columns: tuple[Column, ...]) -> None:
        self._starts = [sum(len(part) for part in parts[:k]) for k in range(len(parts))]
        self._columns = columns

    def column(self, scalar: Scalar) -> Column:
        match scalar:
            case ColumnOf(part, index):
                number = self._starts[part] + index
                return self._columns[number] if number < len(self._columns) else None
            case Operation(op, left, right):
                factor = next((s.value for s in (right, left) if isinstance(s, Constant)), None)
                return shift_column(op, self.column(left), self.column(right), factor)
            case Nested(items):
                return self._change_in(items)
            case Item(of):
                return self._change_in((of,))
        return None

    def _change_in(self, scalars: Iterable[Scalar]) -> Column:
        """Return how a column changes that parts of others are in: somehow."""
        found = [c for c in map(self.column, scalars) if c is not None]
        return Changing(Direction.ANY, tuple(o for c in found for o in c.owners)) if found else None


def _as_order(test: Test) -> str:
    """Return a test of a truth value as a comparison: ``x == True`` says that it is as large as it can be."""
    if test.right in (_TRUE, _FALSE) and isinstance(test.right, Constant) and isinstance(test.right.value, bool):
        return _TRUTHS.get((test.op, test.right.value), test.op)
    return test.op
