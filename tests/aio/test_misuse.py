"""Mistakes are told at once: what it is, the line in the user's file, and what to do instead."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

import clew
from aio import misused
from clew.aio.scenarios.adapting import make_scenario
from clew.aio.settings import Settings
from clew.errors import UsageError

FILE = Path(misused.__file__)

#: By the mistake: what is said, after the function, and a part of the remedy.
MISTAKES = {
    "sleeps_for_real": ("time.sleep(1) is not simulated", "await asyncio.sleep"),
    "starts_a_thread": ("threading.Thread.start() is not simulated", "asyncio.to_thread"),
    "runs_a_loop": ("asyncio.run() is not simulated", "await the coroutine"),
    "runs_a_loop_by_a_runner": ("asyncio.Runner.run() is not simulated", "await the coroutine"),
    "runs_its_loop": ("loop.run_forever() is not simulated", "running already"),
    "starts_a_process": ("loop.subprocess_exec() is not simulated", "as a host of the simulation"),
    "starts_a_process_and_waits": ("subprocess.Popen() is not simulated", "as a host of the simulation"),
    "starts_a_shell": ("os.system() is not simulated", "as a host of the simulation"),
    "blocks_on_a_socket": ("socket.create_connection() is not simulated", "use asyncio"),
    "asks_for_another_family": ("socket.socket(family=", "AF_INET"),
    "uses_a_unix_socket": ("loop.create_unix_connection() is not simulated", "use TCP"),
    "fetches_a_page": ("socket.create_connection() is not simulated", "use asyncio"),
    "swallows_the_refusal": ("time.sleep(1) is not simulated", "await asyncio.sleep"),
    "writes_elsewhere": ("open('/somewhere-else') for writing, outside of the host's disk,", "relative path"),
    "watches_a_pipe": ("loop.add_reader(0) is not simulated", "sockets that were made at this host"),
    "starts_no_coroutine_function": ("host 'a' is to run print, which is no coroutine function", "async def"),
    "starts_a_host_twice": ("host 'a' is started twice", "world.restart"),
    "crashes_nobody": ("unknown host 'nobody'", "the hosts are client"),
    "does_not_await": ("the promise 'it is true' is given something that was never awaited", "await it"),
    "exposes_no_name": ("'not a name' cannot be exposed", "could be a variable"),
    "takes_too_much": ("takes_too_much takes 2 arguments, and a scenario takes one", "async def scenario(world)"),
    "takes_nothing": ("takes_nothing takes 0 arguments, and a scenario takes one", "async def scenario(world)"),
}
#: By the scenario that says nothing: what is said of that.
SILENT = {
    "never_ends": "the scenario did not return: give what it waits for a time-out",
    "polls_for_ever": "the scenario did not return: give what it waits for a time-out",
    "promises_nothing": "the scenario makes no promise",
    "assumes_what_never_holds": "an assumption does not hold",
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_told_with_its_place_and_a_remedy(mistake: str) -> None:
    said, remedy = MISTAKES[mistake]
    function = getattr(misused, mistake)
    lines, first = inspect.getsourcelines(function)
    with pytest.raises(UsageError) as refused:
        clew.run_scenario(make_scenario(function, Settings(hosts=["client"])), in_process=True)
    error = refused.value
    assert said in error.message and remedy in (error.remedy or "")
    assert error.position is not None and Path(error.position.file) == FILE
    assert first <= error.position.line < first + len(lines)


@pytest.mark.parametrize("scenario", SILENT)
def test_a_scenario_that_says_nothing_is_no_success(scenario: str) -> None:
    # With a host that is given, for then it is not executed only to find out which there are.
    made = make_scenario(getattr(misused, scenario), Settings(hosts=["client"], until=10))
    verdict = clew.check_scenario(made, losses=0, crashes=0)
    assert verdict.answer is clew.Answer.INCOMPLETE and verdict.exit_code == 3
    assert SILENT[scenario] in (verdict.reason or "")


def test_a_host_that_computes_for_ever_is_stopped() -> None:
    made = make_scenario(misused.computes_for_ever, Settings(hosts=["client"], step_seconds=0.2))
    with pytest.raises(UsageError, match=r"0\.2 s") as refused:
        clew.run_scenario(made, in_process=True)
    assert refused.value.remedy


def test_every_mistake_is_in_a_table() -> None:
    functions = {name for name, value in vars(misused).items() if inspect.iscoroutinefunction(value)}
    assert functions == {*MISTAKES, *SILENT, "computes_for_ever"}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"unit": "packet"}, "unit is 'packet'"),
        ({"disk": "wet"}, "disk is 'wet'"),
        ({"lost": "found"}, "lost is 'found'"),
        ({"lineage": "cells"}, "lineage is 'cells'"),
        ({"segment": 0}, "segment is 0"),
        ({"losess": 1}, "'losess' is no setting of a scenario"),
    ],
    ids=str,
)
def test_a_setting_that_cannot_be_is_refused(options: dict[str, object], said: str) -> None:
    with pytest.raises(UsageError) as refused:
        clew.aio.scenario(**options)
    assert said in refused.value.message and refused.value.remedy
