"""A durable log on three processes: updates per second, and what an update costs when there have been many.

``python -m benchmarks.multipaxos``.  Updates per second are those of a wall clock, and those that two cores would
do: what the three replicas and the clients use of the processor for one, divided by two.  What an update costs is
processor time of three replicas in one process, one update after the other, at the beginning and after many; the
median of ten, since every now and then something is swept.

Every vote and every decree is on disk (SQLite, synchronous=FULL: an fsync for each transaction) before anybody is
told; requests that wait while that happens share the next decree.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.effort import say
from benchmarks.multipaxos_cluster import Clients, Cluster, Registers
from clew.bloom.runtime.machine import Machine


@dataclass(frozen=True)
class Throughput:
    updates: int
    seconds: float
    cpu: tuple[float, ...]

    clients_cpu: float

    @property
    def per_second(self) -> float:
        return self.updates / self.seconds

    @property
    def per_second_of_two_cores(self) -> float:
        """What two cores would do that do nothing else; one of them must not be busy with one process alone."""
        return self.updates / max((sum(self.cpu) + self.clients_cpu) / 2, *self.cpu, self.clients_cpu)


def measure_throughput(folder: Path, seconds: float, *, clients: int = 16, window: int = 32) -> Throughput:
    with Cluster(folder) as cluster:
        load = Clients(cluster, clients, window)
        with load.node:
            load.begin()
            _wait_until_answered(load, 100)
            begun, cpu, own = time.perf_counter(), cluster.cpu_seconds(), time.process_time()
            before = len(load.acknowledged)
            while time.perf_counter() - begun < seconds:
                time.sleep(0.5)
                load.repeat(5.0)
            took, updates = time.perf_counter() - begun, len(load.acknowledged) - before
            used = tuple(b - a for a, b in zip(cpu, cluster.cpu_seconds(), strict=True))
            clients_cpu = time.process_time() - own
            load.end()
    return Throughput(updates, took, used, clients_cpu)


def _wait_until_answered(load: Clients, number: int) -> None:
    limit = time.monotonic() + 60
    while len(load.acknowledged) < number:
        if time.monotonic() > limit:
            raise RuntimeError(f"{len(load.acknowledged)} answers in 60 s")
        time.sleep(0.1)
        load.repeat(1.0)


@dataclass(frozen=True)
class Growth:
    """Seconds of the processor for an update: the median of the first ten, and of the last ten."""

    updates: int
    first: float
    last: float


def measure_growth(updates: int) -> Growth:
    """Measure updates one after the other, each done everywhere before the next one is asked for."""
    replicas = _InOneProcess()
    replicas.tell("a", "campaign", ("it begins",))
    costs = []
    for number in range(updates):
        begun = time.process_time()
        replicas.tell("a", "submit", ("a client", number + 1, ("key", number)))
        costs.append(time.process_time() - begun)
        if number % 50 == 49:
            for address in replicas.machines:
                replicas.tell(address, "sweep", (number, 0))
    for machine in replicas.machines.values():
        assert list(machine.rows("registers")) == [("key", updates - 1)]
    return Growth(updates, statistics.median(costs[:10]), statistics.median(costs[-10:]))


class _InOneProcess:
    """Three replicas, and what they tell each other in the order in which it is sent."""

    def __init__(self) -> None:
        # Each address has a program of its own, as in processes: rules ask for the address.
        self._programs = {address: Registers(address).program for address in "abc"}
        self.machines = {address: Machine(program, address) for address, program in self._programs.items()}
        for machine in self.machines.values():
            machine.insert("member", [(address,) for address in "abc"])
            machine.step()

    def tell(self, address: str, collection: str, row: tuple[Any, ...]) -> None:
        waiting = deque([(address, collection, row)])
        while waiting:
            address, collection, row = waiting.popleft()
            machine = self.machines[address]
            machine.insert(collection, [row])
            while True:
                for channel, sent in machine.step().sent:
                    waiting.append((self._programs[address].destination(channel, sent), channel, sent))
                if not machine.pending:
                    break


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        found = measure_throughput(Path(folder), 10.0)
    cpu = ", ".join(f"{seconds / found.updates * 1e6:.0f}" for seconds in (*found.cpu, found.clients_cpu))
    pace = f"{found.updates} updates in {found.seconds:.1f} s: {found.per_second:.0f} a second"
    of_two = f"{found.per_second_of_two_cores:.0f} a second of two cores"
    say(f"{pace}, {of_two}; the replicas and the clients used {cpu} µs of the processor for each")
    for updates in (200, 1000):
        grown = measure_growth(updates)
        cost = f"{grown.first * 1e6:.0f} µs for each of the first 10, {grown.last * 1e6:.0f} for the last 10"
        say(f"{updates} updates: {cost}, {grown.last / grown.first:.2f} times")


if __name__ == "__main__":
    main()
