"""``clew replay``: does what a file recorded still happen?

Such a file says in its field ``format`` what it is; ``_REPLAYS`` is the one place that knows what can be replayed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import click

from clew.cli.parts.files import FILE, one_scenario
from clew.cli.parts.outputs import Outputs, output_options
from clew.cli.process.state import current_state
from clew.cli.process.streams import is_interactive, read_line, say
from clew.errors import UsageError
from clew.files.json_document import Item, format_of, read_document
from clew.report.injected.formats import VERDICT_FORMAT as CODE_VERDICT_FORMAT
from clew.report.verdict.document import FORMAT as VERDICT_FORMAT
from clew.results import Result
from clew.simulation.recordings.recording import FORMAT as RECORDING_FORMAT

if TYPE_CHECKING:
    from clew.simulation.recordings.replaying import Replayed


@click.command("replay")
@click.argument("document", type=FILE, metavar="DOCUMENT.json")
@click.argument("files", nargs=-1, type=FILE, metavar="[FILE]...")
@click.option("--scenario", type=FILE, metavar="SCENARIO.py[:NAME]", help="Execute this file (recordings only).")
@click.option("--step", is_flag=True, help="Show event after event (recordings only).")
@click.option("--changed-code", is_flag=True, help="Try it on code that has changed since (recordings only).")
@output_options("the result")
def replay_command(
    document: str,
    files: tuple[str, ...],
    scenario: str | None,
    step: bool,
    changed_code: bool,
    outputs: Outputs,
) -> None:
    """Run a recording or the counterexamples of a verdict again.

    A verdict is what "clew check ... --json VERDICT.json" wrote.  Each counterexample in it (of a sweep that was
    incomplete, each candidate) is executed on the program as it is now, with its faults and the nodes and EOT of
    the document: does it still fail?  The FILEs form the program; by default they are those that were checked,
    if they lie below the working directory.

    A recording is what "clew fuzz ... -o REC.json" wrote.  It is executed exactly; code that does anything else
    than what was recorded is reported with the first event that differs.  The FILE is SCENARIO.py[:NAME], also
    with --scenario; by default it is the one that was recorded, if it lies below the working directory.  Code that
    has changed since is not executed without --changed-code.

    Exit code: 0 if all are fixed, 1 if one still fails, 2 bad document, program or usage, or a recording whose
    replay differs, 3 interrupted, changed code that a recording does not fit, or nothing delivered in it.
    """
    content = read_document(document)
    kind = format_of(content)
    if kind not in _REPLAYS:
        content.member("format").refuse(" or ".join(f'"{known}"' for known in _REPLAYS))
    result = _REPLAYS[kind](content, _Options(files, scenario, step, changed_code, outputs))
    outputs.write(result, recorded_in=document)
    raise SystemExit(result.exit_code)


class _Options(NamedTuple):
    """What the command line says besides the document."""

    files: tuple[str, ...]
    scenario: str | None
    step: bool
    changed_code: bool
    outputs: Outputs


def _replay_verdict(content: Item, options: _Options) -> Result:
    """Execute the counterexamples of a verdict; only here a solver is loaded."""
    from clew.report.replay.reading import verdict_of
    from clew.report.replay.replaying import replay_saved

    if options.step or options.changed_code or options.scenario is not None:
        raise UsageError(
            f"{content.file}: is a verdict, and --scenario, --step and --changed-code are for recordings",
            remedy="leave them out: a verdict is always replayed on the program as it is now",
        )
    replayed = replay_saved(content.file, verdict_of(content), options.files)
    options.outputs.show(replayed, lambda: f"{replayed}\n")
    return replayed


def _replay_recording(content: Item, options: _Options) -> Result:
    """Execute a recording again and show what came of it."""
    from clew.report.simulated.replayed import replay_conclusion, replay_heading
    from clew.simulation.recordings.nondeterminism import NondeterminismError
    from clew.simulation.recordings.reading import open_saved, read_recording
    from clew.simulation.recordings.replaying import replay_opened, replayed_to_the_end

    given = one_scenario(options.files, options.scenario)
    saved, outputs = read_recording(content), options.outputs

    def conclude(replayed: Replayed) -> Result:
        outputs.show(replayed, lambda: replay_conclusion(replayed, content.file))
        return replayed

    # What is refused (other code, a file elsewhere) is refused before anything of the user's is executed.
    found = open_saved(saved, *given, changed_code=options.changed_code)
    if (end := current_state().end) is not None:
        return conclude(replayed_to_the_end(found.recording, end))
    replayed = replay_opened(found, changed_code=options.changed_code)
    if not outputs.prints_json:
        say(replay_heading(replayed))
        if options.step:
            _show_steps(replayed)
    if replayed.difference is not None and replayed.cause is not None:
        raise NondeterminismError(f"{content.file}: {replayed.reason}", replayed.cause)
    return conclude(replayed)


def _replay_code_verdict(content: Item, options: _Options) -> Result:
    """Execute the counterexample of a check of code with its faults."""
    from clew.report.injected.executed import code_run_text
    from clew.report.injected.replayed import replay_code_verdict

    if options.step or options.changed_code:
        raise UsageError(
            f"{content.file}: is a verdict, and --step and --changed-code are for recordings",
            remedy="leave them out: a verdict is always replayed on the code as it is now",
        )
    replayed = replay_code_verdict(content, *one_scenario(options.files, options.scenario))
    options.outputs.show(replayed, lambda: code_run_text(replayed, brief=True))
    return replayed


def _show_steps(replayed: Replayed) -> None:
    """Show event after event: with a terminal, one at a time."""
    from clew.report.simulated.replayed import replay_event

    asks = is_interactive()
    for number, moment in enumerate(replayed.execution.moments, start=1):
        say(replay_event(number, moment))
        if asks:
            say("[Enter: the next event, q: to the end] ")
            if read_line().strip() in ("q", "Q"):
                return


#: How each kind of document is replayed, by what it calls itself.
_REPLAYS: dict[str, Callable[[Item, _Options], Result]] = {
    VERDICT_FORMAT: _replay_verdict,
    CODE_VERDICT_FORMAT: _replay_code_verdict,
    RECORDING_FORMAT: _replay_recording,
}
