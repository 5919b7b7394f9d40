"""Which addresses have proved that a node is there that listens; what is for others waits, and is not sent.

Rows may name any address, and datagrams may come from a forged one.  Without a proof a node would send whatever
somebody asks it for to whomever he names, and much more than he had to send himself.  So

- to an address that has answered within ``PROVED_SECONDS`` everything is sent;
- to any other at most ``MULTIPLE`` times as many bytes as came from there, and three questions of 18 bytes (QUIC
  has the same rule, RFC 9000, 8.1).  What exceeds it waits for the answer, and is dropped if there is none.

With a secret, nothing at all is sent before the answer, since the answer tells the epoch.

The packets of a proof are a nonce that comes back.  A node that is to send rows to an address it knows nothing of
asks first: ``hello`` with a random nonce.  A node answers ``welcome`` with the same nonce, which nobody can do who
does not get what is sent there.  So rows cannot be directed at machines that are no Clew nodes.  No answer is
longer than its question.  With a secret, both carry a keyed hash, and the answer tells what the hashes of rows
have to cover (the epoch of the node, or the token of the connection; see ``authentication``).  ``stale`` says that
rows came for another epoch: a hint without a hash, whose only effect is that the sender asks again.
"""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from clew.bloom.network.addresses import SocketAddress
from clew.bloom.network.authentication import MAC_SIZE, TOKEN_SIZE, DatagramSealer, Key

NONCE_SIZE = 16
#: They begin with 0xC1, which no msgpack value does.
HELLO, WELCOME, STALE = b"\xc1\x01", b"\xc1\x02", b"\xc1\x04"
#: No greeting is longer.
LONGEST = 2 + NONCE_SIZE + TOKEN_SIZE + MAC_SIZE
_PADDING = bytes(TOKEN_SIZE)
#: How many times the bytes that came from an address are sent there before it has proved itself.
MULTIPLE = 3
PROVED_SECONDS = 60.0
#: After so long it is asked again, while rows go on; with a secret earlier: a peer that restarted takes nothing.
_RENEW_SECONDS = 30.0
_RENEW_SECONDS_WITH_SECRET = 5.0
_AGAIN_SECONDS = 0.5
#: When questions are asked, in seconds after the first row, and when waiting ends.
_QUESTIONS = (0.0, 0.2, 1.0)
#: Bytes of all questions to one address.
_COST = len(_QUESTIONS) * (2 + NONCE_SIZE)
_PATIENCE = 3.0
_MOST_ADDRESSES = 10_000
#: Packets that wait for one address.
MOST_HELD = 10_000


class Greetings:
    """How nodes with this secret, or without one, greet each other."""

    def __init__(self, key: Key | None) -> None:
        self._key = key

    def is_hello(self, data: bytes) -> bool:
        """Return whether it looks like a question; it need not be authentic."""
        return data[:2] == HELLO

    def hello(self, nonce: bytes) -> bytes:
        return HELLO + nonce + self._tail(b"hello", nonce, _PADDING)

    def answer(self, data: bytes, token: bytes) -> bytes | None:
        """Return the answer to a hello; None if it is none."""
        nonce = data[2 : 2 + NONCE_SIZE]
        if len(nonce) < NONCE_SIZE or not secrets.compare_digest(data, self.hello(nonce)):
            return None
        return WELCOME + nonce + self._tail(b"welcome", nonce, token)

    def nonce_of_welcome(self, data: bytes) -> bytes | None:
        """Return which question a packet claims to answer."""
        return data[2 : 2 + NONCE_SIZE] if data[:2] == WELCOME else None

    def token_of_welcome(self, data: bytes, nonce: bytes) -> bytes | None:
        """Return what the answer to that question tells, nothing without a secret; None if it is none."""
        token = data[2 + NONCE_SIZE :][:TOKEN_SIZE] if self._key is not None else b""
        wanted = WELCOME + nonce + self._tail(b"welcome", nonce, token)
        return token if secrets.compare_digest(data, wanted) else None

    def _tail(self, purpose: bytes, nonce: bytes, token: bytes) -> bytes:
        return b"" if self._key is None else token + self._key.mac(purpose, nonce, token)


@dataclass(eq=False)
class _UnprovedAddress:
    """An address that has not answered yet, with what waits for it."""

    where: SocketAddress
    since: float
    nonce: bytes
    asked: int = 0
    held: list[bytes] = field(default_factory=list)
    size: int = 0


@dataclass(eq=False)
class _ProvedAddress:
    """An address that has answered.  ``nonce``: of the question that is open now, if any."""

    proved: float
    sealer: DatagramSealer | None
    asked: float
    nonce: bytes = b""


