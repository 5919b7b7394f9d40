"""The memory that a command may take: a machine that swaps gives no answers, nor does a process that is killed."""

from __future__ import annotations

import os
import re
from contextlib import suppress

import click

#: The share of the machine's memory that a command may have when nothing is said.
DEFAULT_SHARE = 0.75

_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
#: Less than this, and not even the imports succeed.
_LEAST = 128 << 20


class Memory(click.ParamType[int]):
    """A number of bytes, or of KB, MB or GB."""

    name = "memory"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        found = re.fullmatch(r"(\d+(?:\.\d+)?)([kmg]?)b?", str(value).strip().lower())
        if found is None:
            self.fail(f"{value!r} is no amount of memory: give bytes, or 500M, 2G", param, ctx)
        amount = int(float(found[1]) * _UNITS[found[2]])
        if amount < _LEAST:
            self.fail(f"{value!r} is less than Clew itself needs: give at least {_LEAST >> 20}M", param, ctx)
        return amount


def limit_memory(amount: int | None = None) -> None:
    """Let this process and its children have so much address space, by default a share of the machine's memory.

    What asks for more gets a ``MemoryError``, which is an answer: incomplete, or a finding in the user's code.
    """
    with suppress(ImportError, OSError, ValueError, AttributeError):  # where there is no such limit, there is none
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
