"""DIMACS and DRAT: texts of numbers.

Only ASCII digits, signs and spaces are numbers here; Python alone would take more for one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from clew.verify.refusals import RefusedError, UnreadableError

#: No text has more numbers: they would not fit into the memory of usual machines.
MOST_NUMBERS = 20_000_000

#: Nor larger ones, which a list would have to be made for.
LARGEST = 50_000_000

_NUMBERS_PER_TICK = 200_000

Clause = tuple[int, ...]

#: Called now and then; may raise to end the work.
Tick = Callable[[], None]


class Cnf(NamedTuple):
    """Clauses over variables from 1 on."""

    variables: int
    clauses: list[Clause]


class Step(NamedTuple):
    """A clause that a proof adds, or no longer needs."""

    deletes: bool
    clause: Clause


def _numbers(line: bytes, what: str) -> list[int]:
    """Return the numbers of a line."""
    if line.translate(None, b"-0123456789 \t\r"):
        raise RefusedError(f"{what} has something that is no number")
    try:
        numbers = [int(word) for word in line.split()]
    except ValueError:
        raise RefusedError(f"{what} has something that is no number") from None
    if numbers and (max(numbers) > LARGEST or min(numbers) < -LARGEST):
        raise UnreadableError(f"{what} has a number beyond {LARGEST:,}")
    return numbers


class Reader:
    """Reads the numbers of a text line by line, and not more of them than the limit."""

    def __init__(self, what: str, tick: Tick) -> None:
        self.what = what
        self.read = 0
        self._tick = tick
        self._next_tick = 0

    def numbers(self, line: bytes) -> list[int]:
        """Return the numbers of a line."""
        numbers = _numbers(line, self.what)
        self.read += len(numbers) + 1
        if self.read > MOST_NUMBERS:
            raise UnreadableError(f"{self.what} has more than {MOST_NUMBERS:,} numbers")
        if self.read > self._next_tick:
            self._next_tick = self.read + _NUMBERS_PER_TICK
            self._tick()
        return numbers


def read_cnf(text: bytes, tick: Tick = lambda: None) -> Cnf:
    """Read a formula in DIMACS."""
    reader = Reader("the CNF", tick)
    lines = [line for line in text.split(b"\n") if line.strip() and not line.startswith(b"c")]
    if not lines or not lines[0].startswith(b"p cnf "):
        raise RefusedError("the CNF does not begin with 'p cnf'")
    sizes = reader.numbers(lines[0].removeprefix(b"p cnf "))
    if len(sizes) != 2 or min(sizes) < 0:
        raise RefusedError("the first line of the CNF is not 'p cnf VARIABLES CLAUSES'")
    variables, number = sizes
    clauses = [clause for _, clause in _clauses(lines[1:], reader, deletions=False)]
    if len(clauses) != number:
        raise RefusedError(f"the CNF has {len(clauses)} clauses, and says that it has {number}")
    if any(abs(literal) > variables for clause in clauses for literal in clause):
        raise RefusedError("the CNF has a variable beyond those that it says it has")
    return Cnf(variables, clauses)


def read_proof(text: bytes, tick: Tick = lambda: None) -> list[Step]:
    """Read a proof in DRAT, as text."""
    reader = Reader("the proof", tick)
    lines = [line for line in text.split(b"\n") if line.strip() and not line.startswith(b"c")]
    return [Step(deletes, clause) for deletes, clause in _clauses(lines, reader, deletions=True)]


def _clauses(lines: list[bytes], reader: Reader, *, deletions: bool) -> Iterator[tuple[bool, Clause]]:
    """Yield what ends with 0, each with whether a d is before it."""
    open_literals: list[int] = []
    deletes = False
    for line in lines:
        rest = line
        if deletions and line.lstrip().startswith(b"d"):
            if open_literals:
                raise RefusedError(f"{reader.what} has a clause without an end")
            deletes, rest = True, line.lstrip()[1:]
        for number in reader.numbers(rest):
            if number:
                open_literals.append(number)
            else:
                yield deletes, tuple(open_literals)
                open_literals, deletes = [], False
    if open_literals or deletes:
        raise RefusedError(f"{reader.what} ends in the middle of a clause")
