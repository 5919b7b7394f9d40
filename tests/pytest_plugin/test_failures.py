"""A test that fails: what is shown, what is stored, what the next run does with it."""

from __future__ import annotations

import re
import shlex
import shutil
import time
from pathlib import Path
from xml.etree import ElementTree

import pytest

import clew
from clew.pytest_plugin.storing import name_of_test
from command import ROOT
from command import clew as run_clew
from plugin_projects import BROKEN, TOLD, run_plugin, stored

pytest_plugins = ["pytester"]

ONE = """
import clew

@clew.scenario_test("told.py:timed", losses=2)
def test_told():
    pass
"""
NAME = "test-one-py-test-told"


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    pytester.makepyfile(told=BROKEN, test_one=ONE)
    return pytester


def test_a_failure_shows_diagram_cause_and_command_in_few_lines(project: pytest.Pytester) -> None:
    """Of the smallest of scenarios, every line; and of those of the examples, that they are at most 60."""
    result = run_plugin(project)
    result.assert_outcomes(failed=1)
    stem = name_of_test("test_one.py::test_told")
    result.stdout.fnmatch_lines(
        [
            "COUNTEREXAMPLE: 1 fault, within 2 losses, in 1 s of virtual time.",
            "  the 3rd str from a to b is lost, at 0.1 s",
            "  breaks told: b heard 2 of 3",
            "  replay: clew run told.py:timed --lose a,b,str,3",
            f"          clew replay .clew/{stem}.json",
            "          pytest test_one.py::test_told --clew-replay only",
            "",
            "   a         b",
            "1  ●── str ──►  sent at the beginning",
            "2  ●── str ──►  sent at the beginning",
            "3  ●╌╌ str ╌╌✗  LOST, sent at the beginning; VIOLATED",
            "",
            "Why: each fault is needed.",
            "  without O(a,b,str,3): str #3 a→b (0.1 s):",
            "    the promise is kept, which rests on b.heard",
        ],
        consecutive=True,
    )
    # In CI, pytest shows the message in full: it is one line.
    (summary,) = (line for line in result.outlines if line.startswith("FAILED"))
    assert summary.startswith("FAILED test_one.py::test_told - COUNTEREXAMPLE: 1 fault")
    assert not re.search("Error|Traceback|test_one.py:\\d+", result.stdout.str())
    assert stored(project) == [f"{NAME}.json", f"{NAME}.txt"]


EXAMPLES = """
import clew

@clew.scenario_test("replication/replication.py:lossy", losses=3, crashes=1)
def test_replication(): pass

@clew.scenario_test("lock/lock.py:hasty")
def test_lock(): pass

def test_printing(clew_check):
    print("printed\\n" * 100)
    clew_check("kafka.ded")
"""


@pytest.mark.parametrize("name", ["replication", "lock", "printing"])
def test_the_output_for_the_examples_fits_and_is_replayed_in_under_a_second(
    pytester: pytest.Pytester, name: str
) -> None:
    for folder in ("replication", "lock"):
        shutil.copytree(ROOT / "examples" / folder, pytester.path / folder)
    shutil.copy(ROOT / "examples" / "kafka.ded", pytester.path)
    pytester.makepyfile(test_examples=EXAMPLES)
    first = run_plugin(pytester, "test_examples.py", "-k", name)
    first.assert_outcomes(failed=1, deselected=2)
    assert len(first.outlines) <= 60
    text = first.stdout.str()
    assert re.search("^  (breaks|violates) ", text, re.MULTILINE)  # the cause
    assert re.search("^ .*│", text, re.MULTILINE)  # the diagram
    assert re.search(r"^  replay: clew (run|replay) \S+", text, re.MULTILINE)  # the command
    begun = time.process_time()
    again = run_plugin(pytester, "test_examples.py", "-k", name)
    assert time.process_time() - begun < 1
    again.assert_outcomes(failed=1, deselected=2)
    again.stdout.fnmatch_lines(["STILL FAILS: *; stored before, and replayed."])
    assert len(again.outlines) <= 60


def test_the_commands_that_are_shown_do_what_they_say(project: pytest.Pytester) -> None:
    lines = run_plugin(project).outlines
    commands = [
        shlex.split(line.removeprefix("  replay: "))
        for line in lines
        if re.match(r" +(replay: )?(clew|pytest) ", line)
    ]
    assert [command[:2] for command in commands] == [
        ["clew", "run"],
        ["clew", "replay"],
        ["pytest", "test_one.py::test_told"],
    ]
    for command in commands[:2]:
        done = run_clew(*command[1:], cwd=project.path)
        assert done.returncode == 1, done.stderr
        assert "b heard 2 of 3" in done.stdout
    again = run_plugin(project, *commands[2][1:])
    again.assert_outcomes(failed=1)
    again.stdout.fnmatch_lines(["STILL FAILS: told; stored before, and replayed."])


def test_what_is_stored_is_replayed_first_and_shown_as_before(project: pytest.Pytester) -> None:
    first = run_plugin(project).outlines
    again = run_plugin(project).outlines
    begin = first.index("  breaks told: b heard 2 of 3")
    of_first = first[begin : first.index("Why: each fault is needed.") + 3]
    assert "STILL FAILS: told; stored before, and replayed." in again
    place = again.index("  breaks told: b heard 2 of 3")
    assert again[place : place + len(of_first)] == of_first


def test_changed_code_that_still_fails_shows_what_happens_now(project: pytest.Pytester) -> None:
    run_plugin(project)
    project.makepyfile(told=BROKEN.replace('"b heard', '"changed'), test_one=ONE)
    (project.path / "told.py").write_text(BROKEN.replace("b heard {heard} of", "b knows {heard} of"))
    result = run_plugin(project)
    result.stdout.fnmatch_lines(["STILL FAILS: told; stored before*", "*b knows 2 of 3*", "*LOST*"])
    assert "b heard" not in result.stdout.str()


