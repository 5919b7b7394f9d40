"""What the assertions are made of, as opposed to what they are about."""

from __future__ import annotations

from clew.program.checks import assertion_relations
from clew.program.ir import CRASH, Program, Timing
from clew.program.outcomes import POST, PRE, stated_outcomes


def assertion_definitions(program: Program) -> frozenset[str]:
    """Return ``pre``, ``post`` and the relations that only define their terms, such as ``missing``.

    Those are read by nothing else and follow at once from other rows.  What is given, sent or kept is of the
    protocol, even if only the assertions look at it.
    """
    of_protocol = {fact.relation for fact in program.facts}
    of_protocol |= {rule.relation for rule in program.rules if rule.timing is not Timing.SAME}
    defining = assertion_relations(program) - of_protocol
    while True:
        # A definition that something of the protocol reads is none.
        readers = {
            premise.relation
            for rule in program.rules
            for premise in rule.premises
            if rule.relation not in defining | {PRE, POST}
        }
        if not defining & readers:
            return defining | {PRE, POST}
        defining -= readers


def rests_on_messages(program: Program) -> bool:
    """Whether a message or a crash can have a part in what must hold."""
    behind = [*stated_outcomes(program), POST]
    for relation in behind:
        for rule in program.rules:
            if rule.relation == relation:
                if rule.timing is Timing.ASYNC:
                    return True
                behind += dict.fromkeys(p.relation for p in rule.premises if p.relation not in behind)
    return CRASH in behind
