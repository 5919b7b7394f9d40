"""Clew from Python: ``check`` searches, ``run`` executes once; both give typed results."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from clew.bounds import Bounds, without_faults
from clew.budgets.deadline import Deadline
from clew.checker.bounds import check_restarts, complete
from clew.checker.checking import Check, search_deadline
from clew.checker.durations import find_duration
from clew.checker.expected import note_difference
from clew.checker.named_nodes import WrittenFault, resolve_fault
from clew.checker.preparing import (
    Prepared,
    files_of,
    load_source,
    note_forgotten_records,
    note_idle_nodes,
    prepare,
    prepare_source,
)
from clew.checker.result import Verdict
from clew.checker.strategies import Options, get_strategy
from clew.checker.survey.judging import Demands
from clew.dedalus.params import Settings
from clew.engine.execution import Execution
from clew.engine.ground import GroundProgram
from clew.errors import BudgetExhaustedError, UsageError
from clew.faults import FailureSpec, Fault, FaultSet, Partition, Restart, exclusive_pairs
from clew.frontends.registry import Source
from clew.lineage.negation import Negation
from clew.names import nearest_name
from clew.node_lists import WrittenNode
from clew.program.checks import CheckedProgram
from clew.program.ir import Program
from clew.program.outcomes import stated_outcomes
from clew.search.verdict import Answer, Ledger, Progress

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from clew.files.checkpoints import Checkpoint
    from clew.workers.executors import Team

#: A hundred thousand times as much is years.
MOST_SWEEP_EFFORT = 100_000

#: So many rows are named where another one was meant.
_MOST_OFFERED = 6


def check(
    source: Source | Prepared,
    *,
    nodes: Sequence[WrittenNode] | None = None,
    eot: int | None = None,
    eff: int | None = None,
    crashes: int | None = None,
    delays: int | None = None,
    duplicates: int | None = None,
    restarts: int | None = None,
    pauses: int | None = None,
    partitions: int | None = None,
    stops: int | None = None,
    inputs: int | None = None,
    strategy: str = "exact",
    negation: str | None = None,
    symmetry: bool = False,
    find_all: bool = False,
    effort: float | None = None,
    sweep_seconds: float | None = None,
    max_runs: int | None = None,
    time_limit: float | None = None,
    seed: int | None = None,
    lasting: bool = False,
    allow_hollow: bool = False,
    strict: bool = False,
    coverage: bool = False,
    progress: Progress | None = None,
    checkpoint: str | Path | Checkpoint | None = None,
    params: Settings | None = None,
    workers: int | None = None,
    executor: Executor | Team | None = None,
) -> Verdict:
    """Search for faults under which what must hold does not.

    - ``source``: a file, several files that form one program, a ``Program`` (see ``parse_program``); or a Bloom
      program: a class with a ``setting``, or ``"FILE.py:Class"``.
    - ``nodes``, ``eot``, ``eff``, ``crashes``, ``delays``, ``duplicates``, ``restarts``, ``pauses``,
      ``partitions``, ``stops``, ``inputs``: the bounds, see ``FailureSpec``; the nodes 1 and "1" are two.  What is
      not given comes from the program's ``//!`` line (or ``setting``); without an EOT there, EOT and EFF are
      swept.
    - ``strategy``: "exact" (default), "lineage", "random" or "exhaustive"; see ``docs/strategies.md``.
    - ``negation`` (lineage): "exact" (default), "conservative" or "ignore".
    - ``symmetry`` (lineage, exhaustive): try one of several fault sets that differ by a renaming of nodes.
    - ``find_all`` (not random): list every subset-minimal counterexample instead of one.
    - ``effort``: sweep with so many times the usual effort, which does not depend on the machine; 1 when a sweep
      is needed and nothing is said.  ``sweep_seconds``: sweep by the clock instead.
    - ``max_runs`` (not exact), ``time_limit`` in seconds: budgets; when one ends, so does the search.
    - ``seed`` (random): the same seed draws the same faults; 0 by default.
    - ``lasting`` (exact, exhaustive): look only for violations that last for ever; see ``docs/lasting.md``.
    - ``allow_hollow``: certify also where nothing is promised; without it, that is incomplete.
    - ``strict``: whatever makes a certificate mean little makes it incomplete.
    - ``coverage``: count how often each rule fires in the failure-free run.
    - ``progress``: called with the number of executions and the stage, now and then.
    - ``checkpoint`` (sweeps, and all but exact): a file that the search goes on from if it is there, and is saved
      in now and then.
    - ``params``: values of params of a Dedalus program, by name; others have their defaults.
    - ``workers`` (sweeps): how many processes.  ``executor``: whose workers do it instead, see ``docs/scale.md``.

    Ctrl-C ends the search, too: the verdict then says ``incomplete``.  Raises ``ProgramError`` or ``UsageError``
    for what cannot be checked.
    """
    # What is wrong with the flags is said before any file is read.
    started = time.monotonic()
    options = Options(_negation(negation), symmetry, find_all, effort, sweep_seconds, max_runs, seed, lasting)
    chosen = get_strategy(strategy, options)
    _check_budgets(effort, sweep_seconds, max_runs, time_limit)
    _check_sweep(eot, effort, sweep_seconds)
    if lasting and checkpoint is not None:
        raise UsageError("--lasting does not support --checkpoint", remedy="leave one of them out")
    ready = prepare_source(source, params)
    given = Check(ready.checked, chosen, options, Demands(allow_hollow, strict, coverage), started)
    asked = Bounds(nodes, eot, eff, crashes, delays, duplicates, restarts, pauses, partitions, stops, inputs)
    bounds = asked.or_else(ready.loaded.defaults)
    sweeps = bounds.eot is None or effort is not None or sweep_seconds is not None
    deadline = search_deadline(effort, sweep_seconds, time_limit, sweeps=sweeps)
    try:
        spec = complete(given.prepared.program, bounds, deadline)
    except BudgetExhaustedError as limit:
        reason = f"{limit} before the nodes were known; name them with --nodes"
        # Only nodes that nobody names have to be searched for.
        numbers = {
            name: number or 0 for name, number in asked._asdict().items() if name not in ("nodes", "inputs")
        }
        unknown = FailureSpec((), **{**numbers, "eot": eot or 1})
        return replace(given.give_up(unknown, reason, deadline), files=files_of(source))
    noted = note_forgotten_records(note_idle_nodes(given.prepared, spec.nodes), spec.restarts)
    given = replace(given, prepared=noted)
    if sweeps and "sweep" not in chosen.accepts:
        raise UsageError(
            f"the {strategy} strategy cannot sweep, and the program states no EOT", remedy="give --eot"
        )
    given = replace(given, team=_find_team(workers, executor, sweeps=sweeps))
    if lasting:
        _refuse_lasting(given.prepared.program, spec, sweeps=sweeps)
    saving = None
    if checkpoint is not None:
        saving = _open_checkpoint(checkpoint, source, given, bounds, spec, sweeps=sweeps)
        given = replace(given, options=options._replace(checkpoint=saving))
    ledger = Ledger(deadline, max_runs, progress)
    verdict = given.sweep(spec, eff, ledger) if sweeps else given.examine(spec, ledger)
    if checkpoint is not None and saving is not None:
        _conclude_checkpoint(checkpoint, saving, verdict, ledger)
    if _is_plain(given, asked):
        verdict = note_difference(verdict, ready.loaded.expectation)
    return replace(verdict, files=files_of(source))


def _is_plain(given: Check, asked: Bounds) -> bool:
    """Tell whether this is the check that expectations are of: with other bounds, the answer may be another."""
    if any(param.given for param in given.prepared.program.params):
        return False
    options = given.options._replace(find_all=False, checkpoint=None)  # which change nothing of the answer
    demands = given.demands._replace(coverage=False)
    return (given.strategy.name, asked, options, demands) == ("exact", Bounds(), Options(), Demands())


def _find_team(workers: int | None, executor: Executor | Team | None, *, sweeps: bool) -> Team | int | None:
    """Return who takes part; None if this process is alone."""
    if workers is not None and workers < 1:
        raise UsageError(f"--workers is {workers}", remedy="give a number from 1 on")
    if workers is None and executor is None:
        return None
    if not sweeps:
        raise UsageError(
            "--workers and --cluster are for a grid or a sweep, and this is one question",
            remedy="leave them out, or add what varies, as in --grid crashes=0..2",
        )
    from clew.workers.executors import as_team  # only when asked for
    from clew.workers.processes import can_fork

    if executor is not None:
        return as_team(executor, workers)
    return workers if workers is not None and workers > 1 and can_fork() else None


def _refuse_lasting(program: Program, spec: FailureSpec, *, sweeps: bool) -> None:
    """Refuse to look for what lasts where that has no meaning."""
    from clew.checker.lasting import refuse_lasting  # only when asked for

    if sweeps:
        raise UsageError(
            "a sweep ends only at a violation that does not pass, with or without --lasting",
            remedy="leave it out, or give --eot",
        )
    refuse_lasting(program, spec)


def _open_checkpoint(
    checkpoint: str | Path | Checkpoint,
    source: Source | Prepared,
    given: Check,
    bounds: Bounds,
    spec: FailureSpec,
    *,
    sweeps: bool,
) -> Checkpoint:
    """Open a checkpoint for exactly this question."""
    from clew.checker.question import check_question, refuse_what_cannot_be_saved  # only when asked for
    from clew.files.checkpoints import as_checkpoint

    saving = as_checkpoint(checkpoint)
    refuse_what_cannot_be_saved(given.strategy, sweeps=sweeps)
    program = given.prepared.program
    saving.open(check_question(source, program, bounds, spec, given.strategy, given.options, sweeps=sweeps))
    return saving


def _conclude_checkpoint(
    checkpoint: str | Path | Checkpoint, saving: Checkpoint, verdict: Verdict, ledger: Ledger
) -> None:
    """Tell a checkpoint whether the question is answered; what was cut short is saved as far as it got."""
    from clew.files.checkpoints import conclude_own

    certain = verdict.reason is None and verdict.answer is not Answer.INCOMPLETE
    # A search that came to its end without an answer, as a random one does, would come to the same end again.
    saving.answered = certain or not ledger.cut_short
    if not saving.answered:
        saving.save()
    conclude_own(checkpoint, saving)


def run(
    source: Source,
    faults: Iterable[Fault | WrittenFault] = (),
    *,
    nodes: Sequence[WrittenNode] | None = None,
    eot: int | None = None,
    params: Settings | None = None,
) -> Execution:
    """Execute once with these faults: the result has the rows by time, the messages, and what is violated."""
    loaded = load_source(source, params)
    prepared = prepare(loaded)
    deadline = Deadline(None)
    try:
        # An interrupt in the middle of a call into clingo is noted and taken up afterwards.
        with deadline.listening():
            bounds = without_faults(nodes, eot).or_else(loaded.defaults)
            spec = complete(prepared.program, bounds, deadline)
            if bounds.eot is None:
                raise UsageError("no EOT given", remedy="give --eot, or state it: //! eot=6")
            execution = _execute(note_idle_nodes(prepared, spec.nodes), spec, faults, deadline)
            if execution.violations:
                duration = find_duration(
                    prepared.program, execution.spec, execution.faults, deadline, execution.violations
                )
                execution = replace(execution, duration=duration)
        deadline.check_interrupt()
    except BudgetExhaustedError:
        if deadline.interrupted:
            raise KeyboardInterrupt from None
        raise  # memory or stack ran out, for there is no limit of time
    return replace(execution, files=files_of(source))


def _execute(
    prepared: CheckedProgram, spec: FailureSpec, faults: Iterable[Fault | WrittenFault], deadline: Deadline
) -> Execution:
    chosen = FaultSet.of(resolve_fault(f, spec.nodes) for f in faults)
    check_restarts(prepared.program, len(chosen.of_kind(Restart)))
    ground = GroundProgram(
        prepared.program,
        _admit(chosen, spec),
        expect_outcomes=bool(stated_outcomes(prepared.program)),
        # Of many nodes there are too many partitions to have a choice for each.
        only=chosen if chosen.of_kind(Partition) else None,
        deadline=deadline,
    )
    if chosen.given:
        _refuse_what_is_not_offered(prepared.program, ground, chosen)
    return replace(ground.run(chosen), notices=(*prepared.notices, *ground.notices))


def _refuse_what_is_not_offered(program: Program, ground: GroundProgram, faults: FaultSet) -> None:
    """Refuse inputs that no declaration offers, and choices that no rule can make: they would do nothing."""
    if faults.of_kind(Partition):  # grounded with these faults alone, where each is possible
        ground = GroundProgram(program, FailureSpec(ground.spec.nodes, ground.spec.eot), expect_outcomes=False)
    for fault in faults.given:
        if fault not in ground.fault_atoms:
            like_it = [f for f in ground.fault_atoms if type(f) is type(fault) and f.time == fault.time]
            nearest = nearest_name(str(fault), map(str, like_it))
            offered = ", ".join(sorted(map(str, like_it))[:_MOST_OFFERED]) or "nothing"
            raise UsageError(
                f"the program does not offer {fault}",
                remedy=f"did you mean {nearest}?" if nearest else f"at time {fault.time} it offers {offered}",
            )


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


def _negation(name: str | None) -> Negation | None:
    known = [n.value for n in Negation]
    if name is not None and name not in known:
        raise UsageError(f"unknown treatment of negation '{name}'", remedy="use one of " + ", ".join(known))
    return None if name is None else Negation(name)


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
    if (pair := next(exclusive_pairs(faults), None)) is not None:
        of_node = (
            "a node crashes once, or stops, for good; restarts and pauses of it come before, one after the other"
        )
        of_message = "a message is lost, delayed or duplicated, and that once"
        raise UsageError(
            f"these faults contradict each other: {FaultSet.of(pair)}",
            remedy=of_message if pair[0].span is None else of_node,
        )
    return wide
