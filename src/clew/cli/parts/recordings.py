"""The scenario of a recording, as ``clew minimize`` and ``clew replay`` are told it."""

from __future__ import annotations

from collections.abc import Sequence

from clew.errors import UsageError

#: What --help says of --scenario.
SCENARIO_HELP = "Execute this file, and not the one that the recording names."


def one_scenario(given: Sequence[str], scenario: str | None) -> list[str]:
    """Return the scenario that the command line names, as an argument or with --scenario: one or none."""
    named = [*given, *([scenario] if scenario is not None else [])]
    if len(named) > 1:
        raise UsageError(
            f"{len(named)} files are given, and a recording is of one scenario", remedy="name that, or nothing"
        )
    return named
