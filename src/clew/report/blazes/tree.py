"""The derivation of a label as a tree of inferences, in the notation of section 4.4 of the thesis.

Premises stand above a line, the conclusion below.  Left of the line is the rule of an inference, or the component
whose output is reconciled.  A tree that would not fit is taken apart: one tree an output, producers first.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from clew.analysis.blazes.annotations import Label
from clew.analysis.blazes.dataflow import End, Stream
from clew.analysis.blazes.derivation import (
    Derivation,
    Labelled,
    Reconciled,
    SourceLabel,
    Step,
    sink_label,
    upstream,
)

#: Trees are at most this wide ...
WIDEST = 110
#: ... and are not even tried with more premises, or more outputs one above the other.
_MOST_LEAVES = 16
_DEEPEST = 24

Block = tuple[str, ...]


def derivation_trees(labelled: Labelled, sink: Stream) -> list[Block]:
    """Return one tree, or several where one would not fit."""
    derivation = labelled.derivation(sink)
    outputs = {node.end: node for node in upstream(derivation) if isinstance(node, Reconciled)}
    needed = [node for node in labelled.outputs if node.end in outputs]
    if _is_small(needed):
        tree = _at_sink(_whole(derivation), labelled.label(sink), derivation.label, sink)
        if len(tree[0]) <= WIDEST:
            return [tree]
    # Producers first, so that each tree rests on those above it.
    return [*(_apart(node) for node in needed[:-1]), *_last(needed, labelled, sink)]


def _last(needed: Sequence[Reconciled], labelled: Labelled, sink: Stream) -> list[Block]:
    return [_at_sink(_apart(node), labelled.label(sink), node.label, sink) for node in needed[-1:]]


def _is_small(outputs: Sequence[Reconciled]) -> bool:
    """Tell whether one tree can be tried: what is used several times stands in it several times."""
    leaves: dict[End, int] = {}
    depth: dict[End, int] = {}
    for node in outputs:
        above = [step.premise.end for step in node.steps if isinstance(step.premise, Reconciled)]
        leaves[node.end] = sum(leaves[end] for end in above) + len(node.steps) - len(above)
        depth[node.end] = 1 + max((depth[end] for end in above), default=0)
    return max(leaves.values(), default=0) <= _MOST_LEAVES and max(depth.values(), default=0) <= _DEEPEST


def _whole(derivation: Derivation) -> Block:
    if isinstance(derivation, SourceLabel):
        return _leaf(derivation.stream.name, derivation.label)
    return _reconciliation(derivation, [_inference(step, _whole(step.premise)) for step in derivation.steps])


def _apart(node: Reconciled) -> Block:
    return _reconciliation(node, [_inference(step, _premise(step)) for step in node.steps])


def _premise(step: Step) -> Block:
    return _leaf(step.stream.name, step.premise.label)


def _leaf(name: str, label: Label) -> Block:
    return _center([name, str(label)])


def _inference(step: Step, premise: Block) -> Block:
    if step.label != step.premise.label:
        premise = _under(premise, step.stream.name, str(step.label))
    above = _beside([premise, (str(step.path.annotation),)])
    return _under(above, f"({step.inferred.rule.value})", ", ".join(map(str, step.inferred.labels)))


def _reconciliation(node: Reconciled, premises: Sequence[Block]) -> Block:
    extra: list[Block] = [("Rep",)] if node.replicated else []
    return _under(_beside([*premises, *extra]), node.component.name, str(node.label))


def _at_sink(tree: Block, label: Label, produced: Label, sink: Stream) -> Block:
    if label != produced:
        tree = _under(tree, sink.name, str(label))
    return tree if sink_label(label) == label else _under(tree, "sink", str(sink_label(label)))


def _under(above: Block, name: str, conclusion: str) -> Block:
    width = max(len(above[0]), len(conclusion))
    indent = " " * (len(name) + 1)
    return (
        *(indent + line.center(width) for line in above),
        f"{name} {'─' * width}",
        indent + conclusion.center(width),
    )


def _beside(blocks: Sequence[Block]) -> Block:
    """Put blocks side by side, on the same ground."""
    rows = list(zip_longest(*(reversed(block) for block in blocks)))
    widths = [len(block[0]) for block in blocks]
    lines = [
        "   ".join(" " * width if cell is None else cell for cell, width in zip(row, widths, strict=True))
        for row in reversed(rows)
    ]
    return tuple(lines)


def _center(lines: Sequence[str]) -> Block:
    width = max(map(len, lines))
    return tuple(line.center(width) for line in lines)
