"""``clew calm``: which outputs of a program depend on the order of messages, and where?"""

from __future__ import annotations

import click

from clew.cli.parts.files import FILE, refuse_no_file, write_file
from clew.cli.parts.outputs import Outputs, output_options
from clew.cli.parts.settings import read_settings, set_option
from clew.errors import UsageError
from clew.frontends.analyses import calm
from clew.report.calm.svg import dataflow_svg


@click.command("calm")
@click.argument("files", nargs=-1, required=True, type=FILE, metavar="FILE[:CLASS]...")
@set_option
@output_options("the analysis")
@click.option("--svg", "svg_file", type=FILE, metavar="FILE", help="Write the dataflow as a picture.")
@click.option(
    "--try", "orders", type=click.IntRange(min=1), metavar="N", help="Compare N random orders and batchings."
)
@click.option("--seed", type=int, metavar="N", help="The first of the random orders (with --try).  Default: 0.")
def calm_command(
    files: tuple[str, ...],
    settings: tuple[str, ...],
    outputs: Outputs,
    svg_file: str | None,
    orders: int | None,
    seed: int | None,
) -> None:
    """Find the outputs that depend on the order in which things happen.

    FILE is a Python file with a Bloom program (with several, say which: FILE.py:CLASS), or the files of a
    Dedalus program.  Every output gets a label.  M and A are consistent: whatever the order of inputs and
    messages is, which of them come together, and how many empty steps there are, the outcome is one.  N is
    decided by the sequence of steps of a node and what each of them is given; no message changes it but by
    making a step.  D can be changed by the order of messages.  For N and D the rules are shown at which order
    counts.

    With --try the program also runs, in one process, with the nodes and rows of its setting: is there one outcome
    where the label promises it, and is there a pair of orders that end differently where it is N or D?

    Exit code: 0 every output is consistent, 1 order can change one, nothing derives it, or --try found a label
    contradicted, 2 bad program or usage, 3 an output depends on the sequence of steps, and none is worse.
    """
    refuse_no_file("--svg", svg_file, "dataflow.svg")
    if orders is None and seed is not None:
        raise UsageError("--seed is for random orders", remedy="add --try 200")
    # Without --try nothing of a program is run, only read; the random orders are the same for the same seed.
    result = calm(files, orders=orders, seed=seed or 0, params=read_settings(settings))
    outputs.show(result, lambda: f"{result}\n")
    outputs.write(result)
    if svg_file is not None:
        write_file(svg_file, dataflow_svg(result.analysis, standalone=True) + "\n")
    raise SystemExit(result.exit_code)
