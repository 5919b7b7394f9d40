"""Documents that tell of an execution: which there are, and how each comes to its events again.

The JSON of ``clew run`` has all of them; every other document has what leads to them, and is executed again by the
means of ``clew replay``, with the same care about what it names.  What comes of that is compared with what the
document says, and nothing is exported that it does not say.
"""

from __future__ import annotations

from collections.abc import Callable

from clew.errors import UsageError
from clew.files.json_document import Item, format_of, quote_short
from clew.report.export.choice import Choice
from clew.report.export.events import Trace
from clew.report.verdict.document import FORMAT as VERDICT_FORMAT
from clew.simulation.recordings.recording import FORMAT as RECORDING_FORMAT

_RUN, _CODE_RUN, _CODE_CHECK = "clew run", "clew run of code", "clew check of code"
_FUZZ, _EXPLORE, _MINIMIZE = "clew fuzz", "clew explore", "clew minimize"

#: What has no execution in it, and what has: by what the document calls itself.
_OTHERS = {
    _MINIMIZE: "record the execution: clew minimize REC.json -o MIN.json, and export MIN.json",
    "clew grid": "check one setting: clew check FILE --json FILE, and export that",
    "clew replay": "export the recording that was replayed",
    "clew replayed verdict": "export the verdict that was replayed",
    "clew test": "clew check or clew fuzz has the execution of a model",
    "clew calm": "it is about all orders; an execution is what clew check and clew run have",
    "clew blazes": "it is about all orders; an execution is what clew check and clew run have",
    "clew verification": "a proof says that no execution breaks it",
}


def open_document(document: Item, choice: Choice) -> Trace:
    """Return the execution that a document tells of."""
    # The readers are imported when they are needed: one document is about models, another about code.
    kind = format_of(document)
    if kind not in _READERS:
        remedy = _OTHERS.get(kind, f"give a file that one of these wrote: {', '.join(_READERS)}")
        said = quote_short(kind)
        raise UsageError(f"{document.file}: is a {said}, which has no execution to export", remedy=remedy)
    return _READERS[kind](document, choice)


def _open_verdict(document: Item, choice: Choice) -> Trace:
    from clew.report.export.model_documents import trace_of_verdict

    return trace_of_verdict(document, choice)


def _open_run(document: Item, choice: Choice) -> Trace:
    from clew.report.export.model_documents import trace_of_run_document

    return trace_of_run_document(document, choice)


def _open_recording(document: Item, choice: Choice) -> Trace:
    from clew.report.export.recorded import trace_of_opened
    from clew.simulation.recordings.reading import open_saved, read_recording

    choice.refuse_number(document.file)
    return trace_of_opened(open_saved(read_recording(document), *choice.one_file()), choice, document.file)


def _open_code(document: Item, choice: Choice) -> Trace:
    from clew.report.export.scenario_documents import trace_of_code_document

    return trace_of_code_document(document, choice)


def _open_fuzz(document: Item, choice: Choice) -> Trace:
    from clew.report.export.scenario_documents import trace_of_fuzz

    return trace_of_fuzz(document, choice)


def _open_exploration(document: Item, choice: Choice) -> Trace:
    from clew.report.export.scenario_documents import trace_of_exploration

    return trace_of_exploration(document, choice)


_READERS: dict[str, Callable[[Item, Choice], Trace]] = {
    VERDICT_FORMAT: _open_verdict,
    _RUN: _open_run,
    RECORDING_FORMAT: _open_recording,
    _CODE_CHECK: _open_code,
    _CODE_RUN: _open_code,
    _FUZZ: _open_fuzz,
    _EXPLORE: _open_exploration,
}
