"""Which faults hit what is sent over a link at a time, and what becomes of it."""

from __future__ import annotations

from typing import NamedTuple, assert_never

from clew.faults import (
    Crash,
    Delay,
    Duplicate,
    Fault,
    FaultSet,
    GivenRow,
    Loss,
    NodeName,
    Partition,
    Pause,
    Restart,
    SentMessage,
    Span,
    Stop,
)


class Blame(NamedTuple):
    """The faults because of which something does not arrive as usual, if there are any; or at all, if ``lost``."""

    faults: tuple[Fault, ...]
    lost: bool


class Hits:
    """Which faults, of which numbers, hit a message: it is then lost, late, there twice or never sent."""

    def __init__(self, faults: FaultSet) -> None:
        self.number: dict[Fault, int] = {fault: k for k, fault in enumerate(faults, start=1)}
        # Bounds admit one fault for a message; of more than that, the first is blamed.
        self._losses: dict[SentMessage, Loss] = {}
        self._delays: dict[SentMessage, Delay] = {}
        self._duplicates: dict[SentMessage, Duplicate] = {}
        self._partitions: list[Partition] = []
        self._halts: list[tuple[Span, Fault]] = []
        # By node and time of an arrival.
        self._down: dict[tuple[NodeName, int], Restart] = {}
        self._paused: dict[tuple[NodeName, int], Pause] = {}
        self._gone: dict[NodeName, Stop] = {}
        for fault in faults:
            match fault:
                case Loss():
                    self._losses[fault.message] = fault
                case Delay():
                    self._delays.setdefault(fault.message, fault)
                case Duplicate():
                    self._duplicates.setdefault(fault.message, fault)
                case Partition():
                    self._partitions.append(fault)
                case Crash():
                    self._halts.append((fault.span, fault))
                case Restart(node, time, until):
                    self._halts.append((fault.span, fault))
                    self._down.update({(node, t): fault for t in range(time, until)})
                case Pause(node, time, until):
                    self._halts.append((fault.span, fault))
                    self._paused.update({(node, t): fault for t in range(time, until)})
                case Stop(node, _):
                    self._halts.append((fault.span, fault))
                    self._gone.setdefault(node, fault)
                case GivenRow():
                    pass  # it hits nothing
                case _:
                    assert_never(fault)

    def silence(self, node: NodeName, time: int) -> Fault | None:
        """Return the fault because of which a node sends nothing at a time: it has crashed, is down or paused."""
        moment = Span(node, time, time + 1)
        return next((fault for span, fault in self._halts if span.overlaps(moment)), None)

    def has_crashed(self, node: NodeName, time: int) -> bool:
        return any(span.end is None and span.node == node and span.first <= time for span, _ in self._halts)

    def fault(self, message: SentMessage) -> Fault | None:
        """Return the first fault because of which what is sent over a link at a time does not arrive as usual."""
        return next(iter(self.blame(message).faults), None)

    def blame(self, message: SentMessage) -> Blame:
        """Return what becomes of what is sent over a link at a time when it should arrive."""
        source, target, sent = message
        # What is not sent can be neither lost nor late.
        if (silent := self.silence(source, sent)) is not None:
            return Blame((silent,), lost=True)
        cuts = self._cuts(message)
        if cuts:
            return Blame(tuple(cuts), lost=True)
        delay = self._delays.get(message)
        if delay is None:
            return self._reception(target, sent + 1)
        late = self._reception(target, sent + 1 + delay.lag)
        return Blame((delay, *late.faults), late.lost)

    def duplicate(self, message: SentMessage) -> Fault | None:
        """Return the fault by which what is sent over a link at a time arrives twice, if it does arrive."""
        return self._duplicates.get(message)

    def blame_again(self, message: SentMessage) -> Blame | None:
        """Return what becomes of the second arrival, with the fault that makes it; None if there is none."""
        duplicate = self._duplicates.get(message)
        source, target, sent = message
        if duplicate is None or self.silence(source, sent) is not None or self._cuts(message):
            return None
        again = self._reception(target, duplicate.last)
        return Blame((duplicate, *again.faults), again.lost)

    def _cuts(self, message: SentMessage) -> list[Fault]:
        loss = self._losses.get(message)
        partitions = (partition for partition in self._partitions if partition.prevents(message))
        return [*([] if loss is None else [loss]), *partitions]

    def _reception(self, node: NodeName, time: int) -> Blame:
        """Return what becomes of what arrives at a node at a time: it waits while the node is paused."""
        found: list[Fault] = []
        while (pause := self._paused.get((node, time))) is not None:  # one may begin where another one ends
            found.append(pause)
            time = pause.until
        gone = self._gone.get(node)
        down = gone if gone is not None and gone.time <= time else self._down.get((node, time))
        return Blame(tuple(found), lost=False) if down is None else Blame((*found, down), lost=True)
