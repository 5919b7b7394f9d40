"""Dedalus text to clauses, with a position on everything that can be complained about.

Recursive descent over this grammar (``name`` and ``string`` are tokens)::

    clause   = "include" string ";" | "durable" [ name { "," name } ] ";"
             | "persist" "[" name [ "," name [ "," name ] ] "]" [ ";" ]
             | "param" name "=" expr ";"
             | [ "input" ] ( head ";" | head ":-" element { "," element } ";" )
    head     = name "(" [ mark ] argument { "," argument } ")" [ "@" name ]
    argument = name "<" name ">" | expr [ ".." expr ]
    element  = [ "notin" ] premise | expr comparison expr | "choose" "(" vector "," vector ")"
    premise  = name "(" [ mark ] term { "," term } ")" [ "@" name ]
    mark     = "#" | "@"
    vector   = "(" [ name { "," name } ] ")"
    expr     = product { ("+" | "-") product }
    product  = factor { ("*" | "/") factor }
    factor   = name | string | "-" factor | "(" expr ")"

A param may be declared anywhere in the files of a program, so a file is read without knowing any; what a param
could change is then read again with the values (``Written.reread``).

Written by hand: it starts in a tenth of the time a parser generator needs to read the grammar, which every
run of the command would pay, and it knows what the user was writing when it stops understanding.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import NamedTuple, TypeVar, cast

from clew.dedalus.habits import OF_WORD, habit_between
from clew.dedalus.lexer import END, NAME, PARAM, STRING, Text, Token
from clew.dedalus.patterns import Computed, FactPattern, Interval, ParamClause, refuse_interval
from clew.errors import Position, ProgramError
from clew.program.ir import (
    LARGEST_NUMBER,
    Aggregate,
    AggregateName,
    ArithmeticOp,
    BinOp,
    Choose,
    Comparison,
    ComparisonOp,
    Const,
    Expr,
    Fact,
    HeadArg,
    InputRule,
    Nested,
    Premise,
    Rule,
    Term,
    Timing,
    Value,
    Var,
    Wildcard,
)

AGGREGATES = ("count", "sum", "min", "max", "avg")
COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")

#: Deeper expressions than this are refused: recursion over them must stay shallow.  It bounds parentheses too;
#: the printer writes fewer of them than an expression is deep, so what it prints is accepted.
DEEPEST_EXPRESSION = 50

T = TypeVar("T")


class Include(NamedTuple):
    """``include "path";``, still to be resolved by the loader."""

    path: str
    position: Position


class Durable(NamedTuple):
    """``durable log, term;``: the relations that survive a restart, each with its position; there may be none."""

    relations: tuple[tuple[str, Position], ...]


class Persist(NamedTuple):
    """``persist[p];`` or ``persist[p, p_neg, 2];``: section 3.1 of the thesis; the loader writes the rule."""

    relation: str
    deleted: str | None
    arity: int | None
    position: Position


#: What stands in parentheses before it is known whether that is a fact or the head of a rule.
FactArg = HeadArg | Interval | Computed

Clause = Fact | Rule | InputRule | Include | Durable | Persist | ParamClause | FactPattern


class Written(NamedTuple):
    """A clause as it was read without params, and what they could change in it.

    ``names``: constants without quotes, each of which may be the name of a param.  ``open``: without their
    values it cannot be read, and ``clause`` is no more than a place for it.
    """

    clause: Clause
    names: frozenset[str]
    open: bool
    reread: Callable[[Mapping[str, Value]], Clause]


def parse_clauses(text: str, file: str = "<text>") -> list[Clause]:
    """Parse the clauses of one file, includes unresolved; raise ``ProgramError`` with a position."""
    return [written.clause for written in parse_text(Text(text, file))]


def parse_text(text: Text) -> list[Written]:
    """Parse one file in such a way that clauses can be read again with the values of params."""
    return _Parser(text).clauses()


class _Parser:
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

    # -- clauses ---------------------------------------------------------------------------------------

    def clauses(self) -> list[Written]:
        """Return all clauses up to the end of the file."""
        found: list[Written] = []
        while self._token.kind != END:
            start, self._names, self._open = self._next, [], False
            clause = self._clause()
            reread = partial(self._reread, start)
            found.append(Written(clause, frozenset(self._names), self._open, reread))
        return found

    def _reread(self, start: int, params: Mapping[str, Value]) -> Clause:
        # Whatever an earlier reading was refused for.
        self._next, self._params, self._names, self._parentheses = start, params, [], 0
        return self._clause()

    def _clause(self) -> Clause:
        first = self._expect_name("a fact, a rule or 'include'")
        if first.text == "include" and self._token.kind == STRING:  # otherwise a relation may have this name
            path = self._advance()
            self._expect(";")
            return Include(path.text[1:-1], self._at(path))
        if first.text == "durable" and (self._token.kind == NAME or self._sees(";")):
            return self._durable()
        if first.text == "persist" and self._sees("["):
            return self._persist(first)
        if first.text == "input" and self._token.kind == NAME:
            return self._input(self._advance())
        if first.text == PARAM and self._token.kind == NAME:
            return self._param(self._advance())
        args = self._arguments(first, self._fact_argument)
        time = self._time()
        if self._take(":-"):
            return self._rule(first, tuple(self._rule_argument(a) for a in args), time)
        if not self._take(";"):
            raise self._refuse_token("':-' or ';'" if time else "'@', ':-' or ';'")
        return self._fact(first, args, time)

    def _param(self, name: Token) -> ParamClause:
        self._expect("=")
        value = self._scalar()
        self._expect(";")
        return ParamClause(name.text, value, self._at(name))

    def _fact(self, first: Token, args: tuple[FactArg, ...], time: Token | None) -> Fact | FactPattern:
        values = [self._fact_value(first, arg) for arg in args]
        constants = [value.value for value in values if isinstance(value, Const)]
        if len(constants) == len(values):
            return Fact(first.text, tuple(constants), self._fact_time(time), self._at(first))
        return FactPattern(first.text, tuple(values), self._fact_time(time), self._at(first))

    def _durable(self) -> Durable:
        named: list[tuple[str, Position]] = []
        while not self._take(";"):
            if named:
                self._expect(",", ";")
            name = self._expect_name("the name of a relation")
            named.append((name.text, self._at(name)))
        return Durable(tuple(named))

    def _persist(self, first: Token) -> Persist:
        self._expect("[")
        relation = self._expect_name("the name of a relation")
        deleted = self._expect_name("the name of the relation with what is deleted") if self._take(",") else None
        arity = self._expect_name("the number of columns") if deleted and self._take(",") else None
        self._expect("]")
        self._take(";")  # which the thesis leaves out
        if arity is not None and not arity.text.isdigit():
            raise ProgramError(
                f"'{arity.text}' is not a number of columns",
                position=self._at(arity),
                remedy=f"write persist[{relation.text}]; the number of columns is known",
            )
        return Persist(
            relation.text,
            deleted.text if deleted else None,
            self._number(arity) if arity else None,
            self._at(first),
        )

    def _input(self, name: Token) -> InputRule:
        args = self._arguments(name, self._head_argument)
        time = self._time()
        body: list[Premise | Comparison | Choose] = []
        if self._take(":-"):
            body = self._body()
        elif not self._take(";"):
            raise self._refuse_token("':-' or ';'" if time else "'@', ':-' or ';'")
        rule = Rule(name.text, args, Timing.SAME, tuple(body), self._at(name))
        if time is not None and time.text[0].isupper():
            return InputRule(rule, Var(time.text))
        return InputRule(rule, self._fact_time(time))

    def _arguments(self, name: Token, one: Callable[[], T]) -> tuple[T, ...]:
        self._expect("(")
        if self._sees(")"):
            raise ProgramError(
                f"'{name.text}' has no columns",
                position=self._at(name),
                remedy="give it at least one: the first column is where the row lives",
            )
        if self._sees("#", "@"):  # the mark of a place in the thesis, whose place may be any column
            self._next += 1
        found = [one()]
        while not self._take(")"):
            self._expect(",", ")")
            found.append(one())
        return tuple(found)

    def _time(self) -> Token | None:
        return self._expect_name("a time, next or async") if self._take("@") else None

    def _fact_time(self, time: Token | None) -> int:
        if time is None:
            return 1
        number = self._number(time) if time.text.isdigit() else self._param_time(time)
        if number < 1:
            raise ProgramError(
                f"'@{time.text}' is not a time at which a fact can hold",
                position=self._at(time),
                remedy="give a number from 1 on, as in node(a, b)@1;",
            )
        return number

    def _param_time(self, time: Token) -> int:
        """Return the time that a param gives, 0 if it is none; before params are known, any."""
        if not time.text[0].islower() or time.text in ("next", "async"):
            return 0
        self._names.append(time.text)
        self._open = True
        value = 1 if self._params is None else self._params.get(time.text)
        return value if isinstance(value, int) else 0

    def _fact_value(self, name: Token, arg: FactArg) -> Const | Interval | Computed:
        if isinstance(arg, Const | Interval | Computed):
            return arg
        shown = arg.name if isinstance(arg, Var) else "_" if isinstance(arg, Wildcard) else "an expression"
        raise ProgramError(
            f"the fact '{name.text}' contains {shown}, which is not a constant",
            position=self._at(name),
            remedy="quote it if it is a string; write a rule (head :- body;) if it is a variable",
        )

    def _rule(self, name: Token, args: tuple[HeadArg, ...], time: Token | None) -> Rule:
        timing = Timing.SAME
        if time is not None:
            if time.text not in ("next", "async"):
                raise ProgramError(
                    f"unknown timing '@{time.text}' of a rule",
                    position=self._at(time),
                    remedy="write @next (the next time, same place), @async (a message) or nothing (now)",
                )
            timing = Timing("@" + time.text)
        body = self._body()
        if not any(isinstance(b, Premise) for b in body):
            raise ProgramError(
                f"the rule for '{name.text}' has no premise, so it has no place to run",
                position=self._at(name),
                remedy="add a premise whose first column is the location",
            )
        return Rule(name.text, args, timing, tuple(body), self._at(name))

    def _body(self) -> list[Premise | Comparison | Choose]:
        body = [self._element()]
        while not self._take(";"):
            self._expect(",", ";")
            body.append(self._element())
        return body

    def _fact_argument(self) -> FactArg:
        """Parse an argument of a clause of which only its end tells whether it is a fact."""
        start, names = self._token, len(self._names)
        arg = self._head_argument()
        if self._take(".."):
            if isinstance(arg, Aggregate | Nested):
                raise refuse_interval(self._at(start))
            return Interval(self._require_value(arg, start), self._scalar(), self._at(start))
        # What could have been written as one number is refused as ever.
        return Computed(arg, self._at(start)) if isinstance(arg, BinOp) and len(self._names) > names else arg

    def _rule_argument(self, arg: FactArg) -> HeadArg:
        if isinstance(arg, Interval):
            raise refuse_interval(arg.position)
        return arg.value if isinstance(arg, Computed) else arg

    def _head_argument(self) -> HeadArg:
        # "<" after a name is an aggregate in a head and a comparison in a body; no head compares.
        function = self._token
        if function.kind == NAME and self._following.text == "<":
            self._next += 2
            return self._aggregate(function)
        return self._expr()

    def _aggregate(self, function: Token) -> Aggregate:
        if function.text not in AGGREGATES:
            raise ProgramError(
                f"unknown aggregate '{function.text}'",
                position=self._at(function),
                remedy="use one of " + ", ".join(AGGREGATES),
            )
        var = self._aggregate_variable(function)
        per: list[Var] = []
        if self._take("per"):
            per.append(self._aggregate_variable(function))
            while self._take(","):
                per.append(self._aggregate_variable(function))
        if not self._take(">"):
            raise self._refuse_token("',' or '>'" if per else "'>', or 'per' and what tells equal values apart")
        return Aggregate(cast(AggregateName, function.text), var, tuple(per))

    def _aggregate_variable(self, function: Token) -> Var:
        name = self._expect_name("a variable")
        var = self._parse_name(name)
        if not isinstance(var, Var):
            raise ProgramError(
                f"'{function.text}<{name.text}>' does not aggregate a variable",
                position=self._at(name),
                remedy=f"write {function.text}<X> with a variable X of the body",
            )
        return var

    # -- bodies ----------------------------------------------------------------------------------------

    def _element(self) -> Premise | Comparison | Choose:
        if self._token.text in ("choose", "choice") and self._following.text == "(":
            word = self._advance()
            if self._tokens[self._next + 1].text == "(":
                return self._choose(word)
            self._next -= 1  # a relation of this name
        negated = self._take("notin")
        # A name before "(" is a relation: there are no functions that an expression could call.
        if negated or (self._token.kind == NAME and self._following.text == "("):
            return self._premise(self._expect_name("a relation"), negated)
        if self._sees(";", ",", ")", *COMPARISONS) or self._token.kind == END:
            raise self._refuse_token("a premise, notin or a comparison")
        left = self._scalar()
        op = self._token
        if not self._sees(*COMPARISONS):
            raise self._refuse_token("a comparison (" + " ".join(COMPARISONS) + ")")
        self._next += 1
        if op.text == "<" and self._sees(">"):  # SQL's; the lexer sees two tokens, as in count<X>
            raise ProgramError("unexpected '<>'", position=self._at(op), remedy="unequal is written !=")
        return Comparison(cast(ComparisonOp, op.text), left, self._scalar(), self._at(op))

    def _premise(self, name: Token, negated: bool) -> Premise:
        args = self._arguments(name, self._term)
        return Premise(name.text, args, negated, self._premise_time(self._time()), self._at(name))

    def _choose(self, word: Token) -> Choose:
        self._expect("(")
        keys = self._vector()
        self._expect(",")
        values = self._vector()
        self._expect(")")
        if not values:
            raise ProgramError(
                f"'{word.text}' chooses nothing",
                position=self._at(word),
                remedy="name what is chosen: choose((X), (Y)) takes one Y for each X",
            )
        return Choose(keys, values, self._at(word))

    def _vector(self) -> tuple[Var, ...]:
        self._expect("(")
        found: list[Var] = []
        while not self._take(")"):
            if found:
                self._expect(",", ")")
            name = self._expect_name("a variable")
            var = self._parse_name(name)
            if not isinstance(var, Var):
                raise ProgramError(
                    f"'{name.text}' is not a variable",
                    position=self._at(name),
                    remedy="choose((X), (Y)) has variables that premises bind; compare them with constants",
                )
            found.append(var)
        return tuple(found)

    def _premise_time(self, time: Token | None) -> int | Var | None:
        if time is None:
            return None
        number = self._number(time) if time.text.isdigit() else self._param_time(time)
        if number >= 1:
            return number
        if time.text[0].isupper():  # lower case would be a constant, and no time has a name but that of a param
            return Var(time.text)
        raise ProgramError(
            f"'@{time.text}' is not a time",
            position=self._at(time),
            remedy="after a premise write @5 (that time) or @N (binds N to the time of the rule)",
        )

    def _term(self) -> Term:
        start = self._token
        term = self._expr()
        if self._params is None and isinstance(term, BinOp) and _is_negated_name(term):
            self._open = True  # -n is a number if n is one, as -3 is
            return Const(0)
        if not isinstance(term, Term):
            raise ProgramError(
                "a premise cannot compute in its arguments",
                position=self._at(start),
                remedy="use a new variable there and compare it: p(Y), Y == X + 1",
            )
        return term

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


def _is_negated_name(expr: BinOp) -> bool:
    match expr:
        case BinOp("-", Const(0), Const(str())):
            return True
    return False


def _depth(expr: Expr) -> int:
    return 1 + max(_depth(expr.left), _depth(expr.right)) if isinstance(expr, BinOp) else 0
