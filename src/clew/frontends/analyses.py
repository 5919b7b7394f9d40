"""From Python: ``calm`` and ``blazes``, from what a user names to a result."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from clew.analysis.blazes.dataflow import Dataflow
from clew.analysis.blazes.extraction.system import Extraction
from clew.analysis.blazes.result import BlazesAnalysis
from clew.analysis.blazes.verdict import analyse
from clew.analysis.blazes.yaml.reading import load_dataflow
from clew.analysis.calm.analysis import analyse_dataflow
from clew.analysis.calm.result import CalmAnalysis
from clew.bloom.language.module import Module
from clew.dedalus.params import Settings
from clew.errors import UsageError
from clew.files.python_names import is_python
from clew.frontends.bloom import BloomSource
from clew.frontends.registry import Source, open_program
from clew.frontends.streams import dataflow_of, is_flow, open_analysed

if TYPE_CHECKING:
    from bytewax.dataflow import Dataflow as StreamFlow


def calm(
    source: Source, *, orders: int | None = None, seed: int = 0, params: Settings | None = None
) -> CalmAnalysis:
    """Find the outputs of a program that depend on the order in which things happen.

    - ``source``: a Bloom class, ``"FILE.py:Class"``, or the file or files of a Dedalus program.
    - ``orders``: also run a Bloom program, with the nodes and rows of its ``setting``, in so many random orders;
      ``seed`` is that of the first.
    - ``params``: values of params of a Dedalus program, by name.

    Raises ``ProgramError`` or ``UsageError`` for what cannot be analysed.
    """
    files: tuple[str, ...] = ()
    if isinstance(source, str | Path):
        files = (str(source),)
    elif isinstance(source, Sequence):
        files = tuple(map(str, source))
    opened = open_program(source, to_check=False, params=params)
    if orders is None:
        return CalmAnalysis(analyse_dataflow(opened.dataflow()), files=files)
    if not isinstance(opened, BloomSource):
        raise UsageError("--try runs Bloom programs", remedy="give one class: FILE.py:Class")
    # Only whoever tries orders pays for what runs them.
    from clew.analysis.calm.trying.orders import try_analysis
    from clew.analysis.calm.trying.workloads import workload_of

    workload = workload_of(opened.cls)
    analysis = analyse_dataflow(opened.dataflow())
    return CalmAnalysis(analysis, try_analysis(analysis, workload, orders=orders, seed=seed), files)


def blazes(
    source: str | Path | Dataflow | type[Module] | StreamFlow,
    *,
    variants: Mapping[str, str] | None = None,
    seals: Iterable[tuple[str, Sequence[str]]] = (),
) -> BlazesAnalysis:
    """Tell what the order of messages can do to a dataflow, and which coordination prevents it.

    - ``source``: a file that describes a dataflow (docs/blazes.md), a ``Dataflow``, a Bloom program (a class or
      ``"FILE.py:Class"``), or a dataflow of Bytewax with annotated steps (or ``"FILE.py:flow"``, docs/streams.md).
    - ``variants``: by component, which of its variants is meant (of a file).
    - ``seals``: streams, each with the attributes on which it is supposed to be sealed, too; one may have several.

    Raises ``UsageError`` for what cannot be analysed.
    """
    file = str(source) if isinstance(source, str | Path) else ""
    if file and not is_python(file):
        dataflow, extraction = load_dataflow(file, variants or {}), None
    else:
        # A ``Dataflow`` from Python has been made from one variant already.
        _refuse_variants(variants if not isinstance(source, Dataflow) else None)
        dataflow, extraction = _read_program(source, file)
    for stream, key in seals:
        dataflow = seal_stream(dataflow, stream, key)
    return BlazesAnalysis(analyse(dataflow), file, extraction)


def _refuse_variants(variants: Mapping[str, str] | None) -> None:
    if variants:
        raise UsageError(
            "--variant is for the variants of a dataflow file", remedy="name the class: FILE.py:CLASS"
        )


def _read_program(
    source: str | Path | Dataflow | type[Module] | StreamFlow, file: str
) -> tuple[Dataflow, Extraction | None]:
    """Return the dataflow of a program, with what was extracted if it is one of Bloom."""
    opened: object = source
    if file:
        opened = open_analysed(file)
    elif isinstance(source, type):
        opened = BloomSource(source)
    elif is_flow(source):
        opened = dataflow_of(source)
    if isinstance(opened, Dataflow):
        return opened, None
    if not isinstance(opened, BloomSource):
        raise UsageError(
            f"{opened!r} is neither a program nor a dataflow", remedy="give a file, a Bloom class, or a dataflow"
        )
    extraction = opened.extract()
    return extraction.dataflow, extraction


def seal_stream(dataflow: Dataflow, name: str, key: Sequence[str]) -> Dataflow:
    """Suppose that a stream is sealed on some of its attributes."""
    stream = next((s for s in dataflow.streams if s.name == name), None)
    if stream is None:
        raise UsageError(
            f"--seal: there is no stream '{name}'",
            remedy=f"the streams are {', '.join(s.name for s in dataflow.streams)}",
        )
    for attribute in key:
        if not attribute or (stream.attributes is not None and attribute not in stream.attributes):
            raise UsageError(
                f"--seal: the stream '{name}' has no attribute '{attribute}'",
                remedy=f"its attributes are {', '.join(stream.attributes or ['not stated'])}",
            )
    # A seal promises which rows are there; a source whose contents differ cannot keep that.
    if stream.source is None and stream.label.bad:
        raise UsageError(f"--seal: a stream that is {stream.label} cannot be sealed", remedy="seal another one")
    return dataflow.with_seal(name, frozenset(key))
