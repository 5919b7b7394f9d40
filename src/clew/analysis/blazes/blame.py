"""Which components make a label worse than what reaches them, and by which of their paths."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from clew.analysis.blazes.annotations import TAINT, Label, LabelKind
from clew.analysis.blazes.derivation import Derivation, Reconciled, Step, upstream
from clew.analysis.blazes.inference import Rule
from clew.analysis.blazes.reconciliation import is_harmless, is_protected, races


@dataclass(frozen=True)
class Cause:
    """A path that spoils the output; what it reads, the streams of ``racing`` may still change.

    Without ``racing``, it is the order of its own input that matters.
    """

    step: Step
    racing: tuple[Step, ...] = ()

    @property
    def by_order(self) -> bool:
        """Tell whether an order of the inputs would prevent it."""
        return self.step.inferred.rule is not Rule.DIVERGENT_WRITE


@dataclass(frozen=True)
class Blame:
    """An output whose label is worse than those of the inputs.  ``components``: several for a cycle."""

    components: tuple[str, ...]
    output: str
    label: Label
    causes: tuple[Cause, ...]


def find_blame(derivation: Derivation) -> tuple[Blame, ...]:
    """Return the components to blame for a label, the farthest from the sink first."""
    found = [
        Blame(node.component.cycle or (node.component.name,), node.output, node.label, tuple(_causes(node)))
        for node in upstream(derivation)
        if isinstance(node, Reconciled) and _worsens(node)
    ]
    # What is nearest to the source is where the trouble begins; all behind it only pass it on.
    return tuple(reversed(found))


def _worsens(node: Reconciled) -> bool:
    return node.label.severity > max((step.label.severity for step in node.steps), default=0) and node.label.bad


def _causes(node: Reconciled) -> Iterator[Cause]:
    tainting = [step for step in node.steps if TAINT in step.inferred.labels]
    yield from (Cause(step) for step in tainting)
    if tainting and node.replicated:
        return  # what is read differs, too, but what is stored diverges
    for step in node.steps:
        racing = _racing(step, node)
        if racing or _is_lone_read(step, node):
            yield Cause(step, racing)


def _racing(step: Step, node: Reconciled) -> tuple[Step, ...]:
    """Return the steps that may change what a step reads; none if it does not read, or is protected."""
    if _reads(step):
        gate = step.path.annotation.gate
        return tuple(s for s in node.steps if not all(is_harmless(gate, label) for label in s.inferred.labels))
    return tuple(
        s for s in node.steps if any(races(one, another) for one in step.arriving for another in s.arriving)
    )


def _is_lone_read(step: Step, node: Reconciled) -> bool:
    """Return whether nothing that is sealed makes the read wait."""
    return _reads(step) and not is_protected(step.path.annotation.gate, node.arriving)


def _reads(step: Step) -> bool:
    return any(label.kind is LabelKind.ND_READ for label in step.inferred.labels)
