"""Atoms as functions of the faults, without looking at any execution.

For what faults alone decide (did a link work, is a node down, is a crash seen) these gates are exact, and
supports use them whichever way things turned out in a run: a message that stayed away because its sender
crashed at 1 stays away when it crashes at 2 instead.  For ``pre`` they tell when a violation is possible at
all, so that fault sets which would only make it vacuous are not tried.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from clew.engine.atoms import GroundRule
from clew.engine.execution import Violation
from clew.lineage.circuit import ALWAYS, Circuit
from clew.lineage.graph import RuleGoalGraph
from clew.lineage.walk import build


@dataclass(frozen=True)
class _Claim:
    """The atom holds, or does not."""

    atom: int
    holds: bool


class Possibilities:
    """Gates that hold whenever an atom can hold (or fail) under the faults.

    Exact, except that atoms on a cycle within one time step are taken as possible either way; what faults
    alone decide is never on such a cycle.
    """

    def __init__(self, graph: RuleGoalGraph, circuit: Circuit) -> None:
        self._graph = graph
        self._circuit = circuit
        self._gates: dict[_Claim, int] = {}

    def is_fault_determined(self, atom: int) -> bool:
        return atom in self._graph.fault_determined

    def gate(self, atom: int, *, holds: bool) -> int:
        return build(_Claim(atom, holds), self._gates, self._plan)

    def hazards(self) -> dict[Violation, int]:
        """For each violation a gate that holds whenever its ``pre`` does; ``post`` is left to the runs."""
        return {
            violation: self._circuit.any_of(
                self._circuit.all_of(self.gate(b, holds=True) for b in rule.body if b > 0)
                for rule in self._graph.rules_for(atom)
            )
            for violation, atom in self._graph.goals.items()
        }

    def _plan(self, claim: _Claim) -> tuple[list[_Claim], Callable[[], int]]:
        if claim.atom in self._graph.faults:
            fault = self._graph.faults[claim.atom]
            leaf = self._circuit.present if claim.holds else self._circuit.absent
            return [], lambda: leaf(fault)
        if claim.atom in self._graph.cycles:
            return [], lambda: ALWAYS
        rules = self._graph.rules_for(claim.atom)
        needed = [_Claim(abs(b), (b > 0) == claim.holds) for rule in rules for b in rule.body]
        if claim.holds:
            return needed, lambda: self._circuit.any_of(self._fires(r) for r in rules)
        return needed, lambda: self._circuit.all_of(self._is_blocked(r) for r in rules)

    def _fires(self, rule: GroundRule) -> int:
        inputs = [self._gates[_Claim(abs(b), b > 0)] for b in rule.body]
        if rule.bound is None:
            return self._circuit.all_of(inputs)
        return self._circuit.at_least(rule.bound, inputs, rule.weights)

    def _is_blocked(self, rule: GroundRule) -> int:
        inputs = [self._gates[_Claim(abs(b), b < 0)] for b in rule.body]
        if rule.bound is None:
            return self._circuit.any_of(inputs)
        return self._circuit.at_least(sum(rule.weights) - rule.bound + 1, inputs, rule.weights)
