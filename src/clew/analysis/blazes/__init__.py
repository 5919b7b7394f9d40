"""Blazes: what the order of messages can do to a dataflow, and the least coordination that prevents it.

Chapter 4 of the thesis.  A ``Dataflow`` of annotated components (from a file, ``yaml_file``, or from a program) is
made acyclic (``cycles``), every path derives labels (``inference``), every output keeps one (``reconciliation``),
and what stands at the sinks becomes a ``Verdict`` with its derivation, the components to blame and remedies that
were tried out (``remedies``).
"""

from __future__ import annotations

from clew.analysis.blazes.annotations import Annotation, Behaviour, Label, LabelKind
from clew.analysis.blazes.dataflow import Component, Dataflow, End, Ordering, Path, Stream
from clew.analysis.blazes.derivation import Derivation, Reconciled, SourceLabel, derive
from clew.analysis.blazes.seals import Dependency, Lineage
from clew.analysis.blazes.verdict import SinkVerdict, Verdict, analyse

__all__ = [
    "Annotation",
    "Behaviour",
    "Component",
    "Dataflow",
    "Dependency",
    "Derivation",
    "End",
    "Label",
    "LabelKind",
    "Lineage",
    "Ordering",
    "Path",
    "Reconciled",
    "SinkVerdict",
    "SourceLabel",
    "Stream",
    "Verdict",
    "analyse",
    "derive",
]
