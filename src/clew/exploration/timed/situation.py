"""What an execution has come to, as a digest: equal ones have equal futures, and one of them is explored.

A situation is all that decides what can follow: the time, for nodes read their clocks; the nodes that are up, as
far as their code could tell their states apart (``encoding``); storage; what is on its way, and when it is due;
what is left of the scenario and of the bounds.  Numbers of events and messages are not in it, since no handler
sees them, unless code of the scenario that may look at the whole world is still to come.

A node whose state cannot be written exactly is told apart by its *history*: what has happened to it, and when.
Nodes are deterministic, so equal histories lead to equal states.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

from clew.exploration.timed.encoding import encode
from clew.simulation.events import Restart, Start, Stop
from clew.simulation.pool import OUTSIDE, Envelope, TimedPool
from clew.simulation.process import Process
from clew.simulation.values import NoValueError, canonical
from clew.simulation.world import CodeBlock, External, World

#: Bytes of a digest: that two of a billion are equal by chance has a probability below 1 in 10^20.
_SIZE = 16


class Viewer:
    """Looks at a world after each event: only where the event happened, for nothing else can have changed."""

    def __init__(self, world: World, names: Iterable[str], fifo: bool) -> None:
        self._world = world
        self._fifo = fifo
        pool = world.pool
        assert isinstance(pool, TimedPool)
        self._pool = pool
        self._names = tuple(names)
        self._contents: dict[Envelope, str] = {}
        self._changed: set[str] = set(self._names)
        self._nodes: dict[str, bytes] = {}
        self._stored: dict[str, bytes] = {}
        self._histories = dict.fromkeys(self._names, b"")

    # -- what happens --------------------------------------------------------------------------------------------

    def describe(self, envelope: Envelope) -> str:
        """Write down what is about to be delivered."""
        return f"{envelope.source!r} {envelope.timer} {self._content(envelope)}"

    def note(self, node: str, what: str) -> None:
        """Note that something has happened at a node."""
        self._changed.add(node)
        before = self._histories[node].hex()
        self._histories[node] = _digest(f"{before} {self._world.ticks} {what}")

    def note_external(self, event: External, number: int, before: bytes) -> None:
        """Note an event from outside, with its number; ``before``: a digest of the situation until then."""
        if isinstance(event, Start | Stop | Restart):
            self.note(event.node, f"{type(event).__name__}")
        elif isinstance(event, CodeBlock):
            # It may have done anything to anybody, and have looked at everything for that.
            for node in self._names:
                self.note(node, f"code {number} {before.hex()}")

    # -- what it looks like --------------------------------------------------------------------------------------

    def forget(self) -> None:
        """Look at all nodes the next time."""
        self._changed.update(self._names)

    def _look_at(self, name: str) -> None:
        process = self._world.processes.get(name)
        if process is None:
            self._nodes.pop(name, None)
        else:
            self._nodes[name] = _digest(self._write_node(name, process))
        storage = self._world.storage_of(name)
        if storage:
            try:
                # In the order in which keys were first stored: handlers see that when they list them.
                self._stored[name] = _digest(encode(dict(storage)))
            except NoValueError:
                self._stored[name] = self._histories[name]
        else:
            self._stored.pop(name, None)

    def _write_node(self, name: str, process: Process) -> str:
        try:
            return f"{process.drawn} {encode(process.node, process)}"
        except NoValueError:
            pass
        try:
            sketch = canonical(
                vars(process.node)
            )  # which decides nothing, and shows code that is not deterministic
        except (NoValueError, TypeError):
            sketch = ""
        return f"{process.drawn} {self._histories[name].hex()} {sketch}"

    def digest(self, account: object, *, everything: bool) -> bytes:
        """Return a digest of the situation; ``account``: what is left of the scenario and its bounds.

        ``everything``: with the numbers of events and messages.
        """
        world = self._world
        for name in self._changed:
            self._look_at(name)
        self._changed.clear()
        parts: list[object] = [
            (world.ticks, account, sorted(world.count_lives().items())),
            # In the order in which they came up: invariants see that.
            [(name, self._nodes[name].hex()) for name in world.nodes],
            sorted((name, digest.hex()) for name, digest in self._stored.items()),
            self._write_network(everything),
        ]
        # In general these would keep apart what is the same for all handlers, and nothing would come together.
        if everything:
            parts += [(world.events, sorted(world.count_sent().items()))]
        return _digest(repr(parts))

    def _write_network(self, everything: bool) -> object:
        """Write down what is on its way: over FIFO in the order on each link, otherwise in none."""
        lines, now = [], self._world.ticks
        for envelope in self._pool:
            in_line = self._fifo and envelope.source != OUTSIDE and not envelope.timer
            # What was held up beyond its time is due now, however long ago that was.
            due = envelope.due if envelope.timer else max(envelope.due, now)
            place = envelope.nth if in_line else 0
            line = (envelope.source, envelope.target, envelope.timer, place, due, self._content(envelope))
            lines.append((*line, (envelope.nth, envelope.cause) if everything else ()))
        # The numbers themselves are not in it, only the order that they are in.
        ordered = [(*line[:3], *line[4:]) for line in sorted(lines)]
        return ordered, self._pool.held, sorted(self._pool.list_latest(now))

    def _content(self, envelope: Envelope) -> str:
        text = self._contents.get(envelope)
        if text is None:
            text = self._contents[envelope] = encode(envelope.payload)
        return text


def _digest(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_SIZE).digest()
