"""``clew calm``: which outputs of a program depend on the order of messages, and where?"""

from __future__ import annotations

import sys

import click

from clew.analysis.calm.analysis import Analysis, Verdict, analysed, verdict_of
from clew.analysis.calm.trying.orders import try_analysis
from clew.analysis.calm.trying.workloads import Workload, workload_of
from clew.cli.parts.files import refuse_no_file, refuse_unwritable, write_file
from clew.cli.process import exit_codes
from clew.cli.process.streams import harmless, say, warn
from clew.errors import UsageError
from clew.files.python_names import is_python
from clew.frontends.bloom import open_bloom
from clew.frontends.registry import open_program
from clew.report.calm.document import calm_json
from clew.report.calm.orders_text import orders_text
from clew.report.calm.svg import dataflow_svg
from clew.report.calm.text import calm_text

#: The sequence of steps decides: neither consistent nor wrong by itself.
DEPENDS_ON_STEPS = 3

_CODES = {
    Verdict.CONSISTENT: exit_codes.HOLDS,
    Verdict.DEPENDS_ON_STEPS: DEPENDS_ON_STEPS,
    Verdict.ORDER_MATTERS: exit_codes.VIOLATED,
    Verdict.UNDERSPECIFIED: exit_codes.VIOLATED,
}


@click.command("calm")
@click.argument("files", nargs=-1, required=True, metavar="FILE[:CLASS]...")
@click.option("--json", "json_file", metavar="FILE", help="Write the analysis as JSON; - for standard output.")
@click.option("--svg", "svg_file", metavar="FILE", help="Write the dataflow as a picture.")
@click.option("--report", "report_file", metavar="FILE", help="Write a page with labels and picture (HTML).")
@click.option(
    "--try", "orders", type=click.IntRange(min=1), metavar="N", help="Compare N random orders and batchings."
)
@click.option("--seed", type=int, metavar="N", help="The first of the random orders (with --try).  Default: 0.")
def calm_command(
    files: tuple[str, ...],
    json_file: str | None,
    svg_file: str | None,
    report_file: str | None,
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
    if json_file is not None and json_file != "-":
        refuse_unwritable(json_file, "give a path that can, or -")
    refuse_no_file("--svg", svg_file, "dataflow.svg")
    refuse_no_file("--report", report_file, "calm.html")
    workload = _workload(files, orders, seed, json_file)
    analysis = analysed(open_program(files, to_check=False).dataflow())
    for notice in analysis.flow.notices:
        warn(str(notice))
    say(calm_json(analysis, files) if json_file == "-" else harmless(calm_text(analysis)))
    agree = workload is None or _agrees(analysis, workload, orders or 0, seed or 0)
    if json_file is not None and json_file != "-":
        write_file(json_file, calm_json(analysis, files))
    if svg_file is not None:
        write_file(svg_file, dataflow_svg(analysis, standalone=True) + "\n")
    if report_file is not None:
        _write_page(analysis, report_file)
    sys.exit(_CODES[verdict_of(analysis)] if agree else exit_codes.VIOLATED)


def _workload(
    files: tuple[str, ...], orders: int | None, seed: int | None, json_file: str | None
) -> Workload | None:
    """What is run; nothing without --try."""
    if orders is None:
        if seed is not None:
            raise UsageError("--seed is for random orders", remedy="add --try 200")
        return None
    if json_file == "-":
        raise UsageError("--try prints text", remedy="write the JSON to a file: --json calm.json")
    if len(files) != 1 or not is_python(files[0]):
        raise UsageError("--try runs Bloom programs", remedy="give one class: FILE.py:Class")
    return workload_of(open_bloom(files[0]).cls)


def _agrees(analysis: Analysis, workload: Workload, orders: int, seed: int) -> bool:
    """Return whether all promises of labels are kept; what is found is shown."""
    trials = try_analysis(analysis, workload, orders=orders, seed=seed)
    say(harmless(orders_text(trials)))
    return not any(trial.contradicts for trial in trials)


def _write_page(analysis: Analysis, file: str) -> None:
    from clew.report.calm.page import calm_page  # only when asked for: a cold start should not pay for it

    write_file(file, calm_page(analysis))
