"""What the report of each kind of verdict and run shows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from clew import check
from clew.budgets.deadline import Deadline
from clew.errors import BudgetExhaustedError
from clew.explain.distance import Distances
from clew.explain.explainer import Explainer, Margin
from clew.report.verdict.page import verdict_page
from clew.report.verdict.text import verdict_text
from command import ROOT
from report.verdict.pages import (
    VERDICTS,
    Read,
    checked,
    explainer_of,
    html,
    page_of,
    read,
)

pytestmark = pytest.mark.usefixtures("at_the_root")


def test_the_counterexample_of_kafka() -> None:
    page = read("counterexample")
    data = page.data
    assert page.text("answer") == "COUNTEREXAMPLE"
    assert [f["code"] for f in data["runs"][data["first"]]["faults"]] == ["O(b,Z,1)", "O(c,Z,1)", "C(a,4)"]
    assert [len(r["whys"]) for r in data["runs"]] == [0, 1]
    supports = data["runs"][1]["whys"][0]["supports"]
    assert len(supports) == 9
    assert supports[0]["needs"] == [["write C→a@1", False], ["a never crashes", True]]
    assert supports[0]["falsifier"] == [
        ["O(C,a,1)", "possible"],
        ["C(C,1)", "possible"],
        ["C(a,1)…C(a,3)", "possible"],
        ["C(a,4)", "happened"],
        ["C(a,5)", "possible"],
    ]
    assert ["O(C,a,4)", "beyond"] in supports[2]["falsifier"]
    (why,) = data["runs"][1]["whys"]
    assert why["lead"] == "Why pre(C, w1): each of the faults is needed:"
    assert why["kept"] == "Given 'pre', post(C, w1) had 9 supports without faults; each is cut:"
    lost = ["awaited(a, w1)@3", "no acked a→C@3"]
    assert why["without"] == [
        ["without O(b,Z,1)", ["report b→Z@1 arrives", "isr(b) Z→a@2", *lost], "pre(C, w1) does not hold"],
        ["without O(c,Z,1)", ["report c→Z@1 arrives", "isr(c) Z→a@2", *lost], "pre(C, w1) does not hold"],
        ["without C(a,4)", ["a stays up"], "post(C, w1) holds"],
    ]
    assert why["arose"] == [
        [1, ["report b→Z is lost: O(b,Z,1)", "report c→Z is lost: O(c,Z,1)"]],
        [3, ["acked a→C"]],
        [4, ["a crashes: C(a,4)"]],
        [6, ["pre(C, w1) holds, post(C, w1) does not"]],
    ]
    assert len(data["graphs"]) == 1
    assert not page.elements("section", id="margins") and not page.elements("section", id="executions")
    assert not page.elements("button", **{"class": "choice"}), "one run needs no choice"


def test_the_page_of_kafka_is_small() -> None:
    assert len(html("counterexample").encode()) <= 2_000_000
    assert len(page_of(checked("kafka", find_all=True)).encode()) <= 2_000_000


def test_every_counterexample_can_be_chosen() -> None:
    page, verdict = read("all counterexamples"), VERDICTS["all counterexamples"]()
    choices = page.elements("button", **{"class": "choice"})
    assert len(choices) == len(verdict.counterexamples) == 3
    shown = [page.data["runs"][int(c["data-run"] or "-1")] for c in choices]
    assert [" ".join(f["code"] for f in s["faults"]) for s in shown] == [
        str(c.faults) for c in verdict.counterexamples
    ]
    assert all(s["left"] is not None and s["whys"] for s in shown)


def test_a_certificate_has_three_samples_and_margins() -> None:
    page = read("certified")
    assert page.text("answer") == "CERTIFIED"
    choices = page.elements("button", **{"class": "choice"})
    assert len(choices) == 4, "three samples and the failure-free run"
    assert [page.data["runs"][int(c["data-run"] or "-1")]["violated"] for c in choices] == [[], [], [], []]
    assert [len(page.data["runs"][int(c["data-run"] or "-1")]["faults"]) for c in choices] == [31, 31, 31, 0]
    assert page.elements("section", id="margins")
    figures = page.texts["figure"]
    assert figures == ["1", "10", "4", "1", "5", "4", "1", "5", "4", "1"], "the first is about any row"
    assert len(page.data["graphs"]) == 3


def test_an_incomplete_answer_says_that_it_is_no_proof() -> None:
    page = read("incomplete")
    assert page.text("answer") == "INCOMPLETE"
    assert "this is no proof" in page.text("summary")
    assert page.data["first"] == 0
    assert len(page.elements("button", **{"class": "open"})) == 12
    assert not page.elements("section", id="margins")


def test_a_sweep_says_where_it_ended_and_how_to_go_on() -> None:
    page = read("sweep")
    assert page.text("answer") == "CERTIFIED"
    assert "The sweep ended here: the effort of the sweep is used up at EOT " in html("sweep")
    assert "give a larger --effort" in html("sweep")


def test_a_counterexample_that_may_not_be_the_smallest_is_not_called_minimal() -> None:
    found = check(ROOT / "examples" / "kafka.ded")
    verdict = replace(found, reason="the effort of the sweep is used up; fewer faults may do")
    line = "he search was not finished: the effort of the sweep is used up; fewer faults may do"
    assert f"T{line}." in verdict_page(verdict, ["kafka.ded"], explainer_of(verdict), lambda stage: None)
    text = verdict_text(verdict, ["kafka.ded"])
    assert text.splitlines()[1] == f"  t{line}"
    assert "minimal" not in text


def test_a_sweep_that_was_stopped_says_what_is_certified() -> None:
    page = read("stopped sweep")
    assert page.text("answer") == "INCOMPLETE"
    assert page.text("summary").startswith(
        "The sweep was stopped: the limit of 20 runs was reached at EOT 6, EFF 5; certified up to EOT 5, EFF 4."
    )


def test_a_candidate_is_shown_like_a_counterexample_and_not_called_one() -> None:
    page = read("candidate")
    assert page.text("answer") == "INCOMPLETE"
    assert page.text("summary").startswith("Faults were found that break it at the end of time 3; its run still")
    assert "What may go wrong" in html("candidate")
    shown = page.data["runs"][page.data["first"]]
    assert ([f["code"] for f in shown["faults"]], shown["violated"]) == (["O(a,b,1)"], ["pre(b, a)"])


@pytest.mark.parametrize("name", ["lineage", "lineage certified", "exhaustive"])
def test_every_execution_of_a_search_can_be_opened(name: str) -> None:
    page, verdict = read(name), VERDICTS[name]()
    buttons = page.elements("button", **{"class": "open"})
    assert len(buttons) == len(verdict.executions) == verdict.runs > 1
    opened = [page.data["runs"][int(b["data-run"] or "-1")] for b in buttons]
    assert [" ".join(f["code"] for f in shown["faults"]) or "no fault" for shown in opened] == [
        str(e.faults) for e in verdict.executions
    ]
    assert [shown["violated"] for shown in opened] == [[str(v) for v in e.violations] for e in verdict.executions]


def test_an_exact_search_lists_no_executions() -> None:
    assert not read("counterexample").elements("section", id="executions")


def test_executions_beyond_those_that_are_drawn_have_a_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("clew.report.verdict.page.MOST_EXECUTIONS", 2)
    verdict = VERDICTS["lineage certified"]()
    page = Read(page_of(verdict))
    assert len(page.elements("button", **{"class": "open"})) == 2
    assert page.html.count("<code>clew run ") == verdict.runs - 2


def test_counterexamples_beyond_those_that_are_shown_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("clew.report.verdict.page.MOST_COUNTEREXAMPLES", 2)
    page = Read(page_of(VERDICTS["all counterexamples"]()))
    assert len(page.data["runs"]) == 3
    assert page.text("caution") == "1 further counterexamples are not on this page; --json has them all." or (
        "1 further counterexample" in page.text("caution")
    )


def test_without_assertions_the_lost_row_is_explained() -> None:
    page = read("no assertions")
    assert page.data["runs"][1]["violated"] == ["got(b, x)"]
    assert page.data["runs"][1]["whys"][0]["supports"]
    assert "it got lost" in page.data["runs"][1]["meaning"]


def test_a_vacuous_certificate_is_cautioned_against() -> None:
    page = read("vacuous")
    assert page.text("answer") == "CERTIFIED"
    assert "Beware: nothing is promised within these bounds." in page.text("caution")
    assert read("hollow").text("answer") == "INCOMPLETE"
    assert page.data["graphs"] == []
    assert not page.elements("section", id="margins") and not page.elements("section", id="lineage")


def test_a_counterexample_that_needs_no_fault() -> None:
    page = read("no fault needed")
    shown = page.data["runs"][page.data["first"]]
    assert (shown["faults"], shown["violated"]) == ([], ["pre(a, x)"])
    assert "without any fault" in page.text("summary")
    assert all(why["supports"] == [] for why in shown["whys"])
    assert page.data["graphs"] == []


def test_bounds_without_any_fault_are_cautioned_against() -> None:
    page = read("no fault possible")
    assert "no fault at all" in page.text("caution")
    assert page.data["first"] == 0
    assert [r["faults"] for r in page.data["runs"]] == [[]]


def test_a_good_run_and_a_violated_run() -> None:
    good, bad = read("good run"), read("violated run")
    assert (good.text("answer"), bad.text("answer")) == ("HOLDS", "VIOLATED")
    assert len(good.data["runs"]) == 1
    assert len(bad.data["runs"]) == 2 and bad.data["first"] == 1
    assert [len(g.data["graphs"]) for g in (good, bad)] == [1, 1]
    assert len(bad.data["runs"][1]["whys"][0]["supports"]) == 9
    # As in the report of the check, except for the bounds: there losses from time 4 on were out of reach.
    assert bad.data["runs"][1]["right"].count("<svg") == 1


def test_a_run_that_fails_without_faults() -> None:
    page = read("broken already")
    assert page.text("answer") == "VIOLATED"
    assert [r["violated"] for r in page.data["runs"]] == [["pre(a, x)"]]


def test_what_is_cut_is_marked_in_the_lineage() -> None:
    data = read("counterexample").data
    root = ElementTree.fromstring(data["graphs"][0]["focused"])
    marks = data["runs"][1]["marks"][0]["focused"]
    messages = {
        int(e.attrib["data-firing"]): "".join(e.find("text").itertext())  # type: ignore[union-attr]
        for e in root.iter("g")
        if "data-firing" in e.attrib
    }
    struck = {messages[n] for n in marks["cut"]}
    assert {"b → Z @1", "c → Z @1"} <= struck
    assert all(text in ("b → Z @1", "c → Z @1") or text.startswith("a → ") for text in struck)
    assert 0 in marks["gone"], "the outcome itself"
    nothing: dict[str, list[int]] = {"cut": [], "gone": [], "boxes": [], "joints": []}
    assert data["runs"][0]["marks"][0] == {"focused": nothing, "whole": nothing}, "nothing is cut without faults"


class _Hurried(Explainer):
    """Out of time when it comes to single outcomes."""

    def margins(self) -> Iterator[Margin]:
        raise BudgetExhaustedError("the time limit of 1 s ran out")


class _Impatient(Explainer):
    """Out of time when it comes to what can be left out."""

    @property
    def distances(self) -> Distances:
        raise BudgetExhaustedError("the time limit of 1 s ran out")


def test_the_distance_of_all_rows_is_told_when_there_is_no_time_for_each() -> None:
    verdict = checked("ack-deliv")
    assert verdict.program is not None
    hurried = _Hurried(verdict.program, verdict.spec, Deadline(None))
    page = Read(verdict_page(verdict, ("x.ded",), hurried, lambda stage: None))
    assert "This page is not complete: the time limit of 1 s ran out." in page.text("caution")
    assert page.texts["figure"] == ["1"]
    assert "3 further outcomes have no line; the first line is about all." in page.text("note")


def test_when_time_is_over_the_page_says_that_something_is_missing() -> None:
    verdict = checked("ack-deliv")
    assert verdict.program is not None
    impatient = _Impatient(verdict.program, verdict.spec, Deadline(None))
    page = Read(verdict_page(verdict, ("x.ded",), impatient, lambda stage: None))
    assert "This page is not complete: the time limit of 1 s ran out." in page.text("caution")
    assert not page.elements("section", id="margins")
    assert page.data["runs"] and page.text("answer") == "CERTIFIED"
