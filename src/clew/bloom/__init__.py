"""Bloom: distributed programs as rules over collections (thesis, chapter 3.3), in Python.

A program is a class with collections and blocks of rules; ``<=``, ``<+``, ``<-`` and ``<~`` are Bloom's own
operators.  Read ``declarations`` for what a class may contain, ``handles`` for the expressions, and ``program``
for what becomes of it.
"""

from __future__ import annotations

from clew.bloom import aggregates as agg
from clew.bloom.declarations import bloom, channel, imported, interface, loopback, periodic, scratch, table
from clew.bloom.handles import rows
from clew.bloom.running import Bloom

__all__ = [
    "Bloom",
    "agg",
    "bloom",
    "channel",
    "imported",
    "interface",
    "loopback",
    "periodic",
    "rows",
    "scratch",
    "table",
]
