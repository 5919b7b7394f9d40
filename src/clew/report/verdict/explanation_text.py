"""What follows a counterexample on the terminal: the run as a diagram, and why it fails."""

from __future__ import annotations

from collections.abc import Sequence

from clew.engine.execution import Execution
from clew.explain.explanation import Explanation
from clew.faults import FaultSet
from clew.report.diagrams.lamport import Diagram, lamport_of
from clew.report.diagrams.lamport_text import diagram_lines
from clew.report.verdict.text import outcome_lines, run_heading
from clew.report.verdict.why_text import why_lines


def diagram_text(run: Execution, *, ascii_only: bool) -> str:
    """One run: its faults, the diagram, and how it ends."""
    picture = diagram_lines(lamport_of(run), ascii_only=ascii_only)
    lines = [*run_heading(run), "", *picture, "", *outcome_lines(run)]
    return "\n".join(_plain(lines, ascii_only)) + "\n"


def explanation_lines(
    diagram: Diagram, rows: Sequence[Explanation], faults: FaultSet, *, left_out: int = 0, ascii_only: bool
) -> list[str]:
    """The failing run as a diagram, and why rows are violated in it; ``left_out``: so many more are."""
    lines = ["", *diagram_lines(diagram, ascii_only=ascii_only), ""]
    reasons = [*why_lines(rows, faults, diagram.last, left_out=left_out, ascii_only=ascii_only)]
    lines += [*reasons, ""] if reasons else []
    return _plain(lines, ascii_only)


def _plain(lines: list[str], ascii_only: bool) -> list[str]:
    if not ascii_only:
        return lines
    spelt = (line.replace("→", "->").replace("…", "...") for line in lines)
    return [line.encode("ascii", "backslashreplace").decode() for line in spelt]
