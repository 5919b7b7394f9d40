"""Recordings of simulated executions on the command line: replay, and what is said about a violation."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence

from clew.cli.parts.files import in_one_line
from clew.cli.process import exit_codes
from clew.cli.process.state import current_state
from clew.cli.process.streams import harmless, say
from clew.errors import UsageError
from clew.files.json_document import Item, is_below_here
from clew.files.python_names import split_name
from clew.report.simulated.values import abbreviated, difference, nearby, value_text
from clew.report.text.commands import file_words
from clew.report.text.plural import counted
from clew.simulation.execution.steps import describe
from clew.simulation.execution.trace import Moment
from clew.simulation.recordings.nondeterminism import NondeterminismError
from clew.simulation.recordings.reading import Opened, open_saved, read_recording
from clew.simulation.recordings.replaying import Outcome, Replayed, replay_opened
from clew.simulation.scenario import Broken

#: How much of a value is shown, and how much of what two values have in common.
_LONGEST = 120
_IN_COMMON = 30


#: What --help says of --scenario.
SCENARIO_HELP = "Execute this file, and not the one that the recording names."


def one_scenario(given: Sequence[str], scenario: str | None) -> list[str]:
    """What is named on the command line, as an argument or with --scenario: one scenario or none."""
    named = [*given, *([scenario] if scenario is not None else [])]
    if len(named) > 1:
        raise UsageError(
            f"{len(named)} files are given, and a recording is of one scenario", remedy="name that, or nothing"
        )
    return named


def replay_recording(content: Item, given: Sequence[str], *, step: bool, changed_code: bool) -> int:
    """Execute a recording again and say what came of it; the answer is the exit code."""
    if (end := current_state().end) is not None:
        say(harmless(f"STILL FAILS: {end}.\n"))
        return exit_codes.VIOLATED
    found = open_saved(read_recording(content), *given, changed_code=changed_code)
    replayed = replay_opened(found, changed_code=changed_code)
    recording = replayed.recording
    deliveries = counted(recording.deliveries, "delivery", "deliveries")
    size = f"{counted(len(recording.steps), 'step')}, {deliveries}"
    _say([f"{_scenario(found)}, seed {recording.seed}: {size}"])
    if step:
        _show_steps(replayed)
    if replayed.difference is not None and replayed.cause is not None:
        raise NondeterminismError(
            f"{content.file}: the replay differs from the recording: {replayed.difference}", replayed.cause
        )
    _say(_conclusion(replayed, content.file))
    return _exit_code(replayed)


def _scenario(found: Opened) -> str:
    loaded = found.loaded
    return in_one_line(f"{loaded.file}:{loaded.name}") if loaded.file else "a scenario made in Python"


def _exit_code(replayed: Replayed) -> int:
    if replayed.outcome is Outcome.LOST:
        return exit_codes.INCOMPLETE
    if replayed.execution.broken is not None:
        return exit_codes.VIOLATED
    return exit_codes.HOLDS if replayed.execution.deliveries else exit_codes.INCOMPLETE


def _conclusion(replayed: Replayed, document: str) -> Iterator[str]:
    execution = replayed.execution
    if replayed.outcome is Outcome.LOST:
        yield f"INCOMPLETE: the changed code does not fit the recording from step {replayed.absent} on."
        yield "  No invariant broke before it.  To find out whether it is fixed, fuzz it again."
        return
    if execution.broken is None and not execution.deliveries:
        yield "INCOMPLETE: nothing is delivered in this recording, neither a message nor a timer."
        yield "  No invariant breaks in it, and none is put to the test.  Fuzz it again."
        return
    if execution.broken is None:
        yield _good(replayed)
        return
    yield f"STILL FAILS: {violation_text(execution.broken, execution.deliveries)}."
    yield from violation_details(execution.broken, execution.trace, execution.also)
    if execution.identity != replayed.recording.identity:
        yield f"  Before, it was another violation: {replayed.recording.identity}"
    if replayed.outcome is Outcome.SAME:
        yield f"  {_all_events(len(execution.moments))} what was recorded."
        yield f"  step by step: clew replay {file_words([document])} --step"


def _good(replayed: Replayed) -> str:
    if replayed.outcome is Outcome.FIXED:
        return "FIXED: no invariant breaks in this execution.  Others may still fail: fuzz it again."
    did = _all_events(len(replayed.execution.moments))
    return f"SAME: {did[0].lower()}{did[1:]} what was recorded, and no invariant breaks."


def _all_events(number: int) -> str:
    if not number:
        return "There is no event, and the nodes start with"
    return "The only event did" if number == 1 else f"All {number} events did"


def violation_text(broken: Broken, deliveries: int) -> str:
    where = f" at {', '.join(broken.nodes)}" if broken.nodes else ""
    return f"{broken.invariant}{where}, after {counted(deliveries, 'delivery', 'deliveries')}"


def violation_details(broken: Broken, trace: str | None, also: Sequence[Broken] = ()) -> Iterator[str]:
    """What is wrong; ``also``: what else is, at the same time."""
    yield f"  {broken.what}"
    for line in trace.rstrip().splitlines() if trace else ():
        yield f"    {line}"
    for other in also:
        where = f" at {', '.join(other.nodes)}" if other.nodes else ""
        yield f"  also broken: {other.invariant}{where}: {other.what}"


def recording_words(output: str, scenario: str) -> str:
    """A recording as the argument of a command, with the scenario if the command would not look for it there."""
    if not scenario or is_below_here(split_name(scenario)[0]):
        return file_words([output])
    return f"{file_words([output])} --scenario {file_words([scenario])}"


def what_next(output: str | None, scenario: str, *, minimize: bool = True) -> Iterator[str]:
    """What can be done with the recording of a violation, or how to get one."""
    if output is None:
        yield "  not recorded: to keep it, run the same command with -o rec.json"
        return
    yield f"  recorded in {in_one_line(output)}"
    yield f"  replay:   clew replay {recording_words(output, scenario)}"
    if minimize:
        yield f"  minimize: clew minimize {recording_words(output, scenario)} -o min.json"


# -- event after event -------------------------------------------------------------------------------------------


def _show_steps(replayed: Replayed) -> None:
    """With a terminal, one event at a time."""
    asks = sys.stdin.isatty() and sys.stdout.isatty()
    for number, moment in enumerate(replayed.execution.moments, start=1):
        _say(_event(number, moment))
        if asks:
            say("[Enter: the next event, q: to the end] ")
            if sys.stdin.readline().strip() in ("q", "Q"):
                return


def _event(number: int, moment: Moment) -> Iterator[str]:
    happened = moment.happened
    yield f"{number:4}. {describe(moment.step)}"
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
    """What is in common is shortened, so that the end of a long list is seen to grow."""
    part = nearby(difference(before, after), _IN_COMMON)
    old, new = f"{part.start}{part.before}{part.end}", f"{part.start}{part.after}{part.end}"
    return f"{abbreviated(old, _LONGEST)} -> {abbreviated(new, _LONGEST)}"


def _value(document: object) -> str:
    return abbreviated(value_text(document), _LONGEST)


def _say(lines: Iterable[str]) -> None:
    for line in lines:
        say(f"{harmless(line)}\n")
