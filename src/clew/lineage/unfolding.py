"""Atoms as functions of the faults, by unfolding the ground rules without looking at any execution.

An atom holds under exactly those faults for which some rule has all its premises, and fails to hold under those
for which every rule that would derive it keeps a false premise.  Two uses: what faults alone decide (did a link
work, is a node down) is taken from here whichever way it turned out in a run, and ``pre`` is unfolded to tell
when a violation is possible at all, so that fault sets which would only make it vacuous (section 4.3 of the
paper) are not tried.

Whole programs could be unfolded like this, without a single run.  That is what the exact search does, in clingo;
the lineage loop is there for systems that have no ground program, so it looks only at what its runs have shown.

Unfolding is exact except for atoms on a cycle within one time step, where ``on_cycle`` says on which side to
err: ``ALWAYS`` gives gates that hold whenever the claim can be true, ``NEVER`` gates that hold only if it is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from clew.engine.atoms import GroundRule
from clew.lineage.circuit import Circuit, build_gate
from clew.lineage.graph import RuleGoalGraph
from clew.violation import Violation


class _Claim(NamedTuple):
    """Says that the atom holds, or that it does not."""

    atom: int
    holds: bool


class Unfolding:
    """Gates of claims about atoms, built when they are asked for."""

    def __init__(self, graph: RuleGoalGraph, circuit: Circuit, *, on_cycle: int) -> None:
        self._graph = graph
        self._circuit = circuit
        self._on_cycle = on_cycle
        self._gates: dict[_Claim, int] = {}

    def gate(self, atom: int, *, holds: bool) -> int:
        """Return the gate that holds under the faults for which the atom holds, or for which it does not."""
        return build_gate(_Claim(atom, holds), self._gates, self._plan)

    def hazards(self) -> dict[Violation, int]:
        """Return for each violation a gate for its ``pre``; ``post`` is left to the runs."""
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
            # Exact gates would need an order among the atoms of the cycle, one for each set of faults.
            return [], lambda: self._on_cycle
        rules = self._graph.rules_for(claim.atom)
        # To refute an atom is to refute every premise that could help it, so the signs turn around.
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
        # A sum below its bound: what is missing weighs at least what would have to be left out.
        return self._circuit.at_least(rule.blocking_weight, inputs, rule.weights)
