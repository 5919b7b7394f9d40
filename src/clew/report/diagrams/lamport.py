"""One execution as a Lamport (space-time) diagram: processes, who sent what to whom and when, and what faults did.

Figures 4, 8, 9 and 10 of the paper are such diagrams.  This module only says what is in the picture;
``lamport_text`` and ``lamport_svg`` draw it.  Nothing here is particular to Dedalus but ``lamport_of``: another
kind of system describes its messages as ``Sending`` and calls ``diagram_of``.

What is in the picture: everything that one process sends to another at a time is one arrow, because a loss hits
all of it.  Not in the picture: what a process sends to itself, what goes to or comes from a place that is no
known process, and what a crashed process would have sent, since it was never sent.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from clew.engine.execution import Execution, Message, row_text
from clew.faults import Crash, FailureSpec, Fault, FaultSet, NodeName, SentMessage, by_message
from clew.names import show


class Fate(enum.Enum):
    """What became of an arrow."""

    DELIVERED = "delivered"
    LOST = "lost"
    LATE = "late"  # later than the step after it was sent
    NEVER = "never"  # still under way when the execution ends


class Arrow(NamedTuple):
    """All that ``source`` sends to ``target`` at time ``sent``."""

    source: str
    target: str
    sent: int
    arrived: int | None
    #: The distinct names of the messages, sorted, and the messages in full.
    labels: tuple[str, ...]
    details: tuple[str, ...]
    fate: Fate
    #: The number, from 1 on, of the fault in ``Diagram.faults`` that hits it in this run, or, in a failure-free
    #: run that is shown beside a failing one, that hits it over there.
    fault: int | None = None
    #: Where events are numbered: which of them its arrival or loss is, and which one sent it.
    event: int | None = None
    cause: int | None = None

    @property
    def foreseen(self) -> bool:
        """Tell whether it arrives here as usual, but is hit in the failing run beside this one."""
        return self.fate is Fate.DELIVERED and self.fault is not None


class CrashMark(NamedTuple):
    """``process`` crashes at ``time``; ``fault`` is the number of that fault."""

    process: str
    time: int
    fault: int


class MarkKind(enum.Enum):
    """What can happen to a process, or to all of them, other than that a message of another one arrives."""

    START = "start"
    STOP = "stop"
    RESTART = "restart"
    TIMER = "timer"
    OUTSIDE = "outside"  # a message from outside arrives
    ITSELF = "itself"  # a message to itself arrives
    CUT = "cut"  # nothing gets through between ``process`` and ``other``
    CUT_ONE_WAY = "cut-one-way"  # from ``process`` to ``other``
    HEAL = "heal"  # the end of that
    NOTE = "note"


class Mark(NamedTuple):
    """A numbered event at a process."""

    #: "" for one that concerns all processes.
    process: str
    time: int
    kind: MarkKind
    label: str
    detail: str
    event: int
    #: The second process of a partition.
    other: str = ""


class Absence(NamedTuple):
    """``process`` is not up from its stop (None: the beginning) to its start (None: the end)."""

    process: str
    stop: Mark | None
    start: Mark | None


class Diagram(NamedTuple):
    """A picture of one execution."""

    processes: tuple[str, ...]
    #: The last time.
    last: int
    arrows: tuple[Arrow, ...]
    crashes: tuple[CrashMark, ...] = ()
    #: In the notation of the paper; arrows and crashes name them by number.
    faults: tuple[str, ...] = ()
    #: Only where events are numbered, as are the events of arrows.
    marks: tuple[Mark, ...] = ()
    #: The processes that are not up at the beginning.
    down: tuple[str, ...] = ()
    #: The event after which something is wrong.
    broken: int | None = None

    @property
    def numbered(self) -> bool:
        """Tell whether this is a sequence of numbered events, not of steps that all processes take together."""
        return bool(self.marks) or any(a.event is not None for a in self.arrows)

    def absences(self) -> list[Absence]:
        """Return when processes are not up, as far as marks say so."""
        # A process that is down from the beginning has no mark that stopped it, hence None.
        since: dict[str, Mark | None] = dict.fromkeys(self.down)
        found = []
        for mark in sorted(self.marks, key=lambda m: m.event):
            if mark.kind is MarkKind.STOP:
                # A stop of a process that is down already does not make its absence begin later.
                since.setdefault(mark.process, mark)
            elif mark.kind in (MarkKind.START, MarkKind.RESTART) and mark.process in since:
                found.append(Absence(mark.process, since.pop(mark.process), mark))
        return found + [Absence(process, stop, None) for process, stop in since.items()]

    @property
    def unseen_faults(self) -> tuple[str, ...]:
        """Return the faults that hit nothing in this picture."""
        seen = {a.fault for a in self.arrows} | {c.fault for c in self.crashes}
        return tuple(fault for number, fault in enumerate(self.faults, start=1) if number not in seen)


class Sending(NamedTuple):
    """One message, whatever kind of system sends it: a short ``label``, and in full as ``detail``."""

    label: str
    detail: str
    source: NodeName
    target: NodeName
    sent: int
    arrived: int | None


def lamport_of(execution: Execution, counterexample_faults: Iterable[Fault] | None = None) -> Diagram:
    """Make the diagram of an execution of a program.

    With ``counterexample_faults`` the execution is a failure-free one, shown beside the run with these faults:
    they do not happen here, and what they will hit over there carries their numbers.
    """
    foreseen = counterexample_faults is not None
    # Faults of two runs would share their numbers, and the picture would blame the wrong ones.
    if foreseen and execution.faults:
        raise ValueError(f"only a failure-free run foresees faults, this one has {execution.faults}")
    faults = FaultSet.of(execution.faults if counterexample_faults is None else counterexample_faults)
    return lamport_of_messages(execution.messages, execution.spec, faults, foreseen=foreseen)


def lamport_of_messages(
    messages: Iterable[Message], spec: FailureSpec, faults: FaultSet, *, foreseen: bool = False
) -> Diagram:
    """Return the diagram of an execution of which only the messages are known."""
    sendings = (
        Sending(m.relation, f"{m.relation}({row_text(m.row)})", m.source, m.target, m.sent, m.arrived)
        for m in messages
    )
    return diagram_of(spec.nodes, spec.eot, sendings, faults, foreseen=foreseen)


def diagram_of(
    nodes: Sequence[NodeName], last: int, sendings: Iterable[Sending], faults: FaultSet, *, foreseen: bool = False
) -> Diagram:
    """Make the diagram of these messages; ``foreseen``: the faults do not happen here, they are only marked."""
    names = {node: show(node) for node in nodes}
    hits = Hits(faults)
    # The arrival is part of the key: messages over one link at one time can be late by different lags, and then
    # they are different arrows.
    links: dict[tuple[int, int, int, int], list[Sending]] = {}
    order = {node: k for k, node in enumerate(nodes)}
    for s in sendings:
        # A run that only foresees its faults has no crash yet, and sends everything.
        sent_at_all = foreseen or hits.crash(s.source, s.sent) is None
        if s.source in names and s.target in names and s.source != s.target and sent_at_all:
            # What never arrives sorts last among arrows of the same link.
            arrival = last + 1 if s.arrived is None else s.arrived
            links.setdefault((s.sent, order[s.source], order[s.target], arrival), []).append(s)
    arrows = tuple(_arrow(links[key], names, hits, last) for key in sorted(links))
    crashes = () if foreseen else tuple(CrashMark(names[c.node], c.time, hits.number[c]) for c in faults.crashes)
    return Diagram(tuple(names[n] for n in nodes), last, arrows, crashes, tuple(map(str, faults)))


class Hits:
    """Which fault, of which number, hits a message: it is then lost, late or never sent."""

    def __init__(self, faults: FaultSet) -> None:
        self.number: dict[Fault, int] = {fault: k for k, fault in enumerate(faults, start=1)}
        # Bounds admit one fault for a message; of more than that, the first is blamed.
        self._of_message: dict[SentMessage, Fault] = {
            message: group[0] for message, group in by_message(faults).items()
        }
        # Reversed, so that the first crash of a node counts if it is given several: it is down from then on.
        self._crashes: dict[NodeName, Crash] = {c.node: c for c in reversed(faults.crashes)}

    def crash(self, node: NodeName, time: int) -> Crash | None:
        """Return the crash because of which a node does not send at a time."""
        crash = self._crashes.get(node)
        return crash if crash is not None and crash.time <= time else None

    def fault(self, message: SentMessage) -> Fault | None:
        """Return the fault that hits what is sent over a link at a time."""
        source, _, sent = message
        # A crash comes first: what is not sent can be neither lost nor late.
        return self.crash(source, sent) or self._of_message.get(message)


def _arrow(sendings: Sequence[Sending], names: Mapping[NodeName, str], hits: Hits, last: int) -> Arrow:
    first = sendings[0]
    fault = hits.fault((first.source, first.target, first.sent))
    return Arrow(
        names[first.source],
        names[first.target],
        first.sent,
        first.arrived,
        tuple(sorted({s.label for s in sendings})),
        tuple(sorted({s.detail for s in sendings})),
        _fate(first, fault, last),
        None if fault is None else hits.number[fault],
    )


def _fate(sending: Sending, fault: Fault | None, last: int) -> Fate:
    if sending.arrived is not None:
        return Fate.DELIVERED if sending.arrived <= sending.sent + 1 else Fate.LATE
    message = sending.source, sending.target, sending.sent
    # Without a fault nothing gets lost: what was sent in the last step simply has no step left to arrive in.
    under_way = sending.sent >= last if fault is None else not fault.prevents(message)
    return Fate.NEVER if under_way else Fate.LOST
