"""What was stored is replayed before anything is searched: a failure that is still there shows at once.

Only that it still fails is believed of a replay.  Whether something is mended, the search has to say: the code may
have changed so that the recorded execution does not happen any more, and the bug may be there all the same.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import clew
from clew.engine.execution import Execution
from clew.errors import ClewError, UsageError
from clew.files.json_document import format_of, read_document
from clew.pytest_plugin.searching import FORK_WARNING, Plan
from clew.pytest_plugin.sources import Kind
from clew.pytest_plugin.storing import Slot, read_stored_text
from clew.pytest_plugin.texts import stored_commands, text_of_execution
from clew.report.replay.reading import SavedVerdict, read_verdict
from clew.report.verdict.document import FORMAT as VERDICT_FORMAT
from clew.report.verdict.explaining import diagram_text
from clew.simulation.execution.isolation import ProcessEndedError, run_isolated
from clew.simulation.recordings.recording import FORMAT as RECORDING_FORMAT
from clew.simulation.recordings.replaying import Replayed, ReplayOutcome

_STILL = "STILL FAILS"


class Replay(NamedTuple):
    """What a stored failure came to: how it is told if it is still one, and why it is none otherwise.

    ``commands``: those of Clew that replay it as it is.
    """

    lines: tuple[str, ...]
    why_not: str
    commands: tuple[str, ...] = ()

    @property
    def fails(self) -> bool:
        return bool(self.lines)


def replay_stored(plan: Plan, document: Path, slot: Slot | None) -> Replay:
    """Replay what is stored in a file, or raise ``ClewError`` if it is not of what is checked.

    ``slot``: where it is stored, if it is; the text beside it may be shown again.
    """
    is_model = plan.target.kind is Kind.MODEL
    kind, expected = format_of(read_document(document)), VERDICT_FORMAT if is_model else RECORDING_FORMAT
    if kind != expected:
        raise UsageError(
            f"{document}: is a '{kind:.40}', and {plan.target.name} is {plan.target.kind.value}",
            remedy=f"give a '{expected}' of it",
        )
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=FORK_WARNING, category=DeprecationWarning)
        return _replay_verdict(plan, document) if is_model else _replay_recording(plan, document, slot)


# -- models ------------------------------------------------------------------------------------------------------


def _replay_verdict(plan: Plan, document: Path) -> Replay:
    saved = read_verdict(document)
    found = saved.counterexamples or saved.candidates
    if not found:  # it was edited, or put there by somebody
        raise UsageError(f"{document}: has no counterexample", remedy="remove it, and let the test search again")

    def work(tell: object) -> Execution:
        return clew.run(
            plan.target.given,
            found[0].faults,
            nodes=saved.nodes,
            eot=saved.eot,
            params=saved.settings or plan.options.get("params"),
        )

    execution = run_isolated(work, None) if plan.target.runs_code else work(None)
    if not _fails(saved, execution):
        return Replay((), f"under {found[0].faults} nothing is violated any more")
    breaks = "breaks" if len(found[0].faults) == 1 else "break"
    first = f"{_STILL}: {found[0].faults.count_text()} {breaks} {plan.target.name}; stored before, and replayed."
    violated = [f"  violates {violation}" for violation in execution.violations[:3]]
    lines = (first, *violated, "", *diagram_text(execution, ascii_only=False).splitlines())
    return Replay(lines, "", tuple(stored_commands(plan, document, None)))


# As ``clew replay`` decides it.
def _fails(saved: SavedVerdict, execution: Execution) -> bool:
    passes = execution.duration is not None and execution.duration.passes
    return not execution.good and not (saved.lasting and passes)


# -- scenarios ---------------------------------------------------------------------------------------------------


def _replay_recording(plan: Plan, document: Path, slot: Slot | None) -> Replay:
    scenario = plan.target.scenario
    try:
        replayed = _first_that_works(
            lambda: clew.replay(document, scenario), lambda: clew.replay(document, scenario, changed_code=True)
        )
    except ProcessEndedError as ended:
        # From Python, a replay that ends its process is an error; here it is just what was recorded.
        return Replay((f"{_STILL}: {ended.message}; stored before, and replayed.",), "")
    # Not by the outcome alone: code that does something else on the way may still end in a violation.
    broken = replayed.execution.broken
    if broken is None:
        return Replay((), _describe(replayed))
    first = f"{_STILL}: {broken.place}; stored before, and replayed."
    if replayed.answer is not ReplayOutcome.SAME:  # clew replay refuses other code, as long as nobody insists
        return Replay(tuple(text_of_execution(plan, replayed.execution, first)), "")
    told = read_stored_text(slot) if slot is not None else None
    lines = [first, *told[1:]] if told else text_of_execution(plan, replayed.execution, first)
    return Replay(tuple(lines), "", tuple(stored_commands(plan, document, replayed.recording)))


def _first_that_works(exactly: Callable[[], Replayed], changed: Callable[[], Replayed]) -> Replayed:
    """Replay exactly, or, if the code has changed, as far as it goes."""
    try:
        return exactly()
    except ProcessEndedError:  # is an answer, and not one of the refusals below
        raise
    except ClewError:
        return changed()


def _describe(replayed: Replayed) -> str:
    if replayed.answer is ReplayOutcome.LOST:
        return "the code has changed so much that the stored execution does not fit"
    if replayed.answer is ReplayOutcome.DIFFERENT:
        return replayed.reason or "the stored execution takes another way"
    return "what was stored does not fail any more"
