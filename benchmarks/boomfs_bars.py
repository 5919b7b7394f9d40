"""The bars of BOOM-FS: word count beside local files, files by the thousand, jobs while NameNodes fail."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks import boomfs_failover, boomfs_namespace
from benchmarks.bars import Bar
from benchmarks.boomfs_failover import Measured
from benchmarks.boomfs_namespace import Size
from benchmarks.boomfs_text import write_text
from benchmarks.boomfs_wordcount import WORKERS, Job, count_words, read_counts, workers
from benchmarks.effort import Effort, say
from benchmarks.output import Table
from clew.boomfs.client.filesystem import BoomFileSystem
from clew.boomfs.local_cluster import LocalCluster, make_plan
from clew.boomfs.settings import Policy

#: What a job on BOOM-FS takes at most, beside one on local files.
LOCAL_RATIO = 1.3
#: The rate with the most files, beside that with the fewest: "does not fall", but for what measurements vary.
RATE_RATIO = 0.8
#: Bytes that a map reads, and reduces.
_BLOCK, _REDUCES = 64 * 2**20, 4


@dataclass(frozen=True)
class Pair:
    """The same job on local files and on BOOM-FS, one after the other.  ``right``: both counted what is there."""

    local: Job
    boomfs: Job
    right: bool

    @property
    def processor(self) -> float:
        """Return the ratio of processor times: of Dask with its workers, and all nodes of BOOM-FS."""
        return self.boomfs.processor / self.local.processor

    @property
    def clock(self) -> float:
        """Return the ratio of times by the clock."""
        return self.boomfs.seconds / self.local.seconds


def measure_pairs(parts: int, repetitions: int) -> list[Pair]:
    """Count the words of a text of so many parts of 8 MB; once more than is asked for, to warm up."""
    plan = make_plan(partitions=1, namenodes=1, datanodes=2, policy=Policy(replicas=2))
    with tempfile.TemporaryDirectory() as given:
        folder = Path(given)
        say(f"boomfs: a text of {parts * 8} MB")
        expected = write_text(folder / "text", parts)
        with LocalCluster(folder / "cluster", plan) as cluster, workers() as client:
            fs = BoomFileSystem(cluster.namenodes, skip_instance_cache=True)
            fs.put(str(folder / "text"), "/text")
            url = f"boomfs://{cluster.namenodes}"
            servers = [process.pid for process in cluster.processes.values()]
            found = []
            for number in range(repetitions + 1):
                out = folder / f"out{number}"
                out.mkdir()
                # The nodes of BOOM-FS are there all the time, and send each other heartbeats: they count in both.
                local = count_words(
                    client, str(folder / "text"), str(out), block=_BLOCK, reduces=_REDUCES, servers=servers
                )
                there = count_words(
                    client, f"{url}/text", f"{url}/{out.name}", block=_BLOCK, reduces=_REDUCES, servers=servers
                )
                right = local.words == expected.total() and read_counts(fs, f"/{out.name}") == expected
                found.append(Pair(local, there, right))
                say(f"boomfs: {found[-1].processor:.2f} times the processor, {found[-1].clock:.2f} by the clock")
            fs.close()
    return found[1:]


def table_of_pairs(pairs: Sequence[Pair]) -> Table:
    """Return all jobs, for what varies between them."""
    rows = [
        (
            str(number),
            *(f"{value:.2f}" for value in (p.local.seconds, p.boomfs.seconds, p.clock)),
            *(f"{value:.2f}" for value in (p.local.processor, p.boomfs.processor, p.processor)),
        )
        for number, p in enumerate(pairs, 1)
    ]
    columns = ("pair", "local s", "BOOM-FS s", "ratio", "local processor s", "BOOM-FS processor s", "ratio")
    return Table("Word count on local files and on BOOM-FS", columns, rows)


def table_of_files(sizes: Sequence[Size]) -> Table:
    """Return the rates for each number of files."""
    rows = [
        (
            f"{size.files}",
            *(
                f"{rate.per_second:.0f} ({rate.namenode:.2f} + {rate.client:.2f})"
                for rate in (size.create, size.stat, size.ls)
            ),
            *(f"{rate.done / rate.clock:.0f}" for rate in (size.create, size.stat, size.ls)),
            f"{size.megabytes:.0f}",
        )
        for size in sizes
    ]
    columns = (
        *("files", "create / processor s", "stat / processor s", "ls: entries / processor s"),
        *("create / s", "stat / s", "ls: entries / s", "NameNode MB"),
    )
    remark = "In brackets: seconds of the processor at the NameNode and at the client."
    return Table("Files", columns, rows, [remark])


def of_pairs(pairs: Sequence[Pair], megabytes: int) -> Iterator[Bar]:
    """Yield the bars of word count beside local files."""
    what = f"boomfs: Dask word count over {megabytes} MB on {WORKERS} workers, beside local files"
    for name, ratio, seconds in (
        (
            "processor time",
            median(p.processor for p in pairs),
            [(p.boomfs.processor, p.local.processor) for p in pairs],
        ),
        ("by the clock", median(p.clock for p in pairs), [(p.boomfs.seconds, p.local.seconds) for p in pairs]),
    ):
        there, local = (median(each) for each in zip(*seconds, strict=True))
        shown = f"{ratio:.2f} times ({there:.1f} s / {local:.1f} s)"
        yield Bar(f"{what}: {name}", shown, f"{LOCAL_RATIO:g} times", ratio <= LOCAL_RATIO)
    wrong = sum(not pair.right for pair in pairs)
    yield Bar(f"{what}: wrong counts", f"{wrong} of {len(pairs)}", "0", not wrong)


def of_files(sizes: Sequence[Size]) -> Iterator[Bar]:
    """Yield the bars of rates that do not fall."""
    few, many = sizes[0], sizes[-1]
    for name in ("create", "stat", "ls"):
        before, after = getattr(few, name).per_second, getattr(many, name).per_second
        yield Bar(
            f"boomfs: {name} with {many.files} files, beside {few.files}",
            f"{after / before:.2f} times ({after:.0f} and {before:.0f} for each second of the processor)",
            f"{RATE_RATIO:g} times",
            after >= RATE_RATIO * before,
        )


def of_failover(measured: Sequence[Measured]) -> Iterator[Bar]:
    """Yield the bar of jobs while NameNodes fail: what they count is right."""
    jobs, wrong = sum(len(one.jobs) for one in measured), sum(one.wrong for one in measured)
    name = "boomfs: jobs that counted wrong, with NameNodes that are killed and without"
    yield Bar(name, f"{wrong} of {jobs}", "0", not wrong)


def measure_files(effort: Effort) -> list[Size]:
    """Measure with as many files as the effort allows."""
    return boomfs_namespace.measure((1_000, 10_000, 100_000) if effort.repetitions > 1 else (200, 1_000))


def measure_failover(effort: Effort) -> list[Measured]:
    """Measure jobs over 256 MB, or over less."""
    full = effort.repetitions > 1
    return boomfs_failover.measure(32 if full else 4, effort.repetitions)
