"""Verdicts are true in behaviour: replicas of the ad report disagree without coordination, and never with it."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from clew.analysis.blazes import analyse
from clew.analysis.blazes.extraction.system import extract
from coordination.simulated_ads import Network, Run, ads
from long_mode import first_of

#: Seeds of 500 runs, the first of them in the suite, and all of them in the long mode.
SEEDS = first_of([range(50), range(50, 200), range(200, 350), range(350, 500)], 1)
COMPLETE = tuple((ad, campaign) for ad, campaigns in sorted(ads.ANSWERS.items()) for campaign in campaigns)

#: In the run from seed 0: three answers to the same two requests.  The one to give would be COMPLETE.
DISAGREEMENT = {
    "report1": (("car", "autumn"), ("car", "spring")),
    "report2": (("car", "spring"), ("tea", "spring")),
    "report3": (("car", "autumn"),),
}


@cache
def _network(kind: Any) -> Network:
    return Network(kind)


def _runs(kind: Any, seeds: range) -> dict[int, Run]:
    return {seed: _network(kind).run(seed) for seed in seeds}


def test_without_coordination_replicas_disagree() -> None:
    runs = _runs(ads.SmallAds, range(20))
    assert runs[0].answers == DISAGREEMENT
    assert [seed for seed, run in runs.items() if not run.agreed] == list(range(20))


@pytest.mark.parametrize("seeds", SEEDS, ids=str)
def test_sealed_replicas_give_the_same_answers_in_all_runs(seeds: range) -> None:
    for seed, run in _runs(ads.SealedAds, seeds).items():
        assert run.agreed, seed
        assert set(run.answers.values()) == set(run.caches.values()) == {COMPLETE}, seed


@pytest.mark.parametrize("seeds", SEEDS, ids=str)
def test_ordered_replicas_give_the_same_answers_in_a_run(seeds: range) -> None:
    runs = _runs(ads.OrderedAds, seeds)
    assert [seed for seed, run in runs.items() if not run.agreed] == []
    # An order that is decided while the system runs keeps replicas together, but not runs.
    assert len({run.answers["report1"] for run in runs.values()}) > 1


@pytest.mark.parametrize(
    ("kind", "label"), [(ads.SmallAds, "Split"), (ads.AdsWithSeals, "Async")], ids=["uncoordinated", "sealed"]
)
def test_what_the_analysis_says_of_them(kind: Any, label: str) -> None:
    assert str(analyse(extract(kind).dataflow).worst) == label


@pytest.mark.parametrize("kind", [ads.SmallAds, ads.SealedAds, ads.OrderedAds], ids=lambda k: k.__name__)
def test_nodes_that_are_used_again_are_as_new(kind: Any) -> None:
    """The runs above share their nodes."""
    assert _network(kind).run(7) == Network(kind).run(7) == _network(kind).run(7)
