"""What is counted: jobs, tweets in batches, and the producers that send them, seal them, and send them again."""

from __future__ import annotations

import json
import os
import random
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

from bytewax.inputs import FixedPartitionedSource, StatefulSourcePartition
from wordcount_turns import Turns

PRODUCERS = ("north", "south")
#: Where workers find their job; it is the same for all of them.
_VARIABLE = "WORDCOUNT"
#: Tweets that a producer hands over at once.
_CHUNK = 50


@dataclass(frozen=True)
class Job:
    """What is counted, and where the counts go.

    ``tweets``: of each producer in each batch.  ``pause``: seconds between two chunks of a producer, for tweets
    that come when they like.  ``turns``: the address of the service that orders commits.  ``pending``: how many
    batches an ordered producer has begun at most that are not committed yet.
    """

    folder: str = "."
    batches: int = 20
    tweets: int = 100
    pause: float = 0.0
    turns: str = ""
    pending: int = 1

    @classmethod
    def of_environment(cls) -> Job:
        """Return the job that this worker was given; the usual one where there is none."""
        return cls(**json.loads(os.environ.get(_VARIABLE, "{}")))

    def environment(self) -> dict[str, str]:
        """Return the environment of a worker that is to do it."""
        return {**os.environ, _VARIABLE: json.dumps(asdict(self))}


class Tweet(NamedTuple):
    """One tweet."""

    batch: int
    producer: str
    text: str


class Seal(NamedTuple):
    """The punctuation of a producer: its part of the batch is complete, and so many tweets are in it."""

    batch: int
    producer: str
    tweets: int


class Words(NamedTuple):
    """The words of so many tweets that belong to a bucket; there may be none."""

    batch: int
    producer: str
    tweets: int
    words: Sequence[str]


_VOCABULARY = [f"word{number}" for number in range(200)]
_DRAWN = random.Random(2015)
#: A few words are frequent, as in any text.
_TEXTS = [
    " ".join(_DRAWN.choices(_VOCABULARY, weights=[1 / (n + 1) for n in range(len(_VOCABULARY))], k=8))
    for _ in range(997)
]


def text_of(producer: str, batch: int, number: int) -> str:
    """Return a tweet: the same one whenever it is asked for, since producers must be able to send it again."""
    return _TEXTS[(crc32(producer.encode()) + 7919 * batch + number) % len(_TEXTS)]


def count_words(job: Job) -> frozenset[tuple[int, str, int]]:
    """Return batch, word and count for all tweets of a job: what a store must have in the end."""
    rows = []
    for batch in range(job.batches):
        texts = (text_of(name, batch, n) for name in PRODUCERS for n in range(job.tweets))
        counts = Counter(word for text in texts for word in text.split())
        rows += [(batch, word, count) for word, count in counts.items()]
    return frozenset(rows)


class Producer(StatefulSourcePartition[Tweet | Seal, tuple[int, int]]):
    """Sends its part of each batch; ``at`` is the batch and the tweet that come next."""

    def __init__(self, name: str, job: Job, at: tuple[int, int] | None) -> None:
        self._name = name
        self._job = job
        self._batch, self._number = at or (0, 0)
        self._turns = Turns(job.turns) if job.turns else None
        if at is None:
            Path(job.folder, f"started-{name}").write_text(repr(time.monotonic()), encoding="utf-8")

    def next_batch(self) -> Iterable[Tweet | Seal]:
        """Return the next tweets, and behind the last ones of a batch its seal."""
        batch, first = self._batch, self._number
        if self._turns is not None and first == 0 and not self._may_begin(self._turns.turn()):
            return []
        if batch == self._job.batches:
            raise StopIteration
        end = min(first + _CHUNK, self._job.tweets)
        tweets = [Tweet(batch, self._name, text_of(self._name, batch, n)) for n in range(first, end)]
        if end < self._job.tweets:
            self._number = end
            return tweets
        self._batch, self._number = batch + 1, 0
        return [*tweets, Seal(batch, self._name, self._job.tweets)]

    def _may_begin(self, turn: int) -> bool:
        # Nothing is released after the end of the stream, so that it must not end before the last commit.
        if self._batch == self._job.batches:
            return turn == self._batch
        return self._batch < turn + self._job.pending

    def next_awake(self) -> datetime | None:
        """Return when to ask for more; None for at once, or a millisecond after there was nothing."""
        return datetime.now(UTC) + timedelta(seconds=self._job.pause) if self._job.pause else None

    def snapshot(self) -> tuple[int, int]:
        """Return where to go on after a crash."""
        return (self._batch, self._number)


class Tweets(FixedPartitionedSource[Tweet | Seal, tuple[int, int]]):
    """All producers."""

    def __init__(self, job: Job) -> None:
        self._job = job

    def list_parts(self) -> list[str]:
        """Return the names of the producers."""
        return list(PRODUCERS)

    def build_part(self, step_id: str, for_part: str, resume_state: tuple[int, int] | None) -> Producer:
        """Return a producer that goes on where it was when its state was saved."""
        return Producer(for_part, self._job, resume_state)
