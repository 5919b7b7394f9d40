"""The processes of the ad network of section 4.7 of the thesis: ad servers, report servers, analyst, sequencer.

``python -m benchmarks.blazes_servers ROLE VARIANT`` is one of them, a Bloom node on the loopback interface.  It
says its address, is told who the others are, says that it is ready, is told when the clock starts (that of the
system, which all processes share), says how it went, and when all have, what it saw.  Each is a line of JSON.

Channels may lose what a receiver has no room for.  So report servers acknowledge clicks, and an ad server has at
most ``WINDOW`` of them on the way to each; the rules for that are added to each network after it was synthesized.
"""

from __future__ import annotations

import enum
import json
import random
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clew.bloom import Bloom, agg, bloom, channel, table
from clew.coordination import Sequencer, synthesized
from clew.files.python_module import import_file

NETWORK = Path(__file__).parents[1] / "examples" / "blazes" / "ad_report.py"
#: Clicks that an ad server has on the way to a report server.
WINDOW = 100
#: Seconds between two points of a curve.
SAMPLE = 0.1
#: Seconds in which no click is processed, after which a report server gives up.
PATIENCE = 30.0
#: Clicks are numbered; those of an ad server begin at its own number times this.
_SPAN = 1_000_000
#: No ad is asked for twice: a request that is the same is one request in a total order.
_ADS = 20

Click = tuple[str, int, str, int]


class Variant(enum.Enum):
    """How clicks and requests are coordinated; the value is what tables and plots call it."""

    UNCOORDINATED = "uncoordinated"
    ORDERED = "ordered"
    SEALED = "sealed"
    INDEPENDENT = "independently sealed"

    @property
    def seals(self) -> bool:
        return self in (Variant.SEALED, Variant.INDEPENDENT)


class Role(enum.Enum):
    AD_SERVER = "ad-server"
    REPORT = "report"
    ANALYST = "analyst"
    SEQUENCER = "sequencer"


@dataclass(frozen=True)
class Workload:
    """``records`` of each ad server, in batches with a pause after each; ``per_campaign``: of one campaign.

    A pause is between half and one and a half times ``pause`` seconds, drawn from a seed.  The analyst asks for
    ``requests`` ads, evenly over the time that the ad servers need if nothing holds them up.
    """

    records: int = 500
    batch: int = 50
    per_campaign: int = 50
    pause: float = 0.5
    requests: int = 20

    @property
    def campaigns(self) -> int:
        return self.records // self.per_campaign

    @property
    def seconds(self) -> float:
        return self.records / self.batch * self.pause


@dataclass(frozen=True)
class Wiring:
    """Who is where.  ``sequencer`` is empty if there is none."""

    ad_servers: tuple[str, ...]
    reporters: tuple[str, ...]
    analyst: str
    sequencer: str


# -- the work ----------------------------------------------------------------------------------------------------


def campaign_of(variant: Variant, server: int, number: int) -> str:
    """All ad servers have clicks of all campaigns, unless a campaign is mastered at one of them."""
    return f"campaign {number} of {server}" if variant is Variant.INDEPENDENT else f"campaign {number}"


