"""The lower half of the parser: tokens one after the other, and expressions.

expr     = product { ("+" | "-") product }
product  = factor { ("*" | "/") factor }
factor   = name | string | "-" factor | "(" expr ")"
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import cast

from clew.dedalus.habits import OF_WORD, habit_between
from clew.dedalus.lexer import END, NAME, STRING, Text, Token
from clew.errors import Position, ProgramError
from clew.program.ir import LARGEST_NUMBER, ArithmeticOp, BinOp, Const, Expr, Value, Var, Wildcard

#: Deeper expressions than this are refused: recursion over them must stay shallow.  It bounds parentheses too;
#: the printer writes fewer of them than an expression is deep, so what it prints is accepted.
DEEPEST_EXPRESSION = 50


class ExpressionParser:
    """One pass over the tokens of a file, with one token of lookahead."""

    def __init__(self, text: Text) -> None:
        self._text = text
        self._tokens = text.tokens()
        self._next = 0
        self._parentheses = 0  # open at this point: a chain of "(" would be as deep a recursion as operators
        self._params: Mapping[str, Value] | None = None  # None: not known yet
        # Of the clause at hand.
        self._names: list[str] = []
        self._open = False

    # -- tokens ----------------------------------------------------------------------------------------

    @property
    def _token(self) -> Token:
        return self._tokens[self._next]

    @property
    def _following(self) -> Token:
        return self._tokens[min(self._next + 1, len(self._tokens) - 1)]

    def _at(self, token: Token) -> Position:
        return self._text.position(token.offset)

    def _advance(self) -> Token:
        token = self._token
        self._next += 1
        return token

    def _sees(self, *symbols: str) -> bool:
        return self._token.kind not in (STRING, END) and self._token.text in symbols

    def _take(self, symbol: str) -> bool:
        if self._sees(symbol):
            self._next += 1
            return True
        return False

    def _expect(self, *symbols: str) -> None:
        if not self._sees(*symbols):
            raise self._refuse_token(" or ".join(f"'{s}'" for s in symbols))
        self._next += 1

    def _expect_name(self, what: str) -> Token:
        if self._token.kind != NAME:
            raise self._refuse_token(what)
        return self._advance()

    def _refuse_token(self, expected: str) -> ProgramError:
        token, before = self._token, self._tokens[max(0, self._next - 1)]
        begins = self._next == 1 or (self._next > 1 and self._tokens[self._next - 2].text == ";")
        habit = OF_WORD.get(before.text) if begins else None
        # What people write who come from elsewhere is worth more than the list of tokens that would be right.
        habit = habit or habit_between(before.text, token.text, self._following.text)
        shown = token.text if len(token.text) <= 40 else token.text[:37] + "..."
        remedy = f"expected {expected}"
        if habit is not None:
            remedy = habit
        elif before.text == "not" or token.text == "not":
            remedy = "negation is written notin"
        elif before.text.endswith("."):
            remedy += "; clauses end with ';', not with '.'"
        elif token.kind == END or self._at(before).line < self._at(token).line:
            remedy += "; clauses end with ';'"
        return ProgramError(
            f"unexpected {shown}" if token.kind == END else f"unexpected '{shown}'",
            position=self._at(token),
            remedy=remedy,
        )

    # -- expressions -----------------------------------------------------------------------------------

    def _scalar(self) -> Expr:
        """Parse an expression that has a value."""
        start = self._token
        return self._require_value(self._expr(), start)

    def _require_value(self, expr: Expr | Wildcard, start: Token) -> Expr:
        if isinstance(expr, Wildcard):
            raise ProgramError(
                "'_' has no value to compute with",
                position=self._at(start),
                remedy="use a variable that a premise binds",
            )
        return expr

    def _expr(self) -> Expr | Wildcard:
        return self._binary(("+", "-"), lambda: self._binary(("*", "/"), self._factor))

    def _binary(self, ops: tuple[str, str], operand: Callable[[], Expr | Wildcard]) -> Expr | Wildcard:
        start = self._token
        left = operand()
        while self._sees(*ops):
            op = cast(ArithmeticOp, self._advance().text)
            right_start = self._token
            left = BinOp(op, self._require_value(left, start), self._require_value(operand(), right_start))
            # Also a long sum is deep: a + b + c is (a + b) + c.
            if _depth(left) > DEEPEST_EXPRESSION:
                raise self._too_deep(start)
        return left

    def _factor(self) -> Expr | Wildcard:
        start = self._token
        if start.kind == NAME:
            return self._parse_name(self._advance())
        if start.kind == STRING:
            return Const(self._advance().text[1:-1])
        self._parentheses += 1
        if self._parentheses > DEEPEST_EXPRESSION:
            raise self._too_deep(start)
        if self._take("-"):
            found: Expr | Wildcard = _negate(self._require_value(self._factor(), start))
        elif self._take("("):
            found = self._expr()
            self._expect(")")
        else:
            raise self._refuse_token("a variable, a constant or an expression")
        self._parentheses -= 1
        return found

    def _parse_name(self, token: Token) -> Const | Var | Wildcard:
        if token.text == "_":
            return Wildcard()
        if token.text.isdigit():
            return Const(self._number(token))
        if token.text[0] == "_":
            raise ProgramError(
                f"'{token.text}' is neither a variable nor a constant",
                position=self._at(token),
                remedy=f'write _ for any value, a capital letter for a variable, or "{token.text}" for a string',
            )
        if token.text[0].isupper():
            return Var(token.text)
        self._names.append(token.text)
        return Const(self._params.get(token.text, token.text) if self._params else token.text)

    def _number(self, token: Token) -> int:
        # The length first: int() of a very long text takes time that is quadratic in it.
        if len(token.text) > 10 or int(token.text) > LARGEST_NUMBER:
            raise ProgramError(
                f"the number {token.text[:40]} is too large",
                position=self._at(token),
                remedy=f"numbers go up to {LARGEST_NUMBER}; use a string for an identifier",
            )
        return int(token.text)

    def _too_deep(self, start: Token) -> ProgramError:
        return ProgramError(
            f"an expression is nested more than {DEEPEST_EXPRESSION} deep",
            position=self._at(start),
            remedy="split it over several rules",
        )


def _negate(expr: Expr) -> Expr:
    match expr:
        case Const(int(number)):
            return Const(-number)
        case _:
            return BinOp("-", Const(0), expr)


def _depth(expr: Expr) -> int:
    return 1 + max(_depth(expr.left), _depth(expr.right)) if isinstance(expr, BinOp) else 0
