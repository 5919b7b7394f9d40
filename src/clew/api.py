"""Clew from Python: ``check`` and ``run``, with typed results.

>>> verdict = check("examples/kafka.ded")                                     # doctest: +SKIP
>>> verdict.answer.value, str(verdict.counterexamples[0].faults)              # doctest: +SKIP
('counterexample', 'O(b,Z,1) O(c,Z,1) C(a,4)')
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from clew.bounds import Asked, Bounds, known_node, resolve
from clew.dedalus.loader import Defaults, Loaded, load
from clew.engine.execution import Execution
from clew.engine.ground import GroundProgram
from clew.errors import Notice, ProgramError, UsageError
from clew.faults import Crash, Delay, FailureSpec, Fault, FaultSet, Loss, Node
from clew.interrupt import Deadline
from clew.lineage.negation import Negation
from clew.program.checks import Checked, checked
from clew.program.ir import Program
from clew.program.outcomes import has_assertions, persistent_relations
from clew.search.verdict import Answer, Counterexample, Ledger, Progress, Setting
from clew.strategies import Examined, Options, examine, strategy_named

#: Seconds that a sweep may take when nothing else is said.
DEFAULT_SWEEP_SECONDS = 10.0

Source = str | Path | Program | Sequence[str | Path]


@dataclass(frozen=True)
class Verdict:
    """The answer to ``check``.

    ``answer``: counterexample, certified (none exists within ``spec``) or incomplete (``reason`` says why).
    ``counterexamples``: confirmed ones, fewest faults first.  ``runs``: concrete executions performed.
    ``combinations``: the bound on the number of failure combinations within ``spec``.  ``vacuous``: the
    failure-free run has no row in ``pre``, so the answer may mean little.  ``swept``: the settings tried by a
    sweep, empty without one.
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

    @property
    def combinations(self) -> int:
        return self.spec.combinations()


def check(
    source: Source,
    *,
    nodes: Sequence[Node] | None = None,
    eot: int | None = None,
    eff: int | None = None,
    crashes: int | None = None,
    delays: int | None = None,
    strategy: str = "exact",
    negation: str | None = None,
    symmetry: bool = False,
    find_all: bool = False,
    sweep_seconds: float | None = None,
    max_runs: int | None = None,
    time_limit: float | None = None,
    seed: int | None = None,
    progress: Progress | None = None,
) -> Verdict:
    """Search for faults under which what must hold does not.

    ``source`` is a file, several files that form one program, or a ``Program``.  Bounds that are not given come
    from the program's ``//!`` line; without an EOT there, they are swept for ``sweep_seconds``.  Raises
    ``ProgramError`` or ``UsageError`` for what cannot be checked.
    """
    started = time.monotonic()
    options = Options(Negation(negation) if negation else None, symmetry, find_all, sweep_seconds, max_runs, seed)
    chosen = strategy_named(strategy, options)
    _check_budgets(sweep_seconds, max_runs, time_limit)
    loaded = _load(source)
    prepared = checked(loaded.program)
    has_assertions(prepared.program)
    deadline = Deadline(_soonest(sweep_seconds, time_limit))
    bounds = resolve(prepared.program, loaded.defaults, Asked(nodes, eot, eff, crashes, delays), deadline)
    if bounds.eot is None or sweep_seconds is not None:
        if "sweep" not in chosen.accepts:
            raise UsageError(
                f"the {strategy} strategy cannot sweep, and the program states no EOT", remedy="give --eot"
            )
        _refuse_nothing_to_check(prepared.program)
        if deadline.seconds is None:
            deadline = Deadline(DEFAULT_SWEEP_SECONDS)
        return _swept(prepared, bounds, options, strategy, deadline, progress, started)
    ledger = Ledger(deadline, max_runs, progress)
    examined = examine(chosen, prepared.program, bounds.spec(), options, ledger)
    return _verdict(prepared, bounds.spec(), strategy, examined, time.monotonic() - started)


