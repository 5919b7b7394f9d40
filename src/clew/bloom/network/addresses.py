"""Where nodes are: the addresses that rows and users spell, and those that sockets take."""

from __future__ import annotations

import socket
from dataclasses import dataclass
from typing import Any

SocketAddress = tuple[Any, ...]


@dataclass(frozen=True)
class Address:
    """``host:port``; an IPv6 host is in brackets."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def parse_address(text: object) -> Address | None:
    """Parse an address; None if the text is none."""
    if not isinstance(text, str):
        return None
    host, colon, port = text.rpartition(":")
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    elif ":" in host:
        return None
    if not colon or not host or not (port.isascii() and port.isdigit() and len(port) <= 5) or int(port) > 65535:
        return None
    return Address(host, int(port))


def numeric_address(address: Address, family: int) -> SocketAddress | None:
    """Return where an address is that needs no looking up; None if it does."""
    try:
        found = socket.getaddrinfo(
            address.host, address.port, family, socket.SOCK_DGRAM, flags=socket.AI_NUMERICHOST
        )
    except (OSError, UnicodeError):
        return None
    return found[0][4]
