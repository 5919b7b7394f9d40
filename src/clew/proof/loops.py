"""Unfounded sets of a supported model: atoms that hold only because of each other.

The completion of a program admits them (``p :- q.  q :- p.`` has a model in which both hold), an execution does
not.  Where the SAT solver shows such a model, its sets get loop formulas, and the solver is asked again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from clew.program.graph import components
from clew.proof.question import Conjunction, Question, QuestionRule, WeightBody


class Foundations:
    """Tells which true atoms of a model have a derivation that does not go in a circle."""

    def __init__(self, question: Question) -> None:
        self._rules = [rule for rule in question.rules if rule.head]
        self._reading: dict[int, list[int]] = {}
        for number, rule in enumerate(self._rules):
            for literal in {literal for literal, _ in _elements(rule) if literal > 0}:
                self._reading.setdefault(literal, []).append(number)

    def find_loops(self, true: Collection[int]) -> list[tuple[int, ...]]:
        """Return strongly connected sets of true atoms without support from outside; none if all is founded."""
        lacking = self._find_unfounded(true)
        edges = {atom: set[int]() for atom in lacking}
        for rule in self._rules:
            heads = [atom for atom in rule.head if atom in lacking]
            if heads and _weight_of(rule, lambda literal: _holds(literal, true)) >= _least_weight(rule):
                premises = [literal for literal, _ in _elements(rule) if literal in lacking]
                for head in heads:
                    edges[head].update(premises)
        # In a fixed order and sorted: which loop formulas are added first decides what the proof looks like.
        loops = [tuple(sorted(c)) for c in components(edges, lambda atom: sorted(edges[atom]))]
        home = {atom: number for number, loop in enumerate(loops) for atom in loop}
        # Only those that lean on no other: the formula of a loop is falsified by the model if nothing outside
        # holds.
        return [
            loop
            for number, loop in enumerate(loops)
            if all(home[premise] == number for atom in loop for premise in edges[atom])
        ]

    def _find_unfounded(self, true: Collection[int]) -> set[int]:
        """Return the true atoms that are derived in no number of steps, if false atoms stay false."""
        # Counted down as in Dowling and Gallier's algorithm, so that each literal is looked at once.
        # What a body lacks to hold: the weight of positive literals still to be derived.
        lacks = [
            _least_weight(rule) - _weight_of(rule, lambda literal: literal < 0 and _holds(literal, true))
            for rule in self._rules
        ]
        founded: set[int] = set()
        waiting: list[int] = []

        def conclude(rule: QuestionRule) -> None:
            heads = [atom for atom in rule.head if atom in true]
            if rule.choice or len(heads) == 1:  # of a disjunction, another true atom could do without this one
                waiting.extend(heads)

        for rule, lack in zip(self._rules, lacks, strict=True):
            if lack <= 0:
                conclude(rule)
        while waiting:
            atom = waiting.pop()
            if atom in founded:
                continue
            founded.add(atom)
            for number in self._reading.get(atom, ()):
                rule = self._rules[number]
                before = lacks[number]
                lacks[number] -= sum(weight for literal, weight in _elements(rule) if literal == atom)
                if before > 0 >= lacks[number]:
                    conclude(rule)
        return set(true) - founded


def _elements(rule: QuestionRule) -> Iterable[tuple[int, int]]:
    match rule.body:
        case Conjunction(literals):
            return ((literal, 1) for literal in dict.fromkeys(literals))
        case WeightBody(_, elements):
            return elements


def _least_weight(rule: QuestionRule) -> int:
    match rule.body:
        case Conjunction(literals):
            return len(set(literals))
        case WeightBody(bound, _):
            return bound


def _weight_of(rule: QuestionRule, counts: Callable[[int], bool]) -> int:
    return sum(weight for literal, weight in _elements(rule) if counts(literal))


def _holds(literal: int, true: Collection[int]) -> bool:
    return (abs(literal) in true) == (literal > 0)
