"""Figure 4.8 of the thesis in small: what it costs a stream processor to commit batches in one order.

The word count of ``examples/bytewax`` on one and two workers, which are processes: with seals, and ordered, as a
transactional topology.  As in the thesis, each gets the size of batches with which it is fastest, and the ordered
one the number of batches under way, too.  Then a worker is killed in the middle of each version, and what the
store has in the end is compared with what was sent, beside what ``clew blazes`` promises.

``python -m benchmarks.stream_wordcount`` prints all of it, in about ten minutes; ``--quick`` shows that it runs.
The exit code is 1 if a store differs for which the verdict promises that it does not.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import clew
from benchmarks.effort import say
from benchmarks.output import Table

EXAMPLES = Path(__file__).parents[1] / "examples" / "bytewax"
sys.path.insert(0, str(EXAMPLES))  # the examples import each other by name, as scripts in one folder do

from wordcount_cluster import VERSIONS, Outcome, run  # noqa: E402
from wordcount_tweets import PRODUCERS, Job  # noqa: E402

#: How many times the throughput of the transactional topology the other one has, by the number of nodes.
PUBLISHED = {5: 1.8, 20: 3.0}
WORKERS = (1, 2)
#: Slow enough that the windows of the version without seals hold whole batches, until a worker is killed.
_KILLED = Job(batches=40, tweets=100, pause=0.04)
_KILL_AFTER = 36


@dataclass(frozen=True)
class Plan:
    """What is measured: so many ``tweets`` of each producer in a batch, and ``total`` in all.

    ``pending``: how many batches of the ordered version are under way.
    """

    tweets: tuple[int, ...] = (10, 100, 1000)
    pending: tuple[int, ...] = (1, 4)
    total: int = 20_000
    repetitions: int = 12
    kills: int = 3


QUICK = Plan(tweets=(20, 100), pending=(1,), total=400, repetitions=1, kills=1)


@dataclass(frozen=True)
class Setting:
    """A version with its parameters."""

    version: str
    workers: int
    tweets: int
    pending: int

    @property
    def words(self) -> str:
        """Return the parameters in words."""
        batch = f"batches of {self.tweets * len(PRODUCERS)}"
        return f"{batch}, {self.pending} pending" if self.version == "ordered" else batch

    def job(self, total: int) -> Job:
        """Return the job that counts so many tweets of each producer."""
        return Job(batches=max(1, total // self.tweets), tweets=self.tweets, pending=self.pending)


@dataclass(frozen=True)
class Throughput:
    """The runs of one setting.

    The fastest counts, since what else the machine does makes a run slower only.  So they are many and short: some
    fall into a moment when the machine does nothing else.
    """

    setting: Setting
    runs: tuple[Outcome, ...]

    @property
    def best(self) -> float:
        """Return tweets per second."""
        return max(done.tweets_per_second for done in self.runs)

    @property
    def processor(self) -> float:
        """Return the seconds of the processor that the run with the fewest took."""
        return min(done.processor for done in self.runs)


def measure(plan: Plan) -> list[Throughput]:
    """Run all settings in turn, so that what else the machine does is shared out."""
    settings = [
        Setting(version, workers, tweets, pending)
        for workers in WORKERS
        for tweets in plan.tweets
        for version in ("sealed", "ordered")
        for pending in (plan.pending if version == "ordered" else (1,))
    ]
    runs: dict[Setting, list[Outcome]] = {setting: [] for setting in settings}
    for _ in range(plan.repetitions):
        for setting in settings:
            done = run(setting.version, setting.job(plan.total), setting.workers)
            runs[setting].append(done)
            say(f"{setting.version}, {setting.workers} workers, {setting.words}: {done.tweets_per_second:.0f}/s")
    return [Throughput(setting, tuple(made)) for setting, made in runs.items()]


def kill(plan: Plan) -> list[Outcome]:
    """Run each version with a worker that is killed, several times."""
    return [
        run(version, _KILLED, workers, kill_after=_KILL_AFTER)
        for version in VERSIONS
        for workers in WORKERS
        for _ in range(plan.kills)
    ]


# -- tables ------------------------------------------------------------------------------------------------------

_COLUMNS = (
    *("sealed tweets/s", "with", "processor s"),
    *("ordered tweets/s", "with", "processor s"),
    "sealed / ordered",
)


def figure(measured: Sequence[Throughput]) -> Table:
    """Return Figure 4.8: the best of each version, by the number of workers."""
    rows = [_row(measured, workers, f"{workers} worker{'s' if workers > 1 else ''}, ours") for workers in WORKERS]
    rows += [(f"{nodes} nodes, thesis", *[""] * 6, f"{ratio:g}") for nodes, ratio in PUBLISHED.items()]
    remarks = [
        "Tweets per second from the first tweet to the last commit, in the fastest run of each setting; of the"
        " settings, the fastest.  Processor: seconds of all workers, with those that it takes to start them."
    ]
    return Table("Figure 4.8: word count, sealed and ordered", ("cluster", *_COLUMNS), rows, remarks)


def by_batch(measured: Sequence[Throughput]) -> Table:
    """Return the same for each size of batches alone."""
    rows = [
        _row([m for m in measured if m.setting.tweets == tweets], workers, f"{workers}")
        for workers in WORKERS
        for tweets in sorted({m.setting.tweets for m in measured})
    ]
    return Table("The same by the size of batches", ("workers", *_COLUMNS), rows)


def _row(measured: Sequence[Throughput], workers: int, name: str) -> tuple[str, ...]:
    sealed, ordered = (_fastest(measured, version, workers) for version in ("sealed", "ordered"))
    ratio = sealed.best / ordered.best
    return (
        name,
        f"{sealed.best:.0f}",
        sealed.setting.words,
        f"{sealed.processor:.2f}",
        f"{ordered.best:.0f}",
        ordered.setting.words,
        f"{ordered.processor:.2f}",
        f"{ratio:.2f}",
    )


def _fastest(measured: Iterable[Throughput], version: str, workers: int) -> Throughput:
    found = [m for m in measured if (m.setting.version, m.setting.workers) == (version, workers)]
    return max(found, key=lambda m: m.best)


def replays(killed: Sequence[Outcome]) -> Table:
    """Return what stores had after a worker was killed, beside what the verdict promises."""
    rows = [
        (
            version,
            label_of(version),
            str(workers),
            str(len(found)),
            " ".join(str(done.replayed) for done in found),
            " ".join(str(done.stored.contradictions) for done in found),
            f"{sum(done.correct for done in found)} of {len(found)}",
        )
        for version in VERSIONS
        for workers in WORKERS
        if (found := [done for done in killed if (done.version, done.workers) == (version, workers)])
    ]
    columns = ("version", "verdict", "workers", "kills", "made again", "words with two counts", "store right")
    return Table("A worker is killed", columns, rows)


def label_of(version: str) -> str:
    """Return what ``clew blazes`` says of a version."""
    return str(clew.blazes(EXAMPLES / f"wordcount.py:{version}").verdict.worst)


def wrong(done: Iterable[Outcome]) -> list[Outcome]:
    """Return the runs whose stores differ from what was sent though the verdict promises that they do not."""
    return [one for one in done if not one.correct and label_of(one.version) == "Async"]


def main(arguments: Sequence[str]) -> int:
    """Measure and print; return the exit code."""
    if any(argument != "--quick" for argument in arguments):
        say("usage: python -m benchmarks.stream_wordcount [--quick]")
        return 2
    plan = QUICK if arguments else Plan()
    measured = measure(plan)
    killed = kill(plan)
    print(*(table.markdown() for table in (figure(measured), by_batch(measured), replays(killed))), sep="\n")
    broken = wrong([*(done for m in measured for done in m.runs), *killed])
    for done in broken:
        say(f"{done.version}, {done.workers} workers: the store is wrong")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
