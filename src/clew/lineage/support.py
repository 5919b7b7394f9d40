"""From one execution to its supports: Algorithm 2 of the paper, with a choice for negated premises.

For a goal that held, a gate says why: a rule that fired, all of whose premises keep holding.  For an atom
that did not hold (a negated premise), ``Negation`` says how its staying away is explained.

What the ``pre`` of a goal implies needs no support, so a gate that rests on it is a promise only while that
``pre`` holds, and belongs to that goal.  All other gates are built once for all goals of the run.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from clew.engine.atoms import GroundRule
from clew.faults import FaultSet
from clew.lineage.circuit import ALWAYS, Circuit, build
from clew.lineage.derivations import Derivations
from clew.lineage.graph import RuleGoalGraph
from clew.lineage.negation import Negation
from clew.lineage.unfolding import Unfolding
from clew.violation import Violation

if TYPE_CHECKING:
    from clew.lineage.reach import Reach  # which few programs need: a cold start should not pay for it


class _Absence(NamedTuple):
    """No row of this relation newly appears at this time (conservative)."""

    relation: str
    time: int


class _Unfounded(NamedTuple):
    """None of these atoms, which could only support each other, appears."""

    atoms: frozenset[int]


_Node = int | _Absence | _Unfounded
#: What a node needs first, and how its gate follows from theirs.
_Plan = tuple[list[_Node], Callable[[], int]]


class _Gates:
    """Gates as one goal sees them: its own for what rests on its ``pre``, and those that all goals share."""

    def __init__(self, shared: dict[_Node, int], own: dict[_Node, int], on_pre: Container[int] | None) -> None:
        """``on_pre``: the atoms that rest on the goal's ``pre``; None if unknown, and then no gate is shared."""
        self._shared = shared
        self._own = own
        self._on_pre = on_pre

    def __contains__(self, node: object) -> bool:
        return node in self._holding(node)

    def __getitem__(self, node: _Node) -> int:
        return self._holding(node)[node]

    def __setitem__(self, node: _Node, gate: int) -> None:
        self._holding(node)[node] = gate

    def _holding(self, node: object) -> dict[_Node, int]:
        if self._on_pre is None:
            return self._own
        # Atoms on a cycle lead to each other, so either all of them rest on ``pre`` or none does.
        atom = min(node.atoms) if isinstance(node, _Unfounded) else node
        return self._own if atom in self._on_pre else self._shared


