"""The reconciliation step (figure 4.7 of the thesis): one label for an output, from those of the paths to it.

One case is open in the figure: a compatible seal into OR[gate], next to a path that writes what is not sealed.
The text of section 4.4 settles it: a read is protected only if *all* streams that it can meet are sealed.  So it
races with that other path as if its own input were not sealed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from clew.consistency.blazes.annotations import (
    ASYNC,
    INST,
    RUN,
    SPLIT,
    TAINT,
    Annotation,
    Behaviour,
    Label,
    LabelKind,
    sealed,
)
from clew.consistency.blazes.dataflow import Ordering
from clew.consistency.blazes.seals import BY_NAME, Gate, Lineage, common_keys


@dataclass(frozen=True)
class Arriving:
    """A label at an output, and the path that it came by.  A seal has the attributes of the path's input."""

    label: Label
    annotation: Annotation
    lineage: Lineage = BY_NAME


def reconcile(arriving: Sequence[Arriving], replicated: bool = False, ordering: Ordering = Ordering.NONE) -> Label:
    """The label of an output."""
    labels = [a.label for a in arriving]
    kept = [_behind(a) for a in arriving if not a.label.kind.internal]
    if TAINT in labels:
        kept.append(SPLIT if replicated else RUN)
    if any(label.kind is LabelKind.ND_READ for label in labels):
        kept.append(ASYNC)
    if any(label.kind is LabelKind.ND_READ and not protected(label.gate, labels) for label in labels):
        kept.append(INST if replicated else RUN)
    if ordering is not Ordering.SEQUENCE and any(races(a, other) for a in arriving for other in arriving):
        kept.append(INST if replicated and ordering is Ordering.NONE else RUN)
    return _worst(kept)


def races(read: Arriving, other: Arriving) -> bool:
    """Whether what is read by a sealed stream may still be written on the other path."""
    if read.label.kind is not LabelKind.SEAL or read.annotation.behaviour is not Behaviour.OR:
        return False
    return other.annotation.behaviour.writes and not other.label.completes(read.annotation.gate)


def protected(gate: Gate, labels: Sequence[Label]) -> bool:
    """Whether a read of these partitions can race with nothing: all else is such a read, or is complete."""
    return all(
        label.gate == gate if label.kind is LabelKind.ND_READ else label.completes(gate) for label in labels
    )


def _behind(arriving: Arriving) -> Label:
    """A seal behind its path: with the names that its key has there, if it still has any."""
    if arriving.label.kind is not LabelKind.SEAL:
        return arriving.label
    keys = (key.through(arriving.lineage) for key in arriving.label.keys)
    return sealed(key for key in keys if key is not None)


def _worst(labels: Sequence[Label]) -> Label:
    worst = max(labels, key=lambda label: label.severity, default=ASYNC)
    if worst.kind is not LabelKind.SEAL:
        return worst
    return sealed(common_keys([label.keys for label in labels]))
