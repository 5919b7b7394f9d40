"""Replay: a recording is executed again, exactly, and every event is held against what was recorded.

A difference means that the code is not determined by what its nodes have seen.  A second execution in the same
process tells on what it depends: if the two differ from each other, on something that changes all the time; if
they agree, on something that is fixed for a process.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from clew.errors import Position, UsageError
from clew.simulation.execution import AbsentError, Execution, execute
from clew.simulation.loading import Loaded
from clew.simulation.recording import Effect, Recording, effect_of
from clew.simulation.saved_recording import Opened, opened_as_given
from clew.simulation.scenario import Scenario
from clew.simulation.steps import Step, describe
from clew.simulation.suspects import suspects
from clew.simulation.watchdog import step_limit


class Outcome(enum.Enum):
    """What became of a recording."""

    SAME = "same"
    DIFFERENT = "different"
    #: Of code that has changed, which is not expected to do the same at every event.
    STILL_FAILS = "still fails"
    FIXED = "fixed"
    LOST = "cannot be followed"


@dataclass(frozen=True)
class Difference:
    """The first event that did something else: its number from 1, its step, its node, and what differed."""

    number: int
    step: Step | None
    node: str
    what: str

    def __str__(self) -> str:
        where = f" at {self.node}" if self.node else ""
        step = f" ({describe(self.step)})" if self.step is not None else ""
        return f"event {self.number}{where}{step}: {self.what}"


@dataclass(frozen=True)
class Cause:
    """On what the code seems to depend, and the places in it that may be why."""

    text: str
    places: tuple[tuple[Position, str], ...] = ()


@dataclass(frozen=True)
class Replayed:
    """``execution`` is what happened, up to the step ``absent`` (from 1) if that could not be taken."""

    recording: Recording
    outcome: Outcome
    execution: Execution
    absent: int | None = None
    difference: Difference | None = None
    cause: Cause | None = None


class NondeterminismError(UsageError):
    """Code that does not do the same twice: what differs, and why that may be."""

    def __init__(self, difference: str, cause: Cause) -> None:
        lines = [difference, f"likely cause: {cause.text}"]
        lines += [f"  {place}: {what}" for place, what in cause.places]
        super().__init__(
            "\n  ".join(lines),
            remedy="let nodes take time and random numbers from their context, and nothing else from outside",
        )


def replay(
    recording: Recording | str | Path,
    scenario: Scenario | str | Loaded | None = None,
    *,
    changed_code: bool = False,
) -> Replayed:
    """Execute a recording again.  ``scenario`` stands for the one it names.

    Code other than that which was recorded is refused, unless ``changed_code``: then it is asked whether it still
    fails.
    """
    return replay_opened(opened_as_given(recording, scenario), changed_code=changed_code)


def replay_opened(found: Opened, *, changed_code: bool = False) -> Replayed:
    with step_limit(found.loaded.scenario.step_seconds):
        if changed_code:
            return _on_changed_code(found)
        if not found.same_code:
            raise UsageError(
                f"this is a recording of other code: {found.loaded.file or 'the scenario'} has changed since",
                remedy="record again; or, to see whether the change helped, replay with --changed-code",
            )
        return _exactly(found)


# -- executing ---------------------------------------------------------------------------------------------------


class _Attempt(NamedTuple):
    """An execution, as far as it went if a step could not be taken."""

    execution: Execution
    absent: AbsentError | None

    @property
    def digests(self) -> tuple[object, ...]:
        digests = (moment.digest for moment in self.execution.moments)
        return (*digests, self.execution.identity, self.absent and self.absent.index)


def _attempt(found: Opened) -> _Attempt:
    try:
        return _Attempt(execute(found.loaded.scenario, found.recording.seed, found.recording.steps), None)
    except AbsentError as error:
        return _Attempt(Execution(error.moments, None, None, None), error)


def _on_changed_code(found: Opened) -> Replayed:
    execution, absent = _attempt(found)
    if absent is not None:
        return Replayed(found.recording, Outcome.LOST, execution, absent.index + 1)
    outcome = Outcome.FIXED if execution.broken is None else Outcome.STILL_FAILS
    return Replayed(found.recording, outcome, execution)


def _exactly(found: Opened) -> Replayed:
    attempt = _attempt(found)
    difference = _first_difference(found.recording, attempt)
    if difference is None:
        return Replayed(found.recording, Outcome.SAME, attempt.execution)
    absent = attempt.absent.index + 1 if attempt.absent else None
    cause = cause_of(found.loaded, same_twice=_attempt(found).digests == attempt.digests)
    return Replayed(found.recording, Outcome.DIFFERENT, attempt.execution, absent, difference, cause)


# -- differences -------------------------------------------------------------------------------------------------


def _first_difference(recording: Recording, attempt: _Attempt) -> Difference | None:
    execution = attempt.execution
    expected = [(step, e) for step, e in zip(recording.steps, recording.effects, strict=True) if e is not None]
    for number, ((step, effect), moment) in enumerate(zip(expected, execution.moments, strict=False), start=1):
        if effect != (now := effect_of(moment)):
            return Difference(number, step, moment.happened.node, what_differs(effect, now))
    done = len(execution.moments)
    if attempt.absent is not None:
        return Difference(done + 1, attempt.absent.step, "", "what it is about is not on its way")
    if done < len(expected):
        return Difference(done + 1, expected[done][0], "", f"it does not come to it: {_end(execution.identity)}")
    if execution.identity != recording.identity:
        what = f"when it was recorded, {_end(recording.identity)} after this event; now {_end(execution.identity)}"
        return Difference(done, expected[-1][0] if expected else None, "", what)
    return None


def _end(identity: str | None) -> str:
    return "no invariant broke" if identity is None else f"'{identity}' broke"


def what_differs(before: Effect, now: Effect) -> str:
    """What of an event is not what it was."""
    parts = []
    old, new = dict(before.state), dict(now.state)
    attributes = [name for name in sorted({*old, *new}) if old.get(name) != new.get(name)]
    if attributes:
        parts.append(f"the state differs in {', '.join(attributes)}")
    if before.sent != now.sent:
        parts.append(f"{_something(before.sent, now.sent)} sent")
    if before.remarks != now.remarks:
        parts.append(f"{_something(before.remarks, now.remarks)} logged")
    return ", ".join(parts) or "it rests on other events, or its digest was edited"


def _something(before: str, now: str) -> str:
    if not before:
        return "something is"
    return "something else is" if now else "nothing is"


def cause_of(loaded: Loaded, *, same_twice: bool) -> Cause:
    """On what code depends that differs from its recording; ``same_twice``: but not from itself."""
    if same_twice:
        text = (
            "it depends on the process, as the order of a set of strings does (PYTHONHASHSEED), the environment "
            "and files; or the recording was edited"
        )
    else:
        text = "it differs from one execution to the next, as the clock, random, id() and global variables do"
    return Cause(text, suspects(loaded.modules))
