"""``pytest --clew-cover``: what rules do in a run of tests, in its process and others, and what makes it fail."""

from __future__ import annotations

import json
import os
from pathlib import Path

import jsonschema
import pytest

import clew
from clew.bloom.runtime import tap
from clew.bloom.tracing.recording import ENVIRONMENT
from clew.coverage.api import watching
from command import ROOT
from plugin_projects import run_plugin

pytest_plugins = ["pytester"]

SCHEMA = json.loads((ROOT / "docs" / "results.schema.json").read_text(encoding="utf-8"))

STORE = """
from clew.bloom import Bloom, bloom, channel, interface, table

class Store(Bloom):
    put = interface.input("key")
    copy = channel("@to", "key")
    kept = table("key")

    @bloom
    def keep(self):
        self.kept <= self.put
        self.kept <= self.copy.payloads()
        self.copy <~ self.put(lambda p: ("other", p.key))
        self.die <= self.kept.filter(lambda k: k.key == "bad")
"""
#: A node here, and one in another process.
TESTS = """
import subprocess, sys
from store import Store

def test_here():
    store = Store()
    store.put.insert(("x",), ("y",))
    assert len(store.tick().sent) == 2

def test_elsewhere():
    subprocess.run([sys.executable, "-c", "from store import Store; Store().tick()"], check=True)
"""


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    pytester.makepyfile(store=STORE, test_store=TESTS)
    return pytester


def test_rules_are_counted_in_all_processes_and_told_after_the_tests(project: pytest.Pytester) -> None:
    run = run_plugin(project, "--clew-cover", "store.py:Store", "--clew-cover-json", "c.json")
    run.assert_outcomes(passed=2)
    assert run.ret == 0
    run.stdout.fnmatch_lines(
        [
            "COUNTED: store.py:Store.",
            "  2 of 3 rules fired (66.7 %), in 2 steps of 2 nodes in 2 processes",
            "*never fired (1):",
            "  store.py:11 Store.keep: self.kept <= self.copy.payloads()",
            "wrote c.json",
        ]
    )
    document = json.loads((project.path / "c.json").read_text(encoding="utf-8"))
    jsonschema.validate(document, SCHEMA)
    assert [(rule["rows"], rule["messages"]) for rule in document["rules"]] == [(2, None), (0, None), (2, 2)]
    # Nobody observes any more, and no process that is started from now on.
    assert ENVIRONMENT not in os.environ
    assert not tap._OBSERVERS


def test_a_run_fails_that_fires_too_few_rules(project: pytest.Pytester) -> None:
    asked = ("--clew-cover", "store.py:Store", "--clew-cover-report", "c.html", "-k", "here")
    run = run_plugin(project, *asked, "--clew-cover-fail-under", "66")
    assert (run.ret, (project.path / "c.html").read_text(encoding="utf-8").count("<html")) == (0, 1)
    run = run_plugin(project, *asked, "--clew-cover-fail-under", "67")
    assert run.ret == 1
    run.stdout.fnmatch_lines(["TOO FEW RULES: *: 66.7 % of the rules fired, and 67 % are asked for."])
    run = run_plugin(project, *asked, "--clew-cover-fail-on-dead")
    assert run.ret == 1
    run.stdout.fnmatch_lines(["DEAD RULES: *: 1 of 3 rules never fired."])


def test_a_run_without_nodes_says_so(project: pytest.Pytester) -> None:
    project.makepyfile(test_other="def test_nothing():\n    pass\n")
    for more, code in (((), 0), (("--clew-cover-fail-on-dead",), 1)):
        run = run_plugin(project, "test_other.py", "--clew-cover", "store.py:Store", *more)
        assert run.ret == code
        run.stdout.fnmatch_lines(["NOTHING RAN: store.py:Store: no node of Store took a step."])


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("--clew-cover", "store.py:Shop"), "*--clew-cover store.py:Shop: *defines no Bloom class 'Shop'*"),
        (("--clew-cover-fail-under", "101"), "*--clew-cover-fail-under is '101': give a percentage*"),
        (("--clew-cover-json", "no/c.json"), "*--clew-cover-json no/c.json: there is no folder *"),
        (("--clew-cover-report", "."), "*--clew-cover-report .: this is a folder; give a file*"),
    ],
)
def test_what_makes_no_sense_is_refused_before_tests_run(
    project: pytest.Pytester, given: tuple[str, ...], said: str
) -> None:
    run = run_plugin(project, "--clew-cover", "store.py:Store", *given)
    assert run.ret == pytest.ExitCode.USAGE_ERROR
    run.stderr.fnmatch_lines([said])
    assert ENVIRONMENT not in os.environ


def test_limits_without_a_class_are_refused(project: pytest.Pytester) -> None:
    run = run_plugin(project, "--clew-cover-fail-on-dead")
    assert run.ret == pytest.ExitCode.USAGE_ERROR
    run.stderr.fnmatch_lines(["*--clew-cover-fail-on-dead says nothing without --clew-cover FILE:CLASS*"])


def test_one_process_is_not_counted_twice(tmp_path: Path) -> None:
    (tmp_path / "store.py").write_text(STORE, encoding="utf-8")
    source = f"{tmp_path}/store.py:Store"
    with watching(source), pytest.raises(clew.UsageError, match="is counted already"), watching(source):
        raise AssertionError
