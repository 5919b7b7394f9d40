"""Bloom: distributed programs as rules over collections (thesis, chapter 3.3), in Python.

A program is a class with collections and blocks of rules; ``<=``, ``<+``, ``<-`` and ``<~`` are Bloom's own
operators.  The rooms, each importing only those before it: ``values`` (what a column may hold), ``lattices``,
``ir`` (a program as data), ``language`` (what users write, and how it becomes data), ``runtime`` (a step of a
node), ``network`` (nodes over UDP and TCP), ``tracing`` (what each rule derives), ``to_program`` (the program that
is checked) and ``simulated`` (nodes in executions that are searched, replayed and made small).
"""

from __future__ import annotations

import os

from clew.bloom.ir import aggregates as agg
from clew.bloom.language.declarations import (
    bloom,
    channel,
    imported,
    interface,
    lbag,
    lbool,
    lmap,
    lmax,
    lmin,
    loopback,
    lpset,
    lset,
    outcome,
    periodic,
    scratch,
    stdio,
    table,
)
from clew.bloom.language.relations import rows
from clew.bloom.language.setting import EVERY, checked
from clew.bloom.network.access import TLS
from clew.bloom.network.limits import Limits
from clew.bloom.network.networked_node import Bloom
from clew.bloom.runtime.invariants import BrokenInvariant, InvariantError
from clew.bloom.tracing.traces import TraceRecord, trace

__all__ = [
    "EVERY",
    "TLS",
    "Bloom",
    "BrokenInvariant",
    "InvariantError",
    "Limits",
    "TraceRecord",
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
    "trace",
]

# Set by ``clew cover``, for whatever processes there are below them.
if "CLEW_COVER" in os.environ:
    from clew.bloom.tracing.recording import begin_recording

    begin_recording()
