"""What pytest loads: options, the fixture, and hooks that do nothing in tests without a check.

Every run of pytest pays for this module, wherever Clew is installed.  So it imports nothing but pytest, which is
there already, and one module of a few lines; a check imports the rest (``benchmarks/plugin.py`` measures it).
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING

import pytest

from clew.pytest_plugin.running import begin_anew, current_test, enter_test, leave_test

if TYPE_CHECKING:
    from clew.pytest_plugin.checking import Checker

_TIME_HELP = "end the search of each check after TIME (90, 90s, 2m, 1h); without an answer by then, the test fails"
_SEED_HELP = "the seed of each search, instead of the one that its test gives"
_REPLAY_HELP = (
    "first (default): a failure that is stored is replayed before anything is searched; never: it is not; "
    "only: nothing is searched, and tests without a stored failure are skipped; FILE: replay this recording or "
    "verdict, and search nothing"
)
_ARTIFACTS_HELP = "where failures are stored, by test (default: .clew in the root directory)"
_COVER_HELP = "count what the rules of a Bloom class do in this run, and which never fire: FILE.py:CLASS"
_COVER_ENDS = ("", "_fail_under", "_fail_on_dead", "_json", "_report")
_WRITE_HELP = "write a regression test beside each test that fails, which replays what was found"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the options, and their settings in the configuration file."""
    group = parser.getgroup("clew", "clew: distributed systems under faults")
    group.addoption("--clew-time-limit", metavar="TIME", help=_TIME_HELP)
    group.addoption("--clew-seed", metavar="N", help=_SEED_HELP)
    group.addoption("--clew-replay", metavar="WHAT", help=_REPLAY_HELP)
    group.addoption("--clew-artifacts", metavar="DIR", help=_ARTIFACTS_HELP)
    group.addoption("--clew-write-test", action="store_true", help=_WRITE_HELP)
    group.addoption("--clew-cover", metavar="FILE[:CLASS]", help=_COVER_HELP)
    group.addoption("--clew-cover-fail-under", metavar="N", help="fail if less than N %% of the rules fired")
    group.addoption("--clew-cover-fail-on-dead", action="store_true", help="fail if a rule never fired")
    group.addoption("--clew-cover-json", metavar="FILE", help="write what was counted as JSON")
    group.addoption("--clew-cover-report", metavar="FILE", help="write what was counted as a page")
    parser.addini("clew_time_limit", "the time limit of checks that state none: 90, 90s, 2m, 1h")
    parser.addini("clew_seed", "the seed of checks that state none")
    parser.addini("clew_replay", "whether stored failures are replayed: first (default) or never")
    parser.addini("clew_artifacts", "where failures are stored, seen from the root directory (default: .clew)")


def pytest_configure(config: pytest.Config) -> None:
    """Refuse options that make no sense before any test runs."""
    # To read them imports what most runs never need; where nothing is given, there is nothing to refuse.
    names = ("time_limit", "seed", "replay", "artifacts")
    if any(config.getoption(f"clew_{name}") is not None or config.getini(f"clew_{name}") for name in names):
        from clew.pytest_plugin.options import read_settings

        read_settings(config)
    if any(config.getoption(f"clew_cover{end}") not in (None, False) for end in _COVER_ENDS):
        from clew.pytest_plugin.covering import begin_covering

        begin_covering(config)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Judge what rules did in this run, if that is asked for."""
    if session.config.getoption("clew_cover") is not None:
        from clew.pytest_plugin.covering import judge_coverage

        judge_coverage(session)


def pytest_unconfigure(config: pytest.Config) -> None:
    """End what was begun when pytest was configured."""
    if config.getoption("clew_cover") is not None:
        from clew.pytest_plugin.covering import end_covering

        end_covering(config)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Let checks know in which test they are."""
    enter_test(item)
    try:
        return (yield)
    finally:
        leave_test()


# Before fixtures are set up, which may check something already.
@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """Count checks from the beginning, also where a test is run once more."""
    begin_anew()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Tell a failure as Clew tells it, and what the checks of a test covered."""
    report = yield
    test = current_test()
    if test is not None and test.checks:
        from clew.pytest_plugin.reporting import complete_report

        complete_report(test, call, report)
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say what the checks of tests that passed covered: none of them means more than that."""
    reports = [r for r in terminalreporter.getreports("passed") if r.when == "call" and r.user_properties]
    if reports:
        from clew.pytest_plugin.reporting import write_summary

        write_summary(terminalreporter, reports)
    if terminalreporter.config.getoption("clew_cover") is not None:
        from clew.pytest_plugin.covering import show_coverage

        show_coverage(terminalreporter)


# Of the whole session, for it keeps nothing: Hypothesis refuses fixtures that would be made anew for each example.
@pytest.fixture(scope="session")
def clew_check() -> Checker:
    """Check a scenario, a Dedalus file or a Bloom class: ``clew_check(source, losses=2, crashes=1)``."""
    from clew.pytest_plugin.checking import check

    return check
