"""Tests as people write them: functions, methods, parameters, several checks, drawn inputs, regression tests."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import clew
from clew.errors import UsageError
from clew.pytest_plugin.checking import check
from clew.pytest_plugin.searching import perform
from command import ROOT
from plugin_projects import BROKEN, TOLD, run_plugin, stored

pytest_plugins = ["pytester"]

WAYS = """
import clew, pytest
from told import make, timed

@clew.scenario_test("told.py:timed", losses=1)
def test_result(clew_result, tmp_path):
    assert clew_result.answer is clew.Answer.INCOMPLETE
    assert tmp_path.exists()

@clew.scenario_test(timed, losses=1)
def test_object(): pass

class TestGroup:
    @clew.scenario_test("told.py:timed", losses=1)
    @pytest.mark.parametrize("x", [1, 2])
    def test_method(self, x, clew_result):
        assert clew_result.runs and x

    @pytest.mark.parametrize("times", [2, "a/../b"])
    @clew.scenario_test("told.py:many", expect="counterexample")
    def test_known(self, times): pass

def test_several(clew_check):
    for times in (1, 2):
        assert clew_check(make(times), losses=0, crashes=1).runs
    clew_check("told.py:few")

@clew.scenario_test("told.py:timed", losses=1)
def test_body_fails():
    assert 1 == 2

def test_nothing(): pass
"""


def test_the_ways_to_write_a_test(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\npythonpath = .\n")
    pytester.makepyfile(told=TOLD, test_ways=WAYS)
    result = run_plugin(pytester)
    result.assert_outcomes(passed=8, failed=1)
    result.stdout.fnmatch_lines(
        ["*assert 1 == 2", "*test_several: no counterexample: a scenario made in Python: *"]
    )
    assert stored(pytester) == []
    run_plugin(pytester, "-k", "method and 2").assert_outcomes(passed=1, deselected=8)


def test_without_a_check_the_plugin_is_silent(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_nothing(): pass")
    result = run_plugin(pytester)
    result.assert_outcomes(passed=1)
    assert "clew:" not in result.stdout.str()
    assert not (pytester.path / ".clew").exists()


SECOND = """
def test_second(clew_check):
    clew_check("told.py:few")
    clew_check("told.py:many")
"""


def test_each_check_of_a_test_has_a_place_of_its_own(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(told=TOLD, test_it=SECOND)
    run_plugin(pytester).stdout.fnmatch_lines(["VIOLATION: quiet, after 3 deliveries*"])
    assert stored(pytester) == ["test-it-py-test-second-2.json", "test-it-py-test-second-2.txt"]
    run_plugin(pytester).stdout.fnmatch_lines(["STILL FAILS: quiet*"])


WRONG = """
import clew

@clew.scenario_test("told.py:timed", expect="counterexample", losses=0, crashes=1)
def test_found_nothing(): pass

@clew.scenario_test("told.py:unpromised")
def test_hollow(): pass

@clew.scenario_test("told.py:few", by="explore", expect="counterexample")
def test_certified(): pass

@clew.scenario_test("nowhere.py:timed")
def test_nowhere(): pass

