"""Circuits over faults: the form in which all lineage is kept.

A gate is a promise: *if its inputs hold under some set of faults, so does what it stands for.*  Leaves say that
one fault is present or absent.  The paper's formulas (section 4.3) know only faults that break a proof; here a
support can also need faults that happened, because a retry exists only where a message was lost.

A circuit, not a list of proof trees: the trees of one outcome share most of their parts, and written out they
grow exponentially with the length of the execution.  Gates are built from their inputs, so there are no cycles,
and equal gates have the same number, however many goals and runs share them: what the solver has been told about
a gate once, it never needs to be told again.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Hashable, Iterable, Sequence
from typing import Generic, NamedTuple, Protocol, TypeVar

from clew.faults import AnyFault, Fault, FaultsOf

F = TypeVar("F", bound=AnyFault)


# Tuples, not dataclasses: these take half a millisecond each to define, which every explanation would pay for.
class Present(NamedTuple, Generic[F]):
    """Holds when the fault happens."""

    fault: F


class Absent(NamedTuple, Generic[F]):
    """Holds when the fault does not happen."""

    fault: F


class AllOf(NamedTuple):
    """Holds when every input does: a rule with its premises."""

    inputs: tuple[int, ...]


class AnyOf(NamedTuple):
    """Holds when some input does: an atom with its rules."""

    inputs: tuple[int, ...]


class AtLeast(NamedTuple):
    """Holds when the weights of the inputs that hold add up to the bound: counts and sums."""

    bound: int
    inputs: tuple[int, ...]
    weights: tuple[int, ...]


GateOf = Present[F] | Absent[F] | AllOf | AnyOf | AtLeast

#: The gates that every circuit has: what always and what never holds, as AllOf(()) and AnyOf(()).
ALWAYS, NEVER = 0, 1


class CircuitOf(Generic[F]):
    """Gates under construction; a gate's inputs always have smaller numbers than the gate.

    So the numbers in ascending order are a topological order: every pass over a circuit is a loop, not a
    recursion.
    """

    def __init__(self) -> None:
        # Numbers instead of objects that refer to each other: a checkpoint can list them, and the solver's tables
        # of literals are indexed by them.
        self._gates: list[GateOf[F]] = [AllOf(()), AnyOf(())]
        # By the kind of the gate, too: as tuples, AllOf(()) and AnyOf(()) are equal.
        self._numbers: dict[tuple[type, GateOf[F]], int] = {
            (type(g), g): number for number, g in enumerate(self._gates)
        }

    def __getitem__(self, number: int) -> GateOf[F]:
        return self._gates[number]

    def __len__(self) -> int:
        return len(self._gates)

    def add(self, gate: GateOf[F]) -> int:
        """Return the number of a gate that another circuit made, after the same gates; it may be there already.

        This is how a checkpoint is restored: gate by gate, so that every number means what it meant.
        """
        return self._number(gate)

    def _number(self, gate: GateOf[F]) -> int:
        key = type(gate), gate
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self._gates)
            self._gates.append(gate)
        return number

    def present(self, fault: F) -> int:
        return self._number(Present(fault))

    def absent(self, fault: F) -> int:
        return self._number(Absent(fault))

    # The following three simplify: most premises are certain, so most gates fold into one of their inputs and
    # never become clauses of the solver.

    def all_of(self, inputs: Iterable[int]) -> int:
        needed = set(inputs) - {ALWAYS}  # sorted below: the same inputs make the same gate, however they come
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
        # A disjunction needs no counter in the solver, and "at least one" is the usual count.
        if all(w >= missing for _, w in open_inputs):
            return self.any_of(i for i, _ in open_inputs)
        return self._number(AtLeast(missing, tuple(i for i, _ in open_inputs), tuple(w for _, w in open_inputs)))

    def evaluate(self, gate: int, faults: FaultsOf[F]) -> bool:
        """Tell whether the gate holds when exactly these faults happen."""
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
        """Return these gates and all they rest on, inputs first, without what is known already."""
        found: set[int] = set()
        work = list(gates)
        while work:
            number = work.pop()
            if number not in found and number not in known:
                found.add(number)
                work.extend(inputs_of(self._gates[number]))
        return sorted(found)

    def rename_faults(self, gate: int, rename: Callable[[F], F], known: dict[int, int]) -> int:
        """Build the same promise about renamed faults; ``known`` remembers what this renaming gave before."""
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


#: Those of models; the others are for any faults, also of code.
Circuit = CircuitOf[Fault]
Gate = GateOf[Fault]


def inputs_of(gate: GateOf[F]) -> tuple[int, ...]:
    """Return the gates that a gate rests on directly."""
    return () if isinstance(gate, Present | Absent) else gate.inputs


N = TypeVar("N", bound=Hashable)
K = TypeVar("K", contravariant=True)


class Gates(Protocol[K]):
    """Gates that have been built, by what they stand for: a dictionary, as far as ``build_gate`` needs one."""

    def __contains__(self, node: object, /) -> bool: ...

    def __getitem__(self, node: K, /) -> int: ...

    def __setitem__(self, node: K, gate: int, /) -> None: ...


def build_gate(root: N, gates: Gates[N], plan: Callable[[N], tuple[Sequence[N], Callable[[], int]]]) -> int:
    """Build the gate of ``root``, and those it needs, depth first.

    ``plan`` says what a node needs first and how its gate follows from that.  What a node needs must not lead
    back to it: callers break the cycles of the rule/goal graph in their plans.  No recursion, because lineage is
    as deep as the execution is long, and Python's stack is not.
    """
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
