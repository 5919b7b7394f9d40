"""``clew explore``: every schedule of a small scenario, but for the order of unrelated events."""

from __future__ import annotations

import click

from clew.cli.parts.files import FILE, refuse_no_file, write_file
from clew.cli.parts.outputs import Outputs, output_options
from clew.cli.parts.progress import progress_display
from clew.cli.process.limits import time_limit_option
from clew.cli.process.state import current_state
from clew.exploration import DEFAULT_CLOCKS, DEFAULT_LATENCIES, DEFAULT_TIMERS, explore
from clew.report.simulated.explored import explore_next_steps, explore_text
from clew.simulation.loading import load_scenario
from clew.simulation.recordings.recording import write_recording


@click.command("explore")
@click.argument("scenario", type=FILE, metavar="SCENARIO.py[:NAME]")
@click.option(
    "--timers",
    type=int,
    default=None,
    metavar="N",
    help=f"How often timers go off at each node, at most (without virtual time).  [default: {DEFAULT_TIMERS}]",
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
@click.option(
    "--latencies",
    type=int,
    default=None,
    metavar="N",
    help="How many latencies of each message are tried, evenly from the least to the most (with virtual time).  "
    f"[default: {DEFAULT_LATENCIES}]",
)
@click.option(
    "--clocks",
    type=int,
    default=None,
    metavar="N",
    help="How many speeds of each clock that drifts, evenly from the slowest to the fastest; 0: as the seed draws "
    f"them.  [default: {DEFAULT_CLOCKS}]",
)
@click.option("--seed", type=int, default=0, show_default=True, metavar="N", help="For what is drawn.")
@time_limit_option()
@click.option("--all", "find_all", is_flag=True, help="Go on after a violation, and list one of each identity.")
@click.option("-o", "--output", type=FILE, metavar="FILE", help="Write the recording of the (shortest) violation.")
@output_options("the result")
def explore_command(
    scenario: str,
    timers: int | None,
    losses: int,
    duplicates: int,
    latencies: int | None,
    clocks: int | None,
    seed: int,
    time_limit: float | None,
    find_all: bool,
    output: str | None,
    outputs: Outputs,
) -> None:
    """Execute every schedule of a scenario, equivalent ones once.

    SCENARIO.py defines a clew.simulation.Scenario; NAME says which, if there are several.  Whatever is not bounded
    by an option happens in every possible order; invariants look at every global state of every schedule.

    With virtual time, what is due first happens first.  Tried is every order of what is due at one time, with each
    of a few latencies of each message and a few speeds of each clock.

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
            latencies=latencies,
            clocks=clocks,
            seed=seed,
            stop_at_first=not find_all,
            time_limit=time_limit,
            progress=progress,
            in_process=True,  # which is the child of a command already
            ends_with=current_state().end,
        )
    # The recording is made by the exploration, which has the scenario at hand; here it is only written.
    outputs.show(explored, lambda: explore_text(explored, explore_next_steps(explored, output)))
    if explored.recording is not None and output is not None:
        write_file(output, write_recording(explored.recording))
    outputs.write(explored, recorded_in=output)
    raise SystemExit(explored.exit_code)
