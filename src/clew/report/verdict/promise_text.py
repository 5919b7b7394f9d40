"""Each promise on a line of its own, where a program states several: of a verdict, and of one execution."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from clew.engine.execution import Execution
from clew.program.assertions import PRE, Assertion, find_assertions

if TYPE_CHECKING:  # most programs have one promise, and need none of it
    from clew.checker.answers import PromiseAnswer
    from clew.checker.result import Verdict

#: More counterexamples than this are not named one by one; JSON has them all.
_MOST_NUMBERS = 6


def promise_lines(verdict: Verdict) -> Iterator[str]:
    """Yield what is known of each promise; nothing for ``pre`` and ``post`` alone, where the verdict says it."""
    for answer in verdict.promises:
        yield f"  {answer.assertion.title}: {standing_text(answer, len(verdict.counterexamples))}"


def standing_text(answer: PromiseAnswer, found: int) -> str:
    """Say how a promise stands; of several counterexamples that were found, which violate it."""
    if answer.counterexamples and found > 1:
        return f"{answer.standing.value} by {_which(answer.counterexamples, found)}"
    return f"{answer.standing.value}: {answer.reason}" if answer.reason else answer.standing.value


def _which(numbers: Sequence[int], found: int) -> str:
    if len(numbers) == found:
        return f"all {found}"
    if len(numbers) > _MOST_NUMBERS:
        return f"{len(numbers)} of {found}"
    *others, last = map(str, numbers)
    return f"{', '.join(others)} and {last}" if others else last


def holding_lines(run: Execution) -> Iterator[str]:
    """Say of an execution which promises hold; of a single one that is violated nothing is left to say."""
    stated = find_assertions(run.program) if run.program else ()
    broken = {violation.relation for violation in run.violations}
    if stated:
        yield from (_holding_line(assertion, run) for assertion in stated if assertion.relation not in broken)
    elif PRE in run.tables and not broken:
        yield _holding_line(Assertion(PRE, "post"), run)
    elif not broken:
        yield "holds: no row of a persistent relation is missing that the failure-free run has at the end"


def _holding_line(assertion: Assertion, run: Execution) -> str:
    relation, post = assertion
    if post is None:
        return f"holds: '{relation}' has no row at any time"
    empty = "" if run.rows(relation) else f" ('{relation}' is empty)"
    return f"holds: every row of '{relation}' is in '{post}' at the end{empty}"
