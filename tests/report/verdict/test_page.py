"""The report: whatever the verdict, its data is consistent and true, its names harmless, its bytes the same."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from clew import Answer, Execution, Fault, Loss, Program, Verdict, check, parse_program, run
from clew.budgets.deadline import Deadline
from clew.errors import BudgetExhaustedError
from clew.explain.distance import Distances
from clew.explain.explainer import Explainer, Margin
from clew.faults import Crash, Delay, FailureSpec, FaultSet
from clew.program.ir import Const, Fact, Premise, Rule, Timing, Var
from clew.report.verdict.page import run_page, verdict_page
from clew.report.verdict.text import verdict_text
from command import ROOT, clew

KAFKA: list[Fault] = [Loss("b", "Z", 1), Loss("c", "Z", 1), Crash("a", 4)]

PERSISTENT = """
    start(a, x)@1;  peer(a, b)@1;
    got(M, V)@async :- start(N, V), peer(N, M);
    got(N, V)@next :- got(N, V);
"""
VACUOUS = """
    start(a, x)@1;  start(N, V)@next :- start(N, V);  gone(M, V)@async :- never(N, V), start(N, M);
    never(N, V)@next :- never(N, V);  pre(N, V) :- never(N, V);  post(N, V) :- start(N, V);
"""
BROKEN_ALREADY = """
    start(a, x)@1;  start(N, V)@next :- start(N, V);  peer(a, b)@1;
    got(M, V)@async :- start(N, V), peer(N, M);
    pre(N, V) :- start(N, V);  post(N, V) :- got(N, V);
"""
#: It recovers after 70 steps, longer than a sweep follows a run.
LATE = """
    peer(a, b); peer(X, Y)@next :- peer(X, Y); hello(a, b)@1;
    clock(a, 0); clock(X, T + 1)@next :- clock(X, T);
    got(Y, X)@async :- hello(X, Y); got(Y, X)@async :- peer(X, Y), clock(X, 70); got(X, Y)@next :- got(X, Y);
    pre(Y, X) :- peer(X, Y); post(X, Y) :- got(X, Y);
"""
BOUNDS: dict[str, Any] = {"nodes": ["a", "b"], "eot": 4, "eff": 2, "crashes": 1}


# -- reading a page ---------------------------------------------------------------------------------------------


@dataclass
class Read(HTMLParser):
    """The page taken apart: its elements, scripts, and the text of each element that has an id or a class."""

    html: str
    tags: list[tuple[str, dict[str, str | None]]] = field(default_factory=list)
    scripts: list[tuple[dict[str, str | None], str]] = field(default_factory=list)
    texts: dict[str, list[str]] = field(default_factory=dict)
    _open: list[tuple[str, dict[str, str | None]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.feed(self.html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta", "link", "input", "path", "br"):
            self._open.append((tag, dict(attrs)))
        if tag == "script":
            self.scripts.append((dict(attrs), ""))

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        if not self._open:
            return
        tag, attributes = self._open[-1]
        if tag == "script":
            self.scripts[-1] = (self.scripts[-1][0], self.scripts[-1][1] + data)
        for name in (attributes.get("id"), *(attributes.get("class") or tag).split()):
            if name:
                self.texts.setdefault(name, []).append(data)

    @property
    def data(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.scripts[0][1])
        return found

    def elements(self, tag: str, **wanted: str) -> list[dict[str, str | None]]:
        return [a for t, a in self.tags if t == tag and all(a.get(k) == v for k, v in wanted.items())]

    def text(self, name: str) -> str:
        return " ".join(self.texts.get(name, []))


def explainer_of(result: Verdict | Execution, deadline: Deadline | None = None) -> Explainer:
    assert result.program is not None
    return Explainer(result.program, result.spec, deadline or Deadline(None))


def page_of(verdict: Verdict, files: Sequence[str] = ("examples/x.ded",)) -> str:
    return verdict_page(verdict, files, explainer_of(verdict), lambda stage: None)


def page_of_run(execution: Execution) -> str:
    return run_page(execution, ("examples/x.ded",), explainer_of(execution), lambda stage: None)


@cache
def checked(name: str, **options: Any) -> Verdict:
    return check(Path("examples") / f"{name}.ded", **options)


@pytest.fixture(autouse=True)
def at_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that files are named as a user names them."""
    monkeypatch.chdir(ROOT)


