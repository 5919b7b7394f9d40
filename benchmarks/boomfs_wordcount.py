"""Word count as a job of Dask on two workers, which are processes: on local files, or on ``boomfs://``.

The maps are Dask's own blocks of a text (``dask.bytes.read_bytes``), counted; a reduce adds up the counts of its
words, and writes them to a file.  So maps read from the file system and reduces write to it, as in section 2.4 of
the thesis; what is between them is Dask's.  Each task says when it has ended.
"""

from __future__ import annotations

import itertools
import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from zlib import crc32

import dask
import dask.config
import fsspec
import psutil
from dask.bytes.core import read_bytes
from dask.delayed import delayed
from distributed import Client, Future, LocalCluster

WORKERS = 2
#: Counted at once, in bytes: the words of a block all together would need much memory.
_PIECE = 2**20

#: What has ended, and what came of it: counts for each reduce, or what a reduce has added up.
MapDone = tuple[float, list[dict[bytes, int]]]
ReduceDone = tuple[float, int]


@dataclass(frozen=True)
class Job:
    """``maps``, ``reduces``: when each of them ended, in seconds since the job began.  ``words``: in all of it."""

    seconds: float
    processor: float
    maps: tuple[float, ...]
    reduces: tuple[float, ...]
    words: int


@contextmanager
def workers() -> Iterator[Client]:
    """Start two workers with a thread each."""
    with (
        dask.config.set({"distributed.worker.memory.terminate": False, "distributed.admin.tick.limit": "1h"}),
        LocalCluster(
            n_workers=WORKERS,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address=None,
            memory_limit=0,
            silence_logs=50,
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


def count_words(
    client: Client,
    text: str,
    out: str,
    *,
    block: int,
    reduces: int,
    servers: Sequence[int] = (),
    on_map: Callable[[int], object] = lambda ended: None,
) -> Job:
    """Count the words of a text, and write the counts into a folder.

    ``servers``: processes of the file system, whose processor time is the job's, too.  ``on_map`` is told how many
    maps have ended, from another thread.
    """
    processes = [psutil.Process(), *map(psutil.Process, [*client.run(_pid).values(), *servers])]
    before_all = [_processor(process) for process in processes]
    began = time.monotonic()
    _, (blocks,) = read_bytes(text, delimiter=b"\n", blocksize=block, sample=False)  # type: ignore[no-untyped-call]
    maps = client.compute([delayed(map_block)(each, reduces) for each in blocks])
    _tell(maps, on_map)
    # A reduce per worker at a time, and none before all maps are done: it needs all of them.
    reduced = [client.submit(reduce_counts, maps, k, f"{out}/{k}", pure=False) for k in range(reduces)]
    found: list[ReduceDone] = client.gather(reduced)
    seconds = time.monotonic() - began
    ended: list[float] = client.gather([client.submit(_when, each, pure=False) for each in maps])
    # One that was killed has no more to tell.
    spent = [_processor(p) - before for p, before in zip(processes, before_all, strict=True) if p.is_running()]
    return Job(
        seconds,
        sum(spent),
        tuple(sorted(each - began for each in ended)),
        tuple(sorted(each - began for each, _ in found)),
        sum(words for _, words in found),
    )


def map_block(data: bytes, reduces: int) -> MapDone:
    """Count the words of a block, those of each reduce apart."""
    counts: Counter[bytes] = Counter()
    begin = 0
    while begin < len(data):
        end = data.find(b"\n", begin + _PIECE) + 1 or len(data)
        counts.update(data[begin:end].split())
        begin = end
    parts: list[dict[bytes, int]] = [{} for _ in range(reduces)]
    for word, count in counts.items():
        parts[crc32(word) % reduces][word] = count
    return time.monotonic(), parts


def reduce_counts(maps: Sequence[MapDone], number: int, path: str) -> ReduceDone:
    """Add up the counts of the words of one reduce, and write them."""
    counts: Counter[bytes] = Counter()
    for _, parts in maps:
        counts.update(parts[number])
    lines = [b"%s %d\n" % (word, counts[word]) for word in sorted(counts)]
    with fsspec.open(path, "wb") as file:
        file.write(b"".join(lines))
    return time.monotonic(), counts.total()


def read_counts(fs: Any, out: str) -> Counter[bytes]:
    """Return what the reduces have written."""
    counts: Counter[bytes] = Counter()
    for path in fs.find(out):
        for line in fs.cat_file(path).splitlines():
            word, count = line.split()
            counts[word] += int(count)
    return counts


def _when(done: MapDone) -> float:
    return done[0]


def _tell(maps: Sequence[Future[MapDone]], on_map: Callable[[int], object]) -> None:
    count = itertools.count(1)
    lock = threading.Lock()

    def note(future: Future[MapDone]) -> None:
        with lock:
            ended = next(count)
        on_map(ended)

    for each in maps:
        each.add_done_callback(note)


def _pid() -> int:
    return os.getpid()


def _processor(process: psutil.Process) -> float:
    used = process.cpu_times()
    return float(used.user + used.system)
