"""``clew blazes``: where a dataflow needs coordination, and which."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping

import click

from clew.analysis.blazes import Dataflow, Verdict, analyse
from clew.analysis.blazes.extraction.system import Extraction
from clew.analysis.blazes.yaml.reading import load_dataflow
from clew.analysis.blazes.yaml.writing import dataflow_yaml
from clew.cli.parts.files import refuse_no_file, refuse_unwritable, write_file
from clew.cli.parts.synthesis import KINDS, SERVICES, synthesized_text
from clew.cli.process import exit_codes
from clew.cli.process.streams import harmless, say, warn
from clew.errors import UsageError
from clew.files.python_names import is_python
from clew.frontends.bloom import open_bloom
from clew.report.blazes.document import to_json
from clew.report.blazes.extraction_text import extraction_text, remarks
from clew.report.blazes.svg import blazes_svg
from clew.report.blazes.text import blazes_text


@click.command("blazes")
@click.argument("file", metavar="DATAFLOW.yaml|FILE.py[:CLASS]")
@click.option(
    "--variant", "variants", multiple=True, metavar="COMPONENT=NAME", help="Choose a variant of a component."
)
@click.option(
    "--seal", "seals", multiple=True, metavar="STREAM=ATTRIBUTE,...", help="What if this stream was sealed, too?"
)
@click.option("--json", "json_file", metavar="FILE", help="Write the verdict as JSON; - for standard output.")
@click.option("--svg", "svg_file", metavar="FILE", help="Write the dataflow with its labels as a picture.")
@click.option(
    "--report", "report_file", metavar="FILE", help="Write a page with the verdict and the picture (HTML)."
)
@click.option(
    "--emit-yaml", "yaml_file", metavar="FILE", help="Write the dataflow as YAML; - for standard output, alone."
)
@click.option(
    "--synthesize", "how", type=click.Choice(KINDS), help="Make the coordinated program, as a Python module."
)
@click.option(
    "-o", "--output", "module_file", metavar="FILE.py", help="Where that goes, instead of being printed."
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
    json_file: str | None,
    svg_file: str | None,
    report_file: str | None,
    yaml_file: str | None,
    how: str | None,
    module_file: str | None,
    independent: bool,
    service: str,
) -> None:
    """Tell what the order of messages can do to a dataflow, and what to do about it.

    The file describes components with annotated paths, and the streams between them: see docs/blazes.md.  From
    a Bloom program, all of that is extracted, and --synthesize writes a module that wraps it in the coordination
    that it needs: seals where they suffice, or one order.

    Exit code: 0 no sink is worse than Async, 1 the contents of one can differ, 2 bad file or usage.
    """
    if module_file is not None and how is None:
        raise UsageError("-o is for --synthesize", remedy="add --synthesize seal or --synthesize order")
    module_file = module_file if how is None else module_file or "-"
    _refuse_files({"--json": json_file, "--emit-yaml": yaml_file, "--synthesize": module_file})
    refuse_no_file("--svg", svg_file, "dataflow.svg")
    refuse_no_file("--report", report_file, "blazes.html")
    chosen = dict(_pair(v, "--variant", "Report=POOR") for v in variants)
    extraction = _extracted(file, chosen) if is_python(file) else None
    dataflow = extraction.dataflow if extraction else load_dataflow(file, chosen)
    for one in seals:
        dataflow = _sealed(dataflow, *_pair(one, "--seal", "clicks=campaign"))
    verdict = analyse(dataflow)
    made = synthesized_text(file, dataflow, how, independent=independent, service=service) if how else ""
    _write(
        [
            (json_file, lambda: to_json(verdict, file)),
            (yaml_file, lambda: _yaml(dataflow, file, extraction)),
            (svg_file, lambda: blazes_svg(verdict, standalone=True) + "\n"),
            (report_file, lambda: _page(verdict, file)),
            (module_file, lambda: made),
        ],
        _text(verdict, file, extraction),
    )
    sys.exit(exit_codes.VIOLATED if verdict.worst.bad else exit_codes.HOLDS)


def _write(files: list[tuple[str | None, Callable[[], str]]], text: str) -> None:
    """Print what - asks for, else the text; and write the files."""
    printed = [made for path, made in files if path == "-"]
    say(printed[0]() if printed else text)
    for path, made in files:
        if path is not None and path != "-":
            write_file(path, made())


def _refuse_files(by_flag: Mapping[str, str | None]) -> None:
    """What cannot be written, and what cannot be printed together."""
    for file in by_flag.values():
        if file is not None and file != "-":
            refuse_unwritable(file, "give a path that can, or -")
    printed = [flag for flag, file in by_flag.items() if file == "-"]
    if len(printed) > 1:
        raise UsageError(
            f"{' and '.join(printed[:2])} cannot both be printed", remedy="write one of them to a file"
        )


def _extracted(file: str, variants: dict[str, str]) -> Extraction:
    if variants:
        raise UsageError(
            "--variant is for the variants of a dataflow file", remedy="name the class: FILE.py:CLASS"
        )
    extraction = open_bloom(file).extract()
    for notice in extraction.notices:
        warn(str(notice))
    return extraction


def _text(verdict: Verdict, file: str, extraction: Extraction | None) -> str:
    extracted = harmless(extraction_text(extraction)) if extraction else ""
    return blazes_text(verdict, harmless(file)) + extracted


def _yaml(dataflow: Dataflow, file: str, extraction: Extraction | None) -> str:
    if extraction is None:
        return dataflow_yaml(dataflow)
    return dataflow_yaml(dataflow, f"Extracted from {file}.", remarks(extraction))


def _page(verdict: Verdict, file: str) -> str:
    from clew.report.blazes.page import blazes_page  # only when asked for: a cold start should not pay for it

    return blazes_page(verdict, file)


def _pair(text: str, flag: str, example: str) -> tuple[str, str]:
    left, equals, right = text.partition("=")
    if not (left and equals and right):
        raise UsageError(f"{flag} {text!r} is not of the form NAME=VALUE", remedy=f"write, say, {flag} {example}")
    return left, right


def _sealed(dataflow: Dataflow, name: str, key: str) -> Dataflow:
    stream = next((s for s in dataflow.streams if s.name == name), None)
    if stream is None:
        raise UsageError(
            f"--seal: there is no stream '{name}'",
            remedy=f"the streams are {', '.join(s.name for s in dataflow.streams)}",
        )
    attributes = [part.strip() for part in key.split(",")]
    for attribute in attributes:
        if not attribute or (stream.attributes is not None and attribute not in stream.attributes):
            raise UsageError(
                f"--seal: the stream '{name}' has no attribute '{attribute}'",
                remedy=f"its attributes are {', '.join(stream.attributes or ['not stated'])}",
            )
    if stream.source is None and stream.label.bad:
        raise UsageError(f"--seal: a stream that is {stream.label} cannot be sealed", remedy="seal another one")
    return dataflow.with_seal(name, frozenset(attributes))
