"""Relations that lead nowhere: most often a misspelt head, whose rows are then missing elsewhere."""

from __future__ import annotations

from collections.abc import Iterator

from clew.errors import Notice
from clew.program.ir import Program
from clew.program.outcomes import POST, PRE, persistent_relations


def unread_relations(program: Program) -> Iterator[Notice]:
    """Yield a notice for each relation that no rule but its own reads and that is no outcome.

    Programs in Bloom are left alone: collections are declared, so a misspelt one is refused, and what nothing
    reads there is an interface, with readers outside.
    """
    defined = dict.fromkeys(clause.relation for clause in program.clauses)
    outcomes = {PRE, POST} if {PRE, POST} & defined.keys() else set(persistent_relations(program))
    if not outcomes or any(rule.text is not None for rule in program.rules):
        return
    readers: dict[str, set[str]] = {}
    for rule in program.rules:
        for premise in rule.premises:
            readers.setdefault(premise.relation, set()).add(rule.relation)
    first = {clause.relation: clause.position for clause in reversed(program.clauses)}
    for relation in defined:
        if relation not in outcomes and not readers.get(relation, set()) - {relation}:
            yield Notice(
                f"nothing reads '{relation}': what is concluded there changes nothing",
                first[relation],
                _remedy(relation, [name for name in (*defined, *readers) if name != relation]),
            )


def _remedy(relation: str, known: list[str]) -> str:
    from clew.program.nearest import nearest_name  # rarely needed, and a cold start should not pay for it

    nearest = nearest_name(relation, known)
    return f"did you mean '{nearest}'?" if nearest else "read it in a rule, in 'pre' or in 'post', or leave it out"
