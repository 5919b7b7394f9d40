"""Which promises apply: each ``pre`` as a whole, each rule of it, each constant tag in it; and each ``never``.

A *tag* is a constant that the rules of ``pre`` write into a column, as in ``pre("fresh", R, V) :- ...``: programs
use them to state several promises at once, and one that never applies hides behind the others.  Rules and tags of
relations that exist only for the assertions are looked through.

What must ``never`` hold applies where each thing that its rules look for is there at some time; that all are there
together, as comparisons and negations want it, is what is wrong (``clew.checker.survey.sought_rows``).
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from clew.checker.survey.sought_rows import add_sought_rows
from clew.engine.conditions import Occurrence, RuleConditions, find_occurrences
from clew.engine.encode import Relations
from clew.engine.ground import GroundProgram
from clew.engine.values import encode_value
from clew.errors import Position
from clew.names import show
from clew.program.assertions import PRE, Assertion, find_assertions
from clew.program.columns import ANYTHING, Columns
from clew.program.ir import Const, Premise, Program, Rule, Timing, Value, Var
from clew.program.outcomes import assertion_definitions, has_assertions, stated_outcomes


class Part(enum.Enum):
    """What a promise is a part of; the values are what JSON calls them."""

    WHOLE = "whole"
    RULE = "rule"
    TAG = "tag"
    RELATION = "relation"


@dataclass(frozen=True)
class Promise:
    """``pre`` as a whole, one of its rules, or a tag; or, without any, a relation that must survive.

    ``name``: the relation, the tag, or the tags of the rule, which is number ``rule`` of the program.
    ``relation``: that of the promise that this is a part of: ``pre``, one of the same kind with a name, or
    ``never``. ``follows``: whenever this part of ``pre`` holds, so does ``post``, whatever the rest of the program
    does; None where that was not found out.  ``suspected``: it does in all that was tried, and there is too much
    to try.
    """

    part: Part
    name: str
    position: Position | None
    applies: Occurrence
    follows: bool | None = None
    rule: int | None = None
    suspected: bool = False
    relation: str = PRE


@dataclass(frozen=True)
class _Tag:
    column: int
    value: Value


def find_promises(ground: GroundProgram) -> tuple[Promise, ...]:
    """Return every part of what the program promises, and when it applies; the whole comes first."""
    program = ground.program
    if not has_assertions(program):
        return tuple(_surviving(ground, relation) for relation in stated_outcomes(program))
    asked = [_Asked(ground, assertion) for assertion in find_assertions(program)]
    # All at once: an execution that answers for one condition answers for every other that holds in it.
    found = find_occurrences(ground, {key: bodies for one in asked for key, bodies in one.conditions().items()})
    return tuple(promise for one in asked for promise in one.promises(found))


class _Asked:
    """One promise with its parts: the questions when each applies, and what the answers say."""

    def __init__(self, ground: GroundProgram, assertion: Assertion) -> None:
        self._ground = ground
        self._relation = assertion.relation
        self._is_never = assertion.post is None
        self._rules = dict(_promising_rules(ground.program, self._relation))
        # Of what must never hold, each rule says what is wrong; what else it writes is no promise of its own.
        self._tags = {} if self._is_never else _tags(ground.program, self._relation)

    def conditions(self) -> dict[object, list[str]]:
        """Return when the whole applies, each rule and each tag; keys tell parts of different promises apart."""
        of = self._relation
        if self._is_never:
            columns = Columns(self._ground.program, others=ANYTHING)
            sought = add_sought_rows(self._ground, self._rules, columns)
            own = [text for n, text in sought.items() if self._rules[n].relation == of]
            return {of: own, **{(of, n): [text] for n, text in sought.items()}}
        found: dict[object, list[str]] = {of: [_row_at_end(self._ground, of, {})]}
        for index in self._rules:
            found[of, index] = RuleConditions(self._ground, index).concludes_at_end()
        for tag in self._tags:
            found[of, tag] = [_row_at_end(self._ground, of, {tag.column: tag.value})]
        return found

    def promises(self, found: Mapping[object, Occurrence]) -> Iterator[Promise]:
        of = self._relation
        yield Promise(Part.WHOLE, of, None, found[of], relation=of)
        for index, rule in self._rules.items():
            yield Promise(Part.RULE, _name(rule, of), rule.position, found[of, index], rule=index, relation=of)
        for tag, position in self._tags.items():
            yield Promise(Part.TAG, show(tag.value), position, found[of, tag], relation=of)


def _surviving(ground: GroundProgram, relation: str) -> Promise:
    """Return the promise that the rows of the failure-free run survive; without such rows it is none."""
    applies = Occurrence.FAILURE_FREE if ground.rows_at_end(relation) else Occurrence.NEVER
    return Promise(Part.RELATION, relation, None, applies)


def _row_at_end(ground: GroundProgram, pre: str, fixed: Mapping[int, Value]) -> str:
    relations = ground.encoding.relations
    # At EOT only: that is where 'pre' has to imply 'post'.
    columns = (encode_value(fixed[k]) if k in fixed else "_" for k in range(relations.arity(pre)))
    return f"r{relations.number(pre)}({','.join(columns)},{ground.spec.eot})"


def _promising_rules(program: Program, promise: str) -> Iterator[tuple[int, Rule]]:
    """Yield the rules for a promise with their numbers, and those for what it merely copies."""
    only_asserted = assertion_definitions(program)
    wanted = [promise]
    for relation in wanted:  # which grows on the way
        for index, rule in enumerate(program.rules):
            if rule.relation != relation or (relation != promise and rule.timing is not Timing.SAME):
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


def _tags(program: Program, pre: str) -> dict[_Tag, Position | None]:
    """Return the constants that rules write into columns of ``pre``, with the first place of each."""
    only_asserted = assertion_definitions(program)
    found: dict[_Tag, Position | None] = {}
    for column in range(Relations.of(program).arity(pre)):
        wanted = [(pre, column)]
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


def _name(rule: Rule, promise: str) -> str:
    constants = [show(a.value) for a in rule.args if isinstance(a, Const)]
    return ", ".join(constants) or promise
