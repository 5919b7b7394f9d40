"""Atoms as functions of the faults, by unfolding the ground rules without looking at any execution.

This is where "why not" is answered: a row stays away exactly under the faults for which every rule that would
derive it keeps a false premise.  Two more uses: what faults alone decide (did a link work, is a node down) is
taken from here whichever way it turned out in a run, and ``pre`` is unfolded to tell when a violation is
possible at all, so that fault sets which would only make it vacuous are not tried.

Unfolding is exact except for atoms on a cycle within one time step, where ``on_cycle`` says on which side to
err: ``ALWAYS`` gives gates that hold whenever the claim can be true, ``NEVER`` gates that hold only if it is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from clew.engine.atoms import GroundRule
from clew.lineage.circuit import Circuit, build
from clew.lineage.graph import RuleGoalGraph
from clew.violation import Violation


class _Claim(NamedTuple):
    """The atom holds, or does not."""

    atom: int
    holds: bool


class Unfolding:
    def __init__(self, graph: RuleGoalGraph, circuit: Circuit, *, on_cycle: int) -> None:
        self._graph = graph
        self._circuit = circuit
        self._on_cycle = on_cycle
        self._gates: dict[_Claim, int] = {}

    def gate(self, atom: int, *, holds: bool) -> int:
        return build(_Claim(atom, holds), self._gates, self._plan)

    def hazards(self) -> dict[Violation, int]:
        """For each violation a gate for its ``pre``; ``post`` is left to the runs."""
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
            return [], lambda: self._on_cycle
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
        return self._circuit.at_least(rule.blocking_weight, inputs, rule.weights)
