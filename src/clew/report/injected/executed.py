"""Shows what ``clew.run`` of a scenario returns: text, JSON, JUnit and the page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from clew.injection.running import CodeRun, RunAnswer
from clew.names import harmless
from clew.report.injected.words import fault_fields, struck_text
from clew.report.renderers import PageOptions
from clew.report.simulated.text import run_text
from clew.report.simulated.violations import UNNAMED, recording_fields, replay_line
from clew.report.text.json_text import json_text as write_json
from clew.report.text.json_text import result_fields

#: What the document calls itself, and the version of its shape.
FORMAT, VERSION = "clew run of code", 1

_ANSWERS = {
    RunAnswer.HOLDS: "HOLDS: every promise and invariant.",
    RunAnswer.NOTHING_PROMISED: "NOTHING PROMISED: 'assume' does not hold at the end, so nothing could be broken.",
}


def text(run: CodeRun) -> str:
    """Return what the terminal shows."""
    return code_run_text(run)


def code_run_text(run: CodeRun, *, then: Sequence[str] = (), ascii_only: bool = False, brief: bool = False) -> str:
    """Return the execution, event by event, and what it came to; ``brief``: as a diagram only."""
    lines = [
        *_fault_lines(run),
        run_text(run.scenario or UNNAMED, run.execution, ascii_only=ascii_only, brief=brief),
    ]
    if run.answer in _ANSWERS:
        lines.append(_ANSWERS[run.answer])
    elif run.broken is not None and run.execution.broken is None:  # the event that ended the process is not in it
        lines.append(f"VIOLATED: {run.broken}")
    elif run.reason is not None:
        lines.append(f"INCOMPLETE: {run.reason}.")
    return harmless("".join(f"{line}\n" for line in [*lines, *then]))


def _fault_lines(run: CodeRun) -> Iterator[str]:
    for fault, time in zip(run.faults, run.struck, strict=True):
        if time is not None:
            yield struck_text(fault, time)


def json_text(run: CodeRun) -> str:
    """Return what ``--json`` writes."""
    return write_json(code_run_document(run))


def code_run_document(run: CodeRun) -> dict[str, Any]:
    """Return an execution as an object; ``docs/json.md`` documents its fields."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "scenario": run.scenario,
        **result_fields(run),
        "seed": run.seed,
        "faults": [fault_fields(f, t) for f, t in zip(run.faults, run.struck, strict=True)],
        "violation": recording_fields(run.recording, run.execution),
        "deliveries": run.execution.deliveries,
        "warnings": [str(notice) for notice in run.notices],
    }


def junit(run: CodeRun) -> str:
    """Return what ``--junit`` writes: the execution is one test case."""
    from clew.report.text.junit import junit_xml, result_case

    message = str(run.broken) if run.broken else run.reason or ""
    return junit_xml([result_case(run, run.scenario or UNNAMED, "run", message, text(run))], run.notices)


def page(run: CodeRun, options: PageOptions) -> str:
    """Return what ``--report`` writes: the execution, event by event."""
    from clew.report.simulated.page import run_page

    faults = "; ".join(struck_text(f, t) for f, t in zip(run.faults, run.struck, strict=True)) or "none"
    return run_page(
        run.scenario or UNNAMED,
        # The event that ended the process is not in it, so that nothing is broken there.
        replace(run.execution, broken=run.broken),
        replay=replay_line(options.recorded_in, run.scenario),
        facts=[("faults", faults), ("seed", str(run.seed))],
        cautions=[*(str(notice) for notice in run.notices), *([f"{run.reason}."] if run.reason else [])],
    )
