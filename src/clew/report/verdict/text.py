"""Verdicts and executions for the terminal: short, and with the command that shows more.

No wall-clock time appears here: the same input and seed give the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from clew.checker.result import Verdict
from clew.engine.execution import Execution, Message, row_text
from clew.faults import KINDS, FailureSpec, FaultSet
from clew.names import show
from clew.program.assertions import find_assertions, is_pre, post_of
from clew.program.ir import Program
from clew.report.diagrams.hits import Hits
from clew.report.text.commands import replay_command
from clew.report.text.plain import pluralize
from clew.report.verdict.combined_losses import summary_lines
from clew.report.verdict.duration_text import duration_line
from clew.report.verdict.promise_text import holding_lines, promise_lines
from clew.search.verdict import Answer, Counterexample

#: More violated rows than this are not read; JSON and the report have them all.
_MOST_ROWS = 12


#: What losses of a counterexample amount to, a line for each statement.
Summaries = Mapping[FaultSet, Sequence[str]]


def verdict_text(
    verdict: Verdict, files: Sequence[str], explanation: Sequence[str] = (), summaries: Summaries | None = None
) -> str:
    """Return the answer, on what it rests, and what to do next.

    ``explanation`` is of the first counterexample or candidate, ``summaries`` below the faults that they sum up.
    """
    return "\n".join(_verdict_lines(verdict, files, explanation, summaries or {})) + "\n"


def _verdict_lines(
    verdict: Verdict, files: Sequence[str], explanation: Sequence[str], summaries: Summaries
) -> Iterator[str]:
    match verdict.answer:
        case Answer.COUNTEREXAMPLE:
            yield from _counterexample_lines(verdict, files, explanation, summaries)
        case Answer.CERTIFIED:
            none = "no violation lasts" if verdict.lasting else "no counterexample exists"
            yield f"CERTIFIED: {none} within {spec_text(verdict.spec)}."
            yield from params_lines(verdict.program)
            if verdict.lasting:
                yield f"  {lasting_claim(verdict)}"
            if verdict.reason:
                yield f"  {verdict.reason}"
            yield from promise_lines(verdict)
        case Answer.INCOMPLETE:
            yield f"INCOMPLETE: {_state_of_knowledge(verdict)}."
            yield from params_lines(verdict.program)
            yield f"  {verdict.reason}"
            yield from promise_lines(verdict)
            yield from _list_counterexamples(verdict.candidates, verdict, files, explanation, summaries)
    if verdict.answer is not Answer.COUNTEREXAMPLE:
        from clew.report.verdict.survey_text import (
            survey_lines,  # a counterexample needs none of it, and should come soon
        )

        yield from survey_lines(verdict)
    yield f"  {_effort(verdict)}"
    if verdict.swept:
        largest = verdict.certified if verdict.answer is Answer.COUNTEREXAMPLE else None
        certified = f"; certified up to EOT {largest.eot}, EFF {largest.eff}" if largest else ""
        yield f"  swept {pluralize(len(verdict.swept), 'setting')}{certified}"


def _state_of_knowledge(verdict: Verdict) -> str:
    """Say how far a search has come that was not finished, or whose certificate would mean nothing."""
    bounds, candidates = spec_text(verdict.spec), verdict.candidates
    if verdict.ruled_out:
        none = "no violation lasts" if verdict.lasting else "no counterexample exists"
        return f"{none}, but that is no certificate, within {bounds}"
    if len(candidates) > 1:
        return f"{len(candidates)} minimal sets of faults break it within {bounds}, but it may recover later"
    if candidates:
        verb = "breaks" if len(candidates[0].faults) == 1 else "break"
        return f"{candidates[0].faults.count_text()} {verb} it within {bounds}, but it may recover later"
    if verdict.certified:
        return f"the sweep was stopped; no counterexample exists within {bounds}"
    found = "violation found that lasts" if verdict.lasting else "counterexample found"
    left_open = "the sweep was stopped" if verdict.swept else "none is ruled out"
    return f"no {found}, but {left_open} within {bounds}"


def _counterexample_lines(
    verdict: Verdict, files: Sequence[str], explanation: Sequence[str], summaries: Summaries
) -> Iterator[str]:
    found = verdict.counterexamples
    count = f"{len(found)} minimal ones" if len(found) > 1 else found[0].faults.count_text()
    lasting = ", lasting for ever" if verdict.lasting else ""
    yield f"COUNTEREXAMPLE: {count}{lasting}, within {spec_text(verdict.spec)}."
    yield from params_lines(verdict.program)
    if verdict.reason:
        yield f"  the search was not finished: {verdict.reason}"
    yield from promise_lines(verdict)
    yield from _list_counterexamples(found, verdict, files, explanation, summaries)


def _list_counterexamples(
    found: Sequence[Counterexample],
    verdict: Verdict,
    files: Sequence[str],
    explanation: Sequence[str],
    summaries: Summaries,
) -> Iterator[str]:
    for number, counterexample in enumerate(found, start=1):
        if len(found) > 1:
            yield f" {number}."
        yield from _one_counterexample(counterexample, verdict, files, summaries)
        if number == 1:
            yield from explanation


def _one_counterexample(
    found: Counterexample, verdict: Verdict, files: Sequence[str], summaries: Summaries
) -> Iterator[str]:
    for fault in found.faults:
        yield f"  {fault.sentence}"
    yield from (f"  {line}" for line in summaries.get(found.faults, ()))
    if not found.faults:
        yield "  no fault is needed: the failure-free run already fails"
    elif not found.faults.failures:
        yield "  no fault is needed: with this, the run without faults already fails"
    # What is violated after the faults that do it: that is how the story goes.
    for violation in found.violations[:_MOST_ROWS]:
        if violation.time is not None:
            yield f"  violates {violation}, which must never hold"
        elif is_pre(violation.relation):
            pre = violation.relation
            yield f"  violates {violation}: it is in '{pre}' and not in '{post_of(pre)}'"
        else:
            yield f"  loses {violation}, which the failure-free run has at the end"
    if len(found.violations) > _MOST_ROWS:
        yield f"  ... and {len(found.violations) - _MOST_ROWS} more rows"
    if found.duration is not None:
        open_world = verdict.program is not None and bool(verdict.program.open_rows)
        yield f"  {duration_line(found.duration, verdict.spec.eot, open_world=open_world, of_search=True)}"
    yield f"  replay: {replay_command(found.faults, verdict.spec, files, verdict.program)}"


def params_lines(program: Program | None) -> Iterator[str]:
    """State what the params of a program were; nothing for one without."""
    if program and program.params:
        yield f"  with {', '.join(f'{param.name}={show(param.value)}' for param in program.params)}"


def spec_text(spec: FailureSpec) -> str:
    parts = [f"EOT {spec.eot}", *filter(None, (kind.limit_words(spec) for kind in KINDS))]
    parts.append(f"nodes {row_text(spec.nodes)}" if spec.nodes else "nodes not known yet")
    return ", ".join(parts)


def lasting_claim(verdict: Verdict) -> str:
    """Return what a certificate of ``--lasting`` covers."""
    happens = "fails, is given or is chosen" if verdict.program and verdict.program.open_rows else "fails"
    stated = find_assertions(verdict.program) if verdict.program else ()
    kept = ["none is violated throughout what it repeats"] if any(a.post for a in stated) or not stated else []
    kept += ["nothing that must never hold ever does"] if any(a.post is None for a in stated) else []
    return (
        f"whatever {happens} by time {verdict.horizon}: every run comes back to itself by EOT {verdict.spec.eot}, "
        f"and {', and '.join(kept)}"
    )


def _effort(verdict: Verdict) -> str:
    runs = pluralize(verdict.runs, "execution")
    return f"{verdict.strategy} search, {runs}; at most {combinations_text(verdict)}"


def combinations_text(verdict: Verdict) -> str:
    if verdict.combinations == 1:
        return "1 failure combination"
    return f"{_scientific(verdict.combinations)} failure combinations"


def _scientific(number: int) -> str:
    """Write a number like 1.85e25; also integers that no float can hold."""
    if number < 10_000:
        return str(number)
    from decimal import Decimal  # a cold start should not pay for it

    return f"{Decimal(number):.2e}".replace("e+", "e")


def execution_text(run: Execution, relations: Sequence[str] = (), at: int | None = None) -> str:
    """List the rows by time, the messages that went astray, and whether what must hold does."""
    return "\n".join(_execution_lines(run, relations, at)) + "\n"


def _execution_lines(run: Execution, relations: Sequence[str], at: int | None) -> Iterator[str]:
    yield from run_heading(run)
    # Relations that only a rewrite made would puzzle whoever wrote the program; ``--relation`` shows them.
    hidden = run.program.helpers if run.program else ()
    hits = Hits(run.faults)
    for time in range(1, run.spec.eot + 1) if at is None else [at]:
        yield f"time {time}"
        for relation in run.tables:
            if relation in relations if relations else relation not in hidden:
                yield from (f"  {relation}({row_text(row)})" for row in run.rows(relation, time))
        yield from (line for m in run.messages if m.sent == time for line in _astray(m, hits))
    yield from outcome_lines(run)


def run_heading(run: Execution) -> Iterator[str]:
    """Name the bounds and the faults of a run, and what these amount to."""
    nodes = row_text(run.spec.nodes)
    what = "these faults:" if run.faults.failures else "no fault, but:" if run.faults else "no fault"
    params = "".join(f", {line.strip()}" for line in params_lines(run.program))
    yield f"EOT {run.spec.eot}, nodes {nodes}{params}; {what}"
    yield from (f"  {fault.sentence}" for fault in run.faults)
    yield from (f"  {line}" for line in summary_lines(run.faults, run.messages))


def _astray(message: Message, hits: Hits) -> Iterator[str]:
    """Say what is lost, late or there twice; what a crashed node would have sent was never sent."""
    if hits.silence(message.source, message.sent) is not None:
        return
    link = f"from {show(message.source)} to {show(message.target)}"
    what = f"{message.relation}({row_text(message.row)}) {link}"
    if message.arrived is None:
        yield f"  [lost: {what}]"
    elif message.arrived != message.sent + 1:
        yield f"  [arrives at {message.arrived}: {what}]"
    if message.again is not None:
        yield f"  [arrives again at {message.again}: {what}]"


def outcome_lines(run: Execution) -> Iterator[str]:
    """Say whether what must hold does."""
    yield from (f"VIOLATED: {violation}" for violation in run.violations)
    if run.violations and run.duration is not None:
        open_world = run.program is not None and bool(run.program.open_rows)
        yield duration_line(run.duration, run.spec.eot, open_world=open_world)
    yield from holding_lines(run)