VERDICTS = {
    "counterexample": lambda: checked("kafka"),
    "all counterexamples": lambda: checked("classic-deliv", find_all=True),
    "certified": lambda: checked("ack-deliv"),
    "incomplete": lambda: checked("redun-deliv", strategy="random", max_runs=12),
    "sweep": lambda: checked("ack-deliv", effort=0.01),
    "stopped sweep": lambda: checked("ack-deliv", strategy="lineage", effort=1, max_runs=20),
    "candidate": lambda: check(parse_program(LATE), crashes=0),
    "lineage": lambda: checked("retry-deliv", strategy="lineage"),
    "lineage certified": lambda: checked("redun-deliv", strategy="lineage", eot=6, eff=5),
    "exhaustive": lambda: checked("simple-deliv", strategy="exhaustive", find_all=True),
    "delays": lambda: checked("simple-deliv", eff=0, delays=1, find_all=True),
    "kept away": lambda: checked("bully-le-lossy"),
    "no assertions": lambda: check(parse_program(PERSISTENT), **BOUNDS),
    "vacuous": lambda: check(parse_program(VACUOUS), **BOUNDS, allow_hollow=True),
    "hollow": lambda: check(parse_program(VACUOUS), **BOUNDS),
    "no fault needed": lambda: check(parse_program(BROKEN_ALREADY), **BOUNDS),
    "no fault possible": lambda: checked("simple-deliv", eff=0, crashes=0),
    "one step": lambda: check(parse_program(PERSISTENT), nodes=["a", "b"], eot=1, eff=1, crashes=1),
    "one node": lambda: check(parse_program(PERSISTENT), nodes=["a"], eot=3, eff=2, crashes=1),
    "numbers": lambda: check(
        parse_program(PERSISTENT.replace("(a, b)", "(1, 2)").replace("(a, x)", "(1, -7)")),
        nodes=[1, 2], eot=3, eff=2, crashes=1,
    ),
}  # fmt: skip
RUNS = {
    "good run": lambda: run("examples/kafka.ded"),
    "violated run": lambda: run("examples/kafka.ded", KAFKA),
    "good run with faults": lambda: run("examples/ack-deliv.ded", [Loss("a", "b", 1), Crash("b", 4)]),
    "late run": lambda: run("examples/simple-deliv.ded", [Delay("a", "b", 1, 3)]),
    "broken already": lambda: run(parse_program(BROKEN_ALREADY), nodes=["a", "b"], eot=3),
    "without assertions": lambda: run(parse_program(PERSISTENT), [Crash("a", 1)], nodes=["a", "b"], eot=3),
}


@cache
def html(name: str) -> str:
    return page_of(VERDICTS[name]()) if name in VERDICTS else page_of_run(RUNS[name]())


@cache
def read(name: str) -> Read:
    return Read(html(name))


EVERY = pytest.mark.parametrize("name", [*VERDICTS, *RUNS])


# -- every page -------------------------------------------------------------------------------------------------


@EVERY
def test_references_in_the_data_are_consistent(name: str) -> None:
    data = read(name).data
    runs = data["runs"]
    assert 0 <= data["first"] < len(runs)
    for number, graph in enumerate(data["graphs"]):
        for kind in ("focused", "whole"):
            svg = graph[kind]
            if svg is None:
                assert kind == "focused"
                continue
            root = ElementTree.fromstring(svg)
            goals = [int(e.attrib["data-goal"]) for e in root.iter("g") if "data-goal" in e.attrib]
            firings = {int(e.attrib["data-firing"]): e for e in root.iter("g") if "data-firing" in e.attrib}
            boxes = {int(e.attrib["data-box"]): e for e in root.iter("g") if "data-box" in e.attrib}
            joints = {int(e.attrib["data-joint"]): e for e in root.iter("g") if "data-joint" in e.attrib}
            for shown in runs:
                marks = shown["marks"][number][kind]
                assert set(marks["gone"]) <= set(goals)
                assert all("message" in firings[n].attrib["class"].split() for n in marks["cut"])
                assert all("bundle" in boxes[n].attrib["class"].split() for n in marks["boxes"])
                kinds = [set(joints[n].attrib["class"].split()) for n in marks["joints"]]
                assert all(kind & {"message", "through"} for kind in kinds)
    for shown in runs:
        assert len(shown["marks"]) == len(data["graphs"])
        assert {int(number) for number in shown["rows"]} <= set(range(len(data["rows"])))
        assert ElementTree.fromstring(shown["right"]).tag == "svg"
        if shown["left"] is not None:
            ElementTree.fromstring(shown["left"])
        for why in shown["whys"]:
            assert why["row"] in shown["violated"]
            assert all(
                support["needs"] and all(len(n) == 2 for n in support["needs"]) for support in why["supports"]
            )
            assert all(any(cut for _, cut in support["needs"]) for support in why["supports"]), "every one is cut"
            happened = [[text for text, kind in s["falsifier"] if kind == "happened"] for s in why["supports"]]
            assert all(set(codes) <= {f["code"] for f in shown["faults"]} for codes in happened)
            assert all(happened)
            told = [(head, steps) for head, steps, outcome in why["without"] if outcome]
            assert [head.split("without ")[1] for head, _ in told] == [f["code"] for f in shown["faults"]]
            assert all(steps for _, steps in told), "all of these counterexamples are minimal"


