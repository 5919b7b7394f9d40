"""The verdict on a dataflow as a page: sinks with blame and remedies, derivations and the picture, in one file.

It has no script and its policy admits none; what comes from the file is escaped.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import version

from markupsafe import Markup

from clew.analysis.blazes.verdict import SinkVerdict, Verdict
from clew.report.blazes import svg as blazes_svg
from clew.report.blazes.text import blame_text, meaning, remedy_text
from clew.report.blazes.tree import derivation_trees
from clew.report.text.colours import COLOURS
from clew.report.text.html import page_part, page_template, speakable


@dataclass(frozen=True)
class _Sink:
    name: str
    label: str
    meaning: str
    blame: tuple[str, ...]
    remedies: tuple[str, ...]
    trees: tuple[str, ...]


def blazes_page(verdict: Verdict, file: str) -> str:
    """Return the whole HTML file."""
    style = "\n".join([COLOURS, page_part("page.css"), blazes_svg.STYLE])
    template = page_template("blazes.html")
    return template.render(
        kind="violated-run" if verdict.worst.bad else "good-run",
        answer="INCONSISTENT" if verdict.worst.bad else "CONSISTENT",
        name=speakable(file),
        sinks=[_sink(verdict, sink) for sink in verdict.sinks],
        style=Markup(style),
        svg=Markup(blazes_svg.blazes_svg(verdict)),
        version=version("clew"),
    )


def _sink(verdict: Verdict, sink: SinkVerdict) -> _Sink:
    return _Sink(
        sink.stream.name,
        str(sink.label),
        meaning(sink.label),
        tuple(blame_text(blame) for blame in sink.blame),
        tuple(f"{remedy_text(remedy)}; then it is {remedy.after}" for remedy in sink.remedies),
        tuple(
            "\n".join(line.rstrip() for line in tree) for tree in derivation_trees(verdict.labelled, sink.stream)
        ),
    )
