"""Blazes, white box (section 4.6 of the thesis): the annotated dataflow of a Bloom program.

``regions`` takes a program apart into modules, ``origins`` follows columns by identity, ``partitions`` finds the
gates of operators, ``annotating`` gives every path its annotation, and ``system`` puts components and streams
together.  What the rules cannot say (replicas, seals) stands in the class: ``declared``.
"""

from __future__ import annotations

from clew.analysis.blazes.extraction.declared import annotated

__all__ = ["annotated"]
