"""Word count on a cluster: workers as processes, one of which may be killed, and what the store has in the end.

``python examples/bytewax/wordcount_cluster.py sealed --workers 2 --kill`` does what it says, and compares the
store with what was sent.
"""

from __future__ import annotations

import argparse
import os
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import islice
from pathlib import Path

from bytewax.recovery import RecoveryConfig, init_db_dir
from bytewax.run import cli_main
from wordcount import BUCKETS, ordered, sealed, unsealed
from wordcount_store import Stored, read_store
from wordcount_turns import serve_turns
from wordcount_tweets import PRODUCERS, Job, count_words

VERSIONS = {flow.__name__: flow for flow in (unsealed, sealed, ordered)}
#: How often the state of workers is saved: what came after that is sent again to one that takes their place.
_SAVING = timedelta(seconds=1)
#: Not those that the system gives to whoever asks for any: a worker binds its port some time after it was chosen.
_PORTS = range(20_000, 32_000)
#: A run that takes longer than this has failed, in seconds.
_PATIENCE = 300.0


@dataclass(frozen=True)
class Outcome:
    """What a run came to.

    ``before``: what the store had when a worker was killed.  ``seconds``: from the first tweet to the last commit.
    ``processor``: the seconds that the processor was busy with all workers, and with starting them.
    """

    version: str
    job: Job
    workers: int
    stored: Stored
    before: Stored | None
    seconds: float
    processor: float

    @property
    def correct(self) -> bool:
        """Tell whether the store has what was sent, and nothing else."""
        return self.stored.rows == count_words(self.job)

    @property
    def replayed(self) -> int:
        """Return how many commits were of what was committed before."""
        return len(self.stored.commits) - len({(batch, bucket) for batch, bucket, _ in self.stored.commits})

    @property
    def tweets_per_second(self) -> float:
        """Return the throughput."""
        return self.job.batches * self.job.tweets * len(PRODUCERS) / self.seconds


def run(version: str, job: Job, workers: int, *, kill_after: int | None = None) -> Outcome:
    """Count the tweets of a job; ``kill_after``: kill a worker when so many buckets have committed a batch."""
    used_before = _processor_of_children()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="wordcount-")))
        turns = stack.enter_context(serve_turns(BUCKETS) if version == ordered.__name__ else nullcontext(""))
        job = replace(job, folder=str(folder), turns=turns)
        saved = folder / "saved"
        saved.mkdir()
        init_db_dir(saved, workers)
        before = None
        if kill_after is not None:
            with _cluster(version, job, workers) as processes:
                _wait(processes, folder, lambda: len(read_store(folder).commits) >= kill_after)
                processes[-1].send_signal(signal.SIGKILL)
                processes[-1].wait()
                before = read_store(folder)
            # The other workers end, too, since they have lost a connection: all of them begin anew.
        with _cluster(version, job, workers) as processes:
            _wait(processes, folder, lambda: all(process.poll() is not None for process in processes))
        stored = read_store(folder)
        started = min(float((folder / f"started-{name}").read_text("utf-8")) for name in PRODUCERS)
        seconds = max(at for _, _, at in stored.commits) - started
    return Outcome(version, job, workers, stored, before, seconds, _processor_of_children() - used_before)


def _processor_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@contextmanager
def _cluster(version: str, job: Job, workers: int) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Start workers; when the block is left, none of them is running any more."""
    addresses = ";".join(_free_addresses(workers)) if workers > 1 else ""
    processes = []
    try:
        for number in range(workers):
            with Path(job.folder, f"worker-{number}.log").open("wb") as log:
                arguments = [__file__, version, "--worker", str(number), "--addresses", addresses]
                processes.append(
                    subprocess.Popen(
                        [sys.executable, *arguments], env=job.environment(), stdout=log, stderr=subprocess.STDOUT
                    )
                )
        yield processes
    finally:
        for process in processes:
            process.kill()
            process.wait()


def _free_addresses(number: int) -> list[str]:
    """Return addresses that nobody listens at; each process looks in another place first."""
    start = os.getpid() * 4 % len(_PORTS)
    free = (f"127.0.0.1:{port}" for port in (*_PORTS[start:], *_PORTS[:start]) if _is_free(port))
    return list(islice(free, number))


def _is_free(port: int) -> bool:
    with socket.socket() as one:
        try:
            one.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


def _wait(processes: Sequence[subprocess.Popen[bytes]], folder: Path, is_reached: Callable[[], bool]) -> None:
    """Wait for something that workers do; raise RuntimeError if one of them has failed."""
    deadline = time.monotonic() + _PATIENCE
    while True:
        # Before the failures: workers that all end have reached what is waited for, even if one has failed.
        reached = is_reached()
        for number, process in enumerate(processes):
            if process.poll():
                log = (folder / f"worker-{number}.log").read_text("utf-8", errors="replace").strip()
                raise RuntimeError(f"worker {number} has failed: {log.splitlines()[-1] if log else 'silently'}")
        if reached:
            return
        if time.monotonic() > deadline:
            raise RuntimeError(f"the workers take more than {_PATIENCE:g} s")
        time.sleep(0.005)


def work(version: str, worker: int, addresses: str) -> None:
    """Be a worker until the stream ends."""
    job = Job.of_environment()
    cli_main(
        VERSIONS[version](),
        process_id=worker if addresses else None,
        addresses=addresses.split(";") if addresses else None,
        epoch_interval=_SAVING,
        recovery_config=RecoveryConfig(Path(job.folder) / "saved"),
    )


def main() -> None:
    """Run one version, and say what the store has in the end."""
    parser = argparse.ArgumentParser(description="Count words on a cluster of Bytewax workers.")
    parser.add_argument("version", choices=VERSIONS)
    parser.add_argument("--workers", type=int, choices=(1, 2), default=2)
    parser.add_argument("--kill", action="store_true", help="kill a worker in the middle, and start anew")
    parser.add_argument("--worker", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--addresses", default="", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.worker is not None:
        work(given.version, given.worker, given.addresses)
        return
    job = Job(batches=40, tweets=100, pause=0.04)
    print(describe(run(given.version, job, given.workers, kill_after=36 if given.kill else None)))


def describe(done: Outcome) -> str:
    """Return what a person wants to know of a run."""
    killed = "" if done.before is None else f"; a worker was killed after {len(done.before.commits)} commits"
    expected = count_words(done.job)
    return "\n".join(
        [
            f"{done.version}, workers: {done.workers}{killed}",
            f"  commits made a second time: {done.replayed}",
            f"  words with two counts in one batch: {done.stored.contradictions}",
            f"  rows that should not be there: {len(done.stored.rows - expected)}",
            f"  rows that are missing: {len(expected - done.stored.rows)}",
        ]
    )


if __name__ == "__main__":
    main()
