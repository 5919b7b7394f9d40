"""The time that a command may take, told to whoever watches its process before the command does anything.

A search ends itself at its limit, and has an answer to give then; only what nothing in its process can interrupt
is ended from outside, somewhat later.  Commands without a search are ended from outside, at the limit.
"""

from __future__ import annotations

from collections.abc import Callable

import click

from clew.budgets.whereabouts import PATIENCE, tell_limit
from clew.errors import UsageError

_NAME = "time_limit"


def watch_time(command: click.Command) -> None:
    """See to it that the time limit of a command is known outside; give it one, if it has none."""
    own = [option for option in command.params if option.name == _NAME]
    for option in own:
        option.callback = _teller(PATIENCE)
    if not own and not any(option.name == "budget" for option in command.params):
        option = click.Option(
            ["--time-limit"],
            type=float,
            metavar="S",
            expose_value=False,
            callback=_teller(0.0),
            help="End it after S seconds, without an answer.",
        )
        command.params.append(option)


def _teller(patience: float) -> Callable[[click.Context, click.Parameter, float | None], float | None]:
    def tell(context: click.Context, option: click.Parameter, seconds: float | None) -> float | None:
        if seconds is not None and not seconds > 0:  # also refuses "not a number"
            raise UsageError(f"--time-limit is {seconds:g}", remedy="give a number larger than 0")
        tell_limit(seconds, patience)
        return seconds

    return tell
