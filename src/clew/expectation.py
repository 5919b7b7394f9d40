"""What a model says that its check comes to: ``//! expect=counterexample faults=3``, ``checked(..., expect=...)``.

``clew test`` compares it with the answer, and ``clew check`` mentions a difference.  Answers are words here, those
of ``clew.search.verdict.Answer``: what states an expectation stands left of what searches.
"""

from __future__ import annotations

from typing import NamedTuple

from clew.names import nearest_name

#: The answer that an expectation of ``faults`` goes with.
COUNTEREXAMPLE = "counterexample"
#: What can be expected of a check.
ANSWERS = (COUNTEREXAMPLE, "certified", "incomplete")
#: The keys of a ``//!`` line, and the arguments of ``checked``, that state it.
KEYS = ("expect", "faults")


# A NamedTuple, as ``Bounds``: it is on the way to the first answer of every check.
class Expectation(NamedTuple):
    """An answer, and how many faults the smallest counterexample has; None where any number will do."""

    answer: str
    faults: int | None = None

    def is_met_by(self, answer: str, faults: int | None) -> bool:
        """Tell whether a check that came to this is as expected; ``faults`` are those of its counterexample."""
        return answer == self.answer and self.faults in (None, faults)

    def __str__(self) -> str:
        return describe(self.answer, self.faults)


class ExpectationError(ValueError):
    """What is stated is no expectation; ``key`` is the part of it that is wrong."""

    def __init__(self, key: str, message: str, remedy: str) -> None:
        super().__init__(message)
        self.key = key
        self.message = message
        self.remedy = remedy


def make_expectation(expect: object, faults: object) -> Expectation | None:
    """Return what is stated, None if nothing is; raise ``ExpectationError`` for what cannot be expected."""
    if expect is None and faults is None:
        return None
    if faults is not None and expect != COUNTEREXAMPLE:
        given = "no expect" if expect is None else f"expect={expect}"
        raise ExpectationError(
            "faults",
            f"'faults' is the size of a counterexample, and there is {given}",
            f"state expect={COUNTEREXAMPLE}, too, or leave it out",
        )
    if not isinstance(expect, str) or expect not in ANSWERS:
        raise ExpectationError("expect", f"unknown answer {_show(expect)} is expected", _offer(expect))
    # True is an int.
    if faults is not None and (not isinstance(faults, int) or isinstance(faults, bool) or faults < 0):
        raise ExpectationError("faults", f"'faults' is {faults!r}", "give a whole number, from 0 on")
    return Expectation(expect, faults)


def describe(answer: str, faults: int | None) -> str:
    """Put an answer into words, with the number of its faults where that is known."""
    if faults is None:
        return answer
    return f"{answer}, {faults} {'fault' if faults == 1 else 'faults'}"


def _show(expect: object) -> str:
    return f"'{expect}'" if isinstance(expect, str) else repr(expect)


def _offer(expect: object) -> str:
    nearest = nearest_name(expect, ANSWERS) if isinstance(expect, str) else None
    return f"did you mean '{nearest}'?" if nearest else f"use one of {', '.join(ANSWERS)}"
