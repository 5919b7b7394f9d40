"""From one execution to its supports: Algorithm 2 of the paper (appendix B), turned around.

The paper walks from a goal back to the messages and collects, as a formula, the faults that *break* the
derivation.  Here the same walk collects what *keeps* the goal, as a gate of a ``Circuit``: while the gate holds
under some faults, the goal's violation cannot happen under them.  The search forbids these gates
(``clew.search.lineage``).

The walk, case by case:

=================================  =======================================  =================================
an atom ...                        its gate is                              method
=================================  =======================================  =================================
that faults alone determine        what ``Unfolding`` says, exactly         ``_plan``
that held                          any rule that fired, all its premises    ``_plan_fired``
that did not hold                  every rule keeps a false premise         ``_plan_blocked``
that did not hold, on a cycle      the same of all that could bring it in   ``_plan_false``, ``_Unfounded``
row that did not hold, if          no cause of its absence goes away, by    ``_plan_absence``
``CONSERVATIVE``                   the program text (``Reach``)
row that did not hold, if          always: nothing is asked                 ``_plan_false_row``
``IGNORE``
=================================  =======================================  =================================

Where nodes can be kept from running, rules are also *settled* by what faults alone determine: that its node runs
is a premise of every rule, and known for every fault set, not only for this run's.  A rule that would have fired
but for such premises is a further way to its conclusion, and such a premise a further way to be blocked.  Without
that, every way to put restarts between the steps of a protocol takes a run of its own: 2pc-recovery-durable, with
two restarts, took thousands of runs, and takes 271.  Where nodes cannot, the walk is the paper's.

A violation is itself an atom, ``bad :- pre, not post``, and the walk begins at a violation that did *not* hold.
Premises that held are followed as such in every run, so a support names faults that happened as well as messages
that got through; that is why one run's gates hold for any fault set, and the loop can accumulate them.

What the ``pre`` of a goal implies needs no support, so a gate that rests on it is a promise only while that
``pre`` holds, and belongs to that goal.  All other gates are built once for all goals of the run: goals of one
protocol differ in their last steps and share the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from clew.engine.atoms import GroundRule
from clew.faults import FaultSet
from clew.lineage.circuit import ALWAYS, Circuit, build_gate
from clew.lineage.derivations import Derivations
from clew.lineage.graph import RuleGoalGraph
from clew.lineage.negation import Negation
from clew.lineage.unfolding import Unfolding
from clew.violation import Violation

if TYPE_CHECKING:
    from clew.lineage.reach import Reach  # which few programs need: a cold start should not pay for it


class _Absence(NamedTuple):
    """Says that no row of this relation newly appears at this time (conservative)."""

    relation: str
    time: int


class _Unfounded(NamedTuple):
    """Says that none of these atoms, which could only support each other, appears.

    They are explained together.  One by one, each would stay away because the others do, which explains nothing.
    """

    atoms: frozenset[int]


_Node = int | _Absence | _Unfounded
#: What a node needs first, and how its gate follows from theirs; see ``build_gate``.
_Plan = tuple[list[_Node], Callable[[], int]]


class _Gates:
    """Gates as one goal sees them: its own for what rests on its ``pre``, and those that all goals share."""

    def __init__(self, shared: dict[_Node, int], own: dict[_Node, int], on_pre: Container[int] | None) -> None:
        """Share all gates but those of ``on_pre``, the atoms that rest on ``pre``; none if these are unknown."""
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
    """The supports of one execution, as gates of a circuit.

    ``true`` are the atoms that hold in it and ``faults`` its faults.  ``certain`` unfolds what faults alone
    determine; it and the circuit outlive the execution.  ``reach`` is called only for conservative negation.
    ``settled``: the atoms that faults alone determine, if rules are to be settled by them.
    """

    def __init__(
        self,
        graph: RuleGoalGraph,
        circuit: Circuit,
        certain: Unfolding,
        true: frozenset[int],
        faults: FaultSet,
        negation: Negation,
        reach: Callable[[], Reach],
        settled: Container[int] = (),
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
        self._settled = settled
        self._shared: dict[_Node, int] = {}  # of this run only: under other faults, other rules fire
        self._gates = _Gates(self._shared, {}, ())  # as the goal sees them that is being explained

    def goal_gates(self) -> Mapping[Violation, int]:
        """Return for each violation that did not happen a gate that keeps it from happening."""
        kept = {v: atom for v, atom in self._graph.goals.items() if atom not in self._true}
        if self._negation is Negation.IGNORE:
            # The absence of ``pre`` would be taken for granted, too, and then no faults could ever violate it.
            kept = {v: atom for v, atom in kept.items() if self._is_blocked_by_post_only(atom)}
        return {violation: self._goal_gate(atom) for violation, atom in kept.items()}

    def _goal_gate(self, atom: int) -> int:
        """Build the gate of a goal: why it is not violated *while its* ``pre`` *holds*.

        What ``pre`` implies needs no support; the paper's optimization for vacuous outcomes (section 4.3), applied
        before solving.  Seeded with ``ALWAYS``, these atoms end the walk wherever it meets them.
        """
        self._gates = _Gates(self._shared, {}, ())
        if self._is_blocked_by_post_only(atom):
            implied = self._graph.implied_by_pre(atom)
            own: dict[_Node, int] = {a: ALWAYS for a, holds in implied.items() if (a in self._true) == holds}
            self._gates = _Gates(self._shared, own, self._resting_on_pre(atom))
        root: _Node = atom
        return build_gate(root, self._gates, self._plan)

    def _resting_on_pre(self, goal: int) -> Container[int] | None:
        """Return the atoms that rest on ``pre``; None where ``Reach`` explains by the program text.

        The lineage that ``Reach`` follows is not in the graph, so nobody knows what it rests on.
        """
        return self._graph.depending_on_pre(goal) if self._negation is Negation.EXACT else None

    def _is_blocked_by_post_only(self, atom: int) -> bool:
        """Tell whether ``pre`` held, so that it was ``post`` that prevented the violation."""
        return all(
            self._holds(literal) for rule in self._graph.rules_for(atom) for literal in rule.body if literal > 0
        )

    def _plan(self, node: _Node) -> _Plan:
        if isinstance(node, _Absence):
            return self._plan_absence(node)
        if isinstance(node, _Unfounded):
            return self._plan_blocked(self._derivations.bringing_in(node.atoms))
        # Whether a link worked is known for every fault set, not just for this run's, so the gate can be exact.
        if node in self._graph.fault_determined:
            return [], lambda: self._certain.gate(node, holds=node in self._true)
        if node in self._true:
            return self._plan_fired(node)
        return self._plan_false(node)

    # -- atoms that hold ------------------------------------------------------------------------------

    def _plan_fired(self, atom: int) -> _Plan:
        """Plan that any rule that fired keeps all its premises, or one that was only kept from firing has them.

        No others: a rule that would fire under other faults for another reason is learned from the run with those.
        """
        fired = [*self._derivations.of(atom), *self._kept_from_firing(atom)]
        needed: list[_Node] = [abs(b) for r in fired for b in r.body if self._holds(b)]
        return needed, lambda: self._circuit.any_of(self._firing(r) for r in fired)

    def _kept_from_firing(self, atom: int) -> Iterator[GroundRule]:
        """Yield the rules that did not fire, and whose false premises are all settled by faults."""
        if not self._settled or atom in self._graph.cycles:  # on a cycle, a premise may rest on the conclusion
            return
        for rule in self._graph.rules_for(atom):
            false = [b for b in rule.body if not self._holds(b)]
            if rule.bound is None and false and all(abs(b) in self._settled for b in false):
                yield rule

    def _firing(self, rule: GroundRule) -> int:
        if rule.bound is None:
            return self._circuit.all_of(map(self._premise, rule.body))
        # Of a count or sum, any of the premises that held will do, as long as they are enough.
        held = [(self._gates[abs(b)], w) for b, w in zip(rule.body, rule.weights, strict=True) if self._holds(b)]
        return self._circuit.at_least(rule.bound, [g for g, _ in held], [w for _, w in held])

    def _premise(self, literal: int) -> int:
        """Return the gate of a premise of a rule that fired, or is settled."""
        if self._holds(literal):
            return self._gates[abs(literal)]
        return self._certain.gate(abs(literal), holds=literal > 0)

    # -- atoms that do not hold -------------------------------------------------------------------------

    def _plan_false(self, atom: int) -> _Plan:
        if self._negation is not Negation.EXACT and self._graph.is_row(atom):
            return self._plan_false_row(atom)
        if atom in self._graph.cycles:
            # Those that hold are no companions: they have been derived, whatever became of this one.
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
        """Plan that every rule keeps a false premise: the exact why-not lineage.

        ``rules`` are all that could derive the atom in any execution, so nothing else can bring it in.
        """
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
            settled = [b for b in rule.body if self._settled and abs(b) in self._settled and self._holds(b)]
            others = (self._certain.gate(abs(b), holds=b < 0) for b in settled)
            return self._circuit.any_of([*(g for g, _ in false), *others])
        return self._circuit.at_least(rule.blocking_weight, [g for g, _ in false], [w for _, w in false])

    def _plan_absence(self, absence: _Absence) -> _Plan:
        """Plan that nothing happens which could, by the program text, bring in a row.

        Other than exact gates, this one depends on the faults of the run: those that may have kept a row away have
        to stay, and without that the loop would be incomplete.
        """
        reasons = self._reach().reasons(absence.relation, absence.time)
        causes: list[_Node] = [atom for atom in reasons.causes if atom in self._true]

        def gate() -> int:
            kept = [self._circuit.present(f) for f in self._faults if f in reasons.helpful]
            # A new delay can bring a message at a time at which none came; a loss can only take one away.
            not_added = [self._circuit.absent(f) for f in reasons.harmful if f not in self._faults]
            return self._circuit.all_of([*(self._gates[c] for c in causes), *kept, *not_added])

        return causes, gate
