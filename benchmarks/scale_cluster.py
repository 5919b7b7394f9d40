"""Clusters of Dask on this machine for measurements, and the processor time of their processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import psutil

from benchmarks.output import OUT

_LOCAL = ("--host", "127.0.0.1", "--no-dashboard")
_PATIENCE_SECONDS = 120.0


@contextmanager
def two_workers(count: int = 2) -> Iterator[Any]:
    """Start a LocalCluster of so many processes with a thread each."""
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=count,
        threads_per_worker=1,
        processes=True,
        dashboard_address="127.0.0.1:0",
        local_directory=str(OUT),
        silence_logs=50,
    ) as cluster:
        cluster.wait_for_workers(count, timeout=_PATIENCE_SECONDS)
        yield cluster


def worker_pids(cluster: Any) -> list[int]:
    """Return the processes of the workers of a LocalCluster."""
    return [nanny.pid for nanny in cluster.workers.values()]


def processor_seconds_below(pid: int) -> float:
    """Return the processor time of a process and of all below it, also of those that have ended."""
    process = psutil.Process(pid)
    total = 0.0
    for each in (process, *process.children(recursive=True)):
        times = each.cpu_times()
        total += times.user + times.system + times.children_user + times.children_system
    return total


class Apart(NamedTuple):
    """A scheduler and a worker with many threads, each a process of its own."""

    address: str
    scheduler: int


@contextmanager
def many_slots(slots: int) -> Iterator[Apart]:
    """Start a scheduler, and one worker that does so many things at once, if each of them is to wait."""
    with TemporaryDirectory() as scratch:
        file = Path(scratch) / "scheduler.json"
        scheduler = _start("scheduler", *_LOCAL, "--port", "0", "--scheduler-file", str(file), folder=scratch)
        processes = [scheduler]
        try:
            address = _wait_for_address(file)
            processes.append(
                _start("worker", address, *_LOCAL, "--no-nanny", "--nthreads", str(slots), folder=scratch)
            )
            yield Apart(address, scheduler.pid)
        finally:
            for process in processes:
                process.kill()
                process.wait()


def _start(kind: str, *options: str, folder: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", f"distributed.cli.dask_{kind}", *options]
    with (Path(folder) / f"{kind}.log").open("wb") as log:
        # It finds this package, too: what it is to do is defined here.
        paths = os.pathsep.join(filter(None, sys.path))
        environment = {**os.environ, "PYTHONPATH": f"{Path(__file__).parents[1]}{os.pathsep}{paths}"}
        return subprocess.Popen(
            command, cwd=folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment
        )


def _wait_for_address(file: Path) -> str:
    latest = time.monotonic() + _PATIENCE_SECONDS
    while time.monotonic() < latest:
        try:
            return str(json.loads(file.read_text())["address"])
        except (OSError, ValueError):
            time.sleep(0.05)
    raise RuntimeError("the scheduler does not start")
