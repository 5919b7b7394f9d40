"""What a result says, and whether that is what a test expects.

"Nothing found" is not one answer but three: proved; searched, as far as was asked; and not searched at all, or not
to its end.  The last never passes, whatever is expected.
"""

from __future__ import annotations

import enum
from typing import NamedTuple, assert_never

import clew
from clew.checker.result import Verdict
from clew.checker.strategies import DEFAULT_RANDOM_RUNS as RANDOM_RUNS_OF_MODELS
from clew.exploration.result import Exploration, ExplorationAnswer
from clew.injection.checking import DEFAULT_RANDOM_RUNS, NO_PROOF
from clew.injection.result import CodeVerdict
from clew.injection.running import RunAnswer
from clew.pytest_plugin.searching import CERTIFIED, COUNTEREXAMPLE, NO_COUNTEREXAMPLE, Plan
from clew.report.injected.words import bounds_text, effort_text
from clew.report.text.plain import pluralize
from clew.report.verdict.text import spec_text
from clew.results import Result
from clew.search.lineage import INCOMPLETE_LINEAGE
from clew.search.verdict import Answer
from clew.simulation.fuzzing.fuzz import FuzzAnswer, Fuzzed

#: What a search says that Ctrl-C has ended.
_INTERRUPTED = "interrupted"


class Standing(enum.Enum):
    """What a result says; the values are what reports call it."""

    FOUND = COUNTEREXAMPLE
    CERTIFIED = CERTIFIED
    #: The search came to the end that was asked for, and something was at stake in it.
    SEARCHED = NO_COUNTEREXAMPLE
    INCONCLUSIVE = "incomplete"


class Judgement(NamedTuple):
    """What a result says, ``why`` it says no more, and what was ``covered``."""

    standing: Standing
    why: str
    covered: str

    def meets(self, expected: str) -> bool:
        """Tell whether this is what a test expects; a certificate is more than nothing found."""
        if expected == NO_COUNTEREXAMPLE:
            return self.standing in (Standing.SEARCHED, Standing.CERTIFIED)
        return self.standing.value == expected


def judge_result(plan: Plan, result: Result) -> Judgement:
    """Say what a result says."""
    if result.reason is not None and result.reason.startswith(_INTERRUPTED):
        # A search takes Ctrl-C for its end, and has an answer; but whoever presses it means the whole run.
        raise KeyboardInterrupt
    match result:
        case Verdict():
            return _judge_verdict(plan, result)
        case CodeVerdict():
            return _judge_code_verdict(plan, result)
        case Fuzzed():
            return _judge_fuzzed(plan, result)
        case Exploration():
            return _judge_exploration(result)
    raise AssertionError(f"{plan.call} returned a {type(result).__name__}")


def _standing(answer: Answer) -> Standing:
    match answer:
        case Answer.COUNTEREXAMPLE:
            return Standing.FOUND
        case Answer.CERTIFIED:
            return Standing.CERTIFIED
        case Answer.INCOMPLETE:
            return Standing.INCONCLUSIVE
        case _:
            assert_never(answer)


def _ran_out(plan: Plan, runs: int, usual: int) -> bool:
    """Tell whether a search made as many executions as it was asked to: a budget that is counted, not timed."""
    most = plan.options.get("max_runs")
    if most is None:
        most = usual if plan.options.get("strategy") == "random" else None
    return most is not None and runs >= most


def _judge_verdict(plan: Plan, verdict: Verdict) -> Judgement:
    covered = (
        f"{verdict.strategy} search, {pluralize(verdict.runs, 'execution')}; within {spec_text(verdict.spec)}"
    )
    standing, why = _standing(verdict.answer), verdict.reason or ""
    # What breaks at the end of a sweep, and where nothing is promised, is undecided, however long the search was.
    if standing is Standing.INCONCLUSIVE and not verdict.candidates and not verdict.vacuous:
        ended = _ran_out(plan, verdict.runs, RANDOM_RUNS_OF_MODELS) or verdict.reason == INCOMPLETE_LINEAGE
        # What is ruled out and no certificate all the same promises nothing.
        if ended and not verdict.ruled_out:
            standing = Standing.SEARCHED
    return Judgement(standing, why, covered)


