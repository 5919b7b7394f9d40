"""Compare what checks of asyncio programs answer with what every set of faults comes to, one after the other."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from aio.exactness.injector import Limits, SimpleFault, SimpleRun, TooManyError, try_all
from aio.exactness.programs import Found, Program, draw_program, scenario_function, settings_of
from clew.aio.scenarios.adapting import make_scenario
from clew.injection.checking import check_scenario
from clew.injection.faults import CodeFault, MessageCopy, MessageLoss, NetworkPartition, NodeCrash, NodeRestart
from clew.injection.result import CodeVerdict
from clew.search.verdict import Answer
from clew.simulation.execution.watchdog import step_limit
from clew.simulation.scenario import Scenario

#: Lineage is given up after so many executions.
_MOST_RUNS = 40


class DisagreementError(AssertionError):
    """Two ways to an answer come to two answers."""


@dataclass
class Counts:
    """How much was compared; ``missed``: what lineage did not find, ``larger``: what it found with more faults."""

    programs: int = 0
    too_large: int = 0
    sets: int = 0
    certified: int = 0
    hollow: int = 0
    broken: int = 0
    missed: int = 0
    larger: int = 0

    def add(self, other: Counts) -> None:
        for name, number in asdict(other).items():
            setattr(self, name, getattr(self, name) + number)


def scenario_of(program: Program) -> Scenario | None:
    """Return the scenario that promises what comes without faults; None if that never comes."""
    found: list[Found] = []
    settings = settings_of(program)
    first = make_scenario(scenario_function(program, tell=found.append), settings)
    with step_limit(10):
        SimpleRun(first, limits_of(program))
    return make_scenario(scenario_function(program, found[-1]), settings) if found else None


def limits_of(program: Program) -> Limits:
    faults, until = program.faults, program.settings["until"]
    within = until if faults["until"] is None else faults["until"]
    most = {kind: faults[kind] for kind in ("losses", "crashes", "restarts", "partitions", "duplicates")}
    outages = tuple(round(seconds * 1_000_000) for seconds in sorted(faults["outages"]))
    return Limits(most, faults["total"], round(within * 1_000_000), outages, program.settings["unit"])


def compare(number: int, *, most_sets: int = 400) -> Counts:
    """Compare all ways to the answer of the program with this number."""
    return compare_program(draw_program(number), most_sets=most_sets)


def compare_program(program: Program, *, most_sets: int = 400) -> Counts:
    scenario, limits = scenario_of(program), limits_of(program)
    if scenario is None:
        return Counts(too_large=1)
    try:
        with step_limit(10):
            simple = try_all(scenario, limits, most_sets=most_sets)
    except TooManyError:
        return Counts(too_large=1)
    counts = Counts(programs=1, sets=simple.sets)
    verdict = check_scenario(scenario, strategy="exhaustive", in_process=True)
    if simple.fewest is None:
        if verdict.answer is Answer.CERTIFIED:
            counts.certified += 1
        elif verdict.answer is Answer.INCOMPLETE and (simple.base.vacuous or not simple.singles):
            counts.hollow += 1
        else:
            raise DisagreementError(
                f"{verdict.answer} ({verdict.reason}), and nothing breaks it: {_show(verdict)}"
            )
    elif verdict.counterexample is None:
        raise DisagreementError(f"{verdict.answer} ({verdict.reason}), and {simple.breaking} break it")
    elif len(verdict.counterexample.faults) != simple.fewest:
        raise DisagreementError(f"{_show(verdict)} are not as few as {simple.breaking}")
    else:
        counts.broken += 1
        _check_counterexample(scenario, limits, verdict)
    by_lineage = check_scenario(scenario, in_process=True, max_runs=_MOST_RUNS)
    if by_lineage.answer is Answer.CERTIFIED:
        raise DisagreementError("lineage certifies")
    if by_lineage.counterexample is None:
        counts.missed += simple.fewest is not None
    elif simple.fewest is None:
        raise DisagreementError(f"lineage finds {_show(by_lineage)}, and nothing breaks it")
    else:
        counts.larger += len(by_lineage.counterexample.faults) > simple.fewest
        _check_counterexample(scenario, limits, by_lineage)
    return counts


def _show(verdict: CodeVerdict) -> str:
    return "" if verdict.counterexample is None else str(verdict.counterexample.faults)


def _check_counterexample(scenario: Scenario, limits: Limits, verdict: CodeVerdict) -> None:
    """See that faults are within the bounds, break something, and that each of them is needed for that."""
    found = verdict.counterexample
    assert found is not None
    faults = [translate(fault) for fault in found.faults]
    with step_limit(10):
        run = SimpleRun(scenario, limits, faults)
        if run.broken is None or not run.counts_as_faults():
            raise DisagreementError(f"{found.faults} break nothing by hand, or are not within the bounds")
        for fault in faults:
            less = SimpleRun(scenario, limits, [each for each in faults if each != fault])
            if less.broken is not None and less.broken.invariant == run.broken.invariant:
                raise DisagreementError(f"{found.faults} break it without {fault}, too")


def translate(fault: CodeFault) -> SimpleFault:
    """Return a fault as ``injector`` has it."""
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
