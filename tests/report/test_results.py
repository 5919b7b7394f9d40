"""Every result has one shape, and can be shown in each of four ways, whichever function returned it."""

from __future__ import annotations

import inspect
import json
import pkgutil
from collections.abc import Callable, Iterable
from dataclasses import replace
from enum import Enum
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema
import pytest

import clew
from clew.analysis.blazes import Dataflow
from clew.injection.faults import CodeFault, NodeCrash
from clew.report.renderers import RENDERERS, PageOptions, renderer_of
from clew.results import Result
from command import ROOT

SCHEMA = json.loads((ROOT / "docs" / "results.schema.json").read_text(encoding="utf-8"))
VERDICT_SCHEMA = json.loads((ROOT / "docs" / "verdict.schema.json").read_text(encoding="utf-8"))
SIMPLE = "examples/simple-deliv.ded"
LOCK = "examples/lock/lock.py"
REPLICATION = "examples/replication/replication.py"


@pytest.fixture(autouse=True)
def at_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


@cache
def fuzzed() -> clew.Fuzzed:
    return clew.fuzz(f"{LOCK}:hasty")


def recording() -> clew.Recording:
    found = fuzzed().recording
    assert found is not None
    return found


def lossy_faults() -> Iterable[CodeFault]:
    checked = result("check_scenario")
    assert isinstance(checked, clew.CodeVerdict) and checked.counterexample is not None
    return checked.counterexample.faults


def replayed_verdict() -> clew.ReplayedVerdict:
    from clew.report.replay.reading import SavedVerdict
    from clew.report.replay.replaying import replay_saved

    verdict = clew.check(SIMPLE)
    spec = verdict.spec
    saved = SavedVerdict((SIMPLE,), spec.nodes, spec.eot, spec.eff, 0, 0, verdict.answer, verdict.counterexamples)
    return replay_saved("verdict.json", saved, ())


