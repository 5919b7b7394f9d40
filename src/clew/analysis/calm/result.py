"""What ``clew.calm`` returns: the analysis of a program, and what came of trying random orders."""

from __future__ import annotations

from dataclasses import dataclass

from clew.analysis.calm.analysis import Analysis, CalmVerdict, verdict_of
from clew.analysis.calm.trying.orders import Trial
from clew.errors import Notice
from clew.results import HOLDS, INCOMPLETE, VIOLATED, Result

#: That the sequence of steps decides is neither consistent nor wrong by itself.
_EXIT_CODES = {
    CalmVerdict.CONSISTENT: HOLDS,
    CalmVerdict.DEPENDS_ON_STEPS: INCOMPLETE,
    CalmVerdict.ORDER_MATTERS: VIOLATED,
    CalmVerdict.UNDERSPECIFIED: VIOLATED,
}


@dataclass(frozen=True)
class CalmAnalysis(Result):
    """``trials``: the random orders that were tried, if any.  ``files``: as they were given, none for a class."""

    analysis: Analysis
    trials: tuple[Trial, ...] = ()
    files: tuple[str, ...] = ()

    @property
    def contradicted(self) -> bool:
        """Tell whether two orders ended differently where a label promises one outcome."""
        return any(trial.contradicts for trial in self.trials)

    @property
    def answer(self) -> CalmVerdict:
        return verdict_of(self.analysis)

    @property
    def reason(self) -> str | None:
        """Return the outputs that are not consistent, or that orders contradict a label."""
        if self.contradicted:
            return "two orders end differently where a label promises one outcome"
        bad = [f"{o.name} ({o.label.value})" for o in self.analysis.outputs if not o.label.consistent]
        return f"the order of events can change {', '.join(bad)}" if bad else None

    @property
    def notices(self) -> tuple[Notice, ...]:
        return tuple(self.analysis.flow.notices)

    @property
    def exit_code(self) -> int:
        return VIOLATED if self.contradicted else _EXIT_CODES[self.answer]
