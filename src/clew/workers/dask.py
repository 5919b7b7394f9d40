"""An executor for a cluster that Dask runs: many machines, of which each may come and go.

Dask moves what is sent by pickling it between processes of the user's, and starts again elsewhere what a worker
did not finish.  Whether that is encrypted, and who may take part, is said in Dask's own configuration
(``docs/scale.md``).
"""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from clew.errors import UsageError
from clew.workers.executors import Team

#: Often enough that workers which join are used soon; asking goes to the scheduler and back.
_COUNT_SECONDS = 1.0
_REACH_SECONDS = 10.0
#: A cluster that grows with what there is to do may take that long to have a worker.
_LONGEST_WAIT = 120.0


@contextmanager
def connect_cluster(address: str) -> Iterator[Team]:
    """Connect to the scheduler at an address, and leave it as it was."""
    try:
        from distributed import Client  # an extra of the package, and slow to import
    except ImportError:
        raise UsageError("Dask is not installed, which --cluster needs", remedy="pip install clew[dask]") from None
    _refuse_unreachable(address)
    try:
        # Not the default of this process: the user's code may have a client of its own.
        client = Client(address, set_as_default=False, name="clew")
    except OSError as error:
        raise _make_error(address, f"what answers there is no scheduler of Dask ({error})") from None
    with client:
        # Not pure: for Dask, an equal call would be the same one, whose result it may still have.
        yield Team(client.get_executor(pure=False), _Counter(client, address), f" at {address}")


def _refuse_unreachable(address: str) -> None:
    """Raise if nothing answers at an address: a client would take half a minute to say so, and go on trying."""
    from distributed.comm.addressing import parse_address, parse_host_port

    try:
        scheme, place = parse_address(address)
        if scheme not in ("tcp", "tls"):
            raise ValueError(f"'{scheme}' is neither tcp nor tls")
        with socket.create_connection(parse_host_port(place), _REACH_SECONDS):
            pass
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise _make_error(address, f"there is no cluster at {address}: {why}") from None


def _make_error(address: str, why: str) -> UsageError:
    return UsageError(
        why, remedy="give the address that the scheduler of Dask says it is at, such as tcp://HOST:8786"
    )


class _Counter:
    """Counts the workers of a cluster, now and then."""

    def __init__(self, client: Any, address: str) -> None:
        self._client = client
        self._address = address
        self._next = 0.0
        self._count = 0
        self._seen = time.monotonic()

    def __call__(self) -> int:
        now = time.monotonic()
        if now >= self._next:
            self._next = now + _COUNT_SECONDS
            # A scheduler that is gone is noticed where work does not come back.
            with suppress(OSError, RuntimeError):
                self._count = sum(self._client.ncores().values())
        if self._count:
            self._seen = now
        elif now > self._seen + _LONGEST_WAIT:
            raise UsageError(
                f"the cluster at {self._address} has had no workers for {_LONGEST_WAIT:g} s",
                remedy=f"start some: dask worker {self._address}",
            )
        return self._count
