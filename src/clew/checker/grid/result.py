"""What ``check_grid`` returns: a verdict for each setting, and which of those that break are the smallest."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from clew.checker.grid.axes import Axis, GridSetting, is_smaller
from clew.checker.result import Verdict
from clew.errors import Notice, Position
from clew.names import show
from clew.program.ir import Param
from clew.results import HOLDS, INCOMPLETE, VIOLATED, Result
from clew.search.verdict import Answer


class RowAnswer(enum.Enum):
    """What became of one setting; ``INVALID``: there is no such program, or no such bounds of it."""

    COUNTEREXAMPLE = "counterexample"
    CERTIFIED = "certified"
    INCOMPLETE = "incomplete"
    INVALID = "invalid"


@dataclass(frozen=True)
class Problem:
    """Why a setting is invalid: what a check of it would have raised."""

    message: str
    position: Position | None = None
    remedy: str | None = None
    of_program: bool = False


@dataclass(frozen=True)
class GridRow:
    """One setting.  ``verdict``: that of its check, without what only a report of it needs; None without one.

    Then ``reason`` says why it was not reached, or ``problem`` why it is invalid.  ``params``: all of them, also
    those that were computed.
    """

    setting: GridSetting
    verdict: Verdict | None = None
    reason: str | None = None
    problem: Problem | None = None
    params: tuple[Param, ...] = ()

    @property
    def answer(self) -> RowAnswer:
        if self.problem is not None:
            return RowAnswer.INVALID
        return RowAnswer.INCOMPLETE if self.verdict is None else RowAnswer(self.verdict.answer.value)

    @property
    def why(self) -> str | None:
        """Return why the answer is no better."""
        if self.problem is not None:
            return self.problem.message
        return self.reason if self.verdict is None else self.verdict.reason

    @property
    def words(self) -> str:
        """Return the setting as people write it."""
        return " ".join(f"{name}={show(value)}" for name, value in self.setting)


@dataclass(frozen=True)
class GridResult(Result):
    """The answer to ``check_grid``: a counterexample if one setting has one, certified if all are.

    ``rows``: the settings in the order of the product of the ``axes``, the first axis slowest.  ``params`` and
    ``options``: what was given for all of them.  ``files``: those of the program as they were given.
    """

    axes: tuple[Axis, ...]
    rows: tuple[GridRow, ...]
    params: Mapping[str, str | int] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    files: tuple[str, ...] = ()

    def count(self, answer: RowAnswer) -> int:
        """Return how many settings have this answer."""
        return sum(row.answer is answer for row in self.rows)

    @property
    def answer(self) -> Answer:
        # A counterexample stands, whatever is not known of other settings.
        if self.count(RowAnswer.COUNTEREXAMPLE):
            return Answer.COUNTEREXAMPLE
        # An invalid setting is not certified either: there was nothing to look at.
        is_certain = self.count(RowAnswer.CERTIFIED) == len(self.rows)
        return Answer.CERTIFIED if is_certain else Answer.INCOMPLETE

    @property
    def reason(self) -> str | None:
        """Return which settings have no answer of their own, or None if all have."""
        open_ones = [(a, self.count(a)) for a in (RowAnswer.INCOMPLETE, RowAnswer.INVALID) if self.count(a)]
        told = " and ".join(f"{number} {answer.value}" for answer, number in open_ones)
        return f"of {len(self.rows)} settings, {told}" if told else None

    @property
    def exit_code(self) -> int:
        codes = {Answer.COUNTEREXAMPLE: VIOLATED, Answer.CERTIFIED: HOLDS, Answer.INCOMPLETE: INCOMPLETE}
        return codes[self.answer]

    @property
    def strategy(self) -> str:
        return str(self.options.get("strategy", "exact"))

    @cached_property
    def smallest(self) -> tuple[GridRow, ...]:
        """Return the breaking settings than which no breaking one is smaller (``is_smaller``)."""
        breaking = [row for row in self.rows if row.answer is RowAnswer.COUNTEREXAMPLE]
        return tuple(
            row for row in breaking if not any(is_smaller(other.setting, row.setting) for other in breaking)
        )

    @property
    def ordered(self) -> tuple[GridRow, ...]:
        """Return the rows as they are shown: the smallest that break first, then the others."""
        first = {row.setting for row in self.smallest}
        return (*self.smallest, *(row for row in self.rows if row.setting not in first))

    @property
    def notices(self) -> tuple[Notice, ...]:
        """Return the notices of all settings, each once; with the first setting where not all have it."""
        checked = [row for row in self.rows if row.verdict is not None]
        # Most notices are about the program, and would come with each of hundreds of settings.
        first: dict[Notice, GridRow] = {}
        times: dict[Notice, int] = {}
        for row in checked:
            for notice in dict.fromkeys(row.verdict.notices if row.verdict else ()):
                first.setdefault(notice, row)
                times[notice] = times.get(notice, 0) + 1
        return tuple(
            notice
            if times[notice] == len(checked)
            else replace(notice, message=f"with {row.words}: {notice.message}")
            for notice, row in first.items()
        )
