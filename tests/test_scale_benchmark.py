"""The benchmark of clusters: what the model says of what was measured."""

from __future__ import annotations

from benchmarks.scale import Coordination, Model, Predicted, _Spent, predict, table

MODEL = Model(
    execution=0.002,
    merging=1e-6,
    opening=0.3,
    sent=900,
    returned=300,
    returned_each=2.0,
    coordination=Coordination(1000, 0.001, 0.002),
)


def test_blocks_are_as_long_as_a_search_makes_them() -> None:
    assert [predict(MODEL, workers).block_seconds for workers in (1, 50, 100, 1000)] == [0.5, 0.5, 1.0, 10.0]


def test_what_is_limited_by_the_workers() -> None:
    # A hundred blocks a second, and half a million executions to merge.
    assert predict(MODEL, 1000) == Predicted(1000, 10.0, 500_000.0, 0.6, 0.2, 100 * 1200 + 1_000_000.0)
    assert predict(MODEL, 1000).efficiency == 1


def test_what_is_limited_by_this_process() -> None:
    found = predict(MODEL, 2000)
    assert (round(found.client, 9), round(found.executions)) == (1.1, round(1_000_000 / 1.1))
    assert table(MODEL).rows[-1][3] == "100%"


def test_a_search_takes_as_long_as_the_busiest_part_of_it() -> None:
    assert _Spent(1.0, [8.0], 20.0).makespan == 8.0
    assert _Spent(1.0, [5.0, 3.0], 20.0).makespan == 4.5
    assert _Spent(9.0, [5.0, 3.0], 20.0).makespan == 9.0
