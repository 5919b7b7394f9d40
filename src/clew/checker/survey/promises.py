"""Which promises apply: ``pre`` as a whole, each rule of it, each constant tag in it.

A *tag* is a constant that the rules of ``pre`` write into a column, as in ``pre("fresh", R, V) :- ...``: programs
use them to state several promises at once, and one that never applies hides behind the others.  Rules and tags of
relations that exist only for the assertions are looked through.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from clew.engine.conditions import Occurrence, RuleConditions, find_occurrences
from clew.engine.encode import Relations
from clew.engine.ground import GroundProgram
from clew.engine.values import encode_value
from clew.errors import Position
from clew.names import show
from clew.program.ir import Const, Premise, Program, Rule, Timing, Value, Var
from clew.program.outcomes import PRE, assertion_definitions, has_assertions, stated_outcomes


class Part(enum.Enum):
    """What a promise is a part of; the values are what JSON calls them."""

    WHOLE = "whole"
    RULE = "rule"
    TAG = "tag"
    RELATION = "relation"


@dataclass(frozen=True)
class Promise:
    """``pre`` as a whole, one of its rules, or a tag; or, without ``pre``, a relation that must survive.

    ``name``: the relation, the tag, or the tags of the rule, which is number ``rule`` of the program.
    ``follows``: whenever this part of ``pre`` holds, so does ``post``, whatever the rest of the program does; None
    where that was not found out.  ``suspected``: it does in all that was tried, and there is too much to try.
    """

    part: Part
    name: str
    position: Position | None
    applies: Occurrence
    follows: bool | None = None
    rule: int | None = None
    suspected: bool = False


@dataclass(frozen=True)
class _Tag:
    column: int
    value: Value


def find_promises(ground: GroundProgram) -> tuple[Promise, ...]:
    """Return every part of what the program promises, and when it applies; the whole comes first."""
    program = ground.program
    if not has_assertions(program):
        return tuple(_surviving(ground, relation) for relation in stated_outcomes(program))
    rules = dict(_promising_rules(program))
    tags = _tags(program)
    conditions: dict[object, list[str]] = {PRE: [_row_at_end(ground, {})]}
    for index in rules:
        conditions[index] = RuleConditions(ground, index).concludes_at_end()
    for tag in tags:
        conditions[tag] = [_row_at_end(ground, {tag.column: tag.value})]
    found = find_occurrences(ground, conditions)
    return (
        Promise(Part.WHOLE, PRE, None, found[PRE]),
        *(
            Promise(Part.RULE, _name(rule), rule.position, found[index], rule=index)
            for index, rule in rules.items()
        ),
        *(Promise(Part.TAG, show(tag.value), position, found[tag]) for tag, position in tags.items()),
    )


def _surviving(ground: GroundProgram, relation: str) -> Promise:
    """Return the promise that the rows of the failure-free run survive; without such rows it is none."""
    applies = Occurrence.FAILURE_FREE if ground.rows_at_end(relation) else Occurrence.NEVER
    return Promise(Part.RELATION, relation, None, applies)


def _row_at_end(ground: GroundProgram, fixed: Mapping[int, Value]) -> str:
    relations = ground.encoding.relations
    # At EOT only: that is where 'pre' has to imply 'post'.
    columns = (encode_value(fixed[k]) if k in fixed else "_" for k in range(relations.arity(PRE)))
    return f"r{relations.number(PRE)}({','.join(columns)},{ground.spec.eot})"


def _promising_rules(program: Program) -> Iterator[tuple[int, Rule]]:
    """Yield the rules for ``pre`` with their numbers, and those for what it merely copies."""
    only_asserted = assertion_definitions(program)
    wanted = [PRE]
    for relation in wanted:  # which grows on the way
        for index, rule in enumerate(program.rules):
            if rule.relation != relation or (relation != PRE and rule.timing is not Timing.SAME):
                continue
            yield index, rule
            copied = _find_copy_source(rule)
            if copied in only_asserted and copied not in wanted:
                wanted.append(copied)


def _find_copy_source(rule: Rule) -> str | None:
    """Return the relation whose rows the rule passes on as they are, if it does nothing else."""
    match rule.body:
        case (Premise(relation, args, False, None),) if rule.timing is Timing.SAME:
            # A variable that comes twice, or a constant, selects rows: then the copy is a promise of its own.
            plain = all(isinstance(a, Var) for a in args) and len(set(args)) == len(args)
            return relation if plain and not rule.aggregates else None
        case _:
            return None


def _tags(program: Program) -> dict[_Tag, Position | None]:
    """Return the constants that rules write into columns of ``pre``, with the first place of each."""
    only_asserted = assertion_definitions(program)
    found: dict[_Tag, Position | None] = {}
    for column in range(Relations.of(program).arity(PRE)):
        wanted = [(PRE, column)]
        for relation, place in wanted:
            for rule in (r for r in program.rules if r.relation == relation):
                arg = rule.args[place]
                if isinstance(arg, Const):
                    found.setdefault(_Tag(column, arg.value), rule.position)
                elif isinstance(arg, Var):
                    sources = [s for s in _sources(rule, arg) if s[0] in only_asserted and s not in wanted]
                    wanted += sources
    return found


def _sources(rule: Rule, variable: Var) -> Iterator[tuple[str, int]]:
    """Yield the columns that give a variable its values."""
    for premise in rule.positive:
        yield from ((premise.relation, k) for k, arg in enumerate(premise.args) if arg == variable)


def _name(rule: Rule) -> str:
    constants = [show(a.value) for a in rule.args if isinstance(a, Const)]
    return ", ".join(constants) or PRE
