"""Clew from Python: ``check`` searches, ``run`` executes once; both give typed results."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from clew.bounds import Bounds, without_faults
from clew.budgets.deadline import Deadline
from clew.budgets.effort import Effort
from clew.budgets.whereabouts import time_left
from clew.checker.bounds import complete
from clew.checker.named_nodes import WrittenFault, notice_idle_nodes, resolve_fault
from clew.checker.strategies import Examined, Options, Strategy, examine, get_strategy
from clew.checker.survey.judging import Demands, judge
from clew.dedalus.loader import Loaded
from clew.engine.execution import Execution
from clew.engine.ground import GroundProgram, SolverFigures
from clew.errors import BudgetExhaustedError, Notice, UsageError
from clew.faults import FailureSpec, Fault, FaultSet, NodeName
from clew.frontends.registry import Source, open_program
from clew.lineage.negation import Negation
from clew.node_lists import WrittenNode
from clew.program.checks import CheckedProgram, check_program
from clew.program.ir import Program
from clew.program.notices import notice_impossible_constants, notice_unread_relations
from clew.program.outcomes import outcomes_of, stated_outcomes
from clew.results import HOLDS, INCOMPLETE, VIOLATED, Result
from clew.search.protocol import Run
from clew.search.verdict import Answer, Counterexample, Ledger, Progress, Setting

if TYPE_CHECKING:
    from clew.checker.remembered.sweep import RememberedSweep
    from clew.checker.survey.survey import Survey
    from clew.checker.sweeping import ProgramSweep
    from clew.files.checkpoints import Checkpoint

#: What a sweep may spend when nothing else is said: for a hard program about ten seconds on a usual machine.
DEFAULT_SWEEP_EFFORT = 1_500_000

#: A hundred thousand times as much is years.
MOST_SWEEP_EFFORT = 100_000

#: Seconds to look up what the answer of a sweep rests on, if it had a limit of time.
_SURVEY_SECONDS = 10.0
#: Seconds that are kept for telling the answer, if the process is going to be ended.
_TELLING_SECONDS = 3.0


_EXIT_CODES = {Answer.CERTIFIED: HOLDS, Answer.COUNTEREXAMPLE: VIOLATED, Answer.INCOMPLETE: INCOMPLETE}


@dataclass(frozen=True)
class Verdict(Result):
    """The answer to ``check``.

    ``answer``: counterexample, certified (none exists within ``spec``) or incomplete (``reason`` says why; of a
    sweep that certified, why it went no further).  ``counterexamples``: confirmed ones, fewest faults first.
    ``runs``: concrete executions performed.  ``combinations``: the bound on the number of failure combinations
    within ``spec``.  ``vacuous``: the failure-free run has no row in ``pre``, so the answer may mean little.
    ``swept``: the settings tried by a sweep, empty without one; ``certified``: the largest one certified.
    ``candidates``: what fails at the end of ``spec``, of an incomplete sweep that does not know whether it would
    recover.  ``executions``: what was executed, in order (of a long search the beginning, of a sweep those of the
    last setting).  ``solver``: what an exact search cost.  ``survey``: which promises apply and which rules fire;
    None with a counterexample, unless it was asked for.  ``ruled_out``: no counterexample exists within ``spec``,
    also where that says too little to certify it.  ``cautions``: what makes the absence of one mean little,
    ``remarks``: what is worth knowing.  ``program``: what was checked, with its abbreviations
    written out.  ``files``: those of the program as they were given, none for one made in Python.
    """

    answer: Answer
    spec: FailureSpec
    strategy: str
    counterexamples: tuple[Counterexample, ...]
    runs: int
    seconds: float
    reason: str | None
    vacuous: bool
    notices: tuple[Notice, ...]
    swept: tuple[Setting, ...] = ()
    certified: Setting | None = None
    candidates: tuple[Counterexample, ...] = ()
    executions: tuple[Run, ...] = field(default=(), repr=False)
    solver: SolverFigures | None = None
    survey: Survey | None = field(default=None, repr=False)
    ruled_out: bool = False
    cautions: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    program: Program | None = field(default=None, repr=False, compare=False)
    files: tuple[str, ...] = field(default=(), compare=False)

    @property
    def exit_code(self) -> int:
        return _EXIT_CODES[self.answer]

    @property
    def found(self) -> tuple[Counterexample, ...]:
        """Return the counterexamples; without any, the candidates."""
        return self.counterexamples or self.candidates

    @property
    def combinations(self) -> int:
        return self.spec.combinations()


def check(
    source: Source,
    *,
    nodes: Sequence[WrittenNode] | None = None,
    eot: int | None = None,
    eff: int | None = None,
    crashes: int | None = None,
    delays: int | None = None,
    strategy: str = "exact",
    negation: str | None = None,
    symmetry: bool = False,
    find_all: bool = False,
    effort: float | None = None,
    sweep_seconds: float | None = None,
    max_runs: int | None = None,
    time_limit: float | None = None,
    seed: int | None = None,
    allow_hollow: bool = False,
    strict: bool = False,
    coverage: bool = False,
    progress: Progress | None = None,
    checkpoint: str | Path | Checkpoint | None = None,
) -> Verdict:
    """Search for faults under which what must hold does not.

    - ``source``: a file, several files that form one program, a ``Program`` (see ``parse_program``); or a Bloom
      program: a class with a ``setting``, or ``"FILE.py:Class"``.
    - ``nodes``, ``eot``, ``eff``, ``crashes``, ``delays``: the bounds, see ``FailureSpec``; the nodes 1 and "1"
      are two.  What is not given comes from the program's ``//!`` line (or ``setting``); without an EOT there, EOT
      and EFF are swept.
    - ``strategy``: "exact" (default), "lineage", "random" or "exhaustive"; see ``docs/strategies.md``.
    - ``negation`` (lineage): "exact" (default), "conservative" or "ignore".
    - ``symmetry`` (lineage, exhaustive): try one of several fault sets that differ by a renaming of nodes.
    - ``find_all`` (not random): list every subset-minimal counterexample instead of one.
    - ``effort``: sweep with so many times the usual effort, which does not depend on the machine; 1 when a sweep
      is needed and nothing is said.  ``sweep_seconds``: sweep by the clock instead.
    - ``max_runs`` (not exact), ``time_limit`` in seconds: budgets; when one ends, so does the search.
    - ``seed`` (random): the same seed draws the same faults; 0 by default.
    - ``allow_hollow``: certify also where nothing is promised; without it, that is incomplete.
    - ``strict``: whatever makes a certificate mean little makes it incomplete.
    - ``coverage``: count how often each rule fires in the failure-free run.
    - ``progress``: called with the number of executions and the stage, now and then.
    - ``checkpoint`` (sweeps, and all but exact): a file that the search goes on from if it is there, and is saved
      in now and then.

    Ctrl-C ends the search, too: the verdict then says ``incomplete``.  Raises ``ProgramError`` or ``UsageError``
    for what cannot be checked.
    """
    # What is wrong with the flags is said before any file is read.
    started = time.monotonic()
    options = Options(_negation(negation), symmetry, find_all, effort, sweep_seconds, max_runs, seed)
    demands = Demands(allow_hollow, strict, coverage)
    chosen = get_strategy(strategy, options)
    _check_budgets(effort, sweep_seconds, max_runs, time_limit)
    _check_sweep(eot, effort, sweep_seconds)
    loaded = load_source(source)
    prepared = _prepare(loaded)
    asked = Bounds(nodes, eot, eff, crashes, delays)
    bounds = asked.or_else(loaded.defaults)
    sweeps = bounds.eot is None or effort is not None or sweep_seconds is not None
    # By effort, unless the clock is asked for: the same question then has the same answer on every machine.
    counted = Effort(round(DEFAULT_SWEEP_EFFORT * (effort or 1))) if sweeps and sweep_seconds is None else None
    deadline = Deadline(_earliest(sweep_seconds, time_limit), counted)
    try:
        spec = complete(prepared.program, bounds, deadline)
    except BudgetExhaustedError as limit:
        reason = f"{limit} before the nodes were known; name them with --nodes"
        nowhere = Examined(Ledger(deadline).conclude(reason), False, ())
        # Only nodes that nobody names have to be searched for.
        spec = FailureSpec((), eot or 1, eff or 0, crashes or 0, delays or 0)
        unknown = _verdict(prepared, spec, strategy, nowhere, demands, deadline, started)
        return replace(unknown, files=_files_of(source))
    prepared = _with_idle_nodes(prepared, spec.nodes)
    if sweeps and "sweep" not in chosen.accepts:
        raise UsageError(
            f"the {strategy} strategy cannot sweep, and the program states no EOT", remedy="give --eot"
        )
    saving = None
    if checkpoint is not None:
        from clew.files.checkpoints import as_checkpoint, conclude_own  # a cold start should not pay for it

        saving = as_checkpoint(checkpoint)
        options = _with_checkpoint(options, saving, source, prepared.program, bounds, spec, chosen, sweeps=sweeps)
    ledger = Ledger(deadline, max_runs, progress)
    if sweeps:
        # Raises where nothing must hold: at every setting a sweep would find that out again.
        outcomes_of(prepared.program)
        verdict = _sweep(prepared, spec, eff, options, demands, chosen, ledger, started)
    else:
        examined = examine(chosen, prepared.program, spec, options, ledger)
        verdict = _verdict(prepared, spec, strategy, examined, demands, deadline, started)
    if checkpoint is not None and saving is not None:
        _save(saving, verdict, ledger)
        conclude_own(checkpoint, saving)
    return replace(verdict, files=_files_of(source))


def _with_checkpoint(
    options: Options,
    checkpoint: Checkpoint,
    source: Source,
    program: Program,
    bounds: Bounds,
    spec: FailureSpec,
    strategy: Strategy,
    *,
    sweeps: bool,
) -> Options:
    from clew.checker.question import check_question, refuse_what_cannot_be_saved  # only when asked for

    refuse_what_cannot_be_saved(strategy, sweeps=sweeps)
    checkpoint.open(check_question(source, program, bounds, spec, strategy, options, sweeps=sweeps))
    return options._replace(checkpoint=checkpoint)


def _save(checkpoint: Checkpoint, verdict: Verdict, ledger: Ledger) -> None:
    """Tell a checkpoint whether the question is answered; what was cut short is saved as far as it got."""
    certain = verdict.reason is None and verdict.answer is not Answer.INCOMPLETE
    # A search that came to its end without an answer, as a random one does, would come to the same end again.
    checkpoint.answered = certain or not ledger.cut_short
    if not checkpoint.answered:
        checkpoint.save()


def run(
    source: Source,
    faults: Iterable[Fault | WrittenFault] = (),
    *,
    nodes: Sequence[WrittenNode] | None = None,
    eot: int | None = None,
) -> Execution:
    """Execute once with these faults: the result has the rows by time, the messages, and what is violated."""
    loaded = load_source(source)
    prepared = _prepare(loaded)
    deadline = Deadline(None)
    try:
        # An interrupt in the middle of a call into clingo is noted and taken up afterwards.
        with deadline.listening():
            bounds = without_faults(nodes, eot).or_else(loaded.defaults)
            spec = complete(prepared.program, bounds, deadline)
            if bounds.eot is None:
                raise UsageError("no EOT given", remedy="give --eot, or state it: //! eot=6")
            execution = _execute(_with_idle_nodes(prepared, spec.nodes), spec, faults, deadline)
        deadline.check_interrupt()
    except BudgetExhaustedError:  # that deadline never comes but by Ctrl-C
        raise KeyboardInterrupt from None
    return replace(execution, files=_files_of(source))


def _execute(
    prepared: CheckedProgram, spec: FailureSpec, faults: Iterable[Fault | WrittenFault], deadline: Deadline
) -> Execution:
    chosen = FaultSet.of(resolve_fault(f, spec.nodes) for f in faults)
    ground = GroundProgram(
        prepared.program,
        _admit(chosen, spec),
        expect_outcomes=bool(stated_outcomes(prepared.program)),
        deadline=deadline,
    )
    return replace(ground.run(chosen), notices=(*prepared.notices, *ground.notices))


def _files_of(source: Source) -> tuple[str, ...]:
    """Return the files of a program as they were given; a program or a class made in Python has none."""
    if isinstance(source, str | Path):
        return (str(source),)
    return tuple(map(str, source)) if isinstance(source, Sequence) else ()


def load_source(source: Source) -> Loaded:
    """Return the program that is meant, and what it says about its own checking."""
    return open_program(source, to_check=True).load()


def _prepare(loaded: Loaded) -> CheckedProgram:
    prepared = check_program(loaded.program)
    odd = (*notice_unread_relations(prepared.program), *notice_impossible_constants(prepared.program))
    return replace(prepared, notices=(*loaded.notices, *prepared.notices, *odd))


def _with_idle_nodes(prepared: CheckedProgram, nodes: Sequence[NodeName]) -> CheckedProgram:
    return replace(prepared, notices=(*prepared.notices, *notice_idle_nodes(prepared.program, nodes)))


def _check_budgets(
    effort: float | None, sweep_seconds: float | None, max_runs: int | None, time_limit: float | None
) -> None:
    given = {"--effort": effort, "--sweep": sweep_seconds, "--max-runs": max_runs, "--time-limit": time_limit}
    for flag, number in given.items():
        if number is not None and not number > 0:  # also refuses "not a number"
            raise UsageError(f"{flag} is {number:g}", remedy="give a number larger than 0")
    if effort is not None and effort > MOST_SWEEP_EFFORT:
        raise UsageError(f"--effort is {effort:g}", remedy=f"give a number up to {MOST_SWEEP_EFFORT}")


def _check_sweep(eot: int | None, effort: float | None, sweep_seconds: float | None) -> None:
    if effort is not None and sweep_seconds is not None:
        raise UsageError(
            "--effort ends a sweep by the work that is done, --sweep by the clock",
            remedy="give one of them; --effort with --time-limit if the clock should end it, too",
        )
    if eot is not None and (effort is not None or sweep_seconds is not None):
        flag = "--sweep" if effort is None else "--effort"
        raise UsageError("a sweep finds its own EOT", remedy=f"give --eot or {flag}, not both")


def _survey_deadline(swept: Deadline) -> Deadline:
    """Return a deadline for looking up what a sweep has certified: by the clock only if the sweep had one, too."""
    if swept.interrupted:
        return Deadline(0)
    seconds = None if swept.remaining is None else max(swept.remaining, _SURVEY_SECONDS)
    if seconds is not None and (left := time_left()) is not None:
        seconds = min(seconds, max(0.0, left - _TELLING_SECONDS))
    return Deadline(seconds, swept.effort.renew(DEFAULT_SWEEP_EFFORT) if swept.effort else None)


def _earliest(sweep_seconds: float | None, time_limit: float | None) -> float | None:
    return min((s for s in (sweep_seconds, time_limit) if s is not None), default=None)


def _negation(name: str | None) -> Negation | None:
    known = [n.value for n in Negation]
    if name is not None and name not in known:
        raise UsageError(f"unknown treatment of negation '{name}'", remedy="use one of " + ", ".join(known))
    return None if name is None else Negation(name)


def _sweep(
    prepared: CheckedProgram,
    spec: FailureSpec,
    fixed_eff: int | None,
    options: Options,
    demands: Demands,
    strategy: Strategy,
    ledger: Ledger,
    started: float,
) -> Verdict:
    # Imported here: most checks do not sweep, and a cold start should not pay for it.
    from clew.checker.sweeping import ProgramSweep
    from clew.search.sweep import sweep

    deadline, checkpoint = ledger.deadline, options.checkpoint
    # EFF grows with EOT, unless a flag fixes it; one that the program states goes with the EOT it states.
    base = replace(spec, eot=1, eff=0)
    # What is saved of a sweep are its settings; the search within one does not know of it.
    system = ProgramSweep(prepared.program, base, strategy, options._replace(checkpoint=None), deadline)
    swept = sweep(system if checkpoint is None else _resume_sweep(system, checkpoint), base, fixed_eff, ledger)
    findings = replace(swept.findings, runs=ledger.runs)
    examined = Examined(findings, swept.vacuous, system.notices, system.solver(swept.spec))
    # The effort of the sweep may be spent: what it has certified is looked up with an effort of its own.
    verdict = _verdict(prepared, swept.spec, strategy.name, examined, demands, _survey_deadline(deadline), started)
    # Where the survey takes the certificate back, the largest setting is none either.
    certified = None if swept.findings.answer is Answer.CERTIFIED is not verdict.answer else swept.certified
    return replace(verdict, swept=swept.settings, certified=certified, candidates=findings.candidates)


def _resume_sweep(system: ProgramSweep, checkpoint: Checkpoint) -> RememberedSweep:
    from clew.checker.remembered.sweep import RememberedSweep

    return RememberedSweep(system, checkpoint)


def _verdict(
    prepared: CheckedProgram,
    spec: FailureSpec,
    strategy: str,
    examined: Examined,
    demands: Demands,
    deadline: Deadline,
    started: float,
) -> Verdict:
    findings = examined.findings
    judged = judge(prepared.program, spec, examined, demands, deadline)
    return Verdict(
        judged.answer,
        spec,
        strategy,
        findings.counterexamples,
        findings.runs,
        time.monotonic() - started,
        judged.reason,
        examined.vacuous,
        (*prepared.notices, *examined.notices, *(judged.survey.notices if judged.survey else ())),
        # A sweep goes beyond the setting that it answers for, and its ledger has those runs, too.
        executions=tuple(run for run in findings.executions if spec.admits(run.faults)),
        solver=examined.solver,
        survey=judged.survey,
        ruled_out=findings.answer is Answer.CERTIFIED,
        cautions=judged.cautions,
        remarks=judged.remarks,
        program=prepared.program,
    )


def _admit(faults: FaultSet, spec: FailureSpec) -> FailureSpec:
    """Return bounds that are just large enough for these faults; raise ``UsageError`` where none are."""
    # As narrow as can be: every possible fault that does not happen would be an atom of the ground program.
    wide = FailureSpec(spec.nodes, spec.eot)
    for fault in faults:
        wide = fault.widen(wide)
    for fault in faults:
        if not wide.admits(FaultSet.of([fault])):
            raise UsageError(
                f"the fault {fault} cannot happen in an execution of {spec.eot} steps",
                remedy=fault.possible_words(spec),
            )
    if not wide.admits(faults):
        raise UsageError(
            f"these faults contradict each other: {faults}",
            remedy="a node crashes at most once, and a message is lost or delayed once",
        )
    return wide
