"""The runs under some of the faults of a counterexample: which ground rules and atoms tell them apart.

Grounded with these faults alone as choices, almost everything is certain.  clingo takes what is certain out of the
rules; those that are left are the ones that can fire in one of the runs and not in another.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cached_property

from clew.budgets.deadline import Deadline
from clew.engine.atoms import ArrivalAtom, GroundRule, HaltAtom, LinkAtom, RowAtom, SentAtom, SightingAtom
from clew.engine.execution import Message
from clew.engine.ground import GroundProgram
from clew.engine.values import symbol_values
from clew.faults import FailureSpec, Fault, FaultSet, NodeName
from clew.program.ir import Program, Value, as_place
from clew.violation import Violation

#: What an atom of the ground program can stand for.
NamedAtom = RowAtom | SentAtom | ArrivalAtom | LinkAtom | HaltAtom | SightingAtom


class Runs:
    """A program under some of the ``faults`` of one counterexample; ``ground`` has recorded names and rules."""

    def __init__(self, ground: GroundProgram, faults: FaultSet, deadline: Deadline) -> None:
        self._ground = ground
        self._deadline = deadline
        self.program = ground.program
        self.faults = faults
        self.rules: dict[int, list[GroundRule]] = {}
        for rule in ground.rules:
            if rule.body:
                self.rules.setdefault(rule.head, []).append(rule)
        # What is certain holds in every run, so that it can never tell two of them apart.
        self._certain = frozenset(rule.head for rule in ground.rules if not rule.body)
        self.fault_atoms: dict[Fault, int] = {fault: ground.fault_atoms[fault] for fault in faults}
        # Without the certain atoms, which are most: they need not be asked about in each run.
        self._open = (*self.rules, *self.fault_atoms.values())
        self._true: dict[FaultSet, frozenset[int]] = {}
        self._messages: dict[FaultSet, tuple[Message, ...]] = {}
        self._named: dict[int, NamedAtom | None] = {}

    @staticmethod
    def of(
        program: Program, spec: FailureSpec, faults: FaultSet, deadline: Deadline, others: Iterable[FaultSet] = ()
    ) -> Runs:
        """Ground the program with these faults only: much faster than with all that the bounds admit.

        ``others`` are those of further runs that will be asked for.
        """
        only = FaultSet.of(fault for known in (faults, *others) for fault in known)
        ground = GroundProgram(program, spec, record_rules=True, only=only, deadline=deadline)
        return Runs(ground, faults, deadline)

    @property
    def size(self) -> int:
        """Return the number of ground rules, with those for what is certain."""
        return len(self._ground.rules)

    def goal(self, violation: Violation) -> int:
        return self._ground.violation_atoms[violation]

    def messages(self, faults: FaultSet) -> tuple[Message, ...]:
        """Return the messages of the run with these faults."""
        if faults not in self._messages:
            self._messages[faults] = self._ground.messages(faults)
        return self._messages[faults]

    def may_be_several(self, relation: str, source: NodeName, target: NodeName, time: int) -> bool:
        """Tell quickly whether more than one row of a relation could be sent there at this time."""
        return self._possible[relation, source, target, time] > 1

    @cached_property
    def _possible(self) -> Counter[tuple[str, NodeName, NodeName, int]]:
        return Counter((m.relation, m.source, as_place(m.row[0]), m.time) for m in self._ground.sent_atoms)

    def true(self, faults: FaultSet) -> frozenset[int]:
        """Return the atoms that hold under these faults."""
        self._deadline.check()
        if faults not in self._true:
            self._true[faults] = self._certain | self._ground.truth(faults, self._open)
        return self._true[faults]

    def describe(self, atom: int) -> NamedAtom | None:
        """Return what the atom stands for; None for helpers of the encoding."""
        if atom not in self._named:
            self._named[atom] = self._describe(atom)
        return self._named[atom]

    def _describe(self, atom: int) -> NamedAtom | None:
        symbol = self._ground.symbols.get(atom)
        if symbol is None:
            return None
        name = symbol.name
        kind, number = name[0], name[1:]  # the vocabulary of clew.engine.encode, read back
        if kind in "rma" and number.isdecimal():
            values = symbol_values(symbol, name)
            relation = self._ground.relation(int(number))
            if kind == "r":
                return RowAtom(atom, relation, values[:-1], _time(values))
            if kind == "a":
                return ArrivalAtom(atom, relation, values[:-1], _time(values))
            return SentAtom(atom, relation, values[1:-1], as_place(values[0]), _time(values))
        if name in ("link", "cut", "late"):
            values = symbol_values(symbol, name)
            return LinkAtom(atom, as_place(values[0]), as_place(values[1]), _time(values))
        if name in ("halted", "stopped", "paused", "gone", "started"):
            values = symbol_values(symbol, name)
            return HaltAtom(atom, as_place(values[0]), _time(values))
        if name in ("seen_crash", "seen_down"):
            return SightingAtom(atom, as_place(symbol_values(symbol, name)[1]))
        return None


def _time(values: tuple[Value, ...]) -> int:
    time = values[-1]
    assert isinstance(time, int)
    return time
