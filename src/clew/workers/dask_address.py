"""Find out within seconds whether a scheduler of Dask is at an address.

A client of Dask goes on trying for half a minute where nobody answers, waits for ever for whoever accepts a
connection and says nothing, and takes the greeting of any other server for the length of a message, for which it
asks for memory.  So somebody else looks first.
"""

from __future__ import annotations

import socket
import ssl

from clew.errors import UsageError

_REACH_SECONDS = 10.0
#: A scheduler speaks first: the length of what it says of itself, as eight bytes, and then about sixty more.
_LENGTH_BYTES, _LONGEST_GREETING = 8, 1_000_000


def require_scheduler(address: str) -> None:
    """Raise unless a scheduler of Dask answers at an address."""
    from distributed.comm.addressing import parse_address, parse_host_port  # an extra, and slow to import

    try:
        scheme, place = parse_address(address)
        if scheme not in ("tcp", "tls"):
            raise ValueError(f"'{scheme}' is neither tcp nor tls")
        host, port = parse_host_port(place)
        line = socket.create_connection((host, port), _REACH_SECONDS)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise refuse(address, f"there is no cluster at {address}: {why}") from None
    with line:
        _require_greeting(address, line, None if scheme == "tcp" else _load_certificates(address), host)


def _load_certificates(address: str) -> ssl.SSLContext:
    """Return how Dask's own configuration says that connections are encrypted."""
    from distributed.security import Security

    context: ssl.SSLContext | None = Security().get_connection_args("client").get("ssl_context")
    if context is None:
        raise UsageError(
            f"{address} is encrypted, and Dask's configuration names no certificates",
            remedy="set distributed.comm.tls.ca-file and distributed.comm.tls.client, see Dask's documentation",
        )
    return context


def _require_greeting(address: str, line: socket.socket, context: ssl.SSLContext | None, host: str) -> None:
    try:
        if context is not None:
            line = context.wrap_socket(line, server_hostname=host)
        line.settimeout(_REACH_SECONDS)
        greeting = _receive(line)
    except TimeoutError:
        raise refuse(address, f"what is at {address} accepts connections and says nothing") from None
    except OSError as error:
        raise refuse(address, f"what is at {address} does not speak as a scheduler ({error})") from None
    finally:
        line.close()
    if len(greeting) < _LENGTH_BYTES or int.from_bytes(greeting, "little") > _LONGEST_GREETING:
        raise refuse(address, f"what is at {address} is no scheduler of Dask")


def _receive(line: socket.socket) -> bytes:
    received = b""
    while len(received) < _LENGTH_BYTES and (more := line.recv(_LENGTH_BYTES - len(received))):
        received += more
    return received


def refuse(address: str, why: str) -> UsageError:
    """Return the error for an address where no cluster can be used."""
    return UsageError(
        why, remedy="give the address that the scheduler of Dask says it is at, such as tcp://HOST:8786"
    )
