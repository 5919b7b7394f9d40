"""Which rows and faults could, by the program text alone, make a missing row appear.

The static half of the conservative treatment of negation (appendix B of the paper).  A row can be the reason
for an absence only if it reaches the absent row through an odd number of negations and is not later.  Of those
rows it is enough to name the ones right before the last such negation: the others act through them.  The same
walk tells which faults matter: those that kept a message away, those whose mere presence is a premise, and what
could be given on the way.

Relations alone, as in the paper's proof, would name every row of a relation at any time; walking over relations
*at times* leaves out what can no longer, or not yet, act.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

from clew.faults import Fault, GivenRow
from clew.lineage.graph import RuleGoalGraph
from clew.program.ir import BUILT_IN, Premise, Program, Rule, Timing

#: A relation at a time.
_Place = tuple[str, int]


class Reasons(NamedTuple):
    """Why no row of a relation appears at a time, as far as the program text tells.

    As long as the ``causes`` that held go on holding, the ``helpful`` faults that happened happen, and no
    ``harmful`` fault is added, none appears.
    """

    causes: tuple[int, ...]
    helpful: frozenset[Fault]
    harmful: frozenset[Fault]


class Reach:
    """What can act on what in a program, by relation and time; ``reasons`` remembers its answers."""

    def __init__(self, program: Program, graph: RuleGoalGraph, faults: Sequence[Fault]) -> None:
        self._faults = faults
        self._rules: dict[str, list[Rule]] = {}
        for rule in program.rules:
            self._rules.setdefault(rule.relation, []).append(rule)
        self._longest_lag = max((f.lateness for f in faults), default=0)
        self._carries = any(f.halts for f in faults)
        # What the adversary gives is there without any rule of the program.
        picked = {choice.name: choice.picked for choice in program.choices}
        self._given: dict[_Place, list[Fault]] = {}
        for fault in faults:
            if isinstance(fault, GivenRow):
                self._given.setdefault((fault.row_of(picked), fault.time), []).append(fault)
        self._rows: dict[_Place, list[int]] = {}
        for atom, row in graph.rows.items():
            self._rows.setdefault((row.relation, row.time), []).append(atom)
        self.reasons = cache(self._find_reasons)  # the same for all rows of a relation, in every run

    def _find_reasons(self, relation: str, time: int) -> Reasons:
        causes: set[_Place] = set()
        helpful: set[Fault] = set()
        harmful: set[Fault] = set()
        for place in self._positive_past((relation, time)):
            harmful.update(self._given.get(place, ()))
            for rule, then in self._uses(place):
                for premise in rule.premises:
                    # An aggregate can change in either direction when one of its rows goes away.
                    removable = premise.negated or bool(rule.aggregates)
                    if premise.relation not in BUILT_IN and removable:
                        causes.add((premise.relation, _when(premise, then)))
                    elif premise.relation in BUILT_IN:
                        (helpful if premise.negated else harmful).update(self._observable())
                        if rule.aggregates:
                            (harmful if premise.negated else helpful).update(self._observable())
                if rule.timing is Timing.ASYNC:
                    # Without one of these faults a message could arrive, or arrive in time; with a late one that
                    # is not there yet, another could arrive just now.
                    helpful.update(self._stopping(then))
                    harmful.update(f for f in self._faults if f.lateness and f.strikes(then))
        # A node that does not run keeps rows, loses others, and does not derive what would stand in the way.  For
        # which of its rows, relations and times do not tell: every such fault may be a reason.
        halting = [f for f in self._faults if f.halts and f.time <= time]
        helpful.update(halting)
        harmful.update(halting)
        atoms = tuple(atom for place in sorted(causes) for atom in self._rows.get(place, ()))
        return Reasons(atoms, frozenset(helpful), frozenset(harmful))

    def _positive_past(self, start: _Place) -> set[_Place]:
        """Return the relations and times from which the start is reached without a negation."""
        found = {start}
        work = [start]
        while work:
            relation, time = work.pop()
            before = [(relation, t) for t in range(1, time)] if self._carries else []
            behind = [
                (premise.relation, _when(premise, then))
                for rule, then in self._uses((relation, time))
                for premise in rule.premises
                if not premise.negated or rule.aggregates
            ]
            for place in (*before, *behind):
                if place not in found:
                    found.add(place)
                    work.append(place)
        return found

    def _uses(self, place: _Place) -> Iterator[tuple[Rule, int]]:
        """Yield the rules that conclude there, with the times at which they can have run."""
        relation, time = place
        for rule in self._rules.get(relation, ()):
            # A rule that names a time waits for it: before, nobody knows what will hold then.
            first = max((p.at for p in rule.premises if isinstance(p.at, int)), default=1)
            if rule.timing is Timing.SAME:
                times = range(max(first, time), time + 1)
            else:
                lag = self._longest_lag if rule.timing is Timing.ASYNC else 0
                times = range(max(first, time - 1 - lag), time)
            yield from ((rule, then) for then in times)

    def _observable(self) -> Iterator[Fault]:
        """Yield the faults whose mere presence programs can ask for, as a premise ``crash`` or ``down``."""
        return (f for f in self._faults if f.observable)

    def _stopping(self, time: int) -> Iterator[Fault]:
        """Yield the faults that can keep what is sent at a time from arriving as it would."""
        return (f for f in self._faults if f.strikes(time))


def _when(premise: Premise, then: int) -> int:
    return premise.at if isinstance(premise.at, int) else then
