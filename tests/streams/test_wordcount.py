"""The word count on Bytewax: its verdicts, and what a store has after a worker was killed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import pytest

pytest.importorskip("bytewax", reason="there is no Bytewax for Python 3.13")

from wordcount import BUCKETS, CountInOrder, CountSealed, CountWindow, bucket_of, split
from wordcount_cluster import VERSIONS, Outcome, describe, run
from wordcount_store import Stored, Tally
from wordcount_turns import Turns, serve_turns
from wordcount_tweets import PRODUCERS, Job, Producer, Seal, Tweet, Words, count_words, text_of

import clew
from clew.analysis.blazes.remedies import Remedy
from clew.report.blazes.text import remedy_text
from command import ROOT

EXAMPLE = ROOT / "examples" / "bytewax" / "wordcount.py"
#: As slow as tweets come, so that a window holds whole batches until a worker is killed.
SLOW = Job(batches=40, tweets=100, pause=0.04)
#: A kill may hit the moment just after the state was saved, when nothing that was committed is counted again.
_KILLS = 10


# -- verdicts ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("version", "label"), [("unsealed", "Run"), ("sealed", "Async"), ("ordered", "Async")])
def test_verdicts(version: str, label: str) -> None:
    (sink,) = clew.blazes(f"{EXAMPLE}:{version}").verdict.sinks
    assert (sink.stream.name, str(sink.label)) == ("commit", label)


def test_what_the_version_without_seals_is_told_to_do() -> None:
    """As the thesis says of this dataflow: order the batches, or seal them."""
    (sink,) = clew.blazes(f"{EXAMPLE}:unsealed").verdict.sinks
    assert [blame.components for blame in sink.blame] == [("count",)]
    remedies: list[Remedy] = list(sink.remedies)
    assert [(remedy_text(remedy), str(remedy.after)) for remedy in remedies] == [
        ("seal tweets on batch", "Async"),
        ("order the inputs of count, the same in every run", "Async"),
    ]


# -- real workers ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("version", "workers"), [("sealed", 1), ("sealed", 2), ("ordered", 2)])
def test_without_a_crash_the_store_has_what_was_sent(version: str, workers: int) -> None:
    done = run(version, Job(batches=12, tweets=60, pending=2), workers)
    assert done.correct
    assert (done.replayed, done.before) == (0, None)
    assert len(done.stored.commits) == 12 * len(BUCKETS)
    if version == "ordered":
        assert _batches_in_order(done.stored) == sorted(_batches_in_order(done.stored))


def _batches_in_order(stored: Stored) -> list[int]:
    return [batch for batch, _, _ in sorted(stored.commits, key=lambda commit: commit[2])]


@pytest.mark.parametrize("version", ["sealed", "ordered"])
def test_equal_results_after_a_crash_where_the_verdict_promises_it(version: str) -> None:
    done = _kill_until(version, lambda outcome: outcome.replayed > 0)
    assert str(clew.blazes(f"{EXAMPLE}:{version}").verdict.worst) == "Async"
    assert done.correct
    assert done.stored.contradictions == 0


def test_different_results_after_a_crash_where_the_verdict_does_not_promise_equal_ones() -> None:
    done = _kill_until("unsealed", lambda outcome: outcome.stored.contradictions > 0)
    assert str(clew.blazes(f"{EXAMPLE}:unsealed").verdict.worst) == "Run"
    # It is the crash that makes two counts of one: before, each batch was counted once.
    assert done.before is not None
    assert done.before.contradictions == 0
    assert done.replayed > 0
    assert not done.correct


def _kill_until(version: str, is_shown: Callable[[Outcome], bool]) -> Outcome:
    """Kill workers until it is seen what a crash does; each attempt is a run of its own."""
    for _ in range(_KILLS):
        done = run(version, SLOW, 2, kill_after=36)
        if is_shown(done):
            return done
    raise AssertionError(f"{_KILLS} crashes, and nothing to be seen: {describe(done)}")


def test_the_command_of_the_readme() -> None:
    script = str(EXAMPLE.parent / "wordcount_cluster.py")
    done = subprocess.run(
        [sys.executable, script, "sealed", "--workers", "1"],
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    assert done.stdout.splitlines() == [
        "sealed, workers: 1",
        "  commits made a second time: 0",
        "  words with two counts in one batch: 0",
        "  rows that should not be there: 0",
        "  rows that are missing: 0",
    ]


def test_a_worker_that_fails_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Job, "environment", lambda self: {"WORDCOUNT": "no JSON"})
    with pytest.raises(RuntimeError, match=r"worker 0 has failed: .*JSON"):
        run("sealed", Job(), 1)


# -- the parts ---------------------------------------------------------------------------------------------------


def test_producers_go_on_where_they_were() -> None:
    job = Job(batches=2, tweets=60)

    def sent(producer: Producer) -> list[Tweet | Seal]:
        items: list[Tweet | Seal] = []
        while True:
            try:
                items += producer.next_batch()
            except StopIteration:
                return items

    whole = Producer("north", job, (0, 0))
    first = list(whole.next_batch())
    rest = sent(Producer("north", job, whole.snapshot()))
    assert [*first, *rest] == sent(Producer("north", job, (0, 0)))
    assert [item for item in rest if isinstance(item, Seal)] == [Seal(0, "north", 60), Seal(1, "north", 60)]
    assert len([item for item in [*first, *rest] if isinstance(item, Tweet)]) == 120


def test_no_word_is_lost_between_the_buckets() -> None:
    made = split([Tweet(0, "north", "b a b"), Tweet(1, "north", "c"), Seal(0, "north", 1)])
    words = [(b, w) for b, item in made if isinstance(item, Words) for w in item.words]
    assert sorted(words) == sorted((bucket_of(word), word) for word in "babc")
    # Every bucket hears of every tweet, and of the seal.
    assert [(bucket, item.batch) for bucket, item in made if isinstance(item, Seal)] == [(b, 0) for b in BUCKETS]
    assert all(sum(i.tweets for b, i in made if b == one and isinstance(i, Words)) == 2 for one in BUCKETS)


def test_a_batch_waits_for_all_that_its_manifests_announce() -> None:
    count = CountSealed(None)
    north, south = PRODUCERS
    assert count.on_batch([Seal(0, north, 2), Words(0, north, 1, ["a"]), Seal(0, south, 0)])[0] == []
    restored = CountSealed(count.snapshot())
    assert restored.on_batch([Words(1, north, 1, ["b"])])[0] == []
    assert restored.on_batch([Words(0, north, 1, ["a", "c"])])[0] == [Tally(0, {"a": 2, "c": 1})]


def test_a_window_closes_by_the_clock_whatever_is_missing() -> None:
    count = CountWindow(None)
    north = PRODUCERS[0]
    assert count.on_batch([Words(0, north, 1, ["a"])])[0] == []
    assert count.on_eof()[0] == [Tally(0, {"a": 1})]
    assert count.on_batch([Words(0, north, 1, ["late"])])[0] == []
    assert count.on_eof()[0] == []
    assert count.notify_at() is None


def test_tallies_wait_for_their_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    complete: list[Words | Seal] = [Seal(1, name, 0) for name in PRODUCERS]
    with serve_turns(BUCKETS) as address:
        monkeypatch.setattr(Job, "of_environment", lambda: Job(turns=address))
        count, other = CountInOrder(None), Turns(address)
        assert count.on_batch(complete)[0] == []
        assert other.turn() == 0
        other.commit("0", 0)
        assert count.on_notify()[0] == []
        other.commit("1", 0)
        # What a bucket commits again changes nothing.
        other.commit("1", 0)
        assert (other.turn(), count.on_notify()[0]) == (1, [Tally(1, {})])
        assert count.notify_at() is None
        other.close()
        count.turns.close()


def test_what_is_counted_does_not_depend_on_buckets_or_versions() -> None:
    job = Job(batches=3, tweets=7)
    rows = count_words(job)
    total = sum(len(text_of(p, b, n).split()) for p in PRODUCERS for b in range(3) for n in range(7))
    assert sum(count for _, _, count in rows) == total
    assert sorted(VERSIONS) == ["ordered", "sealed", "unsealed"]
