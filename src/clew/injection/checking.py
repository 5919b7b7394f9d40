"""``clew check`` of a scenario: is there a set of faults that breaks what its code promises?"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import NamedTuple

from clew.budgets.deadline import Deadline
from clew.budgets.whereabouts import ProcessEnd, tell_limit, tell_run
from clew.errors import BudgetExhaustedError, UsageError
from clew.faults import FaultsOf
from clew.files.checkpoints import Checkpoint, Question, as_checkpoint, conclude_own
from clew.injection.bounds import InjectionBounds
from clew.injection.deadly import confirm_deadly
from clew.injection.explaining import explain
from clew.injection.faults import CodeFault
from clew.injection.meaning import find_cautions, find_hollow
from clew.injection.repeating import Leftovers, refuse_changing_promises, refuse_other_course
from clew.injection.result import CodeCounterexample, CodeVerdict
from clew.injection.searching import drawing, exhausting
from clew.injection.searching.exhausting import Visits
from clew.injection.searching.remembered_traces import RememberedCode
from clew.injection.searching.saving import Saving
from clew.injection.searching.sharing import Sharing
from clew.injection.searching.shrinking import shrink_faults
from clew.injection.searching.system import CodeSystem, DeadlyRunError
from clew.search import lineage
from clew.search.verdict import Answer, FindingsOf, LedgerOf, Progress, conduct
from clew.simulation.execution.isolation import ProcessEndedError, needs_child, run_isolated
from clew.simulation.execution.trace import execute
from clew.simulation.execution.watchdog import step_limit
from clew.simulation.injectable import USUAL_CRASHES, USUAL_LOSSES, USUAL_OUTAGE, Faults
from clew.simulation.loading import LoadedScenario, as_loaded, scenario_question
from clew.simulation.recordings.recording import make_recording
from clew.simulation.scenario import Scenario
from clew.simulation.timing import to_ticks
from clew.simulation.user_code import name_of
from clew.workers.executors import Team, as_team
from clew.workers.processes import can_fork
from clew.workers.relay import relay_team

#: Why a search by lineage that has found nothing proves nothing.
NO_PROOF = (
    "nothing was found by cutting what helped, and for code that is no proof; "
    "--strategy exhaustive tries all faults within the bounds"
)

DEFAULT_SEED = 0
#: So many executions random injection makes when nothing else is said.
DEFAULT_RANDOM_RUNS = 1000


class CodeOptions(NamedTuple):
    """How to search; ``visits``: who runs sets of faults, if it is not this process alone."""

    strategy: str = "lineage"
    max_runs: int | None = None
    seed: int = DEFAULT_SEED
    visits: AbstractContextManager[Visits] | None = None


#: A search by a strategy: the system, what it writes down, how to search, and where that is saved.
CodeSearch = Callable[[CodeSystem, LedgerOf[CodeFault], CodeOptions, Saving | None], str | None]


class CodeStrategy(NamedTuple):
    """A way to search for faults of code; ``certifies``: nothing found means that nothing is there.

    ``shares``: several can do it at once.
    """

    name: str
    summary: str
    certifies: bool
    search: CodeSearch
    shares: bool = False


def _follow_lineage(
    system: CodeSystem, ledger: LedgerOf[CodeFault], options: CodeOptions, saving: Saving | None
) -> str | None:
    searched = system if saving is None else RememberedCode(system, saving)
    reason = lineage.search(searched, ledger, is_open=True, prefer=system.prefer)
    return NO_PROOF if reason == lineage.INCOMPLETE_LINEAGE else reason


def _exhaust(
    system: CodeSystem, ledger: LedgerOf[CodeFault], options: CodeOptions, saving: Saving | None
) -> str | None:
    return exhausting.search(system, ledger, saving=saving, visits=options.visits)


def _draw(
    system: CodeSystem, ledger: LedgerOf[CodeFault], options: CodeOptions, saving: Saving | None
) -> str | None:
    runs = DEFAULT_RANDOM_RUNS if options.max_runs is None else options.max_runs
    return drawing.search(system, ledger, seed=options.seed, max_runs=runs, saving=saving)


CODE_STRATEGIES: dict[str, CodeStrategy] = {
    strategy.name: strategy
    for strategy in (
        CodeStrategy("lineage", "cut what good runs rested on; finds, never certifies", False, _follow_lineage),
        CodeStrategy("exhaustive", "run every set of faults on this schedule, fewest first", True, _exhaust, True),
        CodeStrategy("random", "draw faults at random; never certifies", False, _draw),
    )
}


def check_scenario(
    source: Scenario | str | LoadedScenario,
    *,
    losses: int | None = None,
    crashes: int | None = None,
    restarts: int | None = None,
    partitions: int | None = None,
    duplicates: int | None = None,
    faults: int | None = None,
    faults_until: float | None = None,
    outages: tuple[float, ...] | None = None,
    until: float | None = None,
    strategy: str = "lineage",
    max_runs: int | None = None,
    time_limit: float | None = None,
    seed: int = DEFAULT_SEED,
    progress: Progress | None = None,
    in_process: bool = False,
    ends_with: ProcessEnd | None = None,
    checkpoint: str | Path | Checkpoint | None = None,
    workers: int | None = None,
    executor: Executor | Team | None = None,
) -> CodeVerdict:
    """Search for faults under which what a scenario promises does not hold.

    - ``losses``, ``crashes``, ``restarts``, ``partitions``, ``duplicates``: at most so many; ``faults`` in all.
      They begin until ``faults_until`` seconds have passed; restarts and partitions last one of the ``outages``.
      What is not given comes from the scenario's ``faults``; if nothing is said anywhere, 2 losses and 1 crash.
    - ``until``: when executions end, in seconds of virtual time (default: as the scenario says).
    - ``strategy``: "lineage" (default), "exhaustive" or "random".
    - ``max_runs``, ``time_limit``: budgets; when one ends, so does the search.
    - ``seed``: for latencies, clocks and what nodes draw, and for random faults.
    - ``in_process``: execute the scenario in this process and not in a child, for a debugger.
    - ``ends_with``: how the process is known to end; the execution that does it is not performed, but found.
    - ``checkpoint``: a file that the search goes on from if it is there, and is saved in now and then.
    - ``workers`` (exhaustive): how many processes, forks of this one.  ``executor``: who does it instead, for a
      scenario that is named by its file; see ``docs/scale.md``.
    """
    started = time.monotonic()
    _refuse_unknown(strategy)
    _check_budgets(max_runs, time_limit)
    loaded = as_loaded(source)
    loaded = replace(loaded, scenario=prepare_scenario(loaded.scenario, until))
    scenario = loaded.scenario
    given = Faults(
        losses=losses,
        crashes=crashes,
        restarts=restarts,
        partitions=partitions,
        duplicates=duplicates,
        total=faults,
        until=faults_until,
        outages=outages,
    )
    bounds = complete_bounds(scenario, given)
    options = CodeOptions(strategy, max_runs, seed)
    sharing = _find_sharing(loaded, strategy, workers, executor)
    asked = _Question(loaded, bounds, options, until, time_limit, started, checkpoint, sharing)
    # What a child did to a checkpoint that somebody else concludes would be lost.
    if needs_child(in_process or isinstance(checkpoint, Checkpoint)):
        return _answer_in_child(asked, progress)
    return asked.answer(progress, ends_with)


def _find_sharing(
    loaded: LoadedScenario, strategy: str, workers: int | None, executor: Executor | Team | None
) -> Sharing | None:
    """Return who is to search; None if it is this process alone."""
    if workers is not None and workers < 1:
        raise UsageError(f"--workers is {workers}", remedy="give a number from 1 on")
    if executor is None and workers in (None, 1):
        return None
    if not CODE_STRATEGIES[strategy].shares:
        raise UsageError(
            f"the {strategy} strategy does not support --workers or --cluster: what it executes next depends on "
            "what the executions before have shown",
            remedy="leave them out, or use --strategy exhaustive",
        )
    if executor is not None:
        return Sharing(loaded, team=as_team(executor, workers))
    # Without forks it takes longer, and comes to the same.
    return Sharing(loaded, workers or 1) if can_fork() else None


def _answer_in_child(asked: _Question, progress: Progress | None) -> CodeVerdict:
    """Search in a child; if an execution ends it, once more in another, which does not perform that execution."""
    try:
        with asked.relayed() as inner:
            return run_isolated(inner.answer, progress)
    except ProcessEndedError as ended:
        end = ended.end
    with asked.relayed() as inner:
        return run_isolated(lambda tell: inner.answer(tell, end), progress)


def _check_budgets(max_runs: int | None, time_limit: float | None) -> None:
    for flag, number in {"--max-runs": max_runs, "--time-limit": time_limit}.items():
        if number is not None and not number > 0:  # also refuses "not a number"
            raise UsageError(f"{flag} is {number:g}", remedy="give a number larger than 0")


@dataclass(frozen=True)
class _Question:
    """What is asked of a scenario."""

    loaded: LoadedScenario
    bounds: InjectionBounds
    options: CodeOptions
    until: float | None
    time_limit: float | None
    started: float
    checkpoint: str | Path | Checkpoint | None = None
    sharing: Sharing | None = None

    @contextmanager
    def relayed(self) -> Iterator[_Question]:
        """Give the same question for a child, which cannot use an executor of this process itself."""
        if self.sharing is None or self.sharing.team is None:
            yield self
            return
        with relay_team(self.sharing.team) as team:
            yield replace(self, sharing=replace(self.sharing, team=team))

    def answer(self, progress: Progress | None, ends_with: ProcessEnd | None = None) -> CodeVerdict:
        """Search, and make of what is found what people want to know of it."""
        tell_limit(self.time_limit)
        tell_run(self.options.seed)
        deadly = None if ends_with is None else ends_with.performed
        system = CodeSystem(self.loaded.scenario, self.bounds, seed=self.options.seed, deadly=deadly)
        ledger: LedgerOf[CodeFault] = LedgerOf(Deadline(self.time_limit), self.options.max_runs, progress)
        checkpoint = None if self.checkpoint is None else as_checkpoint(self.checkpoint)
        if checkpoint is not None:
            checkpoint.open(self.depends_on())
        try:
            verdict = self._search(system, ledger, checkpoint)
        except DeadlyRunError as run:
            runs = ledger.runs = ledger.runs + 1  # it was executed, in the process that it ended
            found = confirm_deadly(self.loaded, self.bounds.within, run.faults, ledger, self.options.seed)
            verdict = self._conclude(system, found, runs, ledger.runs - runs)
            if checkpoint is not None:
                checkpoint.answered = True
        conclude_own(self.checkpoint, checkpoint)
        return verdict

    def depends_on(self) -> Question:
        """Return what the answer depends on; neither the time nor how it is told does."""
        bounds = asdict(self.bounds)
        return {
            "command": "check",
            **scenario_question(self.loaded),
            "the nodes": list(bounds.pop("nodes")),
            "--outage": [f"{ticks}" for ticks in bounds.pop("outages")],
            **{f"the bound of {name}": number for name, number in bounds.items()},
            "--strategy": self.options.strategy,
            "--max-runs": self.options.max_runs,
            "--seed": self.options.seed,
        }

    def _search(
        self, system: CodeSystem, ledger: LedgerOf[CodeFault], checkpoint: Checkpoint | None
    ) -> CodeVerdict:
        loaded, scenario, bounds, seed = self.loaded, self.loaded.scenario, self.bounds, self.options.seed
        chosen = CODE_STRATEGIES[self.options.strategy]
        with step_limit(scenario.step_seconds):
            leftovers = Leftovers(scenario)
            peaceful = system.execute(FaultsOf())
            refuse_other_course(peaceful, system.execute(FaultsOf()))
            if peaceful.is_over:
                refuse_changing_promises(scenario, peaceful)
            saving = None if checkpoint is None else Saving(checkpoint, system, leftovers.describe_changes)
            options = self.options
            if self.sharing is not None:
                options = options._replace(visits=self.sharing.visits(system, ledger, leftovers, peaceful))
            findings = conduct(lambda book: chosen.search(system, book, options, saving), ledger)
            runs = ledger.runs
            found = _confirm(loaded, system, findings, ledger, seed)
            describe_changes = leftovers.describe_changes
            if saving is not None:
                saving.conclude(cut_short=found is None and ledger.cut_short)
                describe_changes = saving.describe_changes
            answer, reason = findings.answer, findings.reason
            if answer is Answer.CERTIFIED:
                refuse_other_course(peaceful, system.execute(FaultsOf()))
                reason = find_hollow(scenario, peaceful, bounds) or describe_changes()
                answer = Answer.CERTIFIED if reason is None else Answer.INCOMPLETE
            elif reason is NO_PROOF:
                reason = find_hollow(scenario, peaceful, bounds) or reason
        cautions = find_cautions(scenario, peaceful, bounds)
        return self._conclude(system, found, runs, ledger.runs - runs, answer, reason, cautions)

    def _conclude(
        self,
        system: CodeSystem,
        found: CodeCounterexample | None,
        runs: int,
        shrinking: int,
        answer: Answer = Answer.COUNTEREXAMPLE,
        reason: str | None = None,
        cautions: tuple[str, ...] = (),
    ) -> CodeVerdict:
        scenario = self.loaded.scenario
        return CodeVerdict(
            answer,
            self.loaded.full_name,
            self.bounds,
            self.options.strategy,
            self.options.seed,
            found,
            runs,
            shrinking,
            system.vacuous,
            time.monotonic() - self.started,
            reason,
            (),
            cautions,
            self.until,
            tuple(map(name_of, scenario.promises)),
            tuple(map(name_of, scenario.invariants)),
            scenario.lineage,
        )


def _refuse_unknown(strategy: str) -> None:
    if strategy not in CODE_STRATEGIES:
        raise UsageError(
            f"unknown strategy '{strategy}' for code", remedy="use one of " + ", ".join(CODE_STRATEGIES)
        )


def prepare_scenario(scenario: Scenario, until: float | None) -> Scenario:
    """Return a scenario that faults can be injected into: with virtual time, which ends then."""
    if scenario.time is None:
        raise UsageError(
            "a check needs virtual time: without it, a scenario has no schedule of its own but any order",
            remedy="give the scenario time=VirtualTime(...); for any order, use clew fuzz or clew explore",
        )
    return scenario if until is None else replace(scenario, time=replace(scenario.time, until=until))


def complete_bounds(scenario: Scenario, given: Faults) -> InjectionBounds:
    """Return the bounds of a check: what is given, then what the scenario says, then the usual."""
    assert scenario.time is not None
    said = given.or_else(scenario.faults or Faults())
    if said.is_open:
        said = replace(said, losses=USUAL_LOSSES, crashes=USUAL_CRASHES)
    end = to_ticks(scenario.time.until)
    return InjectionBounds(
        tuple(scenario.nodes),
        end,
        end if said.until is None else min(end, to_ticks(said.until)),
        said.losses or 0,
        said.crashes or 0,
        said.restarts or 0,
        said.partitions or 0,
        said.duplicates or 0,
        said.total,
        tuple(sorted({to_ticks(seconds) for seconds in said.outages or (USUAL_OUTAGE,)})),
    )


def _confirm(
    loaded: LoadedScenario,
    system: CodeSystem,
    findings: FindingsOf[CodeFault],
    ledger: LedgerOf[CodeFault],
    seed: int,
) -> CodeCounterexample | None:
    """Leave out the faults that are not needed, execute what is left once more, and record it."""
    if not findings.counterexamples:
        return None
    larger = findings.counterexamples[0].faults
    (violation,) = findings.counterexamples[0].violations
    # What is found is found, however little time is left: to make it small takes a handful of runs.
    books: LedgerOf[CodeFault] = LedgerOf(progress=ledger.progress, runs=ledger.runs)
    faults = shrink_faults(system.execute, system.spec.within, larger, violation.relation, books)
    ledger.runs = books.runs
    course = system.execute(faults, recording=True)
    # By the schedule alone, as a replay does it: that is the execution that people are shown.
    execution = execute(system.scenario, seed, course.steps)
    if course.broken is None or execution.broken != course.broken:
        raise UsageError(
            "the same faults twice do not lead to the same execution",
            remedy="let nodes take time and random numbers from their context, and nothing else from outside",
        )
    try:
        explanation = explain(system, faults)
    except BudgetExhaustedError:
        explanation = None
    recording = make_recording(loaded, seed, course.steps, execution)
    passing = execute(system.scenario, seed, system.execute(FaultsOf(), recording=True).steps)
    return CodeCounterexample(
        faults,
        course.broken,
        course.times_of(faults),
        len(larger),
        explanation,
        recording,
        execution,
        passing,
    )
