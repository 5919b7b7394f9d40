"""What ``clew.check_models`` returns."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from clew.errors import Notice
from clew.model_tests.model import ModelOutcome, Status
from clew.results import FAILED, HOLDS, INCOMPLETE, VIOLATED, Result


class ModelTestsAnswer(enum.Enum):
    """``FAILED`` is said where a check ended by a mistake in Clew, or in its surroundings."""

    AS_EXPECTED = "as expected"
    DIFFERS = "differs"
    INCOMPLETE = "incomplete"
    FAILED = "clew failed"


_EXIT_CODES = {
    ModelTestsAnswer.AS_EXPECTED: HOLDS,
    ModelTestsAnswer.DIFFERS: VIOLATED,
    ModelTestsAnswer.INCOMPLETE: INCOMPLETE,
    ModelTestsAnswer.FAILED: FAILED,
}

#: From what matters most: where Clew failed, not even a difference is certain to be all.
_ANSWERS = (
    (Status.BROKEN, ModelTestsAnswer.FAILED),
    (Status.FAILED, ModelTestsAnswer.DIFFERS),
    (Status.DIFFERS, ModelTestsAnswer.DIFFERS),
    (Status.INCOMPLETE, ModelTestsAnswer.INCOMPLETE),
)


@dataclass(frozen=True)
class ModelTests(Result):
    """Models with what became of them, in the order of their names below each of the ``paths``.

    ``ended``: what ended everything before all of them were checked.
    """

    paths: tuple[str, ...]
    outcomes: tuple[ModelOutcome, ...]
    ended: str | None = None
    notices: tuple[Notice, ...] = ()

    @property
    def answer(self) -> ModelTestsAnswer:
        statuses = {outcome.status for outcome in self.outcomes}
        for status, answer in _ANSWERS:
            if status in statuses:
                return answer
        # Nothing to compare is not success.
        return ModelTestsAnswer.AS_EXPECTED if Status.AS_EXPECTED in statuses else ModelTestsAnswer.INCOMPLETE

    @property
    def reason(self) -> str | None:
        """Return why not all is as expected; None if all is."""
        if self.answer is ModelTestsAnswer.AS_EXPECTED:
            return None
        if not self.compared:
            return "no model states an expectation, so that nothing was compared"
        good = len(self.of_status(Status.AS_EXPECTED))
        bad = len(self.compared) - good
        others = f"{bad} of {len(self.compared)} models {'is' if bad == 1 else 'are'} not as expected"
        return others if self.ended is None else f"{self.ended}; {others}"

    @property
    def exit_code(self) -> int:
        return _EXIT_CODES[self.answer]

    @property
    def compared(self) -> tuple[ModelOutcome, ...]:
        """Return the outcomes of the models that state an expectation, or could not even be loaded."""
        return tuple(outcome for outcome in self.outcomes if outcome.status is not Status.NO_EXPECTATION)

    def of_status(self, *statuses: Status) -> tuple[ModelOutcome, ...]:
        """Return the outcomes of some kinds."""
        return tuple(outcome for outcome in self.outcomes if outcome.status in statuses)
