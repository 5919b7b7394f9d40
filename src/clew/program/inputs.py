"""Rows that may be given from outside: what an ``input`` declaration may say.

Which rows there are must be known before anything is executed, or "any subset of them" would have no meaning: so
a declaration reads facts alone.  A relation that rules write, too, is read only if these keep its facts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from clew.errors import Position, ProgramError
from clew.faults import Fault, GivenRow
from clew.names import nearest_name
from clew.program.assertions import assertion_names, is_never
from clew.program.ir import (
    BUILT_IN,
    Aggregate,
    Fact,
    HeadArg,
    InputRule,
    Premise,
    Program,
    Rule,
    Timing,
    Var,
    Wildcard,
    expr_vars,
)
from clew.program.outcomes import persists


def check_inputs(program: Program) -> None:
    """Refuse declarations of inputs that read more than facts, or leave open what is given."""
    stated = assertion_names(program)
    for declared in program.inputs:
        if declared.relation in stated or is_never(declared.relation):
            raise ProgramError(
                f"'{declared.relation}' is what must hold, and nobody gives it",
                position=declared.position,
                remedy="declare what the protocol is given, and let rules conclude from it",
            )
        if declared.rule.choices:
            raise ProgramError(
                f"the input '{declared.relation}' chooses",
                position=declared.rule.choices[0].position,
                remedy="leave it out: which of the rows are given is a choice already",
            )
        for premise in declared.rule.premises:
            _check_premise(declared, premise, program)
        _check_bound(declared)


def _check_premise(declared: InputRule, premise: Premise, program: Program) -> None:
    given = {fact.relation for fact in program.facts}
    writing = [rule for rule in program.rules if rule.relation == premise.relation and not persists(rule)]
    if premise.relation in BUILT_IN or (premise.relation not in given and not writing):
        nearest = nearest_name(premise.relation, given)
        raise _refuse_premise(
            declared,
            premise,
            "which has no facts",
            f"did you mean '{nearest}'?" if nearest else "read relations that are given as facts",
        )
    if writing:
        sent = any(rule.timing is Timing.ASYNC for rule in writing)
        raise _refuse_premise(
            declared,
            premise,
            "which messages bring" if sent else "which rules conclude",
            "read facts alone: what may be given is known before anything is executed",
        )
    if premise.at is not None:
        raise _refuse_premise(
            declared,
            premise,
            "at a time",
            f"leave the time out; that of the input is after its name: input {declared.relation}(...)@T",
        )


def _refuse_premise(declared: InputRule, premise: Premise, how: str, remedy: str) -> ProgramError:
    return ProgramError(
        f"the input '{declared.relation}' reads '{premise.relation}', {how}",
        position=premise.position,
        remedy=remedy,
    )


def _check_bound(declared: InputRule) -> None:
    bound = {a for p in declared.rule.positive for a in p.args if isinstance(a, Var)}
    if isinstance(declared.time, Var):
        bound.add(declared.time)
    for where, position, arg in _used(declared.rule):
        if isinstance(arg, Wildcard | Aggregate):
            raise ProgramError(
                f"'{'_' if isinstance(arg, Wildcard) else arg.function}' in {where} has no value",
                position=position,
                remedy="use a variable that a premise binds, or a constant",
            )
        for var in expr_vars(arg):
            if var not in bound:
                raise ProgramError(
                    f"the variable {var.name} in {where} is not bound",
                    position=position,
                    remedy=f"add a premise over facts that contains {var.name}; the time of an input is bound by "
                    f"input {declared.relation}(...)@{var.name}",
                )


def _used(rule: Rule) -> Iterator[tuple[str, Position | None, HeadArg]]:
    yield from ((f"the input '{rule.relation}'", rule.position, arg) for arg in rule.args)
    for comparison in rule.comparisons:
        yield "a comparison", comparison.position, comparison.left
        yield "a comparison", comparison.position, comparison.right
    for premise in rule.negative:
        yield from (
            (f"'notin {premise.relation}'", premise.position, arg)
            for arg in premise.args
            if not isinstance(arg, Wildcard)
        )


def fix_given_rows(program: Program, faults: Iterable[Fault]) -> Program:
    """Return the program in which the inputs and picks of these faults, and no others, are certain.

    Explanations begin with it: what failures did is seen beside the run with the same inputs and no failures.
    """
    if not program.open_rows:
        return program
    picked = {choice.name: choice.picked for choice in program.choices}
    given = [Fact(f.row_of(picked), f.row, f.time) for f in faults if isinstance(f, GivenRow)]
    return replace(program, inputs=(), choices=(), given=(*program.given, *given))