class Proofs:
    """``ask`` sends a question and returns False if it never can be sent; ``release`` sends what waited."""

    def __init__(
        self,
        key: Key | None,
        clock: Callable[[], float],
        ask: Callable[[SocketAddress, bytes], bool],
        release: Callable[[SocketAddress, Iterable[bytes]], None],
        garbage: Counter[str],
        most_bytes: int,
    ) -> None:
        self._key = key
        self._clock = clock
        self._ask = ask
        self._release = release
        self._garbage = garbage
        self._most_bytes = most_bytes
        self._greetings = Greetings(key)
        self._known: dict[SocketAddress, _ProvedAddress] = {}
        self._strangers: dict[SocketAddress, _UnprovedAddress] = {}
        self._questions: dict[bytes, SocketAddress] = {}
        self._credit: dict[SocketAddress, int] = {}
        self._held = 0

    # -- sending -------------------------------------------------------------------------------------------------

    def pass_on(self, where: SocketAddress, packet: bytes) -> bytes | None:
        """Return what is to be sent; None if the packet waits for a proof."""
        known = self._known.get(where)
        if known is not None:
            now = self._clock()
            age = now - known.proved
            if age > (_RENEW_SECONDS if self._key is None else _RENEW_SECONDS_WITH_SECRET):
                self._renew(where, known, now)
            if age < PROVED_SECONDS:
                return packet if known.sealer is None else known.sealer.seal(packet)
            self._forget(where)
        if self._key is None and self._credit.get(where, 0) >= len(packet):
            self._credit[where] -= len(packet)
            return packet
        self._hold(where, packet)
        return None

    def is_proved(self, where: SocketAddress) -> bool:
        known = self._known.get(where)
        return known is not None and self._clock() - known.proved < PROVED_SECONDS

    def _hold(self, where: SocketAddress, packet: bytes) -> None:
        stranger = self._strangers.get(where) or self._stranger(where)
        if len(stranger.held) >= MOST_HELD or stranger.size + len(packet) > self._most_bytes:
            self._garbage["too much to send"] += 1
            return
        stranger.held.append(packet)
        stranger.size += len(packet)
        self._held += len(packet)
        while self._held > self._most_bytes:  # who has waited longest will hardly answer
            self._give_up(next(iter(self._strangers)), "too much to send")
        if not stranger.asked:
            self._question(stranger)

    def _stranger(self, where: SocketAddress) -> _UnprovedAddress:
        if len(self._strangers) >= _MOST_ADDRESSES:
            self._give_up(next(iter(self._strangers)), "no answer")
        stranger = _UnprovedAddress(where, self._clock(), secrets.token_bytes(NONCE_SIZE))
        self._strangers[where] = stranger
        self._questions[stranger.nonce] = where
        return stranger

    def _forget(self, where: SocketAddress) -> None:
        self._questions.pop(self._known.pop(where).nonce, None)

    def _question(self, stranger: _UnprovedAddress) -> None:
        stranger.asked += 1
        if not self._ask(stranger.where, self._greetings.hello(stranger.nonce)):
            self._give_up(stranger.where, "send error")

    def _renew(self, where: SocketAddress, known: _ProvedAddress, now: float) -> None:
        if now - known.asked < _AGAIN_SECONDS:
            return
        known.asked = now
        if not known.nonce:
            known.nonce = secrets.token_bytes(NONCE_SIZE)
            self._questions[known.nonce] = where
        self._ask(where, self._greetings.hello(known.nonce))

    def _give_up(self, where: SocketAddress, reason: str) -> None:
        stranger = self._strangers.pop(where, None)
        if stranger is not None:
            self._questions.pop(stranger.nonce, None)
            self._held -= stranger.size
            if stranger.held:
                self._garbage[reason] += len(stranger.held)

    def tick(self) -> bool:
        """Ask again where it is time to, and give up; return whether anybody is waited for."""
        now = self._clock()
        for where, stranger in list(self._strangers.items()):
            waited = now - stranger.since
            if waited > _PATIENCE:
                self._give_up(where, "no answer")
            elif stranger.asked < len(_QUESTIONS) and waited >= _QUESTIONS[stranger.asked]:
                self._question(stranger)
        return bool(self._strangers)

    # -- hearing -------------------------------------------------------------------------------------------------

    def note_bytes(self, where: SocketAddress, size: int) -> bool:
        """Note that so many bytes came from an address, perhaps a forged one; return whether it has proved itself.

        Who has not is asked, as far as the bytes allow: those who have are served first.
        """
        known = self._known.get(where)
        if known is not None:
            now = self._clock()
            if now - known.proved > _RENEW_SECONDS:
                self._renew(where, known, now)
            if now - known.proved < PROVED_SECONDS:
                return True
            self._forget(where)
        # Forged addresses cost nothing, so what is remembered of them must not grow; forgetting is harmless: then
        # less is sent before the proof.
        if len(self._credit) >= _MOST_ADDRESSES:
            self._credit.clear()
        credit = self._credit.get(where, 0) + MULTIPLE * size
        if where not in self._strangers and credit >= _COST:
            credit -= _COST
            self._question(self._stranger(where))
        self._credit[where] = credit
        return False

    def take_answer(self, data: bytes) -> bool:
        """Take a welcome; return whether it is one that was waited for."""
        nonce = self._greetings.nonce_of_welcome(data)
        where = None if nonce is None else self._questions.get(nonce)
        if nonce is None or where is None:
            return False
        token = self._greetings.token_of_welcome(data, nonce)
        if token is None:
            return False
        self.prove(where, token)
        return True

    def prove(self, where: SocketAddress, token: bytes = b"") -> None:
        """Note that somebody is there, and with a secret the epoch; send what waited for that."""
        before = self._known.pop(where, None)
        sealer = before.sealer if before is not None else None
        if before is not None:
            self._questions.pop(before.nonce, None)
        if self._key is not None and (sealer is None or sealer.epoch != token):
            sealer = DatagramSealer(self._key, token)
        if len(self._known) >= _MOST_ADDRESSES:
            self._forget(next(iter(self._known)))
        # When it was asked is kept: forged hints do not make this node ask more often.
        self._known[where] = _ProvedAddress(self._clock(), sealer, 0.0 if before is None else before.asked)
        self._credit.pop(where, None)
        stranger = self._strangers.pop(where, None)
        if stranger is not None:
            self._questions.pop(stranger.nonce, None)
            self._held -= stranger.size
            self._release(where, stranger.held)

    def doubt(self, where: SocketAddress) -> None:
        """Somebody says that the node there has restarted: it is asked, and nothing else changes."""
        known = self._known.get(where)
        if known is not None:
            self._renew(where, known, self._clock())
