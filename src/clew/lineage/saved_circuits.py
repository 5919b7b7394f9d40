"""Circuits in checkpoints: the faults that they mention, once each, and gate after gate as lists of numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from clew.faults import AnyFault
from clew.files.json_document import Item
from clew.lineage.circuit import Absent, AllOf, AnyOf, AtLeast, CircuitOf, GateOf, Present

F = TypeVar("F", bound=AnyFault)

#: Gates that every circuit has, "always" and "never": they are not written down.
_GIVEN = 2


class SavedCircuit(Generic[F]):
    """A circuit as it is written down, with faults referred to by number: each is there many times."""

    def __init__(self, circuit: CircuitOf[F], write: Callable[[F], object]) -> None:
        self._circuit = circuit
        self._write = write
        self._numbers: dict[F, int] = {}
        self._gates: list[list[object]] = []

    def number_of(self, fault: F) -> int:
        return self._numbers.setdefault(fault, len(self._numbers))

    def to_json(self) -> dict[str, object]:
        # Gates are never changed: only those that are new have to be written down.
        circuit = self._circuit
        self._gates += [self._gate(circuit[number]) for number in range(_GIVEN + len(self._gates), len(circuit))]
        return {"faults": [self._write(fault) for fault in self._numbers], "gates": self._gates}

    def _gate(self, gate: GateOf[F]) -> list[object]:
        match gate:
            case Present(fault):
                return ["+", self.number_of(fault)]
            case Absent(fault):
                return ["-", self.number_of(fault)]
            case AllOf(inputs):
                return ["all", *inputs]
            case AnyOf(inputs):
                return ["any", *inputs]
            case AtLeast(bound, inputs, weights):
                return ["sum", bound, list(inputs), list(weights)]


class KnownFaults(Generic[F]):
    """The faults of a checkpoint, which its gates and runs refer to by number."""

    def __init__(self, faults: Item, read: Callable[[Item], F]) -> None:
        self.all = [read(item) for item in faults.items()]

    def fault(self, item: Item) -> F:
        return self.all[item.number(0, len(self.all) - 1)]

    def several(self, item: Item) -> list[F]:
        return [self.fault(number) for number in item.items()]

    def restore(self, circuit: CircuitOf[F], gates: Item) -> None:
        """Make a new circuit what it was."""
        for item in gates.items():
            number = len(circuit)
            # A circuit keeps each gate once: a number that differs means that the file repeats one, and that all
            # later numbers in it would be wrong.
            if circuit.add(self._gate(item, number)) != number:
                item.refuse("a gate that is not there yet")

    def _gate(self, item: Item, number: int) -> GateOf[F]:
        """Return a gate whose inputs come before ``number``."""
        kind, *rest = item.items() or [item]
        # Most gates are of these two kinds.
        make = _KINDS.get(kind.value) if isinstance(kind.value, str) else None
        if make is not None:
            return make(_inputs(rest, number))
        match kind.value, rest:
            case "+", [fault]:
                return Present(self.fault(fault))
            case "-", [fault]:
                return Absent(self.fault(fault))
            case "sum", [bound, inputs, weights]:
                numbers = _inputs(inputs.items(), number)
                counted = tuple(weight.number(1) for weight in weights.items())
                if len(counted) == len(numbers):
                    return AtLeast(bound.number(1), numbers, counted)
        raise item.mismatch("a gate")


_KINDS: dict[str, Callable[[tuple[int, ...]], AllOf | AnyOf]] = {"all": AllOf, "any": AnyOf}


def _inputs(items: Sequence[Item], number: int) -> tuple[int, ...]:
    return tuple(item.number(0, number - 1) for item in items)
