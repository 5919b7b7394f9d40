"""Nodes as processes of the operating system: killed, interrupted, and fed with garbage.

With CLEW_LONG=1 the garbage is a million datagrams.
"""

from __future__ import annotations

import ast
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from benchmarks.bloom_network import measure

from bloom.network.network_programs import Client, Echo, Store
from clew.bloom.network.wire import encode, make_frame

SCRIPT = Path(__file__).parent / "processes" / "node.py"
LONG = os.environ.get("CLEW_LONG") == "1"


class Process:
    """A node in a process of its own."""

    def __init__(self, program: str, *arguments: str) -> None:
        self._errors = tempfile.TemporaryFile("w+")  # noqa: SIM115  # a pipe would fill with log lines; closed by end()
        self._popen = subprocess.Popen(
            [sys.executable, str(SCRIPT), program, *arguments],
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
        )
        assert self._popen.stdout is not None
        self.address = self._popen.stdout.readline().strip()
        self.pid = self._popen.pid

    @property
    def ended(self) -> bool:
        return self._errors.closed

    def end(self, number: int | None = None) -> tuple[int, str, str]:
        """The exit code and what it wrote after its address; without a signal, it ends by itself."""
        if number is not None:
            self._popen.send_signal(number)
        out, _ = self._popen.communicate(timeout=20)
        with self._errors as errors:
            errors.seek(0)
            return self._popen.returncode, out, errors.read()

    def resident(self) -> int:
        """Megabytes."""
        status = Path(f"/proc/{self.pid}/status").read_text()
        return int(status.partition("VmRSS:")[2].split()[0]) // 1000


@contextmanager
def process(program: str, *arguments: str) -> Iterator[Process]:
    started = Process(program, *arguments)
    try:
        yield started
    finally:
        if not started.ended:
            started.end(signal.SIGKILL)


def test_messages_between_processes() -> None:
    with process("Echo") as other, Echo() as node:
        for what in ("small", "large" * 20_000):
            assert node.insert_and_wait(node.ask, (other.address, what), node.answer) == (what,)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_run_cleanly(number: int) -> None:
    with process("Echo") as other, Echo() as node:
        node.insert_and_wait(node.ask, (other.address, "x" * 5000), node.answer)
        assert other.end(number) == (0, "ended []\n", "")


def test_what_was_acknowledged_survives_kill_9(tmp_path: Path) -> None:
    acknowledged: dict[str, int] = {}
    with Client() as client:
        for life in range(3):
            with process("Store", str(tmp_path)) as store:
                for n in range(40):
                    reqid = life * 100 + n
                    key = f"k{reqid % 30}"
                    row = (store.address, reqid, key, reqid)
                    assert client.insert_and_wait(client.wish, row, client.done) == (reqid,)
                    acknowledged[key] = reqid
                client.wish.insert(*((store.address, -n, f"k{n}", -n) for n in range(1, 500)))
                code, _, _ = store.end(signal.SIGKILL)  # in the middle of these
                assert code == -signal.SIGKILL
            with Store(data=tmp_path) as store_here:
                kept = {row.key: row.value for row in store_here.kept}
            assert acknowledged.keys() <= kept.keys()
            # What was on its way at the end may have been stored or not; nothing older comes back.
            assert {k: v for k, v in kept.items() if v >= 0}.items() <= acknowledged.items()


def test_a_second_process_does_not_get_the_file_of_the_first(tmp_path: Path) -> None:
    with process("Store", str(tmp_path)) as first, process("Store", str(tmp_path)) as second:
        assert first.address
        assert second.address == ""
        code, _, err = second.end()
        assert code == 1
        assert "is in use by another process" in err


def _datagrams(number: int) -> Iterator[bytes]:
    """Random bytes, messages with some bytes changed, and messages that do not fit the program."""
    source = random.Random(5)
    whole = [
        encode("ping", ("127.0.0.1:9", "127.0.0.1:9", (1, "x", None, frozenset([1, 2])))),
        encode("pong", ("127.0.0.1:9", "y" * 50)),
        encode("pong", ("127.0.0.1:9", 1.5)) * 20,
        encode("seen", (1,)),
        encode("nothing", (1, 2, 3)),
        encode("ping", (1,)),
    ]
    for _ in range(number):
        if source.random() < 0.4:
            yield source.randbytes(source.randrange(200))
            continue
        data = bytearray(source.choice(whole))
        for _ in range(source.randrange(4)):
            data[source.randrange(len(data))] = source.randrange(256)
        yield bytes(data[: source.randrange(len(data) + 1)] if source.random() < 0.2 else data)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the system does not tell the memory there")
def test_random_datagrams_neither_stop_a_node_nor_fill_its_memory() -> None:
    number = 1_000_000 if LONG else 5_000
    with process("Sink") as other, Echo() as node:
        host, port = other.address.split(":")
        early = None
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
            for count, data in enumerate(_datagrams(number)):
                udp.sendto(data, (host, int(port)))
                if count % 500 == 0:  # wait for it, so that the system drops little
                    assert node.insert_and_wait(node.ask, (other.address, count), node.answer) == (count,)
                if count == number // 5:
                    early = other.resident()
        assert early is not None
        assert other.resident() - early < 20
        code, out, _ = other.end(signal.SIGTERM)
        assert code == 0
        counted = dict(ast.literal_eval(out.removeprefix("ended ")))
        assert sum(counted.values()) > number // 3  # most of it arrived
        for reason in ("not msgpack", "incomplete", "no message", "unknown channel", "wrong width"):
            assert counted[reason] > 0


def test_garbage_on_connections_ends_those_only() -> None:
    source = random.Random(6)
    with process("Sink") as other, Echo() as node:
        host, port = other.address.split(":")
        for _ in range(200):
            with socket.create_connection((host, int(port))) as tcp:
                data = source.randbytes(source.randrange(100))
                tcp.sendall(make_frame(data) if source.random() < 0.5 else data)
        assert node.insert_and_wait(node.ask, (other.address, "x" * 5000), node.answer) == ("x" * 5000,)
        assert other.end(signal.SIGTERM)[0] == 0


def test_the_benchmark_counts_what_arrived() -> None:
    pace = measure(4_000)
    assert (pace.sent, pace.received) == (4_000, 4_000)
