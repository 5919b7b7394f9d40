"""Functions of rows in rules: find out what they are given, what they look into, and what they do.

Nothing is refused for being opaque.  A function that symbols cannot see through runs as it is; the analyses then
take its result to depend on all columns, and a notice says why.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from clew.bloom.ir import symbolic
from clew.bloom.ir.expressions import Columns, Expr, Parts, Role, RowFunction
from clew.bloom.ir.function_code import bind_variables, collections_read, freeze_globals, outer_values
from clew.bloom.language.capture import current_capture, mistake, user_position
from clew.bloom.language.columns import distinct
from clew.errors import Notice


def analyze_function(function: Callable[..., Any], role: Role, source: Expr) -> RowFunction:
    """Analyze a function of a rule, as far as it can be understood."""
    position = user_position()
    if not callable(function):
        raise mistake(f"{role.value} needs a function of a row, not {function!r}", "write lambda row: ...")
    function = bind_variables(function)  # before anything is found out: a loop goes on to change them
    _refuse_address(function)
    parts = _parts_given_to(function, source)
    reads = collections_read(function)
    # Symbols stand for columns, so without columns there is nothing to call the function with.
    if not source.columns:
        return _opaque(function, role, parts, "what the function before it returns is not known", reads, position)
    # Symbols know nothing of the rows of a collection, so a function that asks for them cannot be called with any.
    if reads:
        names = ", ".join(reads)
        return _opaque(function, role, parts, f"it looks into {names}", reads, position)
    makes = {
        Role.MAP: symbolic.map_shapes,
        Role.FLAT_MAP: symbolic.flat_map_shapes,
        Role.FILTER: symbolic.filter_shapes(parts),
    }
    try:
        paths = symbolic.paths_of(function, parts, makes[role])
    except symbolic.OpaqueError as reason:
        return _opaque(function, role, parts, str(reason), reads, position)
    return RowFunction(freeze_globals(function), role, parts, paths, None, reads, position)


def _opaque(
    function: Callable[..., Any], role: Role, parts: Parts, reason: str, reads: tuple[str, ...], position: Any
) -> RowFunction:
    capture = current_capture()
    if capture is not None:
        capture.notices.append(
            Notice(
                f"{capture.block}: a function is not seen through, because {reason}",
                position,
                "it runs as it is; analysis takes its result to depend on all columns",
            )
        )
    return RowFunction(function, role, parts, None, reason, reads, position)


def _refuse_address(function: Callable[..., Any]) -> None:
    """Refuse the symbol of ``self.ip_port`` in a variable: it would outlive the reading of rules."""
    if any(isinstance(value, symbolic.SymbolicValue) for value in outer_values(function)):
        raise mistake(
            "a function is given self.ip_port in a variable, and it is not known yet",
            "write self.ip_port inside the function",
        )


def _parts_given_to(function: Callable[..., Any], source: Expr) -> Parts:
    """Return what the function is given: a row of each side of a join, or one row with all columns."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return source.parts
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    needed = sum(p.default is p.empty for p in positional)
    # *rows takes as many as there are: what is natural for a join is one for each side.
    if any(p.kind is p.VAR_POSITIONAL for p in parameters) or needed == len(source.parts):
        return source.parts
    if needed <= 1 <= len(positional):  # the others have values: lambda row, limit=3: ...
        return (source.columns,)
    raise mistake(
        f"the function takes {needed} rows, here are {len(source.parts)}",
        "a function gets one row, or for a join one of each side",
    )


def result_columns(function: RowFunction) -> Columns:
    """Name the columns that a function returns; none if it is not known how many there are."""
    if function.paths is None:
        return ()
    shapes = [row for path in function.paths for row in path.rows]
    # A row that is a tuple in a column has as many columns as the tuple, and that is only known when it runs.
    if not shapes or any(isinstance(s, symbolic.Whole) or len(s) != len(shapes[0]) for s in shapes):  # type: ignore[arg-type]
        return ()
    names = []
    for k in range(len(shapes[0])):  # type: ignore[arg-type]
        scalars = {shape[k] for shape in shapes if not isinstance(shape, symbolic.Whole)}
        scalar = next(iter(scalars))
        # A column that is passed on by all paths keeps its name, so that rules after this one can use it.
        same = len(scalars) == 1 and isinstance(scalar, symbolic.Column)
        names.append(function.parts[scalar.part][scalar.index] if same else f"c{k}")  # type: ignore[union-attr]
    return distinct(names)
