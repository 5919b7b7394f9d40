"""What a ground program costs, in units of effort.

A search that the clock ends answers differently on a busy machine; one that counted work ends is the same
everywhere (paxos-synod with ``--effort 0.4``: the same bytes in 11 s, and beside four busy loops in 156 s).  The
prices are in ``clew.budgets.effort``; they make a unit take about the same time in all examples.
"""

from __future__ import annotations

from collections.abc import Sequence

from clingo import Control, Observer

from clew.budgets.effort import (
    ATOM,
    ATOMS_SEEN_PER_UNIT,
    EXECUTED_ATOMS_PER_UNIT,
    EXECUTION,
    GROUND_PROGRAM,
    TRACED_ATOM,
    TRACED_EXECUTED_ATOM,
    Effort,
)


class Meter:
    """Charges for a ground program and for executions of it."""

    def __init__(self, control: Control, effort: Effort, *, traced: bool) -> None:
        self._control = control
        self._effort = effort
        self._traced = traced
        self._atoms = 0  # seen so far: later parts pay for what they add
        if effort.may_not_suffice:
            control.register_observer(_Brake(effort))

    def count_grounding(self) -> None:
        """Charge for what has been grounded since the last time; raise for a later part that nothing is left for.

        Such parts bring few atoms, but their rules range over those that are there.
        """
        before, self._atoms = self._atoms, len(self._control.symbolic_atoms)
        price = TRACED_ATOM if self._traced else ATOM
        if before:
            self._effort.spend((self._atoms - before) * price + before // ATOMS_SEEN_PER_UNIT)
        else:
            self._effort.count_program(GROUND_PROGRAM + self._atoms * price)

    def count_execution(self) -> None:
        """Charge for one execution; with lineage, its supports take longer than the execution itself."""
        traced = round(self._atoms * TRACED_EXECUTED_ATOM)
        self._effort.count(EXECUTION + (traced if self._traced else self._atoms // EXECUTED_ATOMS_PER_UNIT))


class _Brake(Observer):
    """Ends a grounding that explodes.

    clingo calls it for every ground rule, which takes a third of the time of grounding: it is only for programs
    whose size nobody can guess.
    """

    def __init__(self, effort: Effort) -> None:
        self._effort = effort
        self._rules_left = effort.left

    def rule(self, choice: bool, head: Sequence[int], body: Sequence[int]) -> None:
        self._rules_left -= 1
        if self._rules_left <= 0:
            self._effort.spend(self._effort.left)

    def weight_rule(
        self, choice: bool, head: Sequence[int], lower_bound: int, body: Sequence[tuple[int, int]]
    ) -> None:
        self.rule(choice, head, ())
