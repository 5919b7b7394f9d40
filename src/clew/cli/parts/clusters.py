"""``--workers N`` and ``--cluster ADDRESS``: who executes what a search asks for."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from clew.errors import UsageError

if TYPE_CHECKING:
    from clew.workers.executors import Team


@dataclass(frozen=True)
class WorkFlags:
    """So many processes of this machine, or the workers of a cluster."""

    workers: int | None = None
    cluster: str | None = None

    @property
    def given(self) -> str | None:
        """Return the flag that was given; None if this process does it alone."""
        if self.cluster is not None:
            return "--cluster"
        return "--workers" if self.workers is not None else None

    @contextmanager
    def open_team(self) -> Iterator[Team | None]:
        """Connect to the cluster if one is named."""
        if self.cluster is None:
            yield None
            return
        if self.workers is not None:
            raise UsageError(
                "--workers is for this machine, and --cluster for others", remedy="leave one of them out"
            )
        from clew.workers.dask import connect_cluster  # only when asked for

        # What becomes of connections is told here, once, where it matters.
        logging.getLogger("distributed").setLevel(logging.CRITICAL)
        with connect_cluster(self.cluster) as team:
            yield team


def work_options(what: str = "") -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options of who works for it, as ``work``; ``what``: only for what they are."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(command)
        def with_work(*, workers: int | None, cluster: str | None, **parameters: Any) -> None:
            command(work=WorkFlags(workers, cluster), **parameters)

        processes = click.option(
            "--workers", type=int, metavar="N", help=f"How many processes{what}.  Default: 1."
        )
        machines = click.option(
            "--cluster",
            metavar="ADDRESS",
            help=f"Let a Dask cluster do it{what}, such as tcp://HOST:8786 (clew[dask]).",
        )
        return processes(machines(with_work))

    return decorate
