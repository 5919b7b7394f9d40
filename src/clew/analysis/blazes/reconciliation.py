"""The reconciliation step (figure 4.7 of the thesis): one label for an output, from those of the paths to it.

Three cases are settled by the text of section 4.4, where the figure is silent or literally wrong:

- A read is protected only by what it can meet: every label at the output is a read of the same partitions or
  sealed compatibly, *and some path writes what is sealed*.  Read literally, the figure protects a lone read, and
  a sealed read protects its unsealed neighbour, which has nothing to do with it.
- A compatible seal into OR[gate] or OW[gate] next to a path that writes what is not sealed: what is asked for
  is complete, what it meets is not.  So it races with that path as if its own input were not sealed.
  Except where that path says whose partitions its rows are looked for in: then each waits for its own.
- A single instance that stores what differs between replicas shows the difference on: Taint adds to the label
  of the input, it does not take its place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from clew.analysis.blazes.annotations import (
    ASYNC,
    INST,
    RUN,
    SPLIT,
    TAINT,
    Annotation,
    Behaviour,
    Label,
    LabelKind,
    seal_label,
)
from clew.analysis.blazes.dataflow import Ordering
from clew.analysis.blazes.seals import BY_NAME, Gate, Lineage, common_keys


@dataclass(frozen=True)
class Arriving:
    """A label at an output, and the path that it came by.

    ``before`` is the label of the path's input.  A seal has the attributes of the path's input.
    """

    label: Label
    annotation: Annotation
    lineage: Lineage = BY_NAME
    before: Label = ASYNC


def reconcile(arriving: Sequence[Arriving], replicated: bool = False, ordering: Ordering = Ordering.NONE) -> Label:
    """Return the label of an output."""
    kept = [_behind(a) for a in arriving if not a.label.kind.internal]
    for one in arriving:
        if one.label == TAINT:
            # Taint adds to the label of the input where there is one instance
            # (section 4.4): it shows on what it was given.
            kept += [SPLIT] if replicated else [RUN, one.before]
        elif one.label.kind is LabelKind.ND_READ:
            safe = is_protected(one.label.gate, arriving)
            kept.append(ASYNC if safe else INST if replicated else RUN)
        # A sequence that is the same in every run leaves nothing to race for.
        elif ordering is not Ordering.SEQUENCE and any(races(one, other) for other in arriving):
            diverges = SPLIT if one.annotation.behaviour.writes else INST
            kept.append(diverges if replicated and ordering is Ordering.NONE else RUN)
    return _worst(kept)


def races(sealed_input: Arriving, other: Arriving) -> bool:
    """Return whether what a sealed stream meets may still be written on the other path.

    Two order-sensitive writes are each complete with a seal of their own: rule 4 has seen to both.
    """
    behaviour = sealed_input.annotation.behaviour
    if sealed_input.label.kind is not LabelKind.SEAL or not behaviour.ordered:
        return False
    if behaviour is Behaviour.OW and (other.annotation.behaviour is Behaviour.OW or waits(sealed_input, other)):
        return False
    return other.annotation.behaviour.writes and not other.label.completes(sealed_input.annotation.gate)


def waits(sealed_input: Arriving, other: Arriving) -> bool:
    """Return whether rows that are stored on the other path can wait for the partition that they name.

    Or need not wait.  What is sealed is stored as well, so it is still there for rows that come after the seal.
    """
    meets, gate = other.annotation.meets, sealed_input.annotation.gate
    if other.annotation.behaviour is not Behaviour.CW or meets is None or gate is None:
        return False
    return not meets or sealed_input.label.completes(gate & meets)


def is_protected(gate: Gate, arriving: Sequence[Arriving]) -> bool:
    """Return whether a read of these partitions meets only what is complete, and meets anything at all."""
    return all(is_harmless(gate, a.label) for a in arriving) and any(
        a.annotation.behaviour.writes and a.label.completes(gate) for a in arriving
    )


def is_harmless(gate: Gate, label: Label) -> bool:
    """Return whether a read of these partitions cannot race with what has this label."""
    return label.gate == gate if label.kind is LabelKind.ND_READ else label.completes(gate)


def _behind(arriving: Arriving) -> Label:
    """Return a seal behind its path: with the names that its key has there, if it still has any."""
    if arriving.label.kind is not LabelKind.SEAL:
        return arriving.label
    keys = (key.through(arriving.lineage) for key in arriving.label.keys)
    return seal_label(key for key in keys if key is not None)


def _worst(labels: Sequence[Label]) -> Label:
    # Seal is the mildest (table 4.3), so it is the answer only if every path gives one.
    worst = max(labels, key=lambda label: label.severity, default=ASYNC)
    if worst.kind is not LabelKind.SEAL:
        return worst
    return seal_label(common_keys([label.keys for label in labels]))
