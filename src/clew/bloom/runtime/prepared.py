"""What is the same for all machines of a program: its normal form, its strata, and what its rules are like.

Nodes are simulated by the thousand, and to find this out takes longer than to compile the rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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
from clew.bloom.ir.program import BloomProgram, Op, Rule
from clew.bloom.ir.strata import Stratum, stratify
from clew.bloom.purity.values import FoundIn
from clew.bloom.runtime.lasting import Lasting, find_lasting
from clew.bloom.runtime.surroundings import find_names_used_by


@dataclass(frozen=True)
class RuleShape:
    """What a rule ``reads``, whether it ``joins``, and what can be known of its rows without evaluating it.

    ``only_new``: what it gave before is in the table that it derives, and only new rows need be looked at.
    ``by_changes``: most of its rows are those of the last step.  ``always``: one of its functions need not give
    the same twice.  ``counted``: it is in a recursion whose rows are kept.
    """

    reads: tuple[str, ...]
    joins: bool
    only_new: bool
    by_changes: bool
    always: bool
    counted: bool


@dataclass(frozen=True)
class Prepared:
    """``shapes`` are those of the rules of ``form``, in order; ``strata`` those that have rules.

    ``kept``: collections that are no tables, and of which the rows stay if they are derived in the next step, too.
    ``names_used``: what functions look up, in modules and classes, when they are called.
    """

    program: BloomProgram
    form: NormalForm
    strata: Sequence[Stratum]
    shapes: Sequence[RuleShape]
    kept: frozenset[str]
    names_used: Sequence[FoundIn]


def prepare(program: BloomProgram) -> Prepared:
    """Find out what machines of a program need to know; refuse one that has no strata."""
    names = [c.name for c in program.collections]
    written = stratify(program.rules, names)  # in the words of the program, before it is rewritten
    persistent = frozenset(c.name for c in program.collections if c.kind.persists)
    form = normal_form(program, find_lasting(program.rules, persistent).lasts, written)
    # Once more, for the collections that the normal form has added.
    lasting = find_lasting(form.rules, persistent)
    tables = frozenset(c.name for c in program.collections if c.kind.persists and c.lattice is None)
    rows = [c.name for c in program.collections if c.lattice is None]
    lattices = [c.name for c in program.collections if c.lattice is not None]
    strata = [s for s in stratify(form.rules, [*rows, *form.auxiliary, *lattices]) if s.rules]
    counted = {number for s in strata if _is_counted(s, form.rules, lasting, persistent) for number in s.rules}
    shapes = [
        _shape_of(rule, lasting, tables, counted=number in counted) for number, rule in enumerate(form.rules)
    ]
    kept = {
        name
        for s in strata
        if any(shapes[number].by_changes for number in s.rules)
        for name in s.collections
        if name not in persistent
    }
    return Prepared(program, form, strata, shapes, frozenset(kept), find_names_used_by(program.rules))


def _is_counted(stratum: Stratum, rules: Sequence[Rule], lasting: Lasting, persistent: Iterable[str]) -> bool:
    """Tell whether the rows of a recursion stay, and are no tables, which keep what nothing derives any more."""
    exprs = [rules[number].expr for number in stratum.rules]
    return (
        stratum.recursive
        and frozenset(persistent).isdisjoint(stratum.collections)
        and any(map(lasting.lasts, exprs))
        and not any(map(lasting.calls_unrepeatable, exprs))
    )


def _shape_of(rule: Rule, lasting: Lasting, tables: frozenset[str], *, counted: bool) -> RuleShape:
    parts = list(subexpressions(rule.expr))
    reads = collections_in(rule.expr)
    now = rule.op is Op.NOW
    follows_tables = rule.target in tables and tables.issuperset(reads) and all(map(_is_row_by_row, parts))
    return RuleShape(
        reads,
        any(isinstance(part, Join) for part in parts),
        only_new=now and follows_tables,
        by_changes=now and (counted or lasting.lasts(rule.expr)),
        always=lasting.calls_unrepeatable(rule.expr),
        counted=counted,
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
