"""What faults do to messages, said twice: to the solver as rules, and of one execution as times of arrival.

Every kind of fault is a choice of the solver, so that one grounding describes every admissible execution.  The two
halves must agree, which ``tests/engine/test_against_reference.py`` holds them to.
"""

from __future__ import annotations

from typing import NamedTuple, assert_never

from clew.engine.values import encode_value
from clew.faults import KINDS, Crash, Delay, FailureSpec, FaultSet, Loss, NodeName, SentMessage

#: That a link works, if few faults can happen: what is cut is told, not the many links that are not.
UNCUT = "node(F), node(A0), F!=A0, not cut(F,A0,T)"


def fault_lines(spec: FailureSpec) -> list[str]:
    """Return the choice of every fault within the bounds, what follows from it, and that fewer are better.

    The order of the lines is part of the behaviour: clingo numbers atoms as it meets them, and of several smallest
    counterexamples it finds another one if they are numbered otherwise.
    """
    last_sending_time = spec.eot - 1  # what is sent at EOT arrives after the end
    links = f"node(F), node(G), F!=G, T=1..{last_sending_time}"
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
                lines.append(f"link(F,G,T) :- {links}, not loss(F,G,T), not down(F,T).")
                price.append("1,c,N,T,0 : crash(N,T)")
            case "delay":
                if spec.longest_lag > 0:
                    lines.append(f"{{ delay(F,G,T,L) : L=1..{spec.longest_lag} }} 1 :- {links}.")
                    lines.append(":- delay(F,G,T,_), loss(F,G,T).")
                    lines.append("late(F,G,T) :- delay(F,G,T,_).")
                price.append("1,d,F,G,T : delay(F,G,T,_)")
            case _ as unknown:
                assert_never(unknown)
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
            case _ as unknown:
                assert_never(unknown)
    return lines


def _crash_lines(spec: FailureSpec) -> list[str]:
    return [
        "down(N,T) :- crash(N,T).",
        f"down(N,T+1) :- down(N,T), T<{spec.eot - 1}.",
        "seen_crash(O,N,T) :- node(O), crash(N,T).",
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
            case "loss" | "crash":
                pass  # the link does not work
            case "delay":
                if spec.longest_lag > 0:
                    punctual = f"{works}, not late({source},{target},T)"
                    later.append(Arrival(f"{works}, delay({source},{target},T,L)", "T+1+L", bounded=False))
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
        for fault in faults:
            match fault:
                case Loss():
                    self._lost.add(fault.message)
                case Crash(node, time):
                    self._crashed.setdefault(node, time)  # the first counts
                case Delay():
                    self._lags[fault.message] = fault.lag
                case _:
                    assert_never(fault)

    def time_of(self, source: NodeName, target: NodeName, sent: int) -> int | None:
        """Return the time at which a message becomes a row; None if it never does."""
        if source == target:  # no fault hits a message to oneself: the paper's clock always has (n, n, t)
            return sent + 1
        message = source, target, sent
        lost = source not in self._nodes or target not in self._nodes or message in self._lost
        if lost or self._crashed.get(source, sent + 1) <= sent:
            return None
        arrival = sent + 1 + self._lags.get(message, 0)
        return arrival if arrival <= self._eot else None
