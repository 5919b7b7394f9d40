"""``clew run``: one execution under chosen faults."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from clew.budgets.deadline import Deadline
from clew.budgets.whereabouts import extend_limit
from clew.checker.api import run
from clew.checker.named_nodes import WrittenFault
from clew.cli.commands.check import NODES_HELP, split_nodes
from clew.cli.parts.code_options import refuse_for_scenarios
from clew.cli.parts.files import FILE, refuse_no_file, write_file
from clew.cli.parts.outputs import Outputs, output_options
from clew.cli.parts.settings import read_settings, set_option
from clew.cli.process.limits import Duration
from clew.cli.process.streams import ascii_only, wrote
from clew.engine.execution import Execution
from clew.errors import ProgramError, UsageError
from clew.faults import KINDS, Fault
from clew.files.python_names import is_python
from clew.node_lists import BareNumber, NodeListError, read_parts
from clew.program.ir import Fact
from clew.report.verdict.text import execution_text

if TYPE_CHECKING:
    from clew.simulation.loading import LoadedScenario

C = TypeVar("C", bound=Callable[..., Any])

#: Seconds for the lineage of an outcome.
_LINEAGE_SECONDS = 10.0


def _fault_options(command: C) -> C:
    """Add a repeatable flag for each kind of fault; click lists options in the order of the decorators above."""
    for kind in reversed(KINDS):
        flag, metavar, text = kind.kind.flag, kind.kind.metavar, kind.kind.help
        command = click.option(flag, kind.name, multiple=True, metavar=metavar, help=text)(command)
    return command


@click.command("run")
@click.argument("files", nargs=-1, required=True, type=FILE, metavar="FILE...")
@click.option("--nodes", metavar="A,B,C", help=NODES_HELP)
@click.option("--eot", type=int, metavar="N", help="End of time: the number of steps.")
@set_option
@_fault_options
@click.option(
    "--relation", "relations", multiple=True, metavar="NAME", help="Show this relation only.  Repeatable."
)
@click.option("--at", type=int, metavar="T", help="Show this time only.")
@click.option("--diagram", is_flag=True, help="Show the messages as a space-time diagram instead of the rows.")
@click.option("--svg", "svg_file", type=FILE, metavar="FILE", help="Write the space-time diagram as a picture.")
@click.option(
    "--lineage",
    "lineage_file",
    type=FILE,
    metavar="FILE",
    help="Write the lineage of the outcome as a picture (SVG).",
)
@click.option("--seed", type=int, metavar="N", help="The seed (scenarios).  Default: 0.")
@click.option("--until", type=Duration(), metavar="TIME", help="When the execution ends (scenarios).")
@click.option("-o", "--output", type=FILE, metavar="FILE", help="Write the recording (scenarios).")
@output_options("the run")
def run_command(
    files: tuple[str, ...],
    nodes: str | None,
    eot: int | None,
    settings: tuple[str, ...],
    relations: tuple[str, ...],
    at: int | None,
    diagram: bool,
    svg_file: str | None,
    lineage_file: str | None,
    seed: int | None,
    until: float | None,
    output: str | None,
    outputs: Outputs,
    **written_faults: tuple[str, ...],
) -> None:
    """Perform one execution under chosen faults.

    Prints the relations by time, the messages that are lost or late, and whether what must hold does.

    FILE.py:NAME may be a scenario of Python code: then --lose and --duplicate take FROM,TO,TYPE,NTH, --crash
    NODE,AFTER (so many of its events), --restart NODE,AFTER,SECONDS, --partition A,B:FROM,UNTIL in seconds.

    Exit code: 0 if it holds, 1 if it is violated, 2 bad program or usage, 3 interrupted.
    """
    if len(files) == 1 and is_python(files[0]) and (loaded := _find_scenario(files[0])) is not None:
        from clew.cli.commands.run_code import run_code  # most programs are text

        of_models = {"--nodes": nodes, "--eot": eot, "--set": settings, "--relation": relations, "--at": at}
        of_models |= {"--svg": svg_file, "--lineage": lineage_file}
        refuse_for_scenarios(of_models)
        run_code(
            loaded,
            written_faults,
            seed=seed or 0,
            until=until,
            output=output,
            diagram=diagram,
            outputs=outputs,
        )
    for flag, given in {"--seed": seed, "--until": until, "-o": output}.items():
        if given is not None:
            raise UsageError(f"{flag} is for scenarios of Python code", remedy="leave it out")
    # Refused before the program is read, as everything that only the command line can have wrong.
    faults = [_read_fault(kind, text) for kind in KINDS for text in written_faults[kind.name]]
    refuse_no_file("--svg", svg_file, "run.svg")
    refuse_no_file("--lineage", lineage_file, "lineage.svg")
    execution = run(files, faults, nodes=split_nodes(nodes), eot=eot, params=read_settings(settings))
    for relation in relations:
        if relation not in execution.tables:
            known = ", ".join(execution.tables)
            raise UsageError(f"the program has no relation '{relation}'", remedy=f"there are {known}")
    if at is not None and not 1 <= at <= execution.spec.eot:
        raise UsageError(f"time {at} is outside the execution", remedy=f"give --at from 1 to {execution.spec.eot}")
    # --relation and --at choose what is shown; JSON, JUnit and the page have the whole execution.
    outputs.show(execution, lambda: _diagram(execution) if diagram else execution_text(execution, relations, at))
    if svg_file is not None:
        _write_diagram(execution, svg_file)
    if lineage_file is not None:
        _write_lineage(execution, lineage_file)
    outputs.write(execution)
    raise SystemExit(execution.exit_code)


def _find_scenario(file: str) -> LoadedScenario | None:
    from clew.simulation.loading import find_scenario

    return find_scenario(file)


# What draws is imported where it is used: most runs are shown as text.


def _diagram(execution: Execution) -> str:
    from clew.report.verdict.explaining import diagram_text

    return diagram_text(execution, ascii_only=ascii_only())


def _write_diagram(execution: Execution, file: str) -> None:
    from clew.report.diagrams.lamport_svg import diagram_picture

    write_file(file, diagram_picture(execution))
    wrote("the diagram", file)


def _write_lineage(execution: Execution, file: str) -> None:
    """Write the lineage of what the run violates, with the cut, or of the first outcome if it violates nothing."""
    from clew.explain.explainer import Explainer
    from clew.report.lineage.svg import lineage_picture

    assert execution.program is not None, "an execution that was just performed knows its program"
    extend_limit(_LINEAGE_SECONDS)
    deadline = Deadline(_LINEAGE_SECONDS)
    with deadline.listening():
        explainer = Explainer(execution.program, execution.spec, deadline, execution.faults.given)
        picture = lineage_picture(execution, explainer)
    write_file(file, picture)
    wrote("the lineage", file)


def _read_fault(kind: type[Fault], text: str) -> WrittenFault:
    """Read a fault as its flag has it: nodes followed by numbers, or a row with a time."""
    if not kind.kind.is_failure:
        return WrittenFault(kind, row=_read_row(kind.kind.flag, kind.kind.metavar, text))
    flag, names, numbers = kind.kind.flag, len(kind.kind.nodes), len(kind.kind.numbers)
    remedy = f"write {flag} {kind.kind.metavar}, without spaces"
    group, _, rest = text.rpartition(":") if kind.kind.group else ("", "", text)
    try:
        parts = [*(read_parts(group) if kind.kind.group else []), *read_parts(rest)]
        names = len(parts) - numbers if kind.kind.group else names
    except NodeListError as error:
        message = f"{flag} {text} is not understood: {error.message}"
        raise UsageError(message, remedy=f"{remedy}; {error.remedy}") from None
    times = [part.number for part in parts[names:] if isinstance(part, BareNumber) and part.number >= 0]
    nodes = [part for part in parts[:names] if part is not None]
    if len(parts) != names + numbers or len(nodes) != max(1, names) or len(times) != numbers:
        raise UsageError(f"{flag} {text} is not understood", remedy=remedy)
    return WrittenFault(kind, tuple(nodes), tuple(times), kind.kind.group)


def _read_row(flag: str, metavar: str, text: str) -> Fact:
    """Read a row as a fact of Dedalus is written, with its time."""
    from clew.dedalus.loader import parse_program

    remedy = f"write {flag} {metavar}, as a fact of the program is written: 'write(c, 1)@2'"
    try:
        program = parse_program(f"{text};")
    except ProgramError as error:
        raise UsageError(f"{flag} {text} is not understood: {error.message}", remedy=remedy) from None
    match program.clauses:
        case (Fact() as fact,) if program.durable is None and not program.inputs and "@" in text:
            return fact
    raise UsageError(f"{flag} {text} is not understood", remedy=remedy)
