"""The formats in which executions are exported, by the name that the command takes."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import NamedTuple

from clew.errors import UsageError
from clew.names import nearest_name
from clew.report.export.events import Trace


class Format(NamedTuple):
    """``module`` has the ``function`` that writes it; ``about`` says for whom."""

    module: str
    function: str
    about: str


_HERE = "clew.report.export.formats"

#: The modules are named, not imported: one of them is needed.
FORMATS = {
    "shiviz": Format(f"{_HERE}.shiviz", "write_shiviz", "a log with vector clocks, for ShiViz"),
    "itf": Format(f"{_HERE}.itf", "write_itf", "the states, for tools around TLA+ and Quint"),
    "chrome": Format(f"{_HERE}.chrome", "write_chrome", "a time line, for Perfetto"),
    "otlp": Format(f"{_HERE}.otlp", "write_otlp", "spans, for OpenTelemetry"),
    "mermaid": Format(f"{_HERE}.mermaid", "write_mermaid", "a sequence diagram, for Markdown"),
}


def require_format(name: str) -> Format:
    """Return the format of a name, or raise."""
    if name not in FORMATS:
        nearest = nearest_name(name, FORMATS)
        known = f"did you mean '{nearest}'?" if nearest else f"the formats are {', '.join(FORMATS)}"
        raise UsageError(f"unknown format '{name}'", remedy=known)
    return FORMATS[name]


def write_trace(trace: Trace, format: str) -> str:
    """Write an execution in a format."""
    found = require_format(format)
    write: Callable[[Trace], str] = getattr(import_module(found.module), found.function)
    return write(trace)
