"""From Python: a report as a file.  What makes it is imported when it is needed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from clew.files.writing import write_whole
from clew.report.renderers import DEFAULT_SECONDS, PageOptions, renderer_of
from clew.results import Result


def write_report(
    result: Result,
    file: str | Path,
    *,
    seconds: float = DEFAULT_SECONDS,
    stage: Callable[[str], None] = lambda stage: None,
) -> None:
    """Write the page that explains a result, whichever function returned it: one HTML file that opens from disk.

    ``seconds``: how long explaining may take.  ``stage`` is told what is being prepared.
    """
    write_whole(file, report_page(result, PageOptions(seconds, stage)))


def report_page(result: Result, options: PageOptions) -> str:
    """Return the page itself."""
    return renderer_of(result).page(result, options)
