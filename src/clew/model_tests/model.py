"""What is tested: a model, what it expects, and what became of it."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from clew.expectation import ANSWERS, Expectation
from clew.faults import FailureSpec
from clew.injection.bounds import InjectionBounds
from clew.search.verdict import Answer


class Kind(enum.Enum):
    """What a model is written in; ``PYTHON`` is a file that could not be imported, so that nobody knows."""

    DEDALUS = "dedalus"
    BLOOM = "bloom"
    SCENARIO = "scenario"
    PYTHON = "python"


@dataclass(frozen=True)
class Model:
    """A model as a command names it: ``kafka.ded``, ``broadcast.py:Simple``, ``lock.py:careful``.

    ``expectation``: None if it states none.  ``runs`` and ``seed``: which executions of a scenario that is about;
    ``seed`` alone, where it is about a check.
    """

    name: str
    kind: Kind
    expectation: Expectation | None = None
    runs: int | None = None
    seed: int | None = None

    @property
    def strategy(self) -> str | None:
        """Return how a scenario is checked that expects what a check answers; None for all other models."""
        if self.kind is not Kind.SCENARIO or self.expectation is None or self.expectation.answer not in ANSWERS:
            return None
        # Nothing else certifies code.
        return "exhaustive" if self.expectation.answer == Answer.CERTIFIED.value else "lineage"


class Status(enum.Enum):
    """How an answer compares with what is expected; the values are what JSON calls them.

    ``FAILED``: there is no answer, for the model is refused or ended its process.  ``BROKEN``: nor is there, by a
    mistake in Clew, or for want of memory.
    """

    AS_EXPECTED = "as expected"
    DIFFERS = "differs"
    INCOMPLETE = "incomplete"
    FAILED = "failed"
    BROKEN = "clew failed"
    NO_EXPECTATION = "no expectation"


@dataclass(frozen=True)
class ModelOutcome:
    """What became of a model.

    ``answer``: what its check came to, None without one.  ``faults``: of the smallest counterexample, or the one
    that was found in code.  ``spec``: the bounds of a check, ``runs``: how many executions of a scenario took
    place.  ``reason``: why there is no
    answer, or no better one, or what a scenario violates; ``remedy``: what to do about that.  ``printed``: the end
    of what its code printed, unless it is as expected.
    """

    model: Model
    status: Status
    answer: str | None = None
    faults: int | None = None
    spec: FailureSpec | InjectionBounds | None = None
    runs: int | None = None
    reason: str | None = None
    remedy: str | None = None
    printed: str = ""
