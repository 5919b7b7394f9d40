"""Shows what ``clew.explore`` returns: text, JSON, JUnit and the page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Any

from clew.exploration import Bounds, Exploration, ExplorationAnswer, Found, TimedBounds
from clew.names import harmless
from clew.report.renderers import PageOptions
from clew.report.simulated.violations import (
    UNNAMED,
    describe_steps,
    next_steps,
    replay_line,
    step_line,
    violation_details,
    violation_fields,
    violation_headline,
)
from clew.report.text.json_text import json_text as write_json
from clew.report.text.json_text import result_fields
from clew.report.text.plain import pluralize
from clew.simulation.recordings.recording import PROCESS_GOES_ON
from clew.simulation.timing import to_seconds

#: What the document calls itself, and the version of its shape.
FORMAT, VERSION = "clew explore", 1


def text(explored: Exploration) -> str:
    """Return what the terminal shows, but for what to do with a recording."""
    return explore_text(explored)


def explore_text(explored: Exploration, then: Iterable[str] = ()) -> str:
    """Return the answer, the violations and what was explored; ``then`` are lines that follow the violations."""
    return harmless("".join(f"{line}\n" for line in _lines(explored, then)))


def explore_next_steps(explored: Exploration, recorded_in: str | None) -> Iterator[str]:
    """Say what to do with the recording of a violation."""
    if explored.found:
        shrinks = explored.found[0].broken.invariant != PROCESS_GOES_ON
        yield from next_steps(recorded_in, explored.scenario, minimize=shrinks)


def _lines(explored: Exploration, then: Iterable[str]) -> Iterator[str]:
    if explored.answer is ExplorationAnswer.ALL_EXPLORED:
        what = "executions" if isinstance(explored.bounds, TimedBounds) else "schedules"
        yield f"NO VIOLATION: all {what} within the bounds are explored."
    elif explored.answer is ExplorationAnswer.INCOMPLETE:
        yield f"INCOMPLETE: {explored.reason}; no violation so far."
    for found in explored.found:
        yield from _violation(found)
    yield from then
    yield from _effort_lines(explored)


def _headline(found: Found) -> str:
    if found.broken.invariant == PROCESS_GOES_ON:
        return found.broken.what
    return violation_headline(found.broken, found.deliveries)


def _violation(found: Found) -> Iterator[str]:
    yield f"VIOLATION: {_headline(found)}."
    if found.broken.invariant != PROCESS_GOES_ON:
        yield from violation_details(found.broken, found.trace)
    if any(speed != 1.0 for _, speed in found.clocks):
        yield f"  clocks: {', '.join(f'{node} {speed:.6g}' for node, speed in found.clocks)}"
    yield "  schedule:" if found.steps else "  schedule: none, it is so from the beginning"
    for number, words in describe_steps(found.steps, found.labels):
        yield f"        ({words})" if number is None else step_line(number, words)


def _effort_lines(explored: Exploration) -> Iterator[str]:
    bounds = explored.bounds
    what = "end" if isinstance(bounds, TimedBounds) else "schedule"
    counts = [pluralize(explored.schedules, what), f"{pluralize(explored.events, 'event')} executed"]
    if explored.states:
        counts.insert(1, pluralize(explored.states, "global state"))
    yield f"  explored: {', '.join(counts)}"
    if explored.answer is ExplorationAnswer.VIOLATION and explored.reason is not None:
        yield f"  not everything is explored: {explored.reason}"
    if explored.waiting and not explored.undone:
        schedules = f"{explored.waiting} of {pluralize(explored.schedules, what)}"
        yield f"  in {schedules} a wait never ends, and what follows it does not happen"
    if not explored.invariants and explored.answer is not ExplorationAnswer.VIOLATION:
        yield "  checked: only that no handler raises; the scenario has no invariants"
    yield f"  bounds: {bounds}"
    if isinstance(bounds, TimedBounds) and bounds.leaves_out:
        yield f"  not tried: {bounds.leaves_out}"


# -- for machines ------------------------------------------------------------------------------------------------


def json_text(explored: Exploration) -> str:
    """Return what ``--json`` writes."""
    return write_json(explore_document(explored))


def explore_document(explored: Exploration) -> dict[str, Any]:
    """Return an exploration as an object; ``docs/json.md`` documents its fields."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "scenario": explored.scenario,
        **result_fields(explored),
        "seed": explored.seed,
        "bounds": _bounds_fields(explored.bounds),
        "violations": [violation_fields(f.broken, f.identity, f.steps, f.labels) for f in explored.found],
        "invariants": list(explored.invariants),
        "schedules": explored.schedules,
        "states": explored.states,
        "events": explored.events,
        "waiting": explored.waiting,
        "warnings": [str(notice) for notice in explored.notices],
    }


def _bounds_fields(bounds: Bounds | TimedBounds) -> dict[str, Any]:
    if isinstance(bounds, Bounds):
        return asdict(bounds)
    return {
        "losses": bounds.losses,
        "duplicates": bounds.duplicates,
        "latencies": [
            {"seconds": [to_seconds(each) for each in ticks], "links": [list(link) for link in links]}
            for ticks, links in bounds.group_links()
        ],
        "clocks": {node: list(speeds) for node, speeds in bounds.speeds.items()},
        "clocks_of_seed": bounds.drawn,
        "until": to_seconds(bounds.until),
    }


def junit(explored: Exploration) -> str:
    """Return what ``--junit`` writes: the scenario is one test case."""
    from clew.report.text.junit import junit_xml, result_case

    message = "; ".join(map(_headline, explored.found)) or explored.reason or ""
    return junit_xml([result_case(explored, explored.scenario or UNNAMED, "explore", message, text(explored))])


def page(explored: Exploration, options: PageOptions) -> str:
    """Return what ``--report`` writes: the first run that fails, event by event; else what was explored."""
    name, replay = explored.scenario or UNNAMED, replay_line(options.recorded_in, explored.scenario)
    if explored.execution is not None:
        from clew.report.simulated.page import run_page

        what = "ends" if isinstance(explored.bounds, TimedBounds) else "schedules"
        facts = [(f"{what} explored", str(explored.schedules)), ("bounds", str(explored.bounds))]
        reason = [f"Not everything is explored: {explored.reason}."] if explored.reason else []
        others = [f"Also found: {_headline(found)}." for found in explored.found[1:]]
        return run_page(name, explored.execution, replay=replay, facts=facts, cautions=[*reason, *others])
    from clew.report.text.html import plain_page

    first = _headline(explored.found[0]) if explored.found else explored.reason
    what = "execution" if isinstance(explored.bounds, TimedBounds) else "schedule"
    summary = first or f"No invariant breaks in any {what} within the bounds."
    return plain_page(explored, name=name, summary=summary, text=text(explored), replay=replay)
