"""Shows what ``clew.blazes`` returns: text, JSON, JUnit and the page."""

from __future__ import annotations

from clew.analysis.blazes.result import BlazesAnalysis
from clew.names import harmless
from clew.report.blazes.document import to_json
from clew.report.blazes.text import blazes_text, meaning, sink_text
from clew.report.renderers import PageOptions


def text(result: BlazesAnalysis) -> str:
    """Return what the terminal shows."""
    shown = blazes_text(result.verdict, harmless(_name(result)))
    if result.extraction is None:
        return shown
    from clew.report.blazes.text import extraction_text

    return shown + harmless(extraction_text(result.extraction))


def json_text(result: BlazesAnalysis) -> str:
    """Return what ``--json`` writes."""
    return to_json(result.verdict, result.file)


def junit(result: BlazesAnalysis) -> str:
    """Return what ``--junit`` writes: a case for each sink."""
    from clew.report.text.junit import Case, junit_xml

    cases = [
        Case(
            _name(result),
            f"{sink.stream.name} needs no coordination",
            "failure" if sink.label.bad else "",
            f"{sink.label}: {meaning(sink.label)}",
            sink_text(result.verdict, sink),
            str(sink.label),
        )
        for sink in result.verdict.sinks
    ]
    return junit_xml(cases, result.notices)


def page(result: BlazesAnalysis, options: PageOptions) -> str:
    """Return what ``--report`` writes."""
    from clew.report.blazes.page import blazes_page

    return blazes_page(result.verdict, _name(result))


def _name(result: BlazesAnalysis) -> str:
    return result.file or "the dataflow"
