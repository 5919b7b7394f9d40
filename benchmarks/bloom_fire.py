"""A node under fire: everything that strangers can send, at once, while a client is served.

``python -m benchmarks.bloom_fire [--peers] [SECONDS [PHASE]]`` starts a node as a process, a client that asks it
as fast as it answers (small rows, and a large one now and then), and attackers as processes:

- ``frames``: frames with a million tuples, sets or messages, with as many as the limit allows, and of 16 MB;
- ``silent``: 300 connections that say nothing, opened again when they are closed, and 30 that say a byte a second;
- ``refused``: rows for channels that do not exist, or of another width, 20 in a datagram;
- ``forged``: questions with long answers in the name of a victim;
- ``garbage``: datagrams and frames that are almost right.

Frames come as fast as the node reads them, datagrams at ``DATAGRAMS_PER_SECOND`` for each of the other attackers.
A minute with attackers and a quarter of one without take turns, or other phases, so that what else the machine
does disturbs both.  With ``--peers``, the node takes datagrams from the client alone (``peers=``).  On a machine
with much to do, the node gets a part of a processor that depends on how much it has to do itself; the share of
answers for each second that it *computed* does not.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import random
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any

from clew.bloom import Bloom, bloom, channel, interface, table
from clew.bloom.network.wire import encode, make_frame

#: The bar: the share of its undisturbed rate at which the client is served.
BAR = 0.5
DATAGRAMS_PER_SECOND = 500
_PHASE = 60.0
_WINDOW = 1_000
#: One question in so many is large.
_LARGE_EVERY = 2_000
_LONG_TEXT = "x" * 1_000
_AGAIN_SECONDS = 0.5


class Target(Bloom):
    """Answers every question, and short questions for a text with the text."""

    question = channel("@dst", "client", "number", val=["payload"])
    answer = channel("@dst", "number", val=["size"])
    read = channel("@dst", "reader", "number", val=["key"])
    text = channel("@dst", "number", val=["text"])
    texts = table("key", val=["text"])

    # Bloom's operators are written together.
    # fmt: off
    @bloom
    def rules(self) -> None:
        self.answer <~ self.question(lambda q: (q.client, q.number, len(q.payload)))  # noqa: B015
        self.text <~ (self.read * self.texts).pairs(lambda r, t: (r.reader, r.number, t.text), key="key")  # noqa: B015

    # fmt: on


class Asker(Bloom):
    """The client."""

    ask = interface.input("server", "number", val=["payload"])
    question = channel("@dst", "client", "number", val=["payload"])
    answer = channel("@dst", "number", val=["size"])

    # fmt: off
    @bloom
    def rules(self) -> None:
        self.question <~ self.ask(lambda a: (a.server, self.ip_port, a.number, a.payload))  # noqa: B015

    # fmt: on


@dataclass(frozen=True)
class Fire:
    """Answers a second without and with attackers; large rows that were answered meanwhile.

    ``processor``: of a second, the part that the node computed, without and with attackers.  ``memory``: megabytes
    that it took at most.  ``victim``: bytes that reached the forged address, of ``forged`` that were sent in its
    name.  ``garbage``: what the node counted.
    """

    undisturbed: float
    disturbed: float
    processor: tuple[float, float]
    large: int
    memory: int
    log_lines: int
    victim: int
    forged: int
    garbage: dict[str, int]

    @property
    def share(self) -> float:
        return self.disturbed / self.undisturbed

    @property
    def computed_share(self) -> float:
        """The same for each second that the node computed, whatever part of a processor it was given."""
        without, under_fire = self.processor
        return self.share * without / under_fire if under_fire else 0.0


# -- the client --------------------------------------------------------------------------------------------------


class _Client:
    """Keeps a window of questions open; what is not answered in time is asked again."""

    def __init__(self) -> None:
        self.answered = 0
        self.large = 0
        self._server = ""
        self._number = 0
        self._open: dict[int, tuple[float, str]] = {}
        self._lock = threading.Lock()
        self._node = Asker()
        self._node.on(self._node.answer, self._hear)

    def __enter__(self) -> _Client:
        self._node.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._node.stop()

    @property
    def address(self) -> str:
        return str(self._node.ip_port)

    def begin(self, server: str) -> None:
        self._server = server
        self._ask(self._next(_WINDOW))

    def measure(self, seconds: float) -> int:
        """Return how many answers came meanwhile."""
        before, end = self.answered, time.monotonic() + seconds
        while time.monotonic() < end:
            time.sleep(0.05)
            self._ask_again()
        return self.answered - before

    def _ask_again(self) -> None:
        now = time.monotonic()
        with self._lock:
            late = [(n, payload) for n, (asked, payload) in self._open.items() if now - asked > _AGAIN_SECONDS]
            for number, payload in late:
                self._open[number] = now, payload
        self._ask(late)

    def _next(self, number: int) -> list[tuple[int, str]]:
        now = time.monotonic()
        made = []
        for _ in range(number):
            self._number += 1
            payload = "large" * 4_000 if self._number % _LARGE_EVERY == 0 else "small"
            self._open[self._number] = now, payload
            made.append((self._number, payload))
        return made

    def _ask(self, questions: Sequence[tuple[int, str]]) -> None:
        if questions:
            self._node.ask.insert(*((self._server, number, payload) for number, payload in questions))

    def _hear(self, rows: Sequence[Any]) -> None:
        with self._lock:
            news = 0
            for row in rows:
                found = self._open.pop(row.number, None)
                if found is not None:
                    assert row.size == len(found[1])
                    news += 1
                    self.large += row.size > 100
            self.answered += news
            questions = self._next(news)
        self._ask(questions)


# -- attackers ---------------------------------------------------------------------------------------------------

_Where = tuple[str, int]


def _attack(kind: str, where: _Where, victim: str, on: Event, seed: int) -> None:
    """Work as long as the event is set, and give everything back when it is not; for ever."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(OSError):
        os.nice(19)  # what attackers compute is computed elsewhere
    attack = ATTACKS[kind]
    source = random.Random(seed)
    while True:
        on.wait()
        with ExitStack() as stack:
            for pause in attack(where, victim, source, stack):
                time.sleep(pause)
                if not on.is_set():
                    break


