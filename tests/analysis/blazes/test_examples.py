"""The worked results of section 4.5 of the thesis, from the files in examples/blazes."""

from __future__ import annotations

import pytest

from analysis.blazes.dataflows import stream_labels
from clew.analysis.blazes import analyse
from clew.analysis.blazes.yaml.reading import load_dataflow, parse_dataflow
from command import ROOT

FOLDER = ROOT / "examples/blazes"

#: The file, the query of the ad report, and the label of the sink.
RESULTS = [
    ("word-count", None, "Run"),
    ("word-count-sealed", None, "Async"),
    ("ad-report", "THRESH", "Async"),
    ("ad-report", "POOR", "Split"),
    ("ad-report", "WINDOW", "Split"),
    ("ad-report", "CAMPAIGN", "Split"),
    ("ad-report-sealed-campaign", "CAMPAIGN", "Async"),
    ("ad-report-sealed-campaign", "POOR", "Split"),
    ("ad-report-sealed-campaign", "WINDOW", "Split"),
    ("ad-report-sealed-campaign", "THRESH", "Async"),
    ("ad-report-sealed-window", "WINDOW", "Async"),
    ("ad-report-sealed-window", "POOR", "Split"),
    ("cart", None, "Split"),
    ("cart-sealed", None, "Async"),
]


@pytest.mark.parametrize(("name", "query", "label"), RESULTS)
def test_the_label_of_the_sink(name: str, query: str | None, label: str) -> None:
    verdict = analyse(load_dataflow(FOLDER / f"{name}.yaml", {"Report": query} if query else {}))
    assert [str(sink.label) for sink in verdict.sinks] == [label]


@pytest.mark.parametrize(
    ("name", "replicated", "label"),
    [("word-count", False, "Run"), ("word-count", True, "Inst"), ("word-count-sealed", True, "Async")],
)
def test_words_that_are_counted_and_not_kept(name: str, replicated: bool, label: str) -> None:
    """A read that meets nothing that is sealed is not consistent, however lonely it is."""
    text = (FOLDER / f"{name}.yaml").read_text(encoding="utf-8").replace("label: OW", "label: OR")
    assert "label: OR" in text
    flow = parse_dataflow(text.replace("Count:\n", "Count:\n  Rep: true\n") if replicated else text)
    assert [str(sink.label) for sink in analyse(flow).sinks] == [label]


def test_every_example_has_a_result() -> None:
    assert {path.stem for path in FOLDER.glob("*.yaml")} == {name for name, _, _ in RESULTS}


@pytest.mark.parametrize("query", ["POOR", "WINDOW", "CAMPAIGN"])
def test_replicas_of_the_report_disagree_and_the_caches_keep_it(query: str) -> None:
    labels = stream_labels(load_dataflow(FOLDER / "ad-report.yaml", {"Report": query}))
    assert {name: str(label) for name, label in labels.items()} == {
        "clicks": "Async",
        "requests": "Async",
        "misses": "Async",
        "results": "Inst",
        "answers": "Split",
    }


@pytest.mark.parametrize("name", ["word-count", "ad-report", "cart"])
def test_sealed_files_differ_in_the_seal_only(name: str) -> None:
    plain = load_dataflow(FOLDER / f"{name}.yaml")
    for path in sorted(FOLDER.glob(f"{name}-sealed*.yaml")):
        sealed = load_dataflow(path, {"Report": "CAMPAIGN"} if name == "ad-report" else {})
        (stream,) = (s for s in sealed.streams if s.seals)
        assert plain.with_seal(stream.name, stream.seals[0]) == sealed
