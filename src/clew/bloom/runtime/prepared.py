"""What is the same for all machines of a program: its normal form, its strata, and what its rules are like.

Nodes are simulated by the thousand, and to find this out takes longer than to compile the rules.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from clew.bloom.ir.expressions import (
    AnyExpr,
    Join,
    Project,
    Ref,
    Rename,
    Rows,
    Take,
    Transform,
    collections_in,
    subexpressions,
)
from clew.bloom.ir.normal_form import NormalForm, normal_form
from clew.bloom.ir.program import BloomProgram
from clew.bloom.ir.strata import Stratum, stratify


@dataclass(frozen=True)
class RuleShape:
    """What a rule ``reads``; whether it ``joins``, and whether each of its rows comes from single rows."""

    reads: tuple[str, ...]
    joins: bool
    is_row_by_row: bool


@dataclass(frozen=True)
class Prepared:
    """``shapes`` are those of the rules of ``form``, in order; ``strata`` those that have rules."""

    program: BloomProgram
    form: NormalForm
    strata: Sequence[Stratum]
    shapes: Sequence[RuleShape]


def prepare(program: BloomProgram) -> Prepared:
    """Find out what machines of a program need to know; refuse one that has no strata."""
    names = [c.name for c in program.collections]
    stratify(program.rules, names)  # in the words of the program, before it is rewritten
    form = normal_form(program)
    rows = [c.name for c in program.collections if c.lattice is None]
    lattices = [c.name for c in program.collections if c.lattice is not None]
    strata = [s for s in stratify(form.rules, [*rows, *form.auxiliary, *lattices]) if s.rules]
    return Prepared(program, form, strata, [_shape_of(rule.expr) for rule in form.rules])


def _shape_of(expr: AnyExpr) -> RuleShape:
    parts = list(subexpressions(expr))
    return RuleShape(
        collections_in(expr), any(isinstance(part, Join) for part in parts), all(map(_is_row_by_row, parts))
    )


def _is_row_by_row(expr: AnyExpr) -> bool:
    match expr:
        case Transform(_, function):
            # Functions that are seen through give the same every time.
            return function.paths is not None and not function.reads
        case Join(_, _, take):
            return take is not Take.OUTER
        case Ref() | Rows() | Rename() | Project():
            return True
    return False


def is_row_by_row(expr: AnyExpr) -> bool:
    """Tell whether each row of an expression comes from single rows, the same every time."""
    return all(map(_is_row_by_row, subexpressions(expr)))
