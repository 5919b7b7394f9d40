"""Settings for the whole suite.

``pytest --thorough`` runs the property tests on many thousands of generated programs instead of hundreds, and
``pytest --quick`` on a few, without the tests that start other processes or take long for another reason.
"""

from __future__ import annotations

import gc
import signal
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from browser.presence import NO_BROWSER

#: Generated programs take milliseconds to run but are large to draw; time is no measure of health here.
_COMMON = settings(
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example],
)

#: So many of each property keep the suite below ten minutes; the long mode has many thousands.
settings.register_profile("normal", _COMMON, max_examples=40, derandomize=True)
settings.register_profile("quick", _COMMON, max_examples=5, derandomize=True)
settings.register_profile("thorough", _COMMON, max_examples=10_000)


#: What ``--quick`` leaves out: browsers, sockets and other processes, whole searches, and documentation.
_NOT_QUICK = (
    "analysis/blazes/test_behaviour_blazes.py",
    "analysis/blazes/test_laws.py",
    "analysis/blazes/test_recognition.py",
    "analysis/calm/test_behaviour.py",
    "analysis/calm/test_behaviour_power.py",
    "analysis/calm/test_calm_sound.py",
    "analysis/calm/test_orders.py",
    "bloom/examples",
    "bloom/lattices/test_lattices.py",
    "bloom/network",
    "bloom/runtime/test_evaluation_closure.py",
    "bloom/to_program/test_checking_recursion.py",
    "bloom/to_program/test_refused_recursion.py",
    "browser",
    "checker/remembered",
    "checker/survey",
    "cli",
    "compatibility",
    "coordination",
    "engine/test_against_reference.py",
    "engine/test_extremes.py",
    "engine/test_recurrence.py",
    "engine/test_runs.py",
    "engine/test_traceable.py",
    "explain",
    "exploration",
    "files/test_reading.py",
    "fuzz",
    "minimization",
    "multipaxos/test_executions.py",
    "multipaxos/test_failures.py",
    "multipaxos/test_mutants.py",
    "proof",
    "quality",
    "pytest_plugin/test_ci.py",
    "pytest_plugin/test_processes.py",
    "report/lineage/test_svg.py",
    "report/lineage/test_svg_harmless.py",
    "report/lineage/test_svg_places.py",
    "report/verdict/test_document.py",
    "report/verdict/test_page.py",
    "report/verdict/test_page_contents.py",
    "report/verdict/test_page_harmless.py",
    "report/verdict/test_why_text.py",
    "search/test_agreement.py",
    "search/test_sums.py",
    "search/test_sweep_claims.py",
    "search/test_sweep_load.py",
    "simulation",
    "streams",
    "test_benchmarks.py",
    "test_blazes_benchmark.py",
    "test_determinism.py",
    "test_docs.py",
    "test_docs_assertions.py",
    "test_pictures.py",
    "test_simulation_benchmarks.py",
    "verify/test_drat.py",
    "workers",
    "zookeeper",
)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out what takes long, if only the quick tests are asked for."""
    if not config.getoption("--quick"):
        return None
    inside = collection_path.relative_to(Path(__file__).parent).as_posix()
    return True if inside in _NOT_QUICK else None


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--thorough", action="store_true", help="property tests on many thousands of programs")
    parser.addoption("--quick", action="store_true", help="the tests to run while editing: under a minute")


def pytest_configure(config: pytest.Config) -> None:
    chosen = [mode for mode in ("thorough", "quick") if config.getoption(f"--{mode}")]
    settings.load_profile(chosen[0] if chosen else "normal")
    # As the command does: what tests import stays, and looking for garbage in it takes a seventh of their time.
    gc.set_threshold(100_000)
    # A shell lets jobs in the background ignore Ctrl-C, and so would the commands that tests start and interrupt.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def thorough(pytestconfig: pytest.Config) -> bool:
    """Whether this is the long mode, for tests that draw their cases without Hypothesis."""
    return bool(pytestconfig.getoption("--thorough"))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what takes minutes, but in the long mode."""
    if config.getoption("--thorough"):
        return
    long = [item for item in items if item.get_closest_marker("long")]
    config.hook.pytest_deselected(items=long)
    items[:] = [item for item in items if item not in long]


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
