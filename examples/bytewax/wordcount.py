"""The streaming word count of chapter 4 of the thesis, on Bytewax: tweets in batches, counted and committed.

Two producers send tweets, each with the number of its batch; ``splitter`` makes words of them, ``count`` counts
the words of each batch, and ``commit`` adds the counts to a store.  Each step says what it does by
``@clew.annotate``, so that ``clew blazes examples/bytewax/wordcount.py:sealed`` can tell whether a batch that is
counted again, after a crash, gets the same counts.  There are three versions:

- ``unsealed``: a batch is taken to be over some time after its first tweet.
- ``sealed``: producers seal their batches, with a manifest, and a batch is over when it is complete.
- ``ordered``: what Storm calls a transactional topology.  Batches are committed one after another by all workers,
  and a producer begins one when those before it are committed, all but a few.

Words go to *buckets* by their hash, so that several workers share the counting.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from zlib import crc32

import bytewax.operators as op
from bytewax.dataflow import Dataflow
from bytewax.operators import StatefulBatchLogic
from wordcount_store import Commit, Tally
from wordcount_turns import Turns
from wordcount_tweets import PRODUCERS, Job, Seal, Tweet, Tweets, Words

import clew

#: By their names Bytewax chooses the worker; of two workers, each gets one of these.
BUCKETS = ("0", "1")
#: Without seals, a batch is taken to be over so long after its first tweet.
WINDOW = timedelta(milliseconds=120)
#: How often a tally that waits for its turn asks for it.
_ASKING = timedelta(milliseconds=1)

Item = Words | Seal
#: What a step hands on, and that it is not to be forgotten.
Done = tuple[Iterable[Tally], bool]


@clew.annotate_source(attributes=["batch", "text"])
class UnsealedTweets(Tweets):
    """Tweets, of which nothing is promised to ``clew blazes``."""


@clew.annotate_source(attributes=["batch", "text"], seal=["batch"])
class SealedTweets(Tweets):
    """Tweets, and a seal of each producer at the end of its part of a batch."""


@clew.annotate("CR", lineage=["batch"], attributes=["word", "batch"])
def split(items: Sequence[Tweet | Seal]) -> list[tuple[str, Item]]:
    """Return what each bucket gets of some tweets: their words, and how many tweets these are of.

    A bucket hears of tweets without words for it, too, since manifests count tweets.
    """
    found: dict[tuple[int, str], list[Tweet]] = {}
    made: list[tuple[str, Item]] = []
    for item in items:
        if isinstance(item, Seal):
            made += [(bucket, item) for bucket in BUCKETS]
        else:
            found.setdefault((item.batch, item.producer), []).append(item)
    for (batch, producer), tweets in found.items():
        words: dict[str, list[str]] = {bucket: [] for bucket in BUCKETS}
        for word in " ".join(tweet.text for tweet in tweets).split():
            words[bucket_of(word)].append(word)
        made += [(b, Words(batch, producer, len(tweets), w)) for b, w in words.items()]
    return made


@cache
def bucket_of(word: str) -> str:
    """Return the bucket of a word: the same one in all processes."""
    return BUCKETS[crc32(word.encode()) % len(BUCKETS)]


# -- counting ----------------------------------------------------------------------------------------------------


@dataclass
class Open:
    """A batch that is being counted, with the tweets of each producer that came, and those that it announced."""

    counts: Counter[str] = field(default_factory=Counter)
    came: Counter[str] = field(default_factory=Counter)
    announced: dict[str, int] = field(default_factory=dict)
    until: datetime | None = None

    @property
    def complete(self) -> bool:
        """Tell whether every producer has sealed it, and all that they announced is here."""
        return all(self.announced.get(name) == self.came[name] for name in PRODUCERS)


@dataclass
class Counting:
    """What a bucket remembers: open batches, those whose window has closed, and tallies that wait for a turn."""

    open: dict[int, Open] = field(default_factory=dict)
    closed: set[int] = field(default_factory=set)
    waiting: dict[int, Tally] = field(default_factory=dict)


class _Count(StatefulBatchLogic[Item, Tally, Counting]):
    """Counts the words of one bucket."""

    def __init__(self, state: Counting | None) -> None:
        self.state = state or Counting()

    def snapshot(self) -> Counting:
        """Return what is to be restored after a crash."""
        return deepcopy(self.state)

    def take(self, items: Sequence[Item]) -> list[int]:
        """Count the words of items, and return the batches that they are of."""
        for item in items:
            batch = self.state.open.setdefault(item.batch, Open())
            if isinstance(item, Seal):
                batch.announced[item.producer] = item.tweets
            else:
                batch.came[item.producer] += item.tweets
                batch.counts.update(item.words)
        return sorted({item.batch for item in items})

    def close(self, batches: Iterable[int]) -> list[Tally]:
        """Return the tallies of batches, which are open no more."""
        return [Tally(b, dict(self.state.open.pop(b).counts)) for b in batches]


@clew.annotate("OW", ["word", "batch"])
class CountWindow(_Count):
    """Counts what comes within a window of time; what comes later is lost, as in any window that has closed."""

    def on_batch(self, values: list[Item]) -> Done:
        """Count words of open batches."""
        for number in self.take([value for value in values if value.batch not in self.state.closed]):
            batch = self.state.open[number]
            batch.until = batch.until or datetime.now(UTC) + WINDOW
        return [], self.RETAIN

    def on_notify(self) -> Done:
        """Close the windows that are over."""
        now = datetime.now(UTC)
        return self._close([b for b, found in self.state.open.items() if found.until and found.until <= now])

    def on_eof(self) -> Done:
        """Close all batches: nothing comes any more."""
        return self._close(list(self.state.open))

    def notify_at(self) -> datetime | None:
        """Return when the next window is over."""
        return min((found.until for found in self.state.open.values() if found.until), default=None)

    def _close(self, batches: list[int]) -> Done:
        self.state.closed.update(batches)
        return self.close(batches), self.RETAIN


class _CountComplete(_Count):
    """Counts a batch until it is complete."""

    def take_complete(self, values: Sequence[Item]) -> list[Tally]:
        """Count words, and return the tallies of batches that are complete with them."""
        return self.close([batch for batch in self.take(values) if self.state.open[batch].complete])


@clew.annotate("OW", ["word", "batch"])
class CountSealed(_CountComplete):
    """Hands on a batch as soon as it is complete."""

    def on_batch(self, values: list[Item]) -> Done:
        """Count words, and hand on what is complete."""
        return self.take_complete(values), self.RETAIN


# Woken by the clock to ask whose turn it is: what it hands on does not depend on when it asks.
@clew.annotate("OW", ["word", "batch"], order="sequence", repeatable=True)
class CountInOrder(_CountComplete):
    """Hands on a batch when it is complete and all buckets have committed those before it."""

    def __init__(self, state: Counting | None) -> None:
        super().__init__(state)
        self.turns = Turns(Job.of_environment().turns)

    def on_batch(self, values: list[Item]) -> Done:
        """Count words, and hand on what is complete and due."""
        self.state.waiting |= {tally.batch: tally for tally in self.take_complete(values)}
        return self.on_notify()

    def on_notify(self) -> Done:
        """Hand on what is due."""
        turn = self.turns.turn() if self.state.waiting else 0
        # After a crash, there may be some that were committed before it.
        due = sorted(batch for batch in self.state.waiting if batch <= turn)
        return [self.state.waiting.pop(batch) for batch in due], self.RETAIN

    def notify_at(self) -> datetime | None:
        """Return when to ask for the turn again."""
        return datetime.now(UTC) + _ASKING if self.state.waiting else None


# -- dataflows ---------------------------------------------------------------------------------------------------


def unsealed() -> Dataflow:
    """Count what comes of a batch within a window of time."""
    return _wire("unsealed", UnsealedTweets, CountWindow)


def sealed() -> Dataflow:
    """Count a batch until it is complete."""
    return _wire("sealed", SealedTweets, CountSealed)


def ordered() -> Dataflow:
    """Count a batch until it is complete, and commit one after another."""
    # Seals tell it when a batch is complete, as Storm's own messages do; the verdict rests on the order alone.
    return _wire("ordered", UnsealedTweets, CountInOrder)


def _wire(name: str, source: type[Tweets], count: Callable[[Counting | None], _Count]) -> Dataflow:
    job = Job.of_environment()
    flow = Dataflow(name)
    tweets = op.input("tweets", flow, source(job))
    words = op.flat_map_batch("splitter", tweets, split)
    counts = op.stateful_batch("count", words, count)
    op.output("commit", counts, Commit(job))
    return flow