#: How a result is made, its answer, its exit code, and how its text begins.
RESULTS: dict[str, tuple[Callable[[], Result], str, int, str]] = {
    "check": (lambda: clew.check(SIMPLE), "counterexample", 1, "COUNTEREXAMPLE: 1 fault, within EOT 4"),
    "check, certified": (lambda: clew.check("examples/redun-deliv.ded"), "certified", 0, "CERTIFIED: no counter"),
    "check_grid": (
        lambda: clew.check_grid(SIMPLE, {"eff": [0, 2], "crashes": [0, 4]}),
        "counterexample",
        1,
        "COUNTEREXAMPLE: 1 of 4 settings breaks it, 1 is certified, 2 are invalid; within EOT 4, 0 crashes, nodes",
    ),
    "check_grid, certified": (
        lambda: clew.check_grid("examples/redun-deliv.ded", {"eff": [1, 2], "crashes": [0, 1]}),
        "certified",
        0,
        "CERTIFIED: no counterexample exists at any of 4 settings; within EOT 11, nodes a, b, c.",
    ),
    "check_grid, limited": (
        lambda: clew.check_grid(SIMPLE, {"eff": [0, 2]}, time_limit=1e-9),
        "incomplete",
        3,
        "INCOMPLETE: 0 of 2 are certified, 2 are incomplete.",
    ),
    "check_scenario": (
        lambda: clew.check_scenario(f"{REPLICATION}:lossy"),
        "counterexample",
        1,
        "COUNTEREXAMPLE: 3 faults, within 3 losses, 1 crash, in 6 s of virtual time.",
    ),
    "check_scenario, certified": (
        lambda: clew.check_scenario(f"{REPLICATION}:careful", faults=1, strategy="exhaustive"),
        "certified",
        0,
        "CERTIFIED: no faults within 2 losses, 2 crashes, 2 restarts (1 fault in all), outages of 1 s, beginning",
    ),
    "check_scenario, limited": (
        lambda: clew.check_scenario(f"{REPLICATION}:careful", max_runs=2),
        "incomplete",
        3,
        "INCOMPLETE, within 2 losses, 2 crashes, 2 restarts (2 faults in all), outages of 1 s, beginning within",
    ),
    "run_scenario": (lambda: clew.run_scenario(f"{REPLICATION}:lossy"), "holds", 0, REPLICATION),
    "run_scenario, violated": (
        lambda: clew.run_scenario(f"{REPLICATION}:lossy", lossy_faults()),
        "violated",
        1,
        "the 2nd Report from b to coordinator is lost, at 2.01 s",
    ),
    "run_scenario, nothing promised": (
        lambda: clew.run_scenario(f"{REPLICATION}:lossy", [NodeCrash("client", 0)]),
        "nothing promised",
        3,
        "client crashes before its first event, at 0 s",
    ),
    "run": (lambda: clew.run(SIMPLE), "holds", 0, "EOT 4, nodes a, b, c; no fault"),
    "run, violated": (lambda: clew.run(SIMPLE, [clew.Loss("a", "b", 1)]), "violated", 1, "EOT 4, nodes a, b, c;"),
    "fuzz": (fuzzed, "violation", 1, "VIOLATION: mutual exclusion at ann, bob, after 40 deliveries"),
    "fuzz, nothing": (lambda: clew.fuzz(f"{LOCK}:careful", runs=3), "no violation", 0, "NO VIOLATION in these"),
    "fuzz, limited": (
        lambda: clew.fuzz(f"{LOCK}:careful", time_limit=1e-9),
        "incomplete",
        3,
        "INCOMPLETE: the time limit of 1e-09 s ran out; no violation so far.",
    ),
    "explore": (lambda: clew.explore(f"{LOCK}:three_hasty"), "violation", 1, "VIOLATION: mutual exclusion at ann"),
    "explore, limited": (
        lambda: clew.explore(f"{LOCK}:three_careful", time_limit=1e-9),
        "incomplete",
        3,
        "INCOMPLETE: the time limit of 1e-09 s ran out",
    ),
    "explore, timed": (
        lambda: clew.explore("examples/lease/lease.py:small_drifting"),
        "violation",
        1,
        "VIOLATION: one at work at a, b, after 15 deliveries",
    ),
    "minimize": (
        lambda: clew.minimize(recording(), time_limit=1e-9),
        "incomplete",
        3,
        "examples/lock/lock.py:hasty: 39 deliveries in 54 events.",
    ),
    "replay": (lambda: clew.replay(recording()), "same", 1, "examples/lock/lock.py:hasty, seed 0: 56 steps"),
    "replay_verdict": (replayed_verdict, "still fails", 1, "examples/simple-deliv.ded, EOT 4, nodes a, b, c"),
    "calm": (
        lambda: clew.calm("examples/bloom/reliable_broadcast.py:ReliableBroadcast"),
        "consistent",
        0,
        "CONSISTENT: ReliableBroadcast",
    ),
    "calm, of steps": (
        lambda: clew.calm("examples/bloom/kvs.py:BasicKVS"),
        "depends on steps",
        3,
        "DEPENDS ON THE SEQUENCE OF STEPS: BasicKVS",
    ),
    "calm, of Dedalus": (
        lambda: clew.calm("examples/kafka.ded"),
        "order matters",
        1,
        "ORDER MATTERS: examples/kafka",
    ),
    "blazes": (
        lambda: clew.blazes("examples/blazes/word-count.yaml"),
        "inconsistent",
        1,
        "INCONSISTENT: examples/blazes/word-count.yaml",
    ),
    "check_history": (
        lambda: clew.check_history("examples/histories/stale-read.jsonl"),
        "violated",
        1,
        "NOT LINEARIZABLE: 5 operations of 3 clients, as a register.",
    ),
    "check_history, limited": (
        lambda: clew.check_history("examples/histories/register.jsonl", states=1),
        "unknown",
        3,
        "UNKNOWN: 10 operations of 4 clients, as a register; 1 failed; 1 may have happened or not.",
    ),
    "check_history, of transactions": (
        lambda: clew.check_history("examples/histories/bank.edn", "serializable"),
        "violated",
        1,
        "NOT SERIALIZABLE: 4 transactions of 2 clients.",
    ),
    "check_models": (
        lambda: clew.check_models("examples/simple-deliv.ded"),
        "as expected",
        0,
        "    model                      expected ",
    ),
    "blazes, of a program": (
        lambda: clew.blazes("examples/blazes/shop.py:SealedShop"),
        "consistent",
        0,
        "CONSISTENT: ",
    ),
}


