"""Relations that lead nowhere: most often a misspelt head, whose rows are then missing elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from clew.errors import Notice, Position
from clew.program.graph import components
from clew.program.ir import Program, Rule
from clew.program.outcomes import POST, PRE, persistent_relations


def unread_relations(program: Program) -> Iterator[Notice]:
    """Yield a notice for each group of relations that only each other's rules read and that has no outcome.

    Programs in Bloom are left alone: collections are declared, so a misspelt one is refused, and what nothing
    reads there may have readers outside.  What has neither is found when they are compiled.
    """
    defined = dict.fromkeys(clause.relation for clause in program.clauses)
    outcomes = {PRE, POST} if {PRE, POST} & defined.keys() else set(persistent_relations(program))
    if not outcomes or any(rule.text is not None for rule in program.rules):
        return
    first = {clause.relation: clause.position for clause in reversed(program.clauses)}
    read = [premise.relation for rule in program.rules for premise in rule.premises]
    for group in unread_of([name for name in defined if name not in outcomes], program.rules):
        yield unread_notice(group, first[group[0]], [*defined, *read])


def unread_of(relations: Iterable[str], rules: Iterable[Rule]) -> Iterator[tuple[str, ...]]:
    """Yield those of the relations that no rule but their own reads, together if they read each other.

    A misspelt head may feed a rule that keeps it, directly or through others; these are no readers.
    """
    readers: dict[str, dict[str, None]] = {}
    for rule in rules:
        for premise in rule.premises:
            readers.setdefault(premise.relation, {})[rule.relation] = None
    order = {relation: number for number, relation in enumerate(relations)}
    groups = components(order, lambda relation: readers.get(relation, {}))
    unread = [group for group in groups if all(_stays_in(group, relation, order, readers) for relation in group)]
    yield from sorted((tuple(sorted(group, key=order.__getitem__)) for group in unread), key=lambda g: order[g[0]])


def _stays_in(
    group: tuple[str, ...], relation: str, order: Mapping[str, int], readers: Mapping[str, Mapping[str, None]]
) -> bool:
    return relation in order and all(reader in group for reader in readers.get(relation, {}))


def unread_notice(group: Sequence[str], position: Position | None, known: Iterable[str]) -> Notice:
    """Return what is said of such relations; ``known`` are names that may have been meant."""
    names = " and ".join(f"'{name}'" for name in group)
    read = f"nothing reads {names}" if len(group) == 1 else f"only rules for each other read {names}"
    return Notice(
        f"{read}: what is concluded there changes nothing",
        position,
        _remedy(group, [name for name in known if name not in group]),
    )


def _remedy(group: Sequence[str], known: list[str]) -> str:
    from clew.program.nearest import nearest_name  # rarely needed, and a cold start should not pay for it

    for name in group:
        if nearest := nearest_name(name, known):
            return f"did you mean '{nearest}'?" if len(group) == 1 else f"did you mean '{nearest}' by '{name}'?"
    return "read it in a rule, in 'pre' or in 'post', or leave it out"
