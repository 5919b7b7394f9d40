"""Short ways to the analysis of a program, for tests."""

from __future__ import annotations

from clew.analysis.calm.analysis import Analysis, analyse_dataflow
from clew.analysis.calm.dataflow.of_bloom import bloom_dataflow
from clew.analysis.calm.dataflow.of_dedalus import dedalus_dataflow
from clew.bloom.language.module import Module, program_of
from clew.dedalus.loader import parse_program
from clew.program.checks import check_program


def of_class(module: type[Module]) -> Analysis:
    return analyse_dataflow(bloom_dataflow(program_of(module)))


def of_text(text: str) -> Analysis:
    program = check_program(parse_program(text))
    return analyse_dataflow(dedalus_dataflow(program.program, "text", program.notices))


def labels(analysis: Analysis) -> dict[str, str]:
    return {output.name: output.label.value for output in analysis.outputs}


def ways(analysis: Analysis, name: str) -> dict[str, str]:
    """The label of each source's ways to an output."""
    (output,) = (o for o in analysis.outputs if o.name == name)
    return {way.source: way.label.value for way in output.ways}


def blocks(analysis: Analysis, name: str) -> list[str]:
    """The blocks of the points of order of an output."""
    (output,) = (o for o in analysis.outputs if o.name == name)
    return [analysis.flow.statements[point.statement].block for point in output.points]


def reasons(analysis: Analysis, name: str) -> list[str]:
    (output,) = (o for o in analysis.outputs if o.name == name)
    return [reason for point in output.points for reason in point.reasons]
