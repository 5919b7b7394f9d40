"""Verdicts and executions for the terminal: short, and with the command that shows more."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from decimal import Decimal

from clew.api import Verdict
from clew.engine.execution import Execution, Row
from clew.faults import Crash, Delay, FailureSpec, Fault, FaultSet, Loss
from clew.search.verdict import Answer, Counterexample


def verdict_text(verdict: Verdict, files: Sequence[str]) -> str:
    """The answer, on what it rests, and what to do next."""
    return "\n".join(_verdict_lines(verdict, files)) + "\n"


def _verdict_lines(verdict: Verdict, files: Sequence[str]) -> Iterator[str]:
    match verdict.answer:
        case Answer.COUNTEREXAMPLE:
            yield from _counterexample_lines(verdict, files)
        case Answer.CERTIFIED:
            yield f"CERTIFIED: no counterexample exists within {spec_text(verdict.spec)}."
        case Answer.INCOMPLETE:
            ruled_out = "the sweep was stopped" if verdict.swept else "none is ruled out"
            yield f"INCOMPLETE: no counterexample found, but {ruled_out} within {spec_text(verdict.spec)}."
            yield f"  {verdict.reason}"
    if verdict.vacuous:
        yield "  Beware: in the failure-free run 'pre' is empty at the end, so little is said; is EOT too small?"
    yield f"  {_effort(verdict)}"
    if verdict.swept:
        largest = max(
            (s for s in verdict.swept if s.answer is Answer.CERTIFIED), default=None, key=lambda s: s.eot
        )
        certified = f"; certified up to EOT {largest.eot}, EFF {largest.eff}" if largest else ""
        yield f"  swept {len(verdict.swept)} settings{certified}"


def _counterexample_lines(verdict: Verdict, files: Sequence[str]) -> Iterator[str]:
    found = verdict.counterexamples
    count = f"{len(found)} minimal ones" if len(found) > 1 else _fault_count(found[0])
    yield f"COUNTEREXAMPLE: {count}, within {spec_text(verdict.spec)}."
    if verdict.reason:
        yield f"  not the last word: {verdict.reason}"
    for number, counterexample in enumerate(found, start=1):
        if len(found) > 1:
            yield f" {number}."
        yield from _one_counterexample(counterexample, verdict.spec, files)


def _one_counterexample(found: Counterexample, spec: FailureSpec, files: Sequence[str]) -> Iterator[str]:
    for fault in found.faults:
        yield f"  {fault_text(fault)}"
    if not found.faults:
        yield "  no fault is needed: the failure-free run already fails"
    for violation in found.violations:
        if violation.relation == "pre":
            yield f"  violates {violation}: it is in 'pre' and not in 'post'"
        else:
            yield f"  loses {violation}, which the failure-free run has at the end"
    yield f"  replay: {replay_command(found.faults, spec, files)}"


def _fault_count(found: Counterexample) -> str:
    return f"{len(found.faults)} fault{'' if len(found.faults) == 1 else 's'}"


def fault_text(fault: Fault) -> str:
    match fault:
        case Loss(source, target, time):
            return f"the message from {source} to {target} at time {time} is lost"
        case Crash(node, time):
            return f"{node} crashes at time {time}"
        case Delay(source, target, time, lag):
            steps = "step" if lag == 1 else "steps"
            return f"the message from {source} to {target} at time {time} arrives {lag} {steps} late"


def spec_text(spec: FailureSpec) -> str:
    parts = [f"EOT {spec.eot}", f"EFF {spec.eff}", f"{spec.crashes} crash{'' if spec.crashes == 1 else 'es'}"]
    if spec.delays:
        parts.append(f"delays up to {spec.delays}")
    return f"{', '.join(parts)}, nodes {', '.join(map(str, spec.nodes))}"


def _effort(verdict: Verdict) -> str:
    runs = f"{verdict.runs} execution{'' if verdict.runs == 1 else 's'}"
    return (
        f"{verdict.strategy} search, {runs}, {verdict.seconds:.2f} s;"
        f" at most {_scientific(verdict.combinations)} failure combinations"
    )


def _scientific(number: int) -> str:
    """Like 1.85e25; also for integers that no float can hold."""
    return str(number) if number < 10_000 else f"{Decimal(number):.2e}".replace("e+", "e")


def replay_command(faults: FaultSet, spec: FailureSpec, files: Sequence[str]) -> str:
    """The exact command that shows this execution."""
    words = ["clew", "run", *files, "--nodes", ",".join(map(str, spec.nodes)), "--eot", str(spec.eot)]
    for loss in faults.losses:
        words += ["--lose", f"{loss.source},{loss.target},{loss.time}"]
    for crash in faults.crashes:
        words += ["--crash", f"{crash.node},{crash.time}"]
    for delay in faults.delays:
        words += ["--delay", f"{delay.source},{delay.target},{delay.time},{delay.lag}"]
    return shlex.join(words)


def execution_text(run: Execution, relations: Sequence[str] = (), at: int | None = None) -> str:
    """The rows by time, and whether what must hold does."""
    lines = [f"{spec_text(run.spec)}; {run.faults}"]
    for time in range(1, run.spec.eot + 1) if at is None else [at]:
        lines.append(f"time {time}")
        for relation in run.tables:
            if not relations or relation in relations:
                lines += [f"  {relation}({_row_text(row)})" for row in run.rows(relation, time)]
    if run.good:
        lines.append("holds: every row of 'pre' is in 'post' at the end")
    lines += [f"VIOLATED: {violation}" for violation in run.violations]
    return "\n".join(lines) + "\n"


def _row_text(row: Row) -> str:
    return ", ".join(map(str, row))