@cache
def result(name: str) -> Result:
    return RESULTS[name][0]()


@pytest.mark.parametrize("name", RESULTS)
def test_the_shape_of_a_result(name: str) -> None:
    _, answer, code, begins = RESULTS[name]
    found = result(name)
    assert isinstance(found.answer, Enum)
    assert (found.answer.value, found.exit_code) == (answer, code)
    assert found.reason is None or isinstance(found.reason, str)
    assert found.reason is not None or code != 3
    assert all(isinstance(notice, clew.Notice) for notice in found.notices)
    assert str(found).startswith(begins)
    assert not str(found).endswith("\n")
    assert str(found) != repr(found)


@pytest.mark.parametrize("name", RESULTS)
def test_json_is_what_its_schema_says_and_the_same_every_time(name: str) -> None:
    found = result(name)
    document = json.loads(found.to_json())
    assert found.to_json() == found.to_json()
    assert found.to_json().endswith("}\n")
    if document["format"] == "clew verdict":
        jsonschema.Draft202012Validator(VERDICT_SCHEMA).validate(document)
    elif document["format"] not in ("clew calm", "clew blazes"):
        jsonschema.Draft202012Validator(SCHEMA).validate(document)
        assert document["exit_code"] == found.exit_code
    if "verdict" in document:
        assert document["verdict"] == found.answer.value


@pytest.mark.parametrize("name", RESULTS)
def test_junit_has_cases_that_pass_only_for_what_holds(name: str) -> None:
    found = result(name)
    root = ElementTree.fromstring(renderer_of(found).junit(found))
    (suite,) = root
    cases = suite.findall("testcase")
    bad = [case for case in cases if case.find("failure") is not None or case.find("error") is not None]
    assert cases
    assert bool(bad) == (found.exit_code != 0)
    assert int(suite.attrib["tests"]) == len(cases)
    if found.exit_code == 3 and not isinstance(found, clew.CalmAnalysis):
        assert suite.attrib["errors"] != "0" and suite.attrib["failures"] == "0"


