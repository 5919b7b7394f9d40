"""What pytest tells of tests with checks: failures in the words of Clew, properties of JUnit, what was covered."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

import clew
from clew.pytest_plugin.failing import CheckFailedError
from clew.pytest_plugin.running import RunningTest
from clew.pytest_plugin.texts import MOST_LINES, fit

_COVERED = "clew_covered"
#: So many tests are listed at the end of a run, and so many notes of Hypothesis below a failure; -v lists all.
_MOST_LISTED, _MOST_NOTES = 10, 12
#: So much of what a test printed is shown beside a failure: nodes may print at each of thousands of events.
_MOST_PRINTED = 3
#: Where Clew is, and what Hypothesis calls its list of lines.
_OURS, _EXPLANATION = str(Path(clew.__file__).parent), "Explanation:"


def complete_report(test: RunningTest, call: pytest.CallInfo[None], report: pytest.TestReport) -> None:
    """Complete the report of a phase of a test in which something was checked."""
    error = call.excinfo.value if call.excinfo is not None else None
    if error is not None:
        report.sections = [(name, _shorten(text)) for name, text in report.sections]
    for failure in _failures_in(error):
        begun = time.monotonic()
        lines = failure.lines  # made small, stored and told only now
        # Or nobody would know what took so long: pytest has stopped its clock before.
        report.duration += time.monotonic() - begun
        if failure is error:
            _replace_text(report, [*lines, *_notes_of(error)], failure.headline)
        else:
            report.sections.append(("clew", "\n".join(fit(lines))))
    if error is not None and error is test.refused:
        _replace_text(report, [*str(error).splitlines(), *_notes_of(error)], str(error).splitlines()[0])
    if call.when == "call":
        _add_properties(test, report)


def _failures_in(error: BaseException | None) -> Iterator[CheckFailedError]:
    """Yield the failed checks in what was raised: Hypothesis raises several failures as a group."""
    if isinstance(error, CheckFailedError):
        yield error
    elif isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _failures_in(inner)


def _notes_of(error: BaseException | None) -> list[str]:
    """Return what others have to say about a failure, as Hypothesis the inputs that it drew."""
    lines = [line for note in getattr(error, "__notes__", ()) for line in str(note).splitlines()]
    # Hypothesis lists lines that only examples that fail execute: those of the user matter, ours do not.
    lines = [line for line in lines if _OURS not in line]
    if _EXPLANATION in lines and not any(".py:" in line for line in lines[lines.index(_EXPLANATION) :]):
        lines = lines[: lines.index(_EXPLANATION)]
    return ["", *lines[:_MOST_NOTES]] if lines else []


def _replace_text(report: pytest.TestReport, lines: Sequence[str], headline: str) -> None:
    """Let a report show these lines, and no traceback."""
    printed = sum(len(text.splitlines()) + 1 for _, text in report.sections)
    try:
        raise _ShownError("\n".join(fit(lines, MOST_LINES - printed)))
    except _ShownError as shown:
        told = pytest.ExceptionInfo.from_exception(shown).getrepr(style="value")
    crash = getattr(report.longrepr, "reprcrash", None)
    if crash is not None and told.reprcrash is not None:
        # Where the test is, and one line: what the summary shows, and JUnit as the message.
        told.reprcrash.path, told.reprcrash.lineno = crash.path, crash.lineno
        told.reprcrash.message = headline
    report.longrepr = told


class _ShownError(Exception):
    """Lines for a report, in the form in which pytest shows and transports them."""


def _shorten(text: str) -> str:
    """Keep the end of what was printed."""
    lines = text.splitlines()
    if len(lines) <= _MOST_PRINTED:
        return text
    return "\n".join([f"... {len(lines) - _MOST_PRINTED} lines; -s shows all", *lines[-_MOST_PRINTED:]])


# -- properties --------------------------------------------------------------------------------------------------


def _add_properties(test: RunningTest, report: pytest.TestReport) -> None:
    """Add what JUnit shows; the test keeps it, for the report of its teardown is the one that JUnit reads."""
    added = [*test.properties, *_covered(test), *(("clew_note", note) for note in test.notes)]
    test.item.user_properties += added
    report.user_properties = list(test.item.user_properties)


def _covered(test: RunningTest) -> list[tuple[str, str]]:
    """Say what the checks that passed covered; of inputs that were drawn, the latest stands for all."""
    passed = test.passed
    # Hypothesis makes hundreds of examples, and JUnit would have a property for each.
    if test.generates and len(passed) > 1:
        answer, covered = passed[-1]
        return [(_COVERED, f"{len(passed)} inputs, of the last: {answer}: {covered}")]
    return [(_COVERED, f"{answer}: {covered}") for answer, covered in passed]


# -- at the end of a run -----------------------------------------------------------------------------------------


def write_summary(reporter: pytest.TerminalReporter, reports: Sequence[pytest.TestReport]) -> None:
    """List what the checks of tests that passed covered, and what came of stored failures."""
    names = {_COVERED: "", "clew_note": "note: "}
    lines = [
        f"{report.nodeid}: {names[name]}{value}"
        for report in reports
        for name, value in report.user_properties
        if name in names
    ]
    if not lines:
        return
    reporter.write_sep("-", "clew: what was checked")
    most = len(lines) if reporter.verbosity > 0 else _MOST_LISTED
    for line in lines[:most]:
        reporter.write_line(line)
    if len(lines) > most:
        reporter.write_line(f"... and {len(lines) - most} more: -v lists all")
