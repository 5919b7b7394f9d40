"""What must hold: ``pre`` and ``post``, further promises by name, or, without any, the persistent relations.

The paper's meta-outcomes (section 3): a violation is a row that is in ``pre`` and not in ``post`` at the end of
time, so a protocol may fail to achieve something as long as it does not claim to.  A program that states nothing
is held to its failure-free run: what persists there must persist under faults.
"""

from __future__ import annotations

from clew.errors import ProgramError
from clew.program.assertions import POST, PRE, assertion_names, find_assertions
from clew.program.ir import BUILT_IN, Program, Rule, Timing


def has_assertions(program: Program) -> bool:
    """Tell whether the program states what must hold; refuse ``pre`` without ``post``, and the other way round."""
    # Reversed, so that of several clauses the first is the one that a message points at.
    defined = {c.relation: c for c in reversed(program.clauses) if c.relation in (PRE, POST)}
    if len(defined) == 1:
        (have,) = defined
        want = POST if have == PRE else PRE
        raise ProgramError(
            f"the program defines '{have}' but not '{want}'",
            position=defined[have].position,
            remedy=f"add rules for '{want}': a violation is a row of 'pre' that is not in 'post'",
        )
    # Checked here, not with the arities: the two are different relations, which only an assertion compares.
    if defined and len(defined[PRE].args) != len(defined[POST].args):
        raise ProgramError(
            f"'pre' has {len(defined[PRE].args)} columns and 'post' has {len(defined[POST].args)}",
            position=defined[POST].position,
            remedy="give both the same columns: a row of 'pre' is looked up in 'post'",
        )
    return bool(find_assertions(program))


def stated_outcomes(program: Program) -> tuple[str, ...]:
    """Return the relations whose rows are outcomes: those of promises, or without any those that persist."""
    if not has_assertions(program):
        return persistent_relations(program)
    return tuple(assertion.relation for assertion in find_assertions(program))


def outcomes_of(program: Program) -> tuple[str, ...]:
    """Return the same of a program that must have some: without, a certificate would mean nothing."""
    found = stated_outcomes(program)
    if program.open_rows and not has_assertions(program):
        raise ProgramError(
            "the program has inputs or choices, and does not say what must hold whatever they are",
            remedy="define 'pre' and 'post', or 'never': only the run without inputs says what else must hold",
        )
    if not found:
        raise ProgramError(
            "the program says nothing about what must hold",
            remedy="define 'pre' and 'post', or 'never', or make a relation persistent: p(X)@next :- p(X);",
        )
    return found


def persistent_relations(program: Program) -> tuple[str, ...]:
    """Return the relations with a rule ``p(..)@next :- p(..);``, in source order."""
    found = dict.fromkeys(rule.relation for rule in program.rules if persists(rule))
    return tuple(relation for relation in found if relation not in program.helpers)


def persists(rule: Rule) -> bool:
    """Tell whether the rule is ``p(..)@next :- p(..);``."""
    # Exactly this form: a rule with more premises keeps some rows and drops others, which is the protocol's
    # business.
    match rule.body:
        case (premise,):
            return (
                rule.timing is Timing.NEXT
                and rule.premises == (premise,)
                and not rule.negative
                and rule.positive[0].relation == rule.relation
                and rule.positive[0].args == rule.args
                and rule.positive[0].at is None
            )
        case _:
            return False


def assertion_relations(program: Program) -> frozenset[str]:
    """Return the relations of promises and what only they use; their rules may look at several places.

    An assertion is not executed by anybody: it is what an observer of all nodes would say at the end.
    """
    users: dict[str, set[str]] = {}
    for rule in program.rules:
        for premise in rule.premises:
            users.setdefault(premise.relation, set()).add(rule.relation)
    found = set(assertion_names(program))
    while True:
        # A relation that persists uses itself, which does not make it part of the protocol.
        more = {r for r, heads in users.items() if heads - {r} and heads - {r} <= found} - found
        if not more:
            return frozenset(found)
        found |= more


def assertion_definitions(program: Program) -> frozenset[str]:
    """Return the relations of promises and those that only define their terms, such as ``missing``.

    Those are read by nothing else and follow at once from other rows.  What is given, sent or kept is of the
    protocol, even if only the assertions look at it.
    """
    of_protocol = {fact.relation for fact in program.facts}
    of_protocol |= {rule.relation for rule in program.rules if rule.timing is not Timing.SAME}
    of_protocol |= program.open_rows
    stated = assertion_names(program)
    # Taken away until nothing changes: a definition of a definition is found in a later round.
    defining = assertion_relations(program) - of_protocol
    while True:
        # What the protocol itself reads is no mere definition; taking one away may make another one read.
        readers = {
            premise.relation
            for rule in program.rules
            for premise in rule.premises
            if rule.relation not in defining | stated
        }
        if not defining & readers:
            return defining | stated
        defining -= readers


def rests_on_messages(program: Program) -> bool:
    """Tell whether a message, or what nodes see of faults, can have a part in what must hold.

    Otherwise no fault of messages can violate it.
    """
    behind = [*stated_outcomes(program), *sorted(assertion_names(program))]  # grows while it is walked
    for relation in behind:
        for rule in program.rules:
            if rule.relation == relation:
                if rule.timing is Timing.ASYNC:
                    return True
                behind += dict.fromkeys(p.relation for p in rule.premises if p.relation not in behind)
    return not BUILT_IN.keys().isdisjoint(behind)
