"""The programs in examples/blazes run, and what the analysis warns of happens in them."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from clew.files.python_module import import_file
from command import ROOT
from random_network import RandomNetwork

FOLDER = ROOT / "examples/blazes"


def _module(name: str) -> ModuleType:
    return import_file(Path(FOLDER / f"{name}.py"), "program")


@pytest.fixture(scope="module")
def ads() -> ModuleType:
    return _module("ad_report")


@pytest.fixture(scope="module")
def cart() -> ModuleType:
    return _module("shop")


@pytest.mark.parametrize(
    ("query", "few", "many"),
    [
        ("Thresh", [], [("me", "ad", "")]),
        ("Poor", [("me", "ad", "")], []),
        ("Window", [("me", "ad", 1)], [("me", "ad", 2)]),
        ("Campaign", [("me", "ad", "spring")], [("me", "ad", "autumn")]),
    ],
)
def test_the_queries(ads: ModuleType, query: str, few: list[Any], many: list[Any]) -> None:
    """After 99 clicks in the first window and campaign, and after 1001 and some in the second."""
    report = getattr(ads, query)()

    def answer() -> list[Any]:
        report.request.insert(("me", "ad"))
        report.tick()
        return list(report.response)

    report.click.insert(*(("spring", 1, "ad", uid) for uid in range(99)))
    assert answer() == few
    report.click.insert(*(("spring", 1, "ad", uid) for uid in range(99, 1001)))
    report.click.insert(("autumn", 2, "ad", 0))
    assert answer() == many


def _network(ads: ModuleType, kind: str, seed: int, *, gossip: bool = True) -> RandomNetwork:
    """An ad server, two report servers, and two caches, each of which asks another report server."""
    cluster = RandomNetwork({name: getattr(ads, kind)(name) for name in ("ads", "r1", "r2", "c1", "c2")}, seed)
    cluster.nodes["ads"].reporters.insert(("r1",), ("r2",))
    for cache, reporter in (("c1", "r1"), ("c2", "r2")):
        cluster.nodes[cache].reporters.insert((reporter,))
        if gossip:
            cluster.nodes[cache].caches.insert(("c1",), ("c2",))
    cluster.settle()
    return cluster


def test_an_answer_reaches_both_caches(ads: ModuleType) -> None:
    cluster = _network(ads, "CampaignAds", 0)
    cluster.nodes["ads"].clicks.insert(("spring", 1, "ad", 7))
    cluster.settle()
    cluster.nodes["c1"].requests.insert(("ad",))
    cluster.settle()
    stores = [list(cluster.nodes[name].cache.store) for name in ("c1", "c2")]
    assert stores == [[("ad", "spring")]] * 2
    assert (cluster.refused, cluster.unreachable) == ([], [])
    cluster.nodes["c2"].requests.insert(("ad",))
    cluster.nodes["c2"].tick()
    assert list(cluster.nodes["c2"].answers) == [("ad", "spring")]


def test_reports_disagree_about_a_campaign_that_goes_on(ads: ModuleType) -> None:
    """Both caches ask while the hundredth click is under way: in some runs one report server has seen it."""

    def answered(seed: int) -> tuple[bool, bool]:
        cluster = _network(ads, "CampaignAds", seed, gossip=False)
        cluster.nodes["ads"].clicks.insert(*(("spring", 1, "ad", uid) for uid in range(99)))
        cluster.settle()
        cluster.nodes["ads"].clicks.insert(("spring", 1, "ad", 99))
        for name in ("c1", "c2"):
            cluster.nodes[name].requests.insert(("ad",))
        cluster.settle()
        first, second = (bool(list(cluster.nodes[name].cache.store)) for name in ("c1", "c2"))
        return first, second

    assert {answered(seed) for seed in range(20)} >= {(True, False), (False, True)}


def _shop(cart: ModuleType, seed: int) -> RandomNetwork:
    cluster = RandomNetwork({name: cart.Shop(name) for name in ("client", "k1", "k2")}, seed)
    cluster.nodes["client"].replicas.insert(("k1",), ("k2",))
    cluster.nodes["client"].asked.insert(("k2",))
    cluster.settle()
    return cluster


def test_a_checkout_answers_with_the_cart(cart: ModuleType) -> None:
    cluster = _shop(cart, 0)
    client = cluster.nodes["client"]
    for reqid, items in enumerate([("tea",), ("tea", "milk")]):
        client.actions.insert(("s", reqid, items))
        cluster.settle()
    client.checkouts.insert(("s", 2))
    answers = []
    for _ in range(100):
        cluster.run(1)
        answers += list(client.carts)
    assert answers == [("s", ("tea", "milk"))]
    assert cluster.refused == []


def test_replicas_keep_different_carts(cart: ModuleType) -> None:
    def carts(seed: int) -> tuple[Any, ...]:
        cluster = _shop(cart, seed)
        for reqid, items in enumerate([("tea",), ("tea", "milk")]):
            cluster.nodes["client"].actions.insert(("s", reqid, items))
            cluster.run(1)
        cluster.settle()
        return tuple(tuple(cluster.nodes[name].kvs.kvstate) for name in ("k1", "k2"))

    found = {carts(seed) for seed in range(20)}
    assert any(first != second for first, second in found)
