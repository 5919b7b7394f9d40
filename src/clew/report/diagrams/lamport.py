"""One execution as a Lamport (space-time) diagram: processes, who sent what to whom and when, and what faults did.

Figures 4, 8, 9 and 10 of the paper are such diagrams.  This module only says what is in the picture;
``lamport_text`` and ``lamport_svg`` draw it.  Nothing here is particular to Dedalus but ``lamport_of``: another
kind of system describes its messages as ``Sending`` and calls ``diagram_of``.

What is in the picture: everything that one process sends to another at a time is one arrow, because a loss hits
all of it.  Not in the picture: what a process sends to itself, what goes to or comes from a place that is no
known process, and what a crashed process would have sent, since it was never sent.  A message that arrives twice
is two arrows.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, assert_never

from clew.duration import Loop
from clew.engine.execution import Execution, Message, row_text
from clew.faults import (
    Crash,
    Delay,
    Duplicate,
    FailureSpec,
    Fault,
    FaultSet,
    GivenRow,
    Loss,
    NodeName,
    Partition,
    Pause,
    Restart,
    Stop,
)
from clew.names import show
from clew.report.diagrams.hits import Blame, Hits
from clew.violation import Violation


class Fate(enum.Enum):
    """What became of an arrow."""

    DELIVERED = "delivered"
    LOST = "lost"
    LATE = "late"  # later than the step after it was sent
    NEVER = "never"  # still under way when the execution ends
    AGAIN = "again"  # the second arrival


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
    #: Numbers of further faults that have a part in it: where a message comes late, its receiver is down.
    further: tuple[int, ...] = ()

    @property
    def blamed(self) -> tuple[int, ...]:
        """Return the numbers of all faults that hit it."""
        return self.further if self.fault is None else (self.fault, *self.further)

    @property
    def foreseen(self) -> bool:
        """Tell whether it arrives here as usual, but is hit in the failing run beside this one."""
        return self.fate is Fate.DELIVERED and self.fault is not None


class CrashMark(NamedTuple):
    """``process`` crashes at ``time``, or ``stops`` altogether; ``fault`` is the number of that fault."""

    process: str
    time: int
    fault: int
    stops: bool = False

    @property
    def word(self) -> str:
        """Return what stands at its lifeline."""
        return "STOPPED" if self.stops else "CRASHED"


class HaltKind(enum.Enum):
    """In what way a process does not run for a while."""

    DOWN = "down"
    PAUSED = "paused"


class Halt(NamedTuple):
    """``process`` does not run from ``first`` on and before ``end``; ``fault`` is the number of that fault."""

    process: str
    kind: HaltKind
    first: int
    end: int
    fault: int

    def covers(self, time: int) -> bool:
        return self.first <= time < self.end


class Band(NamedTuple):
    """What is sent from ``first`` on and before ``end`` between the ``group`` and the other processes is lost."""

    group: tuple[str, ...]
    first: int
    end: int
    fault: int

    def covers(self, time: int) -> bool:
        return self.first <= time < self.end


class GiftKind(enum.Enum):
    """What is given to a process beside faults; the values are the names of these kinds."""

    INPUT = "input"
    PICK = "pick"


class Gift(NamedTuple):
    """``process`` ("": none of them) is given something at ``time``; ``fault`` is its number among the faults."""

    process: str
    time: int
    kind: GiftKind
    fault: int


class Alarm(NamedTuple):
    """``text`` must never hold, and does from ``time`` on."""

    time: int
    text: str


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


class Ground(NamedTuple):
    """A violation rests on ``process`` as it is after ``event``, which is at ``time``."""

    process: str
    time: int
    event: int


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
    #: The event after which something is wrong, and what else that rests on.
    broken: int | None = None
    grounds: tuple[Ground, ...] = ()
    #: Processes that do not run for a while, and partitions, in the order of the faults.
    halts: tuple[Halt, ...] = ()
    bands: tuple[Band, ...] = ()
    #: Inputs, and what is chosen, in the order of the faults.
    gifts: tuple[Gift, ...] = ()
    #: Where the run repeats itself for ever, if a whole round of several steps is in the picture.
    loop: Loop | None = None
    #: What must never hold, where it first does.
    alarms: tuple[Alarm, ...] = ()

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
        seen = {number for a in self.arrows for number in a.blamed}
        seen |= {c.fault for c in self.crashes} | {h.fault for h in self.halts} | {b.fault for b in self.bands}
        seen |= {gift.fault for gift in self.gifts}
        return tuple(fault for number, fault in enumerate(self.faults, start=1) if number not in seen)


class Sending(NamedTuple):
    """One message, whatever kind of system sends it: a short ``label``, and in full as ``detail``."""

    label: str
    detail: str
    source: NodeName
    target: NodeName
    sent: int
    arrived: int | None
    #: When it arrives a second time, if it does.
    again: int | None = None


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
    repeated = execution.duration.repeated if execution.duration and not foreseen else None
    found = lamport_of_messages(execution.messages, execution.spec, faults, foreseen=foreseen, loop=repeated)
    return with_alarms(found, execution.violations)


def with_alarms(diagram: Diagram, violations: Iterable[Violation]) -> Diagram:
    """Mark when something holds that must never hold; all other violations are about the end."""
    timed = sorted((v.time, str(v.at_any_time)) for v in violations if v.time is not None)
    return diagram._replace(alarms=tuple(Alarm(time, text) for time, text in timed))


def lamport_of_messages(
    messages: Iterable[Message],
    spec: FailureSpec,
    faults: FaultSet,
    *,
    foreseen: bool = False,
    loop: Loop | None = None,
) -> Diagram:
    """Return the diagram of an execution of which only the messages are known, and where it repeats itself."""
    sendings = (
        Sending(m.relation, f"{m.relation}({row_text(m.row)})", m.source, m.target, m.sent, m.arrived, m.again)
        for m in messages
    )
    diagram = diagram_of(spec.nodes, spec.eot, sendings, faults, foreseen=foreseen)
    return diagram._replace(loop=find_visible_loop(loop, spec.eot))


def find_visible_loop(loop: Loop | None, last: int) -> Loop | None:
    """Return the loop if it is worth a mark in a picture that ends at a time."""
    # A run at rest needs none: nothing happens there, or the same in every step.
    return loop if loop and loop.period > 1 and loop.again <= last else None


def diagram_of(
    nodes: Sequence[NodeName], last: int, sendings: Iterable[Sending], faults: FaultSet, *, foreseen: bool = False
) -> Diagram:
    """Make the diagram of these messages; ``foreseen``: the faults do not happen here, they are only marked."""
    names = {node: show(node) for node in nodes}
    hits = Hits(faults)
    order = {node: k for k, node in enumerate(nodes)}
    # The arrival is part of the key: messages over one link at one time can be late by different lags, and then
    # they are different arrows.  So are the first and the second arrival.
    links: dict[tuple[int, int, int, int, bool], list[Sending]] = {}
    for s in sendings:
        # A run that only foresees its faults has no crash yet, and sends everything.
        sent_at_all = foreseen or hits.silence(s.source, s.sent) is None
        if s.source in names and s.target in names and s.source != s.target and sent_at_all:
            link = s.sent, order[s.source], order[s.target]
            links.setdefault((*link, _place(s.arrived, last), False), []).append(s)
            if not foreseen and hits.blame_again((s.source, s.target, s.sent)) is not None:
                second = s._replace(arrived=s.again)
                links.setdefault((*link, _place(s.again, last), True), []).append(second)
    arrows = tuple(
        _arrow(links[key], names, hits, last, again=key[-1], foreseen=foreseen) for key in sorted(links)
    )
    processes, written = tuple(names[n] for n in nodes), tuple(map(str, faults))
    if foreseen:
        return Diagram(processes, last, arrows, faults=written)
    return _with_marks(Diagram(processes, last, arrows, faults=written), faults, names)


def _place(arrived: int | None, last: int) -> int:
    """Return a sort key: what never arrives comes last among arrows of the same link."""
    return last + 1 if arrived is None else arrived


def _with_marks(diagram: Diagram, faults: FaultSet, names: Mapping[NodeName, str]) -> Diagram:
    """Add what faults do to processes."""
    crashes: list[CrashMark] = []
    halts: list[Halt] = []
    bands: list[Band] = []
    gifts: list[Gift] = []
    for number, fault in enumerate(faults, start=1):
        match fault:
            case Loss() | Delay() | Duplicate():
                pass  # in the arrows
            case Crash(node, time):
                crashes.append(CrashMark(names[node], time, number))
            case Stop(node, time):
                crashes.append(CrashMark(names[node], time, number, stops=True))
            case Restart(node, time, until):
                halts.append(Halt(names[node], HaltKind.DOWN, time, until, number))
            case Pause(node, time, until):
                halts.append(Halt(names[node], HaltKind.PAUSED, time, until, number))
            case Partition(group, time, until):
                bands.append(Band(tuple(names[node] for node in group), time, until, number))
            case GivenRow():
                place = names.get(fault.row[0], "") if isinstance(fault.row[0], str | int) else ""
                gifts.append(Gift(place, fault.time, GiftKind(fault.name), number))
            case _:
                assert_never(fault)
    return diagram._replace(crashes=tuple(crashes), halts=tuple(halts), bands=tuple(bands), gifts=tuple(gifts))


def _arrow(
    sendings: Sequence[Sending],
    names: Mapping[NodeName, str],
    hits: Hits,
    last: int,
    *,
    again: bool,
    foreseen: bool,
) -> Arrow:
    first = sendings[0]
    blame = _blame(first, hits, again=again, foreseen=foreseen)
    numbers = tuple(hits.number[fault] for fault in blame.faults)
    return Arrow(
        names[first.source],
        names[first.target],
        first.sent,
        first.arrived,
        tuple(sorted({s.label for s in sendings})),
        tuple(sorted({s.detail for s in sendings})),
        _fate(first, blame, last, again=again),
        numbers[0] if numbers else None,
        further=numbers[1:],
    )


def _blame(sending: Sending, hits: Hits, *, again: bool, foreseen: bool) -> Blame:
    message = sending.source, sending.target, sending.sent
    second = hits.blame_again(message)
    if again and second is not None:
        return second
    blame, duplicate = hits.blame(message), hits.duplicate(message)
    # The fault that makes a message arrive twice is told with its second arrival; without one, beside what
    # prevents that.
    if duplicate is not None and (foreseen or second is None):
        return Blame((*blame.faults, duplicate), blame.lost)
    return blame


def _fate(sending: Sending, blame: Blame, last: int, *, again: bool) -> Fate:
    if sending.arrived is not None:
        if again:
            return Fate.AGAIN
        return Fate.DELIVERED if sending.arrived <= sending.sent + 1 else Fate.LATE
    # Without a fault nothing gets lost: what was sent in the last step simply has no step left to arrive in.
    under_way = not blame.lost if blame.faults else sending.sent >= last
    return Fate.NEVER if under_way else Fate.LOST
