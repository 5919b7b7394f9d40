"""From Python: a report as a file.  What makes it is imported when it is needed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from clew.budgets.deadline import Deadline
from clew.checker.api import Verdict
from clew.engine.execution import Execution
from clew.errors import UsageError
from clew.files.writing import write_whole

#: Seconds that a report may take.
DEFAULT_SECONDS = 60.0


def write_report(
    result: Verdict | Execution,
    file: str | Path,
    *,
    files: Sequence[str] = (),
    seconds: float = DEFAULT_SECONDS,
    stage: Callable[[str], None] = lambda stage: None,
) -> None:
    """Write the page that explains a verdict or a run: one HTML file that opens from disk.

    ``files`` are the program's, for the headings and the commands in it; ``stage`` is told what is being prepared.
    """
    page = report_page(result, files=files, seconds=seconds, stage=stage)
    write_whole(file, page)


def report_page(
    result: Verdict | Execution,
    *,
    files: Sequence[str] = (),
    seconds: float = DEFAULT_SECONDS,
    stage: Callable[[str], None] = lambda stage: None,
) -> str:
    """The page itself."""
    from clew.explain.explainer import Explainer
    from clew.report.verdict.page import run_page, verdict_page

    if result.program is None:
        raise UsageError("there is no program to report on", remedy="use what clew.check or clew.run returned")
    deadline = Deadline(seconds)
    with deadline.listening():
        explainer = Explainer(result.program, result.spec, deadline)
        if isinstance(result, Verdict):
            return verdict_page(result, files, explainer, stage)
        return run_page(result, files, explainer, stage)
