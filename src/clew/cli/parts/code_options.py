"""The options of ``clew check`` that are for scenarios: how many faults of which kind, and when."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import click

from clew.cli.parts.files import FILE
from clew.cli.process.limits import Duration
from clew.errors import UsageError


class SharedFlags(NamedTuple):
    """The options that checks of models and of code have in common."""

    crashes: int | None
    restarts: int | None
    partitions: int | None
    duplicates: int | None
    strategy: str | None
    max_runs: int | None
    time_limit: float | None
    seed: int | None
    checkpoint: str | None


@dataclass(frozen=True)
class CodeFlags:
    """What the command line says of a check of code, beside what it says of any."""

    losses: int | None
    faults: int | None
    until: float | None
    faults_until: float | None
    outages: tuple[float, ...]
    output: str | None

    def refuse_for_models(self) -> None:
        """Refuse what only scenarios know."""
        given = {
            "--losses": self.losses,
            "--faults": self.faults,
            "--until": self.until,
            "--faults-until": self.faults_until,
            "--outage": self.outages or None,
            "-o": self.output,
        }
        # The flags of models that come closest to what is meant.
        remedies = {"--losses": "messages sent before --eff can be lost", "--until": "give --eot"}
        for flag, value in given.items():
            if value is not None:
                raise UsageError(
                    f"{flag} is for scenarios of Python code", remedy=remedies.get(flag, "leave it out")
                )


def code_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options for scenarios; it gets them as ``code``."""

    @functools.wraps(command)
    def with_code(
        *,
        losses: int | None,
        faults: int | None,
        until: float | None,
        faults_until: float | None,
        outages: tuple[float, ...],
        output: str | None,
        **parameters: Any,
    ) -> None:
        command(code=CodeFlags(losses, faults, until, faults_until, outages, output), **parameters)

    options = [
        click.option("--losses", type=int, metavar="N", help="How many messages may be lost (scenarios)."),
        click.option("--faults", type=int, metavar="N", help="How many faults there may be in all (scenarios)."),
        click.option("--until", type=Duration(), metavar="TIME", help="When executions end (scenarios)."),
        click.option(
            "--faults-until", type=Duration(), metavar="TIME", help="When the last fault begins (scenarios)."
        ),
        click.option(
            "--outage",
            "outages",
            type=Duration(),
            multiple=True,
            metavar="TIME",
            help="How long restarts and partitions last (scenarios).  Repeatable.  Default: 1s.",
        ),
        click.option(
            "-o", "--output", type=FILE, metavar="FILE", help="Write the recording of what fails (scenarios)."
        ),
    ]
    # The help lists options in the order of decorators, the last of which is applied first.
    for option in reversed(options):
        with_code = option(with_code)
    return with_code


def refuse_for_scenarios(given: Mapping[str, object]) -> None:
    """Refuse what only models know; ``given`` has the options by flag."""
    for flag, value in given.items():
        # Click gives False for a switch and () for a list that is not there.
        if value is not None and value is not False and value != ():
            raise UsageError(
                f"{flag} is for models, and this is a scenario of Python code",
                remedy="leave it out; --losses, --until and others are for scenarios, see clew check --help",
            )
