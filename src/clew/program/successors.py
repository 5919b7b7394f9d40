"""``successor(A, B)``: B is A + 1, as in section 3.1 of the thesis.

There it is an infinite relation; here it is an abbreviation.  Where premises bind one of the two, the other is
computed where it is used; where they bind both, it is a comparison.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from clew.errors import ProgramError
from clew.program.ir import (
    Aggregate,
    BinOp,
    Comparison,
    Const,
    Expr,
    HeadArg,
    Nested,
    Premise,
    Program,
    Rule,
    Term,
    Var,
    Wildcard,
)

SUCCESSOR = "successor"


def expand_successors(program: Program) -> Program:
    """Replace ``successor`` by arithmetic, unless the program defines a relation of this name."""
    if any(clause.relation == SUCCESSOR for clause in (*program.clauses, *program.inputs)):
        return program
    clauses = tuple(_expand(c) if isinstance(c, Rule) and _uses(c) else c for c in program.clauses)
    return replace(program, clauses=clauses)


def _uses(rule: Rule) -> bool:
    return any(premise.relation == SUCCESSOR for premise in rule.premises)


def _expand(rule: Rule) -> Rule:
    """Replace them one by one: what one of them computes may be what the next one counts on from."""
    known = {v for p in rule.positive if p.relation != SUCCESSOR for v in p.args if isinstance(v, Var)}
    known |= {p.at for p in rule.premises if isinstance(p.at, Var)}
    computed: dict[Var, Expr] = {}
    body = [b for b in rule.body if not (isinstance(b, Premise) and b.relation == SUCCESSOR)]
    waiting = [p for p in rule.premises if p.relation == SUCCESSOR]
    if len(waiting) == len(rule.premises):  # it is arithmetic, and no row of any node
        raise ProgramError(
            f"the rule for '{rule.relation}' has no premise but 'successor', so it has no place to run",
            position=rule.position,
            remedy="add a premise whose first column is the location",
        )
    while waiting:
        ready = next((p for p in waiting if _is_known(p.args[0], known) or _is_known(p.args[-1], known)), None)
        if ready is None or len(ready.args) != 2 or ready.negated or ready.at is not None:
            raise _refuse(waiting[0] if ready is None else ready)
        waiting.remove(ready)
        below, above = (_computed(term, computed) for term in ready.args)
        if below is not None and above is not None and all(_is_known(term, known) for term in ready.args):
            body.append(Comparison("==", above, BinOp("+", below, Const(1)), ready.position))
        elif _is_known(ready.args[0], known) and below is not None:
            _learn(ready.args[1], BinOp("+", below, Const(1)), computed, known)
        elif above is not None:
            _learn(ready.args[0], BinOp("-", above, Const(1)), computed, known)
    _refuse_in_premises(body, computed)
    return replace(
        rule,
        args=tuple(_replace_head(arg, computed, rule) for arg in rule.args),
        body=tuple(
            replace(b, left=_replace(b.left, computed), right=_replace(b.right, computed))
            if isinstance(b, Comparison)
            else b
            for b in body
        ),
    )


def _is_known(term: Term, known: set[Var]) -> bool:
    return isinstance(term, Const) or term in known


def _computed(term: Term, computed: dict[Var, Expr]) -> Expr | None:
    if isinstance(term, Wildcard):
        return None
    return computed.get(term, term) if isinstance(term, Var) else term


def _learn(term: Term, value: Expr, computed: dict[Var, Expr], known: set[Var]) -> None:
    if isinstance(term, Var):  # for "_", any successor will do, and there always is one
        computed[term] = value
        known.add(term)


def _replace(expr: Expr, computed: dict[Var, Expr]) -> Expr:
    match expr:
        case Var():
            return computed.get(expr, expr)
        case BinOp(op, left, right):
            return BinOp(op, _replace(left, computed), _replace(right, computed))
        case Nested(items):
            return Nested(tuple(_replace(item, computed) for item in items))
        case _:
            return expr


def _replace_head(arg: HeadArg, computed: dict[Var, Expr], rule: Rule) -> HeadArg:
    if isinstance(arg, Aggregate):
        if any(var in computed for var in (arg.var, *arg.per)):
            raise ProgramError(
                f"an aggregate of '{rule.relation}' is over what 'successor' computes",
                position=rule.position,
                remedy="compute it in a rule of its own, as in q(X, N + 1) :- p(X, N);",
            )
        return arg
    return arg if isinstance(arg, Wildcard) else _replace(arg, computed)


def _refuse_in_premises(body: Sequence[object], computed: dict[Var, Expr]) -> None:
    for element in body:
        if isinstance(element, Premise) and any(arg in computed for arg in element.args):
            raise ProgramError(
                f"'{element.relation}' looks for what 'successor' computes",
                position=element.position,
                remedy="compute it in a rule of its own, as in q(X, N + 1) :- p(X, N); and look for that",
            )


def _refuse(premise: Premise) -> ProgramError:
    if premise.negated or premise.at is not None or len(premise.args) != 2:
        return ProgramError(
            "'successor(A, B)' is B == A + 1, and nothing else",
            position=premise.position,
            remedy="write a comparison, as in B != A + 1. Or define a relation of this name",
        )
    return ProgramError(
        "neither side of 'successor' is bound",
        position=premise.position,
        remedy="bind A or B in successor(A, B) by a premise (without notin)",
    )
