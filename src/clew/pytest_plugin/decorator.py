"""``clew.scenario_test``: a check as a decorator of a test function."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from clew.errors import UsageError

F = TypeVar("F", bound=Callable[..., None])

#: The parameter by which a test gets what its check came to.
RESULT = "clew_result"


def scenario_test(
    source: Any, /, *, by: str | None = None, expect: str | None = None, **options: Any
) -> Callable[[F], F]:
    """Let a test of pytest check a scenario, a Dedalus file or a Bloom class, before its body runs.

    - ``source``: a ``Scenario``, a Bloom class, or a file: "FILE.py:NAME" or "FILE.ded", beside the test or below
      the root directory of pytest; several Dedalus files as a list.
    - ``by``: "check" (faults; default of models and of scenarios with virtual time), "fuzz" (random executions;
      default of scenarios without) or "explore" (every schedule).
    - ``expect``: "certified" (default where the search can certify), "no counterexample" (default elsewhere), or
      "counterexample".
    - ``options``: those of ``check``, ``check_scenario``, ``fuzz`` or ``explore``, whichever is called:
      ``losses``, ``crashes``, ``strategy``, ``runs``, ``time_limit`` ...

    The test fails if it is another answer.  A parameter ``clew_result`` of the test gets the result.
    """
    if inspect.isfunction(source):
        raise UsageError(
            "scenario_test is given a function, and no scenario",
            remedy='say what is checked: @clew.scenario_test("FILE.py:NAME", losses=2, crashes=1)',
        )

    def decorate(test: F) -> F:
        _refuse_other_tests(test)
        signature = inspect.signature(test)
        wants_result = RESULT in signature.parameters

        @functools.wraps(test)
        def checked(*args: Any, **kwargs: Any) -> None:
            __tracebackhide__ = True
            from clew.pytest_plugin.checking import check

            result = check(source, by=by, expect=expect, **options)
            if wants_result:
                kwargs[RESULT] = result
            returned: object = test(*args, **kwargs)
            return returned  # type: ignore[return-value]  # pytest warns of tests that return something

        # Without the parameter, which pytest would take for a fixture.
        others = [parameter for name, parameter in signature.parameters.items() if name != RESULT]
        checked.__signature__ = signature.replace(parameters=others)  # type: ignore[attr-defined]
        return checked  # type: ignore[return-value]

    return decorate


def _refuse_other_tests(test: object) -> None:
    """Refuse what pytest calls in another way than a function: its body would never run."""
    if not callable(test) or isinstance(test, type):
        raise UsageError(
            "scenario_test decorates something that is no function", remedy="decorate a test function or method"
        )
    if inspect.iscoroutinefunction(test) or inspect.isgeneratorfunction(test) or inspect.isasyncgenfunction(test):
        raise UsageError(
            f"{getattr(test, '__qualname__', test)} is async or has a yield",
            remedy="let the test be a plain function, or call the fixture clew_check in it",
        )
