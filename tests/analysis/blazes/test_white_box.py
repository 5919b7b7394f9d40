"""Annotations from Bloom programs: those of section 4.5 of the thesis, and a program for each rule."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.blazes import extracted_programs as programs
from analysis.blazes.dataflows import stream_labels
from clew.analysis.blazes import Dataflow, analyse
from clew.analysis.blazes.extraction import annotated
from clew.analysis.blazes.extraction.system import Extraction, extract
from clew.analysis.blazes.yaml.reading import parse_dataflow
from clew.analysis.blazes.yaml.writing import dataflow_yaml
from clew.bloom.language.module import Module
from clew.errors import ClewError
from clew.frontends.bloom import open_bloom
from command import ROOT, clew

ADS = ROOT / "examples/blazes/ad_report.py"
CART = ROOT / "examples/blazes/shop.py"


def _annotations(dataflow: Dataflow) -> dict[str, str]:
    """``component: input → output`` and the annotation."""
    return {
        f"{c.name}: {p.source} → {p.target}": str(p.annotation) for c in dataflow.components for p in c.paths
    }


def _paths(module: type[Module]) -> dict[str, str]:
    (component,) = extract(module).dataflow.components
    return {f"{p.source} → {p.target}": str(p.annotation) for p in component.paths}


def _labels(dataflow: Dataflow) -> dict[str, str]:
    return {name: str(label) for name, label in stream_labels(dataflow).items()}


def _line_of(file: Path, text: str) -> int:
    (line,) = (k for k, one in enumerate(file.read_text(encoding="utf-8").splitlines(), 1) if text in one)
    return line


# -- section 4.5 -------------------------------------------------------------------------------------------------

#: The four queries; the thesis calls the input ``result`` of the cache ``response``, and its output ``miss``
#: ``request``, for which Bloom needs names of their own.
QUERIES = [("Thresh", "CR"), ("Poor", "OR[id]"), ("Window", "OR[id,window]"), ("Campaign", "OR[campaign,id]")]


@pytest.mark.parametrize(("query", "annotation"), QUERIES)
def test_the_annotations_of_the_ad_report(query: str, annotation: str) -> None:
    assert _annotations(open_bloom(f"{ADS}:{query}Ads").extract().dataflow) == {
        "report: click → response": "CW",
        "report: request → response": annotation,
        "cache: request → response": "CR",
        "cache: request → miss": "CR",
        "cache: result → response": "CW",
    }


@pytest.mark.parametrize("name", ["Shop", "SealedShop"])
def test_the_annotations_of_the_cart(name: str) -> None:
    assert _annotations(open_bloom(f"{CART}:{name}").extract().dataflow) == {
        "cart: action → put": "CR",
        "cart: checkout → get": "CR",
        "cart: get_response → response": "CR",
        "kvs: kvput → kvget_response": "OW[key]",
        "kvs: kvget → kvget_response": "OR[key]",
    }


@pytest.mark.parametrize(
    ("where", "label"),
    [
        (f"{ADS}:ThreshAds", "Async"),
        (f"{ADS}:PoorAds", "Split"),
        (f"{ADS}:WindowAds", "Split"),
        (f"{ADS}:CampaignAds", "Split"),
        (f"{ADS}:WindowAdsSealed", "Async"),
        (f"{ADS}:CampaignAdsSealed", "Async"),
        (f"{CART}:Shop", "Split"),
        (f"{CART}:SealedShop", "Async"),
    ],
    ids=lambda value: value.rpartition(":")[2],
)
def test_the_label_of_the_sink_also_from_the_file_that_is_written(where: str, label: str) -> None:
    dataflow = open_bloom(where).extract().dataflow
    assert [str(sink.label) for sink in analyse(dataflow).sinks] == [label]
    written = parse_dataflow(dataflow_yaml(dataflow))
    assert written == dataflow
    assert _labels(written) == _labels(dataflow)


def test_poor_sealed_on_campaign() -> None:
    dataflow = open_bloom(f"{ADS}:PoorAds").extract().dataflow.with_seal("clicks", frozenset({"campaign"}))
    assert _labels(dataflow)["answers"] == "Split"


@pytest.mark.parametrize("query", ["Poor", "Window", "Campaign"])
def test_replicas_of_the_report_disagree_and_the_caches_keep_it(query: str) -> None:
    assert _labels(open_bloom(f"{ADS}:{query}Ads").extract().dataflow) == {
        "clicks": "Async",
        "requests": "Async",
        "misses": "Async",
        "results": "Inst",
        "answers": "Split",
    }


def test_the_session_is_followed_to_the_key() -> None:
    assert _labels(open_bloom(f"{CART}:SealedShop").extract().dataflow) == {
        "actions": "Seal[session]",
        "checkouts": "Async",
        "puts": "Seal[session]",
        "gets": "Async",
        "values": "Async",
        "carts": "Async",
    }


def test_the_cart_that_computes_its_contents_from_the_old_ones() -> None:
    """Listing 3.8 of the thesis: puts partition by session, and what is read before by request number."""
    extraction = open_bloom(f"{ROOT / 'examples/bloom/cart.py'}:SingleDestructiveCart").extract()
    assert _annotations(extraction.dataflow) == {
        "SingleDestructiveCart: action_msg → response_msg": "OW[*]",
        "SingleDestructiveCart: checkout_msg → response_msg": "OW[*]",
    }


def test_a_remark_says_which_rule_is_behind_an_annotation() -> None:
    extraction = open_bloom(f"{ADS}:PoorAds").extract()
    (remark,) = extraction.remarks["report", "request", "response"]
    assert remark.position is not None
    assert (remark.text, remark.position.file) == ("count over report.log", str(ADS))
    assert remark.position.line == _line_of(ADS, 'self.temp.poor <= self.log.group(["id"]')


def test_that_requests_are_repeated_is_remarked_upon() -> None:
    (remark,) = open_bloom(f"{ADS}:ThreshAds").extract().remarks["report", "request", "response"]
    assert remark.text == (
        "report.click and report.request meet, and it is open which comes first; report.request is asked again"
    )


# -- the rules of extraction -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("program", "paths"),
    [
        (programs.Filtered, {"given → out": "CR"}),
        (programs.Logged, {"given → out": "CW"}),
        (programs.Counted, {"given → out": "OW[a]"}),
        (programs.CountedOnce, {"given → out": "OR[a]"}),
        (programs.CountedInAll, {"given → out": "OW[*]"}),
        (programs.CountedRenamed, {"given → out": "OW[a]"}),
        (programs.CountedComputed, {"given → out": "OW[*]"}),
        (programs.CountedByAnOpaqueFunction, {"given → out": "OW[*]"}),
        (programs.CountedFromTwo, {"given → out": "OW[a]", "other → out": "OW[a]"}),
        (programs.CountedFromTwoThatDiffer, {"given → out": "OW[*]", "other → out": "OW[*]"}),
        (programs.CountedFromTwoNames, {"given → out": "OW[a,x]", "other → out": "OW[a,x]"}),
        (programs.CountedTwice, {"given → out": "OW[a]"}),
        (programs.Threshold, {"given → out": "CW"}),
        (programs.Newest, {"given → out": "OW[a]"}),
        (programs.Without, {"given → out": "OR[b]", "other → out": "CW"}),
        (programs.WithoutFixed, {"given → out": "CR"}),
        (programs.Completed, {"given → out": "OR[a]", "other → out": "OR[a]"}),
        (programs.AskedBefore, {"given → out": "CW", "ask → out": "OR[a]"}),
        (programs.AskedAfter, {"given → out": "CW", "ask → out": "OR[a]"}),
        (programs.AskedAndStored, {"given → out": "OW[a]", "ask → out": "OW[a]"}),
        (programs.AskedByAClock, {"given → out": "CW", "clock → out": "OR[a]"}),
        (programs.Overwritten, {"given → out": "OW[a]", "ask → out": "OR[a]"}),
        (programs.Flushed, {"given → out": "OW[a]", "flush → out": "OW[a]", "ask → out": "OR[a]"}),
        (programs.Remembered, {"given → out": "CW"}),
        (programs.InALattice, {"given → out": "CW"}),
        (programs.EqualByTest, {"given → out": "OR[a]", "ask → out": "OR[a]"}),
        (programs.MetInOneStep, {"given → out": "OR[a]", "other → out": "OR[a]"}),
        (programs.MetInOneStepByTwo, {"given → out": "OR[a,b]", "other → out": "OR[a,b]"}),
        (programs.MetByThree, {"given → out": "OR[*]", "other → out": "OR[*]", "third → out": "OR[*]"}),
        (programs.ThresholdOfOneStep, {"given → out": "OR[a]"}),
        (programs.AskedOnce, {"given → out": "CW", "ask → out": "OR[a,b]"}),
        (programs.AskedAgain, {"given → out": "CW", "ask → out": "CR"}),
        (
            programs.AskedAgainWithAnother,
            {"given → out": "CW", "ask → out": "OR[*]", "other → out": "OR[*]"},
        ),
        (programs.MeetsItself, {"given → out": "OW[b]"}),
        (programs.Closure, {"given → out": "OW[*]"}),
        (programs.CountsWhoAsks, {"given → out": "CW", "ask → out": "OR[*]"}),
        (programs.CountsAcrossWhoAsks, {"given → out": "CW", "ask → out": "OR[*]"}),
        (
            programs.AsksAndWritesDown,
            {"given → out": "OW[a]", "ask → asked": "CW", "ask → out": "OW[*]"},
        ),
        (programs.CountedBehindAChannel, {"given → out": "OW[*]"}),
        (programs.DisorderlyCart, {"action → response": "CW", "checkout → response": "OR[session]"}),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_annotations(program: type[Module], paths: dict[str, str]) -> None:
    assert _paths(program) == paths


def _lineage(extraction: Extraction, component: str, source: str) -> list[str]:
    (found,) = (c for c in extraction.dataflow.components if c.name == component)
    (path,) = (p for p in found.paths if p.source == source)
    return [f"{', '.join(d.source)} → {', '.join(d.target)}" for d in path.lineage.dependencies]


@pytest.mark.parametrize(
    ("program", "source", "lineage"),
    [
        (programs.Filtered, "given", ["a → a", "b → b"]),
        (programs.CountedRenamed, "given", ["a → a"]),
        (programs.CountedComputed, "given", []),
        (programs.CountedFromTwoThatDiffer, "given", ["a → a"]),
        (programs.Newest, "given", ["a → a"]),
        (programs.Without, "given", ["a → a", "b → b"]),
        (programs.Without, "other", ["b → b"]),
        (programs.Overwritten, "given", ["a → a"]),
        (programs.EqualByTest, "ask", ["b → a"]),
        (programs.SelfJoined, "given", ["a → a"]),
        (programs.TwoWays, "given", ["b → b"]),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_lineage(program: type[Module], source: str, lineage: list[str]) -> None:
    assert _lineage(extract(program), program.__name__, source) == lineage


# -- systems -----------------------------------------------------------------------------------------------------


def test_rules_that_rename_are_a_component() -> None:
    dataflow = extract(programs.Renaming).dataflow
    assert _annotations(dataflow) == {
        "store: given → out": "OW[a]",
        "Renaming: rows → store_given": "CR",
    }
    assert _labels(dataflow) == {
        "rows": "Seal[x]",
        "store_given": "Seal[x]",
        "counts": "Seal[x]",
    }


def test_an_input_that_feeds_two_components_is_two_streams() -> None:
    dataflow = extract(programs.Fan).dataflow
    assert _labels(dataflow) == {
        "rows-first-given": "Seal[a]",
        "rows-second-given": "Seal[a]",
        "one": "Seal[a]",
        "two": "Run",
    }


def test_what_is_connected_to_nothing_is_left_out_with_a_notice() -> None:
    extraction = extract(programs.HalfConnected)
    assert _annotations(extraction.dataflow) == {"store: ask → out": "OR[a]"}
    assert [notice.message for notice in extraction.notices] == [
        "nothing is connected to the input interface store.given: its paths are left out"
    ]


def test_rows_that_are_always_there_are_a_source() -> None:
    assert _labels(extract(programs.AskedAllTheTime).dataflow) == {
        "rows": "Async",
        "store-ask": "Async",
        "counts": "Run",
    }


def test_what_a_module_stores_is_a_sink() -> None:
    assert _labels(extract(programs.Backend).dataflow) == {"rows": "Async", "store-log": "Async"}


def test_declared_dependencies_complete_a_gate() -> None:
    assert _labels(extract(programs.Injective).dataflow) == {"given": "Seal[b]", "out": "Seal[b]"}


@pytest.mark.parametrize(
    ("program", "label"),
    [
        (programs.CountedOnce, "Run"),
        (programs.CountedByReplicas, "Inst"),
        (programs.MetInOneStep, "Run"),
        (programs.ThresholdOfOneStep, "Run"),
        (programs.AskedOnce, "Run"),
        (programs.AskedAgain, "Async"),
        (programs.TwoCounts, "Run"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_what_comes_together_by_chance_is_not_consistent(program: type[Module], label: str) -> None:
    assert [str(sink.label) for sink in analyse(extract(program).dataflow).sinks] == [label]


@pytest.mark.parametrize(
    ("program", "label"),
    [(programs.Drawn, "Run"), (programs.DrawnByReplicas, "Inst"), (programs.DrawnAndKept, "Split")],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_no_coordination_helps_against_chance(program: type[Module], label: str) -> None:
    dataflow = extract(program).dataflow
    (sink,) = analyse(dataflow).sinks
    assert (str(sink.label), sink.remedies) == (label, ())
    (chance,) = (s for s in dataflow.streams if s.source is None and s.label.bad)
    assert chance.target is not None
    remarks = extract(program).remarks[program.__name__, chance.target.interface, "out"]
    assert any("random" in remark.text for remark in remarks)
    assert parse_dataflow(dataflow_yaml(dataflow)) == dataflow


def test_an_output_that_no_input_leads_to_can_differ() -> None:
    (sink,) = analyse(extract(programs.SentConstants).dataflow).sinks
    assert (sink.stream.name, str(sink.label)) == ("out", "Run")
    assert not any(remedy.seals for remedy in sink.remedies)


# -- refusals ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("program", "message", "remedy"),
    [
        (programs.Empty, "Empty has no path from an input to an output", "give it interface.input(...)"),
        (programs.BadReplica, "'stores' is replicated, and there is no such component", "there are: store"),
        (programs.BadSeal, "there is no stream 'clicks'", "there are: rows, counts"),
        (programs.BadKey, "the stream 'rows' does not carry z", "there are: a, b"),
        (
            programs.BadRepetition,
            "'store.asked' is repeated, and there is no such input",
            "there are: store.given, store.out, rows",
        ),
        (programs.BadDeclaration, "BadDeclaration.blazes is 'store'", "write blazes = annotated(...)"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_refused(program: type[Module], message: str, remedy: str) -> None:
    with pytest.raises(ClewError) as caught:
        extract(program)
    assert caught.value.message == message
    assert (caught.value.remedy or "").startswith(remedy)


def test_a_key_is_a_list_of_names() -> None:
    with pytest.raises(ClewError, match="the key of a seal must be a list of names, not 'campaign'"):
        annotated(seals={"clicks": "campaign"})


# -- the command -------------------------------------------------------------------------------------------------


def test_the_command_extracts_and_writes(tmp_path: Path) -> None:
    written, page = tmp_path / "ads.yaml", tmp_path / "ads.html"
    where = "examples/blazes/ad_report.py:CampaignAds"
    done = clew("blazes", where, "--emit-yaml", str(written), "--report", str(page))
    assert (done.returncode, done.stderr) == (1, f"the report is in {page}\n")
    assert "  remedy: seal clicks on campaign; then it is Async" in done.stdout.splitlines()
    verdict, _, extracted = done.stdout.partition("extracted annotations:\n")
    line = _line_of(ADS, 'self.log.group(["id", "campaign"]')
    assert extracted.splitlines()[:3] == [
        "  report: click → response is CW",
        "  report: request → response is OR[campaign,id]",
        f"    count over report.log (examples/blazes/ad_report.py:{line})",
    ]
    again = clew("blazes", str(written))
    assert again.returncode == 1
    assert again.stdout.replace(str(written), where) == verdict.removesuffix("\n")
    html = page.read_text(encoding="utf-8")
    assert html.count(">request → response  OR[campaign,id]<") == 1
    assert html.count(">seal on campaign<") == 1
    assert clew("blazes", where, "--seal", "clicks=campaign").returncode == 0


@pytest.mark.parametrize("seed", ["1", "2"])
def test_the_same_file_whatever_the_hash_seed(seed: str) -> None:
    done = clew("blazes", "examples/blazes/shop.py:SealedShop", "--emit-yaml", "-", PYTHONHASHSEED=seed)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0] == "# Extracted from examples/blazes/shop.py:SealedShop."
    assert lines[5] == "    - { from: checkout, to: get, label: CR, lineage: { reqid: reqid, session: key } }"
    assert lines[-1] == "  - { name: carts, from: cart.response, attributes: [session, items] }"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["examples/blazes/shop.py"], "examples/blazes/shop.py: defines 4 Bloom classes"),
        (["examples/blazes/shop.py:Cart2"], "examples/blazes/shop.py: defines no Bloom class 'Cart2'"),
        (["examples/blazes/no.py:Cart"], "examples/blazes/no.py: no such file"),
        (["examples/blazes/shop.py:Shop", "--variant", "A=B"], "--variant is for the variants of a dataflow file"),
        (
            ["examples/blazes/shop.py:Shop", "--json", "-", "--emit-yaml", "-"],
            "--json and --emit-yaml cannot both be printed",
        ),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else None,
)
def test_bad_usage(arguments: list[str], message: str) -> None:
    done = clew("blazes", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines()[0] == f"error: {message}"
