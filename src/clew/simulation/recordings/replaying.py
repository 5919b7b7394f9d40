"""Replay: a recording is executed again, exactly, and every event is held against what was recorded.

A difference means that the code is not determined by what its nodes have seen.  A second execution in the same
process tells on what it depends: if the two differ from each other, on something that changes all the time; if
they agree, on something that is fixed for a process.

Of a recording of an earlier version, what it has is compared.  Versions 2 and 3 only say less about files.
Version 1 has neither ``beginning`` nor when conditions held, nothing of what code blocks do, and nothing beside
attributes; its digests of whole events cover less than today's, so that the parts of an event are compared, one
by one.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from clew.budgets.whereabouts import ProcessEnd, tell_run
from clew.errors import Notice
from clew.results import BAD_INPUT, HOLDS, INCOMPLETE, VIOLATED, Result
from clew.simulation.execution.effects import Effect
from clew.simulation.execution.isolation import needs_child, run_isolated
from clew.simulation.execution.steps import Act, Step, describe
from clew.simulation.execution.trace import AbsentError, Execution, Moment, execute
from clew.simulation.execution.watchdog import step_limit
from clew.simulation.loading import LoadedScenario
from clew.simulation.recordings.nondeterminism import Cause, find_cause
from clew.simulation.recordings.reading import OpenedRecording, changed_code_error, open_given
from clew.simulation.recordings.recording import FIELDS, PROCESS_GOES_ON, Recording, WaitOutcome
from clew.simulation.scenario import Broken, Scenario
from clew.simulation.world import CodeBlock, Wait


class ReplayOutcome(enum.Enum):
    """What became of a recording."""

    SAME = "same"
    DIFFERENT = "different"
    #: Of code that has changed, which is not expected to do the same at every event.
    STILL_FAILS = "still fails"
    FIXED = "fixed"
    LOST = "cannot be followed"


@dataclass(frozen=True)
class Difference:
    """The first event that did something else: its number from 1, its step, its node, and what differed.

    Number 0 is what nodes did that were up before the first event.  For a wait, it is that of the event before it.
    ``label``: what the message is called that the step is about, if not by its type.
    """

    number: int
    step: Step | None
    node: str
    what: str
    label: str = ""

    def __str__(self) -> str:
        where = f" at {self.node}" if self.node else ""
        step = f" ({describe(self.step, self.label)})" if self.step is not None else ""
        event = f"event {self.number}" if self.number else "the beginning"
        return f"{'after ' if isinstance(self.step, Wait) else ''}{event}{where}{step}: {self.what}"


@dataclass(frozen=True)
class Replayed(Result):
    """``execution`` is what happened, up to the step ``absent`` (from 1) if that could not be taken.

    ``scenario``: as a command names it, "" for one made in Python.
    """

    recording: Recording
    outcome: ReplayOutcome
    execution: Execution
    absent: int | None = None
    difference: Difference | None = None
    cause: Cause | None = None
    scenario: str = ""

    @property
    def answer(self) -> ReplayOutcome:
        return self.outcome

    @property
    def reason(self) -> str | None:
        """Return why this says nothing about the code: it does something else, or nothing at all."""
        if self.difference is not None:
            return f"the replay differs from the recording: {self.difference}"
        if self.outcome is ReplayOutcome.LOST:
            return f"the changed code does not fit the recording from step {self.absent} on"
        if self.execution.broken is None and not self.execution.deliveries:
            return "nothing is delivered in this recording, neither a message nor a timer"
        return None

    @property
    def notices(self) -> tuple[Notice, ...]:
        """Return none: whatever is worth knowing about a replay is its ``reason``."""
        return ()

    @property
    def exit_code(self) -> int:
        if self.outcome is ReplayOutcome.DIFFERENT:
            return BAD_INPUT
        if self.outcome is not ReplayOutcome.LOST and self.execution.broken is not None:
            return VIOLATED
        return HOLDS if self.reason is None else INCOMPLETE


def replayed_to_the_end(recording: Recording, end: ProcessEnd) -> Replayed:
    """Return the result of a replay that ended its process, told by whoever has watched that."""
    identity = f"{PROCESS_GOES_ON}: {end}"
    execution = Execution((), Broken(PROCESS_GOES_ON, str(end)), identity, None, recording.beginning)
    outcome = ReplayOutcome.SAME if recording.ends_process else ReplayOutcome.STILL_FAILS
    return Replayed(recording, outcome, execution, scenario=recording.scenario)


def replay(
    recording: Recording | str | Path,
    scenario: Scenario | str | LoadedScenario | None = None,
    *,
    changed_code: bool = False,
    in_process: bool = False,
) -> Replayed:
    """Execute a recording again.  ``scenario`` stands for the one it names.

    Code other than that which was recorded is refused, unless ``changed_code``: then it is asked whether it still
    fails.  It is executed in a child, unless ``in_process``; one that ends that raises ``ProcessEndedError``.
    """
    found = open_given(recording, scenario, changed_code=changed_code)
    if needs_child(in_process):
        return run_isolated(lambda tell: replay_opened(found, changed_code=changed_code), None)
    return replay_opened(found, changed_code=changed_code)


def replay_opened(found: OpenedRecording, *, changed_code: bool = False) -> Replayed:
    """Execute a recording again; one that ends its process does so here, if nothing has changed."""
    tell_run(found.recording.seed)
    with step_limit(found.loaded.scenario.step_seconds):
        if not changed_code and not found.same_code:
            raise changed_code_error(found)
        replayed = _replay_changed_code(found) if changed_code else _replay_exactly(found)
    return replace(replayed, scenario=found.loaded.full_name)


# -- executing ---------------------------------------------------------------------------------------------------


class Attempt(NamedTuple):
    """An execution, as far as it went if a step could not be taken."""

    execution: Execution
    absent: AbsentError | None

    @property
    def digests(self) -> tuple[object, ...]:
        done = self.execution
        digests = (moment.digest for moment in done.moments)
        return (
            done.beginning,
            *digests,
            done.waits,
            done.broken,
            done.identity,
            self.absent and self.absent.index,
        )


def attempt(scenario: Scenario, seed: int, steps: Sequence[Step]) -> Attempt:
    """Execute a schedule as far as that is possible."""
    try:
        return Attempt(execute(scenario, seed, steps), None)
    except AbsentError as error:
        return Attempt(error.execution, error)


def _attempt(found: OpenedRecording) -> Attempt:
    return attempt(found.recording.pin(found.loaded.scenario), found.recording.seed, found.recording.steps)


def _replay_changed_code(found: OpenedRecording) -> Replayed:
    execution, absent = _attempt(found)
    if absent is not None:
        return Replayed(found.recording, ReplayOutcome.LOST, execution, absent.index + 1)
    outcome = ReplayOutcome.FIXED if execution.broken is None else ReplayOutcome.STILL_FAILS
    return Replayed(found.recording, outcome, execution)


def _replay_exactly(found: OpenedRecording) -> Replayed:
    attempt = _attempt(found)
    difference = first_difference(found.recording, attempt)
    if difference is None:
        return Replayed(found.recording, ReplayOutcome.SAME, attempt.execution)
    absent = attempt.absent.index + 1 if attempt.absent else None
    # Executed once more in the same process: what agrees with itself depends on something fixed for a process.
    cause = find_cause(found.loaded.modules, same_twice=_attempt(found).digests == attempt.digests)
    return Replayed(found.recording, ReplayOutcome.DIFFERENT, attempt.execution, absent, difference, cause)


# -- differences -------------------------------------------------------------------------------------------------


def first_difference(recording: Recording, attempt: Attempt) -> Difference | None:
    """Compare everything that is recorded, in the order in which it happened."""
    execution = attempt.execution
    # In the order in which it happened, so that the first difference is told, of which the others follow.
    if "beginning" in FIELDS[recording.version] and execution.beginning != recording.beginning:
        return Difference(0, None, "", describe_difference(recording.beginning, execution.beginning))
    moments, waits = iter(execution.moments), iter(execution.waits)
    done = 0
    last: Step | None = None
    wrong: Difference | None = None
    due = 0  # after so many events the wait that went wrong did so: an event before that is the reason for it
    for step, effect in zip(recording.steps, recording.effects, strict=True):
        if isinstance(effect, WaitOutcome):
            now = WaitOutcome(next(waits, None))
            if wrong is None and effect != now:
                wrong, due = _differing_wait(done, step, effect, now), done + _count_common_events(effect, now)
        elif effect is not None:
            moment = next(moments, None)
            if moment is None:
                return _compare_length(done + 1, step, attempt)
            done, last = done + 1, step
            difference = _compare_event(done, step, _complete_effect(recording, step, effect, moment), moment)
            if difference is not None:
                return difference
        # A wait shows its difference late; an event that differs before that is the reason, and comes first.
        if wrong is not None and done >= due:
            return wrong
    return wrong or _compare_end(done, last, recording, execution)


def _complete_effect(recording: Recording, step: Step, effect: Effect, moment: Moment) -> Effect:
    """Return what was recorded of an event, with what its version does not have as it is now."""
    if recording.version > 1:
        return effect
    if isinstance(step, CodeBlock):
        return moment.effect
    return effect._replace(all=moment.effect.all, beside=moment.effect.beside)


def _compare_event(number: int, step: Step, effect: Effect, moment: Moment) -> Difference | None:
    node, label = moment.happened.node, moment.label
    if effect != moment.effect:
        return Difference(number, step, node, describe_difference(effect, moment.effect), label)
    if isinstance(step, Act) and isinstance(moment.step, Act) and step != moment.step:
        was, now = step.fingerprint, moment.step.fingerprint
        # By its type: its label may be the fingerprint, and there are two.
        return Difference(number, step, node, f"the fingerprint of the message was '{was}' and is '{now}'")
    return None


def _differing_wait(number: int, step: Step, before: WaitOutcome, now: WaitOutcome) -> Difference:
    return Difference(
        number, step, "", f"when it was recorded, it held {_describe_wait(before)}; now {_describe_wait(now)}"
    )


def _count_common_events(one: WaitOutcome, other: WaitOutcome) -> int:
    """Return after how many events two waits begin to differ."""
    return min(wait.events for wait in (one, other) if wait.events is not None)


def _describe_wait(wait: WaitOutcome) -> str:
    if wait.events is None:
        return "at no time before the next event from outside"
    return f"after {wait.events} more" if wait.events else "at once"


def _compare_length(number: int, step: Step, attempt: Attempt) -> Difference:
    if attempt.absent is not None:
        return Difference(number, attempt.absent.step, "", attempt.absent.why)
    return Difference(number, step, "", f"it does not come to it: {_describe_end(attempt.execution.identity)}")


def _compare_end(number: int, step: Step | None, recording: Recording, execution: Execution) -> Difference | None:
    if execution.identity != recording.identity:
        was, now = _describe_end(recording.identity), _describe_end(execution.identity)
        return Difference(number, step, "", f"when it was recorded, {was} after this event; now {now}")
    if execution.broken != recording.broken:
        was, now = _describe_violation(recording.broken), _describe_violation(execution.broken)
        return Difference(number, step, "", f"what is wrong after it was {was}, and is {now}")
    return None


def _describe_violation(broken: Broken | None) -> str:
    """Return the violation in the words of its invariant."""
    assert broken is not None, "an identity has a violation"
    where = f" at {', '.join(broken.nodes)}" if broken.nodes else ""
    return f"'{broken.what}'{where}"


def _describe_end(identity: str | None) -> str:
    return "no invariant broke" if identity is None else f"'{identity}' broke"


def describe_difference(before: Effect, now: Effect) -> str:
    """Describe what of an event is not what it was."""
    parts = []
    old, new = dict(before.state), dict(now.state)
    attributes = [name for name in sorted({*old, *new}) if old.get(name) != new.get(name)]
    if attributes:
        parts.append(f"the state differs in {', '.join(attributes)}")
    if before.sent != now.sent:
        parts.append(f"{_describe_change(before.sent, now.sent)} sent")
    if before.remarks != now.remarks:
        parts.append(f"{_describe_change(before.remarks, now.remarks)} logged")
    stored, found = dict(before.beside), dict(now.beside)
    others = [name for name in sorted({*stored, *found}) if stored.get(name) != found.get(name)]
    if others:
        parts.append(f"not the same: {', '.join(others)}")
    return ", ".join(parts) or "it rests on other events, or its digest was edited"


def _describe_change(before: str, now: str) -> str:
    if not before:
        return "something is"
    return "something else is" if now else "nothing is"
