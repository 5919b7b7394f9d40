"""``--cluster ADDRESS``: what is executed by the workers of a cluster."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from clew.errors import UsageError

if TYPE_CHECKING:
    from clew.workers.executors import Team

cluster_option = click.option(
    "--cluster",
    metavar="ADDRESS",
    help="Let the workers of a Dask cluster do it, such as tcp://HOST:8786 (clew[dask]).",
)


@contextmanager
def open_cluster(address: str | None, workers: int | None) -> Iterator[Team | None]:
    """Connect to a cluster if one is named."""
    if address is None:
        yield None
        return
    if workers is not None:
        raise UsageError("--workers is for this machine, and --cluster for others", remedy="leave one of them out")
    from clew.workers.dask import connect_cluster  # only when asked for

    # What becomes of connections is told here, once, where it matters.
    logging.getLogger("distributed").setLevel(logging.CRITICAL)

    with connect_cluster(address) as team:
        yield team
