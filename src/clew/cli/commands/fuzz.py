"""``clew fuzz``: random executions of a scenario, until an invariant breaks."""

from __future__ import annotations

import click

from clew.budgets.whereabouts import ProcessEnd
from clew.cli.parts.checkpoints import checkpoint_option, conclude_checkpoint, open_checkpoint
from clew.cli.parts.clusters import WorkFlags, work_options
from clew.cli.parts.files import FILE, refuse_no_file, write_file
from clew.cli.parts.outputs import Outputs, output_options
from clew.cli.parts.progress import progress_display
from clew.cli.process.limits import time_limit_option
from clew.cli.process.state import current_state
from clew.errors import UsageError
from clew.report.simulated.fuzzed import fuzz_next_steps, fuzz_text
from clew.simulation.fuzzing.fuzz import (
    DEFAULT_RUNS,
    Fuzzed,
    ended_search,
    fuzz,
    fuzz_question,
    record,
    with_steps,
)
from clew.simulation.fuzzing.recording_run import record_death
from clew.simulation.loading import LoadedScenario, load_scenario
from clew.simulation.recordings.reading import refuse_unreadable
from clew.simulation.recordings.recording import write_recording


@click.command("fuzz")
@click.argument("scenario", type=FILE, metavar="SCENARIO.py[:NAME]")
@click.option("--seed", type=int, default=0, show_default=True, metavar="N", help="The seed of the first run.")
@click.option("--runs", type=int, default=DEFAULT_RUNS, show_default=True, metavar="N", help="How many runs.")
@click.option("--steps", type=int, metavar="N", help="The longest run.  Default: what the scenario says.")
@work_options()
@click.option(
    "--at-least", type=int, default=0, metavar="N", help="Only take a violation after at least N deliveries."
)
@time_limit_option()
@checkpoint_option
@click.option("-o", "--output", type=FILE, metavar="FILE", help="Write the recording of the violation.")
@output_options("the result")
def fuzz_command(
    scenario: str,
    seed: int,
    runs: int,
    steps: int | None,
    work: WorkFlags,
    at_least: int,
    time_limit: float | None,
    checkpoint_file: str | None,
    output: str | None,
    outputs: Outputs,
) -> None:
    """Search for a violation in random executions.

    SCENARIO.py defines a clew.simulation.Scenario; NAME says which, if there are several.  Each run has a seed of
    its own, one more than that of the run before.  The same seed finds the same violation, whatever --workers is,
    and with --cluster.

    Exit code: 0 no violation in these runs, 1 violation, 2 bad scenario or usage, 3 incomplete.
    """
    refuse_no_file("-o", output, "rec.json")
    checkpoint = open_checkpoint(checkpoint_file)
    loaded = load_scenario(scenario)
    state = current_state()
    if state.retrace is not None:
        # Another process has ended in this run, and the supervisor wants to know where.
        record(loaded, state.retrace, steps=steps)
        return
    if state.end is not None:
        loaded = with_steps(loaded, steps)
        fuzzed = _make_ended_result(loaded, state.end, seed, at_least, steps)
        if checkpoint is not None:
            checkpoint.open(fuzz_question(loaded, seed=seed, runs=runs, at_least=at_least))
            checkpoint.answered = True
    else:
        with work.open_team() as team, progress_display() as progress:
            fuzzed = fuzz(
                loaded,
                seed=seed,
                runs=runs,
                steps=steps,
                workers=work.workers,
                executor=team,
                at_least=at_least,
                time_limit=time_limit,
                progress=progress,
                in_process=True,  # which is the child of a command already
                checkpoint=checkpoint,
            )
    problem = _problem(fuzzed, loaded) if output is not None else None
    recorded_in = None if problem else output
    outputs.show(fuzzed, lambda: fuzz_text(fuzzed, fuzz_next_steps(fuzzed, recorded_in)))
    if fuzzed.recording is not None and recorded_in is not None:
        write_file(recorded_in, write_recording(fuzzed.recording))
    outputs.write(fuzzed, recorded_in=recorded_in)
    if problem is not None:
        raise problem
    conclude_checkpoint(checkpoint)
    raise SystemExit(fuzzed.exit_code)


def _make_ended_result(
    loaded: LoadedScenario, end: ProcessEnd, seed: int, at_least: int, steps: int | None
) -> Fuzzed:
    """Return the result of a search that a run ended with its process; what it did up to that is recorded."""
    recording = record_death(loaded, end.seed, end.event, str(end))
    return ended_search(recording, run=end.seed - seed, at_least=at_least, steps=steps)


def _problem(fuzzed: Fuzzed, loaded: LoadedScenario) -> UsageError | None:
    """Return why a recording must not be written, if it could not be read; the violation is reported anyway."""
    try:
        if fuzzed.recording is not None:
            refuse_unreadable(fuzzed.recording, loaded)
    except UsageError as error:
        return error
    return None