@clew.scenario_test("broken.py:s")
def test_broken(): pass
"""


def test_what_is_no_pass_and_no_counterexample_says_so(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(told=TOLD, test_wrong=WRONG, broken="import nothing_of_this_name")
    result = run_plugin(pytester)
    result.assert_outcomes(failed=5)
    result.stdout.fnmatch_lines(
        [
            "NO COUNTEREXAMPLE: told.py:timed was expected to have one",
            "  if it is mended, expect 'no counterexample' from now on; otherwise search further",
            "INCOMPLETE: also without faults nothing is promised ('assume' does not hold at the end)*",
            "  nothing was found, and that says nothing yet; this is no pass",
            "NO COUNTEREXAMPLE: told.py:few was expected to have one",
            "error: nowhere.py: no such file in *",
            "  remedy: name a file as seen from the folder of the test, *",
            "broken.py:1:1: error: the scenario cannot be imported: ModuleNotFoundError: *",
        ]
    )
    assert "Traceback" not in result.stdout.str()
    assert "pytest_plugin" not in result.stdout.str()


@pytest.mark.parametrize(
    "option", ["--clew-time-limit=x", "--clew-time-limit=0", "--clew-seed=-1", "--clew-replay=x"]
)
def test_options_that_make_no_sense_end_the_run_before_it_begins(pytester: pytest.Pytester, option: str) -> None:
    pytester.makepyfile("def test_nothing(): pass")
    result = run_plugin(pytester, option)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: {option.partition('=')[0]}*"])


def test_settings_of_the_configuration_file(pytester: pytest.Pytester) -> None:
    pytester.makeini(
        "[pytest]\nclew_seed = 5\nclew_artifacts = out/clew\nclew_time_limit = 1m\nclew_replay = never\n"
    )
    pytester.makepyfile(
        told=BROKEN, test_it='import clew\n\n@clew.scenario_test("told.py:timed")\ndef test_it(): pass\n'
    )
    run_plugin(pytester).stdout.fnmatch_lines(["*--seed 5", "*out/clew/test-it-py-*"])
    run_plugin(pytester).stdout.fnmatch_lines(["COUNTEREXAMPLE: *"])
    assert len(list((pytester.path / "out" / "clew").iterdir())) == 2
    pytester.makeini("[pytest]\nclew_replay = only\n")
    assert run_plugin(pytester).ret == pytest.ExitCode.USAGE_ERROR


def test_what_cannot_be_decorated() -> None:
    async def later() -> None: ...

    with pytest.raises(UsageError, match="given a function"):
        clew.scenario_test(later)
    for wrong, message in ((later, "is async"), (ROOT, "no function"), (type("TestIt", (), {}), "no function")):
        with pytest.raises(UsageError, match=message):
            clew.scenario_test("told.py:timed")(wrong)  # type: ignore[type-var]


def test_outside_of_a_test_nothing_is_checked_and_nothing_is_green(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("clew.pytest_plugin.running._running", [])
    with pytest.raises(pytest.fail.Exception, match="nothing is checked: no test runs, or the plugin"):
        check("told.py:timed")


PATCHED = """
import clew.pytest_plugin.checking
from clew.errors import BudgetExhaustedError

def give_up(plan):
    raise BudgetExhaustedError("the time limit of 1 s ran out, in code that nothing can interrupt")

def pytest_runtest_call(item):
    if "stuck" in item.name:
        clew.pytest_plugin.checking.perform = give_up

def pytest_runtest_protocol(item, nextitem):
    if "again" in item.name:  # as plugins do that run a test again which has failed
        from _pytest.runner import runtestprotocol
        runtestprotocol(item, nextitem=nextitem, log=False)
        runtestprotocol(item, nextitem=nextitem)
        return True
"""
ODD = """
import clew

@clew.scenario_test("told.py:timed", losses=2)
def test_again(): pass

@clew.scenario_test("told.py:few")
def test_own_mistake():
    clew.check("nowhere.ded")

@clew.scenario_test("told.py:few")
def test_stuck(): pass
"""


def test_a_check_without_a_result_a_test_that_runs_again_and_a_mistake_of_its_own(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("clew.pytest_plugin.checking.perform", perform)  # and undo what the project does
    pytester.makeconftest(PATCHED)
    pytester.makepyfile(told=BROKEN, test_odd=ODD)
    result = run_plugin(pytester)
    result.assert_outcomes(failed=3)
    # The second time it is the first check of the test again, and finds what the first time has stored.
    result.stdout.fnmatch_lines(["STILL FAILS: told; stored before, and replayed."])
    assert stored(pytester) == ["test-odd-py-test-again.json", "test-odd-py-test-again.txt"]
    result.stdout.fnmatch_lines(['>       clew.check("nowhere.ded")', "*ProgramError: *nowhere.ded*"])
    result.stdout.fnmatch_lines(["INCOMPLETE: the time limit of 1 s ran out, in code that*", "*this is no pass"])


# -- Hypothesis --------------------------------------------------------------------------------------------------

DRAWN = """
import clew
from hypothesis import Phase, given, settings, strategies as st
from told import make

FEW = settings(deadline=None, max_examples=12, derandomize=True, database=None,
               phases=[Phase.generate, Phase.shrink])

@FEW
@given(times=st.integers(1, 9))
def test_drawn(clew_check, times):
    clew_check(make(times), losses=times)

