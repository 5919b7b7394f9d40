"""``clew minimize``: a recording made small enough to be read."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import click

from clew.cli.parts.checkpoints import checkpoint_option, conclude_checkpoint, opened_checkpoint
from clew.cli.parts.explaining import ascii_only
from clew.cli.parts.files import in_one_line, refuse_no_file, write_file
from clew.cli.parts.progress import progress_display
from clew.cli.parts.recordings import SCENARIO_HELP, one_scenario, recording_words
from clew.cli.process import exit_codes
from clew.cli.process.state import current_state
from clew.cli.process.streams import say, warn, wrote
from clew.errors import UsageError
from clew.minimization.minimizing import Minimized, minimize
from clew.minimization.pipeline import Progress, Stage
from clew.minimization.trial import Size
from clew.simulation.recordings.recording import write_recording

_DEFAULT_BUDGET = "120s"
_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0}


class _Duration(click.ParamType[float]):
    """Seconds, or a number with a unit."""

    name = "duration"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        found = re.fullmatch(r"(\d+(?:\.\d+)?)([smh]?)", str(value).strip())
        if found is None or not float(found[1]):
            self.fail(f"{value!r} is no duration: give seconds, or 60s, 2m, 1h", param, ctx)
        return float(found[1]) * _UNITS[found[2]]


@click.command("minimize")
@click.argument("recording", metavar="REC.json")
@click.argument("file", required=False, metavar="[SCENARIO.py[:NAME]]")
@click.option("--scenario", metavar="SCENARIO.py[:NAME]", help=SCENARIO_HELP)
@click.option(
    "--budget",
    type=_Duration(),
    default=_DEFAULT_BUDGET,
    show_default=True,
    metavar="TIME",
    help="Stop after this long, with the best so far.",
)
@click.option("--workers", type=int, default=1, show_default=True, metavar="N", help="How many processes.")
@click.option("--shrink/--no-shrink", default=True, help="Make contents of messages from outside smaller, too.")
@checkpoint_option
@click.option("--brief", is_flag=True, help="Show the diagram and the table, not what each event did.")
@click.option("-o", "--output", metavar="FILE", help="Write the recording of the smallest execution.")
@click.option("--report", "report_file", metavar="FILE", help="Write a page that shows it (HTML).")
def minimize_command(
    recording: str,
    file: str | None,
    scenario: str | None,
    budget: float,
    workers: int,
    shrink: bool,
    checkpoint_file: str | None,
    brief: bool,
    output: str | None,
    report_file: str | None,
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
    refuse_no_file("--report", report_file, "min.html")
    checkpoint = opened_checkpoint(checkpoint_file)
    if (end := current_state().end) is not None:
        raise UsageError(
            f"in a schedule that was tried, {end}",
            remedy="let the code raise an exception instead of ending the process",
        )
    started = time.monotonic()
    named = next(iter(one_scenario([file] if file else [], scenario)), None)
    with _progress() as progress:
        found = minimize(
            recording,
            named,
            budget=budget,
            workers=workers,
            shrink=shrink,
            progress=progress,
            in_process=True,  # which is the child of a command already
            checkpoint=checkpoint,
        )
    for notice in found.notices:
        warn(str(notice))
    if output is not None:  # before anything is shown: nothing that happens there loses it
        write_file(output, write_recording(found.recording))
    say("".join(f"{line}\n" for line in _lines(found, output, brief)))
    if report_file is not None:
        _write_report(found, output, report_file)
    if sys.stderr.isatty():
        warn(f"  ({time.monotonic() - started:.1f} s)")
    conclude_checkpoint(checkpoint)
    if found.problem is not None:
        raise found.problem
    sys.exit(exit_codes.HOLDS if found.stopped is None else exit_codes.INCOMPLETE)


@contextmanager
def _progress() -> Iterator[Progress | None]:
    with progress_display("minimizing") as display:
        if display is None:
            yield None
            return

        def progress(stage: str, tried: int, size: Size) -> None:
            display(tried, f"{stage}, {tried} schedules tried, {_sized(size)} so far")

        yield progress


def _sized(size: Size) -> str:
    return f"{size.deliveries} deliveries and {size.externals} externals"


# -- what is said ------------------------------------------------------------------------------------------------


def _lines(found: Minimized, output: str | None, brief: bool) -> Iterator[str]:
    from clew.report.simulated.text import run_text

    name = found.recording.scenario or "the scenario"
    yield run_text(name, found.execution, ascii_only=ascii_only(), brief=brief)
    yield from stage_table(found.stages)
    if found.stopped is not None:
        yield f"INCOMPLETE: {found.stopped}; this is the best so far."
    if output is None:
        yield "  not recorded: to keep it, run the same command with -o min.json"
    else:
        yield f"  recorded in {in_one_line(output)}"
        yield f"  replay:   clew replay {recording_words(output, found.recording.scenario)} --step"


def stage_table(stages: Sequence[Stage]) -> Iterator[str]:
    """Table 1 of the paper for one recording: what each stage left, and how many schedules it tried."""
    yield "stage         deliveries  externals  schedules"
    for stage in stages:
        size = stage.size
        yield f"{stage.name:12}  {size.deliveries:10}  {size.externals:9}  {stage.schedules:9}"


def _write_report(found: Minimized, output: str | None, file: str) -> None:
    from clew.report.simulated.page import run_page

    page = run_page(
        found.recording.scenario or "a scenario made in Python",
        found.execution,
        replay=f"clew replay {recording_words(output, found.recording.scenario)}" if output else "",
        stages=found.stages,
        facts=[("seed", str(found.recording.seed))],
        cautions=[f"The search was stopped: {found.stopped}."] if found.stopped else [],
    )
    write_file(file, page)
    wrote("the report", file)
