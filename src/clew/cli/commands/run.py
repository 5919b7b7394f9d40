"""``clew run``: one execution under chosen faults."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, TypeVar

import click

from clew.checker.api import run
from clew.checker.named_nodes import WrittenFault
from clew.cli.commands.check import NODES_HELP, split_nodes
from clew.cli.parts.explaining import show_diagram, write_diagram, write_lineage, write_page
from clew.cli.parts.files import refuse_no_file
from clew.cli.process import exit_codes
from clew.cli.process.streams import say, warn
from clew.errors import UsageError
from clew.faults import KINDS, Fault
from clew.node_lists import BareNumber, NodeListError, read_parts
from clew.report.verdict.text import execution_text

C = TypeVar("C", bound=Callable[..., Any])


def _fault_options(command: C) -> C:
    """Add a repeatable flag for each kind of fault; click lists options in the order of the decorators above."""
    for kind in reversed(KINDS):
        flag, metavar, text = kind.kind.flag, kind.kind.metavar, kind.kind.help
        command = click.option(flag, kind.name, multiple=True, metavar=metavar, help=text)(command)
    return command


@click.command("run")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--nodes", metavar="A,B,C", help=NODES_HELP)
@click.option("--eot", type=int, metavar="N", help="End of time: the number of steps.")
@_fault_options
@click.option(
    "--relation", "relations", multiple=True, metavar="NAME", help="Show this relation only.  Repeatable."
)
@click.option("--at", type=int, metavar="T", help="Show this time only.")
@click.option("--diagram", is_flag=True, help="Show the messages as a space-time diagram instead of the rows.")
@click.option("--svg", "svg_file", metavar="FILE", help="Write the space-time diagram as a picture.")
@click.option(
    "--lineage", "lineage_file", metavar="FILE", help="Write the lineage of the outcome as a picture (SVG)."
)
@click.option("--report", "report_file", metavar="FILE", help="Write a page that explains the run (HTML).")
def run_command(
    files: tuple[str, ...],
    nodes: str | None,
    eot: int | None,
    relations: tuple[str, ...],
    at: int | None,
    diagram: bool,
    svg_file: str | None,
    lineage_file: str | None,
    report_file: str | None,
    **written_faults: tuple[str, ...],
) -> None:
    """Perform one execution under chosen faults.

    Prints the relations by time, the messages that are lost or late, and whether 'pre' implies 'post' at the end.

    Exit code: 0 if it holds, 1 if it is violated, 2 bad program or usage, 3 interrupted.
    """
    faults = [_read_fault(kind, text) for kind in KINDS for text in written_faults[kind.name]]
    wanted = (("--svg", svg_file, "run.svg"), ("--lineage", lineage_file, "lineage.svg"))
    for flag, file, example in (*wanted, ("--report", report_file, "run.html")):
        refuse_no_file(flag, file, example)
    execution = run(files, faults, nodes=split_nodes(nodes), eot=eot)
    for notice in execution.notices:
        warn(str(notice))
    for relation in relations:
        if relation not in execution.tables:
            known = ", ".join(execution.tables)
            raise UsageError(f"the program has no relation '{relation}'", remedy=f"there are {known}")
    if at is not None and not 1 <= at <= execution.spec.eot:
        raise UsageError(f"time {at} is outside the execution", remedy=f"give --at from 1 to {execution.spec.eot}")
    if diagram:
        show_diagram(execution)
    else:
        say(execution_text(execution, relations, at))
    if svg_file is not None:
        write_diagram(execution, svg_file)
    if lineage_file is not None:
        write_lineage(execution, lineage_file)
    if report_file is not None:
        write_page(execution, files, report_file)
    sys.exit(exit_codes.HOLDS if execution.good else exit_codes.VIOLATED)


def _read_fault(kind: type[Fault], text: str) -> WrittenFault:
    """Read a fault as its flag has it: nodes followed by numbers."""
    flag, names, numbers = kind.kind.flag, len(kind.kind.nodes), len(kind.kind.numbers)
    shape = ",".join(["NODE"] * names + ["NUMBER"] * numbers)
    remedy = f"write {flag} {shape}, without spaces"
    try:
        parts = read_parts(text)
    except NodeListError as error:
        message = f"{flag} {text} is not understood: {error.message}"
        raise UsageError(message, remedy=f"{remedy}; {error.remedy}") from None
    times = [part.number for part in parts[names:] if isinstance(part, BareNumber) and part.number >= 0]
    nodes = [part for part in parts[:names] if part is not None]
    if len(parts) != names + numbers or len(nodes) != names or len(times) != numbers:
        raise UsageError(f"{flag} {text} is not understood", remedy=remedy)
    return WrittenFault(kind, tuple(nodes), tuple(times))
