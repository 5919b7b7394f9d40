"""Functions of rows in checked programs.

A function that gives columns, constants and tuples of them, under equalities, becomes one rule for each way
through it.  Any other is called while the rules are grounded: with every row that some execution might have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from clew.bloom.ir.expressions import Expr, RowFunction, Transform
from clew.bloom.ir.symbolic import Column, Constant, Here, Nested, Path, Scalar
from clew.bloom.language.capture import acting_as
from clew.bloom.runtime.calls import NoRowError, make_caller
from clew.bloom.to_program.bodies import HERE, Body, RuleWriter
from clew.bloom.values import Row
from clew.errors import Position
from clew.program import ir
from clew.program.ir import Call, Comparison, Function, Value


def translate_paths(writer: RuleWriter, function: RowFunction, source: Body) -> list[Body] | None:
    """Translate a function that needs no call, for the rows of ``source``; None if it needs one."""
    if function.paths is None:
        return None
    given = _Arguments(writer, function, source)
    bodies: list[Body] = []
    for path in function.paths:
        found = given.rows(path)
        if found is None:
            return None
        bodies += found
    return bodies


class _Arguments:
    """The columns that a function is given, as terms of the IR."""

    def __init__(self, writer: RuleWriter, function: RowFunction, source: Body) -> None:
        self._writer = writer
        self._source = source
        # A body has the columns of all parts, one after the other.
        self._offsets = [sum(map(len, function.parts[:part])) for part in range(len(function.parts))]

    def rows(self, path: Path) -> list[Body] | None:
        """Return a body for each row of a path; None if the IR cannot say what it tests or returns."""
        tests = []
        for test in path.tests:
            left, right = self._value(test.left), self._value(test.right)
            # Only equality means the same in Python and in the engine, whatever the values are.
            if left is None or right is None or test.op not in ("==", "!="):
                return None
            tests.append(Comparison("==" if test.op == "==" else "!=", left, right, self._writer.position))
        bodies = []
        for row in path.rows:
            values = [self._value(scalar) for scalar in row] if isinstance(row, tuple) else [None]
            known = [value for value in values if value is not None]
            if len(known) < len(values):
                return None
            bodies.append(self._source.with_elements(*tests).with_columns(known))
        return bodies

    def _value(self, scalar: Scalar) -> ir.Expr | None:
        match scalar:
            case Column(part, index):
                return self._source.columns[self._offsets[part] + index]
            case Constant(value):
                return _constant(value)
            case Here():
                # An outcome runs at no node; calling the function says so.
                return None if self._writer.is_outcome else HERE
            case Nested(items):
                values = [self._value(item) for item in items]
                known = [value for value in values if value is not None]
                return ir.Nested(tuple(known)) if len(known) == len(values) else None
        return None


def _constant(value: object) -> ir.Const | None:
    try:
        return ir.Const(ir.as_value(value))
    except ValueError:
        return None  # then the function is called, which says what is wrong


def unknown_steps(expr: Transform) -> tuple[Expr, tuple[Transform, ...]]:
    """Return the last expression whose columns are known, and the functions after it, first to last.

    The engine needs a number of columns for every relation, so what lies between is one call.
    """
    steps = [expr]
    while isinstance(source := steps[-1].source, Transform) and not source.columns:
        steps.append(source)
    return steps[-1].source, tuple(reversed(steps))


def translate_call(writer: RuleWriter, steps: Sequence[Transform], source: Body, width: int) -> Body:
    """Translate functions to a call of all of them, one after the other."""
    for step in steps:
        _refuse_reads(writer, step.function)
    position = steps[-1].function.position
    results = writer.several(width)
    function = Function(f"the function in {writer.rule.block}", _make_rows(steps, writer.is_outcome))
    call = Call(function, (*writer.here, *source.columns), results, position)
    return source.with_elements(call).with_columns(results)


def _make_rows(steps: Sequence[Transform], is_outcome: bool) -> Callable[[tuple[Value, ...]], Iterable[Row]]:
    failures: list[str] = []

    def fail(message: str, position: Position | None = None) -> None:
        failures.append(message)

    runs = [make_caller(step.function, step.source, fail, (MemoryError, RecursionError)) for step in steps]

    def rows(args: tuple[Value, ...]) -> Iterable[Row]:
        node, given = (None, args) if is_outcome else (args[0], args[1:])
        failures.clear()
        # self.ip_port in the function is the node that the row is at, and not that of this process.
        with acting_as(node):
            found: list[Row] = [given]
            for run in runs:
                found = run(found)
        if failures and not found:
            raise NoRowError(failures[0])
        return found

    return rows


def _refuse_reads(writer: RuleWriter, function: RowFunction) -> None:
    if function.reads:
        raise writer.refusal(
            f"a function looks into {', '.join(function.reads)}, and that cannot be checked",
            "join the collection instead, so that its rows are arguments of the function",
            function.position,
        )
