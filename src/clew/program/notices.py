"""What is probably misspelt, although the program is valid: names that lead nowhere.

Dedalus declares nothing, so a misspelt relation is a new one, and a misspelt constant a value that no row has.
Both make rules that never fire, and a protocol in which nothing happens violates nothing: it would be certified.
What is told here is certain, never a guess, because ``clew.program.columns`` knows more than any execution has.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from clew.errors import Notice, Position
from clew.names import nearest_name, show
from clew.program.assertions import NEVER, POST, PRE, assertion_names
from clew.program.columns import ANYTHING, Columns
from clew.program.graph import components
from clew.program.ir import BUILT_IN, Const, Premise, Program, Rule
from clew.program.outcomes import assertion_relations, persistent_relations, persists


def notice_impossible_constants(program: Program) -> Iterator[Notice]:
    """Yield a notice for each constant that a rule looks for in a column that cannot have it.

    Programs in Bloom are left alone: their collections have readers and writers outside.
    """
    asked = [(rule, premise) for rule in program.rules for premise in rule.positive if _names_constant(premise)]
    # Most programs name no constant in a premise, and need no columns for that.
    if not asked or any(rule.text is not None for rule in program.rules):
        return
    columns = Columns(program, others=ANYTHING)
    for rule, premise in asked:
        for column, arg in enumerate(premise.args):
            if isinstance(arg, Const) and arg.value not in columns.at(premise.relation, column):
                yield _notice(rule, premise, column, arg, columns)


def _names_constant(premise: Premise) -> bool:
    return premise.relation not in BUILT_IN and any(isinstance(arg, Const) for arg in premise.args)


def _notice(rule: Rule, premise: Premise, column: int, constant: Const, columns: Columns) -> Notice:
    known = [value for value in columns.at(premise.relation, column).values if isinstance(value, str)]
    nearest = nearest_name(str(constant.value), known)
    return Notice(
        f"the rule for '{rule.relation}' never fires: no row of '{premise.relation}' has {show(constant.value)} "
        f"in column {column + 1}",
        premise.position or rule.position,
        f"did you mean {show(nearest)}?" if nearest else "check the constant, and the rules that should write it",
    )


def notice_unread_relations(program: Program) -> Iterator[Notice]:
    """Yield a notice for each group of relations that only each other's rules read and that has no outcome.

    Programs in Bloom are left alone: collections are declared, so a misspelt one is refused, and what nothing
    reads there may have readers outside.  What has neither is found when they are compiled.
    """
    clauses = (*program.clauses, *program.inputs)
    offered = program.ranges  # what only declarations read is read
    defined = dict.fromkeys(clause.relation for clause in clauses if clause.relation not in offered)
    stated = assertion_names(program)
    outcomes = stated if stated & defined.keys() else frozenset(persistent_relations(program))
    # A program without outcomes is refused elsewhere, and needs no remark on every relation besides.
    if not outcomes or any(rule.text is not None for rule in program.rules):
        return
    # Reversed, so that the first clause of a relation is the one that stays.
    first = {clause.relation: clause.position for clause in reversed(clauses)}
    # What is read but never defined may be what the misspelt head was meant to be.
    read = [premise.relation for rule in program.rules for premise in rule.premises]
    for group in find_unread([name for name in defined if name not in outcomes], program.rules):
        yield unread_notice(group, first[group[0]], [*defined, *read, *_names_of_promises(group)])


def _names_of_promises(group: Iterable[str]) -> Iterator[str]:
    """Yield what relations may have been meant to be: a promise that is misspelt is checked by nobody."""
    for name in group:
        own = name.partition("_")[2]
        yield from (f"{stem}_{own}" if own else stem for stem in (PRE, POST, NEVER))


def notice_forgotten_records(program: Program) -> Iterator[Notice]:
    """Yield a notice for each relation that only assertions look at and that is lost with the memory of its node.

    Whether it is the state of a node or the record of somebody who looks on, such as ``elected``, no rule tells.
    A record that a restart takes away hides a violation, so its author should know.
    """
    if program.durable is None or any(rule.text is not None for rule in program.rules):
        return
    only_asserted = assertion_relations(program) - program.durable
    first = {rule.relation: rule.position for rule in reversed(program.rules) if persists(rule)}
    for relation, position in sorted(first.items(), key=lambda item: str(item[1])):
        if relation in only_asserted:
            yield Notice(
                f"only the assertions look at '{relation}', and it is forgotten when its node restarts",
                position,
                f"if it is the record of an observer, add: durable {relation};",
            )


def find_unread(relations: Iterable[str], rules: Iterable[Rule]) -> Iterator[tuple[str, ...]]:
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
    # In the order of the text: components come in that of the search for them.
    yield from sorted((tuple(sorted(group, key=order.__getitem__)) for group in unread), key=lambda g: order[g[0]])


def _stays_in(
    group: tuple[str, ...], relation: str, order: Mapping[str, int], readers: Mapping[str, Mapping[str, None]]
) -> bool:
    return relation in order and all(reader in group for reader in readers.get(relation, {}))


def unread_notice(group: Sequence[str], position: Position | None, known: Iterable[str]) -> Notice:
    """Return the notice about such relations; ``known`` are names that may have been meant."""
    names = " and ".join(f"'{name}'" for name in group)
    read = f"nothing reads {names}" if len(group) == 1 else f"only rules for each other read {names}"
    return Notice(
        f"{read}: what is concluded there changes nothing",
        position,
        _remedy(group, [name for name in known if name not in group]),
    )


def _remedy(group: Sequence[str], known: list[str]) -> str:
    for name in group:
        if nearest := nearest_name(name, known):
            return f"did you mean '{nearest}'?" if len(group) == 1 else f"did you mean '{nearest}' by '{name}'?"
    return "read it in a rule, in 'pre' or in 'post', or leave it out"
