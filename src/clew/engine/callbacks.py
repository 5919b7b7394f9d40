"""Arithmetic and functions of programs, evaluated in Python while clingo grounds.

clingo's own arithmetic wraps around silently at 32 bits; a certificate must not rest on that.  Functions are
those of Bloom programs.  Every function is called twice with the same values: a checked execution must not depend
on what else a function looks at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from clingo import Number, Symbol, SymbolType

from clew.budgets.deadline import Deadline, exhaustion_of
from clew.engine.values import symbol_of, value_of
from clew.errors import Notice, ProgramError, ResourcesExhaustedError, describe_exception
from clew.program.ir import (
    LARGEST_NUMBER,
    SMALLEST_NUMBER,
    Call,
    CannotCheckError,
    Function,
    Program,
    Value,
    as_value,
)
from clew.program.strata import recursive_components

#: A protocol computes a few thousand values; this many mean that the numbers of some rule explode.
MOST_OPERATIONS = 300_000

_BOUND_IT = f"bound it with a comparison; numbers go from {SMALLEST_NUMBER} to {LARGEST_NUMBER}"


class Arithmetic:
    """``@add``, ``@sub``, ``@mul``, ``@div`` and ``@call`` in one grounding; the first argument names the rule."""

    def __init__(self, program: Program, deadline: Deadline) -> None:
        self._program = program
        # Declarations of inputs are numbered after the rules.
        self._rules = (*program.rules, *(declared.rule for declared in program.inputs))
        self._deadline = deadline
        self._operations = 0
        self._functions = Functions()
        self._undefined: dict[int, Notice] = {}
        #: What a callback raised; clingo replaces it by an error of its own that knows no position.
        self.failure: ProgramError | ResourcesExhaustedError | None = None

    @property
    def notices(self) -> tuple[Notice, ...]:
        """Return notices of rules that computed with something without a result; such instances do not fire."""
        return tuple(self._undefined[rule] for rule in sorted(self._undefined))

    def add(self, rule: Symbol, left: Symbol, right: Symbol) -> list[Symbol]:
        return self._apply(rule, left, right, lambda a, b: a + b)

    def sub(self, rule: Symbol, left: Symbol, right: Symbol) -> list[Symbol]:
        return self._apply(rule, left, right, lambda a, b: a - b)

    def mul(self, rule: Symbol, left: Symbol, right: Symbol) -> list[Symbol]:
        return self._apply(rule, left, right, lambda a, b: a * b)

    def div(self, rule: Symbol, left: Symbol, right: Symbol) -> list[Symbol]:
        return self._apply(rule, left, right, _divide)

    def call(self, rule: Symbol, number: Symbol, *args: Symbol) -> list[Symbol]:
        """Return the rows that a function of the rule gives."""
        self._count(rule)
        call = self._rules[rule.number].calls[number.number]
        try:
            rows = self._functions.rows(call, tuple(map(value_of, args)))
        except NoResultError as reason:
            what = f"calls {call.function.name}, which fails for {_show_values(args)}: {reason}"
            return self._no_result(rule, what)
        except (MemoryError, RecursionError) as error:
            self.failure = exhaustion_of(error, f"in {call.function.name} for {_show_values(args)}")
            raise self.failure from None
        except CannotCheckError as problem:
            raise self._error(rule, str(problem), problem.remedy) from None
        return [symbol_of(row) for row in rows]

    def _count(self, rule: Symbol) -> None:
        self._operations += 1
        if self._operations % 1000 == 0:
            self._deadline.check()  # the thread that grounds stops by itself
        if self._operations > MOST_OPERATIONS:
            raise self._endless(rule)

    def _apply(
        self, rule: Symbol, left: Symbol, right: Symbol, operation: Callable[[int, int], int]
    ) -> list[Symbol]:
        self._count(rule)
        if left.type is not SymbolType.Number or right.type is not SymbolType.Number:
            return self._no_result(rule, f"computes with {_a_string(left, right)}, which is not a number")
        try:
            result = operation(left.number, right.number)
        except ZeroDivisionError:
            return self._no_result(rule, "divides by zero")
        if not SMALLEST_NUMBER <= result <= LARGEST_NUMBER:
            raise self._error(rule, f"a number becomes too large ({result})", _BOUND_IT)
        return [Number(result)]

    def _no_result(self, rule: Symbol, what: str) -> list[Symbol]:
        source = self._rules[rule.number]
        self._undefined.setdefault(
            rule.number,
            Notice(
                f"{self._program.describe(source)} {what}; it does not fire there",
                source.position,
                "guard it with a comparison if that is meant",
            ),
        )
        return []

    def _endless(self, rule: Symbol) -> ProgramError:
        what, source = "the program computes too many different values", self._rules[rule.number]
        if source.text is None:  # it is a rule of Dedalus: there, what has no end was refused before
            return self._error(rule, what, _BOUND_IT)
        remedy = "bound what it computes with a condition"
        if source.relation in recursive_components(self._program):
            what = f"a step may never end: it computes more than {MOST_OPERATIONS} different values, from its own,"
            remedy += ", or derive it in the next step, with <+"
        self.failure = ProgramError(f"{what} in the rule {source.text}", position=source.position, remedy=remedy)
        return self.failure

    def _error(self, rule: Symbol, message: str, remedy: str) -> ProgramError:
        source = self._rules[rule.number]
        self.failure = ProgramError(
            f"{message} in {self._program.describe(source)}",
            position=source.position,
            remedy=remedy,
        )
        return self.failure


def _divide(left: int, right: int) -> int:
    """Divide towards zero, as clingo does; Python's // rounds down."""
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


