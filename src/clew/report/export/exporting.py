"""Export an execution: that of a result, of a recording, or of a document that a command has written."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from clew.files.json_document import Item, read_document
from clew.files.writing import write_whole
from clew.report.export.choice import Choice
from clew.report.export.formats.table import require_format, write_trace
from clew.report.export.opening import open_document
from clew.report.export.results import trace_of_result
from clew.results import Result
from clew.simulation.recordings.recording import Recording


def export(
    source: Result | Recording | str | Path,
    format: str,
    *,
    counterexample: int | None = None,
    files: Sequence[str] = (),
    to: str | Path | None = None,
    in_process: bool = False,
) -> str:
    """Return an execution in a format: "shiviz", "itf", "chrome", "otlp" or "mermaid"; see ``docs/export.md``.

    - ``source``: what ``check``, ``run``, ``check_scenario``, ``run_scenario``, ``fuzz``, ``explore``,
      ``minimize`` or ``replay`` returned, a recording, or a file with the JSON of one of these.
    - ``counterexample``: which of several, from 1 on; the first by default.
    - ``files``: of a file, the program or the scenario that it is of, where it does not lie where the document
      says, or not below the working directory.
    - ``to``: a file to write it to, as well.
    - ``in_process``: execute scenarios in this process and not in a child, for a debugger.
    """
    require_format(format)  # before anything is executed
    choice = Choice(counterexample, tuple(files), in_process)
    if isinstance(source, Result | Recording):
        trace = trace_of_result(source, choice)
    else:
        trace = open_document(read_document(source), choice)
    text = write_trace(trace, format)
    if to is not None:
        write_whole(to, text)
    return text


def export_document(document: Item, format: str, choice: Choice) -> str:
    """Return the execution that a document tells of in a format."""
    return write_trace(open_document(document, choice), format)
