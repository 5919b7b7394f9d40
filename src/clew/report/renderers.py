"""Which module shows which result.

A renderer is a module with four functions of a result: ``text`` is what a terminal shows, ``json_text`` what
``--json`` writes, ``junit`` what ``--junit`` does, ``page`` what ``--report`` does.  ``Result`` (``str()`` and
``to_json()``), ``clew.write_report`` and the command line all look here, so a new kind of result needs one line.
The modules are named, not imported: to show a verdict must not load what shows simulated runs, and the reverse.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol

from clew.errors import UsageError
from clew.results import Result

#: By the names of the classes, which are unique among results.
RENDERERS = {
    "Verdict": "clew.report.verdict.renderer",
    "Execution": "clew.report.verdict.renderer",
    "CodeVerdict": "clew.report.injected.renderer",
    "CodeRun": "clew.report.injected.executed",
    "GridResult": "clew.report.grid.renderer",
    "ReplayedVerdict": "clew.report.replay.renderer",
    "Fuzzed": "clew.report.simulated.fuzzed",
    "Exploration": "clew.report.simulated.explored",
    "Minimized": "clew.report.simulated.minimized",
    "Replayed": "clew.report.simulated.replayed",
    "CalmAnalysis": "clew.report.calm.renderer",
    "BlazesAnalysis": "clew.report.blazes.renderer",
    "HistoryVerdict": "clew.report.histories.renderer",
    "BloomCoverage": "clew.report.coverage.renderer",
    "ModelTests": "clew.report.model_tests.renderer",
}

#: Seconds that a page may take.
DEFAULT_SECONDS = 60.0


@dataclass(frozen=True)
class PageOptions:
    """What a page may need besides the result.

    ``seconds``: how long it may take.  ``stage`` is told what is being prepared.  ``recorded_in``: the file that
    the recording of what is shown was written to, for the command that replays it.
    """

    seconds: float = DEFAULT_SECONDS
    stage: Callable[[str], None] = lambda stage: None
    recorded_in: str | None = None


class Renderer(Protocol):
    """The functions that a module in the table has."""

    def text(self, result: Any, /) -> str: ...

    def json_text(self, result: Any, /) -> str: ...

    def junit(self, result: Any, /) -> str: ...

    def page(self, result: Any, options: PageOptions, /) -> str: ...


def renderer_of(result: Result) -> Renderer:
    """Return the module that shows a result."""
    # A class that derives from a result is shown like it.
    for cls in type(result).__mro__:
        if cls.__name__ in RENDERERS:
            module: Any = import_module(RENDERERS[cls.__name__])
            renderer: Renderer = module
            return renderer
    raise UsageError(
        f"nothing is known of how to show a {type(result).__name__}",
        remedy="give what clew.check, check_grid, check_models, check_history, run, fuzz, explore, minimize, "
        "replay, cover, calm or blazes returned",
    )
