"""The lineage of an outcome as data to draw: goals, the rules that connect them, and messages (Figures 4-7).

A goal is a row that is there (or that stays away, where a rule says ``notin``) over a range of times; a rule node
says by which rule it came about.  What no fault can touch is left out: facts and what follows from them alone.
"""

from __future__ import annotations

from dataclasses import dataclass

from clew.engine.execution import Row, row_text
from clew.faults import Fault, NodeName, SentMessage
from clew.names import show
from clew.program.ir import DOWN


@dataclass(frozen=True)
class Transfer:
    """The rule's conclusion travelled: sent by ``source`` at ``sent`` to ``target``."""

    relation: str
    row: Row
    source: NodeName
    target: NodeName
    sent: int

    @property
    def link(self) -> SentMessage:
        return self.source, self.target, self.sent


@dataclass(frozen=True)
class Goal:
    """A row over the times ``first`` to ``last``; ``present`` or staying away.

    ``given``: it holds whenever ``pre`` does, so that nothing needs to support it.  ``crashes`` is for the goal
    that a node stays up: these faults would undo it.
    """

    relation: str
    row: Row
    first: int
    last: int
    present: bool
    given: bool = False
    crashes: tuple[Fault, ...] = ()

    @property
    def label(self) -> str:
        if self.crashes:
            return f"{show(self.row[0])} {'is not down' if self.relation == DOWN else 'stays up'}"
        name = f"{self.relation}({row_text(self.row)})"
        return name if self.present else f"no {name}"


@dataclass(frozen=True)
class Firing:
    """A rule of the program at a time: it ``fired``, or was kept from firing.

    ``rule`` is its number in the program.  ``transfer``: its conclusion was a message to another node.
    ``punctual``: it did fire, but what it sent was on time, so that it was not there later.
    """

    rule: int
    time: int
    fired: bool
    transfer: Transfer | None = None
    punctual: bool = False


# Numbers instead of references: the graph is written into a page, and goals are shared by many firings.
@dataclass(frozen=True)
class LineageGraph:
    """``goals`` (the first is the outcome) and ``firings``, each numbered by its place.

    ``why[g]`` are the firings behind goal g, ``needs[f]`` the goals that firing f rests on.  ``truncated``: the
    graph was too large, and what is furthest from the outcome is left out.
    """

    goals: tuple[Goal, ...]
    firings: tuple[Firing, ...]
    why: tuple[tuple[int, ...], ...]
    needs: tuple[tuple[int, ...], ...]
    truncated: bool
