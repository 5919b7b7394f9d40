"""A cluster of Dask on this machine, in processes of its own that can be killed."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

#: Only this machine, ports that are free, and no page to look at.
_LOCAL = ("--host", "127.0.0.1", "--no-dashboard")
_PATIENCE_SECONDS = 60.0


@dataclass
class Cluster:
    """A scheduler, and the processes of its workers."""

    address: str
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def scheduler(self) -> subprocess.Popen[bytes]:
        return self.processes[0]

    @property
    def workers(self) -> list[subprocess.Popen[bytes]]:
        return self.processes[1:]

    def add_worker(self, folder: Path) -> subprocess.Popen[bytes]:
        """Start a worker with one thread, and no nanny that would start it again."""
        worker = _start("worker", self.address, *_LOCAL, "--no-nanny", "--nthreads", "1", folder=folder)
        self.processes.append(worker)
        return worker


def _start(kind: str, *options: str, folder: Path) -> subprocess.Popen[bytes]:
    # With a file and not a pipe, which nobody would empty.
    with (folder / f"{kind}-{time.monotonic_ns()}.log").open("wb") as log:
        command = [sys.executable, "-m", f"distributed.cli.dask_{kind}", *options]
        return subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log)


@contextmanager
def start_cluster(folder: Path, workers: int) -> Iterator[Cluster]:
    """Start a scheduler and workers; end all of them afterwards."""
    scheduler = _start("scheduler", *_LOCAL, "--port", "0", folder=folder)
    cluster = Cluster("", [scheduler])
    try:
        cluster.address = _wait_for_address(folder, scheduler)
        for _ in range(workers):
            cluster.add_worker(folder)
        yield cluster
    finally:
        for process in cluster.processes:
            process.send_signal(signal.SIGKILL)
            process.wait()


def _wait_for_address(folder: Path, scheduler: subprocess.Popen[bytes]) -> str:
    (log,) = folder.glob("scheduler-*.log")
    latest = time.monotonic() + _PATIENCE_SECONDS
    while time.monotonic() < latest and scheduler.poll() is None:
        if found := re.search(r"Scheduler at:\s+(tcp://127\.0\.0\.1:\d+)", log.read_text()):
            return found[1]
        time.sleep(0.05)
    raise RuntimeError(f"no scheduler: {log.read_text()}")


def kill(process: subprocess.Popen[bytes]) -> None:
    """End a process at once, and wait until it is gone."""
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
