"""``clew blazes``: where a dataflow needs coordination, and which."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import click

from clew.analysis.blazes.result import BlazesAnalysis
from clew.analysis.blazes.yaml.writing import dataflow_yaml
from clew.cli.parts.files import FILE, refuse_no_file, refuse_unwritable, write_file
from clew.cli.parts.outputs import Outputs, output_options
from clew.coordination.planning import plan_for
from clew.coordination.plans import Service
from clew.coordination.synthesis import module_text
from clew.errors import UsageError
from clew.files.python_names import is_python, split_name
from clew.frontends.analyses import blazes
from clew.report.blazes.svg import blazes_svg
from clew.report.blazes.text import remarks

#: What --synthesize can make.
KINDS = ("seal", "order")
#: Who can decide an order; the first by default, which needs nothing but the program itself.
SERVICES = tuple(service.value for service in Service)


@click.command("blazes")
@click.argument("file", type=FILE, metavar="DATAFLOW.yaml|FILE.py[:CLASS|:FLOW]")
@click.option(
    "--variant", "variants", multiple=True, metavar="COMPONENT=NAME", help="Choose a variant of a component."
)
@click.option(
    "--seal", "seals", multiple=True, metavar="STREAM=ATTRIBUTE,...", help="What if this stream was sealed, too?"
)
@output_options("the verdict")
@click.option(
    "--svg", "svg_file", type=FILE, metavar="FILE", help="Write the dataflow with its labels as a picture."
)
@click.option(
    "--emit-yaml",
    "yaml_file",
    type=FILE,
    metavar="FILE",
    help="Write the dataflow as YAML; - for standard output, alone.",
)
@click.option(
    "--synthesize", "how", type=click.Choice(KINDS), help="Make the coordinated program, as a Python module."
)
@click.option(
    "-o",
    "--output",
    "module_file",
    type=FILE,
    metavar="FILE.py",
    help="Where that goes, instead of being printed.",
)
@click.option("--independent", is_flag=True, help="For seals: every partition has only one producer.")
@click.option(
    "--service",
    type=click.Choice(SERVICES),
    default=SERVICES[0],
    help=f"For an order: who decides it (default: {SERVICES[0]}).",
)
def blazes_command(
    file: str,
    variants: tuple[str, ...],
    seals: tuple[str, ...],
    outputs: Outputs,
    svg_file: str | None,
    yaml_file: str | None,
    how: str | None,
    module_file: str | None,
    independent: bool,
    service: str,
) -> None:
    """Find where a dataflow needs coordination, and which.

    The file describes components with annotated paths, and the streams between them: see docs/blazes.md.  From
    a Bloom program, all of that is extracted, and --synthesize writes a module that wraps it in the coordination
    that it needs: seals where they suffice, or one order.  In a dataflow of Bytewax, each step says by a decorator
    what it does: see docs/streams.md.

    Exit code: 0 no sink is worse than Async, 1 the contents of one can differ, 2 bad file or usage.
    """
    if module_file is not None and how is None:
        raise UsageError("-o is for --synthesize", remedy="add --synthesize seal or --synthesize order")
    module_file = module_file if how is None else module_file or "-"
    _refuse_files({"--json": outputs.json_file, "--emit-yaml": yaml_file, "--synthesize": module_file})
    refuse_no_file("--svg", svg_file, "dataflow.svg")
    chosen = dict(_pair(v, "--variant", "Report=POOR") for v in variants)
    keys = [_pair(one, "--seal", "clicks=campaign") for one in seals]
    result = blazes(
        file,
        variants=chosen,
        seals=[(stream, [part.strip() for part in key.split(",")]) for stream, key in keys],
    )
    made = _synthesize(file, result, how, independent=independent, service=service) if how else ""
    # One of these may stand in the place of the text, alone.
    printed = {module_file: made, yaml_file: _yaml(result) if yaml_file else ""}
    outputs.show(result, lambda: printed.get("-") or f"{result}\n")
    outputs.write(result)
    if svg_file is not None:
        write_file(svg_file, blazes_svg(result.verdict, standalone=True) + "\n")
    for path, content in printed.items():
        if path is not None and path != "-":
            write_file(path, content)
    raise SystemExit(result.exit_code)


def _synthesize(file: str, result: BlazesAnalysis, how: str, *, independent: bool, service: str) -> str:
    """Return the module that wraps the class which ``file`` names, and which was extracted and analysed before."""
    extraction = result.extraction
    if extraction is None:
        raise UsageError(
            "--synthesize is for Bloom programs",
            remedy="name a class: clew blazes FILE.py:CLASS --synthesize seal",
        )
    plan = plan_for(extraction, result.verdict, how, independent=independent, service=Service(service))
    cls = extraction.module
    path = Path(split_name(file)[0])
    made_by = (
        f"clew blazes {path.name}:{cls.__name__} --synthesize {how}; it imports {path.name}, so keep it there"
    )
    # The file was loaded under a name of its own; whoever imports the text finds it beside itself.
    return module_text(cls, plan, made_by=made_by, modules={cls.__module__: path.stem})


def _refuse_files(by_flag: Mapping[str, str | None]) -> None:
    """Raise for what cannot be written, and for what cannot be printed together."""
    for file in by_flag.values():
        if file is not None and file != "-":
            refuse_unwritable(file, "give a path that can, or -")
    printed = [flag for flag, file in by_flag.items() if file == "-"]
    if len(printed) > 1:
        raise UsageError(
            f"{' and '.join(printed[:2])} cannot both be printed", remedy="write one of them to a file"
        )


def _yaml(result: BlazesAnalysis) -> str:
    dataflow, extraction = result.verdict.dataflow, result.extraction
    if extraction is None:
        return dataflow_yaml(dataflow, f"Extracted from {result.file}." if is_python(result.file) else "")
    return dataflow_yaml(dataflow, f"Extracted from {result.file}.", remarks(extraction))


def _pair(text: str, flag: str, example: str) -> tuple[str, str]:
    left, equals, right = text.partition("=")
    if not (left and equals and right):
        raise UsageError(f"{flag} {text!r} is not of the form NAME=VALUE", remedy=f"write, say, {flag} {example}")
    return left, right
