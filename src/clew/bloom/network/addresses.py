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


def parsed(text: object) -> Address | None:
    """The address that a text spells; None if it spells none."""
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


def numeric(address: Address, family: int) -> SocketAddress | None:
    """Where an address is that needs no looking up."""
    try:
        found = socket.getaddrinfo(
            address.host, address.port, family, socket.SOCK_DGRAM, flags=socket.AI_NUMERICHOST
        )
    except (OSError, UnicodeError):
        return None
    return found[0][4]