@EVERY
def test_buttons_open_runs_that_are_there(name: str) -> None:
    page = read(name)
    wanted = [int(a["data-run"] or "-1") for a in page.elements("button") if "data-run" in a]
    assert all(0 <= number < len(page.data["runs"]) for number in wanted)
    choices = page.elements("button", **{"class": "choice"})
    assert len({a["data-run"] for a in choices}) == len(choices)


@EVERY
def test_the_page_runs_its_own_script_and_no_other(name: str) -> None:
    page = read(name)
    (data_attributes, _), (own_attributes, script) = page.scripts
    assert data_attributes == {"type": "application/json", "id": "data"}
    assert own_attributes == {}
    (policy,) = page.elements("meta", **{"http-equiv": "Content-Security-Policy"})
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    rules = dict(rule.split(maxsplit=1) for rule in (policy["content"] or "").split("; "))
    assert rules["script-src"] == f"'sha256-{digest}'"
    assert rules["default-src"] == "'none'"
    assert html(name).count("<script") == 2


@EVERY
def test_nothing_is_loaded_and_no_place_or_time_of_this_machine_is_told(name: str) -> None:
    page = read(name)
    for _, attributes in page.tags:
        for attribute in ("src", "href", "srcset", "action"):
            assert (attributes.get(attribute) or "#").startswith(("#", "data:,"))
        assert not [a for a in attributes if a.startswith("on")]
    text = html(name)
    assert not re.search(r"https?://", text.replace("http://www.w3.org/2000/svg", ""))
    assert not re.search(r"\burl\((?!#)", text)
    assert str(ROOT) not in text and str(Path.home()) + "/" not in text
    assert not re.search(r"\b20\d\d-\d\d-\d\d|\b\d\d:\d\d:\d\d\b", text)


@EVERY
def test_rows_and_their_times_are_those_of_the_executions(name: str) -> None:
    """Decoded as the script of the page does, each run has exactly the rows of its execution."""
    result = VERDICTS[name]() if name in VERDICTS else RUNS[name]()
    known = explainer_of(result)
    data = read(name).data
    by_code = {" ".join(map(str, f)) if f else "": f for f in _fault_sets(result)}
    for shown in data["runs"]:
        faults = by_code.get(" ".join(f["code"] for f in shown["faults"]))
        if faults is None:
            continue
        execution = known.run(faults)
        assert _decoded(data, shown) == _rows_of(execution)
        assert shown["violated"] == [str(v) for v in execution.violations]
        nodes = {row[1] for row in data["rows"]} - {None}
        assert nodes <= set(data["nodes"]) == set(execution.spec.nodes)


def _fault_sets(result: Verdict | Execution) -> list[FaultSet]:
    if isinstance(result, Execution):
        return [FaultSet(), result.faults]
    found = [c.faults for c in result.counterexamples] + [r.faults for r in result.executions]
    if result.answer is Answer.CERTIFIED:
        found += [r.faults for r in explainer_of(result).heaviest(3)]
    return [FaultSet(), *found]


def _decoded(data: dict[str, Any], shown: dict[str, Any]) -> set[tuple[str, str, int]]:
    found = set()
    for number, (relation, _, text, base) in enumerate(data["rows"]):
        times = shown["rows"].get(str(number), base)
        for part in times.split(",") if times else []:
            first, _, last = part.partition("-")
            for time in range(int(first), int(last or first) + 1):
                found.add((relation, text, time))
    return found


def _rows_of(execution: Execution) -> set[tuple[str, str, int]]:
    return {
        (relation, ", ".join(map(str, row)), time)
        for relation, by_time in execution.tables.items()
        for time, rows in enumerate(by_time, start=1)
        for row in rows
    }


@pytest.mark.parametrize("name", VERDICTS)
def test_how_long_it_took_is_not_on_the_page(name: str) -> None:
    assert page_of(replace(VERDICTS[name](), seconds=4711.0815)) == html(name)


# -- what each page shows ---------------------------------------------------------------------------------------


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


# -- harmless ---------------------------------------------------------------------------------------------------

