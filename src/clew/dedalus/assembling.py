"""The clauses of a program, read one by one, become one program: what is durable, and what persists."""

from __future__ import annotations

from collections.abc import Sequence

from clew.dedalus.clauses import Durable, Persist
from clew.errors import ProgramError
from clew.names import nearest_name
from clew.program.ir import Fact, InputRule, Premise, Program, Rule, Timing, Var

#: What includes, params and patterns have become of.
LoadedClause = Fact | Rule | InputRule | Durable | Persist


def make_program(clauses: Sequence[LoadedClause]) -> Program:
    """Return the program of these clauses; refuse what is called durable and is no relation of it."""
    durable = [clause for clause in clauses if isinstance(clause, Durable)]
    inputs = tuple(clause for clause in clauses if isinstance(clause, InputRule))
    others = tuple(
        _persistence_rule(clause, clauses) if isinstance(clause, Persist) else clause
        for clause in clauses
        if not isinstance(clause, Durable | InputRule)
    )
    if not durable:
        return Program(others, inputs=inputs)
    defined = {clause.relation for clause in (*others, *inputs)}
    for relation, position in (named for clause in durable for named in clause.relations):
        if relation not in defined:
            nearest = nearest_name(relation, defined)
            raise ProgramError(
                f"no fact or rule defines '{relation}', which is to survive restarts",
                position=position,
                remedy=f"did you mean '{nearest}'?"
                if nearest
                else "name a relation of the program, or leave it out",
            )
    named = frozenset(name for clause in durable for name, _ in clause.relations)
    return Program(others, durable=named, inputs=inputs)


def _persistence_rule(persist: Persist, clauses: Sequence[LoadedClause]) -> Rule:
    """Return what ``persist[p]`` stands for: a row stays until one like it is in the relation of deleted ones.

    Without a name for that, it is ``p_neg``, as in the thesis, if the program has such a relation.
    """
    arities = {c.relation: len(c.args) for c in reversed(clauses) if isinstance(c, Fact | Rule | InputRule)}
    for rule in (c for c in clauses if isinstance(c, Rule)):
        for premise in rule.premises:
            arities.setdefault(premise.relation, len(premise.args))
    arity = arities.get(persist.relation, persist.arity)
    if arity is None:
        raise ProgramError(
            f"no fact or rule defines '{persist.relation}', which is to persist",
            position=persist.position,
            remedy="name a relation of the program",
        )
    if persist.arity not in (None, arity):
        raise ProgramError(
            f"'{persist.relation}' has {arity} columns, not {persist.arity}",
            position=persist.position,
            remedy=f"write persist[{persist.relation}]; the number of columns is known",
        )
    deleted = persist.deleted or f"{persist.relation}_neg"
    columns = tuple(Var(f"A{number}") for number in range(1, arity + 1))
    body = [Premise(persist.relation, columns, position=persist.position)]
    if persist.deleted or deleted in arities:
        body.append(Premise(deleted, columns, negated=True, position=persist.position))
    return Rule(persist.relation, columns, Timing.NEXT, tuple(body), persist.position)
