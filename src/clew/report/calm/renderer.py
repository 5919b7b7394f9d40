"""Shows what ``clew.calm`` returns: text, JSON, JUnit and the page."""

from __future__ import annotations

from clew.analysis.calm.analysis import Label
from clew.analysis.calm.result import CalmAnalysis
from clew.names import harmless
from clew.report.calm.document import calm_json
from clew.report.calm.text import WORDS, calm_text, output_text
from clew.report.renderers import PageOptions

#: What CI systems make of a label: N is no failure, and no promise either.
_KINDS = {Label.MONOTONE: "", Label.ASYNCHRONOUS: "", Label.NONMONOTONE: "error"}


def text(result: CalmAnalysis) -> str:
    """Return what the terminal shows."""
    return harmless(calm_text(result.analysis)) + trials_text(result)


def trials_text(result: CalmAnalysis) -> str:
    """Return what came of random orders; nothing if none were tried."""
    if not result.trials:
        return ""
    from clew.report.calm.orders_text import orders_text

    return harmless(orders_text(result.trials))


def json_text(result: CalmAnalysis) -> str:
    """Return what ``--json`` writes."""
    return calm_json(result.analysis, result.files, result.trials)


def junit(result: CalmAnalysis) -> str:
    """Return what ``--junit`` writes: a case for each output, and one for the orders that were tried."""
    from clew.report.text.junit import Case, junit_xml

    analysis = result.analysis
    cases = [
        Case(
            analysis.flow.name,
            f"{output.name} is consistent",
            _KINDS.get(output.label, "failure"),
            f"{output.label.value}: {WORDS[output.label]}",
            output_text(output, analysis),
            output.label.value,
        )
        for output in analysis.outputs
    ]
    if result.trials:
        kind = "failure" if result.contradicted else ""
        tried = trials_text(result)
        name = "random orders agree with the labels"
        cases.append(Case(analysis.flow.name, name, kind, result.reason or "", tried, "contradicted"))
    return junit_xml(cases, result.notices)


def page(result: CalmAnalysis, options: PageOptions) -> str:
    """Return what ``--report`` writes."""
    from clew.report.calm.page import calm_page

    return calm_page(result.analysis)
