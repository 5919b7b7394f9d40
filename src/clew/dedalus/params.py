"""Params: values that a program declares with a default and that may be set from outside.

``param replicas = 3;`` makes ``replicas`` a name for 3 wherever a constant may stand without quotes, in all files
of the program; ``--set replicas=5`` makes it 5.  A param is a number or a string, as its default is, and stays
one.  The default may be computed from params that are declared before it, and follows them when they are set.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from clew.bounds import Bounds
from clew.dedalus.clauses import Written
from clew.dedalus.lexer import NAME, STRING, Text
from clew.dedalus.patterns import ParamClause, evaluate
from clew.errors import Notice, Position, ProgramError, UsageError
from clew.names import nearest_name, show
from clew.program.ir import LARGEST_NUMBER, SMALLEST_NUMBER, Const, Param, Rule

#: Without a dot, so that 1..replicas can be told apart, and in lower case: others are variables.
_NAME = re.compile(r"[a-z][A-Za-z0-9_]*")

#: Words that stand where a constant could, and mean something else there.
_WORDS = frozenset({"notin", "next", "async", "param", "input", "include", "durable", "persist"})

#: What ``--set`` gives: values by the names of params.
Settings = Mapping[str, str | int]


class DeclaredParam(NamedTuple):
    """A param with the clause of its default, and where that is."""

    name: str
    written: Written
    position: Position


def declare_params(clauses: Sequence[Written]) -> dict[str, DeclaredParam]:
    """Return the params by name, in order; refuse names that cannot be used and that are declared twice."""
    found: dict[str, DeclaredParam] = {}
    for written in clauses:
        clause = written.clause
        if isinstance(clause, ParamClause):
            _check_name(clause)
            if clause.name in found:
                raise ProgramError(
                    f"the param '{clause.name}' is declared twice",
                    position=clause.position,
                    remedy=f"declare it once ({found[clause.name].position}); --set gives it another value",
                )
            found[clause.name] = DeclaredParam(clause.name, written, clause.position)
    # Not while they are read: the order of declarations can be judged when all names are known.
    _check_order(found)
    return found


def _check_order(declared: Mapping[str, DeclaredParam]) -> None:
    """Refuse a default that names a later param: it would be the string of that name."""
    before: set[str] = set()
    for param in declared.values():
        for name in sorted(param.written.names & (declared.keys() - before)):
            raise ProgramError(
                f"the param '{param.name}' is computed from '{name}', which is not declared before it",
                position=param.position,
                remedy=f"declare '{name}' first; put it in quotes if it is a string",
            )
        before.add(param.name)


def _check_name(clause: ParamClause) -> None:
    name = clause.name
    if not _NAME.fullmatch(name):
        raise ProgramError(
            f"'{name}' cannot be the name of a param",
            position=clause.position,
            remedy="begin with a letter in lower case, and use letters, digits and _ only",
        )
    # A bound has a flag of its own; a param of its name would make ``--set eot=5`` look like it.
    if name in _WORDS or name in Bounds._fields:
        kind = "bound" if name in Bounds._fields else "word of the language"
        raise ProgramError(
            f"'{name}' is a {kind} and cannot be the name of a param",
            position=clause.position,
            remedy="use another name",
        )


def resolve_params(declared: Mapping[str, DeclaredParam], given: Settings) -> tuple[Param, ...]:
    """Return the params with their values: those that are given, else the defaults."""
    for name in given:
        if name not in declared:
            raise refuse_unknown(name, declared)
    found: dict[str, Param] = {}
    for param in declared.values():
        # Also where a value is given: the default says which kind the param is.
        default = _evaluate_default(param, found)
        value = given.get(param.name, default)
        _check_value(param, value, default)
        found[param.name] = Param(param.name, value, param.name in given)
    return tuple(found.values())


def refuse_unknown(name: str, declared: Mapping[str, DeclaredParam]) -> UsageError:
    """Return the error for a param that the program does not declare."""
    nearest = nearest_name(name, declared)
    if name in Bounds._fields:
        remedy = f"it is a bound: give --{name}"
    elif nearest:
        remedy = f"did you mean '{nearest}'?"
    elif declared:
        remedy = f"the params are {', '.join(declared)}"
    else:
        remedy = f"the program declares none; it would be: param {name} = 3;"
    return UsageError(f"unknown param '{name}'", remedy=remedy)


def _evaluate_default(param: DeclaredParam, before: Mapping[str, Param]) -> str | int:
    clause = param.written.reread({name: known.value for name, known in before.items()})
    assert isinstance(clause, ParamClause), "read again, a clause is what it was"
    value = evaluate(clause.value, f"the param '{param.name}'", param.position)
    assert isinstance(value, str | int), "Dedalus has strings and numbers"
    return value


def _check_value(param: DeclaredParam, value: object, default: str | int) -> None:
    """Refuse a value of another kind than the default: rules that compare it would silently never fire."""
    # From Python, True would pass for 1; no text of a program can say it.
    is_number = isinstance(value, int) and not isinstance(value, bool)
    kind = "number" if isinstance(default, int) else "string"
    if is_number == isinstance(default, int) and isinstance(value, int | str):
        _check_extent(param, value)
        return
    shown = show(value) if isinstance(value, str | int) else f"a value of type {type(value).__name__}"
    example = "5" if isinstance(default, int) else f"'\"{value}\"'" if is_number else "name"
    raise UsageError(
        f"'{param.name}' is set to {shown}, and it is a {kind}: its default is {show(default)}",
        position=param.position,
        remedy=f"give a {kind}, as in --set {param.name}={example}",
    )


def _check_extent(param: DeclaredParam, value: str | int) -> None:
    if isinstance(value, int):
        if not SMALLEST_NUMBER <= value <= LARGEST_NUMBER:
            raise UsageError(
                f"'{param.name}' is set to {str(value)[:40]}, which is too large",
                position=param.position,
                remedy=f"numbers go up to {LARGEST_NUMBER}",
            )
    # What the printed command sets must be what the program was checked with, in any shell.
    elif '"' in value or not value.isprintable():
        raise UsageError(
            f"'{param.name}' is set to {value!r:.60}, which no string of a program can be",
            position=param.position,
            remedy="give a text that can be printed, without double quotes in it",
        )


def notice_misspelt(declared: Mapping[str, DeclaredParam], clauses: Sequence[Written]) -> Iterator[Notice]:
    """Yield a notice for each string in a comparison that is almost the name of a param.

    ``N >= quorom`` compares with a string, and numbers come before strings: the rule would silently never fire.
    """
    for written in clauses:
        for comparison in written.clause.comparisons if isinstance(written.clause, Rule) else ():
            for side in (comparison.left, comparison.right):
                name = side.value if isinstance(side, Const) and isinstance(side.value, str) else ""
                nearest = nearest_name(name, declared) if name in written.names - declared.keys() else None
                if nearest is not None:
                    yield Notice(
                        f"'{name}' is compared here, and it is a string",
                        comparison.position,
                        f"did you mean the param '{nearest}'? Otherwise, put it in quotes",
                    )


def notice_params(
    declared: Mapping[str, DeclaredParam], used: frozenset[str], nodes: Sequence[str], texts: Sequence[Text]
) -> Iterator[Notice]:
    """Yield a notice for each param that nothing uses, and for each name that also means something else.

    A name without quotes is the param everywhere; who writes the same word in quotes, or as a relation, may not
    have known.
    """
    for param in declared.values():
        if param.name not in used:
            yield Notice(
                f"nothing uses the param '{param.name}': its value changes nothing",
                param.position,
                "use it without quotes where a constant may stand, or leave it out",
            )
    for node in nodes:
        if node in declared:
            yield Notice(
                f"'{node}' is a node in the //! line, and a param ({declared[node].position})",
                remedy="give one another name: there, names are strings",
            )
    # Once for each name and kind: a relation is written many times, and the first place will do.
    seen: set[tuple[str, str]] = set()
    for text in texts:
        tokens = text.tokens()
        for token, following in pairwise(tokens):
            is_string = token.kind == STRING
            name = token.text[1:-1] if is_string else token.text
            kind = "string" if is_string else "relation"
            is_other = is_string or (token.kind == NAME and following.text == "(")
            if name in declared and is_other and (name, kind) not in seen:
                seen.add((name, kind))
                yield Notice(
                    f"'{name}' is a {kind} here, and a param ({declared[name].position})",
                    text.position(token.offset),
                    "if the param is meant, write it without quotes" if is_string else "give one another name",
                )
