"""Packets that only holders of a secret can make, each of which is taken once.

Every packet carries a keyed BLAKE2b hash.  What it says is not hidden: that is what TLS is for.

**Datagrams.**  A receiver draws a random *epoch* when it starts, and tells it to who asks with a nonce
(``address_proofs``).  The hash of a datagram covers the epoch of its receiver, the random name of its sender, and
a counter; a receiver remembers which counters of each sender it has seen, within a window.  So an old datagram is
refused whoever has restarted since then: if it was the receiver, the epoch is another one; if it was the sender,
it has another name, and the old name's counters are still remembered.  Names are forgotten only together with
the epoch.

**Connections.**  Who accepts a connection draws a random token for it; the hash of a frame covers the token and
the number of the frame.  Frames can neither be repeated, nor left out, nor moved to another connection.
"""

from __future__ import annotations

import hmac
import secrets
import struct
from hashlib import blake2b

from clew.errors import UsageError

MAC_SIZE = 16
TOKEN_SIZE = 16
#: Of a datagram: two bytes that say what it is, the epoch's beginning, the sender's name, the counter, the hash.
DATAGRAM_OVERHEAD = 2 + 8 + 8 + 8 + MAC_SIZE
SEALED = b"\xc1\x03"
_HEADER = struct.Struct(">2s8s8sQ")
_COUNTER = struct.Struct(">Q")
#: Datagrams may overtake each other by so many.
WINDOW = 4096
#: Senders that are remembered.  Each restart of a peer is another one.
_MOST_SENDERS = 10_000
#: Bytes of a secret: fewer can be guessed.
_SHORTEST = 16


class Key:
    """What the secret is good for.  Each use has a purpose, so that no hash can stand in for another."""

    def __init__(self, secret: str | bytes) -> None:
        data = secret.encode() if isinstance(secret, str) else bytes(secret)
        if len(data) < _SHORTEST:
            raise UsageError(
                f"the secret has {len(data)} bytes, and can be guessed",
                remedy=f"give at least {_SHORTEST} random ones, such as those of secrets.token_hex()",
            )
        # Keys of BLAKE2b have at most 64 bytes, secrets any number.
        self._key = blake2b(data, digest_size=64, person=b"clew.bloom").digest()
        self._keyed: dict[bytes, blake2b] = {}

    def mac(self, purpose: bytes, *parts: bytes) -> bytes:
        """Compute the keyed hash of parts, which have fixed sizes, except for the last one."""
        keyed = self._keyed.get(purpose)
        if keyed is None:
            keyed = self._keyed[purpose] = blake2b(key=self._key, digest_size=MAC_SIZE, person=purpose)
        # A copy of a hash that has the key in it already: that is cheaper than setting it up for each packet.
        made = keyed.copy()
        for part in parts:
            made.update(part)
        return made.digest()

    def is_authentic(self, mac: bytes, purpose: bytes, *parts: bytes) -> bool:
        # In constant time: how long a comparison takes must not tell how much of a forged hash is right.
        return hmac.compare_digest(mac, self.mac(purpose, *parts))


# -- datagrams ---------------------------------------------------------------------------------------------------


class DatagramSealer:
    """What this node sends to one receiver, whose epoch it was told."""

    def __init__(self, key: Key, epoch: bytes) -> None:
        self.epoch = epoch
        self._key = key
        # One for each receiver and each epoch of it: no counter is used twice, and counters have no gaps.
        self._name = secrets.token_bytes(8)
        self._counter = 0

    def seal(self, packet: bytes) -> bytes:
        self._counter += 1
        header = _HEADER.pack(SEALED, self.epoch[:8], self._name, self._counter)
        return b"".join((header, self._key.mac(b"datagram", self.epoch, header, packet), packet))


class ReplayWindow:
    """The counters that were seen: all up to a point count as seen, and the bits of ``_seen`` are those below."""

    def __init__(self) -> None:
        self._newest = 0
        self._seen = 0

    def take(self, counter: int) -> bool:
        """Return whether it is new, and remember it."""
        ahead = counter - self._newest
        if ahead > 0:
            self._seen = ((self._seen << ahead) | 1) & ((1 << WINDOW) - 1) if ahead < WINDOW else 1
            self._newest = counter
            return True
        # An integer as a bit set: shifting it moves the window.
        bit = 1 << -ahead
        if -ahead >= WINDOW or self._seen & bit:
            return False
        self._seen |= bit
        return True


class DatagramOpener:
    """What arrives at this node."""

    def __init__(self, key: Key, most_senders: int = _MOST_SENDERS) -> None:
        self._key = key
        self._most_senders = most_senders
        self._begin()

    def _begin(self) -> None:
        self.epoch = secrets.token_bytes(TOKEN_SIZE)
        self._windows: dict[bytes, ReplayWindow] = {}

    def open(self, data: bytes) -> bytes | str:
        """Return the packet, or why it is refused.  "other epoch": its sender should ask again, if it is one."""
        if len(data) < DATAGRAM_OVERHEAD or not data.startswith(SEALED):
            return "not authentic"
        header, mac, packet = (
            data[: _HEADER.size],
            data[_HEADER.size : DATAGRAM_OVERHEAD],
            data[DATAGRAM_OVERHEAD:],
        )
        _, epoch, name, counter = _HEADER.unpack(header)
        # Before the hash: after a restart, packets for the old epoch are not forged, and their senders should be
        # told.
        if epoch != self.epoch[:8]:
            return "other epoch"
        if not self._key.is_authentic(mac, b"datagram", self.epoch, header, packet):
            return "not authentic"
        window = self._windows.get(name)
        if window is None:
            if len(self._windows) >= self._most_senders:
                self._begin()  # a name that is forgotten could be repeated; everybody asks again
                return "other epoch"
            window = self._windows[name] = ReplayWindow()
        return packet if window.take(counter) else "repeated"


# -- connections -------------------------------------------------------------------------------------------------


class FrameSealer:
    """The frames that this node sends on one connection."""

    def __init__(self, key: Key, token: bytes) -> None:
        self._key = key
        self._token = token
        self._counter = 0

    def seal(self, packet: bytes) -> bytes:
        self._counter += 1
        return self._key.mac(b"frame", self._token, _COUNTER.pack(self._counter), packet) + packet


class FrameOpener:
    """The frames that arrive on one connection."""

    def __init__(self, key: Key) -> None:
        self.token = secrets.token_bytes(TOKEN_SIZE)
        self._key = key
        self._counter = 0

    def open(self, data: bytes) -> bytes | None:
        """Return the packet; None if it is not the next one of a holder of the secret."""
        self._counter += 1
        mac, packet = data[:MAC_SIZE], data[MAC_SIZE:]
        authentic = self._key.is_authentic(mac, b"frame", self.token, _COUNTER.pack(self._counter), packet)
        return packet if authentic else None
