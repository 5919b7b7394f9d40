"""Code with lineage that remembers its executions: a search that is started again learns the same without them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from clew.faults import FaultsOf
from clew.files.checkpoints import ForeignCheckpointError
from clew.files.json_document import Item
from clew.injection.bounds import InjectionBounds
from clew.injection.faults import CodeFault
from clew.injection.searching.saving import Saving
from clew.injection.searching.system import CodeSystem, Lesson
from clew.injection.written import flag_reader, write_flag
from clew.lineage.circuit import CircuitOf
from clew.lineage.saved_circuits import KnownFaults, SavedCircuit
from clew.search.protocol import TracedRunOf
from clew.violation import Violation

#: More faults than there can be.
_MOST_NEEDED = 2**53


class RememberedCode:
    """A system that answers from memory for as long as it can; what breaks something is always executed."""

    def __init__(self, system: CodeSystem, saving: Saving) -> None:
        self._system = system
        self._saving = saving
        self._goals = {goal: number for number, goal in enumerate(system.goals)}
        self._circuit = SavedCircuit(system.circuit, write_flag)
        self._runs: list[object] = []
        self._done = 0
        self._known: list[Lesson] = []
        if saving.saved is not None:
            self._known = _read(saving.saved, system)
            for lesson in self._known:
                self._note(lesson)
        saving.save_with(self.to_json, len(self._known))

    @property
    def spec(self) -> InjectionBounds:
        return self._system.spec

    @property
    def faults(self) -> Sequence[CodeFault]:
        return self._system.faults

    @property
    def circuit(self) -> CircuitOf[CodeFault]:
        return self._system.circuit

    @property
    def hazards(self) -> Mapping[Violation, int]:
        return self._system.hazards

    def trace(self, faults: FaultsOf[CodeFault]) -> TracedRunOf[CodeFault]:
        if self._done < len(self._known):
            lesson = self._known[self._done]
            if lesson.run.faults != faults:
                raise ForeignCheckpointError(f"that the faults {faults} come next")
        else:
            lesson = self._system.examine(faults)
            # Not noted: who goes on executes it again, and believes no file about it.
            if lesson.run.violations:  # the search ends with it
                return lesson.run
            self._note(lesson)
        self._done += 1
        # In the order of the runs, as the first time: what is tried next depends on it.
        self._system.learn(lesson)
        if self._done >= len(self._known):
            self._saving.offer()
        return lesson.run

    def _note(self, lesson: Lesson) -> None:
        number_of, run = self._circuit.number_of, lesson.run
        self._runs.append(
            [
                [number_of(fault) for fault in run.faults],
                [[self._goals[goal], gate] for goal, gate in run.supports.items()],
                bool(run.barren),
                lesson.is_vacuous,
                [number_of(fault) for fault in lesson.cuts],
                lesson.promised,
                lesson.needed,
            ]
        )

    def to_json(self) -> dict[str, object]:
        return {**self._circuit.to_json(), "runs": self._runs}


def _read(saved: Item, system: CodeSystem) -> list[Lesson]:
    """Return what was learned, after making the system's circuit what it was."""
    faults, gates, runs = saved.members("faults", "gates", "runs")
    known = KnownFaults(faults, flag_reader(system.scenario))
    known.restore(system.circuit, gates)
    return [_read_lesson(item, known, system.goals, len(system.circuit)) for item in runs.items()]


def _read_lesson(item: Item, known: KnownFaults[CodeFault], goals: Sequence[Violation], gates: int) -> Lesson:
    numbers, supports, barren, vacuous, cuts, promised, needed = item.parts(
        "faults", "supports", "barren", "vacuous", "cuts", "promised", "needed"
    )
    faults = FaultsOf.of(known.several(numbers))
    pairs = [pair.parts("goal", "gate") for pair in supports.items()]
    run = TracedRunOf(
        faults,
        (),
        {goals[goal.number(0, len(goals) - 1)]: gate.number(0, gates - 1) for goal, gate in pairs},
        False,
        (faults,) if _truth(barren) else (),
    )
    return Lesson(
        run,
        _truth(vacuous),
        tuple(known.several(cuts)),
        None if promised.value is None else promised.number(0, gates - 1),
        needed.number(0, _MOST_NEEDED),
    )


def _truth(item: Item) -> bool:
    if not isinstance(item.value, bool):
        item.refuse("true or false")
    return item.value
