"""Settings for the whole suite.

``pytest --thorough`` runs the property tests on many thousands of generated programs instead of hundreds.
"""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings

#: Generated programs take milliseconds to run but are large to draw; time is no measure of health here.
_COMMON = settings(
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example],
)

settings.register_profile("normal", _COMMON, max_examples=200, derandomize=True)
settings.register_profile("thorough", _COMMON, max_examples=10_000)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--thorough", action="store_true", help="property tests on many thousands of programs")


def pytest_configure(config: pytest.Config) -> None:
    settings.load_profile("thorough" if config.getoption("--thorough") else "normal")
