"""What is compared of one small system: exhaustion, lineage and the printed command with brute force."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

from clew.faults import FaultsOf
from clew.injection.checking import check_scenario, complete_bounds
from clew.injection.faults import (
    CodeFault,
    MessageCopy,
    MessageLoss,
    NetworkPartition,
    NodeCrash,
    NodeRestart,
)
from clew.injection.result import CodeVerdict
from clew.injection.searching import exhausting
from clew.injection.searching.possible import possible_faults
from clew.injection.searching.system import CodeSystem
from clew.report.injected.words import fault_words
from clew.search.verdict import Answer, LedgerOf, conduct
from clew.simulation import Scenario
from clew.simulation.injectable import Faults
from clew.simulation.scenario import NO_EXCEPTION
from command import ROOT
from injection.naive import Naive, NaiveFault, NaiveRun, TooManyError, try_all
from injection.systems import System, draw_system, scenario_of

#: Of so many counterexamples the command of one is executed in a process of its own.
_EVERY = 60
#: Of so many systems one is searched without prunings, too.
_PLAINLY = 5
#: Lineage is given up after so many executions; of small systems it makes thousands where nothing is to be found.
_MOST_RUNS = 60


class DisagreementError(AssertionError):
    """Two ways to an answer come to two answers."""


@dataclass
class Counts:
    """How much was compared; ``missed``: what lineage did not find, ``larger``: what it found with more faults."""

    systems: int = 0
    too_large: int = 0
    sets: int = 0
    certified: int = 0
    hollow: int = 0
    without_faults: int = 0
    broken: int = 0
    missed: int = 0
    larger: int = 0
    plainly: int = 0
    commands: int = 0

    def add(self, other: Counts) -> None:
        for name, number in asdict(other).items():
            setattr(self, name, getattr(self, name) + number)


def compare(number: int, folder: Path | None = None) -> Counts:
    """Compare all ways to the answer of the system with this number."""
    system = draw_system(number)
    try:
        naive = try_all(system)
    except TooManyError:
        return Counts(too_large=1)
    counts = Counts(systems=1, sets=naive.sets)
    scenario = scenario_of(system)
    _compare_base(system, scenario, naive)
    _compare_exhaustive(system, scenario, naive, counts)
    if number % _PLAINLY == 0:
        _compare_plain(scenario, naive, counts)
    verdict = check_scenario(scenario, in_process=True, max_runs=_MOST_RUNS)
    _compare_lineage(system, verdict, naive, counts)
    if folder is not None and verdict.counterexample is not None and number % _EVERY == 0:
        _compare_command(number, verdict, folder)
        counts.commands += 1
    return counts


def _agree(one: object, other: object, what: str) -> None:
    if one != other:
        raise DisagreementError(f"{what}: {one} is not {other}")


def _compare_base(system: System, scenario: Scenario, naive: Naive) -> None:
    bounds = complete_bounds(scenario, Faults())
    course = CodeSystem(scenario, bounds).execute(FaultsOf())
    _agree(_kind_of(course), naive.base.broken, "what is broken without faults")
    _agree(course.is_vacuous, naive.base.vacuous, "whether something is promised")
    if naive.base.broken is None and naive.fewest != 1:
        found = {translate(each.fault) for each in possible_faults(course, bounds)}
        most = {fault for fault in naive.singles if system.total}
        _agree(found if system.total else set(), most, "the single faults that are possible")


def _kind_of(result: object) -> str | None:
    broken = result.broken  # type: ignore[attr-defined]
    if broken is None:
        return None
    if broken.invariant == NO_EXCEPTION:
        return "raised"
    return "never" if not result.is_over else "promise"  # type: ignore[attr-defined]


def _compare_exhaustive(system: System, scenario: Scenario, naive: Naive, counts: Counts) -> None:
    verdict = check_scenario(scenario, strategy="exhaustive", in_process=True)
    found = verdict.counterexample
    if naive.fewest is None:
        counts.certified += verdict.answer is Answer.CERTIFIED
        if verdict.answer is not Answer.CERTIFIED:
            hollow = naive.base.vacuous or not naive.base.arrivals or not naive.singles
            _agree((verdict.answer, hollow), (Answer.INCOMPLETE, True), f"a certificate ({verdict.reason})")
            counts.hollow += 1
        return
    if found is None:
        raise DisagreementError(f"exhaustion finds nothing, and {naive.fewest} faults break it")
    _agree(len(found.faults), naive.fewest, "the fewest faults")
    counts.without_faults += naive.fewest == 0
    counts.broken += naive.fewest > 0
    _check_counterexample(system, verdict)


def _compare_plain(scenario: Scenario, naive: Naive, counts: Counts) -> None:
    bounds = complete_bounds(scenario, Faults())
    system = CodeSystem(scenario, bounds)
    book: LedgerOf[CodeFault] = LedgerOf(max_runs=1_000)
    findings = conduct(lambda ledger: exhausting.search(system, ledger, prune=False), book)
    if findings.answer is Answer.INCOMPLETE:
        return
    fewest = len(findings.counterexamples[0].faults) if findings.counterexamples else None
    _agree(fewest, naive.fewest, "the fewest faults without prunings")
    counts.plainly += 1


def _compare_lineage(system: System, verdict: CodeVerdict, naive: Naive, counts: Counts) -> None:
    if verdict.answer is Answer.CERTIFIED:
        raise DisagreementError("lineage certifies")
    if verdict.counterexample is None:
        counts.missed += naive.fewest is not None
        return
    if naive.fewest is None:
        raise DisagreementError(f"lineage finds {verdict.counterexample.faults}, and nothing breaks it")
    counts.larger += len(verdict.counterexample.faults) > naive.fewest
    _check_counterexample(system, verdict)


def _check_counterexample(system: System, verdict: CodeVerdict) -> None:
    """See that faults are within the bounds, break something, and that each of them is needed for that."""
    found = verdict.counterexample
    assert found is not None
    faults = [translate(fault) for fault in found.faults]
    run = NaiveRun(system, faults)
    if run.broken is None or not run.counts_as_faults():
        raise DisagreementError(f"{found.faults} break nothing by hand, or are not within the bounds")
    for fault in faults:
        if NaiveRun(system, [each for each in faults if each != fault]).broken == run.broken:
            raise DisagreementError(f"{found.faults} break it without {fault}, too")


def _compare_command(number: int, verdict: CodeVerdict, folder: Path) -> None:
    """Execute the faults as they are printed, and the recording, in other processes."""
    found = verdict.counterexample
    assert found is not None
    file = folder / f"system{number}.py"
    made = f"made = scenario_of(draw_system({number}))"
    file.write_text(f"from injection.systems import *\n{made}\n", encoding="utf-8")
    flags = shlex.split(" ".join(map(fault_words, found.faults)))
    recording = str(folder / f"{number}.json")
    run = _clew("run", f"{file}:made", *flags, "-o", recording, hash_seed=str(number))
    _agree(run.returncode, 1, f"the exit code of clew run {flags}: {run.stdout}{run.stderr}")
    _agree(
        str(found.broken) in run.stdout or found.broken.what in run.stdout,
        True,
        f"what clew run says: {run.stdout}",
    )
    replay = _clew("replay", recording, f"{file}:made", hash_seed=str(number + 1))
    _agree(replay.returncode, 1, f"the exit code of clew replay: {replay.stdout}{replay.stderr}")


def _clew(*arguments: str, hash_seed: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join(map(str, (ROOT / "src", ROOT / "tests")))
    surroundings = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": path}
    command = [sys.executable, "-m", "clew", *arguments]
    return subprocess.run(command, env=surroundings, capture_output=True, text=True, check=False)


def translate(fault: CodeFault) -> NaiveFault:
    """Return a fault as ``naive`` has it."""
    match fault:
        case MessageLoss(message):
            return ("loss", tuple(message))
        case MessageCopy(message):
            return ("duplicate", tuple(message))
        case NodeCrash(node, after):
            return ("crash", node, after)
        case NodeRestart(node, after, down):
            return ("restart", node, after, down)
        case NetworkPartition(group, first, until):
            return ("partition", group, first, until)
