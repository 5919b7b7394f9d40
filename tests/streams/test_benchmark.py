"""The benchmark of the word count: what is made of the numbers, and which stores count as wrong."""

from __future__ import annotations

import pytest

pytest.importorskip("bytewax", reason="there is no Bytewax for Python 3.13")

from benchmarks.stream_wordcount import (
    Setting,
    Throughput,
    by_batch,
    figure,
    label_of,
    main,
    replays,
    wrong,
)
from wordcount_cluster import Outcome
from wordcount_store import Stored
from wordcount_tweets import Job, count_words

_JOB = Job(batches=2, tweets=10)
_RIGHT = count_words(_JOB)


def _outcome(
    version: str, workers: int, seconds: float, rows: frozenset[tuple[int, str, int]] = _RIGHT
) -> Outcome:
    commits = ((0, "0", 1.0), (0, "0", 2.0), (0, "1", 2.5))
    return Outcome(version, _JOB, workers, Stored(rows, commits), None, seconds, 3 * seconds)


def _measured() -> list[Throughput]:
    seconds = {("sealed", 10): 1.0, ("sealed", 100): 0.5, ("ordered", 10): 4.0, ("ordered", 100): 2.0}
    return [
        Throughput(
            Setting(version, workers, tweets, pending),
            tuple(_outcome(version, workers, workers * pending * k * least) for k in (2, 1)),
        )
        for workers in (1, 2)
        for (version, tweets), least in seconds.items()
        for pending in ((1, 2) if version == "ordered" else (1,))
    ]


def test_the_figure_has_the_best_of_each_beside_the_published_ratios() -> None:
    # 40 tweets in all; the fastest run of the best setting counts.
    assert [row[1:] for row in figure(_measured()).rows] == [
        ("80", "batches of 200", "1.50", "20", "batches of 200, 1 pending", "6.00", "4.00"),
        ("40", "batches of 200", "3.00", "10", "batches of 200, 1 pending", "12.00", "4.00"),
        ("", "", "", "", "", "", "1.8"),
        ("", "", "", "", "", "", "3"),
    ]


def test_each_size_of_batches_alone() -> None:
    rows = by_batch(_measured()).rows
    assert [(row[0], row[1], row[2], row[4], row[-1]) for row in rows] == [
        ("1", "40", "batches of 20", "10", "4.00"),
        ("1", "80", "batches of 200", "20", "4.00"),
        ("2", "20", "batches of 20", "5", "4.00"),
        ("2", "40", "batches of 200", "10", "4.00"),
    ]


def test_what_kills_came_to() -> None:
    batch, word, count = min(_RIGHT)
    twice = _RIGHT | {(batch, word, count + 1)}
    killed = [_outcome("sealed", 1, 1.0), _outcome("unsealed", 2, 1.0, twice), _outcome("unsealed", 2, 1.0)]
    assert list(replays(killed).rows) == [
        ("unsealed", "Run", "2", "2", "1 1", "1 0", "1 of 2"),
        ("sealed", "Async", "1", "1", "1", "0", "1 of 1"),
    ]


@pytest.mark.parametrize(("version", "is_wrong"), [("unsealed", False), ("sealed", True), ("ordered", True)])
def test_a_store_is_wrong_where_the_verdict_promises_that_it_is_not(version: str, is_wrong: bool) -> None:
    fewer = frozenset(sorted(_RIGHT)[1:])
    runs = [_outcome(version, 1, 1.0), _outcome(version, 1, 1.0, fewer)]
    assert wrong(runs) == (runs[1:] if is_wrong else [])
    assert (label_of(version) == "Async") == is_wrong


def test_wrong_usage() -> None:
    assert main(["--slow"]) == 2
