"""The inference step (figure 4.6 of the thesis): what a path makes of the label of its input.

A label for which a rule fires is replaced by what the rule gives; otherwise it passes, which is rule ``p``.  Rule
``o`` is for components whose input is ordered: then there is no order to be sensitive to (rules 1, 2 and 4),
except that an order that is decided while the system runs differs from run to run.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

from clew.analysis.blazes.annotations import (
    INST,
    RUN,
    TAINT,
    Annotation,
    Behaviour,
    Label,
    LabelKind,
    nd_read,
)
from clew.analysis.blazes.dataflow import Ordering


class Rule(enum.Enum):
    """The rules, by their names in figure 4.6."""

    UNORDERED_READ = "1"
    UNORDERED_WRITE = "2"
    DIVERGENT_WRITE = "3"
    UNCOMPLETED = "4"
    PASS = "p"
    ORDERED = "o"


@dataclass(frozen=True)
class Inferred:
    """What a rule gives."""

    rule: Rule
    labels: tuple[Label, ...]


def infer(label: Label, annotation: Annotation, ordering: Ordering = Ordering.NONE) -> Inferred:
    """Return the labels that a path gives to its output; a seal keeps the attributes of the input."""
    fired = _fire_rule(label, annotation)
    if fired is None:
        return Inferred(Rule.PASS, (label,))
    # Rule 3 is about contents that differ before they arrive, and no order repairs these.
    if fired.rule is Rule.DIVERGENT_WRITE or ordering is Ordering.NONE:
        return fired
    if ordering is Ordering.DYNAMIC:
        return Inferred(Rule.ORDERED, (RUN,))
    return Inferred(Rule.ORDERED, (label,))


def _fire_rule(label: Label, annotation: Annotation) -> Inferred | None:
    behaviour, gate = annotation.behaviour, annotation.gate
    if label == INST and behaviour.writes:
        return Inferred(Rule.DIVERGENT_WRITE, (TAINT,))
    if not behaviour.ordered:
        return None
    if label.kind in (LabelKind.ASYNC, LabelKind.RUN):
        if behaviour is Behaviour.OW:
            return Inferred(Rule.UNORDERED_WRITE, (TAINT,))
        # A read of contents that differ between runs shows that, whether its own race is settled or not.
        kept = (RUN,) if label == RUN else ()
        return Inferred(Rule.UNORDERED_READ, (nd_read(gate), *kept))
    if label.kind is LabelKind.SEAL and not label.completes(gate):
        return Inferred(Rule.UNCOMPLETED, (TAINT if behaviour is Behaviour.OW else nd_read(gate),))
    return None
