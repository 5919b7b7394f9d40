"""``clew fuzz``: random executions of a scenario, until an invariant breaks."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

import click

from clew.budgets.whereabouts import ProcessEnd
from clew.cli.parts.checkpoints import checkpoint_option, conclude_checkpoint, opened_checkpoint
from clew.cli.parts.files import refuse_no_file, write_file
from clew.cli.parts.progress import progress_display
from clew.cli.parts.recordings import violation_details, violation_text, what_next
from clew.cli.process import exit_codes
from clew.cli.process.state import current_state
from clew.cli.process.streams import harmless, say, warn
from clew.errors import UsageError
from clew.report.text.plural import counted
from clew.simulation.execution.steps import Step, describe
from clew.simulation.fuzzing.coverage import MOST_STATES, PERIOD, Coverage
from clew.simulation.fuzzing.fuzz import DEFAULT_RUNS, Fuzzed, fuzz, fuzz_question, record, with_steps
from clew.simulation.fuzzing.recording_run import record_death
from clew.simulation.loading import LoadedScenario, load_scenario
from clew.simulation.recordings.reading import refuse_unreadable
from clew.simulation.recordings.recording import write_recording
from clew.simulation.world import Wait

#: Of a schedule that ended its process, so many events are shown.
_MOST_STEPS = 10


@click.command("fuzz")
@click.argument("scenario", metavar="SCENARIO.py[:NAME]")
@click.option("--seed", type=int, default=0, show_default=True, metavar="N", help="The seed of the first run.")
@click.option("--runs", type=int, default=DEFAULT_RUNS, show_default=True, metavar="N", help="How many runs.")
@click.option("--steps", type=int, metavar="N", help="The longest run.  Default: what the scenario says.")
@click.option("--workers", type=int, default=1, show_default=True, metavar="N", help="How many processes.")
@click.option(
    "--at-least", type=int, default=0, metavar="N", help="Only take a violation after at least N deliveries."
)
@click.option("--time-limit", type=float, metavar="S", help="Stop after S seconds.")
@checkpoint_option
@click.option("-o", "--output", metavar="FILE", help="Write the recording of the violation.")
def fuzz_command(
    scenario: str,
    seed: int,
    runs: int,
    steps: int | None,
    workers: int,
    at_least: int,
    time_limit: float | None,
    checkpoint_file: str | None,
    output: str | None,
) -> None:
    """Search for a violation in random executions.

    SCENARIO.py defines a clew.simulation.Scenario; NAME says which, if there are several.  Each run has a seed of
    its own, one more than that of the run before.  The same seed finds the same violation, whatever --workers is.

    Exit code: 0 no violation in these runs, 1 violation, 2 bad scenario or usage, 3 incomplete.
    """
    refuse_no_file("-o", output, "rec.json")
    checkpoint = opened_checkpoint(checkpoint_file)
    loaded = load_scenario(scenario)
    state = current_state()
    if state.retrace is not None:
        record(loaded, state.retrace, steps=steps)
        return
    if state.end is not None:
        loaded = with_steps(loaded, steps)
        _report_end(loaded, state.end, output)
        if checkpoint is not None:
            checkpoint.open(fuzz_question(loaded, seed=seed, runs=runs, at_least=at_least))
            checkpoint.answered = True
            conclude_checkpoint(checkpoint)
        sys.exit(exit_codes.VIOLATED)
    with progress_display() as progress:
        fuzzed = fuzz(
            loaded,
            seed=seed,
            runs=runs,
            steps=steps,
            workers=workers,
            at_least=at_least,
            time_limit=time_limit,
            progress=progress,
            in_process=True,  # which is the child of a command already
            checkpoint=checkpoint,
        )
    for notice in fuzzed.notices:
        warn(str(notice))
    problem = _problem(fuzzed, loaded) if output is not None else None
    say(harmless("".join(f"{line}\n" for line in _lines(fuzzed, seed, at_least, None if problem else output))))
    if problem is not None:
        raise problem
    if fuzzed.recording is not None and output is not None:
        write_file(output, write_recording(fuzzed.recording))
    conclude_checkpoint(checkpoint)
    sys.exit(_exit_code(fuzzed))


def _report_end(loaded: LoadedScenario, end: ProcessEnd, output: str | None) -> None:
    """Report a run that ended its process; what it did up to that event is recorded."""
    recording = record_death(loaded, end.seed, end.event, str(end))
    if output is not None:
        write_file(output, write_recording(recording))
    lines = [f"VIOLATION: {end}, in the run with seed {end.seed}."]
    lines += (f"    {number:3}. {describe(step)}" for number, step in last_steps(recording.steps))
    say(
        harmless("".join(f"{line}\n" for line in [*lines, *what_next(output, recording.scenario, minimize=False)]))
    )


def last_steps(steps: Sequence[Step]) -> Sequence[tuple[int, Step]]:
    """Return the end of a schedule, with the numbers of the events."""
    return list(enumerate((step for step in steps if not isinstance(step, Wait)), start=1))[-_MOST_STEPS:]


def _problem(fuzzed: Fuzzed, loaded: LoadedScenario) -> UsageError | None:
    """Return why a recording must not be written, if it could not be read; the violation is reported anyway."""
    try:
        if fuzzed.recording is not None:
            refuse_unreadable(fuzzed.recording, loaded)
    except UsageError as error:
        return error
    return None


def _exit_code(fuzzed: Fuzzed) -> int:
    if fuzzed.recording is not None:
        return exit_codes.VIOLATED
    return exit_codes.HOLDS if fuzzed.incomplete is None else exit_codes.INCOMPLETE


def _lines(fuzzed: Fuzzed, seed: int, at_least: int, output: str | None) -> Iterator[str]:
    recording, run = fuzzed.recording, fuzzed.run
    if recording is not None and recording.broken is not None and run is not None:
        what = violation_text(recording.broken, recording.deliveries)
        yield f"VIOLATION: {what}, in the run with seed {seed + run}."
        yield from violation_details(recording.broken, fuzzed.trace, fuzzed.also)
        yield from what_next(output, recording.scenario)
    elif fuzzed.incomplete is not None:
        yield f"INCOMPLETE: {fuzzed.incomplete}; no violation so far."
    else:
        yield "NO VIOLATION in these runs."
    yield from _covered(fuzzed.coverage)
    if fuzzed.early:
        yield f"  {counted(fuzzed.early, 'violation')} after fewer than {at_least} deliveries did not count"


def _covered(coverage: Coverage) -> Iterator[str]:
    counts = [counted(coverage.runs, "run"), counted(coverage.steps, "step")]
    counts.append(counted(coverage.deliveries, "delivery", "deliveries"))
    yield f"  covered: {', '.join(counts)}"
    yield f"  types of messages delivered: {', '.join(coverage.types) or 'none'}"
    states = f"{coverage.states}{' or more' if coverage.states >= MOST_STATES else ''}"
    yield f"  different states of nodes, looked at every {PERIOD} events: {states}"
    for how, runs in coverage.unfinished:
        yield f"  in {counted(runs, 'run')} {how}"
    if coverage.driven_by_timers:
        driven = counted(coverage.driven_by_timers, "run")
        yield f"  {driven} had nothing but timers to go on with, and went on for all steps"
    if coverage.idle:
        yield f"  in {counted(coverage.idle, 'run')} nothing was delivered, neither a message nor a timer"