def _show_values(args: Iterable[Symbol]) -> str:
    return f"({', '.join(str(value_of(arg)) for arg in args)})"


def _a_string(left: Symbol, right: Symbol) -> str:
    return str(left if left.type is not SymbolType.Number else right)


#: A protocol's values are a few words; a rule that builds a longer one builds ever longer ones.
LARGEST_VALUE = 10_000

Rows = tuple[tuple[Value, ...], ...]


class NoResultError(Exception):
    """The function raised an exception: there is no result for these values."""


class Functions:
    """What the functions of one grounding gave."""

    def __init__(self) -> None:
        self._known: dict[tuple[Function, tuple[Value, ...]], Rows | NoResultError] = {}

    def rows(self, call: Call, args: tuple[Value, ...]) -> Rows:
        key = (call.function, args)  # by identity: two functions of one name are two functions
        if key not in self._known:
            # Twice, because clingo may ask for the same values only once: a counter would never be noticed.
            first, second = _outcome(call, args), _outcome(call, args)
            if str(first) != str(second):
                shown = f"{_show_outcome(first)} and then {_show_outcome(second)}"
                raise CannotCheckError(
                    f"{call.function.name} gives {shown} for the same values",
                    "let it depend on its arguments only: no counters, no clock, no random numbers",
                )
            self._known[key] = first
        known = self._known[key]
        if isinstance(known, NoResultError):
            raise known
        return known


def _outcome(call: Call, args: tuple[Value, ...]) -> Rows | NoResultError:
    try:
        given = [tuple(row) for row in call.function.rows(args)]
    except (CannotCheckError, MemoryError, RecursionError):
        raise  # a certificate must not depend on how much memory or stack there was
    # Ctrl-C does not come here, where a thread grounds: a KeyboardInterrupt is the function's own.
    except BaseException as error:
        return NoResultError(describe_exception(error))
    # A row of another length would silently match nothing in clingo.
    for row in given:
        if len(row) != len(call.results):
            return NoResultError(f"a row with {len(row)} values, where {len(call.results)} are expected: {row}")
    return tuple(dict.fromkeys(_checkable(call, row) for row in given))


def _checkable(call: Call, row: Sequence[object]) -> tuple[Value, ...]:
    try:
        made = tuple(as_value(value) for value in row)
    except ValueError as problem:
        raise CannotCheckError(
            f"{call.function.name} gives {problem}",
            f"checked programs use text, tuples, None and integers from {SMALLEST_NUMBER} to {LARGEST_NUMBER}",
        ) from None
    if _size(made) > LARGEST_VALUE:
        raise CannotCheckError(
            f"{call.function.name} gives a value with more than {LARGEST_VALUE} characters",
            "see that the rule does not make ever longer values of its own",
        )
    return made


def _size(values: Iterable[Value]) -> int:
    return sum(len(v) if isinstance(v, str) else 1 + _size(v) if isinstance(v, tuple) else 1 for v in values)


def _show_outcome(outcome: Rows | NoResultError) -> str:
    return f"{str(outcome) if isinstance(outcome, NoResultError) else list(outcome)!r:.80}"
