"""Promises that are refused: half of a pair, and what would not say when something goes wrong.

A row of ``never`` is a violation at the time at which it holds, so nothing may keep, send or give one.  No rule of
the protocol may read a promise either: what must hold is said from outside, and nobody who runs knows it.
"""

from __future__ import annotations

from collections.abc import Iterator

from clew.errors import ProgramError
from clew.names import nearest_name
from clew.program.assertions import (
    NEVER,
    POST,
    PRE,
    assertion_names,
    find_assertions,
    is_never,
    is_pre,
    other_half,
    stem_of,
)
from clew.program.ir import Fact, Program, Rule, Timing
from clew.program.outcomes import assertion_definitions, persistent_relations

_RESERVED = "'never' and names that begin with 'pre_', 'post_' or 'never_' state what must hold"

#: Taken for promises by whoever writes them, and for ordinary relations by everything else.
_NAMELESS = frozenset({f"{PRE}_", f"{POST}_", f"{NEVER}_"})


def check_assertions(program: Program) -> None:
    """Refuse promises without a meaning; ``pre`` and ``post`` are left to whoever looks for violations."""
    first: dict[str, Rule | Fact] = {}
    for clause in program.clauses:
        first.setdefault(clause.relation, clause)
    for nameless in sorted(_NAMELESS & first.keys()):
        raise ProgramError(
            f"'{nameless}' names no promise: nothing follows the underscore",
            position=first[nameless].position,
            remedy=f"write '{nameless}NAME' or '{nameless[:-1]}'; for a relation of the protocol use another name",
        )
    halves = [name for name in first if stem_of(name) in (PRE, POST) and name not in (PRE, POST)]
    for relation in halves:
        if other_half(relation) in first:
            _check_columns(first[relation], first[other_half(relation)])
        elif _is_meant_as_promise(relation, program):
            raise _refuse_half(first[relation], [name for name in halves if name != relation])
    for clause in program.clauses:
        if is_never(clause.relation):
            _check_never(clause)
    for rule, relation in _readers(program):
        premise = next(p for p in rule.premises if p.relation == relation)
        raise ProgramError(
            f"the rule for '{rule.relation}' reads '{relation}', which states what must hold",
            position=premise.position or rule.position,
            remedy=f"no node knows that; for a relation of the protocol use another name: {_RESERVED}",
        )


def _is_meant_as_promise(relation: str, program: Program) -> bool:
    """Tell whether half of a pair is no relation of the protocol, such as ``pre_commit`` of a commit protocol."""
    if not any(p.relation == relation for r in program.rules if r.relation != relation for p in r.premises):
        return True
    # What persists is an outcome where nothing is stated, and would be taken for one of a pair in every report.
    lasting = not find_assertions(program) and relation in persistent_relations(program)
    return lasting or relation in assertion_definitions(program)


def _refuse_half(clause: Rule | Fact, others: list[str]) -> ProgramError:
    have, want = clause.relation, other_half(clause.relation)
    pre, post = (have, want) if is_pre(have) else (want, have)
    nearest = nearest_name(want, [name for name in others if stem_of(name) == stem_of(want)])
    meant = f"did you mean '{want}' by '{nearest}'? Otherwise " if nearest else ""
    return ProgramError(
        f"the program defines '{have}' but not '{want}'",
        position=clause.position,
        remedy=f"{meant}add rules for '{want}': a violation is a row of '{pre}' that is not in '{post}'; "
        f"if no promise is meant, use another name: {_RESERVED}",
    )


def _check_columns(one: Rule | Fact, other: Rule | Fact) -> None:
    pre, post = (one, other) if is_pre(one.relation) else (other, one)
    if len(pre.args) != len(post.args):
        raise ProgramError(
            f"'{pre.relation}' has {len(pre.args)} columns and '{post.relation}' has {len(post.args)}",
            position=post.position,
            remedy=f"give both the same columns: a row of '{pre.relation}' is looked up in '{post.relation}'",
        )


def _check_never(clause: Rule | Fact) -> None:
    name = clause.relation
    if isinstance(clause, Fact):
        raise ProgramError(
            f"'{name}' must never hold, and this fact says that it does",
            position=clause.position,
            remedy=f"say when something is wrong: {name}(X) :- ...; for what the protocol has use another name",
        )
    if clause.timing is not Timing.SAME:
        how = "sent with @async" if clause.timing is Timing.ASYNC else "concluded with @next"
        raise ProgramError(
            f"'{name}' is {how}, and has to hold at the time at which something is wrong",
            position=clause.position,
            remedy=f"leave out {clause.timing.value}: a row of '{name}' is a violation at any time, and need not "
            "be kept; for what the protocol has use another name",
        )


def _readers(program: Program) -> Iterator[tuple[Rule, str]]:
    """Yield the rules of the protocol that read a promise; those of promises may look at each other."""
    stated = assertion_names(program) - {PRE, POST}
    if not stated:
        return
    definitions = assertion_definitions(program)
    for rule in program.rules:
        if rule.relation not in definitions or (rule.timing is not Timing.SAME and rule.relation not in stated):
            yield from ((rule, premise.relation) for premise in rule.premises if premise.relation in stated)
