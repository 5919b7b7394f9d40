"""A network that reports on the clicks on advertisements, as a Bloom program (thesis, sections 4.2, 4.5 and 4.7).

Ad servers send clicks to all report servers, which log them and answer requests with a standing query.  Caches
store the answers, and pass on to each other what they are told.  Report servers and caches are replicated.

The queries (figure 4.5) differ in what they need:

- ``Thresh``: ads with more than 1000 clicks.  Once true, it stays true.
- ``Poor``: ads with fewer than 100 clicks.  The next click may change that.
- ``Window``: the same, hour by hour; a window whose clicks are all there is settled.
- ``Campaign``: the same, campaign by campaign.

``clew blazes examples/blazes/ad_report.py:PoorAds`` finds the annotations of section 4.5 in the rules.  A request
that comes before a click is answered without it: that is why the order of the two counts.  Not even ``Thresh`` is
of use to somebody who asks once and too early, so the analysis is told that requests are ``repeated``: who asks,
asks again.
"""

from __future__ import annotations

from clew.analysis.blazes.extraction import annotated
from clew.bloom import Bloom, agg, bloom, channel, imported, interface, table

#: The inputs whose rows come again until all that they ask for is there.
ASKED_AGAIN = ["report.request", "cache.request"]


class Report(Bloom):
    """Logs clicks.  A subclass says which ads ``answer`` is about; ``part`` is the window or campaign, if any."""

    click = interface.input("campaign", "window", "id", "uid")
    request = interface.input("client", "id")
    response = interface.output("client", "id", "part")
    log = table("campaign", "window", "id", "uid")

    @bloom
    def collect(self) -> None:
        self.log <= self.click


class Thresh(Report):
    @bloom
    def query(self) -> None:
        self.temp.popular <= self.log.group(["id"], clicks=agg.count()).filter(lambda a: a.clicks > 1000)
        self.response <= (self.request * self.temp.popular).pairs(lambda r, a: (r.client, r.id, ""), id="id")


class Poor(Report):
    @bloom
    def query(self) -> None:
        self.temp.poor <= self.log.group(["id"], clicks=agg.count()).filter(lambda a: a.clicks < 100)
        self.response <= (self.request * self.temp.poor).pairs(lambda r, a: (r.client, r.id, ""), id="id")


class Window(Report):
    @bloom
    def query(self) -> None:
        self.temp.poor <= self.log.group(["id", "window"], clicks=agg.count()).filter(lambda a: a.clicks < 100)
        self.response <= (self.request * self.temp.poor).pairs(lambda r, a: (r.client, r.id, a.window), id="id")


class Campaign(Report):
    @bloom
    def query(self) -> None:
        self.temp.poor <= self.log.group(["id", "campaign"], clicks=agg.count()).filter(lambda a: a.clicks < 100)
        self.response <= (self.request * self.temp.poor).pairs(lambda r, a: (r.client, r.id, a.campaign), id="id")


class Cache(Bloom):
    """Answers what it knows at once, asks for what is new, and keeps every answer.

    Section 4.5 calls ``result`` and ``response`` by one name, and ``request`` and ``miss`` by another; here every
    interface has its own.
    """

    request = interface.input("id")
    result = interface.input("id", "part")
    response = interface.output("id", "part")
    miss = interface.output("id")
    store = table("id", "part")

    @bloom
    def answer(self) -> None:
        self.response <= (self.request * self.store).rights(id="id")
        self.response <= self.result

    @bloom
    def ask(self) -> None:
        self.miss <= self.request
        self.store <= self.result


class Ads(Bloom):
    """The network.  Every node has both components, and uses those that it is sent something for."""

    clicks = interface.input("campaign", "window", "id", "uid")
    requests = interface.input("id")
    answers = interface.output("id", "part")

    reporters = table("server")
    caches = table("server")
    click_log = channel("@server", "campaign", "window", "id", "uid")
    misses = channel("@server", "cache", "id")
    results = channel("@cache", "id", "part")
    gossip = channel("@cache", "id", "part")

    report = imported(Report)
    cache = imported(Cache)
    blazes = annotated(replicated=["report", "cache"], repeated=ASKED_AGAIN)

    @bloom
    def collect(self) -> None:
        self.click_log <~ (self.clicks * self.reporters).pairs(
            lambda c, r: (r.server, c.campaign, c.window, c.id, c.uid)
        )
        self.report.click <= self.click_log(lambda c: (c.campaign, c.window, c.id, c.uid))

    @bloom
    def ask(self) -> None:
        self.cache.request <= self.requests
        self.misses <~ (self.cache.miss * self.reporters).pairs(lambda m, r: (r.server, self.ip_port, m.id))
        self.report.request <= self.misses(lambda m: (m.cache, m.id))

    @bloom
    def answer(self) -> None:
        self.results <~ self.report.response(lambda r: (r.client, r.id, r.part))
        self.gossip <~ (self.results * self.caches).pairs(lambda r, c: (c.server, r.id, r.part))
        self.cache.result <= self.results(lambda r: (r.id, r.part))
        self.cache.result <= self.gossip(lambda r: (r.id, r.part))
        self.answers <= self.cache.response


class ThreshAds(Ads):
    report = imported(Thresh)


class PoorAds(Ads):
    report = imported(Poor)


class WindowAds(Ads):
    report = imported(Window)


class CampaignAds(Ads):
    report = imported(Campaign)


class WindowAdsSealed(WindowAds):
    """Ad servers say when a window is over."""

    blazes = annotated(replicated=["report", "cache"], repeated=ASKED_AGAIN, seals={"clicks": ["window"]})


class CampaignAdsSealed(CampaignAds):
    """Ad servers say when a campaign is over."""

    blazes = annotated(replicated=["report", "cache"], repeated=ASKED_AGAIN, seals={"clicks": ["campaign"]})
