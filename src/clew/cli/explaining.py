"""Explanations for the commands: bounded in time, never in the way of an answer that is already there."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import click

from clew.api import Verdict
from clew.cli.files import say, write_file, wrote
from clew.cli.progress import progress_display
from clew.engine.execution import Execution
from clew.errors import BudgetExhaustedError, ProgramError
from clew.faults import FaultSet
from clew.interrupt import Deadline

# What explains is imported where it is used: a check that has nothing to explain starts without it.

#: So many violated rows are explained on the terminal; the report explains all.
_MOST_ROWS = 12
#: Of so many counterexamples it is said what their losses amount to; there can be thousands.
_MOST_SUMMARIES = 40
#: Seconds for one explanation.
_SECONDS = 10.0


@dataclass(frozen=True)
class Explanation:
    """``lines`` about the first counterexample: a diagram, and why it fails; what the losses of each amount to."""

    lines: tuple[str, ...] = ()
    summaries: Mapping[FaultSet, Sequence[str]] = field(default_factory=dict)


def explanation(verdict: Verdict) -> Explanation:
    """Explain the counterexamples; a line that says so if that takes too long."""
    if not verdict.counterexamples or verdict.program is None:
        return Explanation()
    from clew.explain.failure_free import FailureFree
    from clew.explain.why import why
    from clew.report.explanation_text import explanation_lines
    from clew.report.losses_together import together_lines

    first = verdict.counterexamples[0]
    deadline = Deadline(_SECONDS)
    try:
        with deadline.listening():
            failure_free = FailureFree(verdict.program, verdict.spec, deadline)
            whys = [why(failure_free, violation, first.faults) for violation in first.violations[:_MOST_ROWS]]
            lines = explanation_lines(failure_free.run(first.faults), whys, ascii_only=ascii_only())
            several = [c.faults for c in verdict.counterexamples[:_MOST_SUMMARIES] if len(c.faults.losses) > 1]
            summaries = {f: together_lines(f, failure_free.run(f).messages) for f in several}
            return Explanation(tuple(lines), summaries)
    except (BudgetExhaustedError, ProgramError) as limit:
        return Explanation((f"  (no explanation: {limit})",))
    except Exception as mistake:  # ours; the counterexample has been confirmed and must not be lost to it
        return Explanation((f"  (no explanation, by a mistake in Clew: {mistake!r})",))


def ascii_only() -> bool:
    """Whether standard output cannot show the characters of a diagram."""
    try:
        "│●▶✗→…".encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return True
    return False


def write_page(result: Verdict | Execution, files: Sequence[str], file: str) -> None:
    """The report; if there is none in the end, the answer stands and decides the exit code."""
    from clew.report.writing import report_page

    with progress_display("preparing the report") as progress:
        stage = (lambda text: progress(0, text)) if progress else lambda text: None
        try:
            page = report_page(result, files=files, stage=stage)
        except (BudgetExhaustedError, ProgramError) as limit:
            click.echo(f"no report was written: {limit}", err=True)
            return
    write_file(file, page)
    wrote("the report", file)


def write_lineage(run: Execution, file: str) -> None:
    """The lineage of what the run violates, with the cut, or of the first outcome if it violates nothing."""
    from clew.explain.explainer import Explainer
    from clew.report.pictures import lineage_picture

    assert run.program is not None, "an execution that was just performed knows its program"
    deadline = Deadline(_SECONDS)
    with deadline.listening():
        picture = lineage_picture(run, Explainer(run.program, run.spec, deadline))
    write_file(file, picture)
    wrote("the lineage", file)


def write_diagram(run: Execution, file: str) -> None:
    from clew.report.pictures import diagram_picture

    write_file(file, diagram_picture(run))
    wrote("the diagram", file)


def show_diagram(run: Execution) -> None:
    from clew.report.explanation_text import diagram_text

    say(diagram_text(run, ascii_only=ascii_only()))