@pytest.mark.parametrize("name", RESULTS)
def test_a_page_can_be_written_of_any_result(name: str, tmp_path: Path) -> None:
    clew.write_report(result(name), tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>") and page.rstrip().endswith("</html>")
    assert 'http-equiv="Content-Security-Policy" content="default-src \'none\'' in page
    assert "src=" not in page


def test_a_page_about_a_violation_shows_the_run() -> None:
    for name in ("fuzz", "explore", "replay", "minimize", "check_scenario", "run_scenario, violated"):
        found = result(name)
        page = renderer_of(found).page(found, PageOptions(recorded_in="rec.json"))
        assert "The run, event by event" in page
        assert "clew replay rec.json" in page


def test_what_comes_from_a_program_is_escaped_in_a_plain_page() -> None:
    found = result("fuzz, nothing")
    assert isinstance(found, clew.Fuzzed)
    evil = replace(found, scenario="<script>alert(1)</script>\x1b[31m")
    page = renderer_of(evil).page(evil, PageOptions())
    assert "<script>" not in page and "\x1b" not in page


def test_no_text_commands_a_terminal() -> None:
    found = result("fuzz, nothing")
    assert isinstance(found, clew.Fuzzed)
    evil = replace(found, reason="\x1b[31m")
    assert "\x1b" not in str(evil)


def test_the_recording_of_an_exploration_can_be_replayed_and_minimized() -> None:
    explored = result("explore")
    assert isinstance(explored, clew.Exploration) and explored.recording is not None
    again = clew.replay(explored.recording)
    assert again.answer.value == "same"
    small = clew.minimize(explored.recording, time_limit=1e-9)
    assert small.recording.identity == explored.found[0].identity


def test_what_is_made_in_python_needs_no_file() -> None:
    """A class and a dataflow instead of the names of files."""
    spec = import_module("importlib.util").spec_from_file_location(
        "shop_of_results", ROOT / "examples" / "blazes" / "shop.py"
    )
    module = import_module("importlib.util").module_from_spec(spec)
    spec.loader.exec_module(module)
    analysis = clew.calm(module.Shop)
    assert json.loads(analysis.to_json())["files"] == []
    blazes = clew.blazes(module.Shop)
    assert blazes.file == ""
    assert str(blazes).split(":")[0] in ("CONSISTENT", "INCONSISTENT")
    dataflow = blazes.verdict.dataflow
    assert isinstance(dataflow, Dataflow)
    assert clew.blazes(dataflow).answer is blazes.answer


def test_blazes_supposes_seals_and_refuses_what_does_not_exist() -> None:
    sealed = clew.blazes("examples/blazes/word-count.yaml", seals=[("tweets", ["batch"])])
    assert sealed.answer.value == "consistent"
    with pytest.raises(clew.UsageError, match="there is no stream 'nowhere'"):
        clew.blazes("examples/blazes/word-count.yaml", seals=[("nowhere", ["batch"])])
    with pytest.raises(clew.UsageError, match="--variant is for the variants of a dataflow file"):
        clew.blazes("examples/blazes/shop.py:Shop", variants={"a": "b"})


def test_calm_runs_only_bloom_programs() -> None:
    with pytest.raises(clew.UsageError, match="--try runs Bloom programs"):
        clew.calm(SIMPLE, orders=3)


# -- the table ---------------------------------------------------------------------------------------------------


def all_results() -> set[type[Result]]:
    """Every class of results: all of Clew is imported to find them."""
    for module in pkgutil.walk_packages(clew.__path__, "clew."):
        if not module.name.endswith("__main__"):
            import_module(module.name)
    found: set[type[Result]] = set()
    pending = [Result]
    while pending:
        pending += (subclasses := pending.pop().__subclasses__())
        found.update(subclasses)
    return {cls for cls in found if cls.__module__.startswith("clew.")}


def test_the_table_knows_every_result_and_nothing_else() -> None:
    classes = all_results()
    assert sorted(cls.__name__ for cls in classes) == sorted(RENDERERS)
    for cls in classes:
        assert cls is getattr(clew, cls.__name__)
        members = {name for name, _ in inspect.getmembers(cls)} | set(cls.__dataclass_fields__)
        assert members >= {"answer", "reason", "notices", "exit_code"}
    for home in set(RENDERERS.values()):
        module: Any = import_module(home)
        assert all(callable(getattr(module, name)) for name in ("text", "json_text", "junit", "page"))


def test_a_result_of_somebody_else_is_refused() -> None:
    class Odd(Result):
        pass

    with pytest.raises(clew.UsageError, match="nothing is known of how to show a Odd"):
        str(Odd())


# -- the schema --------------------------------------------------------------------------------------------------


def test_the_schema_is_a_schema_and_describes_every_field() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    for choice in SCHEMA["oneOf"]:
        kind = SCHEMA["$defs"][choice["$ref"].removeprefix("#/$defs/")]
        for name, field in kind["properties"].items():
            assert "description" in field or "$ref" in field, name


def test_the_documentation_lists_every_field() -> None:
    text = (ROOT / "docs" / "json.md").read_text(encoding="utf-8")
    for choice in SCHEMA["oneOf"]:
        kind = SCHEMA["$defs"][choice["$ref"].removeprefix("#/$defs/")]
        assert f'`"{kind["properties"]["format"]["const"]}"`' in text
        for name in kind["properties"]:
            assert f"`{name}`" in text, name
