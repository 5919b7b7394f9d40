"""The result of a CALM analysis in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from clew.analysis.calm.analysis import Analysis, CalmVerdict, Label, Output, Point, verdict_of
from clew.report.text.plain import pluralize, shorten

#: How much of a rule is shown.
LONGEST_RULE = 100

WORDS = {
    Label.MONOTONE: "consistent without coordination: inputs in any order and batching lead to the same rows",
    Label.ASYNCHRONOUS: "consistent without coordination: inputs and messages in any order lead to the same rows",
    Label.NONMONOTONE: "decided by the sequence of steps: which rows each step is given, and which steps get none",
    Label.DIVERGES: "order can change the outcome",
    Label.UNKNOWN: "underspecified: it depends on an interface that no rule derives",
}

INVARIANT_WORDS = {
    Label.MONOTONE: "inputs in any order and batching break it, or in none",
    Label.ASYNCHRONOUS: "inputs and messages in any order break it, or in none",
    Label.NONMONOTONE: "the sequence of steps can decide whether it is broken",
    Label.DIVERGES: "order can decide whether it is broken",
    Label.UNKNOWN: WORDS[Label.UNKNOWN],
}

_ANSWERS = {
    CalmVerdict.CONSISTENT: "CONSISTENT",
    CalmVerdict.DEPENDS_ON_STEPS: "DEPENDS ON THE SEQUENCE OF STEPS",
    CalmVerdict.UNDERSPECIFIED: "UNDERSPECIFIED",
    CalmVerdict.ORDER_MATTERS: "ORDER MATTERS",
}


def answer(analysis: Analysis) -> str:
    """Return the result in a few words."""
    return _ANSWERS[verdict_of(analysis)]


def calm_text(analysis: Analysis) -> str:
    """List the labels of all outputs, and the points of order with the rules that they are in."""
    return "\n".join(_lines(analysis)) + "\n"


def output_text(output: Output, analysis: Analysis) -> str:
    """Return one output alone."""
    return "\n".join(_output(output, analysis)) + "\n"


def _lines(analysis: Analysis) -> Iterator[str]:
    flow = analysis.flow
    size = f"{pluralize(len(flow.nodes), 'collection')}, {pluralize(len(flow.statements), 'rule')}"
    yield f"{answer(analysis)}: {flow.name} ({size}, {pluralize(len(analysis.outputs), 'output')})"
    fixed = [s.name for s in analysis.sources if s.fixed and flow.outgoing[s.name]]
    if fixed:
        yield f"  taken as fixed, because no input reaches them: {', '.join(fixed)}"
    for output in analysis.outputs:
        yield ""
        yield from _output(output, analysis)
    if analysis.invariants:
        yield ""
        yield "Invariants (the answer is about executions in which they hold):"
    for invariant in analysis.invariants:
        yield ""
        yield from _output(invariant, analysis, INVARIANT_WORDS)


def _output(output: Output, analysis: Analysis, words: Mapping[Label, str] = WORDS) -> Iterator[str]:
    yield f"{output.name}: {output.label.value}, {words[output.label]}"
    if output.ways:
        yield f"  from {', '.join(f'{way.source}: {way.label.value}' for way in output.ways)}"
    if output.points:
        yield f"  {pluralize(len(output.points), 'point')} of order:"
    for point in output.points:
        yield from _point(point, analysis)


def _point(point: Point, analysis: Analysis) -> Iterator[str]:
    statement = analysis.flow.statements[point.statement]
    place = f"{statement.position.file}:{statement.position.line}" if statement.position else "a rule"
    block = f" in {statement.block}" if statement.block else ""
    yield f"    {place}{block}: {'; '.join(point.reasons)}"
    yield f"        {shorten(statement.text, LONGEST_RULE)}"
