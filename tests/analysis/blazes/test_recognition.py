"""A class that was made by ``--synthesize`` is recognised as coordinated; one that was tampered with is not."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from clew.analysis.blazes import analyse
from clew.analysis.blazes.extraction.system import Extraction, extract
from clew.files.python_module import import_file
from clew.frontends.bloom import open_bloom
from command import ROOT, clew

BLAZES = ROOT / "examples" / "blazes"

#: The program, how it is coordinated, the class that is made, its label without and with that, and what is said.
MADE = {
    "sealed_ads": (
        ("ad_report.py:CampaignAds", "seal", "SealedCampaignAds"),
        ("Split", "Async"),
        ("report.click is sealed on campaign", "report.request waits for what is sealed"),
    ),
    "ordered_ads": (
        ("ad_report.py:CampaignAds", "order", "OrderedCampaignAds"),
        ("Split", "Run"),
        tuple(f"report.{name} is ordered, the same for all replicas" for name in ("click", "request")),
    ),
    "component": (
        ("ad_report.py:Campaign", "seal", "SealedCampaign"),
        ("Run", "Async"),
        ("click is sealed on campaign", "request waits for what is sealed"),
    ),
    "sealed_shop": (
        ("shop.py:Shop", "seal", "SealedShop"),
        ("Split", "Async"),
        ("kvs.kvput is sealed on key", "kvs.kvget waits for what is sealed"),
    ),
    "ordered_shop": (
        ("shop.py:Shop", "order", "OrderedShop"),
        ("Split", "Run"),
        tuple(f"kvs.{name} is ordered, the same for all replicas" for name in ("kvput", "kvget")),
    ),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("made")
    for name in ("ad_report.py", "shop.py"):
        shutil.copy(BLAZES / name, made)
    for name, ((where, how, _), _, _) in MADE.items():
        done = clew("blazes", str(made / where), "--synthesize", how, "-o", str(made / f"{name}.py"))
        assert done.returncode == 1, done.stderr
    return made


def _label(extraction: Extraction) -> str:
    (sink,) = analyse(extraction.dataflow).sinks
    return str(sink.label)


@pytest.mark.parametrize("name", MADE)
def test_a_class_that_was_made_is_recognised(folder: Path, name: str) -> None:
    (where, _, made), (before, after), said = MADE[name]
    assert _label(open_bloom(str(folder / where)).extract()) == before
    extraction = open_bloom(f"{folder / name}.py:{made}").extract()
    assert (extraction.coordination, extraction.notices) == (said, ())
    assert _label(extraction) == after


def test_the_command_says_what_is_coordinated(folder: Path) -> None:
    done = clew("blazes", f"{folder / 'sealed_ads'}.py:SealedCampaignAds")
    assert (done.returncode, done.stderr) == (0, "")
    _, _, said = done.stdout.partition("\ncoordination:\n")
    first, second, *_ = said.splitlines()
    assert [first.strip(), second.strip()] == list(MADE["sealed_ads"][2])


def _added(rule: str, block: str = "more") -> str:
    return f"\n    @bloom\n    def {block}(self) -> None:\n        {rule}\n\n\nclass SealedCampaignAds("


_SYSTEM = "\n\nclass SealedCampaignAds("
_HOLD = "self.click_seals.row <= self.click(lambda r: ((r.campaign,), (r.campaign, r.window, r.id, r.uid)))"
_OPENED = "self.request_reads.opened <= self.click_seals.opened"
_WAIT = "self.kvput_turns.wait <= self.settling.busy"
_VOTE = "from clew.coordination import ReadsOfAll, Sealer, VotedSeals, sealed, system"
_OWN_VOTE = (
    _VOTE.replace("VotedSeals, ", "")
    + "\nfrom clew.coordination import VotedSeals as Voted"
    + "\n\n\nclass VotedSeals(Voted):\n    @bloom\n    def vote(self) -> None:"
    + '\n        self.ripe <= self.votes.project("partition")\n'
)

#: The module that was made, what is replaced in it, by what, and why it is no longer recognised.
TAMPERED = {
    "a rule reads the rows that are held back": (
        "sealed_ads",
        _SYSTEM,
        _added("self.response <= (self.request * self.click).pairs(lambda r, c: (r.client, r.id, c.campaign))"),
        "response is not of the coordination",
    ),
    "a rule lets rows in before their time": (
        "sealed_ads",
        _SYSTEM,
        _added("self.click <= self.click"),
        "click is read by 2 rules",
    ),
    "a rule lets other rows in": (
        "sealed_ads",
        _SYSTEM,
        _added("self.click <+ self.click_seals.late(lambda r: r.content)"),
        "Report.click is written by 2 rules",
    ),
    "a rule stores what is held back": (
        "sealed_ads",
        _SYSTEM,
        _added("self.log <= self.click_seals.row(lambda r: r.content)"),
        "log is not of the coordination",
    ),
    "rows are their own punctuation": (
        "sealed_ads",
        _SYSTEM,
        _added('self.click_seals.punctuation <= self.click(lambda r: ((r.campaign,), "me", 1))'),
        "click_seals.punctuation is no word of a producer",
    ),
    "punctuations are made up": (
        "sealed_ads",
        _SYSTEM,
        _added('self.click_seals.punctuation <= self.request(lambda r: ((r.id,), "me", 0))'),
        "click_seals.punctuation is no word of a producer",
    ),
    "requests open partitions themselves": (
        "sealed_ads",
        _OPENED,
        "self.request_reads.opened <= self.request(lambda r: ((r.id,),))",
        "request_reads.opened depends on more than coordination",
    ),
    "requests do not wait": (
        "sealed_ads",
        "self.request <+ self.request_reads.due(lambda d: d.content)",
        "self.request <+ self.request",
        "request is read by 2 rules",
    ),
    "requests wait for nothing": ("sealed_ads", _OPENED, "pass", "request does not wait for what it asks for"),
    "another key than it says": (
        "sealed_ads",
        _HOLD,
        _HOLD.replace("(r.campaign,)", "(r.id,)"),
        "click is not held back by campaign",
    ),
    "another row than it was": (
        "sealed_ads",
        _HOLD,
        _HOLD.replace("r.id, r.uid)", "r.id, r.id)"),
        "click is not held back by campaign",
    ),
    "a vote that does not wait": ("sealed_ads", _VOTE, _OWN_VOTE, "click_seals is not of clew.coordination"),
    "a rule of the original is another one": (
        "sealed_ads",
        _SYSTEM,
        _added("self.response <= self.request(lambda r: (r.client, r.id, 0))", "query"),
        "a rule of Campaign is missing",
    ),
    "the module is written to from the system": (
        "sealed_ads",
        "self.report.click_punctuation <= self.clicks_punctuation.payloads()",
        'self.report.click_punctuation <= self.clicks(lambda r: ((r.campaign,), "me", 1))',
        "report.click_punctuation depends on more than coordination",
    ),
    "a producer that did not say so": (
        "sealed_ads",
        "self.clicks_sealer.ended <= self.clicks_ended(lambda e: ((e.campaign,),))",
        "self.clicks_sealer.ended <= self.clicks(lambda e: ((e.campaign,),))",
        "clicks_sealer.ended is no word of a producer",
    ),
    "more is asked of the original": (
        "sealed_ads",
        "    clicks_ended = interface",
        '    peeked = interface.output("id")\n    clicks_ended = interface',
        "peeked is an output that the original does not have",
    ),
    "an input that is not held back": (
        "sealed_ads",
        ', reads=["request"])',
        ")",
        "a rule of Campaign is missing",
    ),
    "turns that do not wait": (
        "sealed_shop",
        _WAIT,
        "pass",
        "kvput_turns does not wait until what it let in has settled",
    ),
    "an order that is gone round": (
        "ordered_ads",
        "self.click <+ self.in_order.filter",
        "self.click <= self.click\n        self.click <+ self.in_order.filter",
        "click is read by 2 rules",
    ),
    "rows of another stream in the order": (
        "ordered_ads",
        'self.in_order.filter(lambda o: o.stream == "report.click")',
        'self.in_order.filter(lambda o: o.stream != "report.request")',
        "click is not what was ordered",
    ),
    "rows that nobody has ordered": (
        "ordered_ads",
        'self.report.in_order <= self.order.released.project("stream", "content")',
        "self.report.in_order <= self.report.to_order",
        "report does not do what OrderedCampaign does",
    ),
    "an order that does not wait": (
        "ordered_shop",
        "self.order.wait <= self.kvs.unsettled",
        "pass",
        "order does not wait until what it let in to kvs has settled",
    ),
}


@pytest.mark.parametrize("what", TAMPERED)
def test_a_class_that_was_tampered_with_is_judged_by_its_rules(folder: Path, what: str) -> None:
    name, old, new, why = TAMPERED[what]
    text = (folder / f"{name}.py").read_text(encoding="utf-8")
    assert text.count(old) == 1
    number = list(TAMPERED).index(what)
    file = folder / f"tampered_{number}.py"
    file.write_text(text.replace(old, new), encoding="utf-8")
    module: Any = import_file(file)
    extraction = extract(getattr(module, MADE[name][0][2]))
    assert extraction.coordination == ()
    assert any(why in notice.message for notice in extraction.notices), extraction.notices
    assert analyse(extraction.dataflow).worst.bad


def test_a_subclass_of_a_coordinated_class_is_not_coordinated(folder: Path) -> None:
    """It has rules that the record knows nothing of."""
    module: Any = import_file(folder / "sealed_ads.py")
    extraction = extract(type("More", (module.SealedCampaignAds,), {}))
    assert extraction.coordination == ()
    assert analyse(extraction.dataflow).worst.bad


def test_a_class_that_only_says_so(folder: Path) -> None:
    """The record of another class, and no coordination at all."""
    module: Any = import_file(folder / "sealed_ads.py")
    names = {"coordination": module.SealedCampaign.coordination}
    extraction = extract(type("Named", (module.Campaign,), names))
    assert extraction.coordination == ()
    assert [n.message for n in extraction.notices] == [
        "Named is not coordinated as it says: click is not declared again"
    ]
    assert analyse(extraction.dataflow).worst.bad
