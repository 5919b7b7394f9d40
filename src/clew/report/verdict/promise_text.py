"""Each promise on a line of its own, where a program states several: of a verdict, and of one execution."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from clew.engine.execution import Execution
from clew.program.assertions import PRE, Assertion, find_assertions

if TYPE_CHECKING:  # most programs have one promise, and need none of it
    from clew.checker.answers import PromiseAnswer
    from clew.checker.result import Verdict


def promise_lines(verdict: Verdict) -> Iterator[str]:
    """Yield what is known of each promise; nothing for ``pre`` and ``post`` alone, where the verdict says it."""
    for answer in verdict.promises:
        yield f"  {answer.assertion.title}: {standing_text(answer, several=len(verdict.counterexamples) > 1)}"


def standing_text(answer: PromiseAnswer, *, several: bool) -> str:
    """Say how a promise stands; ``several``: counterexamples are referred to by their number."""
    if answer.counterexamples and several:
        return f"{answer.standing.value} by {_join(list(map(str, answer.counterexamples)))}"
    return f"{answer.standing.value}: {answer.reason}" if answer.reason else answer.standing.value


def _join(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


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