def run(
    source: Source,
    faults: Iterable[Fault] = (),
    *,
    nodes: Sequence[Node] | None = None,
    eot: int | None = None,
) -> Execution:
    """One execution with these faults: its rows by time, its messages, and what it violates."""
    loaded = _load(source)
    program = checked(loaded.program).program
    bounds = resolve(program, loaded.defaults, Asked(nodes, eot, eff=0, crashes=0, delays=0))
    if bounds.eot is None:
        raise UsageError("it is not said how long to run", remedy="give --eot, or state it: //! eot=6")
    chosen = FaultSet.of(_known(f, bounds.nodes) for f in faults)
    spec = _just_admitting(chosen, bounds.spec())
    return GroundProgram(program, spec, expect_outcomes=_can_expect(program)).run(chosen)


def _can_expect(program: Program) -> bool:
    return has_assertions(program) or bool(persistent_relations(program))


def _load(source: Source) -> Loaded:
    if isinstance(source, Program):
        return Loaded(source, Defaults())
    return load([source] if isinstance(source, str | Path) else list(source))


def _check_budgets(sweep_seconds: float | None, max_runs: int | None, time_limit: float | None) -> None:
    for flag, number in (("--sweep", sweep_seconds), ("--max-runs", max_runs), ("--time-limit", time_limit)):
        if number is not None and not number > 0:  # also refuses "not a number"
            raise UsageError(f"{flag} is {number:g}", remedy="give a number larger than 0")


def _soonest(sweep_seconds: float | None, time_limit: float | None) -> float | None:
    return min((s for s in (sweep_seconds, time_limit) if s is not None), default=None)


def _refuse_nothing_to_check(program: Program) -> None:
    if not _can_expect(program):
        raise ProgramError(
            "the program says nothing about what must hold",
            remedy="define 'pre' and 'post', or make a relation persistent: p(X)@next :- p(X);",
        )


def _swept(
    prepared: Checked,
    bounds: Bounds,
    options: Options,
    strategy: str,
    deadline: Deadline,
    progress: Progress | None,
    started: float,
) -> Verdict:
    from clew.follow import ProgramSweep
    from clew.search.sweep import sweep

    ledger = Ledger(deadline, options.max_runs, progress)
    base = FailureSpec(bounds.nodes, bounds.eot or 1, 0, bounds.crashes, bounds.delays)
    system = ProgramSweep(prepared.program, base, strategy_named(strategy, options), options, deadline)
    swept = sweep(system, base, bounds.eff, ledger)
    examined = Examined(replace(swept.findings, runs=ledger.runs), False, system.notices)
    verdict = _verdict(prepared, swept.spec, strategy, examined, time.monotonic() - started)
    return replace(verdict, swept=swept.settings)


def _verdict(prepared: Checked, spec: FailureSpec, strategy: str, examined: Examined, seconds: float) -> Verdict:
    findings = examined.findings
    return Verdict(
        findings.answer,
        spec,
        strategy,
        findings.counterexamples,
        findings.runs,
        seconds,
        findings.reason,
        examined.vacuous,
        (*prepared.notices, *examined.notices),
    )


def _known(fault: Fault, nodes: Sequence[Node]) -> Fault:
    """The fault with its nodes looked up, or an error that says what is wrong with it."""
    match fault:
        case Crash(node, time):
            return Crash(known_node(node, nodes), time)
        case Loss(source, target, time):
            return Loss(known_node(source, nodes), known_node(target, nodes), time)
        case Delay(source, target, time, lag):
            return Delay(known_node(source, nodes), known_node(target, nodes), time, lag)


def _just_admitting(faults: FaultSet, spec: FailureSpec) -> FailureSpec:
    """Bounds just large enough for these faults."""
    wide = replace(
        spec,
        eff=min(spec.eot, max((f.time + 1 for f in faults.losses), default=0)),
        crashes=len(faults.crashes),
        delays=max((f.lag for f in faults.delays), default=0),
    )
    for fault in faults:
        if not wide.admits(FaultSet.of([fault])) or (isinstance(fault, Delay) and fault.lag >= spec.eot):
            raise UsageError(
                f"the fault {fault} cannot happen in an execution of {spec.eot} steps",
                remedy=f"they happen between different nodes at times 1 to {spec.eot - 1}, with a lag from 1 on",
            )
    if not wide.admits(faults):
        raise UsageError(
            f"these faults contradict each other: {faults}",
            remedy="a node crashes at most once, and a message is lost or delayed once",
        )
    return wide
