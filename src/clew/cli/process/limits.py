"""The time and the memory that a command may take.

The time limit is told to whoever watches the process before the command does anything.  A search ends itself at
its limit, and has an answer to give then; only what nothing in its process can interrupt is ended from outside,
somewhat later.  Commands without a search are ended from outside, at the limit.

Memory has a limit also when nobody asks for one: a machine that swaps gives no answers, nor does a process that
the system kills.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import click

from clew.budgets.whereabouts import PATIENCE, tell_limit
from clew.errors import UsageError

# -- time --------------------------------------------------------------------------------------------------------

_NAME = "time_limit"
_SECONDS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0}


# click has no types with units.  The messages of these two give an example.


class Duration(click.ParamType[float]):
    """Seconds, or a number with a unit: 90, 90s, 2m, 1h."""

    name = "duration"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        if isinstance(value, float):  # a default
            return value
        number, unit = re.fullmatch(r"(.*?)([smh]?)", str(value).strip(), re.DOTALL).groups()  # type: ignore[union-attr]
        try:
            # Numbers that are no limit, such as -1 and nan, are refused below, with their own message.
            return float(number) * _SECONDS[unit]
        except ValueError:
            self.fail(f"{value!r} is not a duration: give seconds, or 90s, 2m, 1h", param, ctx)


def time_limit_option(help: str = "Stop after TIME (90, 90s, 2m, 1h).", **attributes: Any) -> Callable[[Any], Any]:
    """Return the option of a command that ends its search itself when the time is over."""
    return click.option("--time-limit", type=Duration(), metavar="TIME", help=help, **attributes)


def watch_time(command: click.Command) -> None:
    """Announce the time limit of a command to whoever watches it; add the option to commands without one."""
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
            raise UsageError(f"{option.opts[0]} is {seconds:g}", remedy="give a number larger than 0")
        tell_limit(seconds, patience)
        return seconds

    return tell


# -- memory ------------------------------------------------------------------------------------------------------

#: The share of the machine's memory that a command may have when nothing is said.
DEFAULT_SHARE = 0.75

_BYTES = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
#: Less than this, and not even the imports succeed.
_LEAST = 128 << 20


class Memory(click.ParamType[int]):
    """A number of bytes, or of KB, MB or GB."""

    name = "memory"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        found = re.fullmatch(r"(\d+(?:\.\d+)?)([kmg]?)b?", str(value).strip().lower())
        if found is None:
            self.fail(f"{value!r} is no amount of memory: give bytes, or 500M, 2G", param, ctx)
        amount = int(float(found[1]) * _BYTES[found[2]])
        if amount < _LEAST:
            self.fail(f"{value!r} is less than Clew itself needs: give at least {_LEAST >> 20}M", param, ctx)
        return amount


def limit_memory(amount: int | None = None) -> None:
    """Limit the address space of this process and its children, by default to a share of the machine's memory.

    What asks for more gets a ``MemoryError``, which is an answer: incomplete, or a finding in the user's code.
    """
    with suppress(ImportError, OSError, ValueError, AttributeError):  # not every system has this limit
        import resource

        if amount is None:
            amount = int(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") * DEFAULT_SHARE)
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        if hard != resource.RLIM_INFINITY:
            amount = min(amount, hard)
        resource.setrlimit(resource.RLIMIT_AS, (amount, hard))


def _limit(context: click.Context, option: click.Parameter, amount: int | None) -> None:
    if amount is not None:
        limit_memory(amount)


MEMORY_OPTION = click.Option(
    ["--memory-limit"],
    type=Memory(),
    metavar="SIZE",
    expose_value=False,
    callback=_limit,
    help=f"The memory it may take, as 2G.  Default: {DEFAULT_SHARE:.0%} of what the machine has.",
)
