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

Expressions (``expr``) are read by ``clew.dedalus.expressions``.

A param may be declared anywhere in the files of a program, so a file is read without knowing any; what a param
could change is then read again with the values (``Written.reread``).

Written by hand: it starts in a tenth of the time a parser generator needs to read the grammar, which every
run of the command would pay, and it knows what the user was writing when it stops understanding.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TypeVar, cast

from clew.dedalus.clauses import Clause, Durable, FactArg, Include, Persist, Written
from clew.dedalus.expressions import ExpressionParser
from clew.dedalus.lexer import END, NAME, PARAM, STRING, Text, Token
from clew.dedalus.patterns import Computed, FactPattern, Interval, ParamClause, refuse_interval
from clew.errors import Position, ProgramError
from clew.program.ir import (
    Aggregate,
    AggregateName,
    BinOp,
    Choose,
    Comparison,
    ComparisonOp,
    Const,
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

T = TypeVar("T")


def parse_clauses(text: str, file: str = "<text>") -> list[Clause]:
    """Parse the clauses of one file, includes unresolved; raise ``ProgramError`` with a position."""
    return [written.clause for written in parse_text(Text(text, file))]


def parse_text(text: Text) -> list[Written]:
    """Parse one file in such a way that clauses can be read again with the values of params."""
    return _Parser(text).clauses()


class _Parser(ExpressionParser):
    """One pass over the tokens of a file, with one token of lookahead."""

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
        remedy = f"give a number, or a variable for every time, as in input {name.text}(...)@T :- ..., T <= 3;"
        return InputRule(rule, self._fact_time(time, "an input can be given", remedy))

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

    def _fact_time(
        self,
        time: Token | None,
        what: str = "a fact can hold",
        remedy: str = "give a number from 1 on, as in node(a, b)@1;",
    ) -> int:
        if time is None:
            return 1
        number = self._number(time) if time.text.isdigit() else self._param_time(time)
        if number < 1:
            raise ProgramError(
                f"'@{time.text}' is not a time at which {what}",
                position=self._at(time),
                remedy=remedy,
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
        if self._sees_choose():
            return self._choose(self._advance())
        negated = self._take("notin")
        if negated and self._sees_choose():
            raise ProgramError(
                f"'{self._token.text}' cannot be negated",
                position=self._at(self._token),
                remedy="leave notin out, choose in a rule of its own, and negate what that concludes",
            )
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

    def _sees_choose(self) -> bool:
        """Tell whether a choice comes next, and not a relation of this name."""
        if self._token.text not in ("choose", "choice") or self._following.text != "(":
            return False
        return self._tokens[self._next + 2].text == "("  # there is one: the last token is the end of the text

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


def _is_negated_name(expr: BinOp) -> bool:
    match expr:
        case BinOp("-", Const(0), Const(str())):
            return True
    return False
