"""Plans, classes and text: what is made of a verdict, and that all of it is the same program."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from clew.analysis.blazes import analyse
from clew.analysis.blazes.extraction.declared import annotated
from clew.analysis.blazes.extraction.system import extract
from clew.bloom import Bloom, agg, bloom, channel, interface, table
from clew.bloom.language.module import program_of
from clew.coordination import Service, synthesized
from clew.coordination.planning import plan_for
from clew.coordination.plans import (
    Consumers,
    Ordered,
    OrderPlan,
    Plan,
    Read,
    SealedComponent,
    SealedInput,
    SealPlan,
    Source,
)
from clew.coordination.synthesis import build_class, module_text
from clew.errors import UsageError
from clew.files.python_module import import_file
from command import ROOT, clew
from coordination.schedules import Partitioned, play
from random_network import RandomNetwork

BLAZES = ROOT / "examples" / "blazes"
report: Any = import_file(BLAZES / "ad_report.py")
shop: Any = import_file(BLAZES / "shop.py")


class Plain(Bloom):
    """A component on its own; requests name the campaign."""

    click = interface.input("campaign", "id", "uid")
    request = interface.input("reqid", "campaign")
    response = interface.output("reqid", "campaign", "id")
    log = table("campaign", "id", "uid")
    blazes = annotated(replicated=["Plain"], seals={"click": ["campaign"]})

    @bloom
    def query(self) -> None:
        self.log <= self.click
        self.temp.poor <= self.log.group(["campaign", "id"], clicks=agg.count()).filter(lambda a: a.clicks < 3)
        self.response <= (self.request * self.temp.poor).pairs(
            lambda r, a: (r.reqid, r.campaign, a.id), campaign="campaign"
        )


def _plan(cls: Any, how: str, **options: Any) -> Plan:
    extraction = extract(cls)
    return plan_for(extraction, analyse(extraction.dataflow), how, **options)


def _sealed(component: str, one: SealedInput, *reads: Read, independent: bool = False, **more: Any) -> SealPlan:
    return SealPlan((SealedComponent(component, ((one,),), reads, **more),), independent)


REPORTERS = Consumers("reporters", "server")
PLANS: dict[str, tuple[Any, str, dict[str, Any], Plan]] = {
    "the cheapest seal": (
        report.CampaignAds,
        "seal",
        {},
        _sealed(
            "report",
            SealedInput("click", ("campaign",), Source("clicks", ("campaign",), REPORTERS)),
            Read("request"),
        ),
    ),
    "the seal that is declared": (
        report.WindowAdsSealed,
        "seal",
        {"independent": True},
        _sealed(
            "report",
            SealedInput("click", ("window",), Source("clicks", ("window",), REPORTERS)),
            Read("request"),
            independent=True,
        ),
    ),
    "an order": (report.PoorAds, "order", {}, OrderPlan((Ordered("report", ("click", "request")),))),
    "a seal that is renamed on its way": (
        shop.Shop,
        "seal",
        {},
        _sealed(
            "kvs",
            SealedInput("kvput", ("key",), Source("actions", ("session",))),
            Read("kvget", ("key",)),
            one_by_one=True,
            watched=("kvstate",),
        ),
    ),
    "an order by ZooKeeper": (
        shop.Shop,
        "order",
        {"service": Service.ZOOKEEPER},
        OrderPlan((Ordered("kvs", ("kvput", "kvget"), ("kvstate",)),), Service.ZOOKEEPER),
    ),
    "a class that is the component": (
        Plain,
        "seal",
        {},
        _sealed("", SealedInput("click", ("campaign",)), Read("request", ("campaign",))),
    ),
}
WHOLE_ORDER = OrderPlan((Ordered("", ("click", "request")),))


@pytest.mark.parametrize("case", PLANS)
def test_plans(case: str) -> None:
    cls, how, options, expected = PLANS[case]
    assert _plan(cls, how, **options) == expected


def _rules(cls: Any) -> list[tuple[str, str, str]]:
    return sorted((rule.target, rule.op.value, rule.block) for rule in program_of(cls).rules)


MADE = {name: (cls, plan) for name, (cls, _, _, plan) in PLANS.items()} | {"an own order": (Plain, WHOLE_ORDER)}


@pytest.mark.parametrize("case", MADE)
def test_the_text_is_the_same_program_as_the_class(case: str, tmp_path: Path) -> None:
    cls, plan = MADE[case]
    made = build_class(cls, plan)
    assert program_of(made).notices == (), "all functions are seen through"
    names = {report.__name__: "ad_report", shop.__name__: "shop", __name__: "plain"}
    file = tmp_path / f"wrapped_{case.replace(' ', '_')}.py"
    text = module_text(cls, plan, made_by="a test", modules=names)
    # The originals are loaded here already, under other names.
    for known, name in names.items():
        text = text.replace(f"from {name} import", f"from {known} import")
    file.write_text(text, encoding="utf-8")
    written = getattr(import_file(file), made.__name__)
    assert _rules(written) == _rules(made)
    assert program_of(written).notices == ()
    assert {c.name: c.schema for c in program_of(written).collections} == {
        c.name: c.schema for c in program_of(made).collections
    }


# -- behaviour ---------------------------------------------------------------------------------------------------


def _answers(node: Any) -> list[tuple[Any, ...]]:
    found: list[tuple[Any, ...]] = []
    while node.machine.pending:
        node.tick()
        found += map(tuple, node.response)
    return sorted(found)


def test_a_sealed_component_by_itself() -> None:
    node: Any = synthesized(Plain, "seal")("a")
    node.click_seals.producers.insert((("spring",), "p"), (("spring",), "q"))
    node.request.insert((1, "spring"))
    node.click.insert(("spring", "car", 1), ("spring", "tea", 2), ("spring", "car", 3))
    node.click_punctuation.insert((("spring",), "p", 3))
    assert _answers(node) == []
    node.click_punctuation.insert((("spring",), "q", 1))
    assert _answers(node) == []
    node.click.insert(("spring", "car", 4))
    assert _answers(node) == [(1, "spring", "tea")]
    node.request.insert((2, "spring"))
    assert _answers(node) == [(2, "spring", "tea")]


def _sealed_shop(seed: int) -> dict[str, Any]:
    """Two stores; a client whose last action, by number, is to empty its cart."""
    sealed: Any = synthesized(shop.Shop, "seal", independent=True)
    nodes: dict[str, Any] = {address: sealed(address) for address in ("client", "store1", "store2")}
    client = nodes["client"]
    client.replicas.insert(("store1",), ("store2",))
    client.actions_consumers.insert(("store1",), ("store2",))
    client.asked.insert(("store1",))
    client.actions.insert(("s", 1, "beer"), ("s", 2, "beer, tea"), ("s", 3, "nothing"))
    client.actions_ended.insert(("s",))
    client.checkouts.insert(("s", 9))
    cluster = RandomNetwork(nodes, seed)
    cluster.settle()
    assert cluster.refused == []
    return nodes


@pytest.mark.parametrize("seed", range(5))
def test_a_sealed_cart_has_the_last_action_at_all_stores(seed: int) -> None:
    nodes = _sealed_shop(seed)
    for address in ("store1", "store2"):
        assert [tuple(row) for row in nodes[address].kvs.kvstate] == [("s", "nothing")]


# -- refusals ----------------------------------------------------------------------------------------------------


class Waiting(Bloom):
    """Its request is about all campaigns, and it looks at what is absent."""

    click = interface.input("campaign", "id", "uid")
    request = interface.input("reqid", "id")
    response = interface.output("reqid", "id", "campaign")
    ads = table("campaign", "id")
    log = table("campaign", "id", "uid")
    blazes = annotated(replicated=["Waiting"], seals={"click": ["campaign"]})

    @bloom
    def query(self) -> None:
        self.log <= self.click
        self.temp.unseen <= self.ads.notin(self.log, campaign="campaign", id="id")
        self.response <= (self.request * self.temp.unseen).pairs(lambda r, u: (r.reqid, r.id, u.campaign), id="id")


class FromChannel(Bloom):
    action = channel("@server", "key", "value")
    asked = interface.input("key")
    answer = interface.output("key", "value")
    state = table("key", val=["value"])

    @bloom
    def replace(self) -> None:
        self.state <+ self.action(lambda a: (a.key, a.value))
        self.state <- (self.state * self.action).lefts(key="key")
        self.answer <= (self.asked * self.state).rights(key="key")


class _Counts(Bloom):
    """Two outputs, each of which is complete with a seal of its own."""

    x = interface.input("k", "v")
    y = interface.input("k", "v")
    of_x = interface.output("k", "n")
    of_y = interface.output("k", "n")
    xs = table("k", "v")
    ys = table("k", "v")

    @bloom
    def store(self) -> None:
        self.xs <= self.x
        self.ys <= self.y


class Beside(_Counts):
    @bloom
    def count(self) -> None:
        self.of_x <= self.xs.group(["k"], n=agg.count())
        self.of_y <= self.ys.group(["k"], n=agg.count())


class OneKeyInCommon(_Counts):
    """The first key that is recommended for one output, k, does nothing for the other."""

    @bloom
    def count(self) -> None:
        self.of_x <= self.xs.group(["k", "v"], n=agg.count()).project("k", "n")
        self.of_y <= self.xs.group(["v"], n=agg.count())


class NoKeyInCommon(_Counts):
    @bloom
    def count(self) -> None:
        self.of_x <= self.xs.group(["k"], n=agg.count())
        self.of_y <= self.xs.group(["v"], n=agg.count())


class NeverComplete(Bloom):
    """What is absent is there for a step only, so that no seal and no order of this run helps."""

    order = interface.input("number")
    cancel = interface.input("number")
    ship = interface.output("number")
    ordered = table("number")

    @bloom
    def decide(self) -> None:
        self.ordered <= self.order
        self.ship <= self.ordered.notin(self.cancel)


@pytest.mark.parametrize(
    ("cls", "seals"),
    [(Beside, {"x": ("k",), "y": ("k",)}), (OneKeyInCommon, {"x": ("v",)})],
)
def test_every_output_gets_the_seal_that_it_needs(cls: Any, seals: dict[str, tuple[str, ...]]) -> None:
    plan = _plan(cls, "seal", independent=True)
    assert isinstance(plan, SealPlan)
    assert {one.interface: one.key for part in plan.components for one in part.inputs} == seals
    made = extract(build_class(cls, plan))
    assert made.notices == () and not analyse(made.dataflow).worst.bad


@pytest.mark.parametrize("seed", range(20))
def test_outputs_with_seals_of_their_own_have_one_outcome(seed: int) -> None:
    rows = {"x": [(1, 1), (1, 2), (2, 3)], "y": [(1, 4), (2, 5), (2, 6)]}
    events = Partitioned(rows, {"x": 0, "y": 0}, 1).events()
    node: Any = synthesized(Beside, "seal", independent=True)("n")
    found = play(node, [], events, random.Random(seed), outputs=["of_x", "of_y"], tables=[])
    assert found.shown == {("of_x", (1, 2)), ("of_x", (2, 1)), ("of_y", (1, 1)), ("of_y", (2, 2))}


@pytest.mark.parametrize(
    ("make", "message", "remedy"),
    [
        (
            lambda: synthesized(NoKeyInCommon, "seal"),
            "NoKeyInCommon: of_x and of_y need seals of one stream on different keys",
            "order the inputs, the same in every run",
        ),
        (
            lambda: synthesized(NeverComplete, "seal"),
            "NeverComplete: no seal helps ship",
            "order the inputs, the same in every run",
        ),
        (
            lambda: synthesized(report.ThreshAds, "seal"),
            "ThreshAds needs no coordination",
            "run it as it is; clew blazes shows why this is so",
        ),
        (
            lambda: synthesized(report.CampaignAdsSealed, "order"),
            "CampaignAdsSealed needs no coordination",
            "run it as it is; clew blazes shows why this is so",
        ),
        (
            lambda: synthesized(report.Campaign, "order"),
            "Campaign: an order that is decided while it runs does not help",
            "runs differ, not replicas: seal the stream (--synthesize seal), or order it at its source",
        ),
        (
            lambda: synthesized(Waiting, "seal"),
            "Waiting: 'request' does not say which partition it is about,"
            " and unseen <= ... (Waiting.query) looks at what is absent",
            "give 'request' the columns campaign, or use an order: --synthesize order",
        ),
        (
            lambda: build_class(FromChannel, _sealed("", SealedInput("action", ("key",)))),
            "FromChannel cannot hold back 'action': 'action' is a channel",
            "only input interfaces can be overridden: let the rules read one, and pass on what arrives",
        ),
        (
            lambda: build_class(FromChannel, OrderPlan((Ordered("kvs", ("put",)),))),
            "FromChannel imports no module as 'kvs'",
            "name a component: report = imported(Report)",
        ),
        (
            lambda: build_class(Plain, _sealed("", SealedInput("nothing", ("campaign",)))),
            "Plain cannot hold back 'nothing': there is no 'nothing'",
            "only input interfaces can be overridden: let the rules read one, and pass on what arrives",
        ),
        (lambda: synthesized(Plain, "both"), "there is no coordination 'both'", "use seal or order"),
    ],
)
def test_refusals(make: Any, message: str, remedy: str) -> None:
    with pytest.raises(UsageError) as refusal:
        make()
    assert (refusal.value.message, refusal.value.remedy) == (message, remedy)


# -- the command -------------------------------------------------------------------------------------------------


def test_the_command_writes_a_module_beside_the_original(tmp_path: Path) -> None:
    original = tmp_path / "ad_report.py"
    original.write_text((BLAZES / "ad_report.py").read_text(encoding="utf-8"), encoding="utf-8")
    done = clew("blazes", "ad_report.py:CampaignAds", "--synthesize", "seal", "-o", "sealed.py", cwd=tmp_path)
    assert done.returncode == 1, "the verdict is about the original"
    assert done.stdout.splitlines()[0] == (
        "INCONSISTENT: ad_report.py:CampaignAds: the contents of answers can differ."
    )
    text = (tmp_path / "sealed.py").read_text(encoding="utf-8")
    assert "\nfrom ad_report import Campaign, CampaignAds\n" in text
    assert max(map(len, text.splitlines())) <= 115
    read = clew("calm", "sealed.py:SealedCampaign", cwd=tmp_path)
    assert read.stdout.splitlines()[0] == (
        "DEPENDS ON THE SEQUENCE OF STEPS: SealedCampaign (43 collections, 45 rules, 4 outputs)"
    )
    printed = clew("blazes", "ad_report.py:CampaignAds", "--synthesize", "seal", cwd=tmp_path, PYTHONHASHSEED="7")
    assert printed.stdout == text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["ad-report.yaml", "--synthesize", "seal"], "--synthesize is for Bloom programs"),
        (["ad_report.py:CampaignAds", "-o", "x.py"], "-o is for --synthesize"),
        (
            ["ad_report.py:PoorAds", "--seal", "clicks=campaign", "--synthesize", "seal"],
            "PoorAds: with clicks sealed on campaign there is still Split",
        ),
        (
            ["ad_report.py:PoorAds", "--emit-yaml", "-", "--synthesize", "order"],
            "--emit-yaml and --synthesize cannot both be printed",
        ),
    ],
)
def test_what_the_command_refuses(arguments: list[str], message: str) -> None:
    done = clew("blazes", *arguments, cwd=BLAZES)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
