"""The annotations of component paths (table 4.2 of the thesis) and the labels of streams (table 4.3)."""

from __future__ import annotations

import enum
import re
from collections.abc import Iterable
from dataclasses import dataclass

from clew.analysis.blazes.seals import Gate, SealKey, seal_key


class Behaviour(enum.Enum):
    """Confluent or order-sensitive, read-only or changing state; the value is the severity."""

    CR = 1
    CW = 2
    OR = 3
    OW = 4

    @property
    def ordered(self) -> bool:
        """Tell whether the order of its input matters."""
        return self in (Behaviour.OR, Behaviour.OW)

    @property
    def writes(self) -> bool:
        return self in (Behaviour.CW, Behaviour.OW)


#: The annotations by what users write.
BEHAVIOURS = {"C": Behaviour.CR, **{b.name: b for b in Behaviour}}

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")


def is_name(text: str) -> bool:
    """Tell whether components, interfaces, streams and attributes may be called so."""
    return _NAME.fullmatch(text) is not None


@dataclass(frozen=True)
class Annotation:
    """What a path does with its input; ``gate`` only where order matters, None for unknown partitions.

    ``meets``: for CW, the attributes that name the partitions of other paths in which its rows are looked for, so
    that each can wait until its own is complete (the orders in ``ordered.notin(cancelled)``).  Empty if they meet
    nothing for which order matters, None if that is not known.
    """

    behaviour: Behaviour
    gate: Gate = None
    meets: Gate = None

    def __str__(self) -> str:
        return f"{self.behaviour.name}{gate_text(self.gate)}" if self.behaviour.ordered else self.behaviour.name


class LabelKind(enum.Enum):
    """What can be wrong with the contents of a stream; the value is what the thesis calls it."""

    ND_READ = "NDRead"
    TAINT = "Taint"
    SEAL = "Seal"
    ASYNC = "Async"
    RUN = "Run"
    INST = "Inst"
    SPLIT = "Split"

    @property
    def severity(self) -> int:
        return _SEVERITY[self]

    @property
    def internal(self) -> bool:
        """Tell whether reconciliation replaces it."""
        return self.severity == 0


_SEVERITY = {
    LabelKind.ND_READ: 0,
    LabelKind.TAINT: 0,
    LabelKind.SEAL: 1,
    LabelKind.ASYNC: 2,
    LabelKind.RUN: 3,
    LabelKind.INST: 4,
    LabelKind.SPLIT: 5,
}


@dataclass(frozen=True)
class Label:
    """A label; ``gate`` belongs to NDRead, ``keys`` to Seal: a stream may be sealed on more than one."""

    kind: LabelKind
    gate: Gate = None
    keys: tuple[SealKey, ...] = ()

    def __str__(self) -> str:
        if self.kind is LabelKind.ND_READ:
            return f"NDRead{gate_text(self.gate)}"
        if self.kind is LabelKind.SEAL:
            return f"Seal[{'|'.join(dict.fromkeys(map(str, self.keys)))}]"
        return str(self.kind.value)

    @property
    def severity(self) -> int:
        return self.kind.severity

    @property
    def bad(self) -> bool:
        """Worse than an order that differs: contents can differ."""
        return self.severity > LabelKind.ASYNC.severity

    def completes(self, gate: Gate) -> bool:
        """Tell whether it is a seal that is compatible with the gate."""
        return any(key.completes(gate) for key in self.keys)


#: What a stream may be that enters the dataflow.
SOURCE_LABELS = tuple(k.value for k in (LabelKind.ASYNC, LabelKind.RUN, LabelKind.INST, LabelKind.SPLIT))

TAINT = Label(LabelKind.TAINT)
ASYNC = Label(LabelKind.ASYNC)
RUN = Label(LabelKind.RUN)
INST = Label(LabelKind.INST)
SPLIT = Label(LabelKind.SPLIT)


def nd_read(gate: Gate) -> Label:
    return Label(LabelKind.ND_READ, gate=gate)


def seal(*keys: Iterable[str]) -> Label:
    """Return the label of a stream that is sealed on each of these keys."""
    return seal_label(tuple(seal_key(key) for key in keys))


def seal_label(keys: Iterable[SealKey]) -> Label:
    """Return the seal on the keys that are left; without any, order and completeness are unknown."""
    # Without doubles, in their order: labels are compared, and shown, by the tuple.
    kept = tuple(dict.fromkeys(keys))
    return Label(LabelKind.SEAL, keys=kept) if kept else ASYNC


def gate_text(gate: Gate) -> str:
    # Sorted: a gate is a set, and the same verdict must read the same in every process.
    return "[*]" if gate is None else f"[{','.join(sorted(gate))}]"
