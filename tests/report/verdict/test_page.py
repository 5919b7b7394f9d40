"""The report: whatever the verdict, its data is consistent and true, its names harmless, its bytes the same."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from clew import Answer, Execution, Verdict
from clew.faults import FailureSpec, FaultSet
from command import ROOT, clew
from report.verdict.pages import (
    EVERY,
    RUNS,
    VERDICTS,
    explainer_of,
    html,
    page_of,
    read,
)

# -- every page -------------------------------------------------------------------------------------------------

pytestmark = pytest.mark.usefixtures("at_the_root")


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