def _judge_code_verdict(plan: Plan, verdict: CodeVerdict) -> Judgement:
    covered = f"{effort_text(verdict)}; within {bounds_text(verdict.bounds)}; seed {verdict.seed}"
    covered += "".join(f"; beware: {caution}" for caution in verdict.cautions)
    standing, why = _standing(verdict.answer), verdict.reason or ""
    # By the reason and by counts, not by the clock: what passes on one machine must pass on all.
    if standing is Standing.INCONCLUSIVE and (
        verdict.reason == NO_PROOF or _ran_out(plan, verdict.runs, DEFAULT_RANDOM_RUNS)
    ):
        hollow = _find_hollow(plan, verdict.seed)
        standing, why = (Standing.SEARCHED, why) if hollow is None else (Standing.INCONCLUSIVE, hollow)
    return Judgement(standing, why, covered)


def _judge_fuzzed(plan: Plan, fuzzed: Fuzzed) -> Judgement:
    first = plan.options.get("seed", 0)
    coverage = fuzzed.coverage
    covered = f"{coverage}; from seed {first}"
    match fuzzed.answer:
        case FuzzAnswer.VIOLATION:
            return Judgement(Standing.FOUND, "", covered)
        case FuzzAnswer.INCOMPLETE:
            return Judgement(Standing.INCONCLUSIVE, fuzzed.reason or "", covered)
        case FuzzAnswer.NO_VIOLATION:
            pass
        case _:
            assert_never(fuzzed.answer)
    scenario = plan.target.scenario.scenario
    if scenario.promises and not scenario.invariants:
        # Promises are for the end of an execution: where none came to it, nothing was asked.
        if sum(runs for _, runs in coverage.unfinished) >= coverage.runs:
            return Judgement(Standing.INCONCLUSIVE, "no run came to its end, where promises are checked", covered)
        hollow = _find_hollow(plan, first) if scenario.time is not None else None
        if hollow is not None:
            return Judgement(Standing.INCONCLUSIVE, hollow, covered)
    # Clew warns of that; a test has nobody who reads warnings.
    if coverage.is_thin:
        idle = f"in {coverage.idle} of {coverage.runs} runs nothing was delivered"
        return Judgement(Standing.INCONCLUSIVE, idle, covered)
    return Judgement(Standing.SEARCHED, "random executions prove nothing", covered)


def _judge_exploration(explored: Exploration) -> Judgement:
    covered = f"{pluralize(explored.schedules, 'schedule')}, {pluralize(explored.states, 'global state')}"
    covered += f"; {explored.bounds}"
    match explored.answer:
        case ExplorationAnswer.VIOLATION:
            standing = Standing.FOUND
        case ExplorationAnswer.ALL_EXPLORED:
            standing = Standing.CERTIFIED
        case ExplorationAnswer.INCOMPLETE:
            standing = Standing.INCONCLUSIVE
        case _:
            assert_never(explored.answer)
    return Judgement(standing, explored.reason or "", covered)


def _find_hollow(plan: Plan, seed: int) -> str | None:
    """Return why finding nothing would say nothing: what happens without faults has to promise something."""
    # One execution more, for a verdict does not tell which of its vacuous runs was the one without faults.
    run = clew.run_scenario(plan.target.scenario, seed=seed)
    match run.answer:
        case RunAnswer.NOTHING_PROMISED:
            return f"without faults {run.reason}"
        case RunAnswer.UNFINISHED:
            return f"without faults {run.reason}, and promises are checked only there"
        case RunAnswer.HOLDS | RunAnswer.VIOLATED:
            pass
        case _:
            assert_never(run.answer)
    return None if run.execution.deliveries else "nothing was tried: without faults nothing is delivered"
