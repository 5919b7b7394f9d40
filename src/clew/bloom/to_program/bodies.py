"""Rows of a Bloom expression as premises of the IR: what all parts of the translation build and combine.

A ``Body`` is a conjunction, and an expression is a list of them, one for each way in which a row can come about:
the disjunctive form that rules of the IR have.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from clew.bloom.ir.program import Rule
from clew.bloom.values import freeze
from clew.errors import Position, ProgramError
from clew.program import ir
from clew.program.ir import Call, Comparison, Const, Expr, Function, Premise, Timing, Var, Wildcard

Element = Premise | Comparison | Call

#: The node that a rule runs at.
HERE = Var("Here")
#: The helper relation with a row at every node, for rules that read nothing else.
NODES = "(nodes)"


@dataclass(frozen=True)
class Body:
    """One way to a row: where all ``elements`` hold, there is the row with these ``columns``."""

    elements: tuple[Element, ...]
    columns: tuple[Expr, ...]

    def with_elements(self, *more: Element) -> Body:
        return Body((*self.elements, *more), self.columns)

    def with_columns(self, columns: Iterable[Expr]) -> Body:
        return Body(self.elements, tuple(columns))


@dataclass(frozen=True)
class Place:
    """A relation of the IR and how the columns of a collection stand in it.

    ``location`` is the column of a channel that is not repeated: it is the node.  ``of_all_nodes``: the first
    column is the node, and rows of all nodes are meant.  ``crash``: the relation that the failure model defines.
    """

    relation: str
    width: int
    location: int | None = None
    of_all_nodes: bool = False
    crash: bool = False


@dataclass
class RuleWriter:
    """Writes rule number ``index`` as rules of the IR.  ``is_outcome``: it is about all nodes, and runs at none.

    ``cycle``: the collections that its target depends on and that depend on it, within a step.
    """

    rule: Rule
    index: int
    text: str
    is_outcome: bool
    cycle: frozenset[str] = frozenset()
    rules: list[ir.Rule] = field(default_factory=list)
    helpers: dict[str, None] = field(default_factory=dict)
    number: int = 0

    @property
    def position(self) -> Position | None:
        return self.rule.position

    # Variables are numbered within a rule: rules of the IR do not share them.
    def fresh(self) -> Var:
        """Return a variable that no other part of the rule uses."""
        self.number += 1
        return Var(f"V{self.number}")

    def several(self, count: int) -> tuple[Var, ...]:
        return tuple(self.fresh() for _ in range(count))

    @property
    def here(self) -> tuple[Var, ...]:
        return () if self.is_outcome else (HERE,)

    def refusal(self, message: str, remedy: str, position: Position | None = None) -> ProgramError:
        return ProgramError(f"{self.rule.block}: {message}", position=position or self.position, remedy=remedy)

    def constant(self, value: object) -> Const:
        try:
            return Const(ir.as_value(value))
        except ValueError as problem:
            remedy = "checked programs use text, tuples, None and small integers"
            raise self.refusal(f"{problem} cannot be checked", remedy) from None

    # -- premises ------------------------------------------------------------------------------------------------

    def all_of(self, place: Place) -> Body:
        """Read every row of a relation."""
        columns = list(self.several(place.width))
        return self._match(place, columns)

    def _match(self, place: Place, columns: list[Var]) -> Body:
        if place.crash:
            # crash(observer, node, time): every node knows of it, and an outcome has no observer.
            return Body((self._premise(ir.CRASH, (Wildcard(), *columns)),), tuple(columns))
        node = columns[:1] if place.of_all_nodes else list(self.here)
        if place.location is not None:
            # The address of a row is the node that it is at: one column of the relation stands for both.
            columns[place.location] = node[0]
        args = self._args(place, node, columns)
        return Body((self._premise(place.relation, args),), tuple(columns))

    def absent(self, place: Place, wanted: Sequence[Sequence[Expr]]) -> Iterator[tuple[Element, ...]]:
        """Yield the ways in which no row has, in each column, all the values that are wanted there; none may be.

        The IR negates one premise, with one value in each column.  Where a column is to have several values,
        either two of them differ, and then no row can match, or they are all equal, and one of them is enough.
        """
        same: list[tuple[Expr, Expr]] = []
        node: list[ir.Term] = [Wildcard()] if place.of_all_nodes else list(self.here)
        bound: list[Element] = []
        columns: list[ir.Term] = []
        for values in wanted:
            term, more = self._term(values[0]) if values else (Wildcard(), ())
            bound += more
            columns.append(term)
            # The first value stands in the premise; the others must be equal to it.
            same += [(values[0], other) for other in values[1:]]
        if place.of_all_nodes and columns:
            node = columns[:1]
        if place.location is not None and wanted[place.location]:
            # Rows of any node were meant, but the location says which.
            if isinstance(node[0], Wildcard):
                node = [columns[place.location]]
            else:
                same.append((node[0], wanted[place.location][0]))
        for number, (left, right) in enumerate(same):
            equal = (Comparison("==", a, b, self.position) for a, b in same[:number])
            yield (*equal, Comparison("!=", left, right, self.position))
        equal = (Comparison("==", a, b, self.position) for a, b in same)
        args = (Wildcard(), *columns) if place.crash else self._args(place, node, columns)
        relation = ir.CRASH if place.crash else place.relation
        yield (*equal, *bound, self._premise(relation, args, negated=True))

    def _term(self, expr: Expr) -> tuple[ir.Term, tuple[Element, ...]]:
        """Return what can stand in a premise; a tuple that is put together gets a name first."""
        if isinstance(expr, Const | Var):
            return expr, ()
        name = self.fresh()
        return name, (Call(_IDENTITY, (expr,), (name,), self.position),)

    def _args(self, place: Place, node: Sequence[ir.Term], columns: Sequence[ir.Term]) -> tuple[ir.Term, ...]:
        own = columns[1:] if place.of_all_nodes else columns
        skipped = None if place.location is None else place.location - place.of_all_nodes
        kept = tuple(c for k, c in enumerate(own) if k != skipped)
        return (*node, *kept) or (Const(0),)  # the IR has no relation without columns

    def _premise(self, relation: str, args: tuple[ir.Term, ...], *, negated: bool = False) -> Premise:
        return Premise(relation, args, negated, None, self.position)

    # -- rules ---------------------------------------------------------------------------------------------------

    def conclude(
        self, relation: str, args: Sequence[ir.HeadArg], body: Body, timing: Timing = Timing.SAME
    ) -> None:
        """Add a rule of the IR; without a premise of its own it runs at every node."""
        elements = body.elements
        if not any(isinstance(e, Premise) and not e.negated for e in elements):
            every_node: tuple[ir.Term, ...] = self.here or (Wildcard(),)
            elements = (self._premise(NODES, every_node), *elements)
        head = tuple(args) or (Const(0),)
        # Outside of recursion, tuples are as deep as the program writes them; within it they may grow round by
        # round.
        if self.cycle:
            head, elements = self._freeze_tuples(head, elements)
        self.rules.append(ir.Rule(relation, head, timing, elements, self.position, self.text))

    def _freeze_tuples(
        self, args: tuple[ir.HeadArg, ...], elements: tuple[Element, ...]
    ) -> tuple[tuple[ir.HeadArg, ...], tuple[Element, ...]]:
        """Let a call put tuples together, which refuses what a node refuses: they could grow without end."""
        kept: list[ir.HeadArg] = []
        for arg in args:
            if isinstance(arg, ir.Nested):
                name = self.fresh()
                elements = (*elements, Call(_FREEZE, (arg,), (name,), self.position))
                arg = name
            kept.append(arg)
        return tuple(kept), elements

    def helper(self, what: str, bodies: Iterable[Body], width: int) -> Place:
        """Make a relation of these rows, which the program's author does not know."""
        line = f", line {self.position.line}" if self.position else ""
        # No collection can have such a name; and it tells whoever meets it in an error which rule it belongs to.
        name = f"({what} {self.index}.{len(self.helpers) + 1} of {self.rule.block}{line})"
        self.helpers[name] = None
        for body in bodies:
            self.conclude(name, (*self.here, *body.columns), body)
        return Place(name, width)


_IDENTITY = Function("a tuple", lambda args: [args])
_FREEZE = Function("a tuple", lambda args: [(freeze(args[0]),)])
