"""Shows what ``clew.check`` and ``clew.run`` return: text, JSON, JUnit and the page."""

from __future__ import annotations

from typing import Any

from clew.budgets.deadline import Deadline
from clew.checker.result import Verdict
from clew.engine.execution import Execution
from clew.errors import UsageError
from clew.report.renderers import PageOptions
from clew.report.verdict.text import execution_text, verdict_text

#: What the document of one execution calls itself, and the version of its shape.
RUN_FORMAT, RUN_VERSION = "clew run", 1


def text(result: Verdict | Execution) -> str:
    """Return what the terminal shows, with the explanation of a counterexample."""
    if isinstance(result, Execution):
        return execution_text(result)
    from clew.report.verdict.explaining import explain_verdict

    explained = explain_verdict(result)
    return verdict_text(result, result.files, explained.lines, explained.summaries)


def json_text(result: Verdict | Execution) -> str:
    """Return what ``--json`` writes."""
    if isinstance(result, Execution):
        from clew.report.text.json_text import json_text

        return json_text(run_document(result))
    from clew.report.verdict.document import to_json

    return to_json(result, result.files)


def junit(result: Verdict | Execution) -> str:
    """Return what ``--junit`` writes."""
    if isinstance(result, Execution):
        from clew.report.text.junit import junit_xml, result_case

        violated = ", ".join(map(str, result.violations))
        files = " + ".join(result.files) or "program"
        case = result_case(result, files, f"run under {result.faults}", violated, execution_text(result))
        return junit_xml([case], result.notices)
    from clew.report.verdict import junit

    return junit.junit_xml(result, result.files)


def page(result: Verdict | Execution, options: PageOptions) -> str:
    """Return what ``--report`` writes."""
    from clew.explain.explainer import Explainer
    from clew.report.verdict.page import run_page, verdict_page

    if result.program is None:
        raise UsageError("there is no program to report on", remedy="use what clew.check or clew.run returned")
    deadline = Deadline(options.seconds)
    with deadline.listening():
        found = [c.faults for c in result.found[:1]] if isinstance(result, Verdict) else [result.faults]
        explainer = Explainer(result.program, result.spec, deadline, *(faults.given for faults in found))
        if isinstance(result, Verdict):
            return verdict_page(result, result.files, explainer, options.stage)
        return run_page(result, result.files, explainer, options.stage)


def run_document(run: Execution) -> dict[str, Any]:
    """Return one execution as an object for JSON; ``docs/json.md`` documents its fields."""
    from clew.report.text.json_text import result_fields
    from clew.report.verdict.document import fault_fields, param_fields, violation_fields
    from clew.report.verdict.duration_text import duration_fields

    hidden = run.program.helpers if run.program else ()
    return {
        "format": RUN_FORMAT,
        "version": RUN_VERSION,
        "files": list(run.files),
        **result_fields(run),
        "spec": {"nodes": list(run.spec.nodes), "eot": run.spec.eot, **param_fields(run.program)},
        "faults": fault_fields(run.faults),
        "violated": [violation_fields(violation) for violation in run.violations],
        "duration": duration_fields(run.duration) if run.duration else None,
        # A list of the rows for each time, from 1 on.
        "tables": {
            relation: [[list(row) for row in rows] for rows in times]
            for relation, times in run.tables.items()
            if relation not in hidden
        },
        "messages": [
            {
                "relation": message.relation,
                "row": list(message.row),
                "from": message.source,
                "to": message.target,
                "sent": message.sent,
                "arrived": message.arrived,
                **({} if message.again is None else {"again": message.again}),
            }
            for message in run.messages
        ],
        "warnings": [str(notice) for notice in run.notices],
    }
