"""Executions with their lineage, for the lineage loop: the circuit as it was, and each run's gates in it.

What the loop does between two executions (choosing faults) is done again, by the same questions to the solver in
the same order: its answers depend on all that it was asked before, and nothing of that can be saved.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from clew.checker.remembered.values import fault_json, read_fault
from clew.faults import FailureSpec, Fault, FaultSet, NodeName
from clew.files.checkpoints import Checkpoint, ForeignCheckpointError
from clew.files.json_document import Item
from clew.lineage.circuit import Absent, AllOf, AnyOf, AtLeast, Circuit, Gate, Present
from clew.search.protocol import Run, TracedRun, TracedSystem
from clew.violation import Violation

#: Gates that every circuit has, "always" and "never": they are not written down.
_GIVEN = 2


class RememberedTraces:
    """A system with lineage that remembers its executions; ``goals`` are all violations that it can show."""

    def __init__(self, system: TracedSystem, goals: Sequence[Violation], checkpoint: Checkpoint) -> None:
        self._system = system
        self._checkpoint = checkpoint
        self._goals = {goal: number for number, goal in enumerate(goals)}
        # Faults and goals are written once and referred to by number: a circuit mentions each many times.
        self._faults: dict[Fault, int] = {}
        self._gates: list[list[object]] = []
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
                [self._fault(fault) for fault in run.faults],
                [self._goals[violation] for violation in run.violations],
                [[self._goals[goal], gate] for goal, gate in run.supports.items()],
                run.complete,
            ]
        )

    def _fault(self, fault: Fault) -> int:
        return self._faults.setdefault(fault, len(self._faults))

    def to_json(self) -> dict[str, object]:
        # Gates are never changed: only those that are new have to be written down.
        circuit = self._system.circuit
        self._gates += [self._gate(circuit[number]) for number in range(_GIVEN + len(self._gates), len(circuit))]
        return {"faults": [fault_json(f) for f in self._faults], "gates": self._gates, "runs": self._runs}

    def _gate(self, gate: Gate) -> list[object]:
        match gate:
            case Present(fault):
                return ["+", self._fault(fault)]
            case Absent(fault):
                return ["-", self._fault(fault)]
            case AllOf(inputs):
                return ["all", *inputs]
            case AnyOf(inputs):
                return ["any", *inputs]
            case AtLeast(bound, inputs, weights):
                return ["sum", bound, list(inputs), list(weights)]


# -- reading -----------------------------------------------------------------------------------------------------


def _read(saved: Item, system: TracedSystem, goals: Sequence[Violation]) -> list[TracedRun]:
    """Return the runs of a checkpoint, after making the system's circuit what it was."""
    faults, gates, runs = saved.members("faults", "gates", "runs")
    known = _Known(faults, system.spec.nodes, goals)
    for item in gates.items():
        number = len(system.circuit)
        # A circuit keeps each gate once: a number that differs means that the file repeats one, and that all
        # later numbers in it would be wrong.
        if system.circuit.add(known.gate(item, number)) != number:
            item.refuse("a gate that is not there yet")
    return [known.run(item, len(system.circuit)) for item in runs.items()]


class _Known:
    """What gates and runs of a checkpoint refer to."""

    def __init__(self, faults: Item, nodes: Sequence[NodeName], goals: Sequence[Violation]) -> None:
        self._faults = [read_fault(item, nodes) for item in faults.items()]
        self._goals = goals

    def gate(self, item: Item, number: int) -> Gate:
        """Return a gate whose inputs come before ``number``."""
        kind, *rest = item.items() or [item]
        make = _KINDS.get(kind.value) if isinstance(kind.value, str) else None
        if make is not None:
            return make(_inputs(rest, number))
        match kind.value, rest:
            case "+", [fault]:
                return Present(self._fault(fault))
            case "-", [fault]:
                return Absent(self._fault(fault))
            case "sum", [bound, inputs, weights]:
                numbers = _inputs(inputs.items(), number)
                counted = tuple(weight.number(1) for weight in weights.items())
                if len(counted) == len(numbers):
                    return AtLeast(bound.number(1), numbers, counted)
        raise item.mismatch("a gate")

    def run(self, item: Item, gates: int) -> TracedRun:
        faults, violations, supports, complete = item.parts("faults", "violations", "supports", "complete")
        if not isinstance(complete.value, bool):
            complete.refuse("true or false")
        pairs = [pair.parts("goal", "gate") for pair in supports.items()]
        return TracedRun(
            FaultSet.of(self._fault(fault) for fault in faults.items()),
            tuple(self._goal(violation) for violation in violations.items()),
            {self._goal(goal): gate.number(0, gates - 1) for goal, gate in pairs},
            complete.value,
        )

    def _fault(self, item: Item) -> Fault:
        return self._faults[item.number(0, len(self._faults) - 1)]

    def _goal(self, item: Item) -> Violation:
        return self._goals[item.number(0, len(self._goals) - 1)]


_KINDS: dict[str, Callable[[tuple[int, ...]], Gate]] = {"all": AllOf, "any": AnyOf}


def _inputs(items: Sequence[Item], number: int) -> tuple[int, ...]:
    return tuple(item.number(0, number - 1) for item in items)