@FEW
@given(x=st.integers())
@clew.scenario_test("told.py:few")
def test_inputs(x): pass
"""


def test_hypothesis_draws_inputs_and_only_the_last_of_them_is_told_and_stored(pytester: pytest.Pytester) -> None:
    # With as many losses as messages, b hears nothing: one of each is the smallest.
    pytester.makeini("[pytest]\npythonpath = .\n")
    pytester.makepyfile(told=TOLD, test_drawn=DRAWN)
    result = run_plugin(pytester)
    result.assert_outcomes(failed=1, passed=1)
    result.stdout.fnmatch_lines(
        ["COUNTEREXAMPLE: 1 fault, within 1 loss, *", "*LOST*", "Failing test case: test_drawn(", "    times=1,*"]
    )
    result.stdout.fnmatch_lines(["*test_inputs: 12 inputs, of the last: no counterexample: told.py:few: *"])
    text = result.stdout.str()
    assert text.count("COUNTEREXAMPLE") == 2  # the failure, and the summary
    assert str(ROOT / "src") not in text
    assert stored(pytester) == ["test-drawn-py-test-drawn.json", "test-drawn-py-test-drawn.txt"]
    # Its inputs are Hypothesis's to replay.
    again = run_plugin(pytester, "--clew-replay", "only", "-rs")
    again.assert_outcomes(skipped=2)


# -- regression tests --------------------------------------------------------------------------------------------

FAILING = """
import clew

@clew.scenario_test("../told.py:timed", losses=2)
def test_checked(): pass

@clew.scenario_test("../told.py:many")
def test_fuzzed(): pass

@clew.scenario_test("../drop.ded")
def test_model(): pass

def test_made(clew_check):
    from clew.pytest_plugin.sources import find_scenario
    clew_check(find_scenario("told.py:timed").scenario, losses=2)
"""
DROP = (
    "//! nodes=a,b eot=3 eff=2\n"
    "has(a, x)@1; has(N, X)@next :- has(N, X); has(b, X)@async :- has(a, X), go(a, b);\n"
    "go(a, b)@1; pre(X) :- has(_, X); post(X) :- has(b, X);\n"
)


def test_regression_tests_stand_alone_and_fail_while_the_bug_is_there(pytester: pytest.Pytester) -> None:
    inside = pytester.mkdir("tests")
    (pytester.path / "told.py").write_text(BROKEN)
    (pytester.path / "drop.ded").write_text(DROP)
    (inside / "test_failing.py").write_text(FAILING)
    result = run_plugin(pytester, "tests", "--clew-write-test")
    result.assert_outcomes(failed=4)
    result.stdout.fnmatch_lines(["  no regression test is written: what is checked was made in Python; *"])
    written = sorted(inside.glob("test_clew_*.py"))
    assert [f.name[:-16] for f in written] == ["test_clew_checked", "test_clew_fuzzed", "test_clew_model"]
    assert all(f"  regression test: tests/{f.name}" in result.outlines for f in written)
    for file in written:
        assert "pytest_plugin" not in re.sub(r'""".*?"""', "", file.read_text(), flags=re.DOTALL)
        assert file.with_suffix(".json").is_file()
    alone = ["-p", "no:clew", *map(str, written)]
    run_plugin(pytester, *alone).assert_outcomes(failed=3)
    _mend(pytester.path)
    run_plugin(pytester, *alone).assert_outcomes(passed=3)


def test_a_regression_test_searches_where_its_recording_does_not_fit_any_more(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(told=BROKEN)
    pytester.makepyfile(
        test_it='import clew\n\n@clew.scenario_test("told.py:timed", losses=2)\ndef test_it(): pass\n'
    )
    run_plugin(pytester, "--clew-write-test")
    (written,) = pytester.path.glob("test_clew_*.py")
    # Everything is called otherwise, so that nothing that was recorded happens.
    (pytester.path / "told.py").write_text(BROKEN.replace('ctx.send("b", "news")', 'ctx.send("b", 1)'))
    run_plugin(pytester, str(written)).stdout.fnmatch_lines(["*COUNTEREXAMPLE*"])
    (pytester.path / "told.py").write_text(TOLD.replace('ctx.send("b", "news")', 'ctx.send("b", 1)'))
    run_plugin(pytester, str(written)).assert_outcomes(passed=1)
    # And where nothing is promised, that is no pass either.
    hollow = TOLD.replace("timed = make()", "timed = make(assume=lambda nodes: False)").replace('"news"', "1")
    (pytester.path / "told.py").write_text(hollow)
    run_plugin(pytester, str(written)).assert_outcomes(failed=1)


def _mend(folder: Path) -> None:
    (folder / "told.py").write_text(TOLD.replace("> 2 else", "> 3 else"))
    (folder / "drop.ded").write_text(DROP.replace("post(X) :- has(b, X)", "post(X) :- has(_, X)"))
