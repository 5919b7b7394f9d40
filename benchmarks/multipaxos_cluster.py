"""Three replicas of a durable log as processes on the loopback interface, and clients that keep them busy.

The replicas keep registers: a request writes one, and is answered what it wrote.  They are forked from a
process that has imported everything.
"""

from __future__ import annotations

import multiprocessing
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from clew.bloom import bloom, interface, periodic, table
from clew.multipaxos import ClientMessages, Replica

_PATIENCE = 60.0


class Registers(Replica):
    """Reads a whole decree in one step."""

    at_once = None
    beat_timer = periodic(0.2)
    patience = 10

    registers = table("key", val=["value"], durable=True)

    # Bloom's operators are written together.
    # fmt: off
    @bloom
    def write(self) -> None:
        self.temp.writes <= self.entry(
            lambda e: (e.operation[0], e.place, e.operation[1], e.client, e.number)
        ).rename("key", "place", "value", "client", "number")
        self.temp.last <= self.temp.writes.argmax(["key"], "place")
        self.registers <- (self.registers * self.temp.last).lefts(key="key")  # noqa: B015
        self.registers <+ self.temp.last.project("key", "value")  # noqa: B015
        self.answer <= self.entry(lambda e: (e.client, e.number, e.operation[1]))

    @bloom
    def keep_state(self) -> None:
        self.temp.all <= (self.registers * self.photograph).lefts()
        self.state <= self.temp.all(lambda r: (("register", (r.key, r.value)),))
        self.registers <- (self.registers * self.installing).lefts()  # noqa: B015
        self.registers <+ self.install(lambda i: i.part[1] if i.part[0] == "register" else None)  # noqa: B015

    # fmt: on


class Load(ClientMessages):
    """Sends what it is told to, for many clients at once."""

    wish = interface.input("replica", "client", "number", "operation")

    # fmt: off
    @bloom
    def send(self) -> None:
        self.request <~ self.wish(lambda w: (w.replica, self.ip_port, w.client, w.number, w.operation))  # noqa: B015

    # fmt: on


class Journal(Registers):
    """Keeps all that was ever done, so that it can be looked for; and few decrees, so that states are sent."""

    keep = 20
    patience = 5
    journal = table("client", "number", val=["instance", "place"], durable=True)

    # fmt: off
    @bloom
    def note(self) -> None:
        self.journal <+ self.entry(lambda e: (e.client, e.number, e.instance, e.place))  # noqa: B015
        self.temp.noted <= (self.journal * self.photograph).lefts()
        self.state <= self.temp.noted(
            lambda j: (("journal", (j.client, j.number, j.instance, j.place)),)
        )
        self.journal <- (self.journal * self.installing).lefts()  # noqa: B015
        self.journal <+ self.install(lambda i: i.part[1] if i.part[0] == "journal" else None)  # noqa: B015

    # fmt: on


def serve(kind: type[Registers], address: str, data: str, talk: Connection) -> None:
    """Run a replica: tell the address, then hear all addresses, and tell the position whenever somebody asks."""
    node = kind(address, data=data)

    def ready() -> None:
        talk.send(node.ip_port)

    def configure() -> None:
        node.member.insert(*((member,) for member in talk.recv()))
        while True:
            talk.recv()
            talk.send([tuple(row) for row in node.here])

    threading.Thread(target=configure, daemon=True).start()
    node.run(ready=ready)


@dataclass
class Member:
    process: BaseProcess
    talk: Connection
    address: str


