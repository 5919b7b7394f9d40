"""A check that a test does not pass: what is raised, and what is done about it when it is told.

What was found is made small, stored and told only when pytest reports the test, once.  Hypothesis meets the same
failure many times while it makes inputs small; two searches for something small would fight, and each example
would leave a recording.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import assert_never

import clew
from clew.checker.result import Verdict
from clew.errors import BudgetExhaustedError, ClewError
from clew.exploration.result import Exploration
from clew.injection.result import CodeVerdict
from clew.minimization.minimizing import Minimized
from clew.pytest_plugin import regression
from clew.pytest_plugin.judging import Judgement, Standing
from clew.pytest_plugin.running import RunningTest
from clew.pytest_plugin.searching import COUNTEREXAMPLE, Plan
from clew.pytest_plugin.storing import Slot, store
from clew.pytest_plugin.texts import (
    insert_commands,
    stored_commands,
    test_command,
    text_of_result,
    text_of_simulation,
)
from clew.results import Result
from clew.simulation.fuzzing.fuzz import Fuzzed
from clew.simulation.recordings.reading import refuse_unreadable
from clew.simulation.recordings.recording import Recording, write_recording

#: Seconds for making an execution small, where the limit of the check is not shorter: somebody waits for the test.
_MINIMIZING_SECONDS = 30.0
_NO_PASS = "nothing was found, and that says nothing yet; this is no pass"


class CheckFailedError(AssertionError):
    """A check came to something else than its test expects; ``result`` has it, unless a replay failed.

    ``tell`` is called once, when the failure is reported; it returns all that can be told, however long that is.
    """

    def __init__(self, headline: str, tell: Callable[[], Sequence[str]], result: Result | None = None) -> None:
        super().__init__(headline)
        self.headline = headline
        self.result = result
        self._tell = tell
        self._lines: tuple[str, ...] | None = None

    @property
    def lines(self) -> tuple[str, ...]:
        """Return what is told of the failure."""
        if self._lines is None:
            self._lines = tuple(self._tell())
        return self._lines


def counterexample_found(
    test: RunningTest, plan: Plan, slot: Slot, result: Result, *, writes_test: bool
) -> CheckFailedError:
    """Return the failure of a check that found what must not be there."""
    tell = partial(_tell_found, test, plan, slot, result, writes_test)
    return CheckFailedError(str(result).splitlines()[0], tell, result)


def gave_up(plan: Plan, limit: BudgetExhaustedError) -> CheckFailedError:
    """Return the failure of a check that a limit ended without any result."""
    headline = f"INCOMPLETE: {limit}"
    return CheckFailedError(headline, lambda: [headline, f"  of {plan.target.name}", f"  {_NO_PASS}"])


def not_as_expected(plan: Plan, judged: Judgement, result: Result) -> CheckFailedError:
    """Return the failure of a check that found nothing, and should have found more, or proved more."""
    why = judged.why or "the search came to its end"
    match judged.standing:
        case Standing.INCONCLUSIVE:
            headline = f"INCOMPLETE: {why}"
            advice = _NO_PASS
        case Standing.SEARCHED | Standing.CERTIFIED if plan.expect == COUNTEREXAMPLE:
            headline = f"NO COUNTEREXAMPLE: {plan.target.name} was expected to have one"
            advice = "if it is mended, expect 'no counterexample' from now on; otherwise search further"
        case Standing.SEARCHED:
            headline = f"NO CERTIFICATE: {why}"
            advice = "a certificate is expected; if nothing found is enough, say expect='no counterexample'"
        case Standing.CERTIFIED | Standing.FOUND:
            raise AssertionError("that is what was expected")
        case _:
            assert_never(judged.standing)
    lines = [headline, f"  of {plan.target.name}: {judged.covered}", f"  {advice}", "", *text_of_result(result)]
    return CheckFailedError(headline, lambda: lines, result)


def _tell_found(test: RunningTest, plan: Plan, slot: Slot, result: Result, writes_test: bool) -> list[str]:
    """Make what was found small, store it, and tell it."""
    small: Minimized | None = None
    notes: list[str] = []
    if isinstance(result, Fuzzed | Exploration):
        small, notes = _minimize(plan, result.recording)
        lines = text_of_simulation(plan, result, small)
    else:
        lines = text_of_result(result)
    recording = small.recording if small is not None else _recording_of(result)
    document = result.to_json() if recording is None else write_recording(recording)
    commands: list[str] = []
    # The whole text is stored, and shortened whenever it is shown: how much fits depends on what else is shown.
    problem = _find_unreadable(plan, recording) or store(slot, document, lines)
    if problem is None:
        # A test that draws its inputs has its own way to come back to them: what is stored is of one of them.
        commands = stored_commands(plan, slot.document, recording)
        commands += [] if test.generates else [test_command(test)]
        test.properties.append(("clew_recording", str(slot.document)))
    else:
        notes.append(f"  not stored: {problem}")
    if writes_test:
        notes += [f"  {line}" for line in regression.write_test(test, plan, document, lines[0])]
    test.properties += [("clew_replay", command) for command in commands[:1]]
    return insert_commands([*lines[:1], *notes, *lines[1:]], commands)


def _recording_of(result: Result) -> Recording | None:
    match result:
        case CodeVerdict():
            assert result.counterexample is not None, "it was found"
            return result.counterexample.recording
        case Fuzzed() | Exploration():
            return result.recording
        case _:
            assert isinstance(result, Verdict), "checks return nothing else"
            return None


def _minimize(plan: Plan, recording: Recording | None) -> tuple[Minimized | None, list[str]]:
    """Make an execution small; return why it stays as it is, if it does."""
    if recording is None or recording.ends_process:
        return None, []  # each schedule that is tried would end a process
    limit = min(_MINIMIZING_SECONDS, plan.time_limit or _MINIMIZING_SECONDS)
    try:
        return clew.minimize(recording, plan.target.scenario, time_limit=limit), []
    except (BudgetExhaustedError, ClewError) as error:
        # What was found stands, however large it is: code that is not deterministic cannot be minimized.
        return None, [f"  not minimized: {str(error).splitlines()[0]}"]


def _find_unreadable(plan: Plan, recording: Recording | None) -> str | None:
    """Return why a recording must not be stored, if it could not be read again."""
    if recording is None:
        return None
    try:
        refuse_unreadable(recording, plan.target.scenario)
    except ClewError as error:
        return f"{error.message}; {error.remedy}"
    return None


def stored_failure(
    test: RunningTest, document: Path, lines: Sequence[str], commands: Sequence[str]
) -> CheckFailedError:
    """Return the failure of a check whose stored failure happens again; ``document`` is where it is stored."""
    test.properties += [("clew_recording", str(document)), ("clew_replay", commands[0])]
    return CheckFailedError(lines[0], lambda: insert_commands(lines, commands))
