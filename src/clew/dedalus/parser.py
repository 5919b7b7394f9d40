"""Dedalus text to clauses, with a position on everything that can be complained about.

The grammar is in ``grammar.lark``; this module builds the IR and turns the parser's complaints into
messages that say what was expected and what to do.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import Any, cast

from lark import Lark, Token, Transformer, v_args
from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken, VisitError

from clew.errors import Position, ProgramError
from clew.program.ir import (
    Aggregate,
    AggregateName,
    ArithmeticOp,
    BinOp,
    Comparison,
    ComparisonOp,
    Const,
    Expr,
    Fact,
    HeadArg,
    Premise,
    Rule,
    Term,
    Timing,
    Var,
    Wildcard,
)

AGGREGATES = ("count", "sum", "min", "max", "avg")

#: The engine computes with 32-bit integers; larger literals are refused instead of wrapped around.
LARGEST_NUMBER = 2**31 - 1

#: Deeper expressions than this are refused: recursion over them must stay shallow.
DEEPEST_EXPRESSION = 50

_TOKEN_WORDS = {
    "NAME": "a name",
    "STRING": "a string",
    "COMPARISON": "a comparison (== != < <= > >=)",
    "LPAR": "'('",
    "RPAR": "')'",
    "COMMA": "','",
    "SEMICOLON": "';'",
    "NOTIN": "'notin'",
    "INCLUDE": "'include'",
    "AT": "'@'",
    "PLUS": "'+'",
    "MINUS": "'-'",
    "STAR": "'*'",
    "SLASH": "'/'",
    "LESSTHAN": "'<'",
    "MORETHAN": "'>'",
    "$END": "the end of the file",
}


@dataclass(frozen=True)
class Include:
    """``include "path";``, still to be resolved by the loader."""

    path: str
    position: Position


Clause = Fact | Rule | Include


@dataclass(frozen=True)
class _Head:
    relation: str
    args: tuple[HeadArg, ...]
    time: Token | None
    position: Position


def parse_clauses(text: str, file: str = "<text>") -> list[Clause]:
    """The clauses of one file, includes unresolved; raises ``ProgramError`` with a position."""
    text = _without_byte_order_mark(text)
    _refuse_unprintable(text, file)
    try:
        tree = _parser().parse(text)
        return cast(list[Clause], _Builder(file).transform(tree))
    except UnexpectedInput as problem:
        raise _syntax_error(problem, text, file) from None
    except VisitError as problem:
        if isinstance(problem.orig_exc, ProgramError):
            raise problem.orig_exc from None
        raise


@lru_cache(maxsize=1)
def _parser() -> Lark:
    grammar = resources.files("clew.dedalus").joinpath("grammar.lark").read_text(encoding="utf-8")
    return Lark(grammar, parser="lalr", lexer="contextual", maybe_placeholders=True)


def _without_byte_order_mark(text: str) -> str:
    return text.removeprefix("\ufeff")


def _refuse_unprintable(text: str, file: str) -> None:
    found = re.search(r"[\x00-\x08\x0b\x0e-\x1f\x7f]", text)
    if found:
        raise ProgramError(
            f"unprintable character U+{ord(found.group()):04X}",
            position=_position_of(text, found.start(), file),
            remedy="give a text file with a Dedalus program",
        )


def _position_of(text: str, offset: int, file: str) -> Position:
    line_start = text.rfind("\n", 0, offset) + 1
    return Position(file, text.count("\n", 0, offset) + 1, offset - line_start + 1)


@v_args(inline=True)
class _Builder(Transformer[Token, Any]):
    """Parse tree to IR."""

    def __init__(self, file: str) -> None:
        super().__init__()
        self._file = file

    def _at(self, token: Token) -> Position:
        return Position(self._file, token.line or 1, token.column or 1)

    def start(self, *clauses: Clause) -> list[Clause]:
        return list(clauses)

    def include(self, path: Token) -> Include:
        return Include(str(path)[1:-1], self._at(path))

    def head(self, name: Token, args: tuple[Any, ...], time: Token | None) -> _Head:
        position = self._at(name)
        if not args:
            raise _needs_a_column(str(name), position)
        return _Head(str(name), tuple(self._plain(a) for a in args), time, position)

    def head_args(self, *args: Any) -> tuple[Any, ...]:
        return tuple(a for a in args if a is not None)

    terms = head_args

    def time(self, name: Token) -> Token:
        return name

    def fact(self, head: _Head) -> Fact:
        return Fact(head.relation, tuple(map(_fact_value(head), head.args)), self._fact_time(head), head.position)

    def _fact_time(self, head: _Head) -> int:
        if head.time is None:
            return 1
        time = self._number(head.time) if head.time.isdigit() else 0
        if time < 1:
            raise ProgramError(
                f"'@{head.time}' is not a time at which a fact can hold",
                position=self._at(head.time),
                remedy="give a number from 1 on, as in node(a, b)@1;",
            )
        return time

    def rule(self, head: _Head, body: tuple[Premise | Comparison, ...]) -> Rule:
        timing = Timing.SAME
        if head.time is not None:
            if head.time not in ("next", "async"):
                raise ProgramError(
                    f"'@{head.time}' is not a timing of a rule",
                    position=self._at(head.time),
                    remedy="write @next (the next time, same place), @async (a message) or nothing (now)",
                )
            timing = Timing("@" + str(head.time))
        if not any(isinstance(b, Premise) for b in body):
            raise ProgramError(
                f"the rule for '{head.relation}' has no premise, so it has no place to run",
                position=head.position,
                remedy="add a premise whose first column is the location",
            )
        return Rule(head.relation, head.args, timing, body, head.position)

    def aggregate(self, function: Token, var: Token) -> Aggregate:
        if function not in AGGREGATES:
            raise ProgramError(
                f"'{function}' is not an aggregate",
                position=self._at(function),
                remedy="use one of " + ", ".join(AGGREGATES),
            )
        inner = self.name(var)[0]
        if not isinstance(inner, Var):
            raise ProgramError(
                f"'{function}<{var}>' does not aggregate a variable",
                position=self._at(var),
                remedy=f"write {function}<X> with a variable X of the body",
            )
        return Aggregate(cast(AggregateName, str(function)), inner)

    def body(self, *elements: Premise | Comparison) -> tuple[Premise | Comparison, ...]:
        return elements

    def premise(self, name: Token, terms: tuple[Any, ...], time: Token | None) -> Premise:
        position = self._at(name)
        if not terms:
            raise _needs_a_column(str(name), position)
        args = tuple(self._term(t, position) for t in terms)
        return Premise(str(name), args, False, self._premise_time(time), position)

    def negated(self, premise: Premise) -> Premise:
        return Premise(premise.relation, premise.args, True, premise.at, premise.position)

    def _premise_time(self, time: Token | None) -> int | Var | None:
        if time is None:
            return None
        if time.isdigit() and self._number(time) >= 1:
            return self._number(time)
        if time[0].isupper():
            return Var(str(time))
        raise ProgramError(
            f"'@{time}' is not a time",
            position=self._at(time),
            remedy="after a premise write @5 (that time) or @N (binds N to the time of the rule)",
        )

    def comparison(self, left: Any, op: Token, right: Any) -> Comparison:
        sides = [self._scalar(side, self._at(op)) for side in (left, right)]
        return Comparison(cast(ComparisonOp, str(op)), sides[0], sides[1], self._at(op))

    # Expressions travel as (expr, depth) until they reach the clause they belong to.

    def name(self, token: Token) -> tuple[HeadArg, int]:
        if token == "_":
            return Wildcard(), 1
        if token.isdigit():
            return Const(self._number(token)), 1
        if token[0] == "_":
            raise ProgramError(
                f"'{token}' is neither a variable nor a constant",
                position=self._at(token),
                remedy=f'write _ for any value, a capital first letter for a variable, or "{token}" for a string',
            )
        return (Var(str(token)) if token[0].isupper() else Const(str(token))), 1

    def string(self, token: Token) -> tuple[HeadArg, int]:
        return Const(str(token)[1:-1]), 1

    def neg(self, inner: tuple[Any, int]) -> tuple[HeadArg, int]:
        expr, depth = inner
        if isinstance(expr, Const) and isinstance(expr.value, int):
            return Const(-expr.value), depth
        return self._binary("-", (Const(0), 1), inner)

    def add(self, left: tuple[Any, int], right: tuple[Any, int]) -> tuple[HeadArg, int]:
        return self._binary("+", left, right)

    def sub(self, left: tuple[Any, int], right: tuple[Any, int]) -> tuple[HeadArg, int]:
        return self._binary("-", left, right)

    def mul(self, left: tuple[Any, int], right: tuple[Any, int]) -> tuple[HeadArg, int]:
        return self._binary("*", left, right)

    def div(self, left: tuple[Any, int], right: tuple[Any, int]) -> tuple[HeadArg, int]:
        return self._binary("/", left, right)

    def _binary(self, op: ArithmeticOp, left: tuple[Any, int], right: tuple[Any, int]) -> tuple[HeadArg, int]:
        depth = 1 + max(left[1], right[1])
        if depth > DEEPEST_EXPRESSION:
            raise ProgramError(
                f"an expression is nested more than {DEEPEST_EXPRESSION} deep",
                position=Position(self._file, 1, 1),
                remedy="split it over several rules",
            )
        nowhere = Position(self._file, 1, 1)
        return BinOp(op, self._scalar(left, nowhere), self._scalar(right, nowhere)), depth

    def _plain(self, arg: Any) -> HeadArg:
        return cast(HeadArg, arg[0] if isinstance(arg, tuple) else arg)

    def _scalar(self, side: tuple[Any, int], position: Position) -> Expr:
        if isinstance(side[0], Wildcard):
            raise ProgramError(
                "'_' has no value to compute with",
                position=position,
                remedy="use a variable that a premise binds",
            )
        return cast(Expr, side[0])

    def _term(self, term: tuple[Any, int], position: Position) -> Term:
        if isinstance(term[0], BinOp):
            raise ProgramError(
                "a premise cannot compute in its arguments",
                position=position,
                remedy="use a new variable there and compare it: p(Y), Y == X + 1",
            )
        return cast(Term, term[0])

    def _number(self, token: Token) -> int:
        number = int(token)
        if number > LARGEST_NUMBER:
            raise ProgramError(
                f"the number {token[:40]} is too large",
                position=self._at(token),
                remedy=f"numbers go up to {LARGEST_NUMBER}; use a string for an identifier",
            )
        return number


def _needs_a_column(relation: str, position: Position) -> ProgramError:
    return ProgramError(
        f"'{relation}' has no columns",
        position=position,
        remedy="give it at least one: the first column is where the row lives",
    )


def _fact_value(head: _Head) -> Callable[[HeadArg], str | int]:
    def value(arg: HeadArg) -> str | int:
        if isinstance(arg, Const):
            return arg.value
        shown = arg.name if isinstance(arg, Var) else "_" if isinstance(arg, Wildcard) else "an expression"
        raise ProgramError(
            f"the fact '{head.relation}' contains {shown}, which is not a constant",
            position=head.position,
            remedy="quote it if it is a string; write a rule (head :- body;) if it is a variable",
        )

    return value


def _syntax_error(problem: UnexpectedInput, text: str, file: str) -> ProgramError:
    if text.startswith("/*", problem.pos_in_stream or 0):
        position = Position(file, problem.line, problem.column)
        return ProgramError("a comment is not closed", position=position, remedy="close it with */")
    if isinstance(problem, UnexpectedToken):
        at_end = problem.token.type == "$END"
        found = "the end of the file" if at_end else f"'{_shorten(str(problem.token))}'"
        expected = problem.accepts or problem.expected
        position = (
            _position_of(text, len(text.rstrip()), file)
            if at_end
            else Position(file, problem.line, problem.column)
        )
    elif isinstance(problem, UnexpectedCharacters):
        character = text[problem.pos_in_stream or 0]
        found = f"'{character}'"
        expected = problem.allowed or set()
        position = Position(file, problem.line, problem.column)
        if character == '"':
            return ProgramError("a string is not closed on its line", position=position, remedy='close it with "')
    else:
        raise problem
    words = sorted(_TOKEN_WORDS.get(name, "':-'") for name in expected)
    return ProgramError(
        f"unexpected {found}",
        position=position,
        remedy=f"expected {_either(words)}; clauses end with ';'",
    )


def _shorten(text: str) -> str:
    return text if len(text) <= 40 else text[:37] + "..."


def _either(words: list[str]) -> str:
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " or " + words[-1] if words else "a clause"
