"""Bloom: distributed programs as rules over collections (thesis, chapter 3.3), in Python.

A program is a class with collections and blocks of rules; ``<=``, ``<+``, ``<-`` and ``<~`` are Bloom's own
operators.  Read ``declarations`` for what a class may contain, ``handles`` for the expressions, and ``program``
for what becomes of it.
"""

from __future__ import annotations

from clew.bloom.ir import aggregates as agg
from clew.bloom.language.declarations import (
    bloom,
    channel,
    imported,
    interface,
    loopback,
    outcome,
    periodic,
    scratch,
    stdio,
    table,
)
from clew.bloom.language.handles import rows
from clew.bloom.language.lattice_types import lbag, lbool, lmap, lmax, lmin, lpset, lset
from clew.bloom.language.setting import EVERY, checked
from clew.bloom.network.access import TLS
from clew.bloom.network.limits import Limits
from clew.bloom.network.networked_node import Bloom

__all__ = [
    "EVERY",
    "TLS",
    "Bloom",
    "Limits",
    "agg",
    "bloom",
    "channel",
    "checked",
    "imported",
    "interface",
    "lbag",
    "lbool",
    "lmap",
    "lmax",
    "lmin",
    "loopback",
    "lpset",
    "lset",
    "outcome",
    "periodic",
    "rows",
    "scratch",
    "stdio",
    "table",
]
