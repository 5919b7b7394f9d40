"""Documents about scenarios that have no recording in them: their executions are made again, and compared.

A check or a run of code has the faults, and with them there is one execution.  Of a search at random there is the
seed of the run, and an exploration is the same every time.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple, NoReturn

from clew.errors import UsageError
from clew.exploration import Exploration, explore
from clew.files.json_document import Item, refuse_elsewhere
from clew.files.python_names import split_name
from clew.injection.running import CodeRun, run_scenario
from clew.report.export.choice import Choice
from clew.report.export.events import Trace
from clew.report.export.of_code import trace_of_run
from clew.report.export.recorded import execute_opened
from clew.report.export.results import trace_of_result
from clew.report.injected.reading import read_faults, read_until
from clew.report.simulated.violations import recording_fields, violation_fields
from clew.simulation.fuzzing.fuzz import record
from clew.simulation.loading import LoadedScenario, load_scenario
from clew.simulation.recordings.reading import LARGEST_SEED, OpenedRecording
from clew.simulation.recordings.recording import PROCESS_GOES_ON

_RECORD = "record the execution with -o FILE, and export that"

#: The version of the shape of all of these documents.
_VERSION = 1

#: More than any exploration is asked for.
_MOST = 1_000_000


def trace_of_code_document(document: Item, choice: Choice) -> Trace:
    """Execute a scenario under the faults of a check or a run of it."""
    _check_version(document)
    choice.refuse_number(document.file)
    if document.value.get("format") == "clew run of code":  # type: ignore[attr-defined]  # it is an object
        # It does not say where --until was given: what is compared afterwards shows that.
        found, until = document, None
    else:
        found = document.member("counterexample")
        if found.value is None:
            _refuse_answer(document)
        until = read_until(document)
    # Faults are understood with the scenario, whose nodes they name.
    loaded = _load(document, choice)
    faults = read_faults(found, loaded.scenario)
    seed = document.member("seed").number(0, LARGEST_SEED)
    run = run_scenario(loaded, faults, until=until, seed=seed, in_process=choice.in_process)
    _compare_run(document, found, run)
    return trace_of_run(run.execution, loaded.full_name)


def _compare_run(document: Item, found: Item, run: CodeRun) -> None:
    """Raise if a run is not the one that a document tells of."""
    # The schedule in words is part of it, with the names that messages have.
    said = found.member("violation").value
    same = said == recording_fields(run.recording, run.execution)
    if "deliveries" in found.mapping():
        same = same and found.member("deliveries").value == run.execution.deliveries
    if not same:
        _refuse_difference(document, "the scenario has changed, or --until was given")


def trace_of_fuzz(document: Item, choice: Choice) -> Trace:
    """Execute the run of a search at random that broke an invariant."""
    _check_version(document)
    choice.refuse_number(document.file)
    said = document.member("violation")
    if said.value is None:
        _refuse_answer(document)
    # To draw the same run again would end this process as well.
    if said.member("invariant").value == PROCESS_GOES_ON:
        raise UsageError(f"{document.file}: is of a run that ends its process", remedy=_RECORD)
    loaded = _load(document, choice)
    seed = document.member("seed").number(0, LARGEST_SEED)
    recording = record(loaded, seed, steps=_steps(document), in_process=choice.in_process)
    found = OpenedRecording(recording, loaded)
    execution = execute_opened(found, document.file, in_process=choice.in_process)
    if recording_fields(recording, execution) != said.value:
        _refuse_difference(document, "the scenario has changed")
    return trace_of_run(execution, loaded.full_name)


def _steps(document: Item) -> int | None:
    """Return what stood for the bound of the scenario; documents of earlier versions do not say."""
    if document.mapping().get("steps") is None:
        return None
    return document.member("steps").number(1, _MOST)


def trace_of_exploration(document: Item, choice: Choice) -> Trace:
    """Explore again, and return the execution that is chosen of those that break an invariant."""
    _check_version(document)
    listed = document.member("violations").items()
    if not listed:
        _refuse_answer(document)
    choice.pick(document.file, listed, "violation")
    loaded = _load(document, choice)
    # Documents of earlier versions do not say.
    seed = document.member("seed").number(0, LARGEST_SEED) if "seed" in document.mapping() else 0
    limits = _read_limits(document.member("bounds"))
    explore_again = partial(
        explore,
        loaded,
        timers=limits.timers,
        losses=limits.losses,
        duplicates=limits.duplicates,
        latencies=limits.latencies,
        clocks=limits.clocks,
        seed=seed,
        in_process=choice.in_process,
    )
    said = document.member("violations").value
    explored = explore_again()
    # Only where --all was given, which takes longer and may find a shorter way to the first violation, too.
    more = len(listed) > len(explored.found) or explored.events < document.member("events").number(0)
    if _violations(explored) != said and more:
        explored = explore_again(stop_at_first=False)
    if _violations(explored) != said:
        _refuse_difference(document, "the scenario has changed, or a time limit was given")
    return trace_of_result(explored, choice)


class _Limits(NamedTuple):
    """How far an exploration was asked to go; None: as it goes by itself."""

    losses: int
    duplicates: int
    timers: int | None = None
    latencies: int | None = None
    clocks: int | None = None


def _read_limits(bounds: Item) -> _Limits:
    losses, duplicates = (bounds.member(name).number(0, _MOST) for name in ("losses", "duplicates"))
    if "latencies" not in bounds.mapping():
        return _Limits(losses, duplicates, bounds.member("timers").number(0, _MOST))
    tried = [len(each.member("seconds").items()) for each in bounds.member("latencies").items()]
    clocks = bounds.member("clocks")
    speeds = max((len(clocks.member(node).items()) for node in clocks.mapping()), default=0)
    # What is fixed has one value, whatever was asked for.
    return _Limits(losses, duplicates, latencies=max(2, *tried), clocks=speeds if speeds > 1 else 0)


def _violations(explored: Exploration) -> Sequence[dict[str, Any]]:
    return [violation_fields(f.broken, f.identity, f.steps, f.labels) for f in explored.found]


# -- what they have in common ------------------------------------------------------------------------------------


def _check_version(document: Item) -> None:
    if document.member("version").number(1) != _VERSION:
        raise UsageError(
            f"{document.file}: this clew reads version {_VERSION} of this document",
            remedy="let this clew write it anew",
        )


def _load(document: Item, choice: Choice) -> LoadedScenario:
    """Load the scenario that is given, or the one of the document if that may be executed."""
    for given in choice.one_file():
        return load_scenario(given)
    item = document.member("scenario")
    where = item.text("a scenario: FILE.py:NAME")
    if not where or "\0" in where:
        raise UsageError(
            f"{document.file}: names no scenario, for it was made in Python",
            remedy="export from Python, or name the file of the scenario",
        )
    file = split_name(where)[0]
    # As for a recording: what a document names is executed only below the working directory.
    refuse_elsewhere(
        document.file, file, "run it where the scenario is; or, if you trust that file, say so: --scenario FILE"
    )
    if not os.path.exists(file):  # noqa: PTH110  # unlike Path.exists, it never raises
        raise UsageError(
            f"{document.file}: the scenario was in {file}, and there is no such file here",
            remedy="run it where that was, or name the file of the scenario",
        )
    return load_scenario(where)


def _refuse_answer(document: Item) -> NoReturn:
    answer = document.member("verdict").text()
    raise UsageError(
        f"{document.file}: the answer is '{answer}', and there is no execution to export",
        remedy="export what clew run or clew fuzz has recorded with -o FILE",
    )


def _refuse_difference(document: Item, why: str) -> NoReturn:
    raise UsageError(f"{document.file}: executed again, it comes to something else: {why}", remedy=_RECORD)
