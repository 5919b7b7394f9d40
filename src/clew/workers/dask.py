"""An executor for a cluster that Dask runs: many machines, of which each may come and go.

Dask moves what is sent by pickling it between processes of the user's, and starts again elsewhere what a worker
did not finish.  Whether that is encrypted, and who may take part, is said in Dask's own configuration
(``docs/scale.md``).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from clew.errors import UsageError
from clew.workers.dask_address import refuse, require_scheduler
from clew.workers.dask_client import ClientExecutor, WorkerCounter
from clew.workers.executors import Team


@contextmanager
def connect_cluster(address: str) -> Iterator[Team]:
    """Connect to the scheduler at an address, and leave it as it was."""
    try:
        from distributed import Client  # an extra of the package, and slow to import
    except ImportError:
        raise UsageError("Dask is not installed, which --cluster needs", remedy="pip install clew[dask]") from None
    require_scheduler(address)
    try:
        # Not the default of this process: the user's code may have a client of its own.
        client = Client(address, set_as_default=False, name="clew")
    except (OSError, RuntimeError) as error:  # the second where Dask's configuration demands encryption
        raise refuse(address, f"there is no cluster at {address}: {error}") from None
    with client:
        yield Team(ClientExecutor(client), WorkerCounter(client), f" at {address}")
