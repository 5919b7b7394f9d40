"""The benchmark of the ad network: small runs in real processes, what is made of the numbers, and the bars."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from benchmarks.blazes_bars import of_blazes
from benchmarks.blazes_evaluation import Measured, Run, growth, ratio, run, table
from benchmarks.blazes_servers import Variant, Workload, clicks_of, curve

_TINY = Workload(records=20, batch=5, per_campaign=10, pause=0.02, requests=4)
_SECONDS = {
    Variant.UNCOORDINATED: (5.0, 5.5),
    Variant.ORDERED: (10.0, 30.0),
    Variant.SEALED: (5.5, 6.0),
    Variant.INDEPENDENT: (5.25, 5.75),
}


def _run(variant: Variant, ad_servers: int, seconds: float, *, missing: int = 0, agreed: bool = True) -> Run:
    records = 100 * ad_servers
    curve = (0, records // 2, records - missing)
    return Run(variant, ad_servers, records, records - missing, seconds, 4.9, agreed, 40, 7.5, 0, curve)


def _measured(seconds: dict[Variant, tuple[float, float]] = _SECONDS) -> list[Measured]:
    return [
        Measured(variant, number, (_run(variant, number, seconds[variant][k]),))
        for k, number in enumerate((5, 10))
        for variant in Variant
    ]


# -- processes ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("variant", Variant)
def test_every_click_reaches_every_report_server(variant: Variant) -> None:
    done = run(variant, 2, _TINY)
    assert (done.processed, done.records, done.ad_servers) == (40, 40, 2)
    assert done.complete
    assert done.curve[-1] == 40
    assert list(done.curve) == sorted(done.curve)
    assert 0 < done.sending <= done.seconds
    assert done.agreed or variant is Variant.UNCOORDINATED
    if variant is Variant.SEALED:  # whole campaigns: both ad servers have 10 clicks of each of two
        assert set(done.curve) <= {0, 20, 40}


# -- the work ----------------------------------------------------------------------------------------------------


def test_campaigns_are_shared_or_mastered_at_one_ad_server() -> None:
    shared = Counter(click[0] for k in range(2) for click in clicks_of(Variant.SEALED, k, _TINY))
    assert shared == {"campaign 0": 20, "campaign 1": 20}
    own = Counter(click[0] for k in range(2) for click in clicks_of(Variant.INDEPENDENT, k, _TINY))
    assert own == dict.fromkeys(("campaign 0 of 0", "campaign 1 of 0", "campaign 0 of 1", "campaign 1 of 1"), 10)


def test_clicks_are_all_different_and_the_same_every_time() -> None:
    clicks = [click for k in range(3) for click in clicks_of(Variant.ORDERED, k, _TINY)]
    assert len(set(clicks)) == 60
    assert clicks == [click for k in range(3) for click in clicks_of(Variant.ORDERED, k, _TINY)]


def test_the_curve_has_what_there_was_at_each_sample() -> None:
    assert curve([]) == [0]
    assert curve([(0.05, 1), (0.06, 2), (0.25, 5)]) == [0, 2, 2, 5]


# -- what is made of it ------------------------------------------------------------------------------------------


def test_ratios() -> None:
    measured = _measured()
    assert ratio(measured, Variant.SEALED, 5) == pytest.approx(1.1)
    assert ratio(measured, Variant.ORDERED, 10) == pytest.approx(30 / 5.5)
    assert growth(measured, Variant.ORDERED) == pytest.approx(3.0)


def test_the_median_run_counts() -> None:
    runs = tuple(_run(Variant.SEALED, 5, seconds) for seconds in (7.0, 5.5, 6.0))
    assert Measured(Variant.SEALED, 5, runs).seconds == 6.0


def test_the_table_says_what_was_measured() -> None:
    shown = table(_measured(), "Ads")
    assert shown.rows[1] == (
        "ordered", "5", "500 of 500", "4.90", "10.00", "10.00 - 10.00", "2.00", "50", "7.5", "1 of 1",
    )  # fmt: skip
    assert [row[0] for row in shown.rows] == [variant.value for variant in Variant] * 2


# -- bars --------------------------------------------------------------------------------------------------------


def test_all_bars_can_be_met() -> None:
    bars = of_blazes(_measured())
    assert len(bars) == 13
    assert [bar.name for bar in bars if not bar.passed] == []
    assert (bars[2].measured, bars[2].limit) == ("1.10 times (5.50 s / 5.00 s)", "1.3 times")


@pytest.mark.parametrize(
    ("variant", "seconds", "failed"),
    [
        (Variant.SEALED, (6.6, 6.0), ["blazes: 5 ad servers, sealed, beside uncoordinated"]),
        (
            Variant.ORDERED,
            (5.4, 30.0),
            ["blazes: 5 ad servers, sealed, beside ordered"],
        ),
        (
            Variant.ORDERED,
            (10.0, 10.93),
            [
                "blazes: time with 10 ad servers beside 5, ordered and uncoordinated",
                "blazes: time with 10 ad servers beside 5, ordered and independently sealed",
            ],
        ),
    ],
)
def test_a_bar_fails(variant: Variant, seconds: tuple[float, float], failed: list[str]) -> None:
    bars = of_blazes(_measured({**_SECONDS, variant: seconds}))
    assert [bar.name for bar in bars if not bar.passed] == failed


def test_what_is_lost_and_what_differs_fails() -> None:
    measured = [m for m in _measured() if (m.variant, m.ad_servers) != (Variant.ORDERED, 5)]
    bad = _run(Variant.ORDERED, 5, 10.0, missing=3, agreed=False)
    bars = of_blazes([*measured, Measured(Variant.ORDERED, 5, (bad,))])
    assert [(bar.measured, bar.passed) for bar in bars[:2]] == [("3", False), ("1", False)]


# -- plots -------------------------------------------------------------------------------------------------------


def test_the_three_figures_are_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    from benchmarks.blazes_plots import draw

    files = draw(_measured(), tmp_path)
    assert [file.name for file in files] == [
        "fig4-9.png", "fig4-9.svg", "fig4-10.png", "fig4-10.svg", "fig4-11.png", "fig4-11.svg",
    ]  # fmt: skip
    again = [file.read_bytes() for file in files if file.suffix == ".svg"]
    draw(_measured(), tmp_path)
    assert [file.read_bytes() for file in files if file.suffix == ".svg"] == again
    assert all(file.stat().st_size > 1000 for file in files)
