"""What ``clew.blazes`` returns: the verdict on a dataflow, and what was extracted from a program."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from clew.analysis.blazes.extraction.system import Extraction
from clew.analysis.blazes.verdict import Verdict
from clew.errors import Notice
from clew.results import HOLDS, VIOLATED, Result


class BlazesAnswer(enum.Enum):
    """Whether a sink is worse than Async."""

    CONSISTENT = "consistent"
    INCONSISTENT = "inconsistent"


@dataclass(frozen=True)
class BlazesAnalysis(Result):
    """``file``: as it was given, "" for what was made in Python.  ``extraction``: of a Bloom program."""

    verdict: Verdict
    file: str = ""
    extraction: Extraction | None = None

    @property
    def answer(self) -> BlazesAnswer:
        return BlazesAnswer.INCONSISTENT if self.verdict.worst.bad else BlazesAnswer.CONSISTENT

    @property
    def reason(self) -> str | None:
        """Return the sinks whose contents can differ."""
        bad = [sink.stream.name for sink in self.verdict.sinks if sink.label.bad]
        return f"the contents of {', '.join(bad)} can differ" if bad else None

    @property
    def notices(self) -> tuple[Notice, ...]:
        return self.extraction.notices if self.extraction else ()

    @property
    def exit_code(self) -> int:
        return VIOLATED if self.verdict.worst.bad else HOLDS
