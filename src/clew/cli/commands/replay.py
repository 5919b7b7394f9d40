"""``clew replay``: does what a file recorded still happen?

Such a file says in its field ``format`` what it is; ``_REPLAYS`` is the one place that knows what can be replayed.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import click

from clew.checker.api import load_source, run
from clew.cli.process import exit_codes
from clew.cli.process.streams import harmless, say, warn
from clew.engine.execution import Execution, row_text
from clew.errors import Notice, UsageError
from clew.faults import FaultSet, Node
from clew.files.json_document import refuse_elsewhere
from clew.files.python_names import split_name
from clew.program.checks import check_program
from clew.program.ir import Program, rule_constants
from clew.program.outcomes import PRE, outcomes_of
from clew.report.text.commands import check_command, file_words
from clew.report.text.commands import replay_command as run_line
from clew.report.verdict.document import FORMAT
from clew.search.verdict import Counterexample
from clew.simulation.recordings.recording import FORMAT as RECORDING_FORMAT
from clew.violation import Violation

if TYPE_CHECKING:  # imported when the command runs: the other commands should not pay for it
    from clew.files.json_document import Item
    from clew.report.verdict.reading import SavedVerdict


@click.command("replay")
@click.argument("document", metavar="DOCUMENT.json")
@click.argument("files", nargs=-1, metavar="[FILE]...")
@click.option("--scenario", metavar="SCENARIO.py[:NAME]", help="Execute this file (recordings only).")
@click.option("--step", is_flag=True, help="Show event after event (recordings only).")
@click.option("--changed-code", is_flag=True, help="Try it on code that has changed since (recordings only).")
def replay_command(
    document: str, files: tuple[str, ...], scenario: str | None, step: bool, changed_code: bool
) -> None:
    """Run a recording or the counterexamples of a verdict again.

    A verdict is what "clew check ... --json VERDICT.json" wrote.  Each counterexample in it (of a sweep that was
    incomplete, each candidate) is executed on the program as it is now, with its faults and the nodes and EOT of
    the document: does it still fail?  The FILEs form the program; by default they are those that were checked,
    if they lie below the working directory.

    A recording is what "clew fuzz ... -o REC.json" wrote.  It is executed exactly; code that does anything else
    than what was recorded is reported with the first event that differs.  The FILE is SCENARIO.py[:NAME], also
    with --scenario; by default it is the one that was recorded, if it lies below the working directory.  Code that
    has changed since is not executed without --changed-code.

    Exit code: 0 if all are fixed, 1 if one still fails, 2 bad document, program or usage, or a recording whose
    replay differs, 3 interrupted, changed code that a recording does not fit, or nothing delivered in it.
    """
    from clew.files.json_document import format_of, read_document

    content = read_document(document)
    kind = format_of(content)
    if kind not in _REPLAYS:
        content.member("format").refuse(" or ".join(f'"{known}"' for known in _REPLAYS))
    sys.exit(_REPLAYS[kind](content, _Options(files, scenario, step, changed_code)))


class _Options(NamedTuple):
    """What the command line says besides the document."""

    files: tuple[str, ...]
    scenario: str | None
    step: bool
    changed_code: bool


@dataclass(frozen=True)
class _Again:
    """A saved verdict and the program that its counterexamples are run on now."""

    saved: SavedVerdict
    files: tuple[str, ...]
    program: Program
    prepared: Program
    outcomes: tuple[str, ...]

    @property
    def kind(self) -> str:
        return "counterexample" if self.saved.counterexamples else "candidate"

    @property
    def found(self) -> tuple[Counterexample, ...]:
        return self.saved.counterexamples or self.saved.candidates

    def run(self, faults: FaultSet) -> Execution:
        return run(self.program, faults, nodes=self.saved.nodes, eot=self.saved.eot)


def _replay_recording(content: Item, options: _Options) -> int:
    from clew.cli.parts.recordings import one_scenario, replay_recording

    given = one_scenario(options.files, options.scenario)
    return replay_recording(content, given, step=options.step, changed_code=options.changed_code)


def _replay_verdict(content: Item, options: _Options) -> int:
    from clew.report.verdict.reading import verdict_of

    if options.step or options.changed_code or options.scenario is not None:
        raise UsageError(
            f"{content.file}: is a verdict, and --scenario, --step and --changed-code are for recordings",
            remedy="leave them out: a verdict is always replayed on the program as it is now",
        )
    again = _again(content.file, verdict_of(content), options.files)
    _say([f"{' '.join(again.files)}, EOT {again.saved.eot}, nodes {row_text(again.saved.nodes)}"])
    told: set[Notice] = set()
    failing = 0
    for number, counterexample in enumerate(again.found, start=1):
        execution = again.run(counterexample.faults)
        if set(execution.violations) != set(counterexample.violations):
            _refuse_strangers(again, counterexample.faults)
        _warn(execution.notices, told)
        if len(again.found) > 1:
            _say([f" {number}."])
        _say(_outcome(again, execution, counterexample.violations))
        failing += not execution.good
    _say(_conclusion(again, failing))
    return exit_codes.VIOLATED if failing else exit_codes.HOLDS


#: How each kind of document is replayed: from its content and what the command line says to the exit code.
_REPLAYS: dict[str, Callable[[Item, _Options], int]] = {
    FORMAT: _replay_verdict,
    RECORDING_FORMAT: _replay_recording,
}


def _again(document: str, saved: SavedVerdict, given: Sequence[str]) -> _Again:
    if not saved.counterexamples and not saved.candidates:
        raise UsageError(
            f"{document}: the verdict is '{saved.answer.value}', and only a counterexample can be replayed",
            remedy="to see whether it is still so, run clew check again",
        )
    files = tuple(given) or saved.files
    if not files:
        raise UsageError(
            f"{document}: names no file, for the program was checked from Python",
            remedy=f"name the files: clew replay {file_words([document])} FILE...",
        )
    for file in () if given else files:
        name = f"if you trust it, name it: clew replay {file_words([document])} FILE..."
        refuse_elsewhere(document, split_name(file)[0], f"run it where the program is; or, {name}")
        if not os.path.exists(split_name(file)[0]):  # noqa: PTH110  # unlike Path.exists, it never raises
            raise UsageError(
                f"{document}: the program was checked from {file}, and there is no such file here",
                remedy=f"run it where that was, or name the files: clew replay {file_words([document])} FILE...",
            )
    program = load_source(files).program
    prepared = check_program(program).program
    return _Again(saved, files, program, prepared, outcomes_of(prepared))


# -- what is said ------------------------------------------------------------------------------------------------


def _outcome(again: _Again, execution: Execution, before: Sequence[Violation]) -> Iterator[str]:
    """The faults, and what came of them this time."""
    for fault in execution.faults:
        yield f"  {fault.sentence}"
    if not execution.faults:
        yield "  no fault"
    if execution.violations:
        changed = "" if set(execution.violations) == set(before) else f" (before: {_listed(before)})"
        yield f"  still fails: {_listed(execution.violations)}{changed}"
        yield f"  see: {run_line(execution.faults, again.saved.spec, again.files, again.prepared)}"
        return
    for violation in before:
        yield f"  fixed: {_fixed(again, execution, violation)}"
    if not any(execution.rows(relation) for relation in again.outcomes):
        nothing = "'pre' is empty" if PRE in again.outcomes else "no relation that persists has a row"
        yield f"  Beware: {nothing} at the end of this run, so that there is nothing that could fail."


def _fixed(again: _Again, execution: Execution, violation: Violation) -> str:
    """Why a row that failed no longer does; not every reason is a good one."""
    if violation.relation not in again.outcomes:
        return f"{violation} is not asked for any more: what must hold is about {', '.join(again.outcomes)}"
    there = violation.row in execution.rows(violation.relation)
    if violation.relation == PRE:
        return f"{violation} is in 'post', too" if there else f"{violation} is no longer in 'pre'"
    return f"{violation} is there at the end" if there else f"{violation} is not in the failure-free run any more"


def _refuse_strangers(again: _Again, faults: FaultSet) -> None:
    """A program that does not know the nodes of the faults cannot show whether it is fixed."""
    mentioned = {*(value for f in again.program.facts for value in f.args), *rule_constants(again.program)}
    for node in _nodes_of(faults):
        # A program may compute numbers that it does not mention.
        if isinstance(node, str) and node not in mentioned:
            raise UsageError(
                f"a counterexample has faults at '{node}', which the program does not mention: they do nothing",
                remedy="give the files of the program that was checked, or run clew check again",
            )


def _nodes_of(faults: FaultSet) -> Iterator[Node]:
    for fault in faults:
        yield from fault.nodes


def _conclusion(again: _Again, failing: int) -> Iterator[str]:
    total, kind = len(again.found), again.kind
    if failing:
        yield f"STILL FAILS: {f'{failing} of {total} {kind}s' if total > 1 else f'the {kind}'}"
        return
    yield f"FIXED: {f'all {total} {kind}s' if total > 1 else f'the {kind}'}"
    yield "  Other faults may still break it.  To find out:"
    yield f"  {check_command(again.saved.spec, again.files, again.prepared)}"


def _listed(violations: Iterable[Violation]) -> str:
    return ", ".join(map(str, violations))


def _warn(notices: Iterable[Notice], told: set[Notice]) -> None:
    for notice in notices:
        if notice not in told:
            told.add(notice)
            warn(str(notice))


def _say(lines: Iterable[str]) -> None:
    for line in lines:
        say(f"{harmless(line, breaks='')}\n")
