"""What follows a counterexample on the terminal: the run as a diagram, and why it fails.

It is bounded in time: the counterexample has been confirmed before, and must not wait for its explanation.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from clew.budgets.deadline import Deadline
from clew.checker.result import Verdict
from clew.engine.execution import Execution
from clew.errors import BudgetExhaustedError, ProgramError
from clew.faults import FaultSet
from clew.program.inputs import fix_given_rows
from clew.program.ir import Program

if TYPE_CHECKING:
    from clew.engine.runs import Runs
    from clew.explain.explanation import Explanation
    from clew.explain.failure_free import FailureFree
    from clew.report.diagrams.lamport import Diagram

# What explains is imported where it is used: a check that has nothing to explain starts without it.

#: Supports are looked for if the ground rules times the runs that are compared, with ten more for the supports
#: themselves, are at most so many.  In larger programs that would take as long as the search; the report does it.
_MOST_WORK = 15_000
#: Of so many counterexamples it is said what their losses amount to; there can be thousands.
_MOST_SUMMARIES = 40
#: Seconds for one explanation.
EXPLANATION_SECONDS = 10.0


@dataclass(frozen=True)
class VerdictExplanation:
    """``lines`` about the first counterexample: a diagram, and why it fails; what the losses of each amount to."""

    lines: tuple[str, ...] = ()
    summaries: Mapping[FaultSet, Sequence[str]] = field(default_factory=dict)


def explain_verdict(
    verdict: Verdict,
    *,
    seconds: float = EXPLANATION_SECONDS,
    ascii_only: bool = False,
    on_failure: Callable[[Exception], None] = lambda failure: None,
) -> VerdictExplanation:
    """Explain the counterexamples, or candidates; a line says so if that takes too long or goes wrong.

    ``on_failure`` is told what went wrong, and of a limit that was reached.
    """
    if not verdict.found or verdict.program is None:
        return VerdictExplanation()
    deadline = Deadline(seconds)
    try:
        with deadline.listening(), _without_garbage_collection():
            return _explain(verdict, verdict.program, deadline, ascii_only=ascii_only)
    except (BudgetExhaustedError, ProgramError) as limit:
        on_failure(limit)
        return VerdictExplanation((f"  (no explanation: {limit})",))
    except Exception as mistake:  # ours; the counterexample has been confirmed and must not be lost to it
        on_failure(mistake)
        return VerdictExplanation((f"  (no explanation, by a mistake in Clew: {mistake!r})",))


@contextmanager
def _without_garbage_collection() -> Iterator[None]:
    """Switch garbage collection off for a while."""
    # It would look at every object of the process again and again; an explanation leaves few cycles behind.
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def _explain(verdict: Verdict, program: Program, deadline: Deadline, *, ascii_only: bool) -> VerdictExplanation:
    """Explain no more than is shown: some rows in full, and supports of the first of them."""
    from clew.explain.explanation import explain_rows
    from clew.report.diagrams.lamport import lamport_of_messages, with_alarms
    from clew.report.verdict.combined_losses import summary_lines
    from clew.report.verdict.why_text import MOST_SUPPORT_LINES, rows_to_explain

    found = verdict.found[0]
    failure_free = _failure_free(verdict, program, deadline)
    # What the failure-free run is compared with has its inputs and choices fixed; here each is told like a fault.
    lineage = failure_free if failure_free and not program.open_rows else None
    runs = lineage.runs(found.faults) if lineage else _few_runs(verdict, program, deadline)
    # Lazily, row by row: what is not shown is not explained, either.
    rows = list(rows_to_explain(explain_rows(runs, found.violations)))
    if failure_free:
        from clew.explain.why import find_why

        with suppress(BudgetExhaustedError):  # the rest can be told without them
            failures = FaultSet(found.faults.failures)
            supports = find_why(failure_free, rows[0].violation, failures, MOST_SUPPORT_LINES)
            rows[0] = rows[0]._replace(why=supports)
    loop = found.duration.repeated if found.duration else None
    diagram = lamport_of_messages(runs.messages(found.faults), verdict.spec, found.faults, loop=loop)
    diagram = with_alarms(diagram, found.violations)
    left_out = len(found.violations) - len(rows)
    lines = explanation_lines(diagram, rows, found.faults, left_out=left_out, ascii_only=ascii_only)
    summaries = {
        faults: summary_lines(faults, runs.messages(faults)) for faults in _fault_sets_to_summarize(verdict)
    }
    return VerdictExplanation(tuple(lines), summaries)


def _fault_sets_to_summarize(verdict: Verdict) -> list[FaultSet]:
    """Return the counterexamples whose losses may amount to something."""
    return [c.faults for c in verdict.found[:_MOST_SUMMARIES] if len(c.faults.losses) > 1]


def _few_runs(verdict: Verdict, program: Program, deadline: Deadline) -> Runs:
    """Perform the failing runs, those with fewer faults, and nothing else."""
    from clew.engine.runs import Runs

    return Runs.of(
        program, verdict.spec, verdict.found[0].faults, deadline, others=_fault_sets_to_summarize(verdict)
    )


def _failure_free(verdict: Verdict, program: Program, deadline: Deadline) -> FailureFree | None:
    """Return the failure-free run with its lineage, if that does not take much longer than everything else."""
    rules = verdict.solver.rules if verdict.solver else _few_runs(verdict, program, deadline).size
    if rules * (len(verdict.found[0].faults) + 10) > _MOST_WORK:
        return None
    from clew.explain.failure_free import FailureFree

    return FailureFree(fix_given_rows(program, verdict.found[0].faults), verdict.spec, deadline)


def explanation_lines(
    diagram: Diagram, rows: Sequence[Explanation], faults: FaultSet, *, left_out: int = 0, ascii_only: bool
) -> list[str]:
    """Show the failing run as a diagram, and why rows are violated in it; ``left_out``: so many more are."""
    from clew.report.diagrams.lamport_text import diagram_lines
    from clew.report.verdict.why_text import why_lines

    lines = ["", *diagram_lines(diagram, ascii_only=ascii_only), ""]
    reasons = [*why_lines(rows, faults, diagram.last, left_out=left_out, ascii_only=ascii_only)]
    lines += [*reasons, ""] if reasons else []
    return _plain(lines, ascii_only)


def diagram_text(run: Execution, *, ascii_only: bool) -> str:
    """Show one run: its faults, the diagram, and how it ends."""
    from clew.report.diagrams.lamport import lamport_of
    from clew.report.diagrams.lamport_text import diagram_lines
    from clew.report.verdict.text import outcome_lines, run_heading

    picture = diagram_lines(lamport_of(run), ascii_only=ascii_only)
    lines = [*run_heading(run), "", *picture, "", *outcome_lines(run)]
    return "\n".join(_plain(lines, ascii_only)) + "\n"


def _plain(lines: list[str], ascii_only: bool) -> list[str]:
    if not ascii_only:
        return lines
    spelt = (line.replace("→", "->").replace("…", "...") for line in lines)
    return [line.encode("ascii", "backslashreplace").decode() for line in spelt]