def clicks_of(variant: Variant, server: int, work: Workload) -> list[Click]:
    """In the order in which they are sent: one campaign after the other."""
    chance = random.Random(server)
    return [
        (
            campaign_of(variant, server, k // work.per_campaign),
            k // work.batch,
            f"ad {chance.randrange(_ADS)}",
            server * _SPAN + k,
        )
        for k in range(work.records)
    ]


# -- the nodes ---------------------------------------------------------------------------------------------------


class Acknowledging(Bloom):
    """Says how many clicks of an ad server arrived in a step, and which was the first of them."""

    click_log: Any  # of the network that this is mixed into
    numbers = table("ad_server", val=["address"])
    arrived = channel("@ad_server", "reporter", "first", val=["clicks"])

    # Bloom's operators are written together.
    # fmt: off
    @bloom
    def acknowledge(self) -> None:
        self.temp.mine <= self.click_log(lambda c: (c.uid // _SPAN, c.uid)).rename("ad_server", "uid")  # noqa: B015
        self.temp.counted <= self.temp.mine.group(  # noqa: B015
            ["ad_server"], first=agg.min("uid"), clicks=agg.count()
        )
        self.arrived <~ (self.temp.counted * self.numbers).pairs(  # noqa: B015
            lambda c, n: (n.address, self.ip_port, c.first, c.clicks), ad_server="ad_server"
        )

    # fmt: on


def network(variant: Variant) -> Any:
    """The class of all nodes but the sequencer."""
    examples = import_file(NETWORK, "network")
    match variant:
        case Variant.UNCOORDINATED:
            coordinated = examples.CampaignAds
        case Variant.ORDERED:
            coordinated = synthesized(examples.CampaignAds, "order")
        case _:
            independent = variant is Variant.INDEPENDENT
            coordinated = synthesized(examples.CampaignAdsSealed, "seal", independent=independent)
    return type(f"Measured{coordinated.__name__}", (coordinated, Acknowledging), {"__module__": __name__})


def node_of(role: Role, variant: Variant) -> Any:
    address = "127.0.0.1:0"
    return Sequencer(address) if role is Role.SEQUENCER else network(variant)(address)


def connect(node: Any, role: Role, variant: Variant, wiring: Wiring, work: Workload) -> None:
    """Who is who; when this returns, the node knows it."""
    reporters = [(reporter,) for reporter in wiring.reporters]
    if role is Role.SEQUENCER:
        node.order.replicas.insert(*reporters)
        _await_rows(node.order.replicas, len(reporters))
        return
    node.caches.insert((wiring.analyst,))
    if role is Role.REPORT:
        _connect_report(node, variant, wiring, work)
    else:
        node.reporters.insert(*reporters)
    _await_rows(node.caches, 1)


def _connect_report(node: Any, variant: Variant, wiring: Wiring, work: Workload) -> None:
    node.numbers.insert(*enumerate(wiring.ad_servers))
    if variant is Variant.ORDERED:
        node.order.sequencer.insert((wiring.sequencer,))
    if variant is Variant.SEALED:
        campaigns = [campaign_of(variant, 0, number) for number in range(work.campaigns)]
        pairs = (((campaign,), server) for campaign in campaigns for server in wiring.ad_servers)
        node.report.click_seals.producers.insert(*pairs)


def _await_rows(rows: Any, number: int) -> None:
    while len(rows) < number:
        time.sleep(0.005)


# -- what they do ------------------------------------------------------------------------------------------------


class AdServer:
    """Sends its clicks, and with seals says when a campaign is over."""

    def __init__(self, node: Any, variant: Variant, wiring: Wiring, work: Workload) -> None:
        self._node = node
        self._variant = variant
        self._work = work
        self._number = wiring.ad_servers.index(node.ip_port)
        self._confirmed = dict.fromkeys(wiring.reporters, 0)
        self._changed = threading.Condition()
        node.on(node.arrived, self._confirm)

    def _confirm(self, rows: Sequence[Any]) -> None:
        with self._changed:
            for row in rows:
                self._confirmed[row.reporter] += row.clicks
            self._changed.notify()

    def work(self, start: float) -> dict[str, Any]:
        """Send the clicks; ``sent`` is when the last of them are given to the network."""
        clicks = clicks_of(self._variant, self._number, self._work)
        pauses = random.Random(self._number)
        batch, sent = self._work.batch, 0.0
        for first in range(0, len(clicks), batch):
            self._await_room(first)
            # Before it is sent: afterwards, a report server may have noted the last click earlier than this one.
            sent = time.monotonic() - start
            self._send(clicks[first : first + batch])
            time.sleep(self._work.pause * pauses.uniform(0.5, 1.5))
        return {"sent": sent}

    def _await_room(self, sent: int) -> None:
        def has_room() -> bool:
            return sent + self._work.batch - min(self._confirmed.values()) <= WINDOW

        with self._changed:
            if not self._changed.wait_for(has_room, PATIENCE):
                raise TimeoutError(f"of {sent} clicks so many have arrived: {self._confirmed}")

    def _send(self, clicks: Sequence[Click]) -> None:
        self._node.clicks.insert(*clicks)
        last = clicks[-1][3] % _SPAN + 1
        if self._variant.seals and last % self._work.per_campaign == 0:
            self._node.clicks_ended.insert((clicks[-1][0],))


class ReportServer:
    """Counts the clicks in its log, and keeps what it answers."""

    def __init__(self, node: Any, wiring: Wiring, work: Workload) -> None:
        self._expected = work.records * len(wiring.ad_servers)
        self._processed = 0
        self._moments: list[tuple[float, int]] = []
        self._answers: dict[tuple[str, str], None] = {}
        self._changed = threading.Condition()
        node.on(node.report.log, self._count)
        node.on(node.report.response, self._answer)

    def _count(self, rows: Sequence[Any]) -> None:
        with self._changed:
            self._processed += len(rows)
            self._moments.append((time.monotonic(), self._processed))
            self._changed.notify()

    def _answer(self, rows: Sequence[Any]) -> None:
        self._answers.update(dict.fromkeys((row.id, row.part) for row in rows))

    def work(self, start: float) -> dict[str, Any]:
        """``seconds`` until the last click, how many were ``processed``, and the ``curve``: at each sample."""
        while self._gets_more():
            pass
        moments = [(moment - start, count) for moment, count in self._moments]
        return {
            "seconds": moments[-1][0] if moments else 0.0,
            "processed": self._processed,
            "curve": curve(moments),
        }

    def _gets_more(self) -> bool:
        """Waits for clicks unless all are there; whether some came."""
        with self._changed:
            before = self._processed
            if before == self._expected:
                return False
            return self._changed.wait_for(lambda: self._processed > before, PATIENCE)

    def result(self) -> dict[str, Any]:
        return {"answers": sorted(self._answers)}


def curve(moments: Sequence[tuple[float, int]]) -> list[int]:
    """How many there were 0, 1, 2 ... samples after the start, up to the first sample with all of them."""
    counts: list[int] = []
    before = 0
    for moment, count in moments:
        while len(counts) * SAMPLE < moment:
            counts.append(before)
        before = count
    return [*counts, before]


class Analyst:
    """Asks for one ad after the other."""

    def __init__(self, node: Any, work: Workload) -> None:
        self._node = node
        self._work = work

    def work(self, start: float) -> dict[str, Any]:
        for number in range(self._work.requests):
            sleep_until(start + (number + 0.5) / self._work.requests * self._work.seconds)
            self._node.requests.insert((f"ad {number}",))
        return {}


# -- a process ---------------------------------------------------------------------------------------------------


def sleep_until(moment: float) -> None:
    time.sleep(max(0.0, moment - time.monotonic()))


def _say(what: dict[str, Any]) -> None:
    print(json.dumps(what), flush=True)


def _hear() -> dict[str, Any]:
    line = sys.stdin.readline()
    if not line:
        raise SystemExit("whoever started this process has ended")
    heard: dict[str, Any] = json.loads(line)
    return heard


def _perform(
    role: Role, variant: Variant, node: Any, wiring: Wiring, work: Workload
) -> tuple[Callable[[float], dict[str, Any]], Callable[[], dict[str, Any]]]:
    """What a role does from the start on, and what it says at the end."""
    match role:
        case Role.AD_SERVER:
            return AdServer(node, variant, wiring, work).work, dict
        case Role.REPORT:
            report = ReportServer(node, wiring, work)
            return report.work, report.result
        case Role.ANALYST:
            return Analyst(node, work).work, dict
        case Role.SEQUENCER:
            return lambda start: {}, dict


def main() -> None:
    role, variant = Role(sys.argv[1]), Variant(sys.argv[2])
    with node_of(role, variant) as node:
        _say({"address": node.ip_port})
        told = _hear()
        wiring = Wiring(**{name: _frozen(value) for name, value in told["wiring"].items()})
        work = Workload(**told["workload"])
        performance, result = _perform(role, variant, node, wiring, work)
        connect(node, role, variant, wiring, work)
        _say({"ready": True})
        start = _hear()["start"]
        sleep_until(start)
        before = time.process_time()
        _say(performance(start))
        _hear()
        _say({"processor": time.process_time() - before, **result()})


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


if __name__ == "__main__":
    main()
