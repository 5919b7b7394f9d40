"""The result of a CALM analysis as a page: the labels, the points of order and the picture, in one file.

It has no script and its policy admits none; what comes from the program is escaped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version

from markupsafe import Markup

from clew.analysis.calm.analysis import Analysis, Label, Output
from clew.report.calm import svg as dataflow_svg
from clew.report.calm.text import INVARIANT_WORDS, WORDS, answer
from clew.report.text.colours import COLOURS
from clew.report.text.html import page_part, page_template, speakable


@dataclass(frozen=True)
class _OutputRow:
    name: str
    label: str
    meaning: str
    ways: str


@dataclass(frozen=True)
class _PointRow:
    place: str
    reasons: str
    outputs: str
    text: str


def calm_page(analysis: Analysis) -> str:
    """Return the whole HTML file."""
    style = "\n".join([COLOURS, page_part("page.css"), dataflow_svg.STYLE])
    template = page_template("calm.html")
    return template.render(
        kind="good-run" if analysis.consistent else "violated-run",
        answer=answer(analysis),
        name=speakable(analysis.flow.name),
        cautions=[speakable(str(notice)) for notice in analysis.flow.notices],
        outputs=_outputs(analysis.outputs, WORDS),
        invariants=_outputs(analysis.invariants, INVARIANT_WORDS),
        points=_points(analysis),
        style=Markup(style),
        svg=Markup(dataflow_svg.dataflow_svg(analysis)),
        version=version("clew"),
    )


def _outputs(outputs: Sequence[Output], words: Mapping[Label, str]) -> Sequence[_OutputRow]:
    return [
        _OutputRow(
            speakable(output.name),
            output.label.value,
            words[output.label],
            speakable(", ".join(f"{way.source}: {way.label.value}" for way in output.ways)),
        )
        for output in outputs
    ]


def _points(analysis: Analysis) -> Sequence[_PointRow]:
    """List each rule once, with the outputs that it matters to."""
    found: dict[int, tuple[dict[str, None], list[str]]] = {}
    for output in (*analysis.outputs, *analysis.invariants):
        for point in output.points:
            reasons, outputs = found.setdefault(point.statement, ({}, []))
            reasons.update(dict.fromkeys(point.reasons))
            outputs.append(output.name)
    rows = []
    for number, (reasons, outputs) in sorted(found.items()):
        statement = analysis.flow.statements[number]
        place = f"{statement.position.file}:{statement.position.line}" if statement.position else "a rule"
        if statement.block:
            place += f" in {statement.block}"
        shown = (place, "; ".join(reasons), ", ".join(outputs), statement.text)
        rows.append(_PointRow(*map(speakable, shown)))
    return rows
