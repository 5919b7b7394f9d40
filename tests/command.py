"""The command as a user runs it: a process of its own.

Most tests ask for an answer, a message and an exit code.  Theirs is forked from a process that has imported Clew
(``warm_start``), since a new interpreter with its imports takes 0.1 to 0.25 s of CPU and a fork 0.01 s.  Where
the start is what is tested, or signals, ``start_clew`` starts one.
"""

from __future__ import annotations

import atexit
import io
import json
import os
import selectors
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]

#: What an interpreter or a library reads when it starts, and no more when it has been forked.
_READ_AT_START = ("PYTHON", "LC_", "LANG", "TZ", "LD_", "MALLOC_")


def clew(
    *arguments: str, cwd: Path = ROOT, seconds: float = 120, change: str = "", **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run ``clew`` with these arguments; keyword arguments go into its environment.

    ``change``: statements that its process executes first, to change something of Clew.
    """
    surroundings = {**os.environ, **environment}
    warm = _warm_process()
    if _read_at_start(surroundings) != warm.read_at_start:
        assert not change
        return start_clew(*arguments, cwd=cwd, seconds=seconds, **environment)
    return warm.run(arguments, cwd, seconds, surroundings, change)


def start_clew(
    *arguments: str, cwd: Path = ROOT, seconds: float = 120, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run ``clew`` in a new interpreter, as a shell does."""
    return subprocess.run(
        [sys.executable, "-m", "clew", *arguments],
        cwd=cwd,
        env={**os.environ, **environment},
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        timeout=seconds,
        check=False,
    )


def _read_at_start(environment: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if name.startswith(_READ_AT_START)}


@cache
def _warm_process() -> _WarmProcess:
    made = _WarmProcess()
    atexit.register(made.end)
    return made


class _WarmProcess:
    """A process that has imported Clew, done nothing else, and forks a command when it is asked to."""

    def __init__(self) -> None:
        self.read_at_start = _read_at_start(dict(os.environ))
        self._socket, theirs = socket.socketpair()
        self._one_at_a_time = threading.Lock()
        # Pipes, as a command has them: of its standard streams, the interpreter keeps of which kind they are.
        self._process = subprocess.Popen(
            [sys.executable, "-m", "warm_start", str(theirs.fileno())],
            cwd=Path(__file__).parent,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=[theirs.fileno()],
        )
        theirs.close()

    def run(
        self, arguments: tuple[str, ...], cwd: Path, seconds: float, environment: dict[str, str], change: str
    ) -> subprocess.CompletedProcess[str]:
        latest = time.monotonic() + seconds
        with self._one_at_a_time:
            (out, their_out), (err, their_err) = os.pipe(), os.pipe()
            request = json.dumps([arguments, str(cwd), environment, change]).encode()
            socket.send_fds(self._socket, [struct.pack("=q", len(request))], [0, their_out, their_err])
            self._socket.sendall(request)
            os.close(their_out)
            os.close(their_err)
            command = self._receive()
            texts = _read_until(latest, out, err)
            if texts is None:
                os.kill(command, signal.SIGKILL)
            status = self._receive()
        if texts is None:
            raise subprocess.TimeoutExpired(["clew", *arguments], seconds)
        return subprocess.CompletedProcess(["clew", *arguments], os.waitstatus_to_exitcode(status), *texts)

    def _receive(self) -> int:
        """Receive a number: of the process that was forked, and later the status with which it ended."""
        read = self._socket.recv(8, socket.MSG_WAITALL)
        if len(read) < 8:
            raise RuntimeError(f"the warm process ended: {self._process.communicate()[1].decode()}")
        (number,) = struct.unpack("=q", read)
        assert isinstance(number, int)
        return number

    def end(self) -> None:
        self._socket.close()
        self._process.communicate()


def _read_until(latest: float, *streams: int) -> list[str] | None:
    """Read streams to their ends and close them; return nothing if there is no end in time."""
    parts: dict[int, list[bytes]] = {stream: [] for stream in streams}
    try:
        with selectors.DefaultSelector() as selector:
            for stream in streams:
                selector.register(stream, selectors.EVENT_READ)
            while selector.get_map():
                ready = selector.select(max(0.0, latest - time.monotonic()))
                if not ready:
                    return None
                for key, _ in ready:
                    part = os.read(key.fd, 1 << 16)
                    parts[key.fd].append(part)
                    if not part:
                        selector.unregister(key.fd)
    finally:
        for stream in streams:
            os.close(stream)
    # Ends of lines as ``subprocess`` reads them.
    return [io.TextIOWrapper(io.BytesIO(b"".join(parts[s])), "utf-8", "replace").read() for s in streams]
