"""A durable log on three processes: updates per second, and what an update costs when there have been many.

``python -m benchmarks.multipaxos``.  Every vote and every decree is on disk (SQLite, synchronous=FULL: an fsync for
each transaction) before anybody is told; requests that wait while that happens share the next decree.
"""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from benchmarks.multipaxos_cluster import Clients, Cluster


@dataclass(frozen=True)
class Throughput:
    updates: int
    seconds: float
    cpu: tuple[float, ...]

    @property
    def per_second(self) -> float:
        return self.updates / self.seconds


def measure_throughput(folder: Path, seconds: float, *, clients: int = 16, window: int = 32) -> Throughput:
    with Cluster(folder) as cluster:
        load = Clients(cluster, clients, window)
        with load.node:
            load.begin()
            _wait_until_answered(load, 100)
            begun, cpu = time.perf_counter(), cluster.cpu_seconds()
            before = len(load.acknowledged)
            while time.perf_counter() - begun < seconds:
                time.sleep(0.5)
                load.repeat(5.0)
            took, updates = time.perf_counter() - begun, len(load.acknowledged) - before
            used = tuple(b - a for a, b in zip(cpu, cluster.cpu_seconds(), strict=True))
            load.end()
    return Throughput(updates, took, used)


def _wait_until_answered(load: Clients, number: int) -> None:
    limit = time.monotonic() + 60
    while len(load.acknowledged) < number:
        if time.monotonic() > limit:
            raise RuntimeError(f"{len(load.acknowledged)} answers in 60 s")
        time.sleep(0.1)
        load.repeat(1.0)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        found = measure_throughput(Path(folder), 10.0)
    cpu = ", ".join(f"{seconds / found.updates * 1e6:.0f}" for seconds in found.cpu)
    print(
        f"{found.updates} updates in {found.seconds:.1f} s: {found.per_second:.0f} a second; {cpu} µs of the processor each"
    )


if __name__ == "__main__":
    main()
