"""PySyncObj, as it is installed, as a node of a simulation: its replicated object, its transport, its connections.

The library is given three things it asks for: a ``Transport`` that hands its messages to the simulated network, a
``Node`` class for its peers, and a machine (see ``simulated_machine``) with a clock, dice and a disk.  Everything
else, from elections to the journal on disk, is the library's own code.

A connection is between two *lives* of nodes, as with TCP: a node that starts greets the others, and what was meant
for an earlier life of a node is not handed to a later one.  Messages of a process that died still arrive until its
successor's greeting does, in the order in which they were sent.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pysyncobj
from pysyncobj.node import Node as Member
from pysyncobj.transport import Transport
from simulated_machine import Machine

from clew.simulation import Context, Node

LEADER = pysyncobj._RAFT_STATE.LEADER
ROLES = ("follower", "candidate", "leader")
#: Of the Raft log: command, index and term.
Entry = tuple[bytes, int, int]


# -- what travels ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Command:
    """From a client: append the value."""

    value: int


@dataclass(frozen=True)
class Hello:
    """A node has started, for the ``life``-th time: the connection to it is a new one."""

    life: int


@dataclass(frozen=True)
class Welcome:
    """The answer: from this life of the sender."""

    life: int


@dataclass(frozen=True)
class Packet:
    """A message of the library, for one life of its receiver.  The classes below are named after the messages."""

    life: int
    message: dict[str, Any]


class RequestVote(Packet):
    pass


class ResponseVote(Packet):
    pass


class AppendEntries(Packet):
    pass


class NextNodeIdx(Packet):
    pass


class ApplyCommand(Packet):
    pass


class ApplyCommandResponse(Packet):
    pass


PACKETS: dict[str, type[Packet]] = {
    "request_vote": RequestVote,
    "response_vote": ResponseVote,
    "append_entries": AppendEntries,
    "next_node_idx": NextNodeIdx,
    "apply_command": ApplyCommand,
    "apply_command_response": ApplyCommandResponse,
}
MESSAGES = (Command, Hello, Welcome, Packet, *PACKETS.values())


# -- what the library is given -----------------------------------------------------------------------------------


class Peer(Member):  # type: ignore[misc]
    """A member of the cluster.  Its hash is the same in every process, and so is the order of a set of them."""

    def __hash__(self) -> int:
        return int.from_bytes(self.id.encode(), "big")


class Wire(Transport):  # type: ignore[misc]
    """The library's way out; ``lives`` are those of the nodes to which there is a connection."""

    def __init__(self, ctx: Context) -> None:
        super().__init__(None, None, [])
        self._ctx = ctx
        self.lives: dict[str, int] = {}

    def send(self, node: Member, message: dict[str, Any]) -> bool:
        life = self.lives.get(node.id)
        if life is None:
            return False
        self._ctx.send(node.id, PACKETS.get(message["type"], Packet)(life, message))
        return True

    def connect(self, name: str, life: int) -> None:
        if self.lives.get(name, 0) >= life:
            return
        if name in self.lives:
            self._onNodeDisconnected(Peer(name))
        self.lives[name] = life
        self._onNodeConnected(Peer(name))

    def receive(self, name: str, message: dict[str, Any]) -> None:
        self._onMessageReceived(Peer(name), message)


class Ledger(pysyncobj.SyncObj):  # type: ignore[misc]
    """The replicated object: a list to which values are appended."""

    def __init__(self, me: str, others: list[str], conf: pysyncobj.SyncObjConf, wire: Wire) -> None:
        super().__init__(Peer(me), [Peer(name) for name in others], conf, nodeClass=Peer, transport=wire)
        self.values: list[int] = []

    @pysyncobj.replicated  # type: ignore[untyped-decorator]
    def append(self, value: int) -> None:
        self.values.append(value)

    def look(self) -> tuple[int, list[Entry]]:
        """What the library has no question for: its state and its log."""
        return self._SyncObj__raftState, list(self._SyncObj__raftLog[:])


# -- the node ----------------------------------------------------------------------------------------------------


