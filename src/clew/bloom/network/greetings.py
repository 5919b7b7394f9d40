"""The packets by which an address proves itself: a nonce that comes back.

A node that is to send rows to an address it knows nothing of asks first: ``hello`` with a random nonce.  A node
answers ``welcome`` with the same nonce, which nobody can do who does not get what is sent there.  So rows cannot
be directed at machines that are no Clew nodes.  No answer is longer than its question.

With a secret, both carry a keyed hash, and the answer tells what the hashes of rows have to cover (the epoch of
the node, or the token of the connection; see ``authentication``).  ``stale`` says that rows came for another
epoch: a hint without a hash, whose only effect is that the sender asks again.

They begin with 0xC1, which no msgpack value does.
"""

from __future__ import annotations

import secrets

from clew.bloom.network.authentication import MAC_SIZE, TOKEN_SIZE, Key

NONCE_SIZE = 16
HELLO, WELCOME, STALE = b"\xc1\x01", b"\xc1\x02", b"\xc1\x04"
#: No greeting is longer.
LONGEST = 2 + NONCE_SIZE + TOKEN_SIZE + MAC_SIZE
_PADDING = bytes(TOKEN_SIZE)


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