TAGS = {
    "html", "head", "meta", "title", "link", "style", "body", "a", "header", "p", "span", "dl", "div", "dt",
    "dd", "nav", "main", "noscript", "pre", "section", "h1", "h2", "h3", "button", "ol", "code", "figure",
    "figcaption", "ul", "li", "svg", "g", "path", "i", "table", "thead", "tbody", "tr", "th", "td", "label",
    "input", "form", "select", "output", "details", "summary", "footer", "script", "b", "rect", "text",
    "tspan", "line", "circle",
}  # fmt: skip
NASTY = "</script><script>alert(1)</script><img src=x onerror=alert(1)>"


def _hostile(nodes: tuple[str, str], value: str, relation: str = "log") -> Program:
    columns = (Var("N"), Var("V"))
    return Program(
        (
            Fact("start", (nodes[0], value)),
            Rule(relation, (Const(nodes[1]), Var("V")), Timing.ASYNC, (Premise("start", columns),)),
            Rule(relation, columns, Timing.NEXT, (Premise(relation, columns),)),
        )
    )


@pytest.mark.parametrize(
    "text",
    [
        NASTY,
        "<!--",
        "]]>",
        "&lt;b&gt;",
        "\"'`",
        "line\nbreak\ttab",
        "{{ 7 * 7 }}{% raw %}",
        "\u2028\u2029",
        "x" * 200,
    ],
)
def test_names_never_become_markup_or_script(text: str) -> None:
    nodes = (text, f"{text}2") if text.isprintable() else ("a", "b")
    program = _hostile(nodes, f"{text}3")
    bounds: dict[str, Any] = {"nodes": list(nodes), "eot": 3, "eff": 2, "crashes": 1}
    files = (f"{text}.ded",)
    for verdict in (check(program, **bounds), check(program, **bounds, strategy="lineage")):
        assert verdict.answer is Answer.COUNTEREXAMPLE
        assert_harmless(page_of(verdict, files), text, nodes)
    certified = check(program, **{**bounds, "eff": 0, "crashes": 0})
    assert_harmless(page_of(certified, files), text, nodes)
    execution = run(program, [Loss(*nodes, 1)], nodes=list(nodes), eot=3)
    assert_harmless(run_page(execution, files, explainer_of(execution), lambda stage: None), text, nodes)


def assert_harmless(page: str, text: str, nodes: tuple[str, str]) -> None:
    found = Read(page)
    assert len(found.scripts) == page.count("<script") == 2
    assert {tag for tag, _ in found.tags} <= TAGS
    assert not [a for _, attributes in found.tags for a in attributes if a.startswith("on")]
    if "<" in text:
        assert text not in page
    data = found.data
    assert data["nodes"] == list(nodes), "told as they are, once decoded"
    assert any(f"{text}3" in row for _, _, row, _ in data["rows"])
    allowed = {"svg", "g", "path", "rect", "text", "tspan", "title", "line", "circle", "a"}
    for svg in (*(r["right"] for r in data["runs"]), *(g["whole"] for g in data["graphs"])):
        assert {e.tag for e in ElementTree.fromstring(svg).iter()} <= allowed
    assert f"{text}.ded" in found.text("title")


def test_a_hostile_relation_name() -> None:
    program = _hostile(("a", "b"), "x", relation="<b>")
    verdict = check(program, nodes=["a", "b"], eot=3, eff=2)
    page = page_of(verdict)
    assert "<b>(" not in page
    assert Read(page).data["runs"][1]["violated"] == ["<b>(b, x)"]


# -- the same every time ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words",
    [
        ["check", "examples/kafka.ded", "--all"],
        ["check", "examples/redun-deliv.ded", "--eot", "6", "--eff", "5", "--strategy", "lineage"],
        ["run", "examples/3pc.ded", "--lose", "C,a,6", "--crash", "d,4"],
    ],
    ids=" ".join,
)
def test_the_file_does_not_depend_on_the_hash_seed(words: list[str], tmp_path: Path) -> None:
    pages = []
    for seed in "12":
        file = tmp_path / f"{seed}.html"
        done = clew(*words, "--report", str(file), PYTHONHASHSEED=seed)
        assert done.returncode in (0, 1), done.stderr
        pages.append(file.read_bytes())
    assert pages[0] == pages[1]


def test_specs_are_told_as_bounds() -> None:
    page = read("delays")
    spec = FailureSpec(("a", "b", "c"), 4, 0, 0, 1)
    assert VERDICTS["delays"]().spec == spec
    facts = dict(zip(page.texts["dt"], page.texts["dd"], strict=True))
    assert facts["nodes"] == "a, b, c"
    assert facts["end of time (EOT)"] == "4"
    assert facts["delays up to"] == "1"
    assert facts["search"] == "exact"
