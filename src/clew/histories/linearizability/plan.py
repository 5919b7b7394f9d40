"""What a search goes through: the answers in their order, and what is under way at each.

Operations that must have taken effect by their answer get a *slot* each, a bit that is free again after the
answer, so that what has happened early fits into a small number.  Those that may take effect at any time or never
(their outcome is unknown, or their answer comes after the end of what is looked at) have a bit of their own for
good.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from clew.histories.linearizability.machine import Machine
from clew.histories.operations import Operation


class Candidate(NamedTuple):
    """An operation under way: the bit of its slot, what it does, and its number in the plan."""

    bit: int
    action: int
    number: int


class Answer(NamedTuple):
    """The end of an operation, by which it must have taken effect.

    ``writes`` and ``reads`` are what is under way, itself included, those that end first in front.  ``begun``: the
    bits of the optional operations that have begun.
    """

    number: int
    bit: int
    writes: tuple[Candidate, ...]
    reads: tuple[Candidate, ...]
    begun: int


class Optional(NamedTuple):
    """Optional operations that do the same: which of them takes effect does not matter, so the first is taken."""

    action: int
    bits: int


@dataclass(frozen=True)
class Plan:
    """The operations of one object, numbered in the order in which they begin."""

    operations: Sequence[Operation]
    answers: Sequence[Answer]
    optional: Sequence[Optional]
    #: By the position of a bit, the number of the optional operation.
    optional_numbers: Sequence[int]


def make_plan(operations: Sequence[Operation], machine: Machine) -> Plan:
    """Return what to search; operations are in the order in which they began, and none of them failed."""
    reads = machine.model.reads
    actions = [machine.action(op) for op in operations]
    # An operation that never answers and changes nothing neither explains nor demands anything.
    optional = [n for n, op in enumerate(operations) if op.end is None and op.function not in reads]
    classes: dict[int, int] = {}
    for position, number in enumerate(optional):
        classes[actions[number]] = classes.get(actions[number], 0) | 1 << position
    answers = tuple(_answers(operations, actions, reads))
    return Plan(operations, answers, [Optional(*known) for known in classes.items()], optional)


def _answers(operations: Sequence[Operation], actions: Sequence[int], reads: frozenset[str]) -> Iterator[Answer]:
    under_way: dict[int, Candidate] = {}
    free: list[int] = []
    begun = 0
    begun_mask = 0
    slots = 0
    for _, is_end, number in _moments(operations):
        op = operations[number]
        if is_end:
            # Of several that could explain an answer, the one that must be over soonest is the best guess.
            ending = sorted(under_way.values(), key=lambda c: operations[c.number].end or 0)
            yield Answer(
                number,
                under_way[number].bit,
                tuple(c for c in ending if operations[c.number].function not in reads),
                tuple(c for c in ending if operations[c.number].function in reads),
                begun_mask,
            )
            free.append(under_way.pop(number).bit)
        elif op.end is not None:
            # As many slots as there are ever operations under way at once, however long the history is.
            if not free:
                free.append(1 << slots)
                slots += 1
            under_way[number] = Candidate(free.pop(), actions[number], number)
        elif op.function not in reads:
            begun_mask |= 1 << begun
            begun += 1


def _moments(operations: Sequence[Operation]) -> list[tuple[int, bool, int]]:
    moments = []
    for number, op in enumerate(operations):
        moments.append((op.start, False, number))
        if op.end is not None:
            moments.append((op.end, True, number))
    return sorted(moments)
