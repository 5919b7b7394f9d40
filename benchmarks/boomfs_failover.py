"""Table 2.4 of the thesis in small: a job on BOOM-FS while NameNodes are killed.

``python -m benchmarks.boomfs_failover [PARTS REPETITIONS]``, with parts of 8 MB.
The word count of ``boomfs_wordcount`` with one NameNode, with three that agree by Multipaxos, and with three of
which a backup, or the one that leads, is killed (SIGKILL) when half of the maps have ended.  All are processes on
this machine.  Each job has a cluster of its own, and what it has counted is compared with what is in the text.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, stdev

from distributed import Client

from benchmarks.boomfs_text import write_text
from benchmarks.boomfs_wordcount import Job, count_words, read_counts, workers
from benchmarks.effort import say
from benchmarks.output import Table
from clew.boomfs.client.filesystem import BoomFileSystem
from clew.boomfs.local_cluster import LocalCluster, make_plan
from clew.boomfs.settings import Policy

#: Bytes of a chunk, and so of what a map reads: small, so that there are many.
_CHUNK = 8 * 2**20
_REDUCES = 8
_DATANODES = 3


@dataclass(frozen=True)
class Setting:
    """``killed``: which NameNode is killed, if any.  ``published``: seconds of a job and their s.d., Table 2.4."""

    name: str
    namenodes: int
    killed: str
    published: tuple[float, float]


SETTINGS = (
    Setting("one NameNode", 1, "", (101.89, 12.12)),
    Setting("three NameNodes", 3, "", (102.70, 9.53)),
    Setting("three, a backup is killed", 3, "backup", (100.10, 9.94)),
    Setting("three, the primary is killed", 3, "primary", (148.47, 13.94)),
)


@dataclass(frozen=True)
class Measured:
    """The jobs of a setting; ``wrong``: how many of them have counted something else than what is in the text."""

    setting: Setting
    jobs: tuple[Job, ...]
    wrong: int

    @property
    def typical(self) -> Job:
        """Return the job with the median time."""
        return sorted(self.jobs, key=lambda job: job.seconds)[(len(self.jobs) - 1) // 2]


def measure(parts: int, repetitions: int) -> list[Measured]:
    """Run all settings in turn, so that what else the machine does is shared out."""
    jobs: dict[Setting, list[Job]] = {setting: [] for setting in SETTINGS}
    wrong: Counter[Setting] = Counter()
    with tempfile.TemporaryDirectory() as given, workers() as client:
        folder = Path(given)
        expected = write_text(folder / "text", parts)
        for number in range(repetitions):
            for setting in SETTINGS:
                with tempfile.TemporaryDirectory(dir=folder) as own:
                    job, found = _run(client, setting, folder / "text", Path(own))
                jobs[setting].append(job)
                wrong[setting] += found != expected
                say(f"boomfs: {setting.name}, job {number + 1} of {repetitions}: {job.seconds:.1f} s")
    return [Measured(setting, tuple(done), wrong[setting]) for setting, done in jobs.items()]


def _run(client: Client, setting: Setting, text: Path, folder: Path) -> tuple[Job, Counter[bytes]]:
    policy = Policy(chunk_size=_CHUNK, replicas=2)
    plan = make_plan(partitions=1, namenodes=setting.namenodes, datanodes=_DATANODES, policy=policy)
    with LocalCluster(folder, plan) as cluster:
        fs = BoomFileSystem(cluster.namenodes, skip_instance_cache=True)
        try:
            fs.put(str(text), "/text")
            victim = _choose_victim(fs, setting)
            half = text.stat().st_size // _CHUNK // 2

            def kill_at_half(ended: int) -> None:
                if victim and ended == half:
                    cluster.kill(victim)

            url = f"boomfs://{cluster.namenodes}"
            job = count_words(
                client, f"{url}/text", f"{url}/out", block=_CHUNK, reduces=_REDUCES, on_map=kill_at_half
            )
            if victim and victim in cluster.processes:
                raise RuntimeError(f"{victim} has not been killed")
            return job, read_counts(fs, "/out")
        finally:
            fs.close()
            # The workers keep file systems, which would look for this cluster for ever.
            client.run(_forget_file_systems)


def _choose_victim(fs: BoomFileSystem, setting: Setting) -> str:
    if not setting.killed:
        return ""
    # Who was asked last, and has answered.
    leader = fs._sessions._running_node().leader[0].rank
    ranks = range(setting.namenodes)
    rank = next(rank for rank in ranks if (rank == leader) == (setting.killed == "primary"))
    return f"namenode 0 {rank}"


def _forget_file_systems() -> None:
    for fs in list(BoomFileSystem._cache.values()):
        fs.close()
    BoomFileSystem.clear_instance_cache()


def table(measured: Sequence[Measured]) -> Table:
    """Return Table 2.4, with the published numbers in brackets."""
    rows = [
        (
            one.setting.name,
            f"{mean(seconds):.2f} ({one.setting.published[0]})",
            f"{stdev(seconds) if len(seconds) > 1 else 0:.2f} ({one.setting.published[1]})",
            f"{min(seconds):.2f} - {max(seconds):.2f}",
            f"{mean(seconds) / base:.2f} ({one.setting.published[0] / SETTINGS[0].published[0]:.2f})",
            str(one.wrong),
        )
        for one in measured
        if (seconds := [job.seconds for job in one.jobs])
        and (base := mean(job.seconds for job in measured[0].jobs))
    ]
    columns = ("NameNodes", "job s", "s.d.", "from - to", "beside one NameNode", "wrong answers")
    return Table("Table 2.4: jobs while NameNodes fail", columns, rows, ["In brackets: as published."])


def main() -> None:
    """Measure and print: so many parts of 8 MB, so many times."""
    parts, repetitions = [*map(int, sys.argv[1:]), 32, 5][:2] if len(sys.argv) > 2 else (32, 5)
    print(table(measure(parts, repetitions)).markdown())


if __name__ == "__main__":
    main()
