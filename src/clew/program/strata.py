"""Order within one time step: the paper's condition that programs are stratifiable (appendix B).

Only rules without ``@next`` and ``@async`` count: what is concluded for a later time cannot come back.  A
negation, an aggregation or a choice on a cycle has no meaning; arithmetic on a cycle may never stop.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from clew.errors import Position, ProgramError
from clew.program.graph import components
from clew.program.ir import (
    BUILT_IN,
    BinOp,
    Const,
    Expr,
    Program,
    Rule,
    Term,
    Timing,
    Var,
    expr_vars,
)


class _Edge(NamedTuple):
    """``head`` depends on ``premise`` at the same time; ``strict``: on what all of it is, and in which way."""

    premise: str
    head: str
    strict: str | None
    position: Position | None


def _edges(program: Program) -> Iterator[_Edge]:
    for rule in program.rules:
        if rule.timing is not Timing.SAME:
            continue
        for premise in rule.premises:
            # ``crash`` and ``down`` are given by the faults, so no cycle leads through them.
            if premise.relation not in BUILT_IN:
                how = "the absence" if premise.negated else "an aggregate" if rule.aggregates else None
                # What is chosen depends on all that is offered, as an aggregate does.
                how = "a choice" if rule.choices and not how else how
                yield _Edge(premise.relation, rule.relation, how, premise.position)


def recursive_components(program: Program) -> dict[str, tuple[str, ...]]:
    """Return for each relation those it shares a same-step cycle with (itself included)."""
    edges = list(_edges(program))
    uses: dict[str, list[str]] = {}
    # Also relations that only premises name: the graph must know every node that an edge leads to.
    for edge in edges:
        uses.setdefault(edge.head, []).append(edge.premise)
        uses.setdefault(edge.premise, [])
    return {
        relation: component
        for component in components(uses, lambda relation: uses[relation])
        for relation in component
        if len(component) > 1 or relation in uses[relation]
    }


def check_strata(program: Program) -> None:
    """Refuse a negation, an aggregation or a choice on a cycle within one time step."""
    cycles = recursive_components(program)
    for edge in _edges(program):
        if edge.strict and edge.premise in cycles and edge.head in cycles[edge.premise]:
            around = ", ".join(f"'{name}'" for name in sorted(cycles[edge.premise]))
            raise ProgramError(
                f"'{edge.head}' depends on {edge.strict} of '{edge.premise}', which depends"
                f" on '{edge.head}' in the same time step",
                position=edge.position,
                remedy=f"let one rule of the cycle {around} conclude @next",
            )


def check_growth(program: Program) -> None:
    """Refuse a cycle within one time step that can build ever new numbers."""
    cycles = recursive_components(program)
    for rule in program.rules:
        cycle = cycles.get(rule.relation, ())
        if rule.timing is not Timing.SAME or not any(p.relation in cycle for p in rule.positive):
            continue
        # Values that are only moved around stay as many as they are; new ones come from arithmetic alone.
        for arg in rule.args:
            if isinstance(arg, BinOp) and not _stays_finite(arg, rule, cycle):
                raise ProgramError(
                    f"'{rule.relation}' computes new values from its own within one time step, without end",
                    position=rule.position,
                    remedy="conclude @next, or bound the variable with a comparison such as X < 10",
                )


def _stays_finite(operation: BinOp, rule: Rule, cycle: tuple[str, ...]) -> bool:
    # What a premise outside of the cycle binds has finitely many values, whatever the cycle computes.
    given = {a for p in rule.positive if p.relation not in cycle for a in p.args}
    grows, falls = _direction(operation)
    return all(
        var in given
        or (
            (not grows or _is_bounded(var, rule, ("<", "<="), given))
            and (not falls or _is_bounded(var, rule, (">", ">="), given))
        )
        for var in expr_vars(operation)
    )


def _direction(operation: BinOp) -> tuple[bool, bool]:
    """Tell whether repeated application can grow, and whether it can fall."""
    match operation:
        case BinOp("+", Var(), Const(int(step))) | BinOp("+", Const(int(step)), Var()):
            return step > 0, step < 0
        case BinOp("-", Var(), Const(int(step))):
            return step < 0, step > 0
        case _:  # products, quotients, differences of variables: the sign of one decides about the other
            return True, True


def _is_bounded(var: Var, rule: Rule, ops: tuple[str, str], given: set[Term]) -> bool:
    """Tell whether a comparison holds the variable below (or above) a number or a value that is given."""
    # ``10 > X`` bounds X as ``X < 10`` does: comparisons are looked at from both sides.
    mirrored = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
    return any(
        (c.left == var and (c.op in ops or c.op == "==") and _is_fixed(c.right, given))
        or (c.right == var and (mirrored.get(c.op) in ops or c.op == "==") and _is_fixed(c.left, given))
        for c in rule.comparisons
    )


def _is_fixed(expr: Expr, given: set[Term]) -> bool:
    # A bound by a name would hold nothing: names and numbers are ordered by kind, not by size.
    return expr in given or (isinstance(expr, Const) and isinstance(expr.value, int))
