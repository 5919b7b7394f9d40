"""``clew check FILE.py:scenario``: the check of simulated code, a part of ``clew check``."""

from __future__ import annotations

from typing import NoReturn

from clew.cli.parts.checkpoints import conclude_checkpoint, open_checkpoint
from clew.cli.parts.clusters import WorkFlags
from clew.cli.parts.code_options import CodeFlags, SharedFlags
from clew.cli.parts.files import refuse_no_file, write_file
from clew.cli.parts.outputs import Outputs
from clew.cli.parts.progress import progress_display
from clew.cli.process.state import current_state
from clew.cli.process.streams import ascii_only, error_terminal, warn
from clew.injection.checking import check_scenario
from clew.report.injected.text import code_verdict_text
from clew.report.simulated.violations import next_steps
from clew.simulation.loading import LoadedScenario
from clew.simulation.recordings.reading import refuse_unreadable
from clew.simulation.recordings.recording import write_recording


def check_code(
    loaded: LoadedScenario, flags: SharedFlags, code: CodeFlags, work: WorkFlags, outputs: Outputs
) -> NoReturn:
    """Check a scenario, show the verdict, and end."""
    refuse_no_file("-o", code.output, "rec.json")
    checkpoint = open_checkpoint(flags.checkpoint)
    with work.open_team() as team, progress_display() as progress:
        verdict = check_scenario(
            loaded,
            losses=code.losses,
            crashes=flags.crashes,
            restarts=flags.restarts,
            partitions=flags.partitions,
            duplicates=flags.duplicates,
            faults=code.faults,
            faults_until=code.faults_until,
            outages=code.outages or None,
            until=code.until,
            strategy=flags.strategy or "lineage",
            max_runs=flags.max_runs,
            time_limit=flags.time_limit,
            seed=flags.seed or 0,
            progress=progress,
            ends_with=current_state().end,
            checkpoint=checkpoint,
            workers=work.workers,
            executor=team,
        )
    found = verdict.counterexample
    recording = found.recording if found else None
    if recording is not None and code.output is not None:
        refuse_unreadable(recording, loaded)
    then = []
    if recording is not None:
        # Each schedule that is tried would end a process: such a recording cannot be minimized.
        then = list(next_steps(code.output, verdict.scenario, minimize=not recording.ends_process))
    outputs.show(verdict, lambda: code_verdict_text(verdict, then=then, ascii_only=ascii_only()))
    if recording is not None and code.output is not None:
        write_file(code.output, write_recording(recording))
    outputs.write(verdict, recorded_in=code.output if recording is not None else None)
    conclude_checkpoint(checkpoint)
    if error_terminal() is not None:
        warn(f"  ({verdict.seconds:.2f} s)")
    raise SystemExit(verdict.exit_code)
