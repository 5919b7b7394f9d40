"""``clew explore``: every schedule of a small scenario, but for the order of unrelated events."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import click

from clew.cli.parts.files import refuse_no_file, write_file
from clew.cli.parts.progress import progress_display
from clew.cli.parts.recordings import violation_details, violation_text, what_next
from clew.cli.process import exit_codes
from clew.cli.process.state import current_state
from clew.cli.process.streams import harmless, say
from clew.exploration import DEFAULT_TIMERS, Answer, Exploration, Found, explore
from clew.report.text.plural import counted
from clew.simulation.execution.steps import describe
from clew.simulation.loading import LoadedScenario, load_scenario
from clew.simulation.recordings.recording import (
    PROCESS_GOES_ON,
    Recording,
    make_recording,
    record_deadly,
    write_recording,
)
from clew.simulation.world import Wait

_EXIT_CODES = {
    Answer.ALL_EXPLORED: exit_codes.HOLDS,
    Answer.VIOLATION: exit_codes.VIOLATED,
    Answer.INCOMPLETE: exit_codes.INCOMPLETE,
}


@click.command("explore")
@click.argument("scenario", metavar="SCENARIO.py[:NAME]")
@click.option(
    "--timers",
    type=int,
    default=DEFAULT_TIMERS,
    show_default=True,
    metavar="N",
    help="How often timers go off at each node, at most.",
)
@click.option(
    "--losses",
    type=int,
    default=0,
    show_default=True,
    metavar="N",
    help="How often each link loses a message, at most (where the scenario has loss).",
)
@click.option(
    "--duplicates",
    type=int,
    default=0,
    show_default=True,
    metavar="N",
    help="How often each link duplicates a message, at most (where the scenario has duplication).",
)
@click.option("--seed", type=int, default=0, show_default=True, metavar="N", help="For what the nodes draw.")
@click.option("--time-limit", type=float, metavar="S", help="Stop after S seconds.")
@click.option("--all", "find_all", is_flag=True, help="Go on after a violation, and list one of each identity.")
@click.option("-o", "--output", metavar="FILE", help="Write the recording of the (shortest) violation.")
def explore_command(
    scenario: str,
    timers: int,
    losses: int,
    duplicates: int,
    seed: int,
    time_limit: float | None,
    find_all: bool,
    output: str | None,
) -> None:
    """Execute every schedule of a scenario, each class of equivalent ones once.

    SCENARIO.py defines a clew.simulation.Scenario; NAME says which, if there are several.  Whatever is not bounded
    by an option happens in every possible order; invariants look at every global state of every schedule.

    Exit code: 0 no violation within the bounds, 1 violation, 2 bad scenario or usage, 3 incomplete.
    """
    refuse_no_file("-o", output, "rec.json")
    loaded = load_scenario(scenario)
    with progress_display() as progress:
        explored = explore(
            loaded,
            timers=timers,
            losses=losses,
            duplicates=duplicates,
            seed=seed,
            stop_at_first=not find_all,
            time_limit=time_limit,
            progress=progress,
            in_process=True,  # which is the child of a command already
            ends_with=current_state().end,
        )
    say(harmless("".join(f"{line}\n" for line in _lines(explored, loaded, output))))
    if explored.found and output is not None:
        write_file(output, write_recording(_recorded(loaded, seed, explored.found[0])))
    sys.exit(_EXIT_CODES[explored.answer])


def _recorded(loaded: LoadedScenario, seed: int, found: Found) -> Recording:
    if found.broken.invariant == PROCESS_GOES_ON:
        return record_deadly(loaded, seed, found.steps, found.broken.what)
    return make_recording(loaded, seed, found.steps)


def _lines(explored: Exploration, loaded: LoadedScenario, output: str | None) -> Iterator[str]:
    if explored.answer is Answer.ALL_EXPLORED:
        yield "NO VIOLATION: all schedules within the bounds are explored."
    elif explored.answer is Answer.INCOMPLETE:
        yield f"INCOMPLETE: {explored.reason}; no violation so far."
    for found in explored.found:
        yield from _violation(found)
    if explored.found:
        shrinks = explored.found[0].broken.invariant != PROCESS_GOES_ON
        yield from what_next(output, f"{loaded.file}:{loaded.name}", minimize=shrinks)
    yield from _explored(explored)


def _violation(found: Found) -> Iterator[str]:
    if found.broken.invariant == PROCESS_GOES_ON:
        yield f"VIOLATION: {found.broken.what}."
    else:
        yield f"VIOLATION: {violation_text(found.broken, found.deliveries)}."
        yield from violation_details(found.broken, found.trace)
    yield "  schedule:" if found.steps else "  schedule: none, it is so from the beginning"
    number = 0
    for step in found.steps:
        if isinstance(step, Wait):
            yield f"        ({describe(step)})"
            continue
        number += 1
        yield f"    {number:3}. {describe(step)}"


def _explored(explored: Exploration) -> Iterator[str]:
    counts = [counted(explored.schedules, "schedule"), f"{counted(explored.events, 'event')} executed"]
    if explored.states:
        counts.insert(1, counted(explored.states, "global state"))
    yield f"  explored: {', '.join(counts)}"
    if explored.answer is Answer.VIOLATION and explored.reason is not None:
        yield f"  not everything is explored: {explored.reason}"
    if explored.waiting and not explored.undone:
        schedules = f"{explored.waiting} of {counted(explored.schedules, 'schedule')}"
        yield f"  in {schedules} a wait never ends, and what follows it does not happen"
    if not explored.invariants and explored.answer is not Answer.VIOLATION:
        yield "  checked: only that no handler raises; the scenario has no invariants"
    yield f"  bounds: {explored.bounds}"
