"""Who may talk to a node: a list of peers, a secret, certificates; or everybody.

What each of them protects against is in ``docs/network.md``.
"""

from __future__ import annotations

import ipaddress
import ssl
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from clew.bloom.network.addresses import Address, parse_address
from clew.bloom.network.authentication import Key
from clew.errors import UsageError


@dataclass(frozen=True)
class TLS:
    """Files in PEM format: the certificate of this node, its key, and the authority that signed all certificates.

    A node that is connected to must have a certificate for the host in its address, unless ``check_host`` is
    false: then any certificate of the authority will do.
    """

    certificate: str | Path
    key: str | Path
    authority: str | Path
    check_host: bool = True

    def server_context(self) -> ssl.SSLContext:
        return self._context(ssl.PROTOCOL_TLS_SERVER)

    def client_context(self) -> ssl.SSLContext:
        context = self._context(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = self.check_host
        return context

    def _context(self, protocol: int) -> ssl.SSLContext:
        context = ssl.SSLContext(protocol)
        # Nodes talk to nodes of the same program, so there is no old client to be kind to.
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        if protocol == ssl.PROTOCOL_TLS_SERVER:
            # A server asks for no certificate unless told to; the client side does so by default.
            context.verify_mode = ssl.CERT_REQUIRED
        try:
            context.load_cert_chain(self.certificate, self.key, password=_no_password)
            context.load_verify_locations(self.authority)
        except (OSError, ValueError) as error:  # ssl.SSLError is an OSError
            raise UsageError(
                f"the certificates cannot be used: {error}",
                remedy="give files in PEM format and no password: TLS(certificate=..., key=..., authority=...)",
            ) from error
        return context


def _no_password() -> str:
    """Refuse to give a password: OpenSSL would ask for it at the terminal otherwise."""
    raise ValueError("the key is encrypted")


@dataclass(frozen=True)
class Access:
    """What the user gave; None where everybody may."""

    peers: tuple[str, ...] | None = None
    key: Key | None = None
    tls: TLS | None = None

    @property
    def is_open(self) -> bool:
        return self.peers is None and self.key is None and self.tls is None


OPEN = Access()


def check_access(peers: Sequence[str] | None, secret: str | bytes | None, tls: TLS | None) -> Access:
    """Check what the user gave, before anything is opened."""
    # A string is a sequence of letters, and each letter would pass for the name of a host.
    if isinstance(peers, str | bytes):
        raise UsageError(f"peers is {peers!r}", remedy="give a list: peers=['10.0.0.2:4000', '10.0.0.3']")
    if tls is not None and not isinstance(tls, TLS):
        raise UsageError(f"tls is {tls!r}", remedy="give TLS(certificate=..., key=..., authority=...)")
    for peer in peers or ():
        if not isinstance(peer, str) or parse_peer(peer) is None:
            raise UsageError(
                f"{peer!r} names no peer",
                remedy="give a host and a port, a host, or a network: '10.0.0.2:4000', 'db.local', '10.1.0.0/16'",
            )
    return Access(None if peers is None else tuple(peers), None if secret is None else Key(secret), tls)


def parse_peer(peer: str) -> tuple[str, int | None] | None:
    """Return the host, or the network, and the port if one is given; None if it is neither."""
    address = parse_address(peer)
    if address is not None:
        # Port 0 means any port when a node listens, and nothing here.
        return (address.host, address.port) if address.port else None
    if _parse_network(peer) is not None:
        return peer, None
    bare = peer.removeprefix("[").removesuffix("]")
    if not bare or ":" in bare or "/" in bare or any(map(str.isspace, bare)):
        return None
    return bare, None


def _parse_network(text: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network | None:
    try:
        return ipaddress.ip_network(text.removeprefix("[").removesuffix("]"), strict=False)
    except ValueError:
        return None


class Peers:
    """The peers as sockets see them.  ``learn`` takes what their names stand for, now and again."""

    def __init__(self, given: Sequence[str]) -> None:
        self._networks: list[ipaddress.IPv4Network | ipaddress.IPv6Network] = []
        self._named: dict[tuple[str, int | None], frozenset[str]] = {}
        for peer in given:
            found = parse_peer(peer)
            assert found is not None
            network = _parse_network(found[0])
            if network is not None and found[1] is None:
                self._networks.append(network)
            else:
                self._named[found] = frozenset() if network is None else frozenset([str(network[0])])
        self._refresh()

    def names(self) -> list[Address]:
        """Return those that have to be looked up."""
        return [Address(host, port or 0) for host, port in self._named if _parse_network(host) is None]

    def learn(self, name: Address, hosts: frozenset[str]) -> None:
        self._named[name.host, name.port or None] = hosts
        self._refresh()

    def _refresh(self) -> None:
        # Sets, made when a name is learnt: they are looked up for every datagram.
        self._exact = {(h, port) for (_, port), hosts in self._named.items() if port is not None for h in hosts}
        self._anywhere = {h for (_, port), hosts in self._named.items() if port is None for h in hosts}
        self._hosts = self._anywhere | {h for h, _ in self._exact}

    def has(self, host: str, port: int) -> bool:
        """Return whether datagrams from there are taken, and rows are sent there."""
        return (host, port) in self._exact or host in self._anywhere or self._in_network(host)

    def has_host(self, host: str) -> bool:
        """Return whether connections from there are taken: they come from any port."""
        return host in self._hosts or self._in_network(host)

    def has_exactly(self, host: str, port: int) -> bool:
        """Return whether the user named this very address."""
        return (host, port) in self._exact

    def _in_network(self, host: str) -> bool:
        if not self._networks:
            return False
        try:
            # A link-local address of IPv6 comes with its interface: fe80::1%eth0.
            address = ipaddress.ip_address(host.partition("%")[0])
        except ValueError:
            return False
        return any(address in network for network in self._networks)


def is_loopback(host: str) -> bool:
    """Tell whether a numeric address is one of this machine only."""
    try:
        return ipaddress.ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        return False
