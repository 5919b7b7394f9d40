"""The completion of a ground program as clauses, and loop formulas on demand (docs/proofs.md has the definitions).

The models of the clauses, restricted to the atoms of the program, are its supported models; with the loop
formulas of all unfounded sets, its stable models (Lin and Zhao 2004; for disjunctions, Lee and Lifschitz 2003).
Loop formulas hold in every stable model, so a refutation that needs only some of them is a refutation.

Variables up to the number of atoms are the atoms.  The others stand for bodies, and each has a *definition*:
it is the conjunction of literals, or says that a sum of weights reaches a bound.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from itertools import accumulate, pairwise
from typing import NamedTuple

from clew.proof.question import Conjunction, Question, QuestionRule, WeightBody

#: Where the question is larger, no proof is made: checking it would take hours and gigabytes.
MOST_LITERALS = 10_000_000

Elements = tuple[tuple[int, int], ...]


class TooLargeError(Exception):
    """The clauses would be more than a checker can be expected to read."""


class _Sum(NamedTuple):
    """That the true elements of a list, from one on, add up to at least so much."""

    elements: int
    first: int
    least: int


class Completion:
    """The clauses of a question; ``add_loop`` adds more."""

    def __init__(
        self, question: Question, most_literals: int = MOST_LITERALS, tick: Callable[[], None] = lambda: None
    ) -> None:
        """Make the clauses; ``tick`` is called now and then, and may raise to end the work."""
        self._tick = tick
        self.atoms = question.atoms
        self.variables = question.atoms
        #: The clauses, sorted each, in the order in which they came; a dictionary, because a checker refuses
        #: doubles.
        self.clauses: dict[tuple[int, ...], None] = {}
        #: One line for each definition of a variable, and one for each set that has a loop formula.
        self.definitions: list[str] = []
        self._literals_left = most_literals
        self._conjunctions: dict[tuple[int, ...], int] = {}
        self._lists: dict[Elements, int] = {}
        self._sums: dict[_Sum, int] = {}
        self._rules_for: dict[int, list[QuestionRule]] = {atom: [] for atom in range(1, question.atoms + 1)}
        for rule in question.rules:
            for atom in dict.fromkeys(rule.head):
                self._rules_for[atom].append(rule)
        # The two halves of the completion: a body that holds forces its head, and an atom that holds has a body.
        for rule in question.rules:
            if not rule.choice:
                self._require(-self._holds(rule.body), *rule.head)
        for atom, rules in self._rules_for.items():
            self._require(-atom, *(self._support(rule, {atom}) for rule in rules))

    def add_loop(self, atoms: Collection[int]) -> int:
        """Require support from outside for the atoms of a set; return how many clauses are new."""
        members = set(atoms)
        ordered = sorted(members)
        before = len(self.clauses)
        outside: dict[int, None] = {}
        for atom in ordered:
            for rule in self._rules_for[atom]:
                body = _without(rule.body, members)
                if body is not None:
                    outside[self._support(rule._replace(body=body), members)] = None
        self.definitions.append(f"loop {' '.join(map(str, ordered))} 0")
        for atom in ordered:
            self._require(-atom, *outside)
        return len(self.clauses) - before

    def _require(self, *literals: int) -> None:
        """Add a clause, unless it is always true."""
        clause = tuple(sorted(set(literals), key=_order))
        if any(one == -other for one, other in pairwise(clause)):
            return
        self.clauses[clause] = None
        if len(self.clauses) % 10_000 == 0:
            self._tick()
        self._literals_left -= len(clause) + 1  # with the 0 that ends a clause in DIMACS
        if self._literals_left < 0:
            raise TooLargeError

    def _support(self, rule: QuestionRule, members: Collection[int]) -> int:
        """Return a literal that is true when a rule supports these atoms of its head."""
        body = self._holds(rule.body)
        others = [] if rule.choice else [-atom for atom in rule.head if atom not in members]
        return self._all([body, *others]) if others else body

    def _holds(self, body: Conjunction | WeightBody) -> int:
        match body:
            case Conjunction(literals):
                return self._all(literals)
            case WeightBody(bound, elements):
                return self._reaches(bound, elements)

    def _all(self, literals: Iterable[int]) -> int:
        """Return a literal that is true exactly when all of these are."""
        key = tuple(sorted(set(literals), key=_order))
        if len(key) == 1:  # most bodies: a variable of its own would double the clauses
            return key[0]
        if key not in self._conjunctions:
            variable = self._conjunctions[key] = self._new_variable()
            self.definitions.append(" ".join(map(str, ("and", variable, *key, 0))))
            for literal in key:
                self._require(-variable, literal)
            self._require(variable, *(-literal for literal in key))
        return self._conjunctions[key]

    def _reaches(self, bound: int, elements: Elements) -> int:
        """Return a literal that is true exactly when the weights of the true literals add up to the bound."""
        if bound <= 0:
            return self._all([])
        if bound > sum(weight for _, weight in elements):
            return -self._all([])
        if elements not in self._lists:
            self._lists[elements] = number = len(self._lists) + 1
            shown = " ".join(f"{literal} {weight}" for literal, weight in elements)
            self.definitions.append(f"elements {number} {shown} 0")
        # Sums are unrolled from the front, sharing what is left of them, as in a binary decision diagram.
        rests = [*accumulate((weight for _, weight in reversed(elements)), initial=0)][::-1]
        waiting: list[_Sum] = []
        variable = self._sum_variable(_Sum(self._lists[elements], 0, bound), waiting)
        for part in waiting:  # grows while it is read
            self._define_sum(part, elements[part.first], rests[part.first + 1], waiting)
        return variable

    def _define_sum(self, part: _Sum, element: tuple[int, int], rest: int, waiting: list[_Sum]) -> None:
        """Add the clauses of a sum: its first element counts, or the others, up to ``rest``, do without it."""
        literal, weight = element
        variable = self._sums[part]
        self.definitions.append(f"sum {variable} {part.elements} {part.first} {part.least}")
        following = part._replace(first=part.first + 1)
        if part.least > weight:
            with_it = self._sum_variable(following._replace(least=part.least - weight), waiting)
            self._require(-variable, with_it)  # also without it: what reaches more reaches less
            self._require(variable, -literal, -with_it)
        else:
            self._require(variable, -literal)
        if part.least <= rest:
            without_it = self._sum_variable(following, waiting)
            self._require(-variable, literal, without_it)
            self._require(variable, -without_it)
        else:
            self._require(-variable, literal)

    def _sum_variable(self, part: _Sum, waiting: list[_Sum]) -> int:
        """Return the variable of a sum; of a new one, the clauses are still to come."""
        if part not in self._sums:
            self._sums[part] = self._new_variable()
            waiting.append(part)
        return self._sums[part]

    def _new_variable(self) -> int:
        self.variables += 1
        return self.variables


def _without(body: Conjunction | WeightBody, members: Collection[int]) -> Conjunction | WeightBody | None:
    """Return what a body needs if these atoms do not count; None if it cannot hold then."""
    match body:
        case Conjunction(literals):
            return None if any(literal in members for literal in literals) else body
        case WeightBody(bound, elements):
            rest = tuple(element for element in elements if element[0] not in members)
            return None if bound > sum(weight for _, weight in rest) else WeightBody(bound, rest)


def _order(literal: int) -> tuple[int, int]:
    return abs(literal), literal
