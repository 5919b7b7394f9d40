"""``--grid AXIS=VALUES`` of ``clew check``: the flags of a grid, and what it shows."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import click

from clew.cli.parts.clusters import WorkFlags
from clew.cli.parts.outputs import Outputs
from clew.cli.parts.progress import progress_display
from clew.cli.parts.settings import read_values
from clew.cli.process.limits import Duration
from clew.errors import UsageError

_INTERVAL = re.compile(r"(-?[0-9]{1,10})\.\.(-?[0-9]{1,10})")


@dataclass(frozen=True)
class GridFlags:
    """What the command line says of a grid; without an axis there is none."""

    axes: tuple[str, ...]
    time_limit_each: float | None

    def refuse_without_grid(self) -> None:
        """Refuse what only a grid can use."""
        if self.time_limit_each is not None:
            raise UsageError(
                "--time-limit-each is for a grid", remedy="add what varies, as in --grid crashes=0..2"
            )

    def refuse_with_grid(self, given: Mapping[str, object]) -> None:
        """Refuse options of a check that make no sense for many; ``given`` has them by flag."""
        for flag, value in given.items():
            if value:
                raise UsageError(
                    f"{flag} is about one check, and --grid asks for many",
                    remedy="leave it out, and give it with the setting that you want to look at",
                )


def grid_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of a grid; it gets them as ``grid``."""

    @functools.wraps(command)
    def with_grid(*, axes: tuple[str, ...], time_limit_each: float | None, **parameters: Any) -> None:
        command(grid=GridFlags(axes, time_limit_each), **parameters)

    options = [
        click.option(
            "--grid",
            "axes",
            multiple=True,
            metavar="AXIS=VALUES",
            help="Check each of these values of a param or bound: 3..7, or 3,5,7.  Repeatable: all combinations.",
        ),
        click.option(
            "--time-limit-each", type=Duration(), metavar="TIME", help="Stop each setting of a --grid after TIME."
        ),
    ]
    for option in reversed(options):
        with_grid = option(with_grid)
    return with_grid


def check_settings(
    files: Sequence[str],
    grid: GridFlags,
    options: Mapping[str, Any],
    params: Mapping[str, str | int],
    time_limit: float | None,
    work: WorkFlags,
    outputs: Outputs,
) -> None:
    """Check all settings of a grid, show what came of them, and exit."""
    from clew.checker.grid.api import check_grid  # most checks have no grid, and should not pay for it

    axes = read_axes(grid.axes)
    with work.open_team() as team, progress_display("checking the grid") as progress:
        result = check_grid(
            files,
            axes,
            params=params,
            workers=work.workers,
            executor=team,
            time_limit=time_limit,
            time_limit_each=grid.time_limit_each,
            progress=progress,
            **options,
        )
    outputs.show(result, lambda: f"{result}\n")
    outputs.write(result)
    raise SystemExit(result.exit_code)


def read_axes(given: Sequence[str]) -> dict[str, Sequence[str | int]]:
    """Read what ``--grid`` gives; raises ``UsageError`` for what is not understood."""
    found: dict[str, Sequence[str | int]] = {}
    for text in given:
        name, equals, written = text.partition("=")
        values = _read_axis(text, written) if equals and name else ()
        if not values:
            raise UsageError(
                f"--grid {text} is not understood", remedy="write --grid AXIS=3..7 or --grid AXIS=3,5,7"
            )
        if name in found:
            raise UsageError(f"--grid gives the axis '{name}' twice", remedy="give it once, with all its values")
        found[name] = values
    return found


def _read_axis(text: str, written: str) -> Sequence[str | int]:
    if interval := _INTERVAL.fullmatch(written):
        first, last = map(int, interval.groups())
        if first > last:
            raise UsageError(
                f"--grid {text}: the interval {first}..{last} is empty",
                remedy=f"write the smaller number first: {last}..{first}",
            )
        return range(first, last + 1)
    if ".." in written and '"' not in written:
        raise UsageError(
            f"--grid {text}: an interval has a whole number at either end",
            remedy="write 3..7, or list values: a,b",
        )
    return read_values(f"--grid {text}", written)