def _filled(size: int, item: bytes, channel_name: str) -> bytes:
    number = size // len(item)
    name = channel_name.encode()
    header = b"\x93\x01" + bytes([0xA0 + len(name)]) + name + b"\x91\xdd"
    return header + struct.pack(">I", number) + item * number


def _hostile_frames() -> list[bytes]:
    items = {"nil": b"\xc0", "tuples": b"\x91\xc0", "sets": b"\xd5\x01\x91\xc0", "deep": b"\x91" * 40 + b"\xc0"}
    frames = [make_frame(_filled(2**20 - 100, item, "question")) for item in items.values()]
    frames += [make_frame(_filled(32_000, item, "question")) for item in items.values()]  # not too many
    frames += [make_frame(_filled(10_000 * len(item), item, "none")) for item in items.values()]
    frames.append(make_frame(b"\x93\x01\xa1c\x90" * 200_000))
    frames.append(make_frame(encode("none", (1,)) * 8_000))
    frames.append(make_frame(_filled(16 * 2**20, b"\xd5\x01\x91\xc0", "question")))
    frames.append(b"\xff\xff\xff\xff")
    return frames


def _frames(where: _Where, victim: str, source: random.Random, stack: ExitStack) -> Iterator[float]:
    frames = _hostile_frames()
    while True:
        with suppress(OSError), socket.create_connection(where, timeout=2) as tcp:
            for _ in range(source.randrange(1, 5)):
                tcp.sendall(source.choice(frames))
            tcp.shutdown(socket.SHUT_WR)
            tcp.recv(100)
        yield 0.0


