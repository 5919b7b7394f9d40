"""The store: every worker appends the counts that it commits to a table of its own, which outlives it.

A row is a batch, a word and its count.  What is there already is not added again, as in a set; two counts of one
word in one batch are two rows.
"""

from __future__ import annotations

import sqlite3
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from bytewax.outputs import DynamicSink, StatelessSinkPartition
from wordcount_turns import Turns
from wordcount_tweets import Job

import clew

_TABLES = """
    PRAGMA journal_mode = WAL;
    CREATE TABLE IF NOT EXISTS counts (batch, word, count, UNIQUE (batch, word, count));
    CREATE TABLE IF NOT EXISTS commits (batch, bucket, at);
"""


class Tally(NamedTuple):
    """The counts of a batch in one bucket."""

    batch: int
    counts: dict[str, int]


class _Table(StatelessSinkPartition[tuple[str, Tally]]):
    def __init__(self, job: Job, worker: int) -> None:
        self._turns = Turns(job.turns) if job.turns else None
        self._rows = sqlite3.connect(Path(job.folder, f"counts-{worker}.db"))
        self._rows.executescript(_TABLES)
        # A worker that is killed loses nothing by this: what it has written is with the operating system.
        self._rows.execute("PRAGMA synchronous = OFF")

    def write_batch(self, items: Sequence[tuple[str, Tally]]) -> None:
        """Commit tallies, each in a transaction of its own."""
        for bucket, (batch, counts) in items:
            with self._rows:
                rows = [(batch, word, count) for word, count in counts.items()]
                self._rows.executemany("INSERT OR IGNORE INTO counts VALUES (?, ?, ?)", rows)
                self._rows.execute("INSERT INTO commits VALUES (?, ?, ?)", (batch, bucket, time.monotonic()))
            if self._turns is not None:
                self._turns.commit(bucket, batch)


@clew.annotate("CW")
class Commit(DynamicSink[tuple[str, Tally]]):
    """Appends counts, in the order in which they come."""

    def __init__(self, job: Job) -> None:
        self._job = job

    def build(self, step_id: str, worker_index: int, worker_count: int) -> _Table:
        """Return the table of a worker."""
        return _Table(self._job, worker_index)


class Stored(NamedTuple):
    """What a store has: rows of batch, word and count, and when each bucket committed each batch."""

    rows: frozenset[tuple[int, str, int]]
    commits: tuple[tuple[int, str, float], ...]

    @property
    def contradictions(self) -> int:
        """Return how many words have more than one count in a batch."""
        seen = Counter((batch, word) for batch, word, _ in self.rows)
        return sum(count > 1 for count in seen.values())


def read_store(folder: Path) -> Stored:
    """Return what all workers have committed so far."""
    rows: set[tuple[int, str, int]] = set()
    commits: list[tuple[int, str, float]] = []
    for file in sorted(folder.glob("counts-*.db")):
        with closing(sqlite3.connect(file, timeout=60)) as store:
            rows.update(_select(store, "SELECT batch, word, count FROM counts"))
            commits += _select(store, "SELECT batch, bucket, at FROM commits")
    return Stored(frozenset(rows), tuple(commits))


def _select(store: sqlite3.Connection, query: str) -> Iterable[tuple[int, str, int]]:
    try:
        return store.execute(query).fetchall()
    except sqlite3.OperationalError:
        return []  # a worker has made the file, and not yet the tables
