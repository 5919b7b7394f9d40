"""One check from beginning to end: what is stored first, then the search, then whether the test passes."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

import pytest

from clew.errors import BudgetExhaustedError, ClewError
from clew.pytest_plugin.failing import counterexample_found, gave_up, not_as_expected, stored_failure
from clew.pytest_plugin.judging import Standing, judge_result
from clew.pytest_plugin.options import Settings, read_settings
from clew.pytest_plugin.replaying import Replay, replay_stored
from clew.pytest_plugin.running import RunningTest, current_test
from clew.pytest_plugin.searching import COUNTEREXAMPLE, Plan, perform, plan_check
from clew.pytest_plugin.sources import open_target
from clew.pytest_plugin.storing import Slot, find_slot, forget
from clew.pytest_plugin.texts import test_command
from clew.results import Result

_NO_PLUGIN = (
    "nothing is checked: no test runs, or the plugin of Clew is off (-p no:clew) or not installed\n"
    "  remedy: run it with pytest and the plugin; elsewhere, call clew.check, clew.check_scenario or clew.fuzz"
)


class Checker(Protocol):
    """The fixture ``clew_check``."""

    def __call__(
        self, source: Any, /, *, by: str | None = None, expect: str | None = None, **options: Any
    ) -> Result:
        """Check it, and return the result; see ``clew.scenario_test``."""


def check(source: Any, /, *, by: str | None = None, expect: str | None = None, **options: Any) -> Result:
    """Check in the test that runs now; raise ``CheckFailedError`` unless the answer is what is expected."""
    __tracebackhide__ = True
    test = current_test()
    if test is None:
        # Never skipped, and never silent: a test that checks nothing must not be taken for one that does.
        pytest.fail(_NO_PLUGIN, pytrace=False)
    try:
        return _check(test, source, by, expect, options)
    except ClewError as error:
        # Shown without a traceback, unlike what the test itself may get from Clew.
        test.refused = error
        raise


def _check(
    test: RunningTest, source: Any, by: str | None, expect: str | None, options: Mapping[str, Any]
) -> Result:
    __tracebackhide__ = True
    test.checks += 1
    test.generates = _is_generated()
    settings = read_settings(test.item.config)
    target = open_target(source, test.item.path.parent, test.item.config.rootpath)
    plan = plan_check(target, by, expect, options, settings)
    # Of inputs that are drawn, nobody knows how many there will be.
    slot = find_slot(settings, test.item.nodeid, 1 if test.generates else test.checks)
    # A stored failure is no failure where one is expected, and of drawn inputs it is that of other ones.
    if not test.generates and plan.expect != COUNTEREXAMPLE:
        _replay_first(test, plan, settings, slot)
    if settings.replay == "only":
        pytest.skip(_why_skipped(test, plan))
    try:
        result = perform(plan)
    except BudgetExhaustedError as limit:  # code that nothing can interrupt was ended from outside
        raise gave_up(plan, limit) from None
    judged = judge_result(plan, result)
    _note_properties(test, plan, judged.standing, result)
    if not judged.meets(plan.expect):
        if judged.standing is Standing.FOUND:
            raise counterexample_found(test, plan, slot, result, writes_test=settings.writes_tests)
        raise not_as_expected(plan, judged, result)
    test.passed.append((judged.standing.value, f"{target.name}: {judged.covered}"))
    # What is stored failed once; that it does not any more, only the whole search may say.
    forget(slot)
    return result


def _replay_first(test: RunningTest, plan: Plan, settings: Settings, slot: Slot) -> None:
    """Raise if what is stored of this check, or was given for it, still fails."""
    __tracebackhide__ = True
    file = settings.replay_file
    if file is None and (settings.replay == "never" or not slot.is_taken):
        return
    stored = slot.document if file is None else file
    replay = _replay(test, plan, stored, slot if file is None else None, is_given=file is not None)
    if replay is None:
        return
    if replay.fails:
        commands = [*replay.commands, *([test_command(test)] if file is None else [])]
        test.properties = [("clew_checked", plan.target.name), ("clew_answer", Standing.FOUND.value)]
        raise stored_failure(test, stored, replay.lines, commands)
    if settings.replay == "only":
        pytest.skip(f"{replay.why_not}; nothing was searched")
    test.notes.append(f"stored before: {replay.why_not}; searched again")


def _replay(test: RunningTest, plan: Plan, stored: Path, slot: Slot | None, *, is_given: bool) -> Replay | None:
    try:
        return replay_stored(plan, stored, slot)
    except ClewError as error:
        if is_given:
            raise
        # A file of an earlier version, cut off by somebody, or of a scenario that is another one now: the search
        # finds again what it was about.
        test.notes.append(f"what is stored cannot be replayed: {error.message}")
        return None


def _why_skipped(test: RunningTest, plan: Plan) -> str:
    if test.generates:
        return "--clew-replay: its inputs are drawn, and Hypothesis replays them; nothing was searched"
    if plan.expect == COUNTEREXAMPLE:
        return "--clew-replay: a counterexample is expected, and none is stored; nothing was searched"
    return "--clew-replay: no failure is stored; nothing was searched"


def _is_generated() -> bool:
    """Tell whether Hypothesis draws the inputs of the test."""
    # Who has not imported it draws nothing with it; and it is no dependency of Clew.
    hypothesis = sys.modules.get("hypothesis")
    return hypothesis is not None and bool(hypothesis.currently_in_test_context())


def _note_properties(test: RunningTest, plan: Plan, standing: Standing, result: Result) -> None:
    """Note what a report says of the latest check: for JUnit, and whoever reads it."""
    found = getattr(result, "counterexample", None) or next(iter(getattr(result, "counterexamples", ())), None)
    recording = getattr(result, "recording", None)
    seed = recording.seed if recording is not None else plan.options.get("seed", getattr(result, "seed", None))
    test.properties = [
        ("clew_checked", plan.target.name),
        ("clew_answer", standing.value),
        *([("clew_seed", str(seed))] if seed is not None else []),
        *([("clew_faults", str(found.faults))] if found is not None else []),
    ]
