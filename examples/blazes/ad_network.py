"""The ad network of section 4.7 of the thesis in small: ad servers, three report servers, caches, and an analyst.

Three networks answer the query CAMPAIGN (ads with few clicks in a campaign):

- ``SmallAds`` is ``ad_report.py`` as it is: a request that overtakes a click is answered without it, and another
  report server may answer the same request with it;
- ``SealedAds``: ad servers say when a campaign is over, and clicks are held back until then;
- ``OrderedAds``: clicks and requests reach all report servers in one order, which a sequencer decides.

The last two are synthesized from the first.  ``network`` makes the nodes of one of them, and ``begin`` gives them
the clicks and requests; who runs them decides in which order messages arrive.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ad_report import ASKED_AGAIN, Ads, Campaign  # a neighbour in this folder

from clew.analysis.blazes.extraction.declared import annotated
from clew.bloom import Bloom, agg, bloom, imported
from clew.coordination import Sequencer, synthesized

AD_SERVERS = ("ads1", "ads2")
REPORTERS = ("report1", "report2", "report3")
CACHES = ("cache1", "cache2")
SEQUENCER = "sequencer"

#: Of each ad server: campaign, window, ad and a number.  An ad with 3 clicks is no poor one.
CLICKS = {
    "ads1": [("spring", 1, "car", 1), ("spring", 1, "car", 2), ("autumn", 2, "car", 3), ("autumn", 2, "tea", 4)],
    "ads2": [("spring", 2, "car", 5), ("spring", 2, "tea", 6), ("autumn", 1, "tea", 7), ("autumn", 1, "tea", 8)],
}
CAMPAIGNS = ("spring", "autumn")
REQUESTS = {"cache1": ["car"], "cache2": ["tea"]}
#: What there is to answer about each ad when all clicks are there: the campaigns in which it has few.
ANSWERS = {"car": {"autumn"}, "tea": {"spring"}}


class FewClicks(Campaign):
    """The query with a limit that fits a small network."""

    @bloom
    def query(self) -> None:
        self.temp.poor <= self.log.group(["id", "campaign"], clicks=agg.count()).filter(lambda a: a.clicks < 3)
        self.response <= (self.request * self.temp.poor).pairs(lambda r, a: (r.client, r.id, a.campaign), id="id")


class SmallAds(Ads):
    report = imported(FewClicks)


class AdsWithSeals(SmallAds):
    """What the producers of ``SealedAds`` promise; ``SealedAds`` holds them to it."""

    blazes = annotated(replicated=["report", "cache"], repeated=ASKED_AGAIN, seals={"clicks": ["campaign"]})


SealedAds: Any = synthesized(AdsWithSeals, "seal")
OrderedAds: Any = synthesized(SmallAds, "order")


def network(kind: Any) -> dict[str, Bloom]:
    """The nodes by their addresses.  All are of one class, and each uses the parts that it is sent rows for."""
    nodes: dict[str, Bloom] = {address: kind(address) for address in (*AD_SERVERS, *REPORTERS, *CACHES)}
    if kind is OrderedAds:
        nodes[SEQUENCER] = Sequencer(SEQUENCER)
    return nodes


def begin(nodes: Mapping[str, Any], kind: Any) -> None:
    """Who is who, all clicks and all requests; ad servers end their campaigns at once."""
    for address in (*AD_SERVERS, *CACHES):
        nodes[address].reporters.insert(*((reporter,) for reporter in REPORTERS))
    for address in CACHES:
        nodes[address].caches.insert(*((cache,) for cache in CACHES))
    for address, clicks in CLICKS.items():
        nodes[address].clicks.insert(*clicks)
    for address, ads in REQUESTS.items():
        nodes[address].requests.insert(*((ad,) for ad in ads))
    if kind is SealedAds:
        _name_producers(nodes)
    if kind is OrderedAds:
        _name_sequencer(nodes)


def _name_producers(nodes: Mapping[str, Any]) -> None:
    for address in REPORTERS:
        producers = nodes[address].report.click_seals.producers
        producers.insert(*(((campaign,), server) for campaign in CAMPAIGNS for server in AD_SERVERS))
    for address in AD_SERVERS:
        nodes[address].clicks_ended.insert(*((campaign,) for campaign in CAMPAIGNS))


def _name_sequencer(nodes: Mapping[str, Any]) -> None:
    nodes[SEQUENCER].order.replicas.insert(*((reporter,) for reporter in REPORTERS))
    for address in REPORTERS:
        nodes[address].order.sequencer.insert((SEQUENCER,))
