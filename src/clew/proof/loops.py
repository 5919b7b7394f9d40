"""Unfounded sets of a supported model: atoms that hold only because of each other."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from itertools import count

from clew.proof.question import Conjunction, Question, QuestionRule, WeightBody


class Foundations:
    """Tells which true atoms of a model have a derivation that does not go in a circle."""

    def __init__(self, question: Question) -> None:
        self._rules = [rule for rule in question.rules if rule.head]
        self._reading: dict[int, list[int]] = {}
        for number, rule in enumerate(self._rules):
            for literal in {literal for literal, _ in _weighted(rule) if literal > 0}:
                self._reading.setdefault(literal, []).append(number)

    def find_loops(self, true: Collection[int]) -> list[tuple[int, ...]]:
        """Return strongly connected sets of true atoms without support from outside; none if all is founded."""
        lacking = self._unfounded(true)
        edges = {atom: set[int]() for atom in lacking}
        for rule in self._rules:
            heads = [atom for atom in rule.head if atom in lacking]
            if heads and _weight_of(rule, lambda literal: _holds(literal, true)) >= _bound(rule):
                premises = [literal for literal, _ in _weighted(rule) if literal in lacking]
                for head in heads:
                    edges[head].update(premises)
        components = strong_components(edges)
        home = {atom: number for number, component in enumerate(components) for atom in component}
        return [
            component
            for number, component in enumerate(components)
            if all(home[premise] == number for atom in component for premise in edges[atom])
        ]

    def _unfounded(self, true: Collection[int]) -> set[int]:
        """Return the true atoms that are derived in no number of steps, if false atoms stay false."""
        # What a body lacks to hold: the weight of positive literals still to be derived.
        lacks = [
            _bound(rule) - _weight_of(rule, lambda literal: literal < 0 and _holds(literal, true))
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
                lacks[number] -= sum(weight for literal, weight in _weighted(rule) if literal == atom)
                if before > 0 >= lacks[number]:
                    conclude(rule)
        return set(true) - founded


def _weighted(rule: QuestionRule) -> Iterable[tuple[int, int]]:
    match rule.body:
        case Conjunction(literals):
            return ((literal, 1) for literal in dict.fromkeys(literals))
        case WeightBody(_, elements):
            return elements


def _bound(rule: QuestionRule) -> int:
    match rule.body:
        case Conjunction(literals):
            return len(set(literals))
        case WeightBody(bound, _):
            return bound


def _weight_of(rule: QuestionRule, counts: Callable[[int], bool]) -> int:
    return sum(weight for literal, weight in _weighted(rule) if counts(literal))


def _holds(literal: int, true: Collection[int]) -> bool:
    return (abs(literal) in true) == (literal > 0)


def strong_components(edges: Mapping[int, Collection[int]]) -> list[tuple[int, ...]]:
    """Return the strongly connected components of a graph (Tarjan's algorithm, without recursion)."""
    numbers = count(1)
    entered: dict[int, int] = {}
    lowest: dict[int, int] = {}
    open_nodes: list[int] = []
    is_open: set[int] = set()
    found: list[tuple[int, ...]] = []
    for root in edges:
        if root in entered:
            continue
        path = [(root, iter(sorted(edges[root])))]
        entered[root] = lowest[root] = next(numbers)
        open_nodes.append(root)
        is_open.add(root)
        while path:
            node, following = path[-1]
            for other in following:
                if other not in entered:
                    entered[other] = lowest[other] = next(numbers)
                    open_nodes.append(other)
                    is_open.add(other)
                    path.append((other, iter(sorted(edges[other]))))
                    break
                if other in is_open:
                    lowest[node] = min(lowest[node], entered[other])
            else:
                path.pop()
                if path:
                    lowest[path[-1][0]] = min(lowest[path[-1][0]], lowest[node])
                if lowest[node] == entered[node]:
                    cut = open_nodes.index(node)
                    component = open_nodes[cut:]
                    del open_nodes[cut:]
                    is_open.difference_update(component)
                    found.append(tuple(sorted(component)))
    return found
