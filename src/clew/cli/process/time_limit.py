"""The time that a command may take, told to whoever watches its process before the command does anything.

A search ends itself at its limit, and has an answer to give then; only what nothing in its process can interrupt
is ended from outside, somewhat later.  Commands without a search are ended from outside, at the limit.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import click

from clew.budgets.whereabouts import PATIENCE, tell_limit
from clew.errors import UsageError

_NAME = "time_limit"
_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0}


class Duration(click.ParamType[float]):
    """Seconds, or a number with a unit: 90, 90s, 2m, 1h."""

    name = "duration"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        if isinstance(value, float):  # a default
            return value
        number, unit = re.fullmatch(r"(.*?)([smh]?)", str(value).strip(), re.DOTALL).groups()  # type: ignore[union-attr]
        try:
            # What is no number of seconds that one could wait for, as -1 or nan, is refused by whoever takes it.
            return float(number) * _UNITS[unit]
        except ValueError:
            self.fail(f"{value!r} is not a duration: give seconds, or 90s, 2m, 1h", param, ctx)


def time_limit_option(help: str = "Stop after TIME (90, 90s, 2m, 1h).", **attributes: Any) -> Callable[[Any], Any]:
    """Return the option of a command that ends its search itself when the time is over."""
    return click.option("--time-limit", type=Duration(), metavar="TIME", help=help, **attributes)


def watch_time(command: click.Command) -> None:
    """See to it that the time limit of a command is known outside; give it one, if it has none."""
    own = [option for option in command.params if option.name == _NAME]
    for option in own:
        option.callback = _teller(PATIENCE)
    if not own:
        option = click.Option(
            ["--time-limit"],
            type=Duration(),
            metavar="TIME",
            expose_value=False,
            # Nothing in such a command looks at the clock: it is ended at once, for it has no answer to give.
            callback=_teller(0.0),
            help="End it after TIME (90, 90s, 2m, 1h), without an answer.",
        )
        command.params.append(option)


def _teller(patience: float) -> Callable[[click.Context, click.Parameter, float | None], float | None]:
    def tell(context: click.Context, option: click.Parameter, seconds: float | None) -> float | None:
        if seconds is not None and not seconds > 0:  # also refuses "not a number"
            raise UsageError(f"--time-limit is {seconds:g}", remedy="give a number larger than 0")
        tell_limit(seconds, patience)
        return seconds

    return tell
