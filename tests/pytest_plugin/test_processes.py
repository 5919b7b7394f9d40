"""pytest in a process of its own: workers, a plugin that is off, code that ends its process, Ctrl-C, the start."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time

import pytest

from command import ROOT
from plugin_projects import BROKEN, TOLD, run_plugin, stored

pytest_plugins = ["pytester"]

WORKERS = """
import os
import clew, pytest

@pytest.mark.parametrize("times", [0, 1])
@clew.scenario_test("told.py:timed", losses=1)
def test_told(times): pass

@clew.scenario_test("told.py:few")
def test_few(): pass

@clew.scenario_test("ending.py:ends")
def test_ends(): pass
"""
#: Handlers and promises may do anything; in a checked scenario they run in a process of their own.
ENDING = """
import os
from clew.simulation import Node, Scenario

class Ending(Node):
    def on_start(self, ctx):
        if ctx.me == "a":
            ctx.send("b", 1)
    def on_message(self, ctx, sender, message):
        os._exit(0)

ends = Scenario(nodes={"a": Ending, "b": Ending}, running=("a", "b"))
"""


def _run(pytester: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    return pytester.runpytest_subprocess("-p", "no:cacheprovider", *arguments)


def test_with_workers_the_same_is_stored_and_told(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(told=BROKEN, ending=ENDING, test_all=WORKERS)
    first = _run(pytester, "-n", "2", "--junit-xml=junit.xml")
    first.assert_outcomes(failed=3, passed=1)
    first.stdout.fnmatch_lines(
        ["*COUNTEREXAMPLE: 1 fault*", "*LOST*", "*-- clew: what was checked --*", "test_all.py::test_few: *"]
    )
    first.stdout.fnmatch_lines(
        ["VIOLATION: the process ended by itself (exit code 0) in Ending.on_message at b, *"]
    )
    assert (pytester.path / "junit.xml").read_text().count('"clew_faults"') == 2
    names = stored(pytester)
    assert len(names) == 6
    # A test runs in whichever worker, or in none, and finds what another has stored.
    again = run_plugin(pytester)
    again.assert_outcomes(failed=3, passed=1)
    assert sum(line.startswith("STILL FAILS") for line in again.outlines) == 3
    assert stored(pytester) == names


def test_without_the_plugin_pytest_works_and_checks_fail_and_say_why(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(told=TOLD, ending=ENDING, test_all=WORKERS)
    pytester.makepyfile(test_fixture="def test_it(clew_check): pass\n\ndef test_nothing(): pass\n")
    result = _run(pytester, "-p", "no:clew")
    result.assert_outcomes(failed=4, errors=1, passed=1)
    result.stdout.fnmatch_lines(["nothing is checked: no test runs, or the plugin of Clew is off (-p no:clew)*"])
    result.stdout.fnmatch_lines(["*fixture 'clew_check' not found"])


FOREVER = """
from pathlib import Path
from clew.simulation import Node, Scenario

class Forever(Node):
    def on_start(self, ctx):
        Path("begun").touch()
        if ctx.me == "a":
            ctx.send("b", 1)
    def on_message(self, ctx, sender, message):
        ctx.send(sender, 1)

forever = Scenario(nodes={"a": Forever, "b": Forever}, running=("a", "b"), steps=1000)
"""


def test_ctrl_c_ends_the_run_and_leaves_nothing(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        forever=FOREVER,
        test_it=(
            'import clew\n\n@clew.scenario_test("forever.py:forever", runs=10**6)\ndef test_it(): pass\n\n'
            "def test_next(): pass\n"
        ),
    )
    process = subprocess.Popen(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider"],
        cwd=pytester.path,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    latest = time.monotonic() + 100
    while not (pytester.path / "begun").exists() and time.monotonic() < latest:
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to pytest, and to the child that searches
    output, _ = process.communicate(timeout=100)
    assert process.returncode == pytest.ExitCode.INTERRUPTED
    assert "KeyboardInterrupt" in output
    assert "no tests ran" in output
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)
    assert stored(pytester) == []


def test_who_does_not_use_it_does_not_load_it() -> None:
    """The rest of what a start costs is measured by ``benchmarks/plugin.py``."""
    script = (
        "import pytest, sys; before = set(sys.modules); import clew.pytest_plugin.hooks; "
        "print(*sorted(set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [
        "clew",
        "clew.pytest_plugin",
        "clew.pytest_plugin.hooks",
        "clew.pytest_plugin.running",
    ]


@pytest.mark.parametrize(("folder", "tests"), [("replication", 3), ("lease", 3), ("jobs", 2), ("raft", 3)])
def test_the_suites_of_the_examples_pass(pytester: pytest.Pytester, folder: str, tests: int) -> None:
    shutil.copytree(ROOT / "examples" / folder, pytester.path / folder)
    result = run_plugin(pytester, folder)
    result.assert_outcomes(passed=tests)
    assert sum("::test_" in line for line in result.outlines) == tests  # each says what it covered
