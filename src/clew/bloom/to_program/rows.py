"""Translate expressions of rules to bodies of the IR: one for each way in which a row can come about.

What is negated, grouped or compared with its like needs a relation of its own, a helper, if it is no collection.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product

from clew.bloom.ir import expressions as ex
from clew.bloom.ir.expressions import Take
from clew.bloom.to_program.bodies import Body, Place, RuleWriter
from clew.bloom.to_program.functions import translate_call, translate_paths, unknown_steps
from clew.bloom.to_program.groups import group_rows, select_extreme
from clew.bloom.to_program.lattices import LatticeTranslator
from clew.program.ir import CRASH, Comparison, Const, Expr


class RowTranslator:
    """Translates the right-hand side of one rule.

    ``places`` are the collections that it may read; ``all_nodes`` those that it may read with the node in front.
    """

    def __init__(self, writer: RuleWriter, places: Mapping[str, Place], all_nodes: Mapping[str, Place]) -> None:
        self._writer = writer
        self._places = places
        self._all_nodes = all_nodes
        self._lattices = LatticeTranslator(writer, self.bodies, self._readable)

    def bodies(self, expr: ex.AnyExpr, width: int | None = None) -> list[Body]:
        """Translate an expression; ``width`` is the number of columns where the expression does not know it."""
        match expr:
            case ex.Ref():
                return [self._writer.all_of(self._place(expr))]
            case ex.Rows(rows):
                return [Body((), tuple(self._writer.constant(v) for v in row)) for row in rows]
            case ex.Transform():
                return self._transform(expr, width)
            case ex.Join():
                return list(self._join(expr, width))
            case ex.NotIn():
                return list(self._anti_join(expr, width))
            case ex.Rename(source, columns):
                return self.bodies(source, len(columns))  # relations have columns by number
            case ex.Project(source, kept):
                return [b.with_columns(b.columns[k] for k in kept) for b in self.bodies(source)]
            case ex.Group(source, keys, aggregates):
                return group_rows(self._writer, self.as_place(source), keys, aggregates)
            case ex.Extreme(source, keys, column, largest):
                return [select_extreme(self._writer, self.as_place(source), keys, column, largest=largest)]
            case ex.Elements(source):
                return self._lattices.elements(source)
            case ex.WhenTrue(condition, rows):
                ways = product(self._lattices.of(condition), self.bodies(rows, width))
                return [row.with_elements(*truth.elements) for truth, row in ways]
            case ex.Reduce():
                raise self._writer.refusal(
                    "'reduce' cannot be checked", "use group with an aggregate", expr.position
                )
            case ex.LatticeRef() | ex.Fold() | ex.Apply() | ex.Value():
                return self._lattices.of(expr)

    def as_place(self, expr: ex.Expr, width: int | None = None) -> Place:
        """Return a relation with these rows: the collection itself, or a helper."""
        inner = expr
        while isinstance(inner, ex.Rename):
            inner = inner.source
        if isinstance(inner, ex.Ref):
            return self._place(inner)
        bodies = self.bodies(expr, width)
        width = len(bodies[0].columns) if bodies else len(expr.columns)
        return self._writer.helper("rows", bodies, width)

    def _place(self, ref: ex.Ref) -> Place:
        if ref.of_all_nodes:
            return self._place_at_all_nodes(ref)
        return self._readable(ref.collection)

    def _readable(self, collection: str) -> Place:
        place = self._places.get(collection)
        if place is not None:
            return place
        raise self._writer.refusal(
            f"an outcome reads '{collection}', and it is not said of which node",
            f"write self.everywhere.{collection}: it has the node as its first column",
        )

    def _place_at_all_nodes(self, ref: ex.Ref) -> Place:
        if ref.collection == CRASH:
            return Place(CRASH, 2, crash=True)
        local = self._all_nodes[ref.collection]
        return Place(
            local.relation,
            local.width + 1,
            None if local.location is None else local.location + 1,
            of_all_nodes=True,
        )

    # -- functions -----------------------------------------------------------------------------------------------

    def _transform(self, expr: ex.Transform, width: int | None) -> list[Body]:
        # Paths for every body of the source, or calls for all of them: one function is translated in one way.
        if expr.source.columns:
            found: list[Body] = []
            for source in self.bodies(expr.source):
                ways = translate_paths(self._writer, expr.function, source)
                if ways is None:
                    break
                found += ways
            else:
                return found
        source_expr, steps = unknown_steps(expr)
        width = len(expr.columns) or width
        if width is None:
            raise self._refuse_unknown_width(expr.function)
        return [translate_call(self._writer, steps, source, width) for source in self.bodies(source_expr)]

    def _refuse_unknown_width(self, function: ex.RowFunction | None) -> Exception:
        return self._writer.refusal(
            "it is not known how many columns a function returns",
            "name them with rename(...)",
            function.position if function else None,
        )

    # -- several relations ---------------------------------------------------------------------------------------

    def _join(self, join: ex.Join, width: int | None) -> Iterator[Body]:
        widths = self._widths(join, width)
        sides = [self.bodies(s, w) for s, w in zip(join.sources, widths, strict=True)]
        for combination in product(*sides):
            elements = [e for body in combination for e in body.elements]
            for m in join.matches:
                left = combination[m.left_source].columns[m.left]
                right = combination[m.right_source].columns[m.right]
                elements.append(Comparison("==", left, right, self._writer.position))
            yield Body(tuple(elements), self._pick_columns(join.take, combination))
        if join.take is Take.OUTER:
            yield from self._rows_without_match(join, sides[0], widths[1])

    def _widths(self, join: ex.Join, width: int | None) -> list[int | None]:
        """Return the width of each side; one that is unknown follows from all together."""
        known: list[int | None] = [len(s.columns) or None for s in join.sources]
        if None in known and known.count(None) == 1 and width is not None:
            taken = {Take.LEFTS: known[:1], Take.RIGHTS: known[1:]}.get(join.take, known)
            if None in taken:
                # The target's columns, less those of the sides that are known.
                known[known.index(None)] = width - sum(w for w in taken if w is not None)
        return known

    def _pick_columns(self, take: Take, combination: tuple[Body, ...]) -> tuple[Expr, ...]:
        match take:
            case Take.LEFTS:
                return combination[0].columns
            case Take.RIGHTS:
                return combination[1].columns
        return tuple(c for body in combination for c in body.columns)

    def _rows_without_match(self, join: ex.Join, lefts: list[Body], width: int | None) -> Iterator[Body]:
        """Yield the left rows of an outer join that match nothing."""
        right = self.as_place(join.sources[1], width)
        nothing = (Const(None),) * right.width
        for left in lefts:
            # By column of the right side: a column may have to be equal to several of the left.
            wanted: list[list[Expr]] = [[] for _ in range(right.width)]
            for m in join.matches:
                wanted[m.right].append(left.columns[m.left])
            for way in self._writer.absent(right, wanted):
                yield left.with_elements(*way).with_columns((*left.columns, *nothing))

    def _anti_join(self, expr: ex.NotIn, width: int | None) -> Iterator[Body]:
        absent = self.as_place(expr.absent, width)
        for source in self.bodies(expr.source, width):
            if not expr.matches and len(source.columns) != absent.width:
                yield source  # whole rows are compared, and no row is equal to a shorter one
                continue
            pairs = expr.matches or [(k, k) for k in range(absent.width)]
            wanted: list[list[Expr]] = [[] for _ in range(absent.width)]
            for left, right in pairs:
                wanted[right].append(source.columns[left])
            for way in self._writer.absent(absent, wanted):
                yield source.with_elements(*way)
