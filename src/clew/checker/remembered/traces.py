"""Executions with their lineage, for the lineage loop: the circuit as it was, and each run's gates in it.

What the loop does between two executions (choosing faults) is done again, by the same questions to the solver in
the same order: its answers depend on all that it was asked before, and nothing of that can be saved.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from clew.checker.remembered.values import fault_json, read_fault
from clew.faults import FailureSpec, Fault, FaultSet
from clew.files.checkpoints import Checkpoint, ForeignCheckpointError
from clew.files.json_document import Item
from clew.lineage.circuit import Circuit
from clew.lineage.saved_circuits import KnownFaults, SavedCircuit
from clew.search.protocol import Run, TracedRun, TracedSystem
from clew.violation import Violation


class RememberedTraces:
    """A system with lineage that remembers its executions; ``goals`` are all violations that it can show."""

    def __init__(self, system: TracedSystem, goals: Sequence[Violation], checkpoint: Checkpoint) -> None:
        self._system = system
        self._checkpoint = checkpoint
        self._goals = {goal: number for number, goal in enumerate(goals)}
        # Goals, too, are referred to by number.
        self._circuit = SavedCircuit(system.circuit, fault_json)
        self._runs: list[object] = []
        self._done = 0
        self._known: list[TracedRun] = []
        if checkpoint.saved is not None:
            self._known = _read(checkpoint.saved, system, goals)
            for run in self._known:
                self._note(run)
            checkpoint.tell_continued(len(self._known), "run")
        checkpoint.state = self.to_json

    @property
    def spec(self) -> FailureSpec:
        return self._system.spec

    @property
    def faults(self) -> Sequence[Fault]:
        return self._system.faults

    @property
    def circuit(self) -> Circuit:
        return self._system.circuit

    @property
    def hazards(self) -> Mapping[Violation, int]:
        return self._system.hazards

    def run(self, faults: FaultSet) -> Run:
        return self._system.run(faults)

    def trace(self, faults: FaultSet) -> TracedRun:
        if self._done < len(self._known):
            known = self._known[self._done]
            if known.faults != faults:
                raise ForeignCheckpointError(f"that the faults {faults} come next")
            self._done += 1
            return known
        run = self._system.trace(faults)
        self._note(run)
        self._done += 1
        self._checkpoint.offer()
        return run

    def _note(self, run: TracedRun) -> None:
        self._runs.append(
            [
                [self._circuit.number_of(fault) for fault in run.faults],
                [self._goals[violation] for violation in run.violations],
                [[self._goals[goal], gate] for goal, gate in run.supports.items()],
                run.complete,
            ]
        )

    def to_json(self) -> dict[str, object]:
        return {**self._circuit.to_json(), "runs": self._runs}


# -- reading -----------------------------------------------------------------------------------------------------


def _read(saved: Item, system: TracedSystem, goals: Sequence[Violation]) -> list[TracedRun]:
    """Return the runs of a checkpoint, after making the system's circuit what it was."""
    faults, gates, runs = saved.members("faults", "gates", "runs")
    known = KnownFaults(faults, lambda item: read_fault(item, system.spec.nodes))
    known.restore(system.circuit, gates)
    return [_read_run(item, known, goals, len(system.circuit)) for item in runs.items()]


def _read_run(item: Item, known: KnownFaults[Fault], goals: Sequence[Violation], gates: int) -> TracedRun:
    faults, violations, supports, complete = item.parts("faults", "violations", "supports", "complete")
    if not isinstance(complete.value, bool):
        complete.refuse("true or false")

    def goal_of(number: Item) -> Violation:
        return goals[number.number(0, len(goals) - 1)]

    pairs = [pair.parts("goal", "gate") for pair in supports.items()]
    return TracedRun(
        FaultSet.of(known.several(faults)),
        tuple(map(goal_of, violations.items())),
        {goal_of(goal): gate.number(0, gates - 1) for goal, gate in pairs},
        complete.value,
    )
