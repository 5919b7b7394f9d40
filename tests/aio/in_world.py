"""Run coroutine functions as scenarios, in this process, and keep what they return."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

import clew
from clew.aio.scenarios.adapting import make_scenario
from clew.aio.scenarios.world import World
from clew.aio.settings import Settings

Scenario = Callable[[World], Coroutine[Any, Any, Any]]


def run(scenario: Scenario, **settings: Any) -> Any:
    """Run a scenario without faults; return what it returns."""
    returned: list[Any] = []

    async def kept(world: World) -> None:
        returned.append(await scenario(world))
        world.promise("it has returned", True)

    # The hosts are known to be found when they start: without this, it would be executed twice.
    chosen = Settings(**{"hosts": ["client"], **settings})
    result = clew.run_scenario(make_scenario(kept, chosen), in_process=True)
    assert result.exit_code == 0, result
    # It is executed a second time to be shown, and must return the same.
    assert all(each == returned[0] for each in returned)
    return returned[0]
