"""What faults do to messages, said twice: to the solver as rules, and of one execution as times of arrival.

Every kind of fault is a choice of the solver, so that one grounding describes every admissible execution.  The two
halves must agree, which ``tests/engine/test_against_reference.py`` holds them to.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, assert_never

from clew.engine.values import encode_value
from clew.faults import (
    KINDS,
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
    SentMessage,
    Stop,
    groups_of,
)

#: That a link works, if few faults can happen: what is cut is told, not the many links that are not.
UNCUT = "node(F), node(A0), F!=A0, not cut(F,A0,T)"


def fault_lines(spec: FailureSpec) -> list[str]:
    """Return the choice of every fault within the bounds, what follows from it, and that fewer are better.

    The order of the lines is part of the behaviour: clingo numbers atoms as it meets them, and of several smallest
    counterexamples it finds another one if they are numbered otherwise.
    """
    last_sending_time = spec.eot - 1  # what is sent at EOT arrives after the end
    links = f"node(F), node(G), F!=G, T=1..{last_sending_time}"
    interval = f"T=1..{spec.all_over - 1}, U=T+1..{spec.all_over}"
    lines: list[str] = []
    price: list[str] = []
    for kind in KINDS:
        match kind.name:
            case "loss":
                if spec.eff > 1:
                    last = min(spec.eff - 1, last_sending_time)
                    lines.append(f"{{ loss(F,G,T) : T=1..{last} }} :- node(F), node(G), F!=G.")
                price.append("1,l,F,G,T : loss(F,G,T)")
            case "crash":
                if spec.crashes > 0:
                    lines.append(f"{{ crash(N,T) : T=1..{last_sending_time} }} 1 :- node(N).")
                    lines.append(f":- #count {{ N,T : crash(N,T) }} > {spec.crashes}.")
                    lines += _crash_lines(spec)
                joined = ", not parted(F,G,T)" if _can(spec, Partition) else ""
                lines.append(f"link(F,G,T) :- {links}, not loss(F,G,T), not down(F,T){joined}.")
                price.append("1,c,N,T,0 : crash(N,T)")
            case "delay":
                if spec.longest_lag > 0:
                    lines.append(f"{{ delay(F,G,T,L) : L=1..{spec.longest_lag} }} 1 :- {links}.")
                    lines.append(":- delay(F,G,T,_), loss(F,G,T).")
                    lines.append("late(F,G,T) :- delay(F,G,T,_).")
                price.append("1,d,F,G,T : delay(F,G,T,_)")
            case "duplicate":
                if _can(spec, Duplicate):
                    again = f"L=1..{spec.all_over - 1}-T"
                    sent = f"node(F), node(G), F!=G, T=1..{spec.all_over - 2}"
                    lines.append(f"{{ duplicate(F,G,T,L) : {again} }} 1 :- {sent}.")
                    lines.append(f":- #count {{ F,G,T : duplicate(F,G,T,_) }} > {spec.duplicates}.")
                    lines.append(":- duplicate(F,G,T,_), loss(F,G,T).")
                    lines.append(":- duplicate(F,G,T,_), late(F,G,T).")
                    price.append("1,u,F,G,T : duplicate(F,G,T,_)")
            case "restart":
                if _can(spec, Restart):
                    lines.append(f"{{ restart(N,T,U) : {interval} }} :- node(N).")
                    lines.append(f":- #count {{ N,T,U : restart(N,T,U) }} > {spec.restarts}.")
                    lines += _restart_lines()
                    price.append("1,r,N,T,U : restart(N,T,U)")
            case "pause":
                if _can(spec, Pause):
                    lines.append(f"{{ pause(N,T,U) : {interval} }} :- node(N).")
                    lines.append(f":- #count {{ N,T,U : pause(N,T,U) }} > {spec.pauses}.")
                    lines += _pause_lines()
                    price.append("1,z,N,T,U : pause(N,T,U)")
            case "partition":
                if _can(spec, Partition):
                    lines += _member_lines(groups_of(spec.nodes))
                    lines.append(f"{{ partition(G,T,U) : {interval} }} :- member(G,_).")
                    lines.append(f":- #count {{ G,T,U : partition(G,T,U) }} > {spec.partitions}.")
                    lines += _partition_lines()
                    price.append("1,p,G,T,U : partition(G,T,U)")
            case "stop":
                if spec.can_stop:
                    lines.append(f"{{ stop(N,T) : T=1..{last_sending_time} }} 1 :- node(N).")
                    lines.append(f":- #count {{ N,T : stop(N,T) }} > {spec.stops}.")
                    lines.append(":- stop(N,_), crash(N,_).")
                    lines += _stop_lines(spec)
                    price.append("1,s,N,T,0 : stop(N,T)")
            case "input" | "pick":
                pass  # the program says what may be given: see clew.engine.given_rows
            case _ as unknown:
                assert_never(unknown)
    if spec.can_restart or spec.can_pause:
        lines.append(_no_overlap(spec))
    return [*lines, f"#minimize {{ {'; '.join(price)} }}."]


def few_fault_lines(spec: FailureSpec, only: FaultSet) -> list[str]:
    """Return a choice for each of these faults, and what follows from them: which links are ``cut``.

    No bounds on their number: whoever asks for one of these executions names all of its faults.
    """
    lines = [f"{{ {fault.name}({','.join(map(encode_value, fault.parts))}) }}." for fault in only]
    for kind in KINDS:
        match kind.name:
            case "loss":
                lines.append("cut(F,G,T) :- loss(F,G,T).")
            case "crash":
                if spec.crashes > 0:
                    lines += _crash_lines(spec)
                    lines.append("cut(F,G,T) :- down(F,T), node(G), F!=G.")
            case "delay":
                if spec.longest_lag > 0:
                    lines.append("late(F,G,T) :- delay(F,G,T,_).")
            case "duplicate":
                pass  # one more way to arrive
            case "restart":
                if _can(spec, Restart):
                    lines += _restart_lines()
            case "pause":
                if _can(spec, Pause):
                    lines += _pause_lines()
            case "partition":
                if _can(spec, Partition):
                    lines += _member_lines([f.group for f in only if isinstance(f, Partition)])
                    lines += _partition_lines()
                    lines.append("cut(F,G,T) :- parted(F,G,T).")
            case "stop":
                if spec.can_stop:
                    lines += _stop_lines(spec)
            case "input" | "pick":
                pass  # what comes of them is in clew.engine.given_rows
            case _ as unknown:
                assert_never(unknown)
    return lines


def _can(spec: FailureSpec, kind: type[Fault]) -> bool:
    """Tell whether a fault of this kind is possible: what cannot happen leaves no trace in the encoding."""
    return next(iter(kind.possible(spec)), None) is not None


def _crash_lines(spec: FailureSpec) -> list[str]:
    return [
        "down(N,T) :- crash(N,T).",
        f"down(N,T+1) :- down(N,T), T<{spec.eot - 1}.",
        "seen_crash(O,N,T) :- node(O), crash(N,T).",
    ]


def seen_down_lines(spec: FailureSpec) -> list[str]:
    """Return what programs see in the relation ``down``: only for those that look."""
    return [
        *(["seen_down(O,N,T) :- node(O), stopped(N,T)."] if _can(spec, Restart) else []),
        *([f"seen_down(O,N,T) :- node(O), crash(N,S), T=S..{spec.eot}."] if spec.crashes else []),
        *(["seen_down(O,N,T) :- node(O), gone(N,T)."] if spec.can_stop else []),
    ]


def _restart_lines() -> list[str]:
    """Return when a node is down because of a restart, and when it is given its configuration anew."""
    return [
        "stopped(N,S) :- restart(N,T,U), S=T..U-1.",
        "halted(N,T) :- stopped(N,T).",
        "started(N,U) :- restart(N,_,U), not stopped(N,U).",
    ]


def _pause_lines() -> list[str]:
    return ["paused(N,S) :- pause(N,T,U), S=T..U-1.", "halted(N,T) :- paused(N,T)."]


def _stop_lines(spec: FailureSpec) -> list[str]:
    """Return from when on a node is gone: to the last time, since it executes nothing then either."""
    return [
        f"gone(N,S) :- stop(N,T), S=T..{spec.eot}.",
        "halted(N,T) :- gone(N,T).",
        "seen_crash(O,N,T) :- node(O), stop(N,T).",
    ]


def reception(spec: FailureSpec, place: str, time: str) -> list[str]:
    """Return that a place takes in what reaches it at a time, where nodes can be down or gone but not paused."""
    return [
        *([f"not stopped({place},{time})"] if spec.can_restart else []),
        *([f"not gone({place},{time})"] if spec.can_stop else []),
    ]


def _no_overlap(spec: FailureSpec) -> str:
    """Return that at each time at most one of the faults of a node lasts; a crash or a stop lasts for good."""
    lasting = [
        *(["r,T,U : restart(N,T,U), T<=S, S<U"] if spec.restarts else []),
        *(["z,T,U : pause(N,T,U), T<=S, S<U"] if spec.pauses else []),
        *(["c,T,0 : crash(N,T), T<=S"] if spec.crashes else []),
        *(["s,T,0 : stop(N,T), T<=S"] if spec.can_stop else []),
    ]
    return f":- node(N), S=1..{spec.all_over - 1}, #count {{ {'; '.join(lasting)} }} > 1."


def _member_lines(groups: Iterable[tuple[NodeName, ...]]) -> list[str]:
    return [
        f"member({encode_value(group)},{encode_value(node)})." for group in dict.fromkeys(groups) for node in group
    ]


def _partition_lines() -> list[str]:
    # Every group by name, not a side for each node: then a partition is one atom, as every fault is, and all
    # strategies and explanations need no second way to speak of it.  With 9 nodes there are 255 groups.
    return [
        "parting(G,S) :- partition(G,T,U), S=T..U-1.",
        "parted(F,H,S) :- parting(G,S), member(G,F), node(H), not member(G,H).",
        "parted(H,F,S) :- parting(G,S), member(G,F), node(H), not member(G,H).",
    ]


class Arrival(NamedTuple):
    """A way in which a message arrives: under a ``condition``, at a ``time`` that is an expression for clingo.

    ``bounded``: the time is before EOT whenever the message is sent before it; otherwise that has to be said.
    """

    condition: str
    time: str
    bounded: bool


def ways_to_arrive(spec: FailureSpec, works: str, source: str, target: str) -> list[Arrival]:
    """Return the ways in which what is sent at T from ``source`` to ``target`` arrives, if the link ``works``."""
    punctual, later = works, []
    for kind in KINDS:
        match kind.name:
            case "loss" | "crash" | "partition":
                pass  # the link does not work
            case "restart" | "pause" | "stop":
                pass  # what becomes of what arrives is the receiver's business
            case "delay":
                if spec.longest_lag > 0:
                    punctual = f"{works}, not late({source},{target},T)"
                    later.append(Arrival(f"{works}, delay({source},{target},T,L)", "T+1+L", bounded=False))
            case "duplicate":
                if _can(spec, Duplicate):
                    again = f"{works}, duplicate({source},{target},T,L)"
                    later.append(Arrival(again, "T+1+L", bounded=True))
            case "input" | "pick":
                pass  # of no message
            case _ as unknown:
                assert_never(unknown)
    return [Arrival(punctual, "T+1", bounded=True), *later]


class Arrivals:
    """When messages arrive under some faults; made once for all messages of an execution."""

    def __init__(self, spec: FailureSpec, faults: FaultSet) -> None:
        self._eot = spec.eot
        self._nodes = frozenset(spec.nodes)
        self._lost: set[SentMessage] = set()
        self._crashed: dict[NodeName, int] = {}
        self._lags: dict[SentMessage, int] = {}
        self._repeated: dict[SentMessage, int] = {}
        self._stopped: set[tuple[NodeName, int]] = set()
        self._resumes: dict[tuple[NodeName, int], int] = {}
        self._parted: list[Partition] = []
        for fault in faults:
            match fault:
                case Loss():
                    self._lost.add(fault.message)
                case Crash(node, time):
                    self._crashed.setdefault(node, time)  # the first counts
                case Delay():
                    self._lags[fault.message] = fault.lag
                case Duplicate():
                    self._repeated[fault.message] = fault.lag
                case Restart(node, time, until):
                    self._stopped.update((node, t) for t in range(time, until))
                case Stop(node, time):
                    self._stopped.update((node, t) for t in range(time, self._eot + 1))
                case Pause(node, time, until):
                    self._resumes.update({(node, t): until for t in range(time, until)})
                case Partition():
                    self._parted.append(fault)
                case GivenRow():
                    pass  # of no message
                case _:
                    assert_never(fault)

    def time_of(self, source: NodeName, target: NodeName, sent: int) -> int | None:
        """Return the time at which a message becomes a row; None if it never does."""
        if source == target:  # no fault of messages hits one to oneself: the paper's clock always has (n, n, t)
            return self._received(target, sent + 1)
        message = source, target, sent
        if not self._gets_through(message):
            return None
        return self._received(target, sent + 1 + self._lags.get(message, 0))

    def second_time_of(self, source: NodeName, target: NodeName, sent: int) -> int | None:
        """Return the time at which a message that is duplicated becomes a row again."""
        message = source, target, sent
        lag = self._repeated.get(message)
        if lag is None or not self._gets_through(message):
            return None
        return self._received(target, sent + 1 + lag)

    def _gets_through(self, message: SentMessage) -> bool:
        source, target, sent = message
        lost = source not in self._nodes or target not in self._nodes or message in self._lost
        crashed = self._crashed.get(source, sent + 1) <= sent
        return not (lost or crashed or any(partition.prevents(message) for partition in self._parted))

    def _received(self, target: NodeName, arrival: int) -> int | None:
        """Return when a node takes in what arrives: at once, when it goes on, or never while it is down."""
        while (target, arrival) in self._resumes:  # a second pause may begin where one ends
            arrival = self._resumes[target, arrival]
        return arrival if arrival <= self._eot and (target, arrival) not in self._stopped else None
