"""Shows what ``clew.fuzz`` returns: text, JSON, JUnit and the page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Any

from clew.names import harmless
from clew.report.renderers import PageOptions
from clew.report.simulated.violations import (
    UNNAMED,
    describe_steps,
    next_steps,
    recording_fields,
    replay_line,
    step_line,
    violation_details,
    violation_headline,
)
from clew.report.text.json_text import json_text as write_json
from clew.report.text.json_text import result_fields
from clew.report.text.plain import pluralize
from clew.simulation.fuzzing.coverage import MOST_STATES, PERIOD, Coverage
from clew.simulation.fuzzing.fuzz import Fuzzed
from clew.simulation.recordings.recording import Recording

#: What the document calls itself, and the version of its shape.
FORMAT, VERSION = "clew fuzz", 1

#: Of a schedule that ended its process, so many events are shown.
_MOST_STEPS = 10


def text(fuzzed: Fuzzed) -> str:
    """Return what the terminal shows, but for what to do with a recording."""
    return fuzz_text(fuzzed)


def fuzz_text(fuzzed: Fuzzed, then: Iterable[str] = ()) -> str:
    """Return the answer and what was covered; ``then`` are lines that follow a violation."""
    return harmless("".join(f"{line}\n" for line in _lines(fuzzed, then)))


def fuzz_next_steps(fuzzed: Fuzzed, recorded_in: str | None) -> Iterator[str]:
    """Say what to do with the recording of a violation."""
    if fuzzed.recording is not None:
        # Each schedule that is tried would end a process: such a recording cannot be minimized.
        yield from next_steps(recorded_in, fuzzed.scenario, minimize=not fuzzed.recording.ends_process)


def _lines(fuzzed: Fuzzed, then: Iterable[str]) -> Iterator[str]:
    recording = fuzzed.recording
    if recording is not None:
        yield f"VIOLATION: {_headline(recording)}, in the run with seed {recording.seed}."
        yield from _details(fuzzed, recording)
        yield from then
    elif fuzzed.reason is not None:
        yield f"INCOMPLETE: {fuzzed.reason}; no violation so far."
    else:
        yield "NO VIOLATION in these runs."
    if _was_counted(fuzzed):
        yield from _coverage_lines(fuzzed.coverage)
    if fuzzed.early:
        early = pluralize(fuzzed.early, "violation")
        yield f"  {early} after fewer than {fuzzed.at_least} deliveries did not count"


def _headline(recording: Recording) -> str:
    assert recording.broken is not None, "only violations are recorded"
    if recording.ends_process:
        return recording.broken.what
    return violation_headline(recording.broken, recording.deliveries)


def _details(fuzzed: Fuzzed, recording: Recording) -> Iterator[str]:
    if recording.ends_process:
        events = [(number, words) for number, words in describe_steps(recording.steps, ()) if number is not None]
        yield from (step_line(number, words) for number, words in events[-_MOST_STEPS:])
    elif recording.broken is not None:
        yield from violation_details(recording.broken, fuzzed.trace, fuzzed.also)


def _was_counted(fuzzed: Fuzzed) -> bool:
    """Tell whether the process that executed the runs has lived to say what they covered."""
    return fuzzed.coverage.runs > 0 or fuzzed.recording is None


def _coverage_lines(coverage: Coverage) -> Iterator[str]:
    yield f"  covered: {coverage}"
    yield f"  types of messages delivered: {', '.join(coverage.types) or 'none'}"
    states = f"{coverage.states}{' or more' if coverage.states >= MOST_STATES else ''}"
    yield f"  different states of nodes, looked at every {PERIOD} events: {states}"
    for how, runs in coverage.unfinished:
        yield f"  in {pluralize(runs, 'run')} {how}"
    if coverage.driven_by_timers:
        driven = pluralize(coverage.driven_by_timers, "run")
        yield f"  {driven} had nothing but timers to go on with, and went on for all steps"
    if coverage.idle:
        yield f"  in {pluralize(coverage.idle, 'run')} nothing was delivered, neither a message nor a timer"


# -- for machines ------------------------------------------------------------------------------------------------


def json_text(fuzzed: Fuzzed) -> str:
    """Return what ``--json`` writes."""
    return write_json(fuzz_document(fuzzed))


def fuzz_document(fuzzed: Fuzzed) -> dict[str, Any]:
    """Return a search as an object; ``docs/json.md`` documents its fields."""
    recording = fuzzed.recording
    return {
        "format": FORMAT,
        "version": VERSION,
        "scenario": fuzzed.scenario,
        **result_fields(fuzzed),
        "seed": recording.seed if recording else None,
        "steps": fuzzed.steps,
        "violation": recording_fields(recording, fuzzed.execution) if recording else None,
        "early": fuzzed.early,
        "coverage": _coverage_fields(fuzzed.coverage) if _was_counted(fuzzed) else None,
        "warnings": [str(notice) for notice in fuzzed.notices],
    }


def _coverage_fields(coverage: Coverage) -> dict[str, Any]:
    unfinished = [{"how": how, "runs": runs} for how, runs in coverage.unfinished]
    return {**asdict(coverage), "types": list(coverage.types), "unfinished": unfinished}


def junit(fuzzed: Fuzzed) -> str:
    """Return what ``--junit`` writes: the scenario is one test case."""
    from clew.report.text.junit import junit_xml, result_case

    message = _headline(fuzzed.recording) if fuzzed.recording else fuzzed.reason or ""
    case = result_case(fuzzed, fuzzed.scenario or UNNAMED, "fuzz", message, text(fuzzed))
    return junit_xml([case], fuzzed.notices)


def page(fuzzed: Fuzzed, options: PageOptions) -> str:
    """Return what ``--report`` writes: the run that fails, event by event; without one, what was covered."""
    name, recording = fuzzed.scenario or UNNAMED, fuzzed.recording
    replay = replay_line(options.recorded_in, fuzzed.scenario)
    if fuzzed.execution is not None and recording is not None:
        from clew.report.simulated.page import run_page

        facts = [("seed", str(recording.seed))]
        return run_page(
            name, fuzzed.execution, replay=replay, facts=facts, cautions=[str(n) for n in fuzzed.notices]
        )
    from clew.report.text.html import plain_page

    summary = _headline(recording) if recording else fuzzed.reason or "No invariant broke in these runs."
    return plain_page(fuzzed, name=name, summary=summary, text=text(fuzzed), replay=replay)
