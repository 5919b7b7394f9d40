"""Explanations for the commands: bounded in time, never in the way of an answer that is already there."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from clew.budgets.deadline import Deadline
from clew.budgets.whereabouts import extend_limit, time_left
from clew.checker.api import Verdict
from clew.cli.parts.files import write_file
from clew.cli.parts.progress import progress_display
from clew.cli.process.state import current_state
from clew.cli.process.streams import say, warn, wrote
from clew.engine.execution import Execution
from clew.errors import BudgetExhaustedError, ProgramError, ResourcesExhaustedError
from clew.faults import FaultSet
from clew.program.ir import Program

if TYPE_CHECKING:
    from clew.engine.runs import Runs
    from clew.explain.failure_free import FailureFree

# What explains is imported where it is used: a check that has nothing to explain starts without it.

#: Supports are looked for if the ground rules times the runs that are compared, with ten more for the supports
#: themselves, are at most so many.  In larger programs that would take as long as the search; the report does it.
_MOST_WORK = 15_000
#: Of so many counterexamples it is said what their losses amount to; there can be thousands.
_MOST_SUMMARIES = 40
#: Seconds for one explanation.
_SECONDS = 10.0
#: Seconds before the end of a time limit, and of all patience, in which the answer itself is told.
_MARGIN = 2.0


@dataclass(frozen=True)
class Explanation:
    """``lines`` about the first counterexample: a diagram, and why it fails; what the losses of each amount to."""

    lines: tuple[str, ...] = ()
    summaries: Mapping[FaultSet, Sequence[str]] = field(default_factory=dict)


def explanation(verdict: Verdict) -> Explanation:
    """Explain the counterexamples, or candidates; a line that says so if that takes too long."""
    if not verdict.found or verdict.program is None:
        return Explanation()
    deadline = Deadline(_seconds())
    try:
        with deadline.listening(), _without_garbage_collection():
            return _explain(verdict, verdict.program, deadline)
    except (BudgetExhaustedError, ProgramError) as limit:
        _note_if_resources_ran_out(limit)
        return Explanation((f"  (no explanation: {limit})",))
    except Exception as mistake:  # ours; the counterexample has been confirmed and must not be lost to it
        current_state().note(mistake)
        return Explanation((f"  (no explanation, by a mistake in Clew: {mistake!r})",))


def _seconds() -> float:
    """Return how long an explanation may take: it must not be the reason why the answer is never told."""
    left = time_left()
    return _SECONDS if left is None else min(_SECONDS, max(0.1, left - _MARGIN))


def _note_if_resources_ran_out(limit: Exception) -> None:
    """An explanation that takes too long is left out by design; one without memory is a failure."""
    if isinstance(limit, ResourcesExhaustedError):
        current_state().note(limit)


@contextmanager
def _without_garbage_collection() -> Iterator[None]:
    """It would look at every object of the process again and again; an explanation leaves few cycles behind."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def _explain(verdict: Verdict, program: Program, deadline: Deadline) -> Explanation:
    """Explain no more than is shown: some rows in full, and supports of the first of them."""
    from clew.explain.explanation import explain_rows
    from clew.report.diagrams.lamport import lamport_of_messages
    from clew.report.verdict.combined_losses import together_lines
    from clew.report.verdict.explanation_text import explanation_lines
    from clew.report.verdict.why_text import MOST_SUPPORT_LINES, told_rows

    found = verdict.found[0]
    failure_free = _failure_free(verdict, program, deadline)
    runs = failure_free.runs(found.faults) if failure_free else _few_runs(verdict, program, deadline)
    rows = list(told_rows(explain_rows(runs, found.violations)))
    if failure_free:
        from clew.explain.why import why

        with suppress(BudgetExhaustedError):  # the rest can be told without them
            supports = why(failure_free, rows[0].violation, found.faults, MOST_SUPPORT_LINES)
            rows[0] = rows[0]._replace(why=supports)
    diagram = lamport_of_messages(runs.messages(found.faults), verdict.spec, found.faults)
    left_out = len(found.violations) - len(rows)
    lines = explanation_lines(diagram, rows, found.faults, left_out=left_out, ascii_only=ascii_only())
    summaries = {faults: together_lines(faults, runs.messages(faults)) for faults in _summed_up(verdict)}
    return Explanation(tuple(lines), summaries)


def _summed_up(verdict: Verdict) -> list[FaultSet]:
    """The counterexamples whose losses may amount to something."""
    return [c.faults for c in verdict.found[:_MOST_SUMMARIES] if len(c.faults.losses) > 1]


def _few_runs(verdict: Verdict, program: Program, deadline: Deadline) -> Runs:
    """The failing runs, those with fewer faults, and nothing else."""
    from clew.engine.runs import Runs

    return Runs.of(program, verdict.spec, verdict.found[0].faults, deadline, others=_summed_up(verdict))


def _failure_free(verdict: Verdict, program: Program, deadline: Deadline) -> FailureFree | None:
    """The failure-free run with its lineage, if that does not take much longer than everything else."""
    rules = verdict.solver.rules if verdict.solver else _few_runs(verdict, program, deadline).size
    if rules * (len(verdict.found[0].faults) + 10) > _MOST_WORK:
        return None
    from clew.explain.failure_free import FailureFree

    return FailureFree(program, verdict.spec, deadline)


def ascii_only() -> bool:
    """Whether standard output cannot show the characters of a diagram."""
    try:
        "│●▶✗→…".encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return True
    return False


def write_page(result: Verdict | Execution, files: Sequence[str], file: str) -> None:
    """The report; if there is none in the end, the answer stands and decides the exit code."""
    from clew.report.writing import DEFAULT_SECONDS, report_page

    extend_limit(DEFAULT_SECONDS)
    with progress_display("preparing the report") as progress:
        stage = (lambda text: progress(0, text)) if progress else lambda text: None
        try:
            page = report_page(result, files=files, stage=stage)
        except (BudgetExhaustedError, ProgramError) as limit:
            _note_if_resources_ran_out(limit)
            warn(f"no report was written: {limit}")
            return
        except Exception as mistake:  # ours; the answer has been given and must not be lost to it
            current_state().note(mistake)
            warn(f"no report was written, by a mistake in Clew: {mistake!r}")
            return
    write_file(file, page)
    wrote("the report", file)


def write_lineage(run: Execution, file: str) -> None:
    """The lineage of what the run violates, with the cut, or of the first outcome if it violates nothing."""
    from clew.explain.explainer import Explainer
    from clew.report.diagrams.pictures import lineage_picture

    assert run.program is not None, "an execution that was just performed knows its program"
    extend_limit(_SECONDS)
    deadline = Deadline(_SECONDS)
    with deadline.listening():
        picture = lineage_picture(run, Explainer(run.program, run.spec, deadline))
    write_file(file, picture)
    wrote("the lineage", file)


def write_diagram(run: Execution, file: str) -> None:
    from clew.report.diagrams.pictures import diagram_picture

    write_file(file, diagram_picture(run))
    wrote("the diagram", file)


def show_diagram(run: Execution) -> None:
    from clew.report.verdict.explanation_text import diagram_text

    say(diagram_text(run, ascii_only=ascii_only()))
