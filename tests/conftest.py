"""Settings for the whole suite.

``pytest --thorough`` runs the property tests on many thousands of generated programs instead of hundreds, and
``pytest --quick`` on a few, without the tests that start other processes or take long for another reason.
"""

from __future__ import annotations

from collections.abc import Generator

import pytest
from hypothesis import HealthCheck, settings

from browser.presence import NO_BROWSER

#: Generated programs take milliseconds to run but are large to draw; time is no measure of health here.
_COMMON = settings(
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example],
)

#: So many of each property keep the suite at some ten minutes; the long mode has many thousands.
settings.register_profile("normal", _COMMON, max_examples=100, derandomize=True)
settings.register_profile("quick", _COMMON, max_examples=5, derandomize=True)
settings.register_profile("thorough", _COMMON, max_examples=10_000)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--thorough", action="store_true", help="property tests on many thousands of programs")
    parser.addoption("--quick", action="store_true", help="the tests to run while editing: under a minute")


def pytest_configure(config: pytest.Config) -> None:
    chosen = [mode for mode in ("thorough", "quick") if config.getoption(f"--{mode}")]
    settings.load_profile(chosen[0] if chosen else "normal")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> Generator[None]:
    """Among the last lines, so that nobody takes a run without a browser for one with it."""
    yield
    reasons = [str(report.longrepr[2]) for report in terminalreporter.getreports("skipped")]
    without = [reason for reason in reasons if NO_BROWSER in reason]
    if without:
        why = without[0].partition(NO_BROWSER)[2].strip()
        tests = "1 test" if len(without) == 1 else f"{len(without)} tests"
        terminalreporter.write_line(
            f"the report was NOT tested in a browser: {tests} skipped, {why}", yellow=True, bold=True
        )