def _silent(where: _Where, victim: str, source: random.Random, stack: ExitStack) -> Iterator[float]:
    held: list[socket.socket] = []

    def close() -> None:
        for tcp in held:
            tcp.close()

    stack.callback(close)
    while True:
        for tcp in held[:30]:
            with suppress(OSError):
                tcp.send(b"\0")
        while len(held) < 330:
            try:
                held.append(socket.create_connection(where, timeout=2))
            except OSError:
                break
        for tcp in source.sample(held, min(30, len(held))):  # those that the node has ended are among them
            held.remove(tcp)
            tcp.close()
        yield 1.0


def _paced(make: Callable[[random.Random], bytes]) -> Callable[..., Iterator[float]]:
    """Datagrams at a steady rate."""

    def attack(where: _Where, victim: str, source: random.Random, stack: ExitStack) -> Iterator[float]:
        udp = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        begun, sent = time.monotonic(), 0
        while True:
            due = int((time.monotonic() - begun) * DATAGRAMS_PER_SECOND)
            for _ in range(min(due - sent, DATAGRAMS_PER_SECOND // 10)):
                with suppress(OSError):
                    udp.sendto(make(source), where)
            sent = due
            yield 0.01

    return attack


def _refused_rows(source: random.Random) -> bytes:
    row = encode("nothing", (1, 2)) if source.random() < 0.5 else encode("question", (source.random(),))
    return row * 20


def _forged(where: _Where, victim: str, source: random.Random, stack: ExitStack) -> Iterator[float]:
    return _paced(lambda source: encode("read", ("", victim, source.randrange(10**6), "k")) * 20)(
        where, victim, source, stack
    )


def _almost_right(source: random.Random) -> bytes:
    data = bytearray(encode("question", ("127.0.0.1:9", "127.0.0.1:9", 1, "x" * source.randrange(1000))))
    for _ in range(source.randrange(1, 5)):
        data[source.randrange(len(data))] = source.randrange(256)
    return bytes(data[: source.randrange(len(data) + 1)] if source.random() < 0.3 else data)


def _garbage(where: _Where, victim: str, source: random.Random, stack: ExitStack) -> Iterator[float]:
    for number, pause in enumerate(_paced(_almost_right)(where, victim, source, stack)):
        if number % 10 == 0:
            with suppress(OSError), socket.create_connection(where, timeout=2) as tcp:
                data = _almost_right(source)
                tcp.sendall(make_frame(data) if source.random() < 0.5 else data)
        yield pause


ATTACKS: dict[str, Callable[[_Where, str, random.Random, ExitStack], Iterator[float]]] = {
    "frames": _frames,
    "silent": _silent,
    "refused": _paced(_refused_rows),
    "forged": _forged,
    "garbage": _garbage,
}


# -- a run -------------------------------------------------------------------------------------------------------


def measure(seconds: float, folder: Path, phase: float = _PHASE, *, peers: bool = False) -> Fire:
    """So many seconds of attacks, in phases; before each of them a quarter as long without."""
    with ExitStack() as stack:
        client = stack.enter_context(_Client())
        node = _NodeProcess(folder / "log", [client.address] if peers else [])
        stack.callback(node.kill)
        victim = stack.enter_context(_Victim())
        on = _attackers(stack, node.where, victim.address)
        client.begin(node.address)
        client.measure(1.0)
        counts = {False: 0, True: 0}
        took = {False: 0.0, True: 0.0}
        computed = {False: 0.0, True: 0.0}
        for _ in range(max(1, round(seconds / phase))):
            for under_fire in (False, True):
                (on.set if under_fire else on.clear)()
                client.measure(0.5)  # until it has begun, or ended
                begun, computing = time.monotonic(), node.processor_seconds()
                counts[under_fire] += client.measure(phase if under_fire else phase / 4)
                took[under_fire] += time.monotonic() - begun
                computed[under_fire] += node.processor_seconds() - computing
        on.clear()
        memory = node.peak_memory()
        garbage = node.end()
        return Fire(
            counts[False] / took[False],
            counts[True] / took[True],
            (computed[False] / took[False], computed[True] / took[True]),
            client.large,
            memory,
            (folder / "log").read_text(encoding="utf-8").count("\n"),
            victim.received,
            garbage.pop("forged", 0),
            garbage,
        )


def _attackers(stack: ExitStack, where: _Where, victim: str) -> Event:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["clew.bloom"])
    on = context.Event()
    for seed, kind in enumerate(ATTACKS):
        process = context.Process(target=_attack, args=(kind, where, victim, on, seed), daemon=True)
        process.start()
        stack.callback(process.join)
        stack.callback(process.kill)
    return on


class _NodeProcess:
    """The node; it prints its address, and at the end what it counted."""

    def __init__(self, log: Path, peers: Sequence[str]) -> None:
        with log.open("w") as errors:
            self._popen = subprocess.Popen(
                [sys.executable, "-m", "benchmarks.bloom_fire", "serve", *peers],
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )
        assert self._popen.stdout is not None
        self.address = self._popen.stdout.readline().strip()
        host, port = self.address.split(":")
        self.where = host, int(port)

    def peak_memory(self) -> int:
        """Megabytes; 0 where the system does not tell."""
        with suppress(OSError):
            status = Path(f"/proc/{self._popen.pid}/status").read_text(encoding="utf-8")
            return int(status.partition("VmHWM:")[2].split()[0]) // 1024
        return 0

    def processor_seconds(self) -> float:
        with suppress(OSError):
            fields = Path(f"/proc/{self._popen.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
            return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        return 0.0

    def end(self) -> dict[str, int]:
        self._popen.send_signal(signal.SIGTERM)
        out, _ = self._popen.communicate(timeout=30)
        if self._popen.returncode != 0:
            raise RuntimeError(f"the node ended with {self._popen.returncode}")
        return {name: int(count) for name, _, count in (line.rpartition(" ") for line in out.splitlines())}

    def kill(self) -> None:
        with self._popen:
            self._popen.kill()


class _Victim:
    """Somebody whose address is forged: it counts what it gets."""

    def __init__(self) -> None:
        self.received = 0
        self._udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._udp.bind(("127.0.0.1", 0))
        self.address = "{}:{}".format(*self._udp.getsockname())
        self._thread = threading.Thread(target=self._count)

    def __enter__(self) -> _Victim:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
            udp.sendto(b"", self._udp.getsockname())
        self._thread.join()
        self._udp.close()

    def _count(self) -> None:
        while data := self._udp.recv(65536):
            self.received += len(data)


def _serve(peers: Sequence[str]) -> None:
    logging.basicConfig()
    node = Target(peers=peers or None)
    node.texts.insert(("k", _LONG_TEXT))
    forged = 0

    def count(rows: Sequence[Any]) -> None:
        nonlocal forged
        forged += sum(len(encode("read", row)) for row in rows)

    node.on(node.read, count)
    node.run(ready=lambda: print(node.ip_port, flush=True))
    for name, number in sorted(node.garbage.items()):
        print(name, number)
    print("forged", forged, flush=True)


def main() -> None:
    if sys.argv[1:2] == ["serve"]:
        _serve(sys.argv[2:])
        return
    given = [word for word in sys.argv[1:] if word != "--peers"]
    seconds = float(given[0]) if given else 600.0
    phase = float(given[1]) if len(given) > 1 else _PHASE
    with tempfile.TemporaryDirectory() as folder:
        fire = measure(seconds, Path(folder), phase, peers="--peers" in sys.argv)
    print(
        f"undisturbed {fire.undisturbed:.0f} answers a second; under fire {fire.disturbed:.0f}, {fire.share:.0%}; "
        f"{fire.processor[0]:.2f} and {fire.processor[1]:.2f} of a processor, "
        f"{fire.computed_share:.0%} for each second of it; "
        f"{fire.large} large rows answered; {fire.memory} MB at most; {fire.log_lines} log lines; "
        f"{fire.victim} bytes at the forged address for {fire.forged} in its name"
    )
    for name, number in fire.garbage.items():
        print(f"  {name}: {number}")


if __name__ == "__main__":
    main()