def test_what_is_mended_is_searched_again_and_forgotten_when_that_passes(project: pytest.Pytester) -> None:
    run_plugin(project)
    (project.path / "told.py").write_text(TOLD)
    only = run_plugin(project, "--clew-replay", "only", "-rs")
    only.assert_outcomes(skipped=1)
    only.stdout.fnmatch_lines(["*what was stored does not fail any more; nothing was searched*"])
    assert stored(project) == [f"{NAME}.json", f"{NAME}.txt"]
    result = run_plugin(project)
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        [
            "*clew: what was checked*",
            "test_one.py::test_told: no counterexample: told.py:timed: lineage search, * executions; "
            "within 2 losses, in 1 s of virtual time; seed 0",
            "test_one.py::test_told: note: stored before: what was stored does not fail any more; searched again",
        ]
    )
    assert stored(project) == []


def test_what_is_stored_stays_while_no_search_comes_to_an_answer(project: pytest.Pytester) -> None:
    run_plugin(project)
    (project.path / "told.py").write_text(TOLD)
    result = run_plugin(project, "--clew-time-limit", "0.000001")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["INCOMPLETE: the time limit of 1e-06 s ran out", "*this is no pass"])
    assert stored(project) == [f"{NAME}.json", f"{NAME}.txt"]


def test_never_looks_at_nothing_and_only_searches_nothing(project: pytest.Pytester) -> None:
    skipped = run_plugin(project, "--clew-replay", "only", "-rs")
    skipped.assert_outcomes(skipped=1)
    skipped.stdout.fnmatch_lines(["*no failure is stored; nothing was searched*"])
    run_plugin(project)
    never = run_plugin(project, "--clew-replay", "never")
    never.stdout.fnmatch_lines(["COUNTEREXAMPLE: 1 fault*"])


def test_a_given_file_is_replayed_instead_of_all_else(project: pytest.Pytester) -> None:
    run_plugin(project)
    (document,) = (project.path / ".clew").glob("*.json")
    document.rename(project.path / "rec.json")
    fails = run_plugin(project, "--clew-replay", "rec.json")
    fails.assert_outcomes(failed=1)
    fails.stdout.fnmatch_lines(["STILL FAILS: told*"])
    (project.path / "told.py").write_text(TOLD)
    run_plugin(project, "--clew-replay", "rec.json").assert_outcomes(skipped=1)
    (project.path / "rec.json").write_text('{"format": "clew verdict"}')
    refused = run_plugin(project, "--clew-replay", "rec.json")
    refused.assert_outcomes(failed=1)
    refused.stdout.fnmatch_lines(
        ["error: *rec.json: is a 'clew verdict', and told.py:timed is a scenario*", "  remedy: *"]
    )


@pytest.mark.parametrize("content", ["", "{", '{"format": "clew-recording"}', "[]"])
def test_what_is_stored_and_broken_is_told_and_found_anew(project: pytest.Pytester, content: str) -> None:
    folder = project.path / ".clew"
    folder.mkdir()
    document = folder / f"{name_of_test('test_one.py::test_told')}.json"
    document.write_text(content)
    result = run_plugin(project)
    result.stdout.fnmatch_lines(["COUNTEREXAMPLE: 1 fault*"])
    assert clew.replay(document, str(project.path / "told.py") + ":timed").answer.value == "same"


def test_where_nothing_can_be_stored_the_failure_is_told_all_the_same(project: pytest.Pytester) -> None:
    (project.path / ".clew").write_text("in the way")
    result = run_plugin(project)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["COUNTEREXAMPLE: 1 fault*", "  not stored: *.json: *", "*LOST*"])


def test_junit_has_answer_seed_faults_and_command(project: pytest.Pytester) -> None:
    project.makepyfile(test_two='import clew\n\n@clew.scenario_test("told.py:few")\ndef test_few(): pass\n')
    run_plugin(project, "--junit-xml", "junit.xml", "-o", "junit_family=xunit2")
    cases = {case.get("name"): case for case in ElementTree.parse(project.path / "junit.xml").iter("testcase")}
    properties = {
        name: {p.get("name"): p.get("value") or "" for p in case.iter("property")} for name, case in cases.items()
    }
    told = properties["test_told"]
    assert Path(told.pop("clew_recording")).parent == project.path / ".clew"
    assert told == {
        "clew_checked": "told.py:timed",
        "clew_answer": "counterexample",
        "clew_seed": "0",
        "clew_faults": "O(a,b,str,3)",
        "clew_replay": f"clew replay .clew/{name_of_test('test_one.py::test_told')}.json",
    }
    assert properties["test_few"] == {
        "clew_checked": "told.py:few",
        "clew_answer": "no counterexample",
        "clew_seed": "0",
        "clew_covered": "no counterexample: told.py:few: 5 runs, 10 steps, 10 deliveries; from seed 0",
    }
    (failure,) = cases["test_told"].iter("failure")
    assert failure.get("message") == "COUNTEREXAMPLE: 1 fault, within 2 losses, in 1 s of virtual time."
    assert "LOST" in (failure.text or "")


def test_seed_and_folder_of_the_command_line(project: pytest.Pytester) -> None:
    result = run_plugin(project, "--clew-seed", "7", "--clew-artifacts", "kept here")
    result.stdout.fnmatch_lines(
        ["*--lose a,b,str,3 --seed 7", "*'kept here/test-one*", "*--clew-replay only --clew-artifacts 'kept here'"]
    )
    assert stored(project) == []
    assert len(list((project.path / "kept here").iterdir())) == 2
