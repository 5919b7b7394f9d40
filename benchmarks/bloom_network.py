"""Channel messages a second between two processes on the loopback interface.

``python -m benchmarks.bloom_network`` starts a receiver as a second process and sends it rows through a channel,
as fast as it acknowledges them: at most a window of rows is on the way, so that no buffer of the system overflows.
Counted is what the rules of the receiver saw, and the time from the first insertion to the last acknowledgement;
once without anything, and once with a secret, so that every datagram is authenticated.
"""

from __future__ import annotations

import queue
import subprocess
import sys
import time
from dataclasses import dataclass

from clew.bloom import Bloom, agg, bloom, channel, interface

#: The bar: messages a second.
BAR = 20_000
#: The bar: the share of them that a secret may cost.
SECRET_BAR = 0.3
_SECRET = "a secret of a benchmark, known to all"
_WINDOW = 8_000
_BATCH = 1_000


class Peer(Bloom):
    """Both sides: one inserts into ``outgoing``, the other counts the messages of each step."""

    outgoing = interface.input("number", val=["payload"])
    message = channel("@dst", "src", "number", val=["payload"])
    arrived = channel("@dst", "first", val=["count"])

    def __init__(self, address: str | None = None, peer: str = "", *, secret: str | None = None) -> None:
        super().__init__(address, secret=secret)
        self._peer = peer

    # Bloom's operators are written together.
    # fmt: off
    @bloom
    def send(self) -> None:
        peer = self._peer
        self.message <~ self.outgoing(lambda row: (peer, self.ip_port, row.number, row.payload))  # noqa: B015

    @bloom
    def acknowledge(self) -> None:
        self.arrived <~ self.message.group(["src"], agg.min("number"), agg.count())  # noqa: B015

    # fmt: on


@dataclass(frozen=True)
class Pace:
    """``received`` of ``sent`` messages arrived within ``seconds``."""

    sent: int
    received: int
    seconds: float

    @property
    def per_second(self) -> float:
        return self.received / self.seconds


def measure(messages: int, *, with_secret: bool = False) -> Pace:
    command = "receive-with-secret" if with_secret else "receive"
    receiver = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.bloom_network", command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with receiver:
        assert receiver.stdin is not None and receiver.stdout is not None
        try:
            return _send(messages, receiver.stdout.readline().strip(), _SECRET if with_secret else None)
        finally:
            receiver.stdin.close()


def compare(messages: int, repetitions: int) -> tuple[Pace, Pace]:
    """Return the best run without a secret, and the best with one; in turns, since other things run as well."""
    plain, authenticated = [], []
    for _ in range(repetitions):
        plain.append(measure(messages))
        authenticated.append(measure(messages, with_secret=True))
    return max(plain, key=lambda pace: pace.per_second), max(authenticated, key=lambda pace: pace.per_second)


def _send(messages: int, peer: str, secret: str | None) -> Pace:
    acknowledged: queue.SimpleQueue[int] = queue.SimpleQueue()
    node = Peer(peer=peer, secret=secret)
    node.on(node.arrived, lambda rows: acknowledged.put(sum(row.count for row in rows)))
    with node:
        sent = received = 0
        started = time.perf_counter()
        while received < messages:
            while sent < messages and sent - received < _WINDOW:
                node.outgoing.insert(*((number, "payload") for number in range(sent, sent + _BATCH)))
                sent += _BATCH
            try:
                received += acknowledged.get(timeout=2)
            except queue.Empty:  # the rest is lost
                break
        return Pace(sent, received, time.perf_counter() - started)


def _receive(secret: str | None) -> None:
    with Peer(secret=secret) as node:
        print(node.ip_port, flush=True)
        sys.stdin.read()


def main() -> None:
    if sys.argv[1:] in (["receive"], ["receive-with-secret"]):
        _receive(_SECRET if sys.argv[1] == "receive-with-secret" else None)
        return
    for told, pace in zip(("without a secret", "with a secret"), compare(200_000, 3), strict=True):
        print(
            f"{told}: {pace.received} of {pace.sent} messages in {pace.seconds:.2f} s, "
            f"{pace.per_second:.0f} a second"
        )


if __name__ == "__main__":
    main()
