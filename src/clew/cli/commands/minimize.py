"""``clew minimize``: a recording made small enough to be read."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import click

from clew.cli.parts.checkpoints import checkpoint_option, conclude_checkpoint, open_checkpoint
from clew.cli.parts.files import FILE, SCENARIO_HELP, one_scenario, refuse_no_file, write_file
from clew.cli.parts.outputs import Outputs, output_options
from clew.cli.parts.progress import progress_display
from clew.cli.process.limits import time_limit_option
from clew.cli.process.state import current_state
from clew.cli.process.streams import ascii_only, error_terminal, warn
from clew.errors import UsageError
from clew.minimization.minimizing import minimize
from clew.minimization.searching.stages import Progress
from clew.report.simulated.minimized import minimize_next_steps, minimize_text
from clew.simulation.execution.steps import Size
from clew.simulation.recordings.recording import write_recording

#: Most recordings are small long before; who waits for more says so.
_DEFAULT_LIMIT = "2m"


@click.command("minimize")
@click.argument("recording", type=FILE, metavar="REC.json")
@click.argument("file", required=False, type=FILE, metavar="[SCENARIO.py[:NAME]]")
@click.option("--scenario", type=FILE, metavar="SCENARIO.py[:NAME]", help=SCENARIO_HELP)
@time_limit_option(
    "Stop after TIME (90, 90s, 2m, 1h), with the best so far.", default=_DEFAULT_LIMIT, show_default=True
)
@click.option("--workers", type=int, default=1, show_default=True, metavar="N", help="How many processes.")
@click.option("--shrink/--no-shrink", default=True, help="Make contents of messages from outside smaller, too.")
@checkpoint_option
@click.option("--brief", is_flag=True, help="Show the diagram and the table, not what each event did.")
@click.option("-o", "--output", type=FILE, metavar="FILE", help="Write the recording of the smallest execution.")
@output_options("the result")
def minimize_command(
    recording: str,
    file: str | None,
    scenario: str | None,
    time_limit: float,
    workers: int,
    shrink: bool,
    checkpoint_file: str | None,
    brief: bool,
    output: str | None,
    outputs: Outputs,
) -> None:
    """Search for a small execution that ends in the same violation.

    REC.json is what "clew fuzz ... -o REC.json" wrote.  Events are left out, messages replaced by others of
    their type, contents shrunk and orders changed, for as long as the violation stays the same.  Ctrl-C ends it
    with the best so far, and so does a mistake in the scenario that only shows in a schedule that is tried.
    Without a stop on the way, the result is the same every time, whatever --workers is.

    The scenario is the one that was recorded, if it lies below the working directory, or the one that is named
    here.  Code that has changed since is not executed.

    Exit code: 0 searched to the end, 2 bad recording, scenario or usage, 3 stopped before the end.
    """
    refuse_no_file("-o", output, "min.json")
    checkpoint = open_checkpoint(checkpoint_file)
    if (end := current_state().end) is not None:
        raise UsageError(
            f"in a schedule that was tried, {end}",
            remedy="let the code raise an exception instead of ending the process",
        )
    # Not part of the text on standard output, which is the same every time.
    started = time.monotonic()
    named = next(iter(one_scenario([file] if file else [], scenario)), None)
    with _progress() as progress:
        found = minimize(
            recording,
            named,
            time_limit=time_limit,
            workers=workers,
            shrink=shrink,
            progress=progress,
            in_process=True,  # which is the child of a command already
            checkpoint=checkpoint,
        )
    if output is not None:  # before anything is shown: nothing that happens there loses it
        write_file(output, write_recording(found.recording))
    then = minimize_next_steps(found, output)
    outputs.show(found, lambda: minimize_text(found, then=then, ascii_only=ascii_only(), brief=brief))
    outputs.write(found, recorded_in=output)
    if error_terminal() is not None:
        warn(f"  ({time.monotonic() - started:.1f} s)")
    conclude_checkpoint(checkpoint)
    if found.problem is not None:
        raise found.problem
    raise SystemExit(found.exit_code)


@contextmanager
def _progress() -> Iterator[Progress | None]:
    with progress_display("minimizing") as display:
        if display is None:
            yield None
            return

        def progress(stage: str, tried: int, size: Size) -> None:
            display(tried, f"{stage}, {tried} schedules tried, {_format_size(size)} so far")

        yield progress


def _format_size(size: Size) -> str:
    return f"{size.deliveries} deliveries and {size.externals} externals"