class Replica(Node):
    """A process that runs PySyncObj.  Its attributes are what an observer sees, as recordings and reports show it.

    ``role``, ``term``, ``commit`` and ``log`` are the library's after the latest event.  ``won`` and ``applied``
    were written down over all lives of the node, so that a crash hides nothing: the terms it was the leader of,
    and the values in the order in which it applied them.  ``revised`` is set when it applied something else in a
    place where it had applied a value before: place, then and now.  ``forgot`` is set when a tick took entries
    off the end of the log, which no tick has a reason to: the last index before and after.  ``answers`` are what
    the clients of this life were told: value and FAIL_REASON.
    """

    # The machinery is no part of what is seen: it refers to everything.
    __slots__ = ("_ctx", "_machine", "_names", "_seen", "_settings", "_wire", "ledger")

    def __init__(self, names: tuple[str, ...], **settings: Any) -> None:
        self._names = names
        self._settings = settings
        self.revised: tuple[int, int, int] | None = None
        self.forgot: tuple[int, int] | None = None
        self.answers: list[tuple[int, int]] = []

    def on_start(self, ctx: Context) -> None:
        durable = ctx.durable
        self.life = durable["life"] = durable.get("life", 0) + 1
        self.won = durable.get("won", [])
        self.applied = durable.get("applied", [])
        self._seen: tuple[list[int], int] = ([], 0)
        self._ctx = ctx
        self._machine = Machine(ctx)
        self._wire = Wire(ctx)
        others = [name for name in self._names if name != ctx.me]
        with self._machine:
            self.ledger = Ledger(ctx.me, others, self._configuration(), self._wire)
        self._observe(ctx)
        # The library looks at its sockets at the end of a tick: nothing reaches it before it has loaded its dump.
        self._tick(ctx)
        for name in others:
            ctx.send(name, Hello(self.life))
        ctx.set_timer("tick")

    def _configuration(self) -> pysyncobj.SyncObjConf:
        return pysyncobj.SyncObjConf(
            autoTick=False,
            useFork=False,
            journalFile="journal",
            fullDumpFile="dump",
            onStateChanged=self._state_changed,
            **self._settings,
        )

    def on_timer(self, ctx: Context, name: str) -> None:
        ctx.set_timer("tick")
        # Mostly the pace of the library's own ticks; sometimes it was held up, long enough for an election.
        draw = ctx.random.random
        self._machine.clock += 0.05 + 0.05 * draw() if draw() < 0.9 else 2.0 * draw()
        self._tick(ctx)

    def _tick(self, ctx: Context) -> None:
        before = self.log[-1][1]
        with self._machine:
            self.ledger.doTick()
        self._observe(ctx)
        if self.log[-1][1] < before:
            self.forgot = (before, self.log[-1][1])

    def on_message(self, ctx: Context, sender: str, message: Any) -> None:
        with self._machine:
            match message:
                case Command(value):
                    self.ledger.append(value, callback=self._answer(value))
                case Hello(life):
                    self._wire.connect(sender, life)
                    ctx.send(sender, Welcome(self.life))
                case Welcome(life):
                    self._wire.connect(sender, life)
                case Packet(life, body) if life == self.life:
                    self._wire.receive(sender, body)
                case Packet():
                    ctx.log("lost: it was meant for an earlier life of this node")
        self._observe(ctx)

    def _answer(self, value: int) -> Callable[[Any, int], None]:
        return lambda _, outcome: self.answers.append((value, outcome))

    # -- what the observer writes down ---------------------------------------------------------------------------

    def _state_changed(self, _: int, state: int) -> None:
        if state == LEADER:
            term = self.ledger.raftCurrentTerm
            self._ctx.log(f"leader of term {term}")
            self.won.append(term)
            self._ctx.durable["won"] = self.won

    def _observe(self, ctx: Context) -> None:
        state, self.log = self.ledger.look()
        self.role = ROLES[state]
        self.term: int = self.ledger.raftCurrentTerm
        self.commit: int = self.ledger.raftCommitIndex
        values = self.ledger.values
        known, length = self._seen
        if values is known and len(values) == length:
            return
        self._seen = (values, len(values))
        for place, (then, now) in enumerate(zip(self.applied, values, strict=False)):
            if then != now:
                self.revised = self.revised or (place, then, now)
                return
        if len(values) > len(self.applied):
            self.applied = list(values)
            ctx.durable["applied"] = self.applied