@dataclass
class Cluster:
    """Processes by number; ``start`` is also what starts one again, at its address and with its file."""

    folder: Path
    kind: type[Registers] = Registers
    size: int = 3
    members: dict[int, Member] = field(default_factory=dict)
    addresses: dict[int, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload(["clew.bloom", "clew.multipaxos"])

    def __enter__(self) -> Cluster:
        for number in range(self.size):
            self._fork(number)
        for member in self.members.values():
            member.talk.send(list(self.addresses.values()))
        return self

    def __exit__(self, *_: object) -> None:
        for number in list(self.members):
            self.kill(number)

    def start(self, number: int) -> None:
        self._fork(number)
        self.members[number].talk.send(list(self.addresses.values()))

    def _fork(self, number: int) -> None:
        here, there = self._context.Pipe()
        address = self.addresses.get(number, "127.0.0.1:0")
        data = str(self.folder / f"{number}.sqlite")
        process = self._context.Process(target=serve, args=(self.kind, address, data, there))
        process.start()
        if not here.poll(_PATIENCE):
            raise RuntimeError(f"replica {number} does not listen; its exit code is {process.exitcode}")
        self.addresses[number] = str(here.recv())
        self.members[number] = Member(process, here, self.addresses[number])

    def kill(self, number: int) -> None:
        member = self.members.pop(number)
        member.process.kill()
        member.process.join()

    def positions(self) -> list[Any]:
        """Return how far each replica has read."""
        for member in self.members.values():
            member.talk.send("where")
        return [member.talk.recv() for member in self.members.values()]

    def cpu_seconds(self) -> list[float]:
        """Return what each process has used of the processor."""
        found = []
        for member in self.members.values():
            fields = Path(f"/proc/{member.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
            found.append((int(fields[11]) + int(fields[12])) / 100)
        return found


class Clients:
    """``count`` clients with ``window`` requests each under way; a request is repeated until it is answered."""

    def __init__(self, cluster: Cluster, count: int, window: int, *, keys: int = 1000) -> None:
        self.node = Load()
        self._cluster, self._window, self._keys = cluster, window, keys
        self._open: dict[tuple[str, int], float] = {}
        self._next = {f"client {k}": 0 for k in range(count)}
        self._lock = threading.Lock()
        self.acknowledged: dict[tuple[str, int], int] = {}
        self._aim = ""
        self._going = True
        self.node.on(self.node.reply, self._hear)

    def begin(self) -> None:
        self._aim = next(iter(self._cluster.addresses.values()))
        with self._lock:
            wishes = [w for client in self._next for w in self._more(client, self._window)]
        self.node.wish.insert(*wishes)

    def end(self) -> None:
        with self._lock:
            self._going = False

    def repeat(self, older_than: float, aim: str | None = None) -> int:
        """Send again what is not answered for so many seconds; return how many that are."""
        now = time.monotonic()
        with self._lock:
            if aim is not None:
                self._aim = aim
            late = [key for key, since in self._open.items() if now - since > older_than]
            self._open.update(dict.fromkeys(late, now))
            wishes = [self._wish(*key) for key in late]
        if wishes:
            self.node.wish.insert(*wishes)
        return len(late)

    @property
    def outstanding(self) -> int:
        with self._lock:
            return len(self._open)

    def _more(self, client: str, number: int) -> list[tuple[Any, ...]]:
        wishes = []
        for _ in range(number):
            self._next[client] += 1
            key = (client, self._next[client])
            self._open[key] = time.monotonic()
            wishes.append(self._wish(*key))
        return wishes

    def _wish(self, client: str, number: int) -> tuple[Any, ...]:
        return (self._aim, client, number, (f"key {number % self._keys}", f"{client}, {number}"))

    def _hear(self, rows: Sequence[Any]) -> None:
        wishes: list[tuple[Any, ...]] = []
        with self._lock:
            for row in rows:
                if row.leader in self._cluster.addresses.values():
                    self._aim = row.leader
                if self._open.pop((row.client, row.number), None) is not None:
                    self.acknowledged[row.client, row.number] = row.answer
                    # The session remembers the last numbers: what is still open must be among them.
                    if self._going:
                        wishes += self._more(row.client, self._allowed(row.client))
        if wishes:
            self.node.wish.insert(*wishes)

    def _allowed(self, client: str) -> int:
        open_numbers = [number for name, number in self._open if name == client]
        oldest = min(open_numbers, default=self._next[client])
        room = oldest + Registers.remembered - 1 - self._next[client]
        return max(0, min(self._window - len(open_numbers), room))
