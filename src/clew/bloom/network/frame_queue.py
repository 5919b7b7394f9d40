"""In which order complete frames are decoded, and how much of the time they get.

A frame may take much longer than a datagram, and many connections may send frames at once.  Next is always the
one with the highest response ratio, (waited + expected) / expected: who sends what is cheap is not kept waiting by
those who send what is expensive, and nobody waits for ever.  While datagrams arrive, frames get at most a quarter
of the time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol

#: Frames are decoded for so long before the loop does something else, in seconds; a frame is not interrupted.
_SLICE = 0.005
#: How long the loop does something else then, if there is something else: so many times as long.
_REST = 3.0
#: What a byte of the first frame of a connection is expected to take, in seconds: more than it ever does.
SECONDS_PER_BYTE = 1e-6


class Sender(Protocol):
    """A connection: ``expected`` seconds for its next frame, and since when that waits."""

    expected: float
    waiting_since: float

    def serve(self) -> bool:
        """Take one frame; return whether there is another one."""


class FrameQueue:
    """``others``: a number that grows when datagrams are read."""

    def __init__(self, others: Callable[[], int]) -> None:
        self._others = others
        self._loop = asyncio.get_running_loop()
        self._ready: dict[Sender, None] = {}
        self._handle: asyncio.Handle | None = None
        self._before = 0

    def add(self, sender: Sender) -> None:
        sender.waiting_since = self._loop.time()
        self._ready[sender] = None
        if self._handle is None:
            self._handle = self._loop.call_soon(self._work)

    def remove(self, sender: Sender) -> None:
        self._ready.pop(sender, None)

    def has(self, sender: Sender) -> bool:
        return sender in self._ready

    def close(self) -> None:
        self._ready.clear()
        if self._handle is not None:
            self._handle.cancel()

    def _work(self) -> None:
        self._handle = None
        begun = now = self._loop.time()
        while self._ready and now - begun < _SLICE:
            # Highest response ratio next; shortest first would let the cheap ones starve an expensive one for
            # ever.
            sender = max(self._ready, key=lambda one: (now - one.waiting_since) / one.expected)
            del self._ready[sender]
            if sender.serve():
                self.add(sender)
            after = self._loop.time()
            # Half of the old value: who sends something expensive after many cheap ones does so once or twice.
            sender.expected = max((sender.expected + after - now) / 2, 1e-5)
            now = after
        if self._ready and self._handle is None:
            others, self._before = self._others() - self._before, self._others()
            rest = _REST * (now - begun) if others else 0.0
            self._handle = self._loop.call_later(rest, self._work) if rest else self._loop.call_soon(self._work)
