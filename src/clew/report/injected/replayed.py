"""Execute the counterexample of a saved check of code again, with its faults and on the code as it is now."""

from __future__ import annotations

from clew.errors import UsageError
from clew.files.json_document import Item, refuse_elsewhere
from clew.files.python_names import split_name
from clew.injection.running import CodeRun, run_scenario
from clew.report.injected.formats import VERDICT_VERSION
from clew.report.injected.reading import read_faults, read_until
from clew.simulation.loading import load_scenario


def replay_code_verdict(document: Item, scenario: str | None = None) -> CodeRun:
    """Execute it; ``scenario``: by default the one that was checked, if it lies below the working directory."""
    document.member("version").number(VERDICT_VERSION, VERDICT_VERSION)
    name = document.member("scenario").text()
    found = document.member("counterexample")
    if found.value is None:
        raise UsageError(
            f"{document.file}: has no counterexample, so that there is nothing to execute again",
            remedy="replay the verdict of a check that found one",
        )
    if scenario is None:
        remedy = "name it: clew replay VERDICT.json FILE.py:SCENARIO"
        if not name:
            raise UsageError(f"{document.file}: does not say what was checked", remedy=remedy)
        refuse_elsewhere(document.file, split_name(name)[0], remedy)
    loaded = load_scenario(name if scenario is None else scenario)
    faults = read_faults(found, loaded.scenario)
    return run_scenario(loaded, faults, until=read_until(document), seed=document.member("seed").number(0))
