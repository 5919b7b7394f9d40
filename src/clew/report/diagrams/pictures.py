"""Pictures as files of their own: SVG that any viewer shows, light or dark."""

from __future__ import annotations

from clew.engine.execution import Execution
from clew.errors import UsageError
from clew.explain.explainer import Explainer
from clew.explain.overview import overview
from clew.report.diagrams.lamport import lamport_of
from clew.report.diagrams.lamport_svg import diagram_svg
from clew.report.lineage.marks import lineage_marks
from clew.report.lineage.svg import lineage_svg


def diagram_picture(run: Execution) -> str:
    """The space-time diagram of a run."""
    faults = f"The run with {run.faults}" if run.faults else "The failure-free run"
    return diagram_svg(lamport_of(run), title=faults, standalone=True)


def lineage_picture(run: Execution, explainer: Explainer) -> str:
    """Why the first violation of the run stays away without its faults, and what they cut."""
    of = next((v for v in (*run.violations, *explainer.outcomes()) if explainer.explains(v)), None)
    if of is None:
        raise UsageError(
            "the failure-free run achieves nothing, so there is no lineage", remedy="give a larger --eot"
        )
    graph = explainer.lineage(of).focused
    rules = explainer.program.rules
    seen = overview(graph, rules)
    marks = lineage_marks(graph, seen, run)
    return lineage_svg(graph, seen, rules, title=f"Lineage of {of}", marks=marks, standalone=True) + "\n"
