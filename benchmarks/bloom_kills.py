"""A durable node that is killed again and again under load: is anything lost that was acknowledged?

``python -m benchmarks.bloom_kills [KILLS]`` runs a store with a durable table as a process, puts values into it
with many puts outstanding, kills it (SIGKILL) at a random moment, and looks into its file: under each key there
must be the value that was acknowledged last, or a later one.  Then it is started again with the same file.  The
file is read with SQLite and msgpack directly, by nothing that wrote it.

The processes are forked from one that has imported everything already, so that a life takes some milliseconds.
"""

from __future__ import annotations

import multiprocessing
import random
import signal
import sqlite3
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import msgpack  # type: ignore[import-untyped]

from clew.bloom import Bloom, bloom, channel, interface, table

_WINDOW = 200
_KEYS = 2_000
#: A life ends so long after its first acknowledgement at the latest, in seconds.
_LONGEST_LIFE = 0.06
_PATIENCE = 30.0


class Store(Bloom):
    """Acknowledges a put in the step that leaves it for the next."""

    put = channel("@dst", "src", "number", val=["key"])
    done = channel("@dst", "number")
    kept = table("key", val=["number"], durable=True)

    # Bloom's operators are written together.
    # fmt: off
    @bloom
    def store(self) -> None:
        self.kept <- (self.put * self.kept).rights(key="key")  # noqa: B015
        self.kept <+ self.put(lambda p: (p.key, p.number))  # noqa: B015
        self.done <~ self.put(lambda p: (p.src, p.number))  # noqa: B015

    # fmt: on


class Putter(Bloom):
    """Puts into a store."""

    wish = interface.input("store", "number", val=["key"])
    put = channel("@dst", "src", "number", val=["key"])
    done = channel("@dst", "number")

    # fmt: off
    @bloom
    def ask(self) -> None:
        self.put <~ self.wish(lambda w: (w.store, self.ip_port, w.number, w.key))  # noqa: B015

    # fmt: on


@dataclass(frozen=True)
class Kills:
    """``lost``: keys that held something older than what was acknowledged, over all looks into the file."""

    kills: int
    acknowledged: int
    lost: int
    seconds: float


def _serve(address: str, data: str, told: Connection) -> None:
    node = Store(address, data=data)
    node.run(ready=lambda: told.send(node.ip_port))


class _Load:
    """A client with a window of unanswered puts.  Numbers only grow, so that a later put to a key is larger."""

    def __init__(self) -> None:
        self.sent = 0
        self.last: dict[str, int] = {}
        self.acknowledged = 0
        self._lock = threading.Lock()
        self._open: set[int] = set()
        self._store = ""
        self.heard = threading.Event()
        self.node = Putter()
        self.node.on(self.node.done, self._hear)

    def begin(self, store: str) -> None:
        """Anew: what is open of the life before is lost."""
        with self._lock:
            self._store = store
            self._open.clear()
            self.heard.clear()
            wishes = self._next(_WINDOW)
        self.node.wish.insert(*wishes)

    def end(self) -> dict[str, int]:
        """Return what was acknowledged for each key, and put nothing more."""
        with self._lock:
            self._store = ""
            return dict(self.last)

    def _next(self, number: int) -> list[tuple[str, int, str]]:
        wishes = []
        for _ in range(number):
            self.sent += 1
            self._open.add(self.sent)
            wishes.append((self._store, self.sent, f"key {self.sent % _KEYS}"))
        return wishes

    def _hear(self, rows: Sequence[Any]) -> None:
        with self._lock:
            if not self._store:
                return  # killed already; what comes now is acknowledged, too, but need not be looked for
            news = [row.number for row in rows if row.number in self._open]
            for number in news:
                self._open.discard(number)
                key = f"key {number % _KEYS}"
                self.last[key] = max(number, self.last.get(key, 0))
            self.acknowledged += len(news)
            wishes = self._next(len(news))
        self.heard.set()
        if wishes:
            self.node.wish.insert(*wishes)


def _read(data: Path) -> dict[str, int]:
    """Return what is in the file, without the code that wrote it."""
    with closing(sqlite3.connect(data)) as connection:
        rows = connection.execute("SELECT row FROM kept WHERE name = 'kept'").fetchall()
    return dict(msgpack.unpackb(row) for (row,) in rows)


def measure(kills: int, folder: Path, seed: int = 0) -> Kills:
    chance = random.Random(seed)
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["clew.bloom"])
    data = folder / "store.sqlite"
    load = _Load()
    lost = 0
    address = "127.0.0.1:0"
    started = time.perf_counter()
    with load.node:
        for kill in range(kills):
            here, there = context.Pipe()
            process = context.Process(target=_serve, args=(address, str(data), there))
            process.start()
            try:
                address = _wait_for_address(here, process)
                load.begin(address)
                if not load.heard.wait(_PATIENCE):
                    raise RuntimeError(f"nothing was acknowledged in life {kill}")
                time.sleep(chance.random() * _LONGEST_LIFE)
            finally:
                process.kill()
            # What is heard until here was sent by the process that is dead now.
            process.join()
            acknowledged = load.end()
            assert process.exitcode == -signal.SIGKILL
            kept = _read(data)
            lost += sum(kept.get(key, 0) < number for key, number in acknowledged.items())
    return Kills(kills, load.acknowledged, lost, time.perf_counter() - started)


def _wait_for_address(told: Connection, process: BaseProcess) -> str:
    if not told.poll(_PATIENCE):
        raise RuntimeError(f"the store does not listen; its exit code is {process.exitcode}")
    return str(told.recv())


def main() -> None:
    kills = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000
    with tempfile.TemporaryDirectory() as folder:
        found = measure(kills, Path(folder))
    told = f"{found.lost} lost of {found.acknowledged} acknowledged puts"
    print(f"{found.kills} kills in {found.seconds:.0f} s: {told}")


if __name__ == "__main__":
    main()
