"""Relations that lead nowhere: most often a misspelt head, whose rows are then missing elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from clew.errors import Notice, Position
from clew.program.ir import Program, Rule
from clew.program.outcomes import POST, PRE, persistent_relations


def unread_relations(program: Program) -> Iterator[Notice]:
    """Yield a notice for each relation that no rule but its own reads and that is no outcome.

    Programs in Bloom are left alone: collections are declared, so a misspelt one is refused, and what nothing
    reads there may have readers outside.  What has neither is found when they are compiled.
    """
    defined = dict.fromkeys(clause.relation for clause in program.clauses)
    outcomes = {PRE, POST} if {PRE, POST} & defined.keys() else set(persistent_relations(program))
    if not outcomes or any(rule.text is not None for rule in program.rules):
        return
    first = {clause.relation: clause.position for clause in reversed(program.clauses)}
    read = [premise.relation for rule in program.rules for premise in rule.premises]
    for relation in unread_of([name for name in defined if name not in outcomes], program.rules):
        yield unread_notice(relation, first[relation], [*defined, *read])


def unread_of(relations: Iterable[str], rules: Iterable[Rule]) -> Iterator[str]:
    """Yield those of the relations that no rule but their own reads."""
    readers: dict[str, set[str]] = {}
    for rule in rules:
        for premise in rule.premises:
            readers.setdefault(premise.relation, set()).add(rule.relation)
    for relation in relations:
        if not readers.get(relation, set()) - {relation}:
            yield relation


def unread_notice(relation: str, position: Position | None, known: Iterable[str]) -> Notice:
    """Return what is said of such a relation; ``known`` are names that may have been meant."""
    return Notice(
        f"nothing reads '{relation}': what is concluded there changes nothing",
        position,
        _remedy(relation, [name for name in known if name != relation]),
    )


def _remedy(relation: str, known: list[str]) -> str:
    from clew.program.nearest import nearest_name  # rarely needed, and a cold start should not pay for it

    nearest = nearest_name(relation, known)
    return f"did you mean '{nearest}'?" if nearest else "read it in a rule, in 'pre' or in 'post', or leave it out"
