"""``clew run FILE.py:scenario``: one execution of simulated code under chosen faults, a part of ``clew run``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NoReturn

from clew.cli.parts.files import refuse_no_file, write_file
from clew.cli.parts.outputs import Outputs
from clew.cli.process.state import current_state
from clew.cli.process.streams import ascii_only
from clew.errors import UsageError
from clew.faults import KINDS
from clew.injection.faults import CODE_KINDS
from clew.injection.running import run_scenario
from clew.injection.written import read_code_fault
from clew.report.injected.executed import code_run_text
from clew.report.simulated.violations import next_steps
from clew.simulation.loading import LoadedScenario
from clew.simulation.recordings.reading import refuse_unreadable
from clew.simulation.recordings.recording import write_recording


def run_code(
    loaded: LoadedScenario,
    written: Mapping[str, tuple[str, ...]],
    *,
    seed: int,
    until: float | None,
    output: str | None,
    diagram: bool,
    outputs: Outputs,
) -> NoReturn:
    """Execute a scenario under faults as the command line has them, show what happens, and end."""
    known = {kind.name: kind for kind in CODE_KINDS}
    for kind in KINDS:
        if written[kind.name] and kind.name not in known:
            raise UsageError(
                f"{kind.kind.flag} is for models, and this is a scenario of Python code",
                remedy=f"there are {', '.join(each.kind.flag for each in CODE_KINDS)}",
            )
    refuse_no_file("-o", output, "rec.json")
    faults = [
        read_code_fault(kind, text, loaded.scenario) for name, kind in known.items() for text in written[name]
    ]
    run = run_scenario(loaded, faults, until=until, seed=seed, ends_with=current_state().end)
    if output is not None:
        refuse_unreadable(run.recording, loaded)
    # Each schedule that is tried would end a process: such a recording cannot be minimized.
    minimizes = run.broken is not None and not run.recording.ends_process
    then = list(next_steps(output, run.scenario, minimize=minimizes)) if output is not None else []
    outputs.show(run, lambda: code_run_text(run, then=then, ascii_only=ascii_only(), brief=diagram))
    if output is not None:
        write_file(output, write_recording(run.recording))
    outputs.write(run, recorded_in=output)
    raise SystemExit(run.exit_code)
