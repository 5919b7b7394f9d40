"""How many files a NameNode creates, lists and describes a second, with 1,000 files and with 100,000.

``python -m benchmarks.boomfs_namespace [FILES ...]``.  A NameNode and a DataNode are processes.  Files are created
through ``fs.open(path, "xb")`` by threads, as many at once as a job has tasks; so requests come together, and take
effect together.  Rates are by processor time, of the NameNode and of the client apart: what else the machine does
is no part of them.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import psutil

from benchmarks.effort import say
from clew.boomfs.client.filesystem import BoomFileSystem
from clew.boomfs.local_cluster import LocalCluster, make_plan
from clew.boomfs.settings import Policy

#: Threads that ask at once.
_THREADS = 64
#: Files that are described, and entries that are listed: enough to be measured, at any number of files.
_STATS, _LISTED = 4000, 100_000
_FOLDER = "/folder"


@dataclass(frozen=True)
class Rate:
    """``done``: files, or entries.  Seconds of the processor of NameNode and client, and by the clock."""

    done: int
    namenode: float
    client: float
    clock: float

    @property
    def per_second(self) -> float:
        """Return how many are done in a second of the processor, of both."""
        return self.done / (self.namenode + self.client)


@dataclass(frozen=True)
class Size:
    """What is measured when there are so many files: ``create`` of those that were added since the last size."""

    files: int
    create: Rate
    stat: Rate
    ls: Rate
    megabytes: float


def measure(sizes: Sequence[int]) -> list[Size]:
    """Let a folder grow to each of the sizes, and measure there."""
    plan = make_plan(partitions=1, namenodes=1, datanodes=1, policy=Policy(replicas=1))
    with tempfile.TemporaryDirectory() as folder, LocalCluster(Path(folder), plan) as cluster:
        fs = BoomFileSystem(cluster.namenodes, patience=600.0, skip_instance_cache=True)
        try:
            fs.mkdir(_FOLDER)
            return list(_grow(fs, psutil.Process(cluster.processes["namenode 0 0"].pid), sizes))
        finally:
            fs.close()


def _grow(fs: BoomFileSystem, namenode: psutil.Process, sizes: Sequence[int]) -> Iterator[Size]:
    before = 0
    for size in sizes:
        say(f"boomfs: {size} files")
        made = [_path(number) for number in range(before, size)]
        create = _time(namenode, len(made), partial(_in_threads, partial(_create, fs), made))
        asked = [_path(number * size // _STATS) for number in range(_STATS)]
        stat = _time(namenode, _STATS, partial(_in_threads, fs.info, asked))
        times = max(1, _LISTED // size)
        ls = _time(namenode, size * times, partial(_list, fs, size, times))
        yield Size(size, create, stat, ls, namenode.memory_info().rss / 2**20)
        before = size


def _path(number: int) -> str:
    return f"{_FOLDER}/file {number}"


def _create(fs: BoomFileSystem, path: str) -> None:
    with fs.open(path, "xb"):
        pass


def _list(fs: BoomFileSystem, size: int, times: int) -> None:
    for _ in range(times):
        found = len(fs.ls(_FOLDER, detail=False))
        if found != size:
            raise RuntimeError(f"{found} of {size} files are listed")


def _in_threads(act: Callable[[str], object], paths: Sequence[str]) -> None:
    with ThreadPoolExecutor(_THREADS) as pool:
        for _ in pool.map(act, paths):
            pass


def _time(namenode: psutil.Process, done: int, act: Callable[[], object]) -> Rate:
    began, here, there = time.perf_counter(), time.process_time(), _processor(namenode)
    act()
    client = time.process_time() - here
    return Rate(done, _processor(namenode) - there, client, time.perf_counter() - began)


def _processor(process: psutil.Process) -> float:
    used = process.cpu_times()
    return float(used.user + used.system)


def main() -> None:
    """Measure and print."""
    for size in measure([int(argument) for argument in sys.argv[1:]] or [1_000, 10_000, 100_000]):
        for name, rate in (("create", size.create), ("stat", size.stat), ("ls", size.ls)):
            print(
                f"{size.files} files: {name} {rate.per_second:.0f} a second"
                f" (NameNode {rate.namenode:.1f} s, client {rate.client:.1f} s, by the clock {rate.clock:.1f} s)"
            )


if __name__ == "__main__":
    main()
