"""The result of checking a history: one of three answers, with what shows it."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from clew.errors import Notice
from clew.histories.linearizability.windows import Window
from clew.histories.transactions.checking import Anomaly
from clew.results import HOLDS, INCOMPLETE, VIOLATED, Result


class HistoryAnswer(enum.Enum):
    """Whether a history is what it should be."""

    HOLDS = "holds"
    VIOLATED = "violated"
    UNKNOWN = "unknown"


_EXIT_CODES = {
    HistoryAnswer.HOLDS: HOLDS,
    HistoryAnswer.VIOLATED: VIOLATED,
    HistoryAnswer.UNKNOWN: INCOMPLETE,
}


@dataclass(frozen=True)
class HistoryVerdict(Result):
    """``promise``: what was asked, "linearizable" or one of serializability; ``model``: as what.

    ``parts``: how many objects were checked apart from each other.  ``windows``: of each that is not linearizable,
    what shows it, the one that ends first in front; ``anomalies``: of transactions, one of each name.  ``orders``:
    what was taken for the order of transactions besides what they read.
    """

    file: str
    model: str
    promise: str
    answer: HistoryAnswer
    reason: str | None
    operations: int
    processes: int
    failed: int
    unknown: int
    parts: int = 1
    windows: tuple[Window, ...] = ()
    anomalies: tuple[Anomaly, ...] = ()
    orders: tuple[str, ...] = ()
    notices: tuple[Notice, ...] = ()

    @property
    def exit_code(self) -> int:
        """Return what the command ends with."""
        return _EXIT_CODES[self.answer]
