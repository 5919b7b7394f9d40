"""``clew check``: is there a combination of faults that breaks the program?"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from clew.budgets.deadline import Deadline
from clew.budgets.whereabouts import time_left
from clew.checker.api import check
from clew.checker.result import Verdict
from clew.checker.strategies import DEFAULT_RANDOM_RUNS, DEFAULT_SEED, STRATEGIES
from clew.cli.parts.checkpoints import checkpoint_option, conclude_checkpoint, open_checkpoint
from clew.cli.parts.clusters import WorkFlags, work_options
from clew.cli.parts.code_options import CodeFlags, SharedFlags, code_options, refuse_for_scenarios
from clew.cli.parts.files import FILE, refuse_no_file, write_file
from clew.cli.parts.grids import GridFlags, check_settings, grid_options
from clew.cli.parts.outputs import Outputs, note_exhaustion, output_options
from clew.cli.parts.progress import progress_display
from clew.cli.parts.settings import read_settings, set_option
from clew.cli.process.limits import time_limit_option
from clew.cli.process.state import current_state
from clew.cli.process.streams import ascii_only, error_terminal, say, warn, wrote
from clew.errors import BudgetExhaustedError, ProgramError, UsageError
from clew.files.python_names import is_python
from clew.lineage.negation import Negation
from clew.node_lists import NodeListError, WrittenNode, read_nodes
from clew.report.verdict.text import verdict_text
from clew.results import FAILED, INCOMPLETE
from clew.search.verdict import Answer

if TYPE_CHECKING:
    from clew.checker.grid.api import CheckOptions

_STRATEGY_HELP = "; ".join(f"{s.name}: {s.summary}" for s in STRATEGIES.values())


#: Seconds before the end of a time limit, and of all patience, in which the answer itself is told.
_MARGIN = 2.0

NODES_HELP = (
    "The nodes.  Default: where facts and messages are.  A name in double quotes is a string, +1 is a number; "
    "1 is whichever the program has."
)


@click.command("check")
@click.argument("files", nargs=-1, required=True, type=FILE, metavar="FILE...")
@click.option("--nodes", metavar="A,B,C", help=NODES_HELP)
@click.option("--eot", type=int, metavar="N", help="End of time: the number of steps of an execution.")
@click.option("--eff", type=int, metavar="N", help="End of finite failures: messages sent before it can be lost.")
@click.option("--crashes", type=int, metavar="N", help="How many nodes may crash.")
@click.option("--delays", type=int, metavar="D", help="How many extra steps a message may take.")
@click.option("--duplicates", type=int, metavar="N", help="How many messages may arrive twice (before EFF).")
@click.option("--restarts", type=int, metavar="N", help="How often nodes may go down and run again by EFF.")
@click.option("--pauses", type=int, metavar="N", help="How often nodes may stand still and go on by EFF.")
@click.option("--partitions", type=int, metavar="N", help="How often nodes may be cut off from others until EFF.")
@click.option("--stops", type=int, metavar="N", help="How many nodes may crash and execute nothing from then on.")
@click.option("--inputs", type=int, metavar="N", help="How many declared inputs may be given.  Default: all.")
@set_option
@click.option(
    "--strategy",
    type=click.Choice(list(STRATEGIES)),
    help=f"Default: exact, of scenarios lineage.  {_STRATEGY_HELP}.",
)
@click.option(
    "--negation",
    type=click.Choice([n.value for n in Negation]),
    help="How the absence of a row is explained (lineage only).  Default: exact; ignore never certifies.",
)
@click.option(
    "--symmetry",
    is_flag=True,
    help="Try one of fault sets that differ by node names (lineage, exhaustive).",
)
@click.option("--all", "find_all", is_flag=True, help="List every subset-minimal counterexample (not random).")
@click.option(
    "--effort",
    type=float,
    metavar="FACTOR",
    help="Sweep: grow EOT, and EFF unless given, with FACTOR times the usual effort, which is the same on every "
    "machine (not random).  Done with 1 when no EOT is given or stated.",
)
@click.option(
    "--sweep",
    "sweep_seconds",
    type=float,
    metavar="SECONDS",
    help="Sweep by the clock instead (not random): incomplete if the time runs out.",
)
@click.option(
    "--max-runs",
    type=int,
    metavar="N",
    help=f"Stop after N executions (not exact).  Default: no limit; random: {DEFAULT_RANDOM_RUNS}.",
)
@time_limit_option()
@code_options
@grid_options
@work_options(" (with --grid, of a sweep, of scenarios exhaustive)")
@checkpoint_option
@click.option(
    "--lasting",
    is_flag=True,
    help="Search only for violations that last for ever: the run repeats itself, violated throughout "
    "(exact, exhaustive).",
)
@click.option("--seed", type=int, metavar="N", help=f"The seed (random only).  Default: {DEFAULT_SEED}.")
@click.option(
    "--allow-hollow", is_flag=True, help="Certify also where nothing is promised; without it, that is incomplete."
)
@click.option("--strict", is_flag=True, help="Whatever is worth a 'Beware' makes a certificate incomplete.")
@click.option(
    "--coverage", is_flag=True, help="List how often each rule fires in the failure-free run, or when else."
)
@output_options("the verdict")
@click.option(
    "--proof",
    "proof_file",
    type=FILE,
    metavar="FILE",
    help="Write a proof of the certificate that clew verify and public checkers can check (exact only).",
)
def check_command(
    files: tuple[str, ...],
    nodes: str | None,
    eot: int | None,
    eff: int | None,
    crashes: int | None,
    delays: int | None,
    duplicates: int | None,
    restarts: int | None,
    pauses: int | None,
    partitions: int | None,
    stops: int | None,
    inputs: int | None,
    settings: tuple[str, ...],
    strategy: str | None,
    negation: str | None,
    symmetry: bool,
    find_all: bool,
    effort: float | None,
    sweep_seconds: float | None,
    max_runs: int | None,
    time_limit: float | None,
    code: CodeFlags,
    grid: GridFlags,
    work: WorkFlags,
    checkpoint_file: str | None,
    seed: int | None,
    lasting: bool,
    allow_hollow: bool,
    strict: bool,
    coverage: bool,
    outputs: Outputs,
    proof_file: str | None,
) -> None:
    """Search for faults under which what must hold does not.

    The FILEs form one program.  Bounds that are not given come from its leading line
    "//! nodes=a,b,c eot=6 eff=3 crashes=1"; without an EOT there, they are swept.

    With --grid the program is checked with all combinations of values of params and bounds; the answer is a table,
    the smallest settings that break it first.

    FILE.py:NAME may be a scenario of Python code with virtual time: then faults are injected into its execution.

    Exit code: 0 no counterexample within the bounds, 1 counterexample, 2 bad program or usage, 3 incomplete,
    4 not all that was asked for could be written: a certificate without its --proof.
    """
    if len(files) == 1 and is_python(files[0]):
        _check_scenario_if_it_is_one(
            files[0],
            SharedFlags(
                crashes, restarts, partitions, duplicates, strategy, max_runs, time_limit, seed, checkpoint_file
            ),
            code,
            work,
            outputs,
            {
                "--nodes": nodes,
                "--eot": eot,
                "--eff": eff,
                "--delays": delays,
                "--pauses": pauses,
                "--stops": stops,
                "--inputs": inputs,
                "--set": settings,
                "--negation": negation,
                "--symmetry": symmetry,
                "--all": find_all,
                "--effort": effort,
                "--sweep": sweep_seconds,
                "--grid": grid.axes,
                "--lasting": lasting,
                "--coverage": coverage,
                "--proof": proof_file,
            },
        )
    code.refuse_for_models()
    strategy = strategy or "exact"
    refuse_no_file("--proof", proof_file, "proof.zip")
    if proof_file is not None and strategy != "exact":
        raise UsageError(
            f"the {strategy} strategy does not support --proof", remedy="leave it out, or use --strategy exact"
        )
    options: CheckOptions = {
        "nodes": split_nodes(nodes),
        "eot": eot,
        "eff": eff,
        "crashes": crashes,
        "delays": delays,
        "duplicates": duplicates,
        "restarts": restarts,
        "pauses": pauses,
        "partitions": partitions,
        "stops": stops,
        "inputs": inputs,
        "strategy": strategy,
        "negation": negation,
        "symmetry": symmetry,
        "find_all": find_all,
        "effort": effort,
        "sweep_seconds": sweep_seconds,
        "max_runs": max_runs,
        "seed": seed,
        "lasting": lasting,
        "allow_hollow": allow_hollow,
        "strict": strict,
    }
    params = read_settings(settings)
    if grid.axes:
        refused = {"--proof": proof_file, "--checkpoint": checkpoint_file, "--coverage": coverage}
        grid.refuse_with_grid(refused)
        check_settings(files, grid, options, params, time_limit, work, outputs)
    grid.refuse_without_grid()
    if proof_file is not None and lasting:
        raise UsageError(
            "--proof is about all violations, not only those that last", remedy="leave --lasting or --proof out"
        )
    checkpoint = open_checkpoint(checkpoint_file)
    with work.open_team() as team, progress_display() as progress:
        verdict = check(
            files,
            time_limit=time_limit,
            coverage=coverage,
            progress=progress,
            checkpoint=checkpoint,
            params=params,
            workers=work.workers,
            executor=team,
            **options,
        )
    # Before the answer is shown: if the question turned out to have a model, the answer would be wrong.
    proof = None if proof_file is None else _prove(verdict, time_limit)
    outputs.show(verdict, lambda: _text(verdict))
    # JSON has the coverage among its fields.
    if coverage and not outputs.prints_json:
        from clew.report.verdict.survey_text import coverage_text  # only when asked for

        say(coverage_text(verdict))
    outputs.write(verdict)
    if proof is not None and proof_file is not None:
        _write_proof(proof, proof_file)
    conclude_checkpoint(checkpoint)
    # Never on standard output, which is the same for the same input and seed.
    if error_terminal() is not None:
        warn(f"  ({verdict.seconds:.2f} s)")
    raise SystemExit(verdict.exit_code if proof is None else _exit_code(verdict, proof))


def _check_scenario_if_it_is_one(
    file: str,
    flags: SharedFlags,
    code: CodeFlags,
    work: WorkFlags,
    outputs: Outputs,
    of_models: Mapping[str, object],
) -> None:
    """Check a scenario and end; return if the file names a Bloom class."""
    from clew.simulation.loading import find_scenario  # most programs are text

    loaded = find_scenario(file)
    if loaded is not None:
        from clew.cli.commands.check_code import check_code

        refuse_for_scenarios(of_models)
        check_code(loaded, flags, code, work, outputs)


def split_nodes(nodes: str | None) -> list[WrittenNode] | None:
    """Read what ``--nodes`` lists."""
    try:
        return None if nodes is None else read_nodes(nodes)
    except NodeListError as error:
        raise UsageError(f"--nodes {nodes}: {error.message}", remedy=error.remedy) from None


def _text(verdict: Verdict) -> str:
    """Return the verdict with its explanation, which must not be the reason why the answer is never told."""
    if not verdict.found:
        return verdict_text(verdict, verdict.files)
    from clew.report.verdict.explaining import EXPLANATION_SECONDS, explain_verdict  # only where it is needed

    left = time_left()
    seconds = EXPLANATION_SECONDS if left is None else min(EXPLANATION_SECONDS, max(0.1, left - _MARGIN))
    explained = explain_verdict(verdict, seconds=seconds, ascii_only=ascii_only(), on_failure=_note_failure)
    return verdict_text(verdict, verdict.files, explained.lines, explained.summaries)


def _note_failure(failure: Exception) -> None:
    if isinstance(failure, BudgetExhaustedError | ProgramError):
        note_exhaustion(failure)
    else:
        current_state().note(failure)


class _Proof(NamedTuple):
    """The file of a proof, or why there is none; ``interrupted``: Ctrl-C is why."""

    archive: bytes | None
    reason: str = ""
    interrupted: bool = False


def _prove(verdict: Verdict, time_limit: float | None) -> _Proof:
    """Return the proof of a certificate; what the search left of the time limit is for it."""
    from clew.proof.archive import write_archive  # only when asked for: a SAT solver takes long to load
    from clew.proof.refuting import NoRefutation, refute

    if verdict.answer is Answer.COUNTEREXAMPLE:
        return _Proof(None, "there is a counterexample")
    if verdict.answer is Answer.INCOMPLETE:
        return _Proof(None, "the answer is incomplete")
    assert verdict.program is not None, "what was checked here has a program"
    deadline = Deadline(None if time_limit is None else max(0.0, time_limit - verdict.seconds))
    with progress_display("proving") as progress:
        if progress:
            deadline.heartbeat = lambda: progress(0, "the question for a SAT solver")
        found = refute(verdict.program, verdict.spec, deadline)
        archive = found if isinstance(found, NoRefutation) else write_archive(found)
    if isinstance(archive, NoRefutation):
        return _Proof(None, archive.reason, deadline.interrupted)
    return _Proof(archive)


def _write_proof(proof: _Proof, file: str) -> None:
    """Write the proof, or say why there is none."""
    if proof.archive is not None:
        write_file(file, proof.archive)
        wrote("the proof", file)
        return
    stale = f"; {file} is of another run" if Path(file).exists() else ""
    warn(f"no proof is written: {proof.reason}{stale}")


def _exit_code(verdict: Verdict, proof: _Proof) -> int:
    # Of another answer there is nothing to prove, which its exit code says; a certificate without the proof that
    # was asked for must not look like one with it.
    if proof.archive is not None or verdict.answer is not Answer.CERTIFIED:
        return verdict.exit_code
    return INCOMPLETE if proof.interrupted else FAILED
