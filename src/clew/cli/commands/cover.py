"""``clew cover``: which rules of a program does a command use, and which never?"""

from __future__ import annotations

import click

from clew.cli.parts.files import FILE
from clew.cli.parts.outputs import Outputs, output_options
from clew.cli.process.limits import time_limit_option
from clew.coverage.api import cover
from clew.report.coverage.renderer import text

#: The number of it, which does not depend on what stands for it in this process.
_STANDARD_ERROR = 2


@click.command("cover")
@click.argument("file", type=FILE, metavar="FILE[:CLASS]")
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- COMMAND...")
@click.option(
    "--fail-under",
    type=click.FloatRange(0, 100),
    metavar="N",
    help="Exit with 1 if less than N % of the rules fired.",
)
@click.option("--fail-on-dead", is_flag=True, help="Exit with 1 if a rule never fired.")
@click.option(
    "--trace",
    "traced",
    multiple=True,
    metavar="RULE",
    help="Show each row of these rules: a block, what they derive, or a line.  Repeatable.",
)
@time_limit_option("End the command after TIME (90, 90s, 2m, 1h), and tell what was counted.")
@output_options("the coverage")
def cover_command(
    file: str,
    command: tuple[str, ...],
    fail_under: float | None,
    fail_on_dead: bool,
    traced: tuple[str, ...],
    time_limit: float | None,
    outputs: Outputs,
) -> None:
    """Run a command, and count what the rules of a Bloom class do.

    FILE is a Python file with a Bloom program (with several, say which: FILE.py:CLASS), COMMAND mostly a run of
    tests: clew cover store.py:Store -- pytest tests.  Nodes of the class, and of classes that derive from it, are
    counted in all processes that the command starts, whether they step in tests, run on a network or in
    simulations, and also if they are killed.

    Of every rule it is told how many rows it derived and in how many steps, what of that went over the network,
    and which rules never fired.

    Exit code: 0 the command ended with 0, 1 it did not, or fewer rules fired than --fail-under or --fail-on-dead
    ask for, 2 bad program or usage, 3 no node of the class took a step, or the time limit ended the command.
    """
    # Standard output is for JSON then, and what the command prints goes where messages go.
    stdout = _STANDARD_ERROR if outputs.prints_json else None
    coverage = cover(
        file,
        command,
        fail_under=fail_under,
        fail_on_dead=fail_on_dead,
        traced=traced,
        time_limit=time_limit,
        stdout=stdout,
    )
    outputs.show(coverage, lambda: text(coverage))
    outputs.write(coverage)
    raise SystemExit(coverage.exit_code)
