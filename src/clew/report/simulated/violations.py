"""What is said about a violation in simulated code, whichever command found it, and what to do with it next."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from clew.files.json_document import is_below_here
from clew.files.python_names import split_name
from clew.names import in_one_line
from clew.report.text.plain import pluralize
from clew.report.text.shell import file_words
from clew.simulation.execution.steps import At, Ended, Step, describe
from clew.simulation.execution.trace import Execution
from clew.simulation.recordings.recording import Recording
from clew.simulation.scenario import Broken
from clew.simulation.world import Wait

#: What a page or a test case calls a scenario that has no file.
UNNAMED = "a scenario made in Python"


def violation_headline(broken: Broken, deliveries: int) -> str:
    """Say which invariant broke, where, and how far into the execution."""
    return f"{broken.place}, after {pluralize(deliveries, 'delivery', 'deliveries')}"


def violation_details(broken: Broken, trace: str | None, also: Sequence[Broken] = ()) -> Iterator[str]:
    """Say what is wrong; ``also``: what else is, at the same time."""
    yield f"  {broken.what}"
    for line in trace.rstrip().splitlines() if trace else ():
        yield f"    {line}"
    for other in also:
        yield f"  also broken: {other}"


def describe_steps(steps: Iterable[Step], labels: Iterable[str]) -> Iterator[tuple[int | None, str]]:
    """Describe a schedule in words, with the numbers of its events; waiting is no event, and has none.

    ``labels``: what the message of each event is called, as far as that is known.
    """
    steps, known, number = list(steps), iter(labels), 0
    when = f"{describe(At(0))}, " if any(isinstance(step, At) for step in steps) else ""
    for step in steps:
        if isinstance(step, At):
            when = f"{describe(step)}, "
        elif isinstance(step, Wait | Ended):
            yield None, describe(step)
        else:
            number += 1
            yield number, f"{when}{describe(step, next(known, ''))}"


def step_line(number: int, words: str) -> str:
    """Return a line of a schedule."""
    return f"    {number:3}. {words}"


# -- what next ---------------------------------------------------------------------------------------------------


def recording_words(file: str, scenario: str) -> str:
    """Return a recording as arguments: with its scenario, if a command would not look for that where it is."""
    # Commands execute no file that a recording names unless it lies below the working directory, or is given.
    if not scenario or is_below_here(split_name(scenario)[0]):
        return file_words([file])
    return f"{file_words([file])} --scenario {file_words([scenario])}"


def replay_line(recorded_in: str | None, scenario: str) -> str:
    """Return the command that replays a recording; none if it was not written to a file."""
    return f"clew replay {recording_words(recorded_in, scenario)}" if recorded_in else ""


def next_steps(recorded_in: str | None, scenario: str, *, minimize: bool = True) -> Iterator[str]:
    """Say what can be done with the recording of a violation, or how to get one."""
    if recorded_in is None:
        yield "  not recorded: to keep it, run the same command with -o rec.json"
        return
    yield f"  recorded in {in_one_line(recorded_in)}"
    yield f"  replay:   {replay_line(recorded_in, scenario)}"
    if minimize:
        yield f"  minimize: clew minimize {recording_words(recorded_in, scenario)} -o min.json"


# -- for JSON ----------------------------------------------------------------------------------------------------


def violation_fields(
    broken: Broken, identity: str | None, steps: Iterable[Step], labels: Iterable[str]
) -> dict[str, Any]:
    """Return a violation and the schedule that leads to it, as all documents about scenarios have it."""
    return {
        "invariant": broken.invariant,
        "what": broken.what,
        "nodes": list(broken.nodes),
        "identity": identity,
        "schedule": [words for _, words in describe_steps(steps, labels)],
    }


def recording_fields(recording: Recording, execution: Execution | None) -> dict[str, Any] | None:
    """Return the violation that a recording ends with; ``execution`` is what happens in it, if that is known."""
    if recording.broken is None:
        return None
    labels = execution.labels if execution is not None else ()
    return violation_fields(recording.broken, recording.identity, recording.steps, labels)