class Supports:
    """The supports of one execution, as gates of a circuit."""

    def __init__(
        self,
        graph: RuleGoalGraph,
        circuit: Circuit,
        certain: Unfolding,
        true: frozenset[int],
        faults: FaultSet,
        negation: Negation,
        reach: Callable[[], Reach],
    ) -> None:
        self._graph = graph
        self._circuit = circuit
        self._certain = certain
        self._true = true
        self._derivations = Derivations(graph, true)
        self._holds = self._derivations.holds
        self._faults = faults
        self._negation = negation
        self._reach = reach
        self._shared: dict[_Node, int] = {}
        self._gates = _Gates(self._shared, {}, ())  # as the goal sees them that is being explained

    def goals(self) -> Mapping[Violation, int]:
        """For each violation that did not happen, a gate that keeps it from happening."""
        kept = {v: atom for v, atom in self._graph.goals.items() if atom not in self._true}
        if self._negation is Negation.IGNORE:
            kept = {v: atom for v, atom in kept.items() if self._blocked_by_post_only(atom)}
        return {violation: self._goal_gate(atom) for violation, atom in kept.items()}

    def _goal_gate(self, atom: int) -> int:
        """Why the violation cannot happen *while its* ``pre`` *holds*: what that implies needs no support."""
        self._gates = _Gates(self._shared, {}, ())
        if self._blocked_by_post_only(atom):
            given = self._graph.given_with(atom)
            own: dict[_Node, int] = {a: ALWAYS for a, holds in given.items() if (a in self._true) == holds}
            self._gates = _Gates(self._shared, own, self._resting_on_pre(atom))
        root: _Node = atom
        return build(root, self._gates, self._plan)

    def _resting_on_pre(self, goal: int) -> Container[int] | None:
        """Return the atoms that rest on what is given; None where ``Reach`` explains by the program text."""
        return self._graph.resting_on_given(goal) if self._negation is Negation.EXACT else None

    def _blocked_by_post_only(self, atom: int) -> bool:
        """Whether ``pre`` held, so that it was ``post`` that prevented the violation."""
        return all(
            self._holds(literal) for rule in self._graph.rules_for(atom) for literal in rule.body if literal > 0
        )

    def _plan(self, node: _Node) -> _Plan:
        if isinstance(node, _Absence):
            return self._plan_absence(node)
        if isinstance(node, _Unfounded):
            return self._plan_blocked(self._derivations.bringing_in(node.atoms))
        if node in self._graph.fault_determined:
            return [], lambda: self._certain.gate(node, holds=node in self._true)
        if node in self._true:
            return self._plan_fired(node)
        return self._plan_false(node)

    # -- atoms that hold ------------------------------------------------------------------------------

    def _plan_fired(self, atom: int) -> _Plan:
        """Any rule that fired, with all its premises."""
        fired = self._derivations.of(atom)
        needed: list[_Node] = [abs(b) for r in fired for b in r.body if self._holds(b)]
        return needed, lambda: self._circuit.any_of(self._firing(r) for r in fired)

    def _firing(self, rule: GroundRule) -> int:
        if rule.bound is None:
            return self._circuit.all_of(self._gates[abs(b)] for b in rule.body)
        held = [(self._gates[abs(b)], w) for b, w in zip(rule.body, rule.weights, strict=True) if self._holds(b)]
        return self._circuit.at_least(rule.bound, [g for g, _ in held], [w for _, w in held])

    # -- atoms that do not hold -------------------------------------------------------------------------

    def _plan_false(self, atom: int) -> _Plan:
        if self._negation is not Negation.EXACT and self._graph.is_row(atom):
            return self._plan_false_row(atom)
        if atom in self._graph.cycles:
            companions = _Unfounded(self._graph.cycles[atom] - self._true)
            return [companions], lambda: self._gates[companions]
        return self._plan_blocked(self._graph.rules_for(atom))

    def _plan_false_row(self, atom: int) -> _Plan:
        if self._negation is Negation.IGNORE:
            return [], lambda: ALWAYS
        place = self._graph.rows[atom]
        absence = _Absence(place.relation, place.time)
        return [absence], lambda: self._gates[absence]

    def _plan_blocked(self, rules: Iterable[GroundRule]) -> _Plan:
        """Every rule keeps a false premise."""
        rules = list(rules)
        needed: list[_Node] = [abs(b) for r in rules for b in r.body if not self._holds(b)]
        return needed, lambda: self._circuit.all_of(map(self._blocking, rules))

    def _blocking(self, rule: GroundRule) -> int:
        false = [
            (self._gates[abs(b)], w)
            for b, w in zip(rule.body, rule.weights or (1,) * len(rule.body), strict=True)
            if not self._holds(b)
        ]
        if rule.bound is None:
            return self._circuit.any_of(g for g, _ in false)
        return self._circuit.at_least(rule.blocking_weight, [g for g, _ in false], [w for _, w in false])

    def _plan_absence(self, absence: _Absence) -> _Plan:
        reasons = self._reach().reasons(absence.relation, absence.time)
        causes: list[_Node] = [atom for atom in reasons.causes if atom in self._true]

        def gate() -> int:
            kept = [self._circuit.present(f) for f in self._faults if f in reasons.helpful]
            not_added = [self._circuit.absent(f) for f in reasons.harmful if f not in self._faults]
            return self._circuit.all_of([*(self._gates[c] for c in causes), *kept, *not_added])

        return causes, gate
