"""``clew.aio.test``: a scenario that is a test of pytest."""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import fields
from typing import Any

from clew.aio.settings import FUNCTION, SETTINGS, Settings, read_settings
from clew.errors import UsageError
from clew.simulation.injectable import Faults

Test = Callable[..., Coroutine[Any, Any, Any]]


def test(
    *, by: str | None = None, expect: str | None = None, **options: Any
) -> Callable[[Test], Callable[[], None]]:
    """Let pytest check a coroutine function of one parameter, ``world``, as a scenario.

        @clew.aio.test(losses=2, crashes=1)
        async def test_acknowledged_writes_are_readable(world): ...

    ``options`` are settings of the scenario (``clew.aio.Settings``), its faults, and those of the search
    (``strategy``, ``max_runs``, ``runs``, ``time_limit``, ``seed``); ``by`` and ``expect`` are those of
    ``clew.scenario_test``.
    """
    own, others = _divide(options)
    settings = read_settings(own)

    def decorate(function: Test) -> Callable[[], None]:
        if not inspect.iscoroutinefunction(function):
            raise UsageError(
                f"{getattr(function, '__qualname__', function)} is no coroutine function",
                remedy="write 'async def test_...(world)', or use clew.scenario_test",
            )
        setattr(function, SETTINGS, settings)

        @functools.wraps(function)
        def checked() -> None:
            __tracebackhide__ = True
            # By its name: what knows of pytest is in a later room.
            checking = importlib.import_module("clew.pytest_plugin.checking")
            checking.check(_name(function), by=by, expect=expect, **others)

        setattr(checked, FUNCTION, function)
        # For pytest, whoever stands for a test has its parameters; the world is none of its fixtures.
        checked.__signature__ = inspect.Signature()  # type: ignore[attr-defined]
        del checked.__wrapped__
        return checked

    return decorate


#: Pytest would take it for a test wherever it is imported by name.
test.__test__ = False  # type: ignore[attr-defined]


def _divide(options: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the options of the scenario, and those of the search."""
    names = {each.name for each in (*fields(Settings), *fields(Faults))} | {"faults_until", "faults"}
    own = {name: value for name, value in options.items() if name in names - {"steps"}}
    return own, {name: value for name, value in options.items() if name not in own}


def _name(function: Test) -> Any:
    """Return the scenario as a command names it, if it can be found by a name; else the scenario itself."""
    file = inspect.getsourcefile(function)
    if file is not None and function.__qualname__ == function.__name__:
        return f"{file}:{function.__name__}"
    return importlib.import_module("clew.aio.scenarios.adapting").make_scenario(function)
