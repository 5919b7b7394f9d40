"""What all hosts of one execution share of the network: names, addresses, numbers, and how packets are
described."""

from __future__ import annotations

import errno
import ipaddress
from collections.abc import Callable, Iterable

LOOPBACK, ANY = "127.0.0.1", "0.0.0.0"  # nothing is bound but in the simulation
_FIRST_FREE, _LAST_PORT = 49152, 65535

#: What a program may call its own host, or all of its addresses.
_LOCAL_NAMES = {"localhost": LOOPBACK, "": ANY, "::": ANY, "::1": LOOPBACK, "ip6-localhost": LOOPBACK}


class Internet:
    """Who is called what, and where.  ``secrets``: bytes of packets that nobody may look at."""

    def __init__(self, names: Iterable[str], describe: Callable[[bytes], str], segment: int, unit: str) -> None:
        self._addresses: dict[str, list[str]] = {}
        self._hosts: dict[str, str] = {}
        self._ports: dict[str, int] = {}
        self._opened: dict[str, int] = {}
        self._pairs: dict[tuple[str, str], int] = {}
        self.describe = describe
        self.segment_size = segment
        #: What a fault hits of a stream.
        self.unit = unit
        self._turns: dict[tuple[str, str, str], int] = {}
        #: The hosts that refuse new connections.
        self.refusing: set[str] = set()
        self.secrets: dict[tuple[str, int, bool, int], bytes] = {}
        for name in names:
            self.add_host(name)

    def add_host(self, name: str) -> None:
        """Give a host an address, if it has none."""
        if name not in self._addresses:
            number = len(self._addresses) + 1
            self._give(name, f"10.0.{number // 250}.{number % 250}")

    def add_address(self, name: str, address: str) -> None:
        """Give a host another address."""
        if self._hosts.get(address, name) != name:
            raise OSError(errno.EADDRINUSE, f"{address} is an address of {self._hosts[address]}")
        self._give(name, str(ipaddress.ip_address(address)))

    def _give(self, name: str, address: str) -> None:
        self._addresses.setdefault(name, []).append(address)
        self._hosts[address] = name

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._addresses)

    def address_of(self, name: str) -> str:
        return self._addresses[name][0]

    def addresses_of(self, name: str) -> list[str]:
        return list(self._addresses[name])

    def find_host(self, address: str) -> str | None:
        """Return the host that has an address."""
        return self._hosts.get(address)

    def host_at(self, address: str) -> str:
        name = self._hosts.get(address)
        if name is None:
            raise OSError(errno.EHOSTUNREACH, f"No route to host: no simulated host has the address {address}")
        return name

    def resolve(self, host: str | bytes | None, *, is_passive: bool = False) -> list[str]:
        """Return the addresses of a name; a literal address is its own.  An empty list: nobody knows it."""
        if host is None:
            return [ANY if is_passive else LOOPBACK]
        # Some libraries encode it first, as IDNA.
        name = host.decode("ascii") if isinstance(host, bytes | bytearray) else str(host)
        if name in _LOCAL_NAMES:
            return [_LOCAL_NAMES[name]]
        if name in self._addresses:
            return self.addresses_of(name)
        if name.lower() in self._addresses:
            return self.addresses_of(name.lower())
        try:
            return [str(ipaddress.ip_address(name))]
        except ValueError:
            return []

    def free_port(self, name: str) -> int:
        """Return a port that was not given away before: later lives of a host do not use those of earlier ones."""
        port = self._ports.get(name, _FIRST_FREE)
        self._ports[name] = port + 1 if port < _LAST_PORT else _FIRST_FREE
        return port

    def number_connection(self, opener: str, peer: str) -> tuple[int, int]:
        """Return the number of a new connection at its opener, and its number among those between the two."""
        number = self._opened[opener] = self._opened.get(opener, 0) + 1
        nth = self._pairs[opener, peer] = self._pairs.get((opener, peer), 0) + 1
        return number, nth

    def number_turn(self, source: str, target: str, kind: str) -> int:
        """Return the number of a new request or reply, among those from one host to the other."""
        number = self._turns[source, target, kind] = self._turns.get((source, target, kind), 0) + 1
        return number
