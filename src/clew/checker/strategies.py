"""The registry of search strategies: names, what each accepts, how each is started.

The command line offers and dispatches from this table; an option that a strategy does not list is refused.
A strategy's own modules are imported when it starts: a cold start should not pay for a SAT solver that the
exact search does not use.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from clew.checker.model import Model
from clew.engine.ground import GroundProgram, SolverFigures
from clew.errors import Notice, UsageError
from clew.faults import FailureSpec
from clew.lineage.negation import Negation
from clew.program.assertions import told_apart
from clew.program.ir import Program
from clew.search import exact
from clew.search.protocol import System, TracedSystem
from clew.search.verdict import Answer, Findings, Ledger, conduct

if TYPE_CHECKING:
    from clew.files.checkpoints import Checkpoint

#: Fixed: a search that is started twice draws the same faults.
DEFAULT_SEED = 0
DEFAULT_RANDOM_RUNS = 1000


class Options(NamedTuple):
    """How to search; None or False where the user said nothing.

    ``checkpoint``: where the search is saved, and what was saved there before.
    """

    negation: Negation | None = None
    symmetry: bool = False
    find_all: bool = False
    effort: float | None = None
    sweep: float | None = None
    max_runs: int | None = None
    seed: int | None = None
    lasting: bool = False
    checkpoint: Checkpoint | None = None


class Strategy(NamedTuple):
    """A way to search.

    ``search`` gets the program, the bounds and a callback for the model that it makes of them: what the model
    tells is wanted even where the search is cut short.
    """

    name: str
    summary: str
    accepts: frozenset[str]
    solves: bool  # the answer is the solver's, not that of executions
    search: Callable[[Program, FailureSpec, Options, Ledger, Callable[[Model], None]], str | None]


class Examined(NamedTuple):
    """The findings of one search, and what its model tells about the program.

    ``ground``: the executions, for further questions; None if the search ended before there were any.
    """

    findings: Findings
    vacuous: bool
    notices: tuple[Notice, ...]
    solver: SolverFigures | None = None
    ground: GroundProgram | None = None


def examine(strategy: Strategy, program: Program, spec: FailureSpec, options: Options, ledger: Ledger) -> Examined:
    """Search within these bounds, and ask the model what it tells about the program."""
    told: list[tuple[bool, tuple[Notice, ...], GroundProgram]] = []

    def take(model: Model) -> None:
        # Asked before the search: an interrupt in the middle of a query leaves the solver unusable.
        told.append((model.vacuous(), model.ground.notices, model.ground))

    findings = conduct(lambda book: strategy.search(program, spec, options, book, take), ledger)
    findings = note_kept_promises(findings, strategy, program, options)
    if not told:
        return Examined(findings, False, ())
    vacuous, notices, ground = told[0]
    # The figures of a search that was cut short are those of a question that has no answer.
    answered = strategy.solves and findings.reason is None
    return Examined(findings, vacuous, notices, ground.figures if answered else None, ground)


def note_kept_promises(findings: Findings, strategy: Strategy, program: Program, options: Options) -> Findings:
    """Return the findings with the promises that hold although others are broken.

    A search that was finished knows them if it asks about each promise, or for all counterexamples; otherwise it
    ends at the first, and nothing is known of the promises that this one does not break.  What lasts is looked for
    without telling promises apart.
    """
    if findings.answer is not Answer.COUNTEREXAMPLE or findings.reason is not None or options.lasting:
        return findings
    if not strategy.solves and not options.find_all:
        return findings
    broken = {v.relation for c in findings.counterexamples for v in c.violations}
    return replace(findings, kept=tuple(p for p in told_apart(program) if p not in broken))


def _exact(
    program: Program, spec: FailureSpec, options: Options, ledger: Ledger, take: Callable[[Model], None]
) -> str | None:
    if options.lasting:
        from clew.checker.lasting import search_exactly

        return search_exactly(program, spec, ledger, take, find_all=options.find_all)
    take(system := Model(program, spec, deadline=ledger.deadline))
    return exact.search(system, ledger, find_all=options.find_all, promises=system.promises)


def _lineage(
    program: Program, spec: FailureSpec, options: Options, ledger: Ledger, take: Callable[[Model], None]
) -> str | None:
    from clew.checker.traced import TracedModel
    from clew.search import lineage

    negation = options.negation or Negation.EXACT
    take(system := TracedModel(program, spec, negation, deadline=ledger.deadline))
    symmetric = system if options.symmetry else None
    searched: TracedSystem = system
    if options.checkpoint is not None:
        from clew.checker.remembered.traces import RememberedTraces

        # Between model and search, so that neither knows which runs were saved and which are made.
        searched = RememberedTraces(system, tuple(system.graph.goals), options.checkpoint)
    return lineage.search(
        searched, ledger, find_all=options.find_all, symmetric=symmetric, promises=system.promises
    )


def _random(
    program: Program, spec: FailureSpec, options: Options, ledger: Ledger, take: Callable[[Model], None]
) -> str | None:
    from clew.search import random_faults

    take(system := Model(program, spec, deadline=ledger.deadline))
    seed = DEFAULT_SEED if options.seed is None else options.seed
    runs = DEFAULT_RANDOM_RUNS if options.max_runs is None else options.max_runs
    return random_faults.search(_resume_runs(system, options), ledger, seed=seed, max_runs=runs)


def _exhaustive(
    program: Program, spec: FailureSpec, options: Options, ledger: Ledger, take: Callable[[Model], None]
) -> str | None:
    if options.lasting:
        from clew.checker.lasting import search_exhaustively

        symmetry, find_all = options.symmetry, options.find_all
        return search_exhaustively(program, spec, ledger, take, find_all=find_all, symmetry=symmetry)
    from clew.search import exhaustive

    take(system := Model(program, spec, deadline=ledger.deadline))
    symmetric = system if options.symmetry else None
    searched = _resume_runs(system, options)
    return exhaustive.search(
        searched, ledger, find_all=options.find_all, symmetric=symmetric, promises=system.promises
    )


def _resume_runs(system: System, options: Options) -> System:
    if options.checkpoint is None:
        return system
    from clew.checker.remembered.runs import RememberedRuns

    return RememberedRuns(system, options.checkpoint)


STRATEGIES: dict[str, Strategy] = {
    strategy.name: strategy
    for strategy in (
        Strategy(
            "exact",
            "one question to a solver about all executions",
            frozenset({"find_all", "effort", "sweep", "lasting"}),
            True,
            _exact,
        ),
        Strategy(
            "lineage",
            "follow the lineage of good runs to the faults that could undo them",
            frozenset({"negation", "symmetry", "find_all", "effort", "sweep", "max_runs", "checkpoint"}),
            False,
            _lineage,
        ),
        Strategy(
            "random",
            "draw faults at random; never certifies",
            frozenset({"max_runs", "seed", "checkpoint"}),
            False,
            _random,
        ),
        Strategy(
            "exhaustive",
            "run every admissible fault set, smallest first",
            frozenset({"symmetry", "find_all", "effort", "sweep", "max_runs", "checkpoint", "lasting"}),
            False,
            _exhaustive,
        ),
    )
}

_FLAGS = {
    "negation": "--negation",
    "symmetry": "--symmetry",
    "find_all": "--all",
    "effort": "--effort",
    "sweep": "--sweep",
    "max_runs": "--max-runs",
    "seed": "--seed",
    "lasting": "--lasting",
}


def get_strategy(name: str, options: Options) -> Strategy:
    """Return the strategy of this name; raise ``UsageError`` for an option that it does not support."""
    if name not in STRATEGIES:
        raise UsageError(f"unknown strategy '{name}'", remedy="use one of " + ", ".join(STRATEGIES))
    strategy = STRATEGIES[name]
    for option, flag in _FLAGS.items():
        # By identity: a 0 is something that the user has said, and equals False.
        given = getattr(options, option)
        if given is not None and given is not False and option not in strategy.accepts:
            able = " or ".join(s.name for s in STRATEGIES.values() if option in s.accepts)
            raise UsageError(
                f"the {name} strategy does not support {flag}", remedy=f"leave it out, or use --strategy {able}"
            )
    return strategy
