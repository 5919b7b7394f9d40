"""Why an outcome came about, as a circuit over faults.

A gate is a promise: *if its inputs hold under some set of faults, so does what it stands for.*  Leaves
say that one fault is present or absent, so a support can need both kinds: messages that got through,
and faults that happened (a retry exists because a message was lost).  Gates are built from their
inputs, so there are no cycles, and equal gates are the same number, however many runs share them.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Hashable, Iterable, Sequence
from typing import NamedTuple, Protocol, TypeVar

from clew.faults import Fault, FaultSet


# Tuples, not dataclasses: these take half a millisecond each to define, which every explanation would pay for.
class Present(NamedTuple):
    fault: Fault


class Absent(NamedTuple):
    fault: Fault


class AllOf(NamedTuple):
    inputs: tuple[int, ...]


class AnyOf(NamedTuple):
    inputs: tuple[int, ...]


class AtLeast(NamedTuple):
    """The weights of the inputs that hold add up to the bound."""

    bound: int
    inputs: tuple[int, ...]
    weights: tuple[int, ...]


Gate = Present | Absent | AllOf | AnyOf | AtLeast

#: The gates that every circuit has: what always and what never holds.
ALWAYS, NEVER = 0, 1


class Circuit:
    """Gates under construction; a gate's inputs always have smaller numbers than the gate."""

    def __init__(self) -> None:
        self._gates: list[Gate] = [AllOf(()), AnyOf(())]
        # By the kind of the gate, too: as tuples, AllOf(()) and AnyOf(()) are equal.
        self._numbers: dict[tuple[type, Gate], int] = {
            (type(g), g): number for number, g in enumerate(self._gates)
        }

    def __getitem__(self, number: int) -> Gate:
        return self._gates[number]

    def __len__(self) -> int:
        return len(self._gates)

    def add(self, gate: Gate) -> int:
        """Return the number of a gate that another circuit made, after the same gates; it may be there already."""
        return self._number(gate)

    def _number(self, gate: Gate) -> int:
        key = type(gate), gate
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self._gates)
            self._gates.append(gate)
        return number

    def present(self, fault: Fault) -> int:
        return self._number(Present(fault))

    def absent(self, fault: Fault) -> int:
        return self._number(Absent(fault))

    def all_of(self, inputs: Iterable[int]) -> int:
        needed = set(inputs) - {ALWAYS}
        if NEVER in needed:
            return NEVER
        return needed.pop() if len(needed) == 1 else self._number(AllOf(tuple(sorted(needed))))

    def any_of(self, inputs: Iterable[int]) -> int:
        ways = set(inputs) - {NEVER}
        if ALWAYS in ways:
            return ALWAYS
        return ways.pop() if len(ways) == 1 else self._number(AnyOf(tuple(sorted(ways))))

    def at_least(self, bound: int, inputs: Sequence[int], weights: Sequence[int]) -> int:
        sure = sum(w for i, w in zip(inputs, weights, strict=True) if i == ALWAYS)
        open_inputs = sorted((i, w) for i, w in zip(inputs, weights, strict=True) if i not in (ALWAYS, NEVER))
        missing = bound - sure
        if missing <= 0:
            return ALWAYS
        if sum(w for _, w in open_inputs) < missing:
            return NEVER
        if all(w >= missing for _, w in open_inputs):
            return self.any_of(i for i, _ in open_inputs)
        return self._number(AtLeast(missing, tuple(i for i, _ in open_inputs), tuple(w for _, w in open_inputs)))

    def evaluate(self, gate: int, faults: FaultSet) -> bool:
        """Whether the gate holds when exactly these faults happen."""
        happening = set(faults)
        value: dict[int, bool] = {}
        for number in self.below([gate]):
            match self._gates[number]:
                case Present(fault):
                    value[number] = fault in happening
                case Absent(fault):
                    value[number] = fault not in happening
                case AllOf(inputs):
                    value[number] = all(value[i] for i in inputs)
                case AnyOf(inputs):
                    value[number] = any(value[i] for i in inputs)
                case AtLeast(bound, inputs, weights):
                    value[number] = sum(w for i, w in zip(inputs, weights, strict=True) if value[i]) >= bound
        return value[gate]

    def below(self, gates: Iterable[int], known: Container[int] = ()) -> list[int]:
        """These gates and all they rest on, inputs first; what is known already is left out."""
        found: set[int] = set()
        work = list(gates)
        while work:
            number = work.pop()
            if number not in found and number not in known:
                found.add(number)
                work.extend(inputs_of(self._gates[number]))
        return sorted(found)

    def renamed(self, gate: int, rename: Callable[[Fault], Fault], known: dict[int, int]) -> int:
        """The same promise about renamed faults; ``known`` remembers what this renaming gave before."""
        for number in self.below([gate], known):
            match self._gates[number]:
                case Present(fault):
                    known[number] = self.present(rename(fault))
                case Absent(fault):
                    known[number] = self.absent(rename(fault))
                case AllOf(inputs):
                    known[number] = self.all_of(known[i] for i in inputs)
                case AnyOf(inputs):
                    known[number] = self.any_of(known[i] for i in inputs)
                case AtLeast(bound, inputs, weights):
                    known[number] = self.at_least(bound, [known[i] for i in inputs], weights)
        return known[gate]


def inputs_of(gate: Gate) -> tuple[int, ...]:
    return () if isinstance(gate, Present | Absent) else gate.inputs


N = TypeVar("N", bound=Hashable)
K = TypeVar("K", contravariant=True)


class Gates(Protocol[K]):
    """Gates that have been built, by what they stand for."""

    def __contains__(self, node: object, /) -> bool: ...

    def __getitem__(self, node: K, /) -> int: ...

    def __setitem__(self, node: K, gate: int, /) -> None: ...


def build(root: N, gates: Gates[N], plan: Callable[[N], tuple[Sequence[N], Callable[[], int]]]) -> int:
    """The gate of ``root``; ``plan`` says what a node needs first and how its gate follows from that."""
    work = [root]
    finish: dict[N, Callable[[], int]] = {}
    while work:
        node = work[-1]
        if node in gates:
            work.pop()
        elif node in finish:
            gates[node] = finish[node]()
            work.pop()
        else:
            needed, finish[node] = plan(node)
            work.extend(n for n in needed if n not in gates)
    return gates[root]
