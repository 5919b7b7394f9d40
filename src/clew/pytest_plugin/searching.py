"""What is run for a check, said explicitly: which function of Clew, with which options, and what is expected.

| what is checked                    | ``by``, the default first | what it can answer                          |
|------------------------------------|---------------------------|---------------------------------------------|
| a model (Dedalus, Bloom)           | check                     | certified; at random: no counterexample     |
| a scenario with virtual time       | check                     | no counterexample; by exhaustion: certified |
|                                    | fuzz                      | no counterexample                           |
|                                    | explore                   | certified                                   |
| a scenario without virtual time    | fuzz                      | no counterexample                           |
|                                    | explore                   | certified                                   |
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import clew
from clew.errors import UsageError
from clew.injection.checking import prepare_scenario
from clew.names import nearest_name
from clew.pytest_plugin.options import Settings
from clew.pytest_plugin.sources import Kind, Target
from clew.results import Result
from clew.simulation.execution.isolation import run_isolated

#: What can be expected, the strongest first.
CERTIFIED, NO_COUNTEREXAMPLE, COUNTEREXAMPLE = EXPECTATIONS = ("certified", "no counterexample", "counterexample")

_WAYS = {Kind.MODEL: ("check",), Kind.TIMED: ("check", "fuzz", "explore"), Kind.UNTIMED: ("fuzz", "explore")}
#: What the functions take that is the business of the plugin, or of none.
_NOT_OPTIONS = {"source", "scenario", "progress", "checkpoint", "visit", "ends_with"}
#: Forking is what keeps code of the user away from this process; the child has no other threads, and needs none.
FORK_WARNING = ".*multi-threaded, use of fork"


class Plan(NamedTuple):
    """A check before it is made."""

    target: Target
    by: str
    expect: str
    options: Mapping[str, Any]

    @property
    def call(self) -> str:
        """Return which function of Clew it calls."""
        return "check_scenario" if self.by == "check" and self.target.kind is Kind.TIMED else self.by

    @property
    def time_limit(self) -> float | None:
        limit: float | None = self.options.get("time_limit")
        return limit


def plan_check(
    target: Target, by: str | None, expect: str | None, options: Mapping[str, Any], settings: Settings
) -> Plan:
    """Decide what is run, and refuse what cannot be."""
    ways = _WAYS[target.kind]
    by = ways[0] if by is None else by
    if by not in ways:
        raise UsageError(
            f"by is {by!r}, and {target.name} is {target.kind.value}",
            remedy=f"give {' or '.join(map(repr, ways))}",
        )
    plan = Plan(target, by, "", options)
    _refuse_unknown_options(plan)
    certifies = _can_certify(plan)
    if expect is None:
        expect = CERTIFIED if certifies else NO_COUNTEREXAMPLE
    elif expect not in EXPECTATIONS:
        raise UsageError(f"expect is {expect!r}", remedy=f"give one of {', '.join(map(repr, EXPECTATIONS))}")
    elif expect == CERTIFIED and not certifies:
        raise UsageError(
            "this search certifies nothing, whatever it finds, and a certificate is expected",
            remedy=_remedy_for_certificates(plan),
        )
    return _with_until(plan._replace(expect=expect, options={**options, **_limits(plan, settings)}))


def _refuse_unknown_options(plan: Plan) -> None:
    known = [name for name in inspect.signature(getattr(clew, plan.call)).parameters if name not in _NOT_OPTIONS]
    for name in plan.options:
        if name not in known:
            nearest = nearest_name(name, known)
            hint = f"did you mean {nearest}? " if nearest else ""
            if name == "losses" and plan.target.kind is Kind.MODEL:
                hint = "messages sent before eff can be lost. "
            raise UsageError(
                f"'{name}' is no option of clew.{plan.call}, which checks {plan.target.name}",
                remedy=f"{hint}there are {', '.join(known)}",
            )


def _can_certify(plan: Plan) -> bool:
    """Tell whether this search can prove that there is nothing to be found."""
    strategy = plan.options.get("strategy")
    match plan.call:
        case "check":
            return strategy != "random" and plan.options.get("negation") != "ignore"
        case "check_scenario":
            return strategy == "exhaustive"
        case _:
            return plan.by == "explore"


def _remedy_for_certificates(plan: Plan) -> str:
    match plan.target.kind:
        case Kind.TIMED:
            return "use strategy='exhaustive', which tries all faults within the bounds"
        case Kind.UNTIMED:
            return "use by='explore', which executes every schedule"
        case _:
            return "use another strategy, as 'exact'"


def _limits(plan: Plan, settings: Settings) -> dict[str, Any]:
    """Return time limit and seed: of the command line, the test, or the configuration file, in this order."""
    limits: dict[str, Any] = {}
    given = plan.options.get("time_limit")
    usual = settings.usual_time_limit if given is None else given
    limits["time_limit"] = usual if settings.time_limit is None else settings.time_limit
    if plan.call != "check" or plan.options.get("strategy") == "random":  # no other check of a model draws
        given = plan.options.get("seed")
        usual_seed = settings.usual_seed if given is None else given
        seed = usual_seed if settings.seed is None else settings.seed
        if seed is not None:
            limits["seed"] = seed
    if plan.call == "fuzz":
        # As clew test does: what nobody asked for should not take minutes.
        scenario = plan.target.scenario.scenario
        limits["runs"] = plan.options.get("runs", scenario.expect_runs)
        limits.setdefault("seed", scenario.expect_seed)
    return limits


def _with_until(plan: Plan) -> Plan:
    """Let executions that are replayed and minimized end when those of the search do."""
    until = plan.options.get("until")
    if until is None:
        return plan
    loaded = plan.target.scenario
    loaded = replace(loaded, scenario=prepare_scenario(loaded.scenario, until))
    # It stays among the options, too: the command that is shown has to say it.
    return plan._replace(target=plan.target._replace(given=loaded))


def perform(plan: Plan) -> Result:
    """Make the check: in a child process wherever code of the user is executed."""
    function: Callable[..., Result] = getattr(clew, plan.call)

    def work(tell: object) -> Result:
        return function(plan.target.given, **plan.options)

    with warnings.catch_warnings():
        # Whoever has warnings for errors runs with workers of xdist, too, which have threads.
        warnings.filterwarnings("ignore", message=FORK_WARNING, category=DeprecationWarning)
        # What simulates forks by itself; functions of Bloom rules would be executed here.
        if plan.call == "check" and plan.target.runs_code:
            return run_isolated(work, None)
        return work(None)
