"""``--json``, ``--junit`` and ``--report``: the same for every command that has a result.

The paths are looked at before the search, the files written after the answer is shown.  How a result looks in each
of them is known to ``clew.report.renderers``, so that no command has a way of its own.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import click

from clew.budgets.whereabouts import extend_limit
from clew.cli.parts.files import FILE, refuse_no_file, refuse_unwritable, write_file
from clew.cli.parts.progress import progress_display
from clew.cli.process.state import current_state
from clew.cli.process.streams import leave_stdout_to_answer, say, warn, wrote
from clew.errors import BudgetExhaustedError, ProgramError, ResourcesExhaustedError
from clew.results import Result


@dataclass(frozen=True)
class Outputs:
    """The files that were asked for; ``json_file`` may be "-", which stands for standard output."""

    json_file: str | None = None
    junit_file: str | None = None
    report_file: str | None = None

    @property
    def prints_json(self) -> bool:
        """Tell whether standard output is for JSON, and nothing else."""
        return self.json_file == "-"

    def refuse_unwritable(self) -> None:
        """Raise for a path that cannot be written."""
        refuse_json(self.json_file)
        refuse_no_file("--junit", self.junit_file, "clew.xml")
        refuse_no_file("--report", self.report_file, "clew.html")

    def show(self, result: Result, text: Callable[[], str]) -> None:
        """Print the notices and the text, or JSON instead of it; ``text`` is only made when it is shown."""
        for notice in result.notices:
            warn(str(notice))
        # JSON alone is asked for by programs: explaining a counterexample to nobody can take ten seconds.
        say(result.to_json() if self.prints_json else text())

    def write(self, result: Result, *, recorded_in: str | None = None) -> None:
        """Write the files; ``recorded_in`` is that of the recording, for commands on the page."""
        if self.json_file is not None and not self.prints_json:
            write_file(self.json_file, result.to_json())
        if self.junit_file is not None:
            from clew.report.renderers import renderer_of  # only when asked for: a cold start should not pay

            write_file(self.junit_file, renderer_of(result).junit(result))
        if self.report_file is not None:
            _write_page(result, self.report_file, recorded_in)


def refuse_json(file: str | None) -> None:
    """Raise unless ``--json`` can be written there."""
    if file is not None and file != "-":
        refuse_unwritable(file, "give a path that can, or -")


def json_option(what: str) -> Callable[[Any], Any]:
    """Return the option ``--json``; ``what`` is written."""
    return click.option(
        "--json", "json_file", type=FILE, metavar="FILE", help=f"Write {what} as JSON; - for standard output."
    )


def output_options(what: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the three options; it gets them as ``outputs``, with paths that can be written."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(command)
        def with_outputs(
            *, json_file: str | None, junit_file: str | None, report_file: str | None, **parameters: Any
        ) -> None:
            outputs = Outputs(json_file, junit_file, report_file)
            outputs.refuse_unwritable()
            if outputs.prints_json:
                leave_stdout_to_answer(current_state())
            command(outputs=outputs, **parameters)

        options = [
            json_option(what),
            click.option(
                "--junit",
                "junit_file",
                type=FILE,
                metavar="FILE",
                help=f"Write {what} as JUnit XML, for CI systems.",
            ),
            click.option(
                "--report",
                "report_file",
                type=FILE,
                metavar="FILE",
                help=f"Write a page that shows {what} (HTML).",
            ),
        ]
        for option in reversed(options):
            with_outputs = option(with_outputs)
        return with_outputs

    return decorate


def _write_page(result: Result, file: str, recorded_in: str | None) -> None:
    """Write the report; if there is none in the end, the answer stands and decides the exit code."""
    from clew.report import writing  # by its module, so that tests can put a failing one in its place
    from clew.report.renderers import DEFAULT_SECONDS, PageOptions

    # The answer is told: a page has a minute of its own, whatever the search has left of the time limit.
    extend_limit(DEFAULT_SECONDS)
    with progress_display("preparing the report") as progress:
        stage = (lambda text: progress(0, text)) if progress else lambda text: None
        try:
            page = writing.report_page(result, PageOptions(stage=stage, recorded_in=recorded_in))
        except (BudgetExhaustedError, ProgramError) as limit:
            note_exhaustion(limit)
            warn(f"no report was written: {limit}")
            return
        except Exception as mistake:  # ours; the answer has been given and must not be lost to it
            current_state().note(mistake)
            warn(f"no report was written, by a mistake in Clew: {mistake!r}")
            return
    write_file(file, page)
    wrote("the report", file)


def note_exhaustion(limit: Exception) -> None:
    """Note a lack of memory as a failure; what merely takes too long to explain is left out by design."""
    if isinstance(limit, ResourcesExhaustedError):
        current_state().note(limit)
