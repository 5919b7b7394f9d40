"""``--set NAME=VALUE``: values for the params of a program, for every command that reads one."""

from __future__ import annotations

from collections.abc import Iterable

import click

from clew.errors import UsageError
from clew.node_lists import BareNumber, NodeListError, read_parts

set_option = click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    help="Give a param of the program this value.  Repeatable.",
)


def read_settings(given: Iterable[str]) -> dict[str, str | int]:
    """Read what ``--set`` gives; raises ``UsageError`` for what is not understood."""
    found: dict[str, str | int] = {}
    for text in given:
        name, equals, written = text.partition("=")
        values = read_values(f"--set {text}", written) if equals and name else []
        if len(values) != 1:
            raise UsageError(
                f"--set {text} is not understood", remedy="write --set NAME=VALUE, as in --set replicas=5"
            )
        if name in found:
            raise UsageError(f"--set gives '{name}' two values", remedy="give it one; --grid tries several")
        found[name] = values[0]
    return found


def read_values(flag: str, text: str) -> list[str | int]:
    """Read values between commas: numbers, and strings with or without quotes; none if one of them is empty."""
    try:
        parts = read_parts(text)
    except NodeListError as error:
        raise UsageError(f"{flag}: {error.message}", remedy=error.remedy) from None
    values = [part.number if isinstance(part, BareNumber) else part for part in parts]
    return [] if None in values else [value for value in values if value is not None]
