"""The failure-free run with its lineage: what every explanation starts from.

Lineage is followed beyond the budget: losses after EFF are considered, too.  They cannot happen within the bounds,
but only so is every message on which an outcome rests visible as one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property

from clew.budgets.deadline import Deadline
from clew.checker.traced import TracedModel
from clew.engine.execution import Execution, Message
from clew.engine.runs import Runs
from clew.faults import FailureSpec, FaultSet, SentMessage
from clew.lineage.derivations import Derivations
from clew.lineage.minimal import Support, minimal_supports
from clew.lineage.negation import Negation
from clew.program.ir import Program
from clew.violation import Violation


class FailureFree:
    """One execution without faults, and why each violation did not happen in it."""

    def __init__(self, program: Program, spec: FailureSpec, deadline: Deadline) -> None:
        self.program = program
        self.spec = spec
        self.deadline = deadline
        # Traceable, because an explanation shows every premise, also those that are certain.
        beyond = replace(spec, eff=spec.eot)
        self.model = TracedModel(program, beyond, Negation.EXACT, traceable=True, deadline=deadline)
        self.graph = self.model.graph
        true = self.model.ground.truth(FaultSet(), self.graph.atoms)
        self.derivations = Derivations(self.graph, true)
        self._minimal: dict[tuple[Violation, int], Sequence[Support]] = {}

    @cached_property
    def supports(self) -> dict[Violation, int]:
        """Return for each violation that did not happen the gate that kept it from happening."""
        return dict(self.model.trace_atoms(FaultSet(), self.derivations.true).supports)

    def prevents(self, violation: Violation) -> bool:
        """Tell whether the violation could happen, and did not."""
        return violation in self.graph.goals and self.graph.goals[violation] not in self.derivations.true

    def support(self, violation: Violation) -> int:
        """Return the gate that kept one violation from happening."""
        return self.model.support(violation, FaultSet(), self.derivations.true)

    def minimal_supports(self, violation: Violation, limit: int) -> Sequence[Support]:
        """Return the minimal supports, which are the same whatever the faults; of more than ``limit`` some."""
        # By the limit, too: of too many supports, another limit gives others.
        key = violation, limit
        if key not in self._minimal:
            gate = self.support(violation)
            self._minimal[key] = minimal_supports(self.model.circuit, gate, limit, self.deadline)
        return self._minimal[key]

    @cached_property
    def execution(self) -> Execution:
        return self.run(FaultSet())

    @cached_property
    def _messages(self) -> tuple[Message, ...]:
        return self.model.ground.messages(FaultSet())

    def runs(self, faults: FaultSet) -> Runs:
        """Return the runs under some of these faults, to be compared."""
        return Runs(self.model.ground, faults, self.deadline)

    def run(self, faults: FaultSet) -> Execution:
        """Execute with these faults, which may be any within the bounds."""
        self.deadline.check()
        # The model's spec is the one beyond the budget, which no reader has asked for.
        return replace(self.model.ground.run(faults), spec=self.spec)

    def pre_held(self, violation: Violation) -> bool:
        """Tell whether the violation was prevented by ``post``; otherwise it was for want of ``pre``."""
        rules = self.graph.rules_for(self.graph.goals[violation])
        return all(self.derivations.holds(b) for rule in rules for b in rule.body if b > 0)

    def implied_by_pre(self, violation: Violation) -> frozenset[int]:
        """Return the atoms that need no support: as long as ``pre`` holds, they are as they were in this run."""
        if not self.pre_held(violation):
            return frozenset()
        implied = self.graph.implied_by_pre(self.graph.goals[violation])
        return frozenset(a for a, holds in implied.items() if (a in self.derivations.true) == holds)

    def messages_behind(self, violation: Violation) -> dict[SentMessage, tuple[Message, ...]]:
        """Return the messages in the lineage of what kept the violation away, by the link and time they used."""
        sent = {m.literal: m for m in self.model.ground.sent_atoms}
        behind = {
            (a.relation, a.row, a.source, a.time)
            for a in (sent[atom] for atom in self._atoms_behind(violation) if atom in sent)
        }
        found: dict[SentMessage, tuple[Message, ...]] = {}
        for m in self._messages:
            if (m.relation, m.row, m.source, m.sent) in behind:
                link = (m.source, m.target, m.sent)
                found[link] = (*found.get(link, ()), m)
        return found

    def _atoms_behind(self, violation: Violation) -> Iterator[int]:
        given = self.implied_by_pre(violation)
        seen: set[int] = set()
        work = [self.graph.goals[violation]]
        while work:
            atom = work.pop()
            if atom in seen or atom in given:
                continue
            seen.add(atom)
            yield atom
            if atom in self.derivations.true:
                work.extend(abs(b) for rule in self.derivations.of(atom) for b in rule.body)
            else:
                blocked = self.derivations.against(atom)
                work.extend(abs(b) for rule in blocked for b in rule.body if not self.derivations.holds(b))
