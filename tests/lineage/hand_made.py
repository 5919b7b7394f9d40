"""Ground programs and gates as text, so that tests can write out what goes in and what comes out.

A ground program is a list of rules, as clingo would hand them over, in a notation of our own::

    log(b)@2 :- m.log(b)@1, link.       # a premise each, separated by comma and space
    link :- not O(a,b,1), not C(a,1).   # faults are written as everywhere in Clew
    quorum :- 2 { ack(b)@3, ack(c)@3 }. # at least two of them; with weights: 5 { big=3, small=2 }
    bad(x) :- pre(x)@3, not post(x)@3.  # the violation of pre(x)

What the name of an atom looks like says what it is: ``O(..) C(..) D(..)`` are faults, ``relation(row)@time`` rows
of the program, ``m.relation(row)@time`` messages, ``bad(row)`` violations, and everything else a helper of the
encoding.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property

from clew.engine.atoms import GroundRule, RowAtom, SentAtom
from clew.faults import Crash, Delay, Fault, FaultSet, Loss
from clew.lineage.circuit import ALWAYS, NEVER, Absent, AllOf, AnyOf, AtLeast, Circuit, Present
from clew.lineage.graph import RuleGoalGraph
from clew.violation import Violation

_RULE = re.compile(r"(?P<head>\S+)(?: :- (?:(?P<bound>\d+) \{ (?P<weighted>.*) \}|(?P<body>.*)))?\.$")
_FAULT = re.compile(r"([OCD])\((.*)\)$")
_ROW = re.compile(r"(?P<sent>m\.)?(?P<relation>\w+)\((?P<row>.*)\)@(?P<time>\d+)$")
_BAD = re.compile(r"bad\((.*)\)$")


class HandMade:
    """A ground program from its text, in which atoms have names."""

    def __init__(self, text: str) -> None:
        self._numbers: dict[str, int] = {}
        lines = (line.split(" #")[0].strip() for line in text.splitlines())
        self.rules = [self._rule(line) for line in lines if line]

    def _rule(self, line: str) -> GroundRule:
        match = _RULE.match(line)
        assert match, line
        head = self.atom(match["head"])
        if match["weighted"]:
            parts = [part.partition("=") for part in match["weighted"].split(", ")]
            weights = tuple(int(weight or 1) for _, _, weight in parts)
            return GroundRule(
                head, tuple(self.literal(name) for name, _, _ in parts), weights, int(match["bound"])
            )
        return GroundRule(head, tuple(map(self.literal, match["body"].split(", "))) if match["body"] else ())

    def atom(self, name: str) -> int:
        return self._numbers.setdefault(name, len(self._numbers) + 1)

    def literal(self, text: str) -> int:
        return -self.atom(text.removeprefix("not ")) if text.startswith("not ") else self.atom(text)

    def names(self, atoms: Iterable[int]) -> set[str]:
        by_number = {number: name for name, number in self._numbers.items()}
        return {by_number[atom] for atom in atoms}

    def rule_text(self, rule: GroundRule) -> str:
        """Return a rule as it would be written."""
        literals = [("not " if b < 0 else "") + self.names([abs(b)]).pop() for b in rule.body]
        head = self.names([rule.head]).pop()
        if rule.bound is not None:
            return f"{head} :- {rule.bound} {{ {', '.join(literals)} }}."
        return f"{head} :- {', '.join(literals)}." if literals else f"{head}."

    # -- what the graph needs of a ground program ------------------------------------------------------------

    @cached_property
    def fault_atoms(self) -> dict[Fault, int]:
        return {fault(name): atom for name, atom in self._numbers.items() if _FAULT.match(name)}

    @cached_property
    def violation_atoms(self) -> dict[Violation, int]:
        return {violation(m[1]): atom for name, atom in self._numbers.items() if (m := _BAD.match(name))}

    @cached_property
    def row_atoms(self) -> list[RowAtom]:
        return [
            RowAtom(atom, m["relation"], tuple(m["row"].split(",")), int(m["time"]))
            for name, atom in self._numbers.items()
            if (m := _ROW.match(name)) and not m["sent"]
        ]

    @cached_property
    def sent_atoms(self) -> list[SentAtom]:
        return [
            SentAtom(atom, m["relation"], tuple(m["row"].split(",")), "?", int(m["time"]))
            for name, atom in self._numbers.items()
            if (m := _ROW.match(name)) and m["sent"]
        ]

    @cached_property
    def graph(self) -> RuleGoalGraph:
        return RuleGoalGraph(self)

    # -- executions ------------------------------------------------------------------------------------------

    def run(self, *faults: str) -> frozenset[int]:
        """Return the atoms that hold when exactly these faults happen.

        What is derived grows with what is taken to be absent, so the two approach each other from both sides; they
        meet, because no program here has a negation on a cycle.
        """
        happening = {self.atom(name) for name in faults}
        taken_for_true: set[int] = set()
        while True:
            true = self._derive(happening, taken_for_true)
            if true == taken_for_true:
                return frozenset(true)
            taken_for_true = true

    def _derive(self, happening: set[int], taken_for_true: set[int]) -> set[int]:
        true = set(happening)
        while True:
            new = {rule.head for rule in self.rules if _fires(rule, true, taken_for_true)}
            if new <= true:
                return true
            true |= new


def _fires(rule: GroundRule, true: set[int], taken_for_true: set[int]) -> bool:
    held = [b in true if b > 0 else -b not in taken_for_true for b in rule.body]
    if rule.bound is None:
        return all(held)
    return sum(w for w, holds in zip(rule.weights, held, strict=True) if holds) >= rule.bound


def fault(text: str) -> Fault:
    """``O(a,b,1)`` is a loss, ``C(a,1)`` a crash, ``D(a,b,1,2)`` a delay by two steps."""
    match = _FAULT.match(text)
    assert match, text
    parts = match[2].split(",")
    match match[1]:
        case "O":
            return Loss(parts[0], parts[1], int(parts[2]))
        case "C":
            return Crash(parts[0], int(parts[1]))
        case _:
            return Delay(parts[0], parts[1], int(parts[2]), int(parts[3]))


def faults(*texts: str) -> FaultSet:
    return FaultSet.of(map(fault, texts))


def violation(row: str) -> Violation:
    return Violation("pre", tuple(row.split(",")))


def gate_text(circuit: Circuit, gate: int) -> str:
    """Return a gate as text: ``no O(a,b,1) or (C(a,2) and no O(c,b,2))``; inputs in the order of the alphabet."""
    if gate == ALWAYS:
        return "always"
    if gate == NEVER:
        return "never"
    match circuit[gate]:
        case Present(happening):
            return _fault_text(happening)
        case Absent(missing):
            return f"no {_fault_text(missing)}"
        case AllOf(inputs):
            return " and ".join(sorted(_nested(circuit, i) for i in inputs))
        case AnyOf(inputs):
            return " or ".join(sorted(_nested(circuit, i) for i in inputs))
        case AtLeast(bound, inputs, weights):
            parts = (
                _nested(circuit, i) + (f" * {w}" if w > 1 else "") for i, w in zip(inputs, weights, strict=True)
            )
            return f"{bound} of {{{', '.join(sorted(parts))}}}"


def _nested(circuit: Circuit, gate: int) -> str:
    text = gate_text(circuit, gate)
    return f"({text})" if isinstance(circuit[gate], AllOf | AnyOf) else text


def _fault_text(of: Fault) -> str:
    return str(of).replace(" ", "")
