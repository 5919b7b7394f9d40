"""Compare a CNF with the ground program that it is about, clause by clause (docs/proofs.md has the definitions).

Every stable model of the ground program, extended by what the definitions say of further variables, is a model of
the clauses that are made here.  So if those have no model, the ground program has no stable model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate

from clew.verify.ground import Ground, Rule
from clew.verify.numbers import Cnf, Reader, Tick
from clew.verify.refusals import RefusedError

_WHAT = "the list of definitions"

Elements = tuple[tuple[int, int], ...]


class Definitions:
    """What the variables beyond the atoms stand for, and which sets of atoms have loop formulas."""

    def __init__(self, text: bytes, atoms: int, tick: Tick = lambda: None) -> None:
        self.conjunctions: dict[frozenset[int], int] = {}
        self.elements: dict[int, Elements] = {}
        self.list_numbers: dict[Elements, int] = {}
        self.sums: dict[tuple[int, int, int], int] = {}
        self.loops: list[frozenset[int]] = []
        self._atoms = atoms
        self._defined: set[int] = set()
        self._read(text, Reader(_WHAT, tick))
        if self._defined != set(range(atoms + 1, atoms + 1 + len(self._defined))):
            raise RefusedError("the variables with definitions do not follow the atoms")

    @property
    def variables(self) -> int:
        return self._atoms + len(self._defined)

    def _read(self, text: bytes, reader: Reader) -> None:
        readers: dict[bytes, Callable[[list[int]], None]] = {
            b"and": self._read_conjunction,
            b"elements": self._read_elements,
            b"sum": self._read_sum,
            b"loop": self._read_loop,
        }
        for line in text.split(b"\n"):
            if not line:
                continue
            kind, _, rest = line.partition(b" ")
            numbers = reader.numbers(rest)
            if kind not in readers or not numbers:
                raise RefusedError(f"{_WHAT} has a line that defines nothing")
            readers[kind](numbers)

    def _define(self, variable: int) -> None:
        if variable <= self._atoms or variable in self._defined:
            raise RefusedError(f"variable {variable} is defined twice, or is an atom")
        self._defined.add(variable)

    def _read_conjunction(self, numbers: list[int]) -> None:
        variable, *literals = _strip_zero(numbers)
        # Of earlier variables only: so no definition goes in a circle.
        if any(abs(literal) >= variable for literal in literals):
            raise RefusedError(f"variable {variable} is defined by later ones")
        self._define(variable)
        self.conjunctions[frozenset(literals)] = variable

    def _read_elements(self, numbers: list[int]) -> None:
        number, *rest = _strip_zero(numbers, zeros=True)
        elements = tuple(zip(rest[::2], rest[1::2], strict=False))
        if len(rest) % 2 or number in self.elements:
            raise RefusedError(f"list {number} of elements is incomplete, or there are two")
        if any(literal == 0 or abs(literal) > self._atoms or weight < 0 for literal, weight in elements):
            raise RefusedError(f"list {number} has a malformed element")
        self.elements[number] = elements
        self.list_numbers[elements] = number

    def _read_sum(self, numbers: list[int]) -> None:
        if len(numbers) != 4:
            raise RefusedError(f"{_WHAT} has a malformed sum")
        variable, number, first, least = numbers
        elements = self.elements.get(number, ())
        if not 0 <= first < len(elements) or (number, first, least) in self.sums:
            raise RefusedError(f"variable {variable} is a sum of nothing, or of what another one is")
        self._define(variable)
        self.sums[number, first, least] = variable

    def _read_loop(self, numbers: list[int]) -> None:
        atoms = _strip_zero(numbers)
        if not all(0 < atom <= self._atoms for atom in atoms):
            raise RefusedError("a loop has something that is no atom")
        self.loops.append(frozenset(atoms))

    def conjunction(self, literals: Iterable[int]) -> int:
        """Return the literal for a conjunction."""
        wanted = frozenset(literals)
        if len(wanted) == 1:
            return next(iter(wanted))
        if wanted not in self.conjunctions:
            raise RefusedError(f"no variable stands for the body {_numbers(wanted)}")
        return self.conjunctions[wanted]

    def at_least(self, bound: int, elements: Elements) -> int:
        """Return the literal for a sum of weights that reaches a bound."""
        if bound <= 0:
            return self.conjunction(())
        if bound > sum(weight for _, weight in elements):
            return -self.conjunction(())
        number = self.list_numbers.get(elements)
        if number is None or (number, 0, bound) not in self.sums:
            raise RefusedError(f"no variable stands for a sum of at least {bound}")
        return self.sums[number, 0, bound]


def _strip_zero(numbers: list[int], *, zeros: bool = False) -> list[int]:
    """Return the numbers before the 0 at the end, which is the only one."""
    if numbers[-1] != 0 or len(numbers) < 2 or (not zeros and 0 in numbers[:-1]):
        raise RefusedError(f"{_WHAT} has a line without an end")
    return numbers[:-1]


def _numbers(literals: Iterable[int]) -> str:
    ordered = sorted(literals, key=lambda literal: (abs(literal), literal))
    return " ".join(map(str, ordered[:10])) + (" ..." if len(ordered) > 10 else "")


def compare(cnf: Cnf, ground: Ground, definitions: Definitions, tick: Tick = lambda: None) -> None:
    """Check that the clauses are those of the ground program, no more and no less."""
    if cnf.variables != definitions.variables:
        raise RefusedError(f"the CNF has {cnf.variables} variables, and {definitions.variables} are known")
    # Compared as sets: the order of clauses and literals means nothing, and neither is taken on trust.
    found = {frozenset(clause) for clause in cnf.clauses}
    if len(found) != len(cnf.clauses):
        raise RefusedError("the CNF has a clause twice")
    wanted: set[frozenset[int]] = set()
    for number, clause in enumerate(_clauses(ground, definitions)):
        if number % 10_000 == 0:
            tick()
        if not any(-literal in clause for literal in clause):  # those are always true
            wanted.add(clause)
    # Too few clauses would be harmless for the proof, but then it is not the question that the file says it is.
    for clause in wanted - found:
        raise RefusedError(f"the CNF lacks the clause {_numbers(clause)} of the ground program")
    for clause in found - wanted:
        raise RefusedError(f"the CNF has the clause {_numbers(clause)}, which the ground program has not")


def _clauses(ground: Ground, definitions: Definitions) -> Iterator[frozenset[int]]:
    """Yield all clauses: of definitions, of rules, of what atoms need to hold, and of loops."""
    for literals, variable in definitions.conjunctions.items():
        yield from (frozenset((-variable, literal)) for literal in literals)
        yield frozenset((variable, *(-literal for literal in literals)))
    yield from _sum_clauses(definitions)
    concluding: dict[int, list[Rule]] = {}
    for rule in ground.rules:
        if not rule.choice:
            yield frozenset((-_body(rule, definitions), *rule.head))
        for atom in set(rule.head):
            concluding.setdefault(atom, []).append(rule)
    for atom in range(1, ground.atoms + 1):
        yield from _support_clauses(frozenset((atom,)), frozenset(), concluding, definitions)
    for loop in definitions.loops:
        yield from _support_clauses(loop, loop, concluding, definitions)


def _support_clauses(
    atoms: frozenset[int],
    apart: frozenset[int],
    concluding: Mapping[int, Sequence[Rule]],
    definitions: Definitions,
) -> Iterator[frozenset[int]]:
    """Yield the clauses that none of these atoms holds without support, to which ``apart`` adds nothing."""
    # By identity: a rule with two of the atoms in its head supports them once.
    rules = {id(rule): rule for atom in atoms for rule in concluding.get(atom, ())}
    supports = [_support(rule, atoms, apart, definitions) for rule in rules.values()]
    outside = [literal for literal in supports if literal is not None]
    yield from (frozenset((-atom, *outside)) for atom in atoms)


def _sum_clauses(definitions: Definitions) -> Iterator[frozenset[int]]:
    """Yield the clauses of sums: what is reached is so with the first element, or without it by the others."""
    rests = {
        number: [*accumulate((weight for _, weight in reversed(elements)), initial=0)][::-1]
        for number, elements in definitions.elements.items()
    }

    def part(number: int, first: int, least: int) -> int | bool:
        if least <= 0:
            return True
        if least > rests[number][first]:
            return False
        try:
            return definitions.sums[number, first, least]
        except KeyError:
            raise RefusedError(f"no variable stands for a rest of at least {least} of list {number}") from None

    for (number, first, least), variable in definitions.sums.items():
        if not 0 < least <= rests[number][first]:
            raise RefusedError(f"variable {variable} stands for a sum that is always or never reached")
        literal, weight = definitions.elements[number][first]
        with_it = part(number, first + 1, least - weight)
        without_it = part(number, first + 1, least)
        if with_it is not True:
            yield frozenset((-variable, with_it))
        yield frozenset((variable, -literal) if with_it is True else (variable, -literal, -with_it))
        if without_it is False:
            yield frozenset((-variable, literal))
        else:
            yield frozenset((-variable, literal, without_it))
            yield frozenset((variable, -without_it))


def _body(rule: Rule, definitions: Definitions) -> int:
    if rule.bound is None:
        return definitions.conjunction(literal for literal, _ in rule.body)
    return definitions.at_least(rule.bound, rule.body)


def _support(rule: Rule, atoms: frozenset[int], apart: frozenset[int], definitions: Definitions) -> int | None:
    """Return the literal that a rule supports some of these atoms, none of ``apart`` counting in its body."""
    rest = tuple(element for element in rule.body if element[0] not in apart)
    if rule.bound is None and len(rest) < len(rule.body):
        return None
    if rule.bound is not None and rule.bound > sum(weight for _, weight in rest) and apart:
        return None
    body = _body(rule._replace(body=rest), definitions)
    others = () if rule.choice else tuple(-atom for atom in rule.head if atom not in atoms)
    return definitions.conjunction((body, *others)) if others else body
