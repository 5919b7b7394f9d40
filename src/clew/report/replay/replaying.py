"""Replay a saved verdict: does what failed then still fail on the program as it is now?

The counterexamples of a document are executed with their faults, and the nodes and EOT of the document.  A program
that was changed may have other rules and other outcomes; that it does not know the nodes of a fault is refused,
because faults at nodes that do not exist do nothing, and nothing would fail.
"""

from __future__ import annotations

import enum
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from clew.checker.api import run
from clew.checker.preparing import load_source
from clew.engine.execution import Execution
from clew.errors import Notice, UsageError
from clew.faults import FaultSet
from clew.files.json_document import refuse_elsewhere
from clew.files.python_names import split_name
from clew.program.checks import check_program
from clew.program.ir import Program, rule_constants
from clew.program.outcomes import outcomes_of
from clew.report.replay.reading import SavedVerdict, read_verdict
from clew.report.text.shell import file_words
from clew.results import HOLDS, VIOLATED, Result
from clew.search.verdict import Counterexample


class VerdictReplayAnswer(enum.Enum):
    """``FIXED``: nothing fails any more under the faults of the document; others may still break it."""

    FIXED = "fixed"
    STILL_FAILS = "still fails"


@dataclass(frozen=True)
class ReplayedVerdict(Result):
    """``runs``: what came of each of ``found``, the counterexamples (or candidates) of the document.

    ``files``: those of the ``program`` that was executed, ``outcomes``: the relations that must survive in it.
    """

    saved: SavedVerdict
    files: tuple[str, ...]
    outcomes: tuple[str, ...]
    runs: tuple[Execution, ...]
    program: Program = field(repr=False, compare=False)

    @property
    def kind(self) -> str:
        """Return what the document calls what it found."""
        return "counterexample" if self.saved.counterexamples else "candidate"

    @property
    def found(self) -> tuple[Counterexample, ...]:
        return self.saved.counterexamples or self.saved.candidates

    @property
    def failing(self) -> int:
        """Return how many still fail."""
        return sum(map(self.fails, self.runs))

    def fails(self, execution: Execution) -> bool:
        """Tell whether a run shows what was looked for: a violation, or one that is not known to pass."""
        passes = execution.duration is not None and execution.duration.passes
        return not execution.good and not (self.saved.lasting and passes)

    @property
    def answer(self) -> VerdictReplayAnswer:
        return VerdictReplayAnswer.STILL_FAILS if self.failing else VerdictReplayAnswer.FIXED

    @property
    def reason(self) -> None:
        """Return None: every execution is performed to its end, or raises."""
        return None

    @property
    def notices(self) -> tuple[Notice, ...]:
        """Return the notices of all executions, each once."""
        return tuple(dict.fromkeys(notice for execution in self.runs for notice in execution.notices))

    @property
    def exit_code(self) -> int:
        return VIOLATED if self.failing else HOLDS


def replay_verdict(document: str | Path, files: Sequence[str] = ()) -> ReplayedVerdict:
    """Execute the counterexamples of a verdict again that ``clew check --json`` or ``to_json()`` has written.

    ``files`` form the program; by default they are those that were checked, if they lie below the working
    directory.
    """
    return replay_saved(str(document), read_verdict(document), files)


def replay_saved(document: str, saved: SavedVerdict, given: Sequence[str]) -> ReplayedVerdict:
    """Execute the counterexamples of a verdict that was read from ``document``."""
    files = _files_of(document, saved, given)
    program = load_source(files, saved.settings).program
    prepared = check_program(program).program
    runs = []
    for counterexample in saved.counterexamples or saved.candidates:
        execution = run(program, counterexample.faults, nodes=saved.nodes, eot=saved.eot)
        if set(execution.violations) != set(counterexample.violations):
            _refuse_unknown_nodes(program, counterexample.faults)
        runs.append(execution)
    return ReplayedVerdict(saved, files, outcomes_of(prepared), tuple(runs), prepared)


def _files_of(document: str, saved: SavedVerdict, given: Sequence[str]) -> tuple[str, ...]:
    if not saved.counterexamples and not saved.candidates:
        raise UsageError(
            f"{document}: the verdict is '{saved.answer.value}', and only a counterexample can be replayed",
            remedy="to see whether it is still so, run clew check again",
        )
    return find_program(document, saved, given, f"clew replay {file_words([document])} FILE...")


def find_program(document: str, saved: SavedVerdict, given: Sequence[str], command: str) -> tuple[str, ...]:
    """Return the files of the program: those that are given, or those of the verdict if they may be read.

    ``command``: the one that names them.
    """
    files = tuple(given) or saved.files
    if not files:
        raise UsageError(
            f"{document}: names no file, for the program was checked from Python",
            remedy=f"name the files: {command}",
        )
    for file in () if given else files:
        name = f"if you trust it, name it: {command}"
        refuse_elsewhere(document, split_name(file)[0], f"run it where the program is; or, {name}")
        if not os.path.exists(split_name(file)[0]):  # noqa: PTH110  # unlike Path.exists, it never raises
            raise UsageError(
                f"{document}: the program was checked from {file}, and there is no such file here",
                remedy=f"run it where that was, or name the files: {command}",
            )
    return files


def _refuse_unknown_nodes(program: Program, faults: FaultSet) -> None:
    """Raise if the program does not know the nodes of the faults: it cannot show whether it is fixed."""
    mentioned = {*(value for f in program.facts for value in f.args), *rule_constants(program)}
    for node in (node for fault in faults for node in fault.nodes):
        # A program may compute numbers that it does not mention.
        if isinstance(node, str) and node not in mentioned:
            raise UsageError(
                f"a counterexample has faults at '{node}', which the program does not mention: they do nothing",
                remedy="give the files of the program that was checked, or run clew check again",
            )
