"""What passes, and what does not: a table of what is run, what that says, and which tests it lets pass."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest

from clew.errors import UsageError
from clew.pytest_plugin.judging import Judgement, Standing, judge_result
from clew.pytest_plugin.options import Settings
from clew.pytest_plugin.searching import EXPECTATIONS, Plan, perform, plan_check
from clew.pytest_plugin.sources import Kind, open_target
from command import ROOT
from plugin_projects import TOLD

SETTINGS = Settings(None, None, None, None, "first", None, Path(".clew"), True, False)

FOUND, CERTIFIED, SEARCHED, INCONCLUSIVE = Standing

#: A model that keeps its promise without any fault, and one that promises nothing.
KEPT = "//! nodes=a,b eot=3 eff=1\nlog(a, x); persist[log]; pre(X) :- log(_, X); post(X) :- log(_, X);"
HOLLOW = (
    "//! nodes=a,b eot=3 eff=1\nlog(a, x); persist[log]; pre(X) :- log(b, X), log(a, X); post(X) :- log(b, X);"
)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "told.py").write_text(TOLD, encoding="utf-8")
    for name, text in {"kept": KEPT, "hollow": HOLLOW}.items():
        (tmp_path / f"{name}.ded").write_text(text.replace("persist[log]", "log(N, X)@next :- log(N, X)"))
    return tmp_path


def plan_of(
    project: Path,
    source: str,
    *,
    by: str | None = None,
    expect: str | None = None,
    settings: Settings = SETTINGS,
    **options: Any,
) -> Plan:
    return plan_check(open_target(source, project, ROOT), by, expect, options, settings)


#: What is checked, how; what it says, and the beginning of why.
TABLE: list[tuple[str, dict[str, Any], Standing, str]] = [
    ("told.py:timed", {}, SEARCHED, "nothing was found by cutting what helped"),
    ("told.py:timed", {"losses": 3}, FOUND, ""),
    ("told.py:timed", {"strategy": "exhaustive", "losses": 1}, CERTIFIED, ""),
    ("told.py:timed", {"strategy": "random", "losses": 1, "max_runs": 4}, SEARCHED, "4 random runs"),
    ("told.py:timed", {"losses": 2, "max_runs": 1}, SEARCHED, "the limit of 1 runs was reached"),
    ("told.py:timed", {"losses": 2, "time_limit": 1e-9}, INCONCLUSIVE, "the time limit of 1e-09 s ran out"),
    ("told.py:timed", {"by": "fuzz", "runs": 3}, SEARCHED, "random executions prove nothing"),
    ("told.py:unpromised", {}, INCONCLUSIVE, "also without faults nothing is promised"),
    ("told.py:unpromised", {"strategy": "exhaustive"}, INCONCLUSIVE, "also without faults nothing is promised"),
    ("told.py:unpromised", {"by": "fuzz", "runs": 3}, INCONCLUSIVE, "no run says anything: nothing was promised"),
    ("told.py:long", {}, INCONCLUSIVE, "without faults the execution did not come to its end"),
    ("told.py:long", {"by": "fuzz", "runs": 3}, INCONCLUSIVE, "no run came to its end"),
    ("told.py:timed", {"by": "explore"}, CERTIFIED, ""),
    ("told.py:unpromised", {"by": "explore"}, INCONCLUSIVE, ""),
    ("told.py:silent", {"by": "explore"}, FOUND, ""),
    ("told.py:long", {"by": "explore"}, INCONCLUSIVE, ""),
    ("told.py:silent", {"strategy": "random", "max_runs": 2}, FOUND, ""),
    ("told.py:few", {}, SEARCHED, "random executions prove nothing"),
    ("told.py:few", {"time_limit": 1e-9}, INCONCLUSIVE, "the time limit of 1e-09 s ran out"),
    ("told.py:few", {"by": "explore"}, CERTIFIED, ""),
    ("told.py:many", {}, FOUND, ""),
    ("told.py:many", {"by": "explore"}, FOUND, ""),
    ("told.py:none", {}, INCONCLUSIVE, "nothing was delivered in any run"),
    ("told.py:none", {"by": "explore"}, INCONCLUSIVE, "no handler"),
    ("kept.ded", {}, CERTIFIED, ""),
    ("kept.ded", {"strategy": "random", "max_runs": 3}, SEARCHED, ""),
    ("hollow.ded", {}, INCONCLUSIVE, ""),
    ("hollow.ded", {"strategy": "random", "max_runs": 3}, INCONCLUSIVE, ""),
    ("examples/kafka.ded", {}, FOUND, ""),
    ("examples/bloom/broadcast.py:Simple", {}, FOUND, ""),
]


@pytest.mark.parametrize(("source", "options", "standing", "why"), TABLE)
def test_what_a_search_says(
    project: Path, source: str, options: dict[str, Any], standing: Standing, why: str
) -> None:
    plan = plan_of(project, source, **options)
    judged = judge_result(plan, perform(plan))
    assert (judged.standing, judged.why[: len(why)]) == (standing, why)
    assert judged.covered


def test_what_meets_an_expectation() -> None:
    met = {
        (standing, expected)
        for standing, expected in itertools.product(Standing, EXPECTATIONS)
        if Judgement(standing, "", "").meets(expected)
    }
    assert met == {
        (CERTIFIED, "certified"),
        (CERTIFIED, "no counterexample"),
        (SEARCHED, "no counterexample"),
        (FOUND, "counterexample"),
    }


@pytest.mark.parametrize(
    ("source", "options", "expected"),
    [
        ("told.py:timed", {}, ("check_scenario", "no counterexample")),
        ("told.py:timed", {"strategy": "exhaustive"}, ("check_scenario", "certified")),
        ("told.py:timed", {"by": "fuzz"}, ("fuzz", "no counterexample")),
        ("told.py:few", {}, ("fuzz", "no counterexample")),
        ("told.py:few", {"by": "explore"}, ("explore", "certified")),
        ("kept.ded", {}, ("check", "certified")),
        ("kept.ded", {"strategy": "lineage"}, ("check", "certified")),
        ("kept.ded", {"strategy": "random"}, ("check", "no counterexample")),
        ("kept.ded", {"strategy": "lineage", "negation": "ignore"}, ("check", "no counterexample")),
    ],
)
def test_what_is_run_and_expected_when_nothing_is_said(
    project: Path, source: str, options: dict[str, Any], expected: tuple[str, str]
) -> None:
    plan = plan_of(project, source, **options)
    assert (plan.call, plan.expect) == expected


@pytest.mark.parametrize(
    ("source", "options", "message", "remedy"),
    [
        ("told.py:timed", {"loses": 1}, "'loses' is no option of clew.check_scenario", "did you mean losses?"),
        ("kept.ded", {"losses": 1}, "'losses' is no option of clew.check", "sent before eff can be lost"),
        ("told.py:few", {"losses": 1}, "'losses' is no option of clew.fuzz", "there are seed, runs"),
        ("told.py:few", {"by": "check"}, "by is 'check', and", "'fuzz' or 'explore'"),
        ("kept.ded", {"by": "fuzz"}, "by is 'fuzz', and", "give 'check'"),
        ("kept.ded", {"expect": "nothing"}, "expect is 'nothing'", "'certified', 'no counterexample'"),
        ("told.py:timed", {"expect": "certified"}, "this search certifies nothing", "strategy='exhaustive'"),
        ("told.py:few", {"expect": "certified"}, "this search certifies nothing", "by='explore'"),
        ("kept.ded", {"expect": "certified", "strategy": "random"}, "this search certifies", "another strategy"),
        ("gone.py:x", {}, "gone.py: no such file in", "the folder of the test"),
    ],
)
def test_what_is_refused(project: Path, source: str, options: dict[str, Any], message: str, remedy: str) -> None:
    with pytest.raises(UsageError) as raised:
        plan_of(project, source, **options)
    assert message in raised.value.message
    assert remedy in (raised.value.remedy or "")


@pytest.mark.parametrize("source", [3, object(), [], [1]])
def test_what_is_nothing_to_check(project: Path, source: object) -> None:
    with pytest.raises(UsageError, match="neither a scenario nor a model"):
        open_target(source, project, ROOT)


def test_limits_of_the_command_line_win_over_the_test_and_this_over_the_file(project: Path) -> None:
    usual = SETTINGS._replace(usual_time_limit=3.0, usual_seed=3)
    given = usual._replace(time_limit=1.0, seed=1)
    own: dict[str, Any] = {"time_limit": 2.0, "seed": 2}
    cases: list[tuple[Settings, dict[str, Any], tuple[float | None, int | None]]] = [
        (usual, {}, (3.0, 3)),
        (usual, own, (2.0, 2)),
        (given, own, (1.0, 1)),
        (SETTINGS, {}, (None, None)),
    ]
    for settings, options, expected in cases:
        plan = plan_of(project, "told.py:timed", settings=settings, **options)
        assert (plan.options["time_limit"], plan.options.get("seed")) == expected
    # No draw, no seed: it would be refused.
    assert "seed" not in plan_of(project, "kept.ded", settings=given).options
    # A fuzz without a word does what clew test does.
    fuzz = plan_of(project, "told.py:few")
    assert (fuzz.options["runs"], fuzz.options["seed"]) == (5, 0)


def test_a_file_beside_the_test_comes_before_one_of_the_root(project: Path) -> None:
    assert open_target("examples/kafka.ded", project, ROOT).kind is Kind.MODEL
    (project / "examples").mkdir()
    (project / "examples" / "kafka.ded").write_text(KEPT)
    assert open_target("examples/kafka.ded", project, ROOT).files[0].startswith(str(project))
