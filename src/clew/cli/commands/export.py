"""``clew export``: an execution in a format that another tool reads."""

from __future__ import annotations

import click

from clew.cli.parts.files import FILE, SCENARIO_HELP, refuse_no_file, write_file
from clew.cli.process.state import IN_PROCESS, current_state
from clew.cli.process.streams import leave_stdout_to_answer, say, wrote
from clew.errors import UsageError
from clew.files.json_document import read_document
from clew.report.export.choice import Choice
from clew.report.export.exporting import export_document
from clew.report.export.formats.table import FORMATS


@click.command("export")
@click.argument("document", type=FILE, metavar="DOCUMENT.json")
@click.argument("files", nargs=-1, type=FILE, metavar="[FILE]...")
@click.option(
    "--format",
    "format_name",
    type=click.Choice(list(FORMATS)),
    required=True,
    help="; ".join(f"{name}: {format.about}" for name, format in FORMATS.items()) + ".",
)
@click.option("-o", "--output", type=FILE, metavar="FILE", help="Write it to FILE.  Default: standard output.")
@click.option(
    "--counterexample", type=int, metavar="N", help="Of several counterexamples, which one.  Default: the first."
)
@click.option("--scenario", type=FILE, metavar="SCENARIO.py[:NAME]", help=SCENARIO_HELP)
def export_command(
    document: str,
    files: tuple[str, ...],
    format_name: str,
    output: str | None,
    counterexample: int | None,
    scenario: str | None,
) -> None:
    """Write an execution in a format that other tools read.

    The document is a recording (clew fuzz -o REC.json), or the JSON of clew check, run, fuzz or explore.  The JSON
    of a run of a model has all of it; every other document is executed again, by the rules of clew replay: what it
    names must lie below the working directory, or be given as FILE.  If that comes to anything else than the
    document says, nothing is exported.

    Exit code: 0 written, 2 bad document, program or usage, or an execution that cannot be repeated.
    """
    refuse_no_file("-o", output, "trace.json")
    # What code of the user prints is no part of the answer.
    leave_stdout_to_answer(current_state())
    if (end := current_state().end) is not None:
        raise UsageError(
            f"{document}: executed again, {end}",
            remedy=f"let no code end the process it runs in; with {IN_PROCESS} a debugger can follow it",
        )
    given = (*files, *([scenario] if scenario is not None else []))
    choice = Choice(counterexample, given, in_process=True)  # which is the child of a command already
    text = export_document(read_document(document), format_name, choice)
    if output is None:
        say(text)
    else:
        write_file(output, text)
        wrote(f"the execution ({format_name})", output)
