"""What was extracted from a program, in words: the annotations and the rules behind them."""

from __future__ import annotations

from collections.abc import Iterator

from clew.analysis.blazes.dataflow import Component, Path
from clew.analysis.blazes.extraction.annotating import Remark
from clew.analysis.blazes.extraction.system import Extraction
from clew.analysis.blazes.yaml.writing import Remarks


def extraction_text(extraction: Extraction) -> str:
    """The annotations, and the rules that are behind them."""
    lines = [line for component in extraction.dataflow.components for line in _component(extraction, component)]
    coordination = ["", "coordination:", *(f"  {line}" for line in extraction.coordination)]
    shown = coordination if extraction.coordination else []
    return "\n".join([*shown, "", "extracted annotations:", *lines]) + "\n"


def remarks(extraction: Extraction) -> Remarks:
    """What there is to say about each path, for comments in a file."""
    return {name: [_remark(r) for r in said] for name, said in extraction.remarks.items()}


def _component(extraction: Extraction, component: Component) -> Iterator[str]:
    for path in component.paths:
        yield f"  {component.name}: {_path(path)}"
        for remark in extraction.remarks[component.name, path.source, path.target]:
            yield f"    {_remark(remark)}"


def _path(path: Path) -> str:
    return f"{path.source} → {path.target} is {path.annotation}"


def _remark(remark: Remark) -> str:
    place = f" ({remark.position.file}:{remark.position.line})" if remark.position else ""
    return f"{remark.text}{place}"
