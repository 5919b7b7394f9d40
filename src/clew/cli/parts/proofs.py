"""Proofs of certificates, for ``clew check --proof``."""

from __future__ import annotations

from clew.budgets.deadline import Deadline
from clew.checker.api import Verdict
from clew.cli.parts.progress import progress_display
from clew.proof.archive import write_archive
from clew.proof.refuting import NoRefutation, refute
from clew.search.verdict import Answer


def prove(verdict: Verdict, time_limit: float | None) -> bytes | str:
    """Return the file of a proof, or why there is none.

    What the search has left of the time limit is for the proof.
    """
    if verdict.answer is Answer.COUNTEREXAMPLE:
        return "there is a counterexample"
    if verdict.answer is Answer.INCOMPLETE:
        return "the answer is incomplete"
    assert verdict.program is not None, "what was checked here has a program"
    deadline = Deadline(None if time_limit is None else max(0.0, time_limit - verdict.seconds))
    with progress_display("proving") as progress:
        if progress:
            deadline.heartbeat = lambda: progress(0, "the question for a SAT solver")
        found = refute(verdict.program, verdict.spec, deadline)
        archive = found if isinstance(found, NoRefutation) else write_archive(found)
    return archive.reason if isinstance(archive, NoRefutation) else archive
