"""Shows what ``clew.check`` of a scenario returns: text, JSON, JUnit and the page."""

from __future__ import annotations

from typing import Any

from clew.injection.explaining import Explanation, Undone
from clew.injection.result import CodeCounterexample, CodeVerdict
from clew.report.injected.formats import VERDICT_FORMAT, VERDICT_VERSION
from clew.report.injected.text import code_verdict_text, why_items
from clew.report.injected.words import (
    bounds_fields,
    bounds_text,
    effort_text,
    fault_fields,
    headline,
    run_command,
    struck_text,
)
from clew.report.renderers import PageOptions
from clew.report.simulated.violations import UNNAMED, recording_fields, replay_line
from clew.report.text.json_text import json_text as write_json
from clew.report.text.json_text import result_fields
from clew.simulation.timing import to_seconds


def text(verdict: CodeVerdict) -> str:
    """Return what the terminal shows, but for what to do with a recording."""
    return code_verdict_text(verdict)


# -- for machines ------------------------------------------------------------------------------------------------


def json_text(verdict: CodeVerdict) -> str:
    """Return what ``--json`` writes."""
    return write_json(code_verdict_document(verdict))


def code_verdict_document(verdict: CodeVerdict) -> dict[str, Any]:
    """Return a verdict as an object; ``docs/json.md`` documents its fields."""
    found = verdict.counterexample
    return {
        "format": VERDICT_FORMAT,
        "version": VERDICT_VERSION,
        "scenario": verdict.scenario,
        **result_fields(verdict),
        "strategy": verdict.strategy,
        # Only where it can be chosen: for coroutine functions.
        **({} if verdict.lineage is None else {"lineage": verdict.lineage}),
        "seed": verdict.seed,
        "bounds": bounds_fields(verdict.bounds),
        "promises": list(verdict.promises),
        "invariants": list(verdict.invariants),
        "counterexample": None if found is None else _counterexample_fields(verdict, found),
        "executions": verdict.runs,
        "executions_to_shrink": verdict.shrinking,
        "vacuous": verdict.vacuous,
        "cautions": list(verdict.cautions),
        "warnings": [str(notice) for notice in verdict.notices],
    }


def _counterexample_fields(verdict: CodeVerdict, found: CodeCounterexample) -> dict[str, Any]:
    recording = found.recording
    return {
        "faults": [fault_fields(f, t) for f, t in zip(found.faults, found.struck, strict=True)],
        "found_with": found.found_with,
        "violation": None if recording is None else recording_fields(recording, found.execution),
        "why": None if found.explanation is None else _why_fields(found.explanation),
        "replay": run_command(verdict, found) if verdict.scenario else None,
    }


def _why_fields(explanation: Explanation) -> dict[str, Any]:
    difference = explanation.difference
    return {
        "without": [_undone_fields(undone) for undone in explanation.undone],
        "first_difference": None
        if difference is None
        else {
            "event": difference.number,
            "time": to_seconds(difference.time),
            "here": difference.here,
            "there": difference.there,
        },
    }


def _undone_fields(undone: Undone) -> dict[str, Any]:
    return {
        "fault": str(undone.fault),
        "chain": [{"what": link.what, "node": link.node, "time": to_seconds(link.time)} for link in undone.chain],
        "kept_by": list(undone.kept_by),
        "reads": [f"{node}.{attribute}" for node, attribute in undone.reads],
        "vacuous": undone.is_vacuous,
        "missing": undone.missing,
        "breaks": undone.breaks,
    }


def junit(verdict: CodeVerdict) -> str:
    """Return what ``--junit`` writes: the scenario is one test case."""
    from clew.report.text.junit import junit_xml, result_case

    found = verdict.counterexample
    message = str(found.broken) if found else verdict.reason or ""
    case = result_case(verdict, verdict.scenario or UNNAMED, "check", message, text(verdict))
    return junit_xml([case], verdict.notices)


# -- for people --------------------------------------------------------------------------------------------------


def page(verdict: CodeVerdict, options: PageOptions) -> str:
    """Return what ``--report`` writes: the run that fails, event by event, and why; without one, the answer."""
    name, found = verdict.scenario or UNNAMED, verdict.counterexample
    if found is None or found.execution is None:
        from clew.report.text.html import plain_page

        return plain_page(verdict, name=name, summary=headline(verdict), text=text(verdict), replay="")
    from clew.report.simulated.page import run_page

    replay = replay_line(options.recorded_in, verdict.scenario)
    return run_page(
        name,
        found.execution,
        replay=replay or (run_command(verdict, found) if verdict.scenario else ""),
        facts=[
            ("faults", "; ".join(struck_text(f, t) for f, t in zip(found.faults, found.struck, strict=True))),
            ("within", bounds_text(verdict.bounds)),
            ("search", effort_text(verdict)),
            ("seed", str(verdict.seed)),
        ],
        cautions=[f"{caution}." for caution in verdict.cautions],
        why=list(why_items(found)),
        relevant=None if found.explanation is None else found.explanation.relevant,
        passing=found.passing,
    )
