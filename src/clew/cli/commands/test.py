"""``clew test``: are all models as they say they are?"""

from __future__ import annotations

import click

from clew.cli.parts.files import FILE
from clew.cli.parts.outputs import Outputs, output_options
from clew.cli.parts.progress import progress_display
from clew.cli.process.limits import Duration
from clew.cli.process.state import current_state
from clew.model_tests.api import DEFAULT_TIME_LIMIT, check_models
from clew.report.model_tests.renderer import text


@click.command("test")
@click.argument("paths", nargs=-1, type=FILE, metavar="[PATH]...")
@click.option(
    "--all", "check_all", is_flag=True, help="Check also what states no expectation; it decides nothing."
)
@click.option("--workers", type=int, metavar="N", help="How many models at a time.  Default: as many as cores.")
# The limit of the command, which whoever watches it enforces, is that of all models: by its name in Python.
@click.option(
    "--time-limit",
    "model_time_limit",
    type=Duration(),
    metavar="TIME",
    default=DEFAULT_TIME_LIMIT,
    help=f"Stop a model after TIME (90, 90s, 2m, 1h).  Default: {DEFAULT_TIME_LIMIT / 60:g}m.",
)
@click.option(
    "--total-time-limit",
    "time_limit",
    type=Duration(),
    metavar="TIME",
    help="Stop everything after TIME.  Default: no limit.",
)
@output_options("the results")
def test_command(
    paths: tuple[str, ...],
    check_all: bool,
    workers: int | None,
    model_time_limit: float,
    time_limit: float | None,
    outputs: Outputs,
) -> None:
    """Check models, and compare their answers with what they expect.

    PATHs are Dedalus files, Python files with Bloom classes or scenarios (FILE.py:NAME for one), or folders with
    such files; by default, this folder.  What is expected stands in the model: at the top of a Dedalus file as
    "//! expect=counterexample faults=3", in a Bloom class as checked(..., expect="certified"), in a scenario as
    Scenario(..., expect="no violation").

    Exit code: 0 all are as expected, 1 some are not, 2 bad usage or nothing to test, 3 some are incomplete.
    """
    with progress_display("testing models") as progress:
        tests = check_models(
            paths or ".",
            workers=workers,
            time_limit=model_time_limit,
            total_time_limit=time_limit,
            check_all=check_all,
            progress=progress,
            in_process=current_state().in_process,
        )
    outputs.show(tests, lambda: text(tests))
    outputs.write(tests)
    raise SystemExit(tests.exit_code)
