"""What is said about a check of simulated code, wherever it is shown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from clew.injection.bounds import InjectionBounds
from clew.injection.explaining import Difference, Undone
from clew.injection.faults import (
    CODE_KINDS,
    CodeFault,
    NetworkPartition,
    NodeCrash,
    NodeRestart,
)
from clew.injection.result import CodeCounterexample, CodeVerdict
from clew.injection.written import write_code_fault, write_flag
from clew.names import show
from clew.report.text.plain import pluralize
from clew.report.text.shell import file_words, shell_words
from clew.search.verdict import Answer
from clew.simulation.timing import show_time, to_seconds


def bounds_text(bounds: InjectionBounds) -> str:
    """Say within which bounds faults were tried."""
    counted = []
    for kind in CODE_KINDS:
        most = bounds.most(kind)
        if most:
            counted.append(f"{most} {kind.name if most == 1 else kind.kind.plural}")
    said = ", ".join(counted) or "no fault"
    if bounds.faults is not None:
        said += f" ({pluralize(bounds.faults, 'fault')} in all)"
    if bounds.restarts or bounds.partitions:
        said += f", outages of {' or '.join(map(show_time, bounds.outages))}"
    # Said only where it narrows what was tried.
    if bounds.within < bounds.until:
        said += f", beginning within {show_time(bounds.within)}"
    return f"{said}, in {show_time(bounds.until)} of virtual time"


def moments_text(bounds: InjectionBounds) -> str:
    """Say at which moments faults were tried that could come at any time; "" where none of them is."""
    kinds = [kind.kind.plural for kind in (NodeCrash, NodeRestart) if bounds.most(kind)]
    said = [f"{' and '.join(kinds)} before the first event of a node and right after each"] if kinds else []
    if bounds.partitions:
        said.append("partitions that begin when a message is sent across them")
    return "; ".join(said)


def bounds_fields(bounds: InjectionBounds) -> dict[str, Any]:
    """Return bounds as documents have them."""
    return {
        "nodes": list(bounds.nodes),
        **{kind.kind.plural: bounds.most(kind) for kind in CODE_KINDS},
        "faults": bounds.faults,
        "faults_until": to_seconds(bounds.within),
        "until": to_seconds(bounds.until),
        "outages": [to_seconds(length) for length in bounds.outages],
    }


def struck_text(fault: CodeFault, time: int | None) -> str:
    """Say a fault, and when it struck."""
    # The sentence of a partition has its times already.
    if time is None or isinstance(fault, NetworkPartition):
        return fault.sentence
    return f"{fault.sentence}, at {show_time(time)}"


def run_command(verdict: CodeVerdict, found: CodeCounterexample) -> str:
    """Return the command that executes a counterexample again."""
    words = ["clew run", file_words([verdict.scenario]), *map(fault_words, found.faults)]
    # What has its default is left out: the shorter a command, the likelier somebody runs it.
    if verdict.seed:
        words.append(f"--seed {verdict.seed}")
    if verdict.until is not None:
        words.append(f"--until {verdict.until:g}")
    return " ".join(words)


def fault_words(fault: CodeFault) -> str:
    """Return a fault as a flag of ``clew run``."""
    return f"{fault.kind.flag} {shell_words([write_code_fault(fault)])}"


def fault_fields(fault: CodeFault, time: int | None) -> dict[str, Any]:
    """Return a fault as documents have it; ``time``: when it struck, if it did."""
    return {
        "kind": fault.name,
        "notation": str(fault),
        "flag": write_flag(fault),
        "sentence": fault.sentence,
        "time": None if time is None else to_seconds(time),
    }


def undone_lines(undone: Undone) -> Iterator[str]:
    """Say what happens without one fault: the chain from what it cut to what keeps the promise."""
    head = f"without {undone.fault}: "
    links = [f"{link.what} ({show_time(link.time)})" for link in undone.chain]
    if undone.is_vacuous:
        why = f", since there is no {undone.missing}" if undone.missing else ""
        yield from (
            [f"{head}{', '.join(links)}:", f"  nothing is promised{why}"]
            if links
            else [f"{head}nothing is promised{why}"]
        )
        return
    # Without this fault the others break another promise: no chain of a kept one can be told.
    if undone.breaks is not None:
        yield f"{head}something else is broken: {undone.breaks}"
        return
    if links:
        yield f"{head}{', '.join(links)}:"
    else:
        yield f"{head}{_stays_up(undone.fault)}:"
    yield f"  {_kept(undone)}"


def _stays_up(fault: CodeFault) -> str:
    return f"{show(fault.node)} stays up" if isinstance(fault, NodeCrash | NodeRestart) else "it does not happen"


def _kept(undone: Undone) -> str:
    read = ", ".join(f"{show(node)}.{attribute}" for node, attribute in undone.reads)
    rests = f", which rests on {read}" if read else ""
    if not undone.kept_by:
        return f"the promise is kept{rests}"
    return f"the promise is kept by {' and '.join(map(show, undone.kept_by))}{rests}"


def difference_text(difference: Difference) -> str:
    """Say where a run leaves the one without faults."""
    here = difference.here or "it is over"
    there = difference.there or "it is over"
    where = f"event {difference.number}, at {show_time(difference.time)}"
    return f"first difference from the run without faults: {where}: {here}; there: {there}"


def effort_text(verdict: CodeVerdict) -> str:
    """Say how the answer was found."""
    by = f" by {verdict.lineage}" if verdict.lineage is not None and verdict.strategy == "lineage" else ""
    said = f"{verdict.strategy} search{by}, {pluralize(verdict.runs, 'execution')}"
    if verdict.shrinking:
        said += f", and {verdict.shrinking} to leave out faults that are not needed"
    if verdict.vacuous:
        said += f"; in {verdict.vacuous} of them nothing was promised"
    return said


def headline(verdict: CodeVerdict) -> str:
    """Return the answer in a line."""
    within = f"within {bounds_text(verdict.bounds)}"
    match verdict.answer:
        case Answer.COUNTEREXAMPLE:
            assert verdict.counterexample is not None
            return f"COUNTEREXAMPLE: {verdict.counterexample.faults.count_text()}, {within}."
        case Answer.CERTIFIED:
            # The schedule is part of the answer: another seed is another order of events.
            return f"CERTIFIED: no faults {within} break it, on this schedule (seed {verdict.seed})."
        case Answer.INCOMPLETE:
            return f"INCOMPLETE, {within}: {verdict.reason}."
