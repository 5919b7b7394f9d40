"""Shows what ``clew.replay_verdict`` returns: text, JSON, JUnit and the page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from clew.engine.execution import Execution, row_text
from clew.names import in_one_line
from clew.program.assertions import find_assertions, is_never, is_pre, post_of
from clew.report.renderers import PageOptions
from clew.report.replay.replaying import ReplayedVerdict
from clew.report.text.commands import check_command, replay_command
from clew.report.text.json_text import json_text as write_json
from clew.report.text.json_text import result_fields
from clew.report.verdict.document import fault_fields, param_fields, violation_fields
from clew.report.verdict.duration_text import duration_fields, duration_line
from clew.report.verdict.text import params_lines
from clew.violation import Violation

#: What the document calls itself, and the version of its shape.
FORMAT, VERSION = "clew replayed verdict", 1


def text(replayed: ReplayedVerdict) -> str:
    """Return what the terminal shows."""
    return "".join(f"{in_one_line(line)}\n" for line in _lines(replayed))


def _lines(replayed: ReplayedVerdict) -> Iterator[str]:
    saved = replayed.saved
    yield f"{' '.join(replayed.files)}, EOT {saved.eot}, nodes {row_text(saved.nodes)}"
    yield from params_lines(replayed.program)
    for number, (found, execution) in enumerate(zip(replayed.found, replayed.runs, strict=True), start=1):
        if len(replayed.found) > 1:
            yield f" {number}."
        yield from _outcome(replayed, execution, found.violations)
    yield from _conclusion(replayed)


def _outcome(replayed: ReplayedVerdict, execution: Execution, before: Sequence[Violation]) -> Iterator[str]:
    """Say what came of the faults this time."""
    for fault in execution.faults:
        yield f"  {fault.sentence}"
    if not execution.faults:
        yield "  no fault"
    if execution.violations and not replayed.fails(execution):
        yield f"  fixed: {_join_rows(execution.violations)} no longer lasts"
        yield f"  {_duration(replayed, execution)}"
        return
    if execution.violations:
        changed = "" if set(execution.violations) == set(before) else f" (before: {_join_rows(before)})"
        yield f"  still fails: {_join_rows(execution.violations)}{changed}"
        yield f"  {_duration(replayed, execution)}"
        yield f"  see: {_see(replayed, execution)}"
        return
    for violation in before:
        yield f"  fixed: {_why_fixed(replayed, execution, violation)}"
    # A program that does nothing any more breaks no promise, either: that is not a fix.
    if nothing := _nothing_asked(replayed, execution):
        yield f"  Beware: {nothing} at the end of this run, so that there is nothing that could fail."


def _duration(replayed: ReplayedVerdict, execution: Execution) -> str:
    assert execution.duration is not None, "a violated run was followed"
    return duration_line(execution.duration, execution.spec.eot, open_world=bool(replayed.program.open_rows))


def _nothing_asked(replayed: ReplayedVerdict, execution: Execution) -> str | None:
    """Say what is empty that should be there; what must never hold is empty where all is well."""
    asked = [relation for relation in replayed.outcomes if not is_never(relation)]
    if not asked or any(map(execution.rows, asked)):
        return None
    if not find_assertions(replayed.program):
        return "no relation that persists has a row"
    names = " and ".join(f"'{relation}'" for relation in asked)
    return f"{names} {'is' if len(asked) == 1 else 'are'} empty"


def _see(replayed: ReplayedVerdict, execution: Execution) -> str:
    return replay_command(execution.faults, replayed.saved.spec, replayed.files, replayed.program)


def _why_fixed(replayed: ReplayedVerdict, execution: Execution, violation: Violation) -> str:
    """Say why a row that failed no longer does; not every reason is a good one."""
    if violation.relation not in replayed.outcomes:
        return f"{violation} is not asked for any more: what must hold is about {', '.join(replayed.outcomes)}"
    if is_never(violation.relation):
        return f"{violation.at_any_time} does not hold at any time"
    there = violation.row in execution.rows(violation.relation)
    if is_pre(violation.relation):
        pre, post = violation.relation, post_of(violation.relation)
        return f"{violation} is in '{post}', too" if there else f"{violation} is no longer in '{pre}'"
    return f"{violation} is there at the end" if there else f"{violation} is not in the failure-free run any more"


def _conclusion(replayed: ReplayedVerdict) -> Iterator[str]:
    total, failing = len(replayed.found), replayed.failing
    if failing:
        yield f"STILL FAILS: {_count(replayed, f'{failing} of {total}')}"
        return
    yield f"FIXED: {_count(replayed, f'all {total}')}"
    yield "  Other faults may still break it.  To find out:"
    lasting = " --lasting" if replayed.saved.lasting else ""
    yield f"  {check_command(replayed.saved.spec, replayed.files, replayed.program)}{lasting}"


def _count(replayed: ReplayedVerdict, number: str) -> str:
    return f"{number} {replayed.kind}s" if len(replayed.found) > 1 else f"the {replayed.kind}"


def _join_rows(violations: Iterable[Violation]) -> str:
    return ", ".join(map(str, violations))


# -- for machines ------------------------------------------------------------------------------------------------


def json_text(replayed: ReplayedVerdict) -> str:
    """Return what ``--json`` writes."""
    return write_json(replay_document(replayed))


def replay_document(replayed: ReplayedVerdict) -> dict[str, Any]:
    """Return a replay as an object; ``docs/json.md`` documents its fields."""
    saved = replayed.saved
    return {
        "format": FORMAT,
        "version": VERSION,
        "files": list(replayed.files),
        **result_fields(replayed),
        "spec": {"nodes": list(saved.nodes), "eot": saved.eot, **param_fields(replayed.program)},
        "kind": replayed.kind,
        "replays": [
            {
                **fault_fields(found.faults),
                "before": [violation_fields(violation) for violation in found.violations],
                "violated": [violation_fields(violation) for violation in execution.violations],
                "duration": duration_fields(execution.duration) if execution.duration else None,
            }
            for found, execution in zip(replayed.found, replayed.runs, strict=True)
        ],
        "warnings": [str(notice) for notice in replayed.notices],
    }


def junit(replayed: ReplayedVerdict) -> str:
    """Return what ``--junit`` writes: a case for each counterexample."""
    from clew.report.text.junit import Case, junit_xml

    files = " + ".join(replayed.files)
    cases = []
    for found, execution in zip(replayed.found, replayed.runs, strict=True):
        shown = "\n".join(_outcome(replayed, execution, found.violations)) + "\n"
        still = f"still fails: {_join_rows(execution.violations)}"
        failed = ("failure", still) if replayed.fails(execution) else ("", "")
        name = f"{replayed.kind} {found.faults}"
        cases.append(Case(files, name, *failed, shown, replayed.answer.value))
    return junit_xml(cases, replayed.notices)


def page(replayed: ReplayedVerdict, options: PageOptions) -> str:
    """Return what ``--report`` writes: what came of each counterexample, with the command that shows its run."""
    from clew.report.text.html import plain_page

    summary = next(_conclusion(replayed)) + "."
    spec = replayed.saved.spec
    facts = [("EOT", str(spec.eot)), ("nodes", row_text(spec.nodes))]
    return plain_page(replayed, name=" + ".join(replayed.files), summary=summary, text=text(replayed), facts=facts)
