"""What is on its way: messages and timers, and which of them can be delivered next.

Over a FIFO network only the oldest message of each pair of nodes can; over one that reorders, any.  Messages from
outside and timers are in no order with anything.  Choosing is by place in a list, so that a random one costs the
same however many there are; the order in that list depends on nothing but what happened.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from heapq import heappop, heappush
from typing import Any

Link = tuple[str, str]

#: The sender of messages from outside.
OUTSIDE = ""


class Envelope:
    """A message or timer on its way.

    It is the ``nth`` thing that ``source`` sent: together they name it, and the name is the same in every
    execution in which the source did the same so far, whatever others did meanwhile.  ``cause`` is the number of
    the event that sent it, ``time`` the time of that event at its sender.

    With virtual time, ``due`` is when it arrives or goes off.  Where that is left open (``PatientClock``), a
    message arrives from its ``earliest`` on, and by then at the latest.
    """

    __slots__ = ("cause", "due", "earliest", "nth", "payload", "place", "source", "target", "time", "timer")

    # Not set in any order: two more assignments for each message would cost some percent of the speed.
    due: int
    earliest: int

    def __init__(
        self, source: str, nth: int, target: str, payload: Any, timer: bool, cause: int, time: float
    ) -> None:
        self.source = source
        self.nth = nth
        self.target = target
        self.payload = payload
        self.timer = timer
        self.cause = cause
        self.time = time
        self.place = -1

    @property
    def kind(self) -> str:
        """Return the type of the message, or the name of the timer."""
        return str(self.payload) if self.timer else type(self.payload).__qualname__

    def __repr__(self) -> str:
        return f"<{self.kind} {self.source or 'outside'}#{self.nth} to {self.target}>"


class Pool:
    """``messages`` and ``timers`` are those that can be delivered now; they are changed by nobody else."""

    def __init__(self, fifo: bool) -> None:
        self.messages: list[Envelope] = []
        self.timers: list[Envelope] = []
        self._fifo = fifo
        # By number, so that taking one out of the midst (reordering) costs no more than the oldest.
        self._ready: dict[Link, dict[int, Envelope]] = {}  # those in ``messages``, oldest first
        self._waiting: dict[Link, deque[Envelope]] = {}  # behind the one that is ready (FIFO)
        self._held: dict[Link, list[Envelope]] = {}  # by a partition, oldest first
        self._armed: dict[Link, Envelope] = {}  # timers by node and name

    # -- looking -------------------------------------------------------------------------------------------------

    def ready(self, source: str, target: str) -> Iterable[Envelope]:
        """Return the messages from one to the other that can be delivered, oldest first."""
        ready = self._ready.get((source, target))
        return ready.values() if ready else ()

    def timer(self, node: str, name: str) -> Envelope | None:
        return self._armed.get((node, name))

    def is_held(self, source: str, target: str) -> bool:
        return (source, target) in self._held

    @property
    def held(self) -> list[Link]:
        """Return the links on which nothing gets through, in the order of their names."""
        return sorted(self._held)

    def __iter__(self) -> Iterator[Envelope]:
        """Yield everything that is on its way, whether it can be delivered or not."""
        yield from self.messages
        yield from self.timers
        for waiting in self._waiting.values():
            yield from waiting
        for held in self._held.values():
            yield from held

    # -- arriving ------------------------------------------------------------------------------------------------

    def add(self, envelope: Envelope) -> None:
        """Put a message on its way."""
        link = (envelope.source, envelope.target)
        if self._held and link in self._held:
            self._held[link].append(envelope)
        # What comes from outside is in no order, also over FIFO, as in the paper.
        elif self._fifo and link in self._ready and link[0] != OUTSIDE:
            waiting = self._waiting.get(link)
            if waiting is None:
                self._waiting[link] = deque((envelope,))
            else:
                waiting.append(envelope)
        else:
            self._make_ready(link, envelope)

    def arm(self, envelope: Envelope) -> None:
        """Set a timer; one of that name that is set already stays as it is."""
        key = (envelope.target, envelope.payload)
        if key not in self._armed:
            self._armed[key] = envelope
            envelope.place = len(self.timers)
            self.timers.append(envelope)

    def _make_ready(self, link: Link, envelope: Envelope) -> None:
        ready = self._ready.get(link)
        if ready is None:
            self._ready[link] = {envelope.nth: envelope}
        else:
            ready[envelope.nth] = envelope
        envelope.place = len(self.messages)
        self.messages.append(envelope)

    # -- leaving -------------------------------------------------------------------------------------------------

    def take(self, envelope: Envelope) -> None:
        """Remove one that can be delivered; over FIFO, the next of its pair takes its turn."""
        if envelope.timer:
            _take_out(self.timers, envelope)
            del self._armed[envelope.target, envelope.payload]
            return
        _take_out(self.messages, envelope)
        link = (envelope.source, envelope.target)
        ready = self._ready[link]
        del ready[envelope.nth]
        if ready:
            return
        del self._ready[link]
        waiting = self._waiting.get(link)
        if waiting is not None:
            self._make_ready(link, waiting.popleft())
            if not waiting:
                del self._waiting[link]

    def cancel(self, node: str, name: str) -> None:
        armed = self._armed.get((node, name))
        if armed is not None:
            self.take(armed)

    def drop_for(self, node: str) -> None:
        """Remove everything that is on its way to a node that is no more, its timers included."""
        for timer in [e for e in self.timers if e.target == node]:
            self.take(timer)
        # Before the messages: taking one would move the next of its pair up.
        for link in [link for link in self._waiting if link[1] == node]:
            del self._waiting[link]
        # The link stays blocked: a partition outlives the node, and what is sent to its next life waits, too.
        for link in self._held:
            if link[1] == node:
                self._held[link] = []
        for envelope in [e for e in self.messages if e.target == node]:
            self.take(envelope)

    # -- partitions ----------------------------------------------------------------------------------------------

    def hold(self, link: Link) -> None:
        """Block a link: from now on nothing on it can be delivered."""
        if link not in self._held:
            ready = list(self.ready(*link))
            # First, so that taking what is ready moves nothing up.
            waiting = self._waiting.pop(link, ())
            for envelope in ready:
                self.take(envelope)
            self._held[link] = [*ready, *waiting]

    def release(self, link: Link | None = None) -> None:
        """Free a link, or all of them."""
        for healed in [link] if link is not None else list(self._held):
            for envelope in self._held.pop(healed, []):
                self.add(envelope)


class TimedPool(Pool):
    """What is on its way in virtual time: only what is due first can be delivered."""

    def __init__(self, fifo: bool) -> None:
        super().__init__(fifo)
        # The order of arrival here decides between those that are due at one time: heaps have none of their own.
        self._by_time: list[tuple[int, int, Envelope]] = []
        self._added = 0
        self._latest: dict[Link, int] = {}

    def add(self, envelope: Envelope) -> None:
        link = (envelope.source, envelope.target)
        if self._fifo and link[0] != OUTSIDE:
            # Over FIFO nothing overtakes: it is due no sooner than what was sent before it.
            envelope.due = self._latest[link] = max(envelope.due, self._latest.get(link, 0))
        super().add(envelope)

    def arm(self, envelope: Envelope) -> None:
        super().arm(envelope)
        self._put(envelope)

    def _make_ready(self, link: Link, envelope: Envelope) -> None:
        super()._make_ready(link, envelope)
        self._put(envelope)

    def _put(self, envelope: Envelope) -> None:
        self._added += 1
        heappush(self._by_time, (envelope.due, self._added, envelope))

    @property
    def next_due(self) -> int | None:
        """Return when the next thing happens; None if nothing can."""
        while self._by_time and not _is_there(self._by_time[0]):
            heappop(self._by_time)
        return self._by_time[0][0] if self._by_time else None

    def first(self) -> Envelope:
        """Return what got there first of what is due next; there must be something."""
        assert self.next_due is not None
        return self._by_time[0][2]

    def list_due(self, now: int) -> list[Envelope]:
        """Return what can be delivered next: all that is due then, in the order it got there.

        What was held up beyond its time is due now, together with what is due now anyway.
        """
        first = self.next_due
        if first is None:
            return []
        time, heap = max(first, now), self._by_time
        # Mostly there is only one: the second of a heap is at one of these two places.
        if all(entry[0] > time for entry in heap[1:3]):
            return [heap[0][2]]
        found: dict[Envelope, tuple[int, int, Envelope]] = {}
        while heap and heap[0][0] <= time:
            entry = heappop(heap)
            if _is_there(entry):
                found.setdefault(entry[2], entry)  # what a partition held was put here twice
        for entry in found.values():
            heappush(heap, entry)
        return list(found)

    def list_latest(self, now: int) -> list[tuple[Link, int]]:
        """Return the links on which nothing can arrive before a time to come, for something sent earlier may."""
        return [(link, time) for link, time in self._latest.items() if time > now]

    def put_off(self, envelope: Envelope, due: int) -> None:
        """Let one that can be delivered be due at another time."""
        envelope.due = due
        self._put(envelope)


def _is_there(entry: tuple[int, int, Envelope]) -> bool:
    """Tell whether it can still be delivered at that time: it may have been taken, or held up."""
    return entry[2].place >= 0 and entry[2].due == entry[0]


def _take_out(ready: list[Envelope], envelope: Envelope) -> None:
    # The last takes its place: no shifting, however many there are.  The order stays determined by what happened.
    last = ready.pop()
    if last is not envelope:
        ready[envelope.place] = last
        last.place = envelope.place
    envelope.place = -1
