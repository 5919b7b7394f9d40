"""Shows what ``clew.replay`` returns: text, JSON, JUnit and the page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from clew.names import harmless, in_one_line
from clew.report.renderers import PageOptions
from clew.report.simulated.values import abbreviate, difference, trim_context, value_text
from clew.report.simulated.violations import (
    UNNAMED,
    replay_line,
    violation_details,
    violation_fields,
    violation_headline,
)
from clew.report.text.json_text import json_text as write_json
from clew.report.text.json_text import result_fields
from clew.report.text.plain import pluralize
from clew.report.text.shell import file_words
from clew.simulation.execution.steps import describe
from clew.simulation.execution.trace import Moment
from clew.simulation.recordings.recording import PROCESS_GOES_ON
from clew.simulation.recordings.replaying import Replayed, ReplayOutcome
from clew.simulation.timing import show_time

#: What the document calls itself, and the version of its shape.
FORMAT, VERSION = "clew replay", 1

#: How much of a value is shown, and how much of what two values have in common.
_LONGEST = 120
_IN_COMMON = 30


def text(replayed: Replayed) -> str:
    """Return what the terminal shows."""
    return replay_heading(replayed) + replay_conclusion(replayed)


def replay_heading(replayed: Replayed) -> str:
    """Name the scenario, and say how long the recording is."""
    recording = replayed.recording
    deliveries = pluralize(recording.deliveries, "delivery", "deliveries")
    size = f"{pluralize(len(recording.steps), 'step')}, {deliveries}"
    name = in_one_line(replayed.scenario) or UNNAMED
    return harmless(f"{name}, seed {recording.seed}: {size}\n")


def replay_conclusion(replayed: Replayed, document: str | None = None) -> str:
    """Say what came of the recording; ``document`` is its file, for the command that shows every event."""
    return harmless("".join(f"{line}\n" for line in _conclusion(replayed, document)))


def _conclusion(replayed: Replayed, document: str | None) -> Iterator[str]:
    execution = replayed.execution
    if execution.broken is not None and execution.broken.invariant == PROCESS_GOES_ON:
        yield f"STILL FAILS: {execution.broken.what}."
        return
    if replayed.outcome is ReplayOutcome.DIFFERENT:
        yield f"DIFFERENT: {replayed.reason}"
        if replayed.cause is not None:
            yield f"  likely cause: {replayed.cause.text}"
            yield from (f"    {place}: {what}" for place, what in replayed.cause.places)
        return
    if replayed.outcome is ReplayOutcome.LOST:
        yield f"INCOMPLETE: {replayed.reason}."
        yield "  No invariant broke before it.  To find out whether it is fixed, fuzz it again."
        return
    if execution.broken is None and not execution.deliveries:
        yield f"INCOMPLETE: {replayed.reason}."
        yield "  No invariant breaks in it, and none is put to the test.  Fuzz it again."
        return
    if execution.broken is None:
        yield _good(replayed)
        return
    yield f"STILL FAILS: {violation_headline(execution.broken, execution.deliveries)}."
    yield from violation_details(execution.broken, execution.trace, execution.also)
    if execution.identity != replayed.recording.identity:
        yield f"  Before, it was another violation: {replayed.recording.identity}"
    if replayed.outcome is ReplayOutcome.SAME:
        yield f"  {_all_events(len(execution.moments))} what was recorded."
        if document is not None:
            yield f"  step by step: clew replay {file_words([document])} --step"


def _good(replayed: Replayed) -> str:
    if replayed.outcome is ReplayOutcome.FIXED:
        return "FIXED: no invariant breaks in this execution.  Others may still fail: fuzz it again."
    did = _all_events(len(replayed.execution.moments))
    return f"SAME: {did[0].lower()}{did[1:]} what was recorded, and no invariant breaks."


def _all_events(number: int) -> str:
    if not number:
        return "There is no event, and the nodes start with"
    return "The only event did" if number == 1 else f"All {number} events did"


# -- event after event -------------------------------------------------------------------------------------------


def replay_event(number: int, moment: Moment) -> str:
    """Show one event: what it was, what it sent, and what it changed."""
    return harmless("".join(f"{line}\n" for line in _event(number, moment)))


def _event(number: int, moment: Moment) -> Iterator[str]:
    happened = moment.happened
    when = "" if happened.time is None else f"at {show_time(happened.time)}: "
    yield f"{number:4}. {when}{describe(moment.step, moment.label)}"
    for remark in happened.remarks:
        yield f"      log: {remark}"
    lost = {(envelope.source, envelope.nth) for envelope in happened.lost}
    for envelope, content in zip(happened.sent, moment.sent, strict=True):
        fate = ", which is down" if (envelope.source, envelope.nth) in lost else ""
        if envelope.timer:
            yield f"      sets timer {envelope.kind}"
        else:
            yield f"      sends {_value(content)} to {envelope.target}{fate}"
    yield from _changes(moment)


def _changes(moment: Moment) -> Iterator[str]:
    before, after = moment.before or {}, moment.after or {}
    for name in sorted({*before, *after}):
        if name not in after:
            yield f"      {name}: {_value(before[name])} is gone"
        elif name not in before:
            yield f"      {name}: {_value(after[name])}"
        elif before[name] != after[name]:
            yield f"      {name}: {_change(value_text(before[name]), value_text(after[name]))}"


def _change(before: str, after: str) -> str:
    """Shorten what is in common, so that the end of a long list is seen to grow."""
    part = trim_context(difference(before, after), _IN_COMMON)
    old, new = f"{part.start}{part.before}{part.end}", f"{part.start}{part.after}{part.end}"
    return f"{abbreviate(old, _LONGEST)} -> {abbreviate(new, _LONGEST)}"


def _value(document: object) -> str:
    return abbreviate(value_text(document), _LONGEST)


# -- for machines ------------------------------------------------------------------------------------------------


def json_text(replayed: Replayed) -> str:
    """Return what ``--json`` writes."""
    return write_json(replay_document(replayed))


def replay_document(replayed: Replayed) -> dict[str, Any]:
    """Return a replay as an object; ``docs/json.md`` documents its fields."""
    execution, recording = replayed.execution, replayed.recording
    steps = [moment.step for moment in execution.moments] or recording.steps
    broken = execution.broken
    return {
        "format": FORMAT,
        "version": VERSION,
        "scenario": replayed.scenario,
        **result_fields(replayed),
        "seed": recording.seed,
        "violation": violation_fields(broken, execution.identity, steps, execution.labels) if broken else None,
        "before": recording.identity,
        "absent": replayed.absent,
        "warnings": [str(notice) for notice in replayed.notices],
    }


def junit(replayed: Replayed) -> str:
    """Return what ``--junit`` writes: a case that passes if no invariant breaks any more."""
    from clew.report.text.junit import junit_xml, result_case

    broken = replayed.execution.broken
    headline = violation_headline(broken, replayed.execution.deliveries) if broken else ""
    message = replayed.reason or headline
    return junit_xml([result_case(replayed, replayed.scenario or UNNAMED, "replay", message, text(replayed))])


def page(replayed: Replayed, options: PageOptions) -> str:
    """Return what ``--report`` writes: the run, event by event."""
    name, execution = replayed.scenario or UNNAMED, replayed.execution
    replay = replay_line(options.recorded_in, replayed.scenario)
    if not execution.moments:
        from clew.report.text.html import plain_page

        summary = replayed.reason or (execution.broken.what if execution.broken else "Nothing happens in it.")
        return plain_page(replayed, name=name, summary=summary, text=text(replayed), replay=replay)
    from clew.report.simulated.page import run_page

    return run_page(
        name,
        execution,
        replay=replay,
        facts=[("seed", str(replayed.recording.seed)), ("replay", replayed.answer.value)],
        cautions=[f"{replayed.reason}."] if replayed.reason else [],
    )
