"""Execute the counterexample of a saved check of code again, with its faults and on the code as it is now."""

from __future__ import annotations

from clew.errors import UsageError
from clew.files.json_document import Item, refuse_elsewhere
from clew.files.python_names import split_name
from clew.injection.faults import CODE_KINDS, CodeFault
from clew.injection.running import CodeRun, run_scenario
from clew.injection.written import read_code_fault
from clew.report.injected.formats import VERDICT_VERSION
from clew.simulation.loading import load_scenario
from clew.simulation.scenario import Scenario

#: The longest execution, in seconds: nobody writes a longer one.
_MOST_SECONDS = 1e9


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
    faults = [_read_fault(item, loaded.scenario) for item in found.member("faults").items()]
    until = _read_seconds(document.member("bounds").member("until"))
    return run_scenario(loaded, faults, until=until, seed=document.member("seed").number(0))


def _read_fault(item: Item, scenario: Scenario) -> CodeFault:
    name = item.member("kind").one_of(kind.name for kind in CODE_KINDS)
    (kind,) = (each for each in CODE_KINDS if each.name == name)
    written = item.member("flag")
    flag, _, value = written.text().partition(" ")
    if flag != kind.kind.flag:
        written.refuse(f'a text that begins with "{kind.kind.flag} "')
    try:
        return read_code_fault(kind, value, scenario)
    except UsageError as error:
        raise written.problem(error.message) from None


def _read_seconds(item: Item) -> float:
    value = item.value
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= _MOST_SECONDS:
        item.refuse("a number of seconds, larger than 0")
    return float(value)
